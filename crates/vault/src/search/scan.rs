//! The search without an index: the notes that hold the words somehow are found by a scan, and the best looking of them are
//! ranked as if they were the whole vault.

use std::{cmp::Reverse, sync::Arc};

use lapidary_query::{Case, Pattern, PatternKind, PatternOptions, SearchQuery};

use super::{ByScan, RankedNotes, RankedPage, corpus::Corpus, index::Index, search};
use crate::{
    Files, IndexError,
    index::{FileState, GoOn},
};

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
    let patterns: Vec<Pattern> =
        parsed.wanted().iter().flat_map(|words| &words.terms).filter_map(|term| literal(term)).collect();
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut found = files.map_texts(go_on, |entry, bytes| {
        let path = entry.path().as_str().as_bytes();
        let mut candidate = Candidate { words: 0, in_path: 0, lines: 0, state: Arc::clone(entry.0) };
        for pattern in &patterns {
            let in_path = pattern.count_lines(path, &|| false).lines;
            let lines = pattern.count_lines(bytes, &|| !go_on()).lines;
            candidate.in_path += in_path;
            candidate.lines += lines;
            candidate.words += usize::from(in_path + lines > 0);
        }
        (candidate.words > 0).then_some(candidate)
    })?;
    found.sort_by_key(|found| (Reverse(found.words), Reverse(found.in_path), Reverse(found.lines)));
    let most = found.first().map_or(0, |found| found.words);
    let holding = found.iter().filter(|found| found.words == most).count();
    let cut = holding > MOST;
    found.truncate(MOST);
    let states: Vec<Arc<FileState>> = found.into_iter().map(|found| found.state).collect();
    let source = files.live.source();
    let index = Index::of(&states, source, go_on)?;
    let mut answer = search(Corpus::of_some(&index), query, page, source, go_on)?;
    answer.scanned = Some(ByScan { cut });
    if cut {
        answer.total = answer.total.max(holding);
    }
    Ok(Some(answer))
}

/// What cannot be searched for by itself is left to the closer look.
fn literal(term: &str) -> Option<Pattern> {
    let options = PatternOptions {
        kind: PatternKind::Literal,
        case: Case::Insensitive,
        whole_word: false,
        nfc: !term.is_ascii(),
    };
    Pattern::compile(term, &options).ok()
}
