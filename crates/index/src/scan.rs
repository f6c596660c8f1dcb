//! The search through many texts at once.
//!
//! A scan counts the matching lines in every text, on all cores, and then builds hits for only one page of them, from
//! the same bytes. The result does not depend on the number of threads: it is what a single thread would find, going
//! from the first text on until it is done or stopped.

mod hit;
mod searched;
#[cfg(test)]
mod tests;
mod watch;

use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

use lapidary_query::{LineCount, Pattern};
use rayon::prelude::*;

#[cfg(test)]
use crate::SharedBytes;
use watch::StopSignal;

pub use hit::ScanHit;
pub(crate) use searched::SearchedText;

/// This many texts are counted before the results are put in order. More would waste work when the scan is stopped,
/// fewer would let threads wait for each other.
const WAVE: usize = 128;

/// This many bytes of matching texts are kept in one wave. They may have been read from disk for this scan.
const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// The texts to scan, in their order.
pub(crate) trait ScanSource: Sync {
    fn count(&self) -> usize;

    /// The bytes of one text, or `None` if it is gone or cannot be read. Called once per scan.
    fn text(&self, index: usize) -> Option<SearchedText>;
}

#[cfg(test)]
impl ScanSource for [SharedBytes] {
    fn count(&self) -> usize {
        self.len()
    }

    fn text(&self, index: usize) -> Option<SearchedText> {
        self.get(index).cloned().map(SearchedText::new)
    }
}

/// Which matching lines are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanWindow {
    /// The first text to scan; earlier ones are skipped. A stopped scan continues at its `next`.
    pub start: usize,
    /// The part of that text to skip.
    pub skip: SeenLines,
    /// How many matching lines to skip from there.
    pub offset: usize,
    pub limit: usize,
}

/// The matching lines of a text that were already seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenLines {
    /// The first of them.
    Matches(usize),
    /// Those before this line, which counts from 1.
    LinesBefore(usize),
}

/// A matching line that does not fit the page, or a text that was not scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanPlace {
    pub file: usize,
    /// How many matching lines of the text come before it.
    pub matches: usize,
}

/// How much a scan may do.
#[derive(Clone, Copy)]
pub struct ScanBudget<'b> {
    /// Including texts that could not be read.
    pub max_files: Option<usize>,
    /// A text that would exceed it is not scanned, unless it is the first: otherwise a continued scan would never get
    /// past it.
    pub max_bytes: Option<u64>,
    /// Called often, from several threads: whether to stop, and why.
    pub go_on: &'b (dyn Fn() -> Option<ScanStop> + Sync),
    /// Hears how many texts of how many are done.
    pub progress: &'b (dyn Fn(u64, u64) + Sync),
}

/// Why a scan ended before its last text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanStop {
    Budget,
    Deadline,
    Cancelled,
}

/// The results of a scan for the texts that it finished, which are always the first ones from its start.
#[derive(Debug)]
pub struct ScanResult {
    /// Matching lines in all of them.
    pub total: usize,
    /// The lines of the window, in order. Complete unless the scan was cancelled.
    pub hits: Vec<ScanHit>,
    pub files_scanned: usize,
    pub bytes_scanned: u64,
    /// Texts that are gone or could not be read.
    pub unread: usize,
    /// Texts with lines that the pattern could not decide, so that matching lines may be missing.
    pub gave_up: Vec<usize>,
    /// Always set if a text or a hit was left out.
    pub stopped: Option<ScanStop>,
    /// Where to continue, so that nothing is lost: the first line after the window, or the first text that was left
    /// out.
    pub next: Option<ScanPlace>,
}

/// Scans texts for matching lines.
pub(crate) fn scan<S: ScanSource + ?Sized>(
    source: &S,
    pattern: &Pattern,
    window: ScanWindow,
    budget: &ScanBudget<'_>,
) -> ScanResult {
    let watch = StopSignal::new(budget.go_on);
    let mut scanned = ScanResult {
        total: 0,
        hits: Vec::new(),
        files_scanned: 0,
        bytes_scanned: 0,
        unread: 0,
        gave_up: Vec::new(),
        stopped: None,
        next: None,
    };
    let mut page = Vec::new();
    let start = window.start.min(source.count());
    let end = budget.max_files.map_or(source.count(), |most| start.saturating_add(most).min(source.count()));
    let mut next = start;
    // In waves: results are put in order and stops are checked between them.
    while next < end && scanned.stopped.is_none() {
        let wave = next..next.saturating_add(WAVE).min(end);
        // Texts are kept only until the page is full; after that, lines are only counted.
        for outcome in count_wave(source, pattern, wave, start, scanned.total < window.end(), window, &watch) {
            match outcome {
                // The wave kept enough texts; the next one starts with this text.
                TextOutcome::Later => break,
                TextOutcome::Stopped => {
                    scanned.stopped = Some(watch.reason());
                    break;
                }
                // A text that exceeds the budget is not counted, so that a continued scan starts with it.
                TextOutcome::Counted(counted) if scanned.exceeds(&counted, budget) => {
                    scanned.stopped = Some(ScanStop::Budget);
                    break;
                }
                TextOutcome::Unread => scanned.unread += 1,
                TextOutcome::Counted(counted) => page.extend(scanned.take(next, counted, window)),
            }
            next += 1;
        }
        (budget.progress)((next - start) as u64, (end - start) as u64);
    }
    // Texts are left over: whether the file budget or a stop is the reason, the caller can continue here.
    if next < source.count() {
        // Set already if the page ended before this.
        scanned.next.get_or_insert(ScanPlace { file: next, matches: 0 });
        scanned.stopped = scanned.stopped.or(Some(ScanStop::Budget));
    }
    scanned.make_hits(page, pattern, &watch);
    scanned
}

/// The outcome for one text.
enum TextOutcome {
    Counted(CountedLines),
    Unread,
    /// The scan was stopped before it was finished.
    Stopped,
    /// The wave already keeps too much; the next one starts here.
    Later,
}

struct CountedLines {
    bytes: u64,
    lines: usize,
    /// Matching lines before those.
    skipped: usize,
    gave_up: bool,
    /// Kept while it may belong to the page.
    text: Option<SearchedText>,
}

/// A text of the page and its matching lines on it.
struct PageFile {
    file: usize,
    text: SearchedText,
    lines: Range<usize>,
}

impl ScanWindow {
    fn end(&self) -> usize {
        self.offset.saturating_add(self.limit)
    }
}

impl ScanResult {
    fn exceeds(&self, counted: &CountedLines, budget: &ScanBudget<'_>) -> bool {
        let first = self.files_scanned == 0;
        !first && budget.max_bytes.is_some_and(|most| self.bytes_scanned.saturating_add(counted.bytes) > most)
    }

    /// Adds a text to the result. Returns which of its lines belong to the page, if any.
    fn take(&mut self, file: usize, counted: CountedLines, window: ScanWindow) -> Option<PageFile> {
        // Lines are numbered over all texts; the window is compared with those numbers.
        let before = self.total;
        self.total += counted.lines;
        self.files_scanned += 1;
        self.bytes_scanned += counted.bytes;
        if counted.gave_up {
            self.gave_up.push(file);
        }
        let from = window.offset.max(before);
        let to = window.end().min(self.total);
        let within = |line: usize| line.saturating_sub(before) + counted.skipped;
        // More lines than the page holds: the next page starts within this text.
        if self.total > window.end() {
            self.next.get_or_insert(ScanPlace { file, matches: within(window.end()) });
        }
        let text = counted.text.filter(|_| from < to)?;
        Some(PageFile { file, text, lines: within(from)..within(to) })
    }

    /// Finds the lines of the page again. A deadline does not end this, since it takes no longer than the count did and
    /// makes the answer useful; a cancellation does.
    fn make_hits(&mut self, page: Vec<PageFile>, pattern: &Pattern, watch: &StopSignal<'_>) {
        let cancelled = || watch.cancelled();
        let found: Vec<Option<Vec<ScanHit>>> =
            page.into_par_iter().map(|file| file.hits(pattern, &cancelled)).collect();
        for hits in found {
            match hits {
                Some(hits) => self.hits.extend(hits),
                None => {
                    self.stopped = Some(ScanStop::Cancelled);
                    return;
                }
            }
        }
    }
}

impl PageFile {
    /// The hits, or `None` if they were stopped.
    fn hits(self, pattern: &Pattern, stop: &dyn Fn() -> bool) -> Option<Vec<ScanHit>> {
        // Searched again on the kept text, not read again: count and hits have to agree.
        let mut lines = pattern.lines(self.text.lines(), stop);
        let wanted = lines.by_ref().skip(self.lines.start).take(self.lines.len());
        let hit = |(number, line)| ScanHit::new(self.file, number, self.text.clone(), line);
        let hits: Vec<ScanHit> = self.lines.clone().zip(wanted).map(hit).collect();
        (!lines.stopped()).then_some(hits)
    }
}

/// Counts in some texts, in parallel, with the outcomes in their order.
fn count_wave<S: ScanSource + ?Sized>(
    source: &S,
    pattern: &Pattern,
    wave: Range<usize>,
    // Scanned however little time there is, so that every scan makes progress.
    surely: usize,
    keeps_texts: bool,
    window: ScanWindow,
    watch: &StopSignal<'_>,
) -> Vec<TextOutcome> {
    let first = wave.start;
    let kept = AtomicUsize::new(0);
    let count = |file: usize| {
        let stops = || if file == surely { watch.cancelled() } else { watch.stops() };
        if stops() {
            return TextOutcome::Stopped;
        }
        let Some(text) = source.text(file) else { return TextOutcome::Unread };
        let LineCount { lines, undecided, stopped } = pattern.count_lines(text.lines(), &stops);
        if stopped {
            return TextOutcome::Stopped;
        }
        let bytes = text.lines().len();
        let skipped = match window.skip {
            _ if file != window.start => 0,
            SeenLines::Matches(matches) => matches.min(lines),
            SeenLines::LinesBefore(line) => {
                // Lines are only numbered while they are searched, so those before have to be found again.
                pattern.lines(text.lines(), &stops).take_while(|found| found.number < line).count()
            }
        };
        let lines = lines - skipped.min(lines);
        let text = (keeps_texts && lines > 0).then_some(text);
        // The first one is always taken, so that every wave makes progress.
        if text.is_some() && kept.fetch_add(bytes, Ordering::Relaxed) > MAX_KEPT_BYTES && file != first {
            return TextOutcome::Later;
        }
        TextOutcome::Counted(CountedLines { bytes: bytes as u64, lines, skipped, gave_up: undecided > 0, text })
    };
    wave.into_par_iter().map(count).collect()
}
