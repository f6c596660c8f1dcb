//! Detects a caller that goes in circles: the same call with the same answer, nearly the same search, one failure after
//! another.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use lapidary_note::ContentHash;
use lapidary_query::words;
use lapidary_tools::{RenderedReply, ToolSpec};
use lapidary_vault::{Change, ChangeSet, ContentGuard, VaultPath};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Map, Value};

use crate::digest::digest;

/// When a caller goes in circles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepetitionLimits {
    pub noticed: bool,
    /// How many of the last calls are checked.
    pub window: usize,
    /// How often the same call may occur among them.
    pub allowed: usize,
    /// After how many consecutive failures a caller is told to stop; 0 means never.
    pub max_failures: usize,
}

/// What was requested, however it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallFingerprint {
    call: ContentHash,
    search: Option<WordSearch>,
}

/// A search by words: all its other parameters, including operators among the words, say where and how to search.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WordSearch {
    scope: ContentHash,
    words: BTreeSet<String>,
    /// What an answer may repeat of the request.
    texts: Vec<String>,
}

impl CallFingerprint {
    /// By a tool that may not even exist, with any arguments.
    pub(crate) fn raw(tool: &str, arguments: &Map<String, Value>) -> Self {
        Self { call: ContentHash::of(format!("{tool} {}", digest(arguments)).as_bytes()), search: None }
    }

    /// With valid arguments: those with no effect are omitted.
    pub(crate) fn of(spec: &ToolSpec, vault: Option<&str>, arguments: &Map<String, Value>) -> Self {
        let mut arguments = canonical(spec, arguments);
        // Named or left out, it is the same vault.
        if let Some(vault) = vault {
            arguments.insert("vault".to_owned(), Value::String(vault.to_owned()));
        }
        let Self { call, .. } = Self::raw(spec.name(), &arguments);
        let (mut searched, mut operators, mut texts) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for name in spec.searches_by {
            if let Some(Value::String(text)) = arguments.remove(*name) {
                for part in parts(&text) {
                    match is_operator(part) {
                        true => operators.extend([part.to_owned()]),
                        false => searched.extend(words(part)),
                    }
                }
                texts.push(text);
            }
        }
        let scope = format!("{} {} {operators:?}", spec.name(), digest(&arguments));
        let scope = ContentHash::of(scope.as_bytes());
        Self { call, search: (!searched.is_empty()).then_some(WordSearch { scope, words: searched, texts }) }
    }

    /// A fingerprint of the answer, without what it only repeats of the request.
    pub(crate) fn outcome(&self, rendered: &RenderedReply) -> ContentHash {
        // Two wordings that find the same would differ in their answers by the wording alone.
        let Some(WordSearch { texts, .. }) = &self.search else { return rendered.digest() };
        let is_echo = |value: &Value| value.as_str().is_some_and(|said| texts.iter().any(|text| text == said));
        let mut facts = rendered.facts();
        facts.retain(|_, value| !is_echo(value));
        digest(&facts)
    }
}

/// A query split at spaces, but not within quotes and brackets.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut depth) = (false, 0_usize);
    let ends = move |c: char| {
        match c {
            '"' => quoted = !quoted,
            '[' | '(' if !quoted => depth += 1,
            ']' | ')' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        c.is_whitespace() && !quoted && depth == 0
    };
    text.split(ends).filter(|part| !part.is_empty())
}

/// Whether part of a query says where or how to search, rather than what for.
fn is_operator(part: &str) -> bool {
    part.starts_with(['-', '#', '[', '(', '/', '"', '^']) || part.contains(':') || part == "OR"
}

/// Without defaults: flags that are off, and values that the schema implies.
fn canonical(spec: &ToolSpec, arguments: &Map<String, Value>) -> Map<String, Value> {
    let default = |name: &str| spec.input().get("properties")?.get(name)?.get("default");
    let says_nothing = |name: &str, value: &Value| match default(name) {
        Some(default) => default == value,
        None => matches!(value, Value::Null | Value::Bool(false)),
    };
    let trimmed = |value: &Value| match value {
        // In text that is written, a blank at the end makes a difference; in a search it makes none.
        Value::String(text) if spec.searches_by.is_empty() => Value::String(text.clone()),
        Value::String(text) => Value::String(text.trim().to_owned()),
        other => other.clone(),
    };
    let kept = arguments.iter().filter(|(name, value)| !says_nothing(name, value));
    kept.map(|(name, value)| (name.clone(), trimmed(value))).collect()
}

impl CallFingerprint {
    /// Whether both are searches for nearly the same.
    fn is_like(&self, other: &Self) -> bool {
        matches!((&self.search, &other.search), (Some(one), Some(other)) if one.is_like(other))
    }
}

impl WordSearch {
    /// More than half of all their words are in both. Going through days or chapters is a new search each time, so
    /// words with numbers have to be the same.
    fn is_like(&self, other: &Self) -> bool {
        let common = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - common;
        let numbers = |word: &&String| word.contains(char::is_numeric);
        let same_numbers = self.words.iter().filter(numbers).eq(other.words.iter().filter(numbers));
        self.scope == other.scope && 2 * common > all && same_numbers
    }
}

/// An answer that was given too often, and when it was last given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepeatedAnswer {
    pub(crate) times: usize,
    pub(crate) last: SystemTime,
    /// Not the same call, but nearly the same search.
    pub(crate) similar: bool,
}

/// The recent calls of each caller, and their answers.
#[derive(Default)]
pub(crate) struct CallHistory {
    recent: Mutex<BTreeMap<String, CallerHistory>>,
}

struct CallerHistory {
    /// When the caller was last seen.
    last: SystemTime,
    calls: VecDeque<PastCall>,
    /// How many in a row, and the last of them.
    failures: Option<(usize, SystemTime)>,
    known: KnownFiles,
}

/// The contents of files when the caller last saw them completely, by vault and path; the latest is last.
#[derive(Default)]
struct KnownFiles(VecDeque<(ContentHash, ContentHash)>);

/// More files than a conversation keeps in view.
const FILES: usize = 512;

impl KnownFiles {
    // The list is short enough to be scanned, and its order is the order in which entries are dropped.
    fn get(&self, file: ContentHash) -> Option<ContentHash> {
        self.0.iter().find(|(known, _)| *known == file).map(|(_, content)| *content)
    }

    fn set(&mut self, file: ContentHash, content: ContentHash) {
        self.forget(file);
        self.0.push_back((file, content));
        while self.0.len() > FILES {
            self.0.pop_front();
        }
    }

    fn forget(&mut self, file: ContentHash) {
        self.0.retain(|(known, _)| *known != file);
    }

    /// What the caller knows of a file after its own change: what it knew, and what it did.
    fn wrote(&mut self, vault: &str, change: &Change) {
        let at = file_key(vault, change.path());
        let after = change.content().map(|content| content.hash());
        let knew = self.get(at).filter(|known| change.before().is_none_or(|before| before.hash() == *known));
        let known = match change {
            Change::Create { .. } => after,
            // Editing a file that it has not seen does not make it known.
            Change::Write { guard: ContentGuard::Plan, .. } => after.filter(|_| knew.is_some()),
            // The caller wrote all of it, or named the hash of what it replaced, so it knows the result.
            Change::Write { .. } => after,
            Change::Move { .. } => knew.and(after.or(knew)),
            Change::Trash { .. } | Change::Delete { .. } => None,
            Change::MoveFolder { .. } | Change::TrashFolder { .. } | Change::MakeFolder { .. } => return,
        };
        match (known, change) {
            (Some(known), _) => {
                // A later note under the old name is another note.
                if change.to().is_some() {
                    self.forget(at);
                }
                self.set(file_key(vault, change.to().unwrap_or(change.path())), known);
            }
            // If it saw an older version, that stays known: overwriting the file is still refused.
            (None, Change::Write { .. }) => {}
            (None, _) => self.forget(at),
        }
    }
}

/// Paths may be long; this is not.
fn file_key(vault: &str, path: &VaultPath) -> ContentHash {
    ContentHash::of(format!("{vault}\n{path}").as_bytes())
}

/// The files that a call has read.
#[derive(Default)]
pub(crate) struct FilesRead {
    pub(crate) hashes: Vec<(VaultPath, ContentHash)>,
    /// The answer is long enough to have shown all of them.
    pub(crate) whole: bool,
}

struct PastCall {
    asked: CallFingerprint,
    outcome: ContentHash,
    at: SystemTime,
}

/// After that it is another conversation, or one that no longer has the answer.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);

/// Callers come and go; a server that runs for weeks must not remember them all.
const CALLERS: usize = 256;

impl CallHistory {
    /// Records a call and its outcome; `Some` if exactly the same has already happened often enough.
    ///
    /// The outcome is part of the comparison, so a file that changed meanwhile is never a repetition, a change that the
    /// caller may not see makes no difference, and searches that find different things are different searches.
    pub(crate) fn record(
        &self,
        caller: &str,
        asked: &CallFingerprint,
        outcome: ContentHash,
        at: SystemTime,
        limits: &RepetitionLimits,
    ) -> Option<RepeatedAnswer> {
        let mut recent = self.recent();
        let calls = &mut of_caller(&mut recent, caller, at).calls;
        calls.retain(|seen| is_fresh(seen.at, at));
        let answered = || calls.iter().filter(|seen| seen.outcome == outcome);
        let same: Vec<&PastCall> = answered().filter(|seen| seen.asked.call == asked.call).collect();
        let like: Vec<&PastCall> = answered().filter(|seen| seen.asked.is_like(asked)).collect();
        for (found, similar) in [(same, false), (like, true)] {
            if let Some(last) = found.last().filter(|_| found.len() >= limits.allowed) {
                // Not recorded again: a refused repetition must not keep the answer fresh.
                return Some(RepeatedAnswer { times: found.len(), last: last.at, similar });
            }
        }
        calls.push_back(PastCall { asked: asked.clone(), outcome, at });
        while calls.len() > limits.window {
            calls.pop_front();
        }
        None
    }

    /// How many calls of this caller have failed in a row, this one included.
    pub(crate) fn failed(&self, caller: &str, at: SystemTime) -> usize {
        let mut recent = self.recent();
        let recent = of_caller(&mut recent, caller, at);
        let before = recent.failures.filter(|(_, last)| is_fresh(*last, at)).map_or(0, |(count, _)| count);
        recent.failures = Some((before + 1, at));
        before + 1
    }

    pub(crate) fn succeeded(&self, caller: &str) {
        if let Some(recent) = self.recent().get_mut(caller) {
            recent.failures = None;
        }
    }

    /// The caller changed something, so asking again makes sense. Other callers are unaffected: for them something has
    /// changed if their answers have, and resetting their counts would reveal changes that they may not see.
    pub(crate) fn forget(&self, caller: &str) {
        self.recent().get_mut(caller).into_iter().for_each(|recent| recent.calls.clear());
    }

    /// The caller was shown something of these files. Files that it saw only in part are not better known than before.
    pub(crate) fn saw(&self, caller: &str, vault: &str, FilesRead { hashes, whole }: &FilesRead, at: SystemTime) {
        if hashes.is_empty() {
            return;
        }
        let mut recent = self.recent();
        let known = &mut of_caller(&mut recent, caller, at).known;
        for (path, content) in hashes {
            let file = file_key(vault, path);
            if *whole || known.get(file).is_none() {
                known.set(file, *content);
            }
        }
    }

    /// The caller changed these files.
    pub(crate) fn wrote(&self, caller: &str, vault: &str, changes: &ChangeSet, at: SystemTime) {
        let mut recent = self.recent();
        let known = &mut of_caller(&mut recent, caller, at).known;
        changes.changes.iter().for_each(|change| known.wrote(vault, change));
    }

    /// The content of a file when the caller last saw it, if remembered.
    pub(crate) fn last_seen(&self, caller: &str, vault: &str, path: &VaultPath) -> Option<ContentHash> {
        self.recent().get(caller)?.known.get(file_key(vault, path))
    }

    fn recent(&self) -> MutexGuard<'_, BTreeMap<String, CallerHistory>> {
        self.recent.lock()
    }
}

fn is_fresh(then: SystemTime, now: SystemTime) -> bool {
    now.duration_since(then).is_ok_and(|passed| passed <= REMEMBERED)
}

/// The data about a caller. If there are too many, the least recently seen one is forgotten.
fn of_caller<'r>(
    recent: &'r mut BTreeMap<String, CallerHistory>,
    caller: &str,
    now: SystemTime,
) -> &'r mut CallerHistory {
    if recent.len() >= CALLERS && !recent.contains_key(caller) {
        let oldest = recent.iter().min_by_key(|(_, history)| history.last).map(|(caller, _)| caller.clone());
        oldest.and_then(|oldest| recent.remove(&oldest));
    }
    let history = recent.entry(caller.to_owned()).or_insert_with(|| CallerHistory {
        last: UNIX_EPOCH,
        calls: VecDeque::new(),
        failures: None,
        known: KnownFiles::default(),
    });
    // The clock may be set back; the caller seen last stays the last.
    history.last = history.last.max(now);
    history
}

#[cfg(test)]
mod tests {
    use lapidary_tools::TOOLS;
    use serde_json::json;

    use super::*;

    const LIMITS: RepetitionLimits = RepetitionLimits { noticed: true, window: 15, allowed: 3, max_failures: 0 };

    fn hash(text: &str) -> ContentHash {
        ContentHash::of(text.as_bytes())
    }

    fn asked(tool: &str, arguments: Value) -> CallFingerprint {
        let spec = TOOLS.iter().map(|tool| tool.spec()).find(|spec| spec.name() == tool).unwrap();
        let Value::Object(arguments) = arguments else { panic!("an object") };
        CallFingerprint::of(&spec, None, &arguments)
    }

    fn times(repetition: &CallHistory, caller: &str, asked: &CallFingerprint, outcome: &str) -> Option<(usize, bool)> {
        repetition
            .record(caller, asked, hash(outcome), UNIX_EPOCH, &LIMITS)
            .map(|repeated| (repeated.times, repeated.similar))
    }

    #[test]
    fn the_fourth_same_answer_to_the_same_call_is_one_too_many() {
        let repetition = CallHistory::default();
        let read = |file: &str| asked("file_read", json!({ "file": file }));
        let ask = |caller, file, outcome| times(&repetition, caller, &read(file), outcome);
        for _ in 0..3 {
            assert_eq!(ask("a", "x", "one"), None);
        }
        assert_eq!(ask("a", "x", "one"), Some((3, false)));
        assert_eq!(ask("a", "x", "two"), None, "the answer changed");
        assert_eq!(ask("a", "y", "one"), None, "another call");
        assert_eq!(ask("b", "x", "one"), None, "another caller");
        repetition.forget("b");
        assert_eq!(ask("a", "x", "one"), Some((3, false)), "another caller changed something");
        repetition.forget("a");
        assert_eq!(ask("a", "x", "one"), None, "the caller changed the vault");
    }

    #[test]
    fn the_latest_files_that_a_caller_saw_are_remembered() {
        let history = CallHistory::default();
        let path = |number: usize| VaultPath::parse(&format!("{number}.md")).unwrap();
        let see = |number: usize, text: &str, whole: bool| {
            history.saw("a", "v", &FilesRead { hashes: vec![(path(number), hash(text))], whole }, UNIX_EPOCH);
        };
        let last = |number| history.last_seen("a", "v", &path(number));
        see(0, "one", true);
        see(0, "two", false);
        assert_eq!(last(0), Some(hash("one")), "a part says nothing of the rest");
        see(0, "two", true);
        assert_eq!(last(0), Some(hash("two")));
        assert_eq!(history.last_seen("b", "v", &path(0)), None, "another caller");
        assert_eq!(history.last_seen("a", "w", &path(0)), None, "another vault");
        (1..=FILES).for_each(|number| see(number, "x", true));
        assert_eq!((last(0), last(1)), (None, Some(hash("x"))));
    }

    #[test]
    fn calls_of_another_conversation_do_not_count() {
        let repetition = CallHistory::default();
        let read = asked("file_read", json!({ "file": "x" }));
        let at = |at| repetition.record("a", &read, hash("one"), at, &LIMITS);
        let second = Duration::from_secs(1);
        for number in 0..3 {
            assert_eq!(at(UNIX_EPOCH + number * second), None);
        }
        assert!(at(UNIX_EPOCH + REMEMBERED).is_some());
        assert_eq!(at(UNIX_EPOCH + REMEMBERED + second), None, "the first of them was long ago");
        assert_eq!(at(UNIX_EPOCH + 10 * REMEMBERED), None);
    }

    #[test]
    fn going_through_days_or_chapters_is_not_repetition() {
        let repetition = CallHistory::default();
        for number in 1..9 {
            for query in
                [format!("2026-11-0{number}"), format!("chapter {number} summary"), format!("Week{number} plan")]
            {
                let search = asked("search_content", json!({ "query": query }));
                assert_eq!(times(&repetition, "a", &search, "nothing"), None, "{query}");
            }
        }
    }

    #[test]
    fn only_the_last_calls_count() {
        let repetition = CallHistory::default();
        let read = |file: &str| asked("file_read", json!({ "file": file }));
        for _ in 0..3 {
            assert_eq!(times(&repetition, "a", &read("x"), ""), None);
        }
        for other in 0..LIMITS.window {
            assert_eq!(times(&repetition, "a", &read(&other.to_string()), ""), None);
        }
        assert_eq!(times(&repetition, "a", &read("x"), ""), None);
    }

    #[test]
    fn equivalent_calls_are_the_same() {
        let plain = asked("search_content", json!({ "query": "needle" }));
        for same in [
            json!({ "regex": false, "query": "needle" }),
            json!({ "query": " needle ", "offset": 0, "whole_word": false }),
        ] {
            assert_eq!(asked("search_content", same.clone()), plain, "{same}");
        }
        assert_ne!(asked("search_content", json!({ "query": "needle", "regex": true })), plain);
        assert_ne!(asked("file_read", json!({ "file": "a " })), asked("file_read", json!({ "file": "a" })));
    }

    #[test]
    fn the_fourth_search_of_its_kind_is_one_too_many() {
        let search = |query: &str, more: Value| {
            let mut arguments = json!({ "query": query });
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            asked("search_content", arguments)
        };
        let queries = ["big project plan alpha", "plan for the big project", "big plan, project"];
        let searched = || {
            let repetition = CallHistory::default();
            for query in queries {
                assert_eq!(times(&repetition, "a", &search(query, json!({})), "nothing"), None);
            }
            repetition
        };
        let fourth = search("big project plan", json!({}));
        assert_eq!(times(&searched(), "a", &fourth, "nothing"), Some((3, true)));
        assert_eq!(times(&searched(), "a", &fourth, "something"), None, "another answer");
        assert_eq!(times(&searched(), "b", &fourth, "nothing"), None, "another caller");
        for more in [json!({ "offset": 10 }), json!({ "directory": "Work" }), json!({ "regex": true })] {
            let elsewhere = search("big project plan", more.clone());
            assert_eq!(times(&searched(), "a", &elsewhere, "nothing"), None, "{more}");
        }
        assert_eq!(times(&searched(), "a", &search("cooking with plan", json!({})), "nothing"), None, "other words");
    }

    #[test]
    fn working_through_a_list_is_not_repetition() {
        for queries in [
            ["meeting with Anna", "meeting with Bert", "meeting with Carl", "meeting with Dora"],
            [
                "quarterly report sales",
                "quarterly report marketing",
                "quarterly report finance",
                "quarterly report support",
            ],
            ["^Anna: total amount", "^Bert: total amount", "^Carl: total amount", "^Dora: total amount"],
            ["path:A roof", "path:B roof", "path:C roof", "path:D roof"],
            ["[status:open] roof", "[status:done] roof", "[status:new one] roof", "[status] roof"],
            ["tag:house roof", "#garden roof", "tag:barn roof", "-tag:house roof"],
        ] {
            let repetition = CallHistory::default();
            for query in queries {
                for tool in ["search_content", "obsidian_search_notes"] {
                    let search = asked(tool, json!({ "query": query }));
                    assert_eq!(times(&repetition, "a", &search, "nothing"), None, "{query}");
                }
            }
        }
    }

    #[test]
    fn the_least_recently_seen_caller_is_forgotten_first() {
        let history = CallHistory::default();
        let second = |number: usize| UNIX_EPOCH + Duration::from_secs(number as u64);
        // The first by name is the last by time.
        for number in 0..CALLERS {
            history.failed(&format!("{:03}", CALLERS - number), second(number));
        }
        history.failed("zzz", second(CALLERS));
        assert_eq!(history.failed("001", second(CALLERS)), 2, "the newest is still known");
        assert_eq!(history.failed(&format!("{CALLERS:03}"), second(CALLERS)), 1, "the oldest is not");
    }

    #[test]
    fn failures_are_counted_until_something_works() {
        let repetition = CallHistory::default();
        let failed = |caller| repetition.failed(caller, UNIX_EPOCH);
        assert_eq!([failed("a"), failed("a"), failed("b")], [1, 2, 1]);
        assert_eq!(repetition.failed("a", UNIX_EPOCH + 2 * REMEMBERED), 1, "another day");
        repetition.succeeded("b");
        assert_eq!(failed("b"), 1);
    }
}
