//! Creates or replaces a note.

use lapidary_note::{ContentHash, Document, PatchOperation};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::{
    note_edit::{NoteEdit, NoteTextWritten, NotesMade},
    patching::{ContentType, PatchRequest, not_json, patched},
    section::NoteSection,
    target::NoteTarget,
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

pub(crate) struct ObsidianWriteNote;

/// Create a note with its folders, or replace a whole one (`overwrite: true`) or one section. To change part of the
/// text, use `str_replace`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Which note.
    target: NoteTarget,
    /// The full text with properties, or that of the section without its heading.
    content: String,
    /// Replace only this; it must exist.
    #[serde(default)]
    section: Option<NoteSection>,
    /// `json`: the content is JSON, stored compactly; in a section, a typed property or table rows.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    content_type: ContentType,
    /// Replace the note if it exists.
    #[serde(default)]
    overwrite: bool,
    /// Refuse if the note has another hash.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

impl WriteTool for ObsidianWriteNote {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_write_note",
        dotted: None,
        title: "Obsidian Write Note",
        family: WireFamily::Obsidian,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: true,
        paths: &[PathArgument { pointer: "/target/path", role: PathRole::Write }],
        reasons: &[
            ReasonKind::FileExists,
            ReasonKind::StalePrecondition,
            ReasonKind::NoteMissing,
            ReasonKind::SectionTargetMissing,
            ReasonKind::AmbiguousSection,
            ReasonKind::HeadingOutsideSection,
            ReasonKind::PatchRejected,
            ReasonKind::FrontmatterInvalid,
        ],
        words: "create new note, make write save a file, overwrite replace whole note, rewrite a section",
    };
    const EFFECT: Effect = Effect::Write;
    const TAKES_TARGET: bool = true;
    type Input = Input;
    type Output = NoteTextWritten;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<NoteTextWritten>, Reason> {
        let tool = Self::DECLARATION.name;
        // A new note has no sections; only a periodic one gets some from its template.
        let makes = if input.section.is_some() { NotesMade::PeriodicNotes } else { NotesMade::AnyNote };
        let writing =
            NoteEdit::begin(tool, context, view, &input.target, makes, input.expected_hash.as_deref(), input.dry_run)
                .map_err(|reason| match input.section {
                // A section is not the whole note, so the lines that would be lost cannot be told.
                Some(_) => reason,
                None => reason.with_what_changed(view, input.content.as_bytes()),
            })?;
        if let Some(section) = &input.section {
            let wanted = PatchRequest {
                tool,
                section,
                operation: PatchOperation::Replace,
                content: &input.content,
                content_type: input.content_type,
                create: false,
                // Writing what is already there is a success: the caller asked for a state, not for an addition.
                repeat: true,
                trim: false,
            };
            let done = patched(&writing, &wanted)?;
            return Ok(writing.plan_text(done.document.content().clone(), Some(done.target)));
        }
        let content = match input.content_type {
            ContentType::Markdown => input.content,
            ContentType::Json => compact_json(&input.content)?,
        };
        // The caller may have meant it so; the note is written and the notice says it.
        let notice = broken_properties(writing.path(), &content);
        let content = match writing.before() {
            Some(file) if !input.overwrite => {
                return Err(Reason::FileExists { path: writing.path().clone(), current: file.hash() });
            }
            // With the line endings and the byte order mark of the file.
            Some(_) | None => writing.in_own_form(content)?,
        };
        let mut plan = writing.plan_whole(content);
        plan.output.notice = notice;
        Ok(plan)
    }

    fn text(&self, output: &NoteTextWritten) -> Option<String> {
        Some(output.text("Wrote", "Would write"))
    }

    fn examples(&self) -> Vec<Example> {
        let target = json!({ "type": "path", "path": "Inbox/Idea.md" });
        vec![
            Example {
                says: "A new note in a new folder",
                before: &[],
                input: json!({ "target": target, "content": "# Idea\n" }),
                gives: ExampleResult::Output(json!({
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
                says: "Properties that cannot be read",
                before: &[],
                input: json!({ "target": target, "content": "---\na: 1\nb: [x\n---\n" }),
                gives: ExampleResult::Including(
                    json!({ "created": true, "notice": "The properties are not valid YAML: line 3: unclosed bracket '['." }),
                ),
                after: &[("Inbox/Idea.md", "---\na: 1\nb: [x\n---\n")],
            },
            Example {
                says: "A note that exists is not replaced by accident",
                before: &[("Inbox/Idea.md", "old\n")],
                input: json!({ "target": target, "content": "new\n" }),
                gives: ExampleResult::Refusal(ReasonKind::FileExists),
                after: &[("Inbox/Idea.md", "old\n")],
            },
            Example {
                says: "Replacing keeps the line endings of the file",
                before: &[("Inbox/Idea.md", "old\r\ntext\r\n")],
                input: json!({ "target": target, "content": "new\n", "overwrite": true }),
                gives: ExampleResult::Including(
                    json!({ "created": false, "previousSizeInBytes": 11, "currentSizeInBytes": 5 }),
                ),
                after: &[("Inbox/Idea.md", "new\r\n")],
            },
            Example {
                says: "One section of a note",
                before: &[("Inbox/Idea.md", "# Idea\n\nold\n\n# Log\n")],
                input: json!({ "target": target, "content": "new", "section": { "type": "heading", "target": "Idea" } }),
                gives: ExampleResult::Including(
                    json!({ "sectionTargeted": true, "sectionTarget": "Idea", "created": false }),
                ),
                after: &[("Inbox/Idea.md", "# Idea\n\nnew\n\n# Log\n")],
            },
        ]
    }
}

/// The same JSON without white space. The text itself is kept: numbers and repeated names would not survive parsing.
fn compact_json(content: &str) -> Result<String, Reason> {
    serde_json::from_str::<IgnoredAny>(content)
        .map_err(|error| not_json(ObsidianWriteNote::DECLARATION.name, &error))?;
    let (mut in_text, mut escaped) = (false, false);
    let kept = |c: &char| {
        // The JSON is valid, so a quote that is not escaped begins or ends a string.
        let keep = in_text || !c.is_ascii_whitespace();
        if !escaped && *c == '"' {
            in_text = !in_text;
        }
        escaped = !escaped && *c == '\\';
        keep
    };
    Ok(content.chars().filter(kept).collect())
}

/// The notice for a note whose properties Obsidian could not read.
fn broken_properties(path: &VaultPath, text: &str) -> Option<String> {
    if !path.is_note() || !text.starts_with("---") {
        return None;
    }
    let error = Document::open(text.to_owned()).ok()?.properties().err()?;
    Some(format!("The properties are not valid YAML: {error}."))
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
