use std::sync::Arc;

use lapidary_note::{ContentHash, Occurrence, ReplaceError, replace_text};
use lapidary_vault::{Change, ChangeSet, Guard, View};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Context, Declaration, Effect, Example, Family, Gives, Group, Kind, PathArgument, Reason, Role,
    shared::{hash, reading},
    spec::{Plan, WriteTool},
};

pub(crate) struct StrReplace;

/// Replace exact text in a note or other text file; everything else stays byte for byte.
///
/// `find` must match exactly, including spaces and line breaks, and stand there once unless `occurrence` says
/// otherwise.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path in the vault, e.g. `Projects/Plan.md`.
    file: String,
    /// The text to replace.
    #[schemars(length(min = 1))]
    find: String,
    /// The text to put there; empty deletes.
    replace: String,
    /// `unique` (default), `all`, or which one, counted from 1.
    #[serde(default)]
    occurrence: Which,
    /// Refuse unless the file still has this hash.
    #[serde(default)]
    expected_content_hash: Option<String>,
    /// Show the diff and change nothing.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(untagged)]
enum Which {
    #[default]
    Unsaid,
    Word(Word),
    Number(usize),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Unique,
    All,
}

impl JsonSchema for Which {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Which".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string", "enum": ["unique", "all"] }, { "type": "integer", "minimum": 1 }] })
    }
}

impl From<Which> for Occurrence {
    fn from(which: Which) -> Self {
        match which {
            Which::Unsaid | Which::Word(Word::Unique) => Self::Unique,
            Which::Word(Word::All) => Self::All,
            Which::Number(number) => Self::Nth(number),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    file: String,
    changed: bool,
    replaced_count: usize,
    content_hash: String,
    total_lines: usize,
    size_before: usize,
    size_after: usize,
    #[serde(rename = "dry_run")]
    dry_run: bool,
}

const EXPECTED: &str = "expected_content_hash";

impl WriteTool for StrReplace {
    const DECLARATION: Declaration = Declaration {
        name: "str_replace",
        dotted: None,
        title: "Replace text in a file",
        family: Family::Files,
        group: Group::Edit,
        listed: true,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: Role::Write }],
        reasons: &[
            Kind::NoteMissing,
            Kind::StalePrecondition,
            Kind::TextMissing,
            Kind::TextNotUnique,
            Kind::OccurrenceOutOfRange,
        ],
        words: "edit change replace fix text, find and replace, tick a task, correct a typo, delete a sentence",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Plan<Output>, Reason> {
        let path = reading::parse_path(&input.file)?;
        let expected = hash::expected(Self::DECLARATION.name, EXPECTED, input.expected_content_hash.as_deref())?;
        let before = reading::read(view, &path)?;
        hash::check(&path, EXPECTED, expected.as_ref(), Some(&before.hash))?;
        let text = reading::editable(&path, &before)?;
        context.check()?;
        let replaced = replace_text(&before.bytes, &text, &input.find, &input.replace, input.occurrence.into())
            .map_err(|error| refusal(&path, &input.find, error))?;
        let changed = replaced.file != before.bytes;
        let output = Output {
            file: input.file,
            changed,
            replaced_count: if changed { replaced.count } else { 0 },
            content_hash: ContentHash::of(&replaced.file).to_string(),
            total_lines: lapidary_note::Text::decode(&replaced.file).map_or(0, |text| text.line_count()),
            size_before: before.bytes.len(),
            size_after: replaced.file.len(),
            dry_run: input.dry_run,
        };
        let guard = if expected.is_some() { Guard::Caller } else { Guard::Plan };
        let change = Change::Write { path, before: Arc::clone(&before), guard, bytes: replaced.file };
        let changes = if changed { ChangeSet::one(change) } else { ChangeSet::default() };
        Ok(Plan { changes, output, dry_run: input.dry_run })
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "# Tasks\n- [ ] Slates\n- [ ] Lead\n";
        const DONE: &str = "# Tasks\n- [x] Slates\n- [ ] Lead\n";
        const NOTES: &[(&str, &str)] = &[("Tasks.md", NOTE)];
        vec![
            Example {
                says: "Tick a task",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "find": "- [ ] Slates", "replace": "- [x] Slates" }),
                gives: Gives::Output(json!({
                    "file": "Tasks.md",
                    "changed": true,
                    "replacedCount": 1,
                    "contentHash": ContentHash::of(DONE.as_bytes()).to_string(),
                    "totalLines": 3,
                    "sizeBefore": 32,
                    "sizeAfter": 32,
                    "dry_run": false,
                })),
                after: &[("Tasks.md", DONE)],
            },
            Example {
                says: "Windows line ends stay, and `\\n` finds them",
                before: &[("a.txt", "one\r\ntwo\r\n")],
                input: json!({ "file": "a.txt", "find": "one\ntwo", "replace": "1\n2" }),
                gives: Gives::Including(json!({ "replacedCount": 1 })),
                after: &[("a.txt", "1\r\n2\r\n")],
            },
            Example {
                says: "Look before you leap",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "find": "[ ]", "replace": "[x]", "occurrence": "all", "dry_run": true }),
                gives: Gives::Including(json!({ "replacedCount": 2, "dry_run": true })),
                after: NOTES,
            },
            Example {
                says: "Text that stands there twice is not guessed at",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "find": "- [ ]", "replace": "- [x]" }),
                gives: Gives::Refusal(Kind::TextNotUnique),
                after: NOTES,
            },
            Example {
                says: "A file that changed since it was read is left alone",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "find": "Lead", "replace": "Gold", "expected_content_hash": "sha256:000000000000" }),
                gives: Gives::Refusal(Kind::StalePrecondition),
                after: NOTES,
            },
        ]
    }
}

fn refusal(path: &lapidary_vault::VaultPath, find: &str, error: ReplaceError) -> Reason {
    let path = path.clone();
    let bad_argument = |at: &str, problem: &str| Reason::InvalidArguments {
        tool: StrReplace::DECLARATION.name.to_owned(),
        problems: vec![crate::ArgumentProblem { at: at.to_owned(), problem: problem.to_owned(), nearest: None }],
    };
    match error {
        ReplaceError::EmptyFind => bad_argument("find", "must not be empty"),
        ReplaceError::MergedLineEnds => {
            bad_argument("replace", "would join two line ends of different kinds into one; include them in `find`")
        }
        ReplaceError::NotFound => Reason::TextMissing { path, preview: find.chars().take(80).collect() },
        ReplaceError::NotUnique { occurrences } => Reason::TextNotUnique { path, occurrences },
        ReplaceError::OutOfRange { occurrences, wanted } => Reason::OccurrenceOutOfRange { path, occurrences, wanted },
    }
}
