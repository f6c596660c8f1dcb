use std::sync::Arc;

use lapidary_note::{ContentHash, ExpectedHash};
use lapidary_vault::{Change, ChangeSet, File, Guard, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::json;

use crate::{
    ArgumentProblem, Context, Declaration, Effect, Example, Family, Gives, Group, Kind, PathArgument, Reason, Role,
    shared::{hash, reading, target::Target},
    spec::{Plan, WriteTool},
};

pub(crate) struct ObsidianWriteNote;

/// Create a note in the Obsidian vault, or replace one completely with `overwrite: true`.
///
/// To change part of a note use `str_replace`. Missing folders are made; an overwritten note keeps its line endings.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Which note.
    target: Target,
    /// The whole new text, properties included.
    content: String,
    /// `json`: check that the content is JSON and store it compactly.
    #[serde(default)]
    content_type: ContentType,
    /// Replace the note if it exists.
    #[serde(default)]
    overwrite: bool,
    /// Refuse unless the note still has this hash.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Show the diff and change nothing.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum ContentType {
    #[default]
    Markdown,
    Json,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    section_targeted: bool,
    created: bool,
    previous_size_in_bytes: usize,
    current_size_in_bytes: usize,
    content_hash: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
}

const EXPECTED: &str = "expectedHash";

impl WriteTool for ObsidianWriteNote {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_write_note",
        dotted: None,
        title: "Obsidian Write Note",
        family: Family::Obsidian,
        group: Group::Edit,
        listed: true,
        idempotent: true,
        paths: &[PathArgument { pointer: "/target/path", role: Role::Write }],
        reasons: &[Kind::FileExists, Kind::StalePrecondition],
        words: "create new note, make write save a file, overwrite replace whole note",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Plan<Output>, Reason> {
        let path = input.target.path()?;
        let expected = hash::expected(Self::DECLARATION.name, EXPECTED, input.expected_hash.as_deref())?;
        let content = match input.content_type {
            ContentType::Markdown => input.content,
            ContentType::Json => compact_json(&input.content)?,
        };
        let before = reading::read_if_there(view, &path)?;
        context.check()?;
        hash::check(&path, EXPECTED, expected.as_ref(), before.as_ref().map(|file| &file.hash))?;
        let change = match &before {
            Some(file) if !input.overwrite => {
                return Err(Reason::FileExists { path, current: file.hash });
            }
            Some(file) => replace(&path, file, &content, expected.as_ref())?,
            None => Change::Create { path: path.clone(), bytes: content.into_bytes() },
        };
        let output = Output {
            path: path.to_string(),
            section_targeted: false,
            created: before.is_none(),
            previous_size_in_bytes: before.as_ref().map_or(0, |file| file.bytes.len()),
            current_size_in_bytes: change.bytes().len(),
            content_hash: ContentHash::of(change.bytes()).to_string(),
            dry_run: input.dry_run,
        };
        let unchanged = before.is_some_and(|file| file.bytes == change.bytes());
        let changes = if unchanged { ChangeSet::default() } else { ChangeSet::one(change) };
        Ok(Plan { changes, output, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = match (output.dry_run, output.created) {
            (true, true) => "Would create",
            (true, false) => "Would write",
            (false, true) => "Created",
            (false, false) => "Wrote",
        };
        Some(format!(
            "**{done} {}**\n*Size:* {} → {} bytes\n*Section targeted:* false\n*Created:* {}\n*Hash:* `{}`",
            output.path,
            output.previous_size_in_bytes,
            output.current_size_in_bytes,
            output.created,
            hash::short(&output.content_hash),
        ))
    }

    fn examples(&self) -> Vec<Example> {
        let target = json!({ "type": "path", "path": "Inbox/Idea.md" });
        vec![
            Example {
                says: "A new note in a new folder",
                before: &[],
                input: json!({ "target": target, "content": "# Idea\n" }),
                gives: Gives::Output(json!({
                    "path": "Inbox/Idea.md",
                    "sectionTargeted": false,
                    "created": true,
                    "previousSizeInBytes": 0,
                    "currentSizeInBytes": 7,
                    "contentHash": ContentHash::of(b"# Idea\n").to_string(),
                })),
                after: &[("Inbox/Idea.md", "# Idea\n")],
            },
            Example {
                says: "A note that exists is not replaced by accident",
                before: &[("Inbox/Idea.md", "old\n")],
                input: json!({ "target": target, "content": "new\n" }),
                gives: Gives::Refusal(Kind::FileExists),
                after: &[("Inbox/Idea.md", "old\n")],
            },
            Example {
                says: "Replacing keeps the line endings of the file",
                before: &[("Inbox/Idea.md", "old\r\ntext\r\n")],
                input: json!({ "target": target, "content": "new\n", "overwrite": true }),
                gives: Gives::Including(
                    json!({ "created": false, "previousSizeInBytes": 11, "currentSizeInBytes": 5 }),
                ),
                after: &[("Inbox/Idea.md", "new\r\n")],
            },
        ]
    }
}

fn replace(
    path: &VaultPath,
    file: &Arc<File>,
    content: &str,
    expected: Option<&ExpectedHash>,
) -> Result<Change, Reason> {
    let bytes = reading::editable(path, file)?.in_own_form(content);
    let guard = if expected.is_some() { Guard::Caller } else { Guard::Plan };
    Ok(Change::Write { path: path.clone(), before: Arc::clone(file), guard, bytes })
}

/// The same JSON without white space. The text itself is kept: numbers and repeated names would not survive being read.
fn compact_json(content: &str) -> Result<String, Reason> {
    if let Err(error) = serde_json::from_str::<IgnoredAny>(content) {
        return Err(Reason::InvalidArguments {
            tool: ObsidianWriteNote::DECLARATION.name.to_owned(),
            problems: vec![ArgumentProblem {
                at: "content".into(),
                problem: format!("is not JSON: {error}"),
                nearest: None,
            }],
        });
    }
    let (mut in_text, mut escaped) = (false, false);
    let kept = |c: &char| {
        let keep = in_text || !c.is_ascii_whitespace();
        if !escaped && *c == '"' {
            in_text = !in_text;
        }
        escaped = !escaped && *c == '\\';
        keep
    };
    Ok(content.chars().filter(kept).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_loses_its_white_space_and_nothing_else() {
        for (given, stored) in [
            (
                "{ \"id\" : 12345678901234567890123,\n\t\"a\": 1.10, \"a\": 2 }",
                "{\"id\":12345678901234567890123,\"a\":1.10,\"a\":2}",
            ),
            (r#"[ "a b", "\" c", "\\" , " " ]"#, r#"["a b","\" c","\\"," "]"#),
            (" 7 ", "7"),
        ] {
            assert_eq!(compact_json(given).unwrap(), stored);
        }
        assert!(compact_json("{").is_err());
    }
}
