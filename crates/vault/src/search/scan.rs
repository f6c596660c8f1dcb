//! The search without an index: the notes that hold the words somehow are found by a scan, and the best looking of them are
//! ranked as if they were the whole vault.

mod spelling;

use std::{cmp::Reverse, sync::Arc};

use lapidary_query::SearchQuery;

use super::{ByScan, RankedNotes, RankedPage, corpus::Corpus, index::Index, search, shown::with_shown};
use crate::{
    Files, IndexError, VaultPath,
    index::{FileState, GoOn},
};
use spelling::Spelling;

/// So many notes are looked at closely; more would take as long as making the index.
const MOST: usize = 150;

/// A note that holds some of the words.
struct Candidate {
    words: usize,
    in_path: usize,
    lines: usize,
    state: Arc<FileState>,
}

/// Nothing if the query has no words to scan for.
pub(super) fn search_by_scan(
    files: &Files,
    query: &str,
    page: RankedPage,
    go_on: GoOn<'_>,
) -> Result<Option<RankedNotes>, IndexError> {
    let parsed = SearchQuery::parse(query);
    let terms = parsed.wanted().into_iter().flat_map(|words| &words.terms);
    let spellings: Vec<Spelling> = terms.filter_map(|term| Spelling::of(term)).collect();
    if spellings.is_empty() {
        return Ok(None);
    }
    let look = |state: &Arc<FileState>, text: &[u8]| {
        let path = state.path.as_str().as_bytes();
        let mut candidate = Candidate { words: 0, in_path: 0, lines: 0, state: Arc::clone(state) };
        for spelling in &spellings {
            let in_path = spelling.count_lines(path, go_on);
            let lines = spelling.count_lines(text, go_on);
            candidate.in_path += in_path;
            candidate.lines += lines;
            candidate.words += usize::from(in_path + lines > 0);
        }
        (candidate.words > 0).then_some(candidate)
    };
    let mut found = files.map_texts_of(VaultPath::is_searched, go_on, |entry, bytes| match entry.is_note() {
        true => look(entry.0, bytes),
        false => with_shown(entry.path(), bytes, |text| look(entry.0, text.as_bytes())),
    })?;
    found.sort_by_key(|found| (Reverse(found.words), Reverse(found.in_path), Reverse(found.lines)));
    let most = found.first().map_or(0, |found| found.words);
    let holding = found.iter().filter(|found| found.words == most).count();
    let cut = holding > MOST;
    found.truncate(MOST);
    let states: Vec<Arc<FileState>> = found.into_iter().map(|found| found.state).collect();
    let index = Index::of(&states, files.live.source(), go_on)?;
    let mut answer = search(Corpus::of_some(&index), files, query, page, go_on)?;
    answer.scanned = Some(ByScan { cut });
    if cut {
        answer.total = answer.total.max(holding);
    }
    Ok(Some(answer))
}
