//! Tests of scans: order, budgets, stops and continuation.

use std::sync::{Mutex, PoisonError, atomic::AtomicU64};

use lapidary_query::{PatternKind, PatternOptions};
use proptest::prelude::*;

use super::*;

const ALL: ScanWindow = ScanWindow { start: 0, skip: SeenLines::Matches(0), offset: 0, limit: usize::MAX };

fn literal(text: &str) -> Pattern {
    Pattern::compile(text, &PatternOptions::default()).unwrap()
}

fn regex(text: &str) -> Pattern {
    Pattern::compile(text, &PatternOptions { kind: PatternKind::Regex, ..PatternOptions::default() }).unwrap()
}

fn texts<T: AsRef<[u8]>>(texts: &[T]) -> Vec<SharedBytes> {
    texts.iter().map(|text| SharedBytes::from(text.as_ref().to_vec())).collect()
}

fn unlimited() -> ScanBudget<'static> {
    ScanBudget { max_files: None, max_bytes: None, go_on: &|| None, progress: &|_, _| {} }
}

/// The result of a scan, in a comparable form.
fn shown(scanned: &ScanResult) -> String {
    format!("{scanned:?}")
}

fn found(scanned: &ScanResult) -> Vec<(usize, usize)> {
    scanned.hits.iter().map(|hit| (hit.file, hit.line.number)).collect()
}

#[test]
fn hits_come_in_the_order_of_the_texts_with_their_neighbours() {
    let texts = texts(&["one\r\ntwo x\r\nthree\r\n", "nothing", "", "x\nx", "\u{feff}a\nb\nc x c x"]);
    let scanned = scan(&texts[..], &literal("x"), ALL, &unlimited());
    assert_eq!(scanned.total, 4);
    assert_eq!((scanned.files_scanned, scanned.unread), (5, 0));
    assert_eq!(scanned.bytes_scanned, texts.iter().map(|text| text.len() as u64).sum::<u64>());
    assert_eq!((scanned.stopped, scanned.next.map(|place| place.file)), (None, None));
    assert_eq!(found(&scanned), [(0, 2), (3, 1), (3, 2), (4, 3)]);
    let hit = &scanned.hits[0];
    assert_eq!((hit.before(5), hit.content(), hit.after(5)), (vec![&b"one"[..]], &b"two x"[..], vec![&b"three"[..]]));
    let hit = &scanned.hits[3];
    assert_eq!((hit.before(1), hit.after(1)), (vec![&b"b"[..]], vec![]));
    assert_eq!(hit.line.matches, [2..3, 6..7]);
}

#[test]
fn an_empty_scan_is_not_a_stop() {
    for (len, window) in [(0, ALL), (3, ScanWindow { start: 9, ..ALL }), (3, ScanWindow { limit: 0, ..ALL })] {
        let texts = texts(&vec!["x"; len]);
        let scanned = scan(&texts[..], &literal("x"), window, &unlimited());
        assert_eq!((scanned.hits.len(), scanned.stopped), (0, None));
    }
}

struct Gone;

impl ScanSource for Gone {
    fn count(&self) -> usize {
        300
    }

    fn text(&self, index: usize) -> Option<SearchedText> {
        (!index.is_multiple_of(3)).then(|| SearchedText::new(SharedBytes::from(b"x\n".to_vec())))
    }
}

#[test]
fn texts_that_cannot_be_read_are_counted() {
    let scanned = scan(&Gone, &literal("x"), ALL, &unlimited());
    assert_eq!((scanned.total, scanned.files_scanned, scanned.unread), (200, 200, 100));
    let budget = ScanBudget { max_files: Some(4), ..unlimited() };
    let scanned = scan(&Gone, &literal("x"), ALL, &budget);
    assert_eq!((scanned.files_scanned, scanned.unread, scanned.next.map(|place| place.file)), (2, 2, Some(4)));
}

#[test]
fn a_budget_of_files_is_kept_exactly_and_the_rest_can_be_had() {
    let texts = texts(&(0..500).map(|n| "x\n".repeat(n % 4)).collect::<Vec<_>>());
    let whole = found(&scan(&texts[..], &literal("x"), ALL, &unlimited()));
    for most in [1, 7, 128, 129, 499] {
        let budget = ScanBudget { max_files: Some(most), ..unlimited() };
        let (mut window, mut parts, mut scans) = (ALL, Vec::new(), 0);
        loop {
            let part = scan(&texts[..], &literal("x"), window, &budget);
            assert_eq!(part.total, part.hits.len());
            parts.extend(found(&part));
            scans += 1;
            let Some(next) = part.next.map(|place| place.file) else {
                assert_eq!(part.stopped, None);
                break;
            };
            assert_eq!((part.stopped, part.files_scanned), (Some(ScanStop::Budget), most));
            assert_eq!(next, window.start + most);
            window.start = next;
        }
        assert_eq!((parts, scans), (whole.clone(), 500_usize.div_ceil(most)));
    }
    for most in [500, 501, usize::MAX] {
        let budget = ScanBudget { max_files: Some(most), ..unlimited() };
        assert_eq!(scan(&texts[..], &literal("x"), ALL, &budget).stopped, None, "a budget that suffices stops nothing");
    }
    let none = scan(&texts[..], &literal("x"), ALL, &ScanBudget { max_files: Some(0), ..unlimited() });
    assert_eq!(
        (none.files_scanned, none.stopped, none.next.map(|place| place.file)),
        (0, Some(ScanStop::Budget), Some(0))
    );
}

#[test]
fn a_budget_of_bytes_is_kept_and_always_lets_one_text_through() {
    let texts = texts(&["x".repeat(10), "x".repeat(10), "x".repeat(30), "x".repeat(5), String::new()]);
    for (most, scans) in [
        (0, &[1, 1, 1, 1, 1][..]),
        (10, &[1, 1, 1, 2]),
        (19, &[1, 1, 1, 2]),
        (20, &[2, 1, 2]),
        (50, &[3, 2]),
        (55, &[5]),
        (u64::MAX, &[5]),
    ] {
        let budget = ScanBudget { max_bytes: Some(most), ..unlimited() };
        let (mut window, mut files) = (ALL, Vec::new());
        loop {
            let part = scan(&texts[..], &literal("x"), window, &budget);
            files.push(part.files_scanned);
            assert!(part.bytes_scanned <= most || part.files_scanned == 1);
            assert_eq!(part.stopped.is_some(), part.next.is_some());
            let Some(next) = part.next.map(|place| place.file) else { break };
            window.start = next;
        }
        assert_eq!(files, scans, "{most}");
    }
}

#[test]
fn every_stop_is_reported_wherever_it_occurs() {
    let texts = texts(&vec!["x\n".repeat(3); 400]);
    for reason in [ScanStop::Deadline, ScanStop::Cancelled, ScanStop::Budget] {
        for after in [0, 1, 2, 5, 100, 399, 400, 500, 799, 800, 2000] {
            let asked = AtomicUsize::new(0);
            let go_on = || (asked.fetch_add(1, Ordering::Relaxed) >= after).then_some(reason);
            let scanned = scan(&texts[..], &literal("x"), ALL, &ScanBudget { go_on: &go_on, ..unlimited() });
            let complete = scanned.files_scanned == 400 && scanned.hits.len() == 1200;
            assert_eq!(scanned.stopped, (!complete).then_some(reason), "{after}");
            assert_eq!(scanned.next.is_some(), scanned.files_scanned < 400);
            assert_eq!(scanned.total, 3 * scanned.files_scanned);
            if reason != ScanStop::Cancelled {
                assert_eq!(scanned.hits.len(), scanned.total, "the page of the counted lines is complete");
            }
            if let Some(next) = scanned.next.map(|place| place.file) {
                assert_eq!(next, scanned.files_scanned);
                let rest = scan(&texts[..], &literal("x"), ScanWindow { start: next, ..ALL }, &unlimited());
                assert_eq!(scanned.total + rest.total, 1200);
            }
        }
    }
}

#[test]
fn a_cancellation_is_seen_inside_of_one_huge_text() {
    let huge = texts(&["a line of many words\n".repeat(500_000)]);
    for pattern in [literal("nothing"), literal("many"), regex(r"m[a-z]+y\s\d"), regex("(?<=no )many")] {
        let questions = AtomicU64::new(0);
        let go_on = || {
            questions.fetch_add(1, Ordering::Relaxed);
            None
        };
        scan(&huge[..], &pattern, ALL, &ScanBudget { go_on: &go_on, ..unlimited() });
        // Often enough that little is read between two of them.
        assert!(questions.load(Ordering::Relaxed) > 20, "{questions:?}");
        let questions = AtomicU64::new(0);
        let go_on = || (questions.fetch_add(1, Ordering::Relaxed) >= 5).then_some(ScanStop::Cancelled);
        let scanned = scan(&huge[..], &pattern, ALL, &ScanBudget { go_on: &go_on, ..unlimited() });
        assert_eq!(
            (scanned.stopped, scanned.next.map(|place| place.file), scanned.total),
            (Some(ScanStop::Cancelled), Some(0), 0)
        );
        assert!(questions.load(Ordering::Relaxed) <= 10, "{questions:?}");
    }
}

#[test]
fn a_text_that_was_given_up_is_named() {
    let hard = format!("aab\n{}c\n", "a".repeat(40));
    let texts = texts(&["aab\n", &hard, "b\n"]);
    let scanned = scan(&texts[..], &regex("(?:(?=a)a*)*(?=[bx])[bc]"), ALL, &unlimited());
    assert_eq!((scanned.total, scanned.gave_up.as_slice(), scanned.stopped), (3, &[1][..], None));
    assert_eq!(found(&scanned), [(0, 1), (1, 1), (2, 1)]);
}

/// Changes with each reading, as a file on the disk may.
struct Restless(Mutex<Vec<usize>>);

impl ScanSource for Restless {
    fn count(&self) -> usize {
        10
    }

    fn text(&self, index: usize) -> Option<SearchedText> {
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        read[index] += 1;
        Some(SearchedText::new(SharedBytes::from("x\n".repeat(read[index]).into_bytes())))
    }
}

#[test]
fn count_and_hits_come_from_the_same_reading() {
    let source = Restless(Mutex::new(vec![0; 10]));
    let scanned = scan(&source, &literal("x"), ALL, &unlimited());
    assert_eq!((scanned.total, scanned.hits.len()), (10, 10));
    assert_eq!(*source.0.lock().unwrap(), [1; 10]);
}

/// So large that a wave cannot keep all of them.
struct Large(SharedBytes);

impl ScanSource for Large {
    fn count(&self) -> usize {
        40
    }

    fn text(&self, _: usize) -> Option<SearchedText> {
        Some(SearchedText::new(self.0.clone()))
    }
}

#[test]
fn large_texts_are_scanned_in_smaller_waves() {
    let mut text = vec![b'a'; 8 * 1024 * 1024];
    text.extend_from_slice(b"\nx\n");
    let scanned = scan(&Large(SharedBytes::from(text)), &literal("x"), ScanWindow { limit: 30, ..ALL }, &unlimited());
    assert_eq!((scanned.total, scanned.files_scanned, scanned.stopped), (40, 40, None));
    assert_eq!(found(&scanned), (0..30).map(|file| (file, 2)).collect::<Vec<_>>());
}

fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

proptest! {
    // Each case makes two pools of threads.
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 640 }))]

    #[test]
    fn pages_are_parts_of_the_whole_on_any_number_of_threads(
        given in prop::collection::vec("[ab\r\n\u{e9} ]{0,12}", 0..300),
        sought in prop::sample::select(vec!["a", "ab", "\u{e9}", "^a", "a$", r"\s", "(?<!b)a", "[^a]b", "z"]),
        limit in 1_usize..50,
        start in 0_usize..4,
    ) {
        let pattern = regex(sought);
        let texts = texts(&given);
        let window = ScanWindow { start, skip: SeenLines::Matches(0), offset: 0, limit: usize::MAX };
        let whole = on_threads(1, || scan(&texts[..], &pattern, window, &unlimited()));
        let other = on_threads(2, || scan(&texts[..], &pattern, window, &unlimited()));
        prop_assert_eq!(shown(&whole), shown(&other));

        let mut expected = Vec::new();
        for (file, text) in texts.iter().enumerate().skip(start) {
            expected.extend(pattern.lines(SearchedText::new(text.clone()).lines(), &|| false).map(|line| (file, line.number)));
        }
        prop_assert_eq!(found(&whole), &expected[..]);
        prop_assert_eq!(whole.total, expected.len());

        let mut paged = Vec::new();
        while paged.len() < whole.total {
            let page = scan(&texts[..], &pattern, ScanWindow { start, skip: SeenLines::Matches(0), offset: paged.len(), limit }, &unlimited());
            prop_assert_eq!(page.total, whole.total);
            prop_assert_eq!(page.hits.len(), limit.min(whole.total - paged.len()));
            paged.extend(found(&page));
        }
        prop_assert_eq!(paged, expected);
        let behind = scan(&texts[..], &pattern, ScanWindow { start, skip: SeenLines::Matches(0), offset: whole.total, limit }, &unlimited());
        prop_assert!(behind.hits.is_empty());
    }

    #[test]
    fn a_budget_gives_the_same_on_any_number_of_threads(
        given in prop::collection::vec("[ab\n]{0,30}", 0..300),
        max_files in prop::option::of(0_usize..400),
        max_bytes in prop::option::of(0_u64..4000),
    ) {
        let texts = texts(&given);
        let budget = ScanBudget { max_files, max_bytes, ..unlimited() };
        let one = on_threads(1, || shown(&scan(&texts[..], &literal("a"), ALL, &budget)));
        let two = on_threads(2, || shown(&scan(&texts[..], &literal("a"), ALL, &budget)));
        prop_assert_eq!(one, two);
    }
}

#[test]
fn continuing_where_a_page_ends_shows_every_line_once() {
    let texts = texts(&(0..40).map(|n| "x\n\n".repeat(n % 5)).collect::<Vec<_>>());
    let whole = found(&scan(&texts[..], &literal("x"), ALL, &unlimited()));
    for (limit, most) in [(1, 1), (3, 2), (7, 40), (2, 7), (100, 3)] {
        for by_line in [false, true] {
            let budget = ScanBudget { max_files: Some(most), ..unlimited() };
            let (mut window, mut seen) = (ScanWindow { limit, ..ALL }, Vec::new());
            loop {
                let part = scan(&texts[..], &literal("x"), window, &budget);
                seen.extend(found(&part));
                let Some(next) = part.next else { break };
                let last = part.hits.last().filter(|hit| hit.file == next.file && next.matches > 0);
                let skip = match last.filter(|_| by_line) {
                    Some(hit) => SeenLines::LinesBefore(hit.line.number + 1),
                    None => SeenLines::Matches(next.matches),
                };
                window = ScanWindow { start: next.file, skip, ..window };
            }
            assert_eq!(seen, whole, "{limit} {most}");
        }
    }
}
