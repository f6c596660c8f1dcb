//! Finds lines by text or regular expression.

use std::{collections::HashMap, ops::Range};

use lapidary_note::{ContentHash, counted};
use lapidary_operation::{
    ArgumentProblem, Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason,
    ReasonKind, ToolGroup, WalkCost, WireFamily,
    fence::fenced,
    quote::{Prose, one_line, quoted_path},
};
use lapidary_query::{LetterCase, Pattern, PatternKind, PatternOptions};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    budget::{self, BudgetInput, BudgetLimits},
    folder::FolderTarget,
    hash, index, reading,
};
use lapidary_vault::{
    ScanBudget, ScanHit, ScanPlace, ScanStop, ScanWindow, ScannedNotes, SeenLines, VaultPath, View, VisibleFiles,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct SearchContent;

/// Find lines in the notes of the vault by text or regular expression.
///
/// Each hit has the short hashes of its line and note, which edits accept.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What to find within a line.
    #[schemars(length(min = 1))]
    query: String,
    /// Only in this folder and below it.
    #[serde(default)]
    directory: Option<String>,
    /// At most this many hits; without it and `contextLines`, as many as fit into 8 KB.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// How many hits to skip, or `nextOffset` of the previous answer.
    #[serde(default)]
    offset: u64,
    /// Lines to show before and after each hit.
    #[serde(default, rename = "contextLines")]
    #[schemars(range(min = 0, max = 20))]
    context_lines: Option<usize>,
    /// `query` is a regular expression (ECMAScript).
    #[serde(default)]
    regex: bool,
    /// `A` finds `a` too.
    #[serde(default)]
    ignore_case: bool,
    /// Find whole words only.
    #[serde(default)]
    whole_word: bool,
    /// Continue a truncated answer: its `resumeFrom`, or its `nextOffset` as `offset`.
    #[serde(default)]
    resume_from: Option<String>,
    /// Stop early and say so.
    #[serde(default, rename = "_budget")]
    budget: Option<BudgetInput>,
}

const USUAL_LIMIT: usize = 100;
/// For a loop over hits.
const MOST_HITS: usize = 1000;
const USUAL_CONTEXT: usize = 2;
/// The size of an answer as JSON if the caller sets no limit.
const USUAL_BYTES: usize = 7_600;

/// From here on an offset is a position, in notes and the matching lines of one: a search with a budget would otherwise
/// have to rescan the same notes to count up to a line. It stays below what JavaScript can count.
const FIRST_PLACE: u64 = 1_000_000_000_000_000;
const MATCHES: u64 = 1_000_000;

fn place_of(offset: u64) -> Option<ScanPlace> {
    let place = offset.checked_sub(FIRST_PLACE)?;
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Some(ScanPlace { file: number(place / MATCHES), matches: number(place % MATCHES) })
}

fn offset_of(place: ScanPlace) -> Option<u64> {
    let (file, matches) = (u64::try_from(place.file).ok()?, u64::try_from(place.matches).ok()?);
    // A note with more matches than the number can hold cannot be continued by offset.
    (matches < MATCHES).then_some(FIRST_PLACE + file * MATCHES + matches)
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    hits: Vec<HitOutput>,
    /// Of all hits from the starting point; after a truncated scan, of those found so far.
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// Not all notes were searched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// How many notes were.
    #[serde(skip_serializing_if = "Option::is_none")]
    scanned: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HitOutput {
    file: String,
    line: usize,
    line_hash: String,
    snippet: String,
    before: Vec<String>,
    after: Vec<String>,
    content_hash: String,
}

impl ReadTool for SearchContent {
    const DECLARATION: Declaration = Declaration {
        name: "search_content",
        dotted: Some("search.content"),
        title: "Find lines in notes",
        family: WireFamily::Files,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/directory", role: PathRole::List }],
        reasons: &[],
        words: "search find grep text words lines in notes, regular expression, full text",
    };
    const SEARCHES_BY: &[&str] = &["query"];
    const DEADLINE: Option<&'static str> = Some(budget::DEADLINE);
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/query", TextLanguage::Pattern).when("regex", "true")];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let pattern = pattern(&input)?;
        let files = index::files_to_search(context, view)?;
        let directory =
            match input.directory.as_deref().map(|given| FolderTarget::find(view, files, given)).transpose()? {
                None => None,
                Some(folder) => match folder.or_nothing() {
                    Ok(folder) => folder,
                    Err(hint) => return Ok(Output { hint: Some(hint), ..Output::default() }),
                },
            };
        let resume_from = input.resume_from.as_deref().map(|given| resume_place(files, given)).transpose()?;
        let limits = BudgetLimits::of(input.budget.as_ref(), context);
        let place = place_of(input.offset);
        let window = ScanWindow {
            start: place.map_or(0, |place| place.file),
            skip: SeenLines::Matches(place.map_or(0, |place| place.matches)),
            // Both ways to continue lead to the same place.
            offset: if place.is_some() { 0 } else { usize::try_from(input.offset).unwrap_or(usize::MAX) },
            limit: input.limit.unwrap_or(if context.in_steps { MOST_HITS } else { USUAL_LIMIT }),
        };
        let share = &context.progress;
        let found = files.scan(
            &pattern,
            directory.as_ref(),
            resume_from.as_ref().map(|(path, line)| (path, *line)),
            window,
            &ScanBudget {
                max_files: limits.files,
                max_bytes: limits.bytes,
                go_on: &|| limits.stop(context.cancel),
                progress: &|done, total| share.report(done, total),
            },
        );
        // Also for a search that ends early: the log says what it cost.
        context.walked.set(Some(WalkCost {
            files: found.files_scanned as u64,
            bytes: found.bytes_scanned,
            stopped: found.stopped,
        }));
        // A cancelled call is refused; one that ran out of budget answers with what it found.
        if found.stopped == Some(ScanStop::Cancelled) {
            context.check()?;
        }
        Ok(output(&input, &found, context.in_steps))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let mut text = String::new();
        let mut file = None;
        for hit in &output.hits {
            if file != Some(&hit.file) {
                text += &format!("{} {}\n", one_line(&hit.file), hit.content_hash);
                file = Some(&hit.file);
            }
            let around = |(line, number): (&String, usize)| format!("{number}- {}\n", one_line(line));
            // A hit near the start of a note has fewer lines before it.
            let first = hit.line - hit.before.len();
            text.extend(hit.before.iter().zip(first..).map(around));
            text += &format!("{}: {} {}\n", hit.line, one_line(&hit.snippet), hit.line_hash);
            text.extend(hit.after.iter().zip(hit.line + 1..).map(around));
        }
        let text = if text.is_empty() { text } else { fenced(&text) + "\n" };
        let next = output.next_offset.map_or(String::new(), |next| format!(", more with `offset` {next}"));
        let hint = output.hint.as_ref().map_or(String::new(), |hint| format!("\n{hint}"));
        Some(format!("{text}{} of {}{next}{hint}", output.hits.len(), counted(output.total, "hit")))
    }

    fn examples(&self) -> Vec<Example> {
        const PLAN: &str = "# Plan\ncut the stone\npolish it\n";
        const VAULT: &[(&str, &str)] =
            &[("Plan.md", PLAN), ("notes/Stone.md", "Stone is old.\nA stone\n"), ("a.txt", "stone")];
        vec![
            Example {
                says: "A word in all notes",
                before: VAULT,
                input: json!({ "query": "stone", "contextLines": 1 }),
                gives: ExampleResult::Output(json!({
                    "hits": [
                        {
                            "file": "Plan.md", "line": 2, "snippet": "cut the stone",
                            "lineHash": hash::short(&ContentHash::of(b"cut the stone\n").to_string()),
                            "before": ["# Plan"], "after": ["polish it"],
                            "contentHash": hash::short(&ContentHash::of(PLAN.as_bytes()).to_string()),
                        },
                        {
                            "file": "notes/Stone.md", "line": 2, "snippet": "A stone",
                            "lineHash": hash::short(&ContentHash::of(b"A stone\n").to_string()),
                            "before": ["Stone is old."], "after": [],
                            "contentHash": hash::short(&ContentHash::of(b"Stone is old.\nA stone\n").to_string()),
                        },
                    ],
                    "total": 2,
                })),
                after: &[],
            },
            Example {
                says: "A regular expression in one folder, a page at a time",
                before: VAULT,
                input: json!({ "query": "^(a )?stone", "regex": true, "ignore_case": true, "directory": "notes", "limit": 1 }),
                gives: ExampleResult::Including(json!({ "hits": [{ "line": 1 }], "total": 2, "nextOffset": 1 })),
                after: &[],
            },
            Example {
                says: "A budget, and where to go on",
                before: VAULT,
                input: json!({ "query": "stone", "_budget": { "maxFilesScanned": 1 } }),
                gives: ExampleResult::Including(json!({
                    "hits": [{ "file": "Plan.md" }], "total": 1, "truncated": true, "scanned": 1,
                    "resumeFrom": "notes/Stone.md", "nextOffset": 1_000_000_001_000_000_u64,
                })),
                after: &[],
            },
            Example {
                says: "An invalid pattern",
                before: VAULT,
                input: json!({ "query": "(", "regex": true }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

fn pattern(input: &Input) -> Result<Pattern, Reason> {
    let options = PatternOptions {
        kind: if input.regex { PatternKind::Regex } else { PatternKind::Literal },
        case: if input.ignore_case { LetterCase::Insensitive } else { LetterCase::Sensitive },
        whole_word: input.whole_word,
        // Accented letters have two encodings. Plain letters do not, so their text is searched only once.
        nfc: !input.query.is_ascii(),
    };
    Pattern::compile(&input.query, &options).map_err(|error| Reason::InvalidArguments {
        tool: SearchContent::DECLARATION.name.to_owned(),
        problems: vec![ArgumentProblem { at: "query".to_owned(), problem: Prose::ours(error), nearest: None }],
    })
}

/// A note, and the line of it to continue with. If a note has a name of that form, it is meant.
fn resume_place(files: &VisibleFiles, given: &str) -> Result<(VaultPath, usize), Reason> {
    let path = reading::parse_path(given)?;
    let line = given.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse::<usize>().ok()?)));
    match line.filter(|_| files.get(&path).is_none()) {
        Some((path, line)) => Ok((reading::parse_path(path)?, line)),
        None => Ok((path, 0)),
    }
}

fn output(input: &Input, found: &ScannedNotes, in_steps: bool) -> Output {
    // A note with many hits is hashed once.
    let mut hashes: HashMap<usize, String> = HashMap::new();
    let mut hash_of = |hit: &ScanHit| {
        let hash = || hash::short(&ContentHash::of(hit.bytes()).to_string()).to_owned();
        hashes.entry(hit.file).or_insert_with(hash).clone()
    };
    let mut made = |context_lines: usize| -> Vec<HitOutput> {
        let one = |hit: &ScanHit| {
            let (path, content_hash) = (found.path(hit.file)?.to_string(), hash_of(hit));
            Some(hit_output(hit, path, content_hash, context_lines))
        };
        found.hits.iter().filter_map(one).collect()
    };
    let mut hits = made(input.context_lines.unwrap_or(USUAL_CONTEXT));
    // Only where the caller left the size to the tool.
    if input.limit.is_none() && input.context_lines.is_none() && !in_steps {
        let fits = |hits: &[HitOutput]| hits.iter().map(HitOutput::bytes).sum::<usize>() <= USUAL_BYTES;
        // Context is given up before hits are.
        for fewer in (0..USUAL_CONTEXT).rev() {
            if !fits(&hits) {
                hits = made(fewer);
            }
        }
        let mut used = 0;
        let fit = hits.iter().take_while(|hit| {
            used += hit.bytes();
            used <= USUAL_BYTES
        });
        // At least one, or paging would never advance.
        let fit = fit.count().max(1);
        hits.truncate(fit);
    }
    let truncated = found.stopped.is_some();
    // A number of hits means nothing if the scan did not begin at the first note.
    let by_place = truncated || input.resume_from.is_some() || place_of(input.offset).is_some();
    // The first hit that is not shown, or where the scan ended.
    let next = match found.hits.get(hits.len()) {
        Some(hit) => Some(ScanPlace { file: hit.file, matches: hit.number }),
        None => found.next,
    };
    let shown = input.offset.saturating_add(hits.len() as u64);
    let resumes = truncated || input.resume_from.is_some();
    let resume_from = next.filter(|_| resumes).and_then(|next| {
        let path = found.path(next.file)?;
        // In the middle of a note, the line after the last hit; otherwise the note from its start.
        let last = found.hits[..hits.len()].last().filter(|hit| hit.file == next.file);
        Some(last.map_or_else(|| path.to_string(), |hit| format!("{path}:{}", hit.line.number + 1)))
    });
    Output {
        next_offset: if by_place { next.and_then(offset_of) } else { next.map(|_| shown) },
        total: found.total,
        truncated,
        scanned: truncated.then_some(found.files_scanned),
        resume_from,
        hint: hint(input, found),
        hits,
    }
}

impl HitOutput {
    /// Its size as JSON.
    fn bytes(&self) -> usize {
        // With the comma behind it.
        serde_json::to_string(self).map_or(0, |text| text.len() + 1)
    }
}

fn hint(input: &Input, found: &ScannedNotes) -> Option<String> {
    let mut hints = Vec::new();
    if let Some(stop) = found.stopped {
        let why = if stop == ScanStop::Budget { "the budget is spent" } else { "the time is up" };
        hints.push(format!(
            "Not all notes were looked through: {why}. To go on, send `nextOffset` as `offset`, \
             or `resumeFrom` as `resume_from`."
        ));
    }
    if !found.gave_up.is_empty() {
        let first: Vec<String> = found
            .gave_up
            .iter()
            .take(3)
            .filter_map(|at| found.path(*at))
            .map(|path| quoted_path(path).to_string())
            .collect();
        hints.push(format!(
            "The pattern needs too many steps on some lines of {} ({}): matches may be missing there.",
            counted(found.gave_up.len(), "note"),
            first.join(", ")
        ));
    }
    if found.unread > 0 {
        hints.push(format!("{} could not be read.", counted(found.unread, "note")));
    }
    // Without this, a caller would conclude that the text is nowhere.
    if found.total == 0 && input.query.contains('\n') {
        hints.push("The search works line by line, so text with a line break never matches.".to_owned());
    }
    (!hints.is_empty()).then(|| hints.join(" "))
}

fn hit_output(hit: &ScanHit, file: String, content_hash: String, context_lines: usize) -> HitOutput {
    // The first match of the line is the one that is shown.
    let column = hit.line.matches.first().map_or(0, |found| found.start);
    let shown = |lines: Vec<&[u8]>| lines.into_iter().map(|line| clipped_line(line, 0)).collect();
    HitOutput {
        file,
        line: hit.line.number,
        line_hash: hash::short(&line_hash(hit).to_string()).to_owned(),
        snippet: clipped_line(hit.content(), column),
        before: shown(hit.before(context_lines)),
        after: shown(hit.after(context_lines)),
        content_hash,
    }
}

/// The hash that an edit of this line expects: with its newline.
fn line_hash(hit: &ScanHit) -> ContentHash {
    let bytes = hit.bytes();
    let Range { start, end } = hit.line.span;
    // The first line includes the byte order mark, as does every part at the start of the file.
    let start = if hit.line.number == 1 { 0 } else { start };
    let line_end = match bytes.get(end..) {
        Some([b'\r', b'\n', ..]) => 2,
        Some([b'\r' | b'\n', ..]) => 1,
        _ => 0,
    };
    ContentHash::of(bytes.get(start..end + line_end).unwrap_or_default())
}

/// The relevant part of a long line.
fn clipped_line(line: &[u8], around: usize) -> String {
    const BEFORE: usize = 120;
    const SHOWN: usize = 400;
    // Some text before the match, as its start alone rarely explains it.
    let start = if line.len() <= SHOWN { 0 } else { around.saturating_sub(BEFORE).min(line.len()) };
    let end = start.saturating_add(SHOWN).min(line.len());
    let cut = |at: usize, step: fn(usize) -> usize| {
        // Not within a character.
        let mut at = at;
        while at > 0 && at < line.len() && line[at] & 0xc0 == 0x80 {
            at = step(at);
        }
        at
    };
    let (start, end) = (cut(start, |at| at - 1), cut(end, |at| at + 1));
    let text = String::from_utf8_lossy(&line[start..end]);
    // The byte order mark is not text.
    let text = if start == 0 { text.trim_start_matches('\u{feff}') } else { &text };
    format!("{}{text}{}", if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use std::{
        cell::{Cell, LazyCell},
        sync::Arc,
        time::Duration,
    };

    use lapidary_note::{Document, LineRange};
    use lapidary_operation::{Cancel, Catalogue, MemoryBudget, MemoryLimits, ProfileRules, ToolLimits, ToolSelection};
    use lapidary_vault::{Scope, Vault, store::MemoryStore};

    use super::*;
    use crate::TOOL_SET;

    #[test]
    fn lines_and_hashes_are_those_that_edits_expect() {
        for note in [
            "one\rtwo needle\rthree\r\nfour needle\n",
            "\u{feff}needle\r\nx\r\nneedle",
            "needle\n\nneedle\n",
            "\u{feff}x needle",
        ] {
            let path = VaultPath::parse("a.md").unwrap();
            let store = Arc::new(MemoryStore::new([(path, note.as_bytes().to_vec())]));
            let view = Vault::private("v".into(), store).view(Arc::new(Scope::default()), 1000);
            let catalogue = Catalogue::new(TOOL_SET, &ToolSelection::default(), &ProfileRules::curator(), &[]).unwrap();
            let cancel = Cancel::after(Duration::from_secs(60));
            let context = Context {
                cancel: &cancel,
                author: &lapidary_operation::ChangeAuthor::single("test".to_owned()),
                catalogue: &catalogue,
                vaults: &[],
                limits: ToolLimits::default(),
                budget: MemoryBudget::new(MemoryLimits { file_bytes: 1000, change_bytes: 1000, reply_bytes: 100_000 }),
                skills: None,
                memory: None,
                owner: &lapidary_operation::OwnerSettings::default(),
                shape: &lapidary_operation::VaultShape::default(),
                recipes: lapidary_operation::RecipeAccess::default(),
                attachments: lapidary_operation::AttachmentAccess {
                    decoder: &lapidary_operation::NoDecoder,
                    imports: None,
                },
                now: LazyCell::new(&jiff::Zoned::default),
                log: &[],
                playbooks: &[],
                walked: &Cell::new(None),
                app: None,
                web: None,
                servers: None,
                progress: lapidary_operation::ShareReport::default(),
                in_steps: false,
            };
            let input = serde_json::from_value(json!({ "query": "needle", "limit": 100 })).unwrap();
            let found = SearchContent.run(&context, &view, input).unwrap();
            let document = Document::open(note.to_owned()).unwrap();
            let expected: Vec<(usize, String)> = document
                .shown()
                .lines()
                .zip(1..)
                .filter(|(line, _)| line.contains("needle"))
                .map(|(_, number)| {
                    let hash = document.hash_of_lines(LineRange::one(number)).to_string();
                    (number, hash::short(&hash).to_owned())
                })
                .collect();
            let hits: Vec<(usize, String)> = found.hits.iter().map(|hit| (hit.line, hit.line_hash.clone())).collect();
            assert_eq!(hits, expected, "{note:?}");
            let whole = ContentHash::of(note.as_bytes()).to_string();
            assert!(found.hits.iter().all(|hit| whole.starts_with(&hit.content_hash)), "{note:?}");
        }
    }
}
