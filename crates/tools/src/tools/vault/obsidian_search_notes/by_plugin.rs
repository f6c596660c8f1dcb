//! The best notes by the engine of the plugin Omnisearch, in the running app.

use lapidary_operation::{AppFault, AppNeed, Context, OmnisearchHit, OmnisearchMatch, ReadTool, Reason};
use lapidary_toolkit::{cursor::PageCursor, naming, query_text::check_length};
use lapidary_vault::{RankedBy, VaultPath, View};

use super::{
    ObsidianSearchNotes,
    hits::{MatchSpot, SearchHit},
    ranked::RankedAnswer,
};

/// It gives no more, and counts hidden notes among them.
const MOST_HITS: usize = 50;

pub(super) fn search(
    context: &Context<'_>,
    view: &View,
    query: &str,
    cursor: PageCursor,
) -> Result<RankedAnswer, Reason> {
    check_length(ObsidianSearchNotes::DECLARATION.name, query)?;
    context.check()?;
    let asked = context.app.map_or(Err(AppFault::NotSetUp), |app| app.omnisearch(query, context.cancel.left()));
    let found = asked.map_err(|fault| Reason::AppUnavailable { fault, need: AppNeed::Omnisearch })?;
    let mut visible: Vec<(VaultPath, OmnisearchHit)> = Vec::new();
    for hit in found.into_iter().take(MOST_HITS) {
        context.check()?;
        // It searches the whole vault; what the caller may not read was not found.
        let Some(path) = VaultPath::parse(&hit.path).ok().filter(|path| view.stamp(path).is_some()) else { continue };
        if !visible.iter().any(|(known, _)| *known == path) {
            visible.push((path, hit));
        }
    }
    let total = visible.len();
    let page = visible.into_iter().enumerate().skip(cursor.offset).take(cursor.limit);
    let hits = page.map(|(rank, (path, hit))| shown(rank, &path, hit)).collect();
    Ok(RankedAnswer { total, hits, notice: None, truncated: total == MOST_HITS, is_early: false, by: RankedBy::Words })
}

fn shown(rank: usize, path: &VaultPath, hit: OmnisearchHit) -> SearchHit {
    let spot = |OmnisearchMatch { text, offset }: OmnisearchMatch| MatchSpot {
        r#match: text,
        offset: usize::try_from(offset).unwrap_or(usize::MAX),
    };
    SearchHit::Ranked {
        page: None,
        place: None,
        basename: naming::title(path).to_owned(),
        filename: path.to_string(),
        // By rank alone: its scores depend on notes that the caller may not know of.
        #[expect(clippy::cast_precision_loss, reason = "there are fifty at most")]
        score: 1.0 / (rank + 1) as f64,
        found_words: hit.found_words,
        matches: hit.matches.into_iter().map(spot).collect(),
        excerpt: hit.excerpt,
        section: None,
        content_hash: None,
        ranking: None,
    }
}
