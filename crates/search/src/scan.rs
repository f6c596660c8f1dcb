//! The search without an index: notes that contain the words in some form are found by a scan, and the most promising
//! of them are ranked as if they were the whole vault.

mod decide;
mod spelling;

use std::{cmp::Reverse, collections::HashSet, sync::Arc};

use lapidary_query::SearchQuery;

use super::{
    ByScan, RankedIndexCache, RankedNotes, RankedPage, RankedQuery, SearchedFiles, corpus::ReadableCorpus,
    index::WordIndex, search, shown::with_shown,
};
use lapidary_index::{FileRow, FileState, GoOn, TextDemand};

use crate::{IndexError, VaultPath, VisibleFiles};
use decide::{AtHand, may_fit, needs_digest, needs_words};
use spelling::TermSpelling;

/// How many notes are examined closely; more would take as long as building the index.
const MAX_EXAMINED: usize = 150;

/// How many words are searched in all notes, each of which takes a separate pass.
const MOST_SPELLINGS: usize = 24;

/// A note that contains some of the words.
struct ScanCandidate {
    words: usize,
    in_path: usize,
    lines: usize,
    state: Arc<FileState>,
}

/// The notes that match a query, found without an index.
pub fn search_by_scan<'q>(
    cache: &RankedIndexCache,
    files: &VisibleFiles,
    query: impl Into<RankedQuery<'q>>,
    page: RankedPage,
    go_on: GoOn<'_>,
) -> Result<RankedNotes, IndexError> {
    let query = query.into();
    let mut found = candidates(files, &query.parse(), go_on)?;
    // Without an index there are no scores: more of the words, then words in the name, then more lines.
    found.sort_by_key(|found| {
        let changed = found.state.stat.stamp.modified;
        (Reverse(found.words), Reverse(found.in_path), Reverse(found.lines), Reverse(changed))
    });
    let most = found.first().map_or(0, |found| found.words);
    let holding = found.iter().filter(|found| found.words == most).count();
    let cut = holding > MAX_EXAMINED;
    found.truncate(MAX_EXAMINED);
    let states: Vec<Arc<FileState>> = found.into_iter().map(|found| found.state).collect();
    digest(files, &states, go_on)?;
    let index = WordIndex::of(&states, &files.source(), go_on)?;
    // Documents are not scanned: what is known of them is found by the index, a moment later.
    let among = SearchedFiles { files, documents: None };
    let mut answer = search(ReadableCorpus::of_some(&index), cache, among, query, None, page, go_on)?;
    answer.scanned = Some(ByScan { cut });
    if cut {
        // At least those that have all of the words; they were counted, though not all were examined.
        answer.total = answer.total.max(holding);
    }
    Ok(answer)
}

/// The notes that contain one of the words, if the query has any, and are not excluded by anything else.
fn candidates(files: &VisibleFiles, query: &SearchQuery, go_on: GoOn<'_>) -> Result<Vec<ScanCandidate>, IndexError> {
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let mut seen = HashSet::new();
    let terms = query.wanted().into_iter().flat_map(|words| &words.terms);
    let terms = terms.filter(|term| seen.insert(term.as_str()));
    let spellings: Vec<TermSpelling> = terms.filter_map(|term| TermSpelling::of(term)).take(MOST_SPELLINGS).collect();
    // If words are required, a note without any of them cannot match.
    let needed = needs_words(&query.root) && !spellings.is_empty();
    // Counts matching lines rather than words: cheap, and enough to choose the most promising notes.
    let look = |state: &Arc<FileState>, text: &[u8]| {
        let path = state.path.as_str().as_bytes();
        let mut candidate = ScanCandidate { words: 0, in_path: 0, lines: 0, state: Arc::clone(state) };
        for spelling in &spellings {
            let in_path = spelling.count_lines(path, go_on);
            let lines = spelling.count_lines(text, go_on);
            candidate.in_path += in_path;
            candidate.lines += lines;
            candidate.words += usize::from(in_path + lines > 0);
        }
        (candidate.words > 0 || !needed).then_some(candidate)
    };
    // Conditions that need no words are decided with what is known: path and text now, digest later.
    let stays =
        |state: &Arc<FileState>, at_hand: AtHand<'_>| may_fit(&query.root, &FileRow::new(files, state), state, at_hand);
    let mut found = files.map_texts_of(VaultPath::is_searched, go_on, |entry, bytes| {
        // A note is searched as its bytes are; the texts of a canvas are within its JSON.
        let found = match entry.is_note() {
            true => look(entry.state(), bytes)?,
            false => with_shown(entry.path(), bytes, |text| look(entry.state(), text.as_bytes()))?,
        };
        with_shown(entry.path(), bytes, |text| stays(&found.state, AtHand::Text(text))).then_some(found)
    })?;
    // Only the candidates are digested; digesting all notes would be building the index.
    if needs_digest(&query.root) {
        let states: Vec<Arc<FileState>> = found.iter().map(|found| Arc::clone(&found.state)).collect();
        digest(files, &states, go_on)?;
        found.retain(|found| stays(&found.state, AtHand::Digest));
    }
    Ok(found)
}

/// Reads the notes among these that have not been read yet.
fn digest(files: &VisibleFiles, states: &[Arc<FileState>], go_on: GoOn<'_>) -> Result<(), IndexError> {
    let unknown = states.iter().filter(|state| state.path.is_note() && state.digest().is_none());
    let unknown: Vec<Arc<FileState>> = unknown.cloned().collect();
    let _under_way = files.live().progress.begin(unknown.len());
    let reading = files.source().digest(&unknown, TextDemand::AnyState, go_on);
    if reading.stopped { Err(IndexError::Stopped) } else { Ok(()) }
}
