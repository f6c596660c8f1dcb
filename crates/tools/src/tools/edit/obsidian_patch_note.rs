//! Changes one part of a note.

use lapidary_note::{ContentHash, InsertSide, PatchOperation};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, quote::quoted,
};
use lapidary_toolkit::{
    note_edit::{NoteEdit, NoteWritten, NotesMade},
    patching::{ContentType, PatchRequest, patched, text_notice},
    section::{NoteSection, SectionOutput},
    target::NoteTarget,
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct ObsidianPatchNote;

/// Change one part of a note: the text under a heading (to the next of its level; the heading stays), a `^block` or a property.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Which note.
    target: NoteTarget,
    /// Which part.
    section: NoteSection,
    /// Where to put it.
    operation: PatchChange,
    /// The new text, without the heading.
    content: String,
    /// `json`: a typed value for a property (lists are joined), or rows of a table block (`["a", "b"]`, or several).
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    content_type: ContentType,
    /// How.
    #[serde(default)]
    patch_options: PatchOptions,
    /// Refuse if the note has another hash.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum PatchChange {
    Append,
    Prepend,
    Replace,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-short" = {
    "type": "object",
    "properties": {
        "createTargetIfMissing": { "type": "boolean" },
        "applyIfContentPreexists": { "type": "boolean" },
    },
}))]
struct PatchOptions {
    /// Create the part if it is missing.
    #[serde(default)]
    create_target_if_missing: bool,
    /// Add text even if it is already there.
    #[serde(default)]
    apply_if_content_preexists: bool,
    /// No blank line between old and new text.
    #[serde(default)]
    trim_target_whitespace: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    section: SectionOutput,
    operation: PatchChange,
    #[serde(flatten)]
    written: NoteWritten,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl WriteTool for ObsidianPatchNote {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_patch_note",
        dotted: None,
        title: "Obsidian Patch Note",
        family: WireFamily::Obsidian,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: false,
        paths: &[PathArgument { pointer: "/target/path", role: PathRole::Write }],
        reasons: &[
            ReasonKind::StalePrecondition,
            ReasonKind::NoteMissing,
            ReasonKind::PeriodicNotFound,
            ReasonKind::SectionTargetMissing,
            ReasonKind::AmbiguousSection,
            ReasonKind::ContentPreexists,
            ReasonKind::HeadingOutsideSection,
            ReasonKind::PatchRejected,
            ReasonKind::FrontmatterInvalid,
        ],
        words: "insert add text under a heading, change a section block paragraph, add a table row, prepend, put under a heading, add to a list, update property",
    };
    const EFFECT: Effect = Effect::Write;
    const TAKES_TARGET: bool = true;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        // Never creates a note: a part to change is only in an existing one.
        let writing = NoteEdit::begin(
            tool,
            context,
            view,
            &input.target,
            NotesMade::Nothing,
            input.expected_hash.as_deref(),
            input.dry_run,
        )?;
        let wanted = PatchRequest {
            tool,
            section: &input.section,
            operation: match input.operation {
                PatchChange::Append => PatchOperation::Add(InsertSide::Behind),
                PatchChange::Prepend => PatchOperation::Add(InsertSide::Before),
                PatchChange::Replace => PatchOperation::Replace,
            },
            content: &input.content,
            content_type: input.content_type,
            create: input.patch_options.create_target_if_missing,
            // Off by default, so that a call that is sent again does not add its text twice.
            repeat: input.patch_options.apply_if_content_preexists,
            trim: input.patch_options.trim_target_whitespace,
        };
        // Two other tools make the same edit with other arguments, so it is in the toolkit.
        let done = patched(&writing, &wanted)?;
        // Named as it was found: the caller may have given only a part of the heading's path.
        let (section, operation) = (input.section.named(&done.target), input.operation);
        let notice = text_notice(&writing, &wanted);
        Ok(writing.plan(done.document.content().clone(), |path, written| Output {
            path: path.to_string(),
            section,
            operation,
            written,
            notice,
        }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let written = &output.written;
        let done = match output.operation {
            PatchChange::Append => written.done("Appended to", "Would append to"),
            PatchChange::Prepend => written.done("Prepended to", "Would prepend to"),
            PatchChange::Replace => written.done("Replaced", "Would replace"),
        };
        Some(format!("{done} {} → {}, {}", quoted(&output.path), quoted(&output.section.target), written.text()))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\ntags: [a] # mine\n---\n# Plan\n\n## Tasks\n- [ ] Slates ^slates\n\n## Log\n\n| day | what |\n|---|---|\n| Mon | rain |\n\n^days\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE)];
        const MORE: &str = "---\ntags: [a] # mine\n---\n# Plan\n\n## Tasks\n- [ ] Slates ^slates\n- [ ] Lead\n\n## Log\n\n| day | what |\n|---|---|\n| Mon | rain |\n\n^days\n";
        let target = json!({ "type": "path", "path": "Plan.md" });
        let call = |section: serde_json::Value, operation: &str, content: &str| json!({ "target": target, "section": section, "operation": operation, "content": content });
        let mut row = call(json!({ "type": "block", "target": "days" }), "append", "[\"Tue\", \"sun\"]");
        row["contentType"] = json!("json");
        let mut tag = call(json!({ "type": "frontmatter", "target": "tags" }), "append", "[\"b\"]");
        tag["contentType"] = json!("json");
        vec![
            Example {
                says: "A task joins the list at the end of a section",
                before: NOTES,
                input: call(json!({ "type": "heading", "target": "Tasks" }), "append", "- [ ] Lead\n"),
                gives: ExampleResult::Output(json!({
                    "path": "Plan.md",
                    "section": { "type": "heading", "target": "Plan::Tasks" },
                    "operation": "append",
                    "previousSizeInBytes": NOTE.len(),
                    "currentSizeInBytes": MORE.len(),
                    "contentHash": ContentHash::of(MORE.as_bytes()).to_string(),
                })),
                after: &[("Plan.md", MORE)],
            },
            Example {
                says: "A row of a table that has a block id",
                before: NOTES,
                input: row,
                gives: ExampleResult::Including(json!({ "section": { "type": "block", "target": "days" } })),
                after: &[(
                    "Plan.md",
                    "---\ntags: [a] # mine\n---\n# Plan\n\n## Tasks\n- [ ] Slates ^slates\n\n## Log\n\n| day | what |\n|---|---|\n| Mon | rain |\n| Tue | sun |\n\n^days\n",
                )],
            },
            Example {
                says: "One more item of a list property",
                before: NOTES,
                input: tag,
                gives: ExampleResult::Including(json!({ "operation": "append" })),
                after: &[(
                    "Plan.md",
                    "---\ntags: [a, b] # mine\n---\n# Plan\n\n## Tasks\n- [ ] Slates ^slates\n\n## Log\n\n| day | what |\n|---|---|\n| Mon | rain |\n\n^days\n",
                )],
            },
            Example {
                says: "A property keeps its type",
                before: &[("a.md", "---\nrating: 4\n---\n")],
                input: json!({
                    "target": "a.md",
                    "section": { "type": "frontmatter", "target": "rating" },
                    "operation": "replace",
                    "content": "5",
                }),
                gives: ExampleResult::Including(json!({ "operation": "replace" })),
                after: &[("a.md", "---\nrating: 5\n---\n")],
            },
            Example {
                says: "Text stays text unless `contentType` says otherwise",
                before: &[("a.md", "---\nrating: good\n---\n")],
                input: json!({
                    "target": "a.md",
                    "section": { "type": "frontmatter", "target": "rating" },
                    "operation": "replace",
                    "content": "5",
                }),
                gives: ExampleResult::Including(json!({
                    "notice": "The property is text. For a number, set `contentType` to `json`.",
                })),
                after: &[("a.md", "---\nrating: \"5\"\n---\n")],
            },
            Example {
                says: "A heading that does not exist",
                before: NOTES,
                input: call(json!({ "type": "heading", "target": "Budget" }), "append", "x"),
                gives: ExampleResult::Refusal(ReasonKind::SectionTargetMissing),
                after: NOTES,
            },
        ]
    }
}
