//! Recalls what was remembered.

use std::{cmp::Ordering, collections::BTreeSet};

use jiff::{Zoned, civil::Date};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily,
    quote::{one_line, quoted},
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    index,
    query_text::check_length,
    reading,
    remembering::{self, MemoryEntry},
};
use lapidary_vault::{PassageSize, RankedNote, RankedPage, RankedQuery, VaultPath, View, VisibleNotes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct MemoryRecall;

/// Recall what was saved with `memory_save`, also in earlier conversations: the entries that fit best, or the newest.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Words, names or a question; without it, the newest entries.
    #[serde(default)]
    query: Option<String>,
    /// At most this many entries.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

fn limit() -> usize {
    10
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    entries: Vec<RecalledEntry>,
    /// How many fit.
    total: usize,
}

#[derive(Serialize, JsonSchema)]
struct RecalledEntry {
    path: String,
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    text: String,
}

/// Notes that are read for one answer. More subjects than this fit no question.
const MOST_NOTES: usize = 200;
/// An entry loses half of what its age can cost in this many days.
const HALF_LIFE: f64 = 90.0;
/// The share of the rank that age can cost: an old entry that fits well beats a new one that hardly does.
const AGE_COUNTS: f64 = 0.4;
/// Longer entries are cut; the note has the rest.
const LONGEST_ENTRY: usize = 600;

impl ReadTool for MemoryRecall {
    const DECLARATION: Declaration = Declaration {
        name: "memory_recall",
        dotted: None,
        title: "Recall",
        family: WireFamily::Own,
        group: ToolGroup::Memory,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "what do you remember, recall from memory, what do you know about me, earlier conversations, \
                my preferences, last time we talked",
    };
    const SEARCHES_BY: &[&str] = &["query"];
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/query", TextLanguage::Search)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let folder = remembering::folder(context)?;
        let notes = index::notes(context, view)?;
        // A blank query is none: the newest entries are a better answer than nothing.
        let query = input.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
        let mut found = match query {
            Some(query) => by_words(context, view, notes, folder, query)?,
            None => newest(context, view, notes, folder)?,
        };
        found.sort_by(|one, other| one.order(other));
        let total = found.len();
        let entries = found.into_iter().take(input.limit).map(RankedEntry::shown).collect();
        Ok(Output { entries, total })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { entries, total } = output;
        if entries.is_empty() {
            return Some("Nothing is remembered about that.".to_owned());
        }
        let mut text = String::new();
        let mut last = None;
        for RecalledEntry { path, line, date, text: entry } in entries {
            // Entries of one note often come together; its path once is enough.
            if last != Some(path) {
                text += &format!("{}\n", quoted(path));
                last = Some(path);
            }
            let date = date.as_deref().map(|date| format!("{date} ")).unwrap_or_default();
            text += &format!("{line}: {date}{}\n", one_line(entry));
        }
        // The text has no cursor; a caller asks for more with a larger limit.
        let more = total - entries.len();
        if more > 0 {
            text += &format!("{more} more");
        }
        Some(text.trim_end().to_owned())
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Memory/Anna.md", "- 2026-04-01: Prefers slate to tile.\n- 2026-04-05: Calls on Mondays.\n"),
            ("Memory/Style.md", "Short answers.\n"),
            ("Slate.md", "Prefers nothing.\n"),
        ];
        vec![
            Example {
                says: "Only what is in the memory folder, the best entry first",
                before: NOTES,
                input: json!({ "query": "slate" }),
                gives: ExampleResult::Output(json!({
                    "entries": [{ "path": "Memory/Anna.md", "line": 1, "date": "2026-04-01", "text": "Prefers slate to tile." }],
                    "total": 1,
                })),
                after: &[],
            },
            Example {
                says: "Everything about a subject",
                before: NOTES,
                input: json!({ "query": "Anna" }),
                gives: ExampleResult::Including(json!({ "total": 2 })),
                after: &[],
            },
            Example {
                says: "The newest entries",
                before: NOTES,
                input: json!({ "limit": 1 }),
                gives: ExampleResult::Including(json!({ "total": 3 })),
                after: &[],
            },
            Example {
                says: "Nothing is remembered",
                before: NOTES,
                input: json!({ "query": "zeppelin" }),
                gives: ExampleResult::Output(json!({ "entries": [], "total": 0 })),
                after: &[],
            },
            Example {
                says: "At least one entry",
                before: NOTES,
                input: json!({ "limit": 0 }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

/// An entry with its rank.
struct RankedEntry {
    path: VaultPath,
    entry: MemoryEntry,
    rank: f64,
    /// When it was saved, or its note was changed.
    day: Date,
}

impl RankedEntry {
    /// The best first, then the newest; equal ones as in the vault.
    fn order(&self, other: &Self) -> Ordering {
        other
            .rank
            .total_cmp(&self.rank)
            .then_with(|| other.day.cmp(&self.day))
            .then_with(|| (&self.path, self.entry.line).cmp(&(&other.path, other.entry.line)))
    }

    fn shown(self) -> RecalledEntry {
        let MemoryEntry { line, date, mut text, .. } = self.entry;
        if let Some((cut, _)) = text.char_indices().nth(LONGEST_ENTRY) {
            // At a character, never within one.
            text.truncate(cut);
            text.push('…');
        }
        RecalledEntry { path: self.path.to_string(), line, date: date.map(|date| date.to_string()), text }
    }
}

/// Entries with the words of a query, by how well they fit, how new they are, and how many notes link to theirs.
fn by_words(
    context: &Context<'_>,
    view: &View,
    notes: &VisibleNotes,
    folder: &VaultPath,
    query: &str,
) -> Result<Vec<RankedEntry>, Reason> {
    check_length(MemoryRecall::DECLARATION.name, query)?;
    // Only the places of the words are needed, not the text around them.
    let size = PassageSize { context: 0, max_matches: MOST_NOTES, pieces: 0 };
    let page = RankedPage { offset: 0, limit: MOST_NOTES, size, room: usize::MAX, takes: |_| 0 };
    // The operator finds its text anywhere in a path, and a query with `OR` goes around it, so the folder is compared
    // below. In parentheses, a question would have to fit with all of its words.
    let within = format!("path:\"{}/\" {query}", folder.as_str().replace('"', ""));
    let ranked = view
        .ranked(RankedQuery::from(within.as_str()), page, &|| context.cancel.check().is_ok())
        .map_err(|error| Reason::from_index(&error, context.cancel))?;
    let mut found = Vec::new();
    for note in ranked.hits.iter().filter(|note| note.path.is_within(folder) && note.path.is_note()) {
        context.check()?;
        let links = notes.mentioning(&note.path).len();
        #[expect(clippy::cast_precision_loss, reason = "a rank needs no exact count")]
        let linked = 1.0 + 0.1 * (1.0 + links as f64).ln();
        let day = day_of(context, notes, &note.path);
        let file = reading::read(view, &note.path)?;
        // A file that is not text has no entries.
        let Ok(document) = reading::editable(&note.path, &file) else { continue };
        let entries = remembering::entries(&document);
        let words = words_of_entries(note, document.shown(), &entries);
        let most = words.iter().copied().max().unwrap_or_default();
        for (entry, words) in entries.into_iter().zip(words) {
            // If only the name of the note fits, all of its entries do.
            if words == 0 && most > 0 {
                continue;
            }
            #[expect(clippy::cast_precision_loss, reason = "at most as many as a query has words")]
            let share = if most == 0 { 1.0 } else { words as f64 / most as f64 };
            // An entry without a date is as old as the last change of its note.
            let day = entry.date.unwrap_or(day);
            let rank = note.score * share * linked * freshness(&context.now, day);
            found.push(RankedEntry { path: note.path.clone(), entry, rank, day });
        }
    }
    Ok(found)
}

/// How many different words each entry has in common with the query.
fn words_of_entries(note: &RankedNote, shown: &str, entries: &[MemoryEntry]) -> Vec<usize> {
    let mut words: Vec<BTreeSet<String>> = entries.iter().map(|_| BTreeSet::new()).collect();
    let mut matches = note.matches.iter().collect::<Vec<_>>();
    // In order, so that the text is walked through once.
    matches.sort_by_key(|found| found.offset);
    let (mut units, mut at) = (0, 0);
    for found in matches {
        // Offsets count UTF-16 units.
        for c in shown[at..].chars() {
            if units >= found.offset {
                break;
            }
            units += c.len_utf16();
            at += c.len_utf8();
        }
        // Entries are in the order of the text and do not overlap.
        let index = entries.partition_point(|entry| entry.span.end <= at);
        if entries.get(index).is_some_and(|entry| entry.span.contains(&at)) {
            words[index].insert(found.text.to_lowercase());
        }
    }
    words.iter().map(BTreeSet::len).collect()
}

/// All entries, by their day alone.
fn newest(
    context: &Context<'_>,
    view: &View,
    notes: &VisibleNotes,
    folder: &VaultPath,
) -> Result<Vec<RankedEntry>, Reason> {
    let mut files: Vec<_> = notes.below(Some(folder)).filter(|entry| entry.is_note()).collect();
    // Every entry was saved by a change of its note, so the newest are in the notes that changed last.
    files.sort_by(|one, other| other.modified().cmp(&one.modified()).then_with(|| one.path().cmp(other.path())));
    let mut found = Vec::new();
    for file in files.into_iter().take(MOST_NOTES) {
        context.check()?;
        let day = day_of(context, notes, file.path());
        let read = reading::read(view, file.path())?;
        let Ok(document) = reading::editable(file.path(), &read) else { continue };
        let ranked = |entry: MemoryEntry| {
            let day = entry.date.unwrap_or(day);
            // Without a query only the day counts.
            RankedEntry { path: file.path().clone(), entry, rank: 0.0, day }
        };
        found.extend(remembering::entries(&document).into_iter().map(ranked));
    }
    Ok(found)
}

/// The day on which a note was last changed.
fn day_of(context: &Context<'_>, notes: &VisibleNotes, path: &VaultPath) -> Date {
    let modified = notes.get(path).and_then(|file| jiff::Timestamp::try_from(file.modified()).ok());
    modified.map_or(context.now.date(), |time| time.to_zoned(context.now.time_zone().clone()).date())
}

/// From 1 for today down to what is left of a memory however old it is.
fn freshness(now: &Zoned, day: Date) -> f64 {
    // A date in the future counts as today.
    let days = now.date().since(day).map_or(0, |span| span.get_days()).max(0);
    1.0 - AGE_COUNTS * (1.0 - 0.5_f64.powf(f64::from(days) / HALF_LIFE))
}
