//! The notes that go on a canvas.

use std::{collections::HashSet, ops::ControlFlow};

use lapidary_note::count_steps;
use lapidary_operation::{Context, Reason, quote::Prose};
use lapidary_query::Row;
use lapidary_toolkit::{folder::FolderTarget, index, naming, note_hits, query_text::check_length};
use lapidary_vault::{FileRow, PassageSize, RankedPage, RankedQuery, VaultPath, View};
use schemars::JsonSchema;
use serde::Deserialize;

/// Which notes: exactly one of these.
#[derive(Deserialize, JsonSchema)]
pub(super) struct NoteChoice {
    /// All notes below it.
    #[serde(default)]
    folder: Option<String>,
    /// With nested tags.
    #[serde(default)]
    tag: Option<String>,
    /// The best of a ranked search.
    #[serde(default)]
    search: Option<String>,
    /// The notes of a Dataview query: `LIST FROM #book WHERE rating > 3`.
    #[serde(default)]
    query: Option<String>,
    /// Paths or names.
    #[serde(default)]
    #[schemars(length(max = 500))]
    notes: Option<Vec<String>>,
}

pub(super) struct ChosenNotes {
    /// Each once, at most as many as wanted.
    pub(super) paths: Vec<VaultPath>,
    pub(super) left_out: usize,
}

impl NoteChoice {
    pub(super) fn notes(
        self,
        tool: &str,
        context: &Context<'_>,
        view: &View,
        most: usize,
    ) -> Result<ChosenNotes, Reason> {
        let refused = |problem: &'static str| Err(Reason::bad_argument(tool, "", Prose::ours(problem)));
        let (paths, more) = match self {
            Self { folder: Some(folder), tag: None, search: None, query: None, notes: None } => {
                (in_folder(context, view, &folder)?, 0)
            }
            Self { tag: Some(tag), folder: None, search: None, query: None, notes: None } => {
                (with_tag(context, view, &tag)?, 0)
            }
            Self { search: Some(search), folder: None, tag: None, query: None, notes: None } => {
                // Checked here, so that the refusal names the argument.
                check_length(tool, &search)?;
                found(context, view, &search, most)?
            }
            Self { query: Some(query), folder: None, tag: None, search: None, notes: None } => {
                let (hits, _) = note_hits::by_dql(context, view, &query)?;
                (hits.iter().filter_map(|(path, _)| VaultPath::parse(path).ok()).collect(), 0)
            }
            Self { notes: Some(notes), folder: None, tag: None, search: None, query: None } => {
                let find = |name: &String| naming::find(context, view, name).map(|found| found.path);
                (notes.iter().map(find).collect::<Result<_, _>>()?, 0)
            }
            _ => return refused("must have exactly one of `folder`, `tag`, `search`, `query` and `notes`"),
        };
        // A query can name a note several times.
        let mut seen = HashSet::new();
        let mut paths: Vec<VaultPath> = paths.into_iter().filter(|path| seen.insert(path.clone())).collect();
        if paths.is_empty() {
            return refused("must fit at least one note; none was found");
        }
        // What the search did not fetch counts as well.
        let left_out = paths.len().saturating_sub(most) + more;
        paths.truncate(most);
        Ok(ChosenNotes { paths, left_out })
    }
}

fn in_folder(context: &Context<'_>, view: &View, folder: &str) -> Result<Vec<VaultPath>, Reason> {
    let files = index::files(context, view)?;
    let folder = FolderTarget::find(view, files, folder)?.required()?;
    let notes = files.below(folder.as_ref()).filter(|entry| {
        count_steps(1);
        entry.is_note()
    });
    Ok(notes.map(|entry| entry.path().clone()).collect())
}

fn with_tag(context: &Context<'_>, view: &View, tag: &str) -> Result<Vec<VaultPath>, Reason> {
    let wanted = tag.trim_start_matches('#').to_lowercase();
    // A nested tag has a slash, so `#book` does not find `#bookmark`.
    let nested = format!("{wanted}/");
    let notes = index::notes(context, view)?;
    let mut found = Vec::new();
    for entry in notes.iter().filter(|entry| entry.is_note()) {
        count_steps(16);
        let mut has = false;
        FileRow::new(notes, entry.state()).visit_tags(&mut |tag| {
            let name = tag.name.to_lowercase();
            has = name == wanted || name.starts_with(&nested);
            if has { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if has {
            found.push(entry.path().clone());
        }
    }
    context.check()?;
    Ok(found)
}

/// The best of a search, and how many more there are.
fn found(context: &Context<'_>, view: &View, search: &str, most: usize) -> Result<(Vec<VaultPath>, usize), Reason> {
    let page = RankedPage {
        offset: 0,
        limit: most,
        // No text is shown, so none is looked for.
        size: PassageSize { context: 0, max_matches: 0, pieces: 0 },
        room: usize::MAX,
        takes: |_| 1,
    };
    let found = view
        .ranked(RankedQuery::from(search), page, &|| context.cancel.check().is_ok())
        .map_err(|error| Reason::from_index(&error, context.cancel))?;
    let more = found.total.saturating_sub(found.hits.len());
    Ok((found.hits.into_iter().map(|hit| hit.path).collect(), more))
}
