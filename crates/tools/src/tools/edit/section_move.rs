//! Moves a part of a note to another place: split, merge and reorder without sending the text.

mod properties;

use std::sync::Arc;

use lapidary_note::{Document, LineRange, MovedPart, PartPlace, counted};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, bug,
    quote::{quoted, quoted_path},
};
use lapidary_toolkit::{
    file_edit::refusal,
    hash,
    heading::missing,
    naming::{self, NamedFile},
    part_moving::{PartMove, PartMoved, PartTrace},
    reading,
    references::ReferencesOutput,
    removing::out_of_the_way,
    section::{NoteSection, SectionType},
};
use lapidary_vault::{Change, ChangeSet, ContentGuard, File, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct SectionMove;

/// Move a section, block or lines to another place or note, or a whole note into another (merge). Links follow.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path or name of its note.
    file: String,
    /// What to move; without it and `lines`, the whole note.
    #[serde(default)]
    section: Option<NoteSection>,
    /// Instead: `12-20`, or one line.
    #[serde(default)]
    #[schemars(regex(pattern = r"^\d+(-\d+)?$"))]
    lines: Option<String>,
    /// Path or name; a path ending in `.md` that is new is created. The same note by default.
    #[serde(default)]
    to: Option<String>,
    /// Heading or `^block` there; without it, the whole note.
    #[serde(default)]
    to_section: Option<NoteSection>,
    /// In `toSection`, or next to it.
    #[serde(default)]
    position: PartPosition,
    /// What to leave in the old place.
    #[serde(default)]
    leave: LeftBehind,
    /// Refuse if the note has another hash.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PartPosition {
    #[default]
    End,
    Start,
    Before,
    After,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LeftBehind {
    #[default]
    Nothing,
    Link,
    Embed,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    file: String,
    to: String,
    /// How many lines moved.
    lines: usize,
    /// Whether the target note is new.
    created: bool,
    /// How many levels its headings went down; up if negative.
    #[serde(skip_serializing_if = "is_zero")]
    levels: i8,
    /// Whether its old note went to the trash because nothing was left in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    trashed: bool,
    /// Of its old note.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_hash: Option<String>,
    /// Of its new note.
    content_hash: String,
    #[serde(flatten)]
    references: ReferencesOutput,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_zero(number: &i8) -> bool {
    *number == 0
}

const EXPECTED: &str = "expectedHash";

impl WriteTool for SectionMove {
    const DECLARATION: Declaration = Declaration {
        name: "section_move",
        dotted: None,
        title: "Move a section",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[
            PathArgument { pointer: "/file", role: PathRole::Write },
            PathArgument { pointer: "/to", role: PathRole::Write },
        ],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::SectionMissing,
            ReasonKind::AmbiguousSection,
            ReasonKind::LineOutOfRange,
            ReasonKind::StalePrecondition,
            ReasonKind::EditRefused,
        ],
        words: "move a section, move a paragraph, move lines to another note, split a note, extract into a new note, \
                merge notes, combine two notes, cut and paste text, reorder sections, put a chapter elsewhere",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let name = Self::DECLARATION.name;
        let expected = hash::expected(name, EXPECTED, input.expected_hash.as_deref())?;
        let NamedFile { path: source, file: before, .. } = naming::find(context, view, &input.file)?;
        // Before anything is planned: a stale note is refused at once.
        hash::check(&source, EXPECTED, expected.as_ref(), Some(&before))?;
        let document = reading::editable(&source, &before)?;
        let part = part(&input, &source, &document)?;
        let target = match &input.to {
            // The note itself, named explicitly, is the same as no target.
            Some(to) => Some(destination(context, view, to)?).filter(|(path, _)| *path != source),
            None => None,
        };
        // Within one note there is nowhere for a whole note to go.
        if part == MovedPart::Whole && target.is_none() {
            return Err(Reason::bad_argument(name, "to", "is required for a whole note: another note"));
        }
        let there = match &target {
            Some((path, Some(file))) => Some((path, reading::editable(path, file)?)),
            // A new note is planned as an empty one, so that both take the same way.
            Some((path, None)) => Some((path, empty()?)),
            None => None,
        };
        // Places are looked up in the note that receives the part, which may be the same one.
        let (place_path, place_document) = there.as_ref().map_or((&source, &document), |(path, text)| (*path, text));
        let place = place(&input, place_path, place_document)?;
        let is_new = target.as_ref().is_some_and(|(_, file)| file.is_none());
        // A note with nothing left is removed with its text. Properties go along if both notes have readable ones.
        let is_readable = document.properties().is_ok() && place_document.properties().is_ok();
        let trashed = part == MovedPart::Whole
            && input.leave == LeftBehind::Nothing
            && (is_readable || document.frontmatter().is_none());
        let step = PartMove {
            source: &source,
            document: &document,
            part,
            target: there.as_ref().map(|(path, text)| (*path, text)),
            is_new,
            place,
            trace: match input.leave {
                LeftBehind::Nothing => PartTrace::Nothing,
                LeftBehind::Link => PartTrace::Link,
                LeftBehind::Embed => PartTrace::Embed,
            },
            source_goes: trashed,
        };
        // Everything is planned on the old texts, so that spans stay valid.
        let PartMoved { mut moved, lines, others, references, apart } = step.plan(context, view)?;
        let mut differing = Vec::new();
        if let Some(there) = moved.target.as_ref().filter(|_| trashed) {
            // Properties of a note that disappears would be lost with it.
            let merged = properties::merged(there, &moved.source).map_err(|error| refusal(&source, error))?;
            if let Some(merged) = merged {
                differing = merged.differing;
                moved.target = Some(merged.document);
            }
        }
        let guard = if expected.is_some() { ContentGuard::Caller } else { ContentGuard::Plan };
        let source_hash = moved.source.content().hash().to_string();
        // The note that has the part now is the one to go on with.
        let holder = moved.target.as_ref().unwrap_or(&moved.source);
        let output = Output {
            file: source.to_string(),
            to: target.as_ref().map_or(&source, |(path, _)| path).to_string(),
            lines,
            created: is_new,
            levels: moved.levels,
            trashed,
            // Within one note, `contentHash` is that of the source already.
            source_hash: (target.is_some() && !trashed).then_some(source_hash),
            content_hash: holder.content().hash().to_string(),
            references,
            dry_run: input.dry_run,
            notice: notice(
                &source,
                part == MovedPart::Whole && !trashed && input.leave == LeftBehind::Nothing,
                &apart,
                &differing,
            ),
        };
        let mut changes = ChangeSet::default();
        // The text is added before it is removed.
        changes.changes.extend(arrival(target, &moved));
        changes.changes.push(match trashed {
            true => out_of_the_way(view, source, before, guard),
            false => Change::Write { path: source, before, guard, content: moved.source.content().clone() },
        });
        changes.changes.extend(others);
        Ok(ToolPlan { changes, output, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { file, to, lines, created, levels, trashed, content_hash, references, dry_run, .. } = output;
        let done = if *dry_run { "Dry run: would move" } else { "Moved" };
        let within = file == to;
        let to = if within { String::new() } else { format!(" → {}", quoted(to)) };
        let created = if *created { " (created)" } else { "" };
        let levels = match levels {
            0 => String::new(),
            levels => {
                let way = if *levels > 0 { "down" } else { "up" };
                format!(", headings {} {way}", counted(levels.unsigned_abs().into(), "level"))
            }
        };
        let trashed = if *trashed { format!(", {} to the trash", quoted(file)) } else { String::new() };
        let hash = hash::digits(content_hash);
        let from = quoted(file);
        let lines = counted(*lines, "line");
        Some(format!("{done} {lines} of {from}{to}{created}{levels}{}{trashed}, hash {hash}", references.text()))
    }

    fn examples(&self) -> Vec<Example> {
        const PLAN: &str = "# Plan\n\nSee [[#Log]].\n\n## Log\n\nDry.\n\n## End\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", PLAN), ("Diary.md", "# Diary\n\n- [[Plan#Log]]\n")];
        vec![
            Example {
                says: "Split a note: a section becomes a separate note, and links follow",
                before: NOTES,
                input: json!({ "file": "Plan", "section": "Log", "to": "Log.md", "leave": "link" }),
                gives: ExampleResult::Including(
                    json!({ "to": "Log.md", "created": true, "lines": 3, "referencesUpdated": 2 }),
                ),
                after: &[
                    ("Log.md", "## Log\n\nDry.\n"),
                    ("Plan.md", "# Plan\n\nSee [[Log#Log]].\n\n[[Log#Log]]\n\n## End\n"),
                    ("Diary.md", "# Diary\n\n- [[Log#Log]]\n"),
                ],
            },
            Example {
                says: "Move a section into one of another note, one level below its heading",
                before: &[("a.md", "x\n\n# A\n\na\n"), ("b.md", "# B\n\nb\n\n# C\n")],
                input: json!({ "file": "a.md", "section": "A", "to": "b.md", "toSection": "B" }),
                gives: ExampleResult::Including(json!({ "levels": 1, "created": false })),
                after: &[("a.md", "x\n"), ("b.md", "# B\n\nb\n\n## A\n\na\n\n# C\n")],
            },
            Example {
                says: "Reorder sections",
                before: &[("a.md", "# A\n\n# B\n\n# C\n")],
                input: json!({ "file": "a.md", "section": "C", "toSection": "A", "position": "before" }),
                gives: ExampleResult::Including(json!({ "to": "a.md" })),
                after: &[("a.md", "# C\n\n# A\n\n# B\n")],
            },
            Example {
                says: "Move a line into the list of another note",
                before: &[("a.md", "- [ ] one\n- [ ] two\n"), ("b.md", "# Later\n\n- [ ] three\n")],
                input: json!({ "file": "a.md", "lines": "1", "to": "b.md", "toSection": "Later" }),
                gives: ExampleResult::Including(json!({ "lines": 1 })),
                after: &[("a.md", "- [ ] two\n"), ("b.md", "# Later\n\n- [ ] three\n- [ ] one\n")],
            },
            Example {
                says: "Merge two notes: links to the first lead to the second",
                before: &[("a.md", "a\n"), ("b.md", "b\n"), ("c.md", "[[a]]\n")],
                input: json!({ "file": "a.md", "to": "b.md" }),
                gives: ExampleResult::Including(json!({ "trashed": true, "referencesUpdated": 1 })),
                after: &[("b.md", "b\n\na\n"), ("c.md", "[[b]]\n")],
            },
            Example {
                says: "Their properties are merged; where both have a value, that of the target stays",
                before: &[
                    ("a.md", "---\ntags: [x, y]\nstatus: done\nup: \"[[c]]\"\n---\n# A\na\n"),
                    ("b.md", "---\ntags: [x]\nstatus: open\n---\n# B\n## C\nb\n"),
                ],
                input: json!({ "file": "a.md", "to": "b.md" }),
                gives: ExampleResult::Including(json!({
                    "trashed": true,
                    "notice": "Both had other values, and the target's stay: `status`.",
                })),
                after: &[("b.md", "---\ntags: [x, y]\nstatus: open\nup: \"[[c]]\"\n---\n# B\n## C\nb\n\n# A\na\n")],
            },
            Example {
                says: "A section cannot go into itself",
                before: &[("a.md", "# A\n## B\n")],
                input: json!({ "file": "a.md", "section": "A", "toSection": "B" }),
                gives: ExampleResult::Refusal(ReasonKind::EditRefused),
                after: &[("a.md", "# A\n## B\n")],
            },
        ]
    }
}

fn empty() -> Result<Document, Reason> {
    Document::open(String::new()).map_err(|error| bug!("an empty text is none: {error}"))
}

/// The change of the other note, if there is one.
fn arrival(target: Option<(VaultPath, Option<Arc<File>>)>, moved: &lapidary_note::MovedText) -> Option<Change> {
    let (path, before) = target?;
    let content = moved.target.as_ref()?.content().clone();
    Some(match before {
        Some(before) => Change::Write { path, before, guard: ContentGuard::Plan, content },
        None => Change::Create { path, content },
    })
}

/// What is moved.
fn part(input: &Input, path: &VaultPath, document: &Document) -> Result<MovedPart, Reason> {
    let name = SectionMove::DECLARATION.name;
    match (&input.section, &input.lines) {
        (Some(_), Some(_)) => Err(Reason::bad_argument(name, "lines", "cannot be combined with `section`")),
        (Some(section), None) => match found(path, document, section, "section")? {
            FoundPart::Heading(index) => Ok(MovedPart::Section(index)),
            FoundPart::Block(index) => Ok(MovedPart::Block(index)),
        },
        (None, Some(lines)) => {
            // One line is the range from itself to itself.
            let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
            let (Ok(from), Ok(to)) = (from.trim().parse(), to.trim().parse()) else {
                return Err(Reason::bad_argument(name, "lines", "must be a line or a range of them: `12-20`"));
            };
            Ok(MovedPart::Lines(LineRange { from, to }))
        }
        (None, None) => Ok(MovedPart::Whole),
    }
}

enum FoundPart {
    Heading(usize),
    Block(usize),
}

fn found(path: &VaultPath, document: &Document, section: &NoteSection, at: &str) -> Result<FoundPart, Reason> {
    let note = document.note();
    match section.r#type {
        SectionType::Heading => {
            let heading = section.heading(path, &note)?;
            // Headings are in order; the position names this one among others of the same text.
            Ok(FoundPart::Heading(note.headings.partition_point(|other| other.span.start < heading.span.start)))
        }
        SectionType::Block => {
            let id = section.target.trim_start_matches('^');
            // By position, as the plan works on the structure and not on names.
            let block = note.find_block(id).and_then(|block| note.blocks.iter().position(|other| other == block));
            let ids = note.blocks.iter().map(|block| block.id.clone());
            block.map(FoundPart::Block).ok_or_else(|| missing(path, "block", id, ids))
        }
        // Properties belong to the note and cannot be moved into another part of it.
        SectionType::Frontmatter => {
            Err(Reason::bad_argument(SectionMove::DECLARATION.name, at, "must be a heading or a block"))
        }
    }
}

/// Where the part goes. A name that is not a path must be that of an existing note.
fn destination(context: &Context<'_>, view: &View, to: &str) -> Result<(VaultPath, Option<Arc<File>>), Reason> {
    // Only a path can be that of a new note: a mistyped name must not create one.
    let exact = if naming::is_bare_name(to) { None } else { Some(reading::parse_path(to)?) };
    match exact.filter(VaultPath::is_note) {
        Some(path) => match reading::read_if_there(view, &path)? {
            Some(file) => Ok((path, Some(file))),
            None => {
                naming::check_new(context, view, &path, None)?;
                Ok((path, None))
            }
        },
        None => naming::find(context, view, to).map(|found| (found.path, Some(found.file))),
    }
}

fn place(input: &Input, path: &VaultPath, document: &Document) -> Result<PartPlace, Reason> {
    use PartPosition::{After, Before, End, Start};
    let Some(section) = &input.to_section else {
        return match input.position {
            // Without a section, before and after are those of the note itself.
            End | After => Ok(PartPlace::NoteEnd),
            Start | Before => Ok(PartPlace::NoteStart),
        };
    };
    Ok(match (found(path, document, section, "toSection")?, input.position) {
        (FoundPart::Heading(index), End) => PartPlace::SectionEnd(index),
        (FoundPart::Heading(index), Start) => PartPlace::SectionStart(index),
        (FoundPart::Heading(index), Before) => PartPlace::BeforeSection(index),
        (FoundPart::Heading(index), After) => PartPlace::AfterSection(index),
        (FoundPart::Block(index), Start | Before) => PartPlace::BeforeBlock(index),
        (FoundPart::Block(index), End | After) => PartPlace::AfterBlock(index),
    })
}

fn notice(source: &VaultPath, keeps_properties: bool, apart: &[String], differing: &[String]) -> Option<String> {
    const MOST: usize = 5;
    let some = |names: &[String]| {
        let shown: Vec<String> = names.iter().take(MOST).map(|name| quoted(name).to_string()).collect();
        let more = if names.len() > MOST { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    let mut notices = Vec::new();
    if keeps_properties {
        let source = quoted_path(source);
        notices.push(format!("{source} keeps its properties, which cannot be merged, and links to it stay."));
    }
    if !differing.is_empty() {
        notices.push(format!("Both had other values, and the target's stay: {}.", some(differing)));
    }
    if !apart.is_empty() {
        notices.push(format!("Used in one note and defined in the other now: {}.", some(apart)));
    }
    (!notices.is_empty()).then(|| notices.join(" "))
}
