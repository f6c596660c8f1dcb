//! The best matching notes.

use lapidary_operation::{
    Context, ReadTool, Reason,
    quote::{quoted, quoted_list},
};
use lapidary_toolkit::{cursor::PageCursor, naming, passages, query_text::check_words};
use lapidary_vault::{NoMeaning, PassageSize, RankedBy, RankedNote, RankedNotes, RankedPage, RankedQuery, View};

use super::{
    Input, ObsidianSearchNotes,
    hits::{MatchSpot, SearchHit, USUAL_MATCHES, room},
};

/// At most this many corrections are named.
const MOST_MEANT: usize = 5;

pub(super) struct RankedAnswer {
    pub(super) total: usize,
    pub(super) hits: Vec<SearchHit>,
    /// How the query was interpreted, if not literally.
    pub(super) notice: Option<String>,
    pub(super) truncated: bool,
    /// Whether meaning will count in a moment.
    pub(super) is_early: bool,
    /// How it was ranked.
    pub(super) by: RankedBy,
}

pub(super) fn search(
    context: &Context<'_>,
    view: &View,
    query: &str,
    by: RankedBy,
    input: &Input,
    cursor: PageCursor,
) -> Result<RankedAnswer, Reason> {
    let alternatives = input.alternatives.as_deref().unwrap_or_default();
    check_words(ObsidianSearchNotes::DECLARATION.name, "query", query, alternatives)?;
    let max_matches = input.max_matches_per_hit.unwrap_or(USUAL_MATCHES);
    let size = PassageSize { context: input.context_length, max_matches, pieces: 0 };
    // With one match each, the least that a hit takes: the search can stop once a page is full of these.
    let takes = |found: &RankedNote| hit(found.clone(), false).bytes(1);
    let page = RankedPage { offset: cursor.offset, limit: cursor.limit, size, room: room(cursor.limit), takes };
    let found = view
        .ranked_by(by, RankedQuery { alternatives, documents: true, ..RankedQuery::from(query) }, page, &|| {
            context.cancel.check().is_ok()
        })
        .map_err(|error| Reason::from_index(&error, context.cancel))?;
    if let (RankedBy::Meaning, Some(NoMeaning::NotReady(done))) = (by, found.no_meaning) {
        return Err(Reason::MeaningNotReady { done: usize::from(done) });
    }
    let notice = notice(&found, by);
    let truncated = found.scanned.is_some_and(|scanned| scanned.cut);
    let is_early = matches!(found.no_meaning, Some(NoMeaning::NotReady(_)));
    Ok(RankedAnswer {
        total: found.total,
        hits: found.hits.into_iter().map(|found| hit(found, input.explain)).collect(),
        notice,
        truncated,
        is_early,
        by: found.by,
    })
}

fn hit(found: RankedNote, explain: bool) -> SearchHit {
    let ranking = explain.then(|| ranking(&found));
    let matches = found.matches.into_iter().map(|found| MatchSpot { r#match: found.text, offset: found.offset });
    // A page of a document has a name at most, and no headings.
    let section = match &found.page {
        Some(page) => page.label.clone(),
        None => found.section.map(|headings| headings.join("::")),
    };
    SearchHit::Ranked {
        basename: naming::title(&found.path).to_owned(),
        place: found.page.as_ref().map(|page| passages::place(&found.path, page)),
        filename: found.path.to_string(),
        page: found.page.as_ref().and_then(passages::page_number),
        score: found.score,
        found_words: found.words,
        matches: matches.collect(),
        excerpt: found.excerpt,
        section,
        content_hash: found.near.filter(|near| near.alone).map(|near| near.hash.short()),
        ranking,
    }
}

/// What each word contributed to the score, and the factor applied if some words are missing.
fn ranking(found: &RankedNote) -> String {
    let parts: Vec<String> = found.parts.iter().map(|(word, part)| format!("{word} {part:.2}")).collect();
    // Less would be shown as 1.00.
    let share = if found.coverage < 0.995 {
        format!(", × {:.2} of all words by weight", found.coverage)
    } else {
        String::new()
    };
    let words = format!("{}{share}", parts.join(" + "));
    match &found.near {
        Some(near) if parts.is_empty() => format!("meaning {:.2}", near.cosine),
        Some(near) => format!("words {words}; meaning {:.2}", near.cosine),
        None if parts.is_empty() => "by its path".to_owned(),
        None => words,
    }
}

fn notice(found: &RankedNotes, by: RankedBy) -> Option<String> {
    let mut said: Vec<String> = Vec::new();
    // A query with operators alone is as it should be, and a scan has its own sentence.
    let is_said = match found.no_meaning {
        Some(NoMeaning::NotReady(_)) => found.scanned.is_none(),
        Some(NoMeaning::NoFreeWords | NoMeaning::UnknownWords | NoMeaning::Off) => by == RankedBy::Meaning,
        None => false,
    };
    said.extend(found.no_meaning.filter(|_| is_said).map(passages::why_by_words));
    said.extend(found.stood_in.map(passages::stood_in));
    // The ranking differs from the one that the caller gets a moment later.
    if found.scanned.is_some() {
        said.push(
            "The index is being made; this was a plain scan, which knows no word forms and no typing errors. \
             Ask again in a moment."
                .to_owned(),
        );
    }
    for text in &found.no_expressions {
        said.push(format!("{} is not a regular expression and was searched as words.", quoted(&format!("/{text}/"))));
    }
    if found.words_cut {
        said.push("There are too many words; only the first were used.".to_owned());
    }
    if found.undecided {
        said.push(
            "The expression needs too many steps on some notes, which were left out; try a simpler one.".to_owned(),
        );
    }
    for (word, meant) in &found.meant {
        let more = if meant.len() > MOST_MEANT { " and others" } else { "" };
        let meant = quoted_list(&meant[..meant.len().min(MOST_MEANT)]);
        said.push(format!("No note contains {}; searched for {meant}{more}.", quoted(word)));
    }
    said.extend(passages::waiting_documents(found));
    if found.some_words {
        let or = if found.by == RankedBy::Hybrid { ", or say something similar" } else { "" };
        said.push(format!("No note contains all words; these contain some of them{or}."));
    }
    (!said.is_empty()).then(|| said.join(" "))
}
