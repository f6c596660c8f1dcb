//! Appends to a note or section.

use lapidary_note::{ContentHash, InsertSide, PatchOperation};
use lapidary_operation::{
    CommitReport, Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, quote::quoted_path,
};
use lapidary_toolkit::{
    appending,
    note_edit::{NoteEdit, NoteTextWritten, NotesMade},
    patching::{ContentType, PatchRequest, patched},
    section::NoteSection,
    target::NoteTarget,
};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(crate) struct ObsidianAppendToNote;

/// Add text on a new line at the end of a note or of one of its sections, where items join a list. A missing note is
/// created (in the top folder only if no other has its name).
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Which note.
    target: NoteTarget,
    /// What to add.
    content: String,
    /// Add it at the end of this.
    #[serde(default)]
    section: Option<NoteSection>,
    /// `json`, in a section: a value for a property, or rows of a table.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    content_type: ContentType,
    /// Create the section, or a note whose name another has.
    #[serde(default)]
    create_target_if_missing: bool,
    /// Refuse if the note has another hash.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

impl WriteTool for ObsidianAppendToNote {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_append_to_note",
        dotted: None,
        title: "Obsidian Append To Note",
        family: WireFamily::Obsidian,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: false,
        paths: &[PathArgument { pointer: "/target/path", role: PathRole::Write }],
        reasons: &[
            ReasonKind::StalePrecondition,
            ReasonKind::NoteMissing,
            ReasonKind::SectionTargetMissing,
            ReasonKind::AmbiguousSection,
            ReasonKind::ContentPreexists,
            ReasonKind::HeadingOutsideSection,
            ReasonKind::PatchRejected,
            ReasonKind::FrontmatterInvalid,
        ],
        words: "append add text to the end of a note or section, log entry, capture, daily note, today journal, inbox, add an item to a list, shopping list, reading list, insert a template",
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
            NoteEdit::begin(tool, context, view, &input.target, makes, input.expected_hash.as_deref(), input.dry_run)?;
        if let Some(section) = &input.section {
            let wanted = PatchRequest {
                tool,
                section,
                operation: PatchOperation::Add(InsertSide::Behind),
                content: &input.content,
                content_type: input.content_type,
                create: input.create_target_if_missing,
                // A call that is sent again must not add the text a second time.
                repeat: false,
                trim: false,
            };
            let done = patched(&writing, &wanted)?;
            return Ok(writing.plan_text(done.document.content().clone(), Some(done.target)));
        }
        if input.content_type == ContentType::Json {
            let problem = "must be `markdown` unless `section` names a property or a table";
            return Err(Reason::bad_argument(tool, "contentType", problem));
        }
        let (content, notice) = appending::to_note(&writing, &input.content)?;
        let others = writing.others_of_its_name(context, view)?;
        // A new note of that name would also take over the links to the other one.
        if !others.is_empty() && !input.create_target_if_missing && writing.path().folder().is_none() {
            return Err(Reason::NoteMissing { path: writing.path().clone(), suggestions: others });
        }
        let mut plan = writing.plan_text(content, None);
        // One notice is enough, and what the text did to the note matters more than notes of the same name.
        plan.output.notice = notice.or_else(|| same_name(&others));
        Ok(plan)
    }

    /// The notice names a block of the note.
    fn finish(&self, output: &mut NoteTextWritten, learnt: &CommitReport<'_>) {
        output.notice.take_if(|_| !learnt.shows_content);
    }

    fn text(&self, output: &NoteTextWritten) -> Option<String> {
        Some(output.text("Appended to", "Would append to"))
    }

    fn examples(&self) -> Vec<Example> {
        const LOG: &str = "# Log\n\n- one\n\n# Later\n- more";
        const NOTES: &[(&str, &str)] = &[("Log.md", LOG)];
        let target = json!({ "type": "path", "path": "Log.md" });
        let log = json!({ "type": "heading", "target": "Log" });
        vec![
            Example {
                says: "Text at the end, on a new line",
                before: NOTES,
                input: json!({ "target": target, "content": "- last\n" }),
                gives: ExampleResult::Output(json!({
                    "path": "Log.md",
                    "sectionTargeted": false,
                    "created": false,
                    "previousSizeInBytes": 28,
                    "currentSizeInBytes": 36,
                    "contentHash": ContentHash::of(format!("{LOG}\n- last\n").as_bytes()).to_string(),
                })),
                after: &[("Log.md", "# Log\n\n- one\n\n# Later\n- more\n- last\n")],
            },
            Example {
                says: "A note that ends with a line ending still does",
                before: &[("Log.md", "- one\r\n")],
                input: json!({ "target": target, "content": "- two" }),
                gives: ExampleResult::Including(json!({ "created": false })),
                after: &[("Log.md", "- one\r\n- two\r\n")],
            },
            Example {
                says: "An item joins the list at the end of a section",
                before: NOTES,
                input: json!({ "target": target, "content": "- two\n", "section": log }),
                gives: ExampleResult::Including(json!({ "sectionTargeted": true, "sectionTarget": "Log" })),
                after: &[("Log.md", "# Log\n\n- one\n- two\n\n# Later\n- more")],
            },
            Example {
                says: "The id at the end of a block stays at its end",
                before: &[("List.md", "- item ^b1")],
                input: json!({ "target": "List.md", "content": "more\n" }),
                gives: ExampleResult::Including(json!({
                    "notice": "A blank line was added before the text so that `^b1` remains the id of its block.",
                })),
                after: &[("List.md", "- item ^b1\n\nmore\n")],
            },
            Example {
                says: "In the top folder, a name that another note has is probably that note",
                before: &[("Old/Log.md", "x\n")],
                input: json!({ "target": target, "content": "- one\n" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[("Old/Log.md", "x\n")],
            },
            Example {
                says: "Existing content is not added twice",
                before: NOTES,
                input: json!({ "target": target, "content": "- one", "section": log }),
                gives: ExampleResult::Refusal(ReasonKind::ContentPreexists),
                after: NOTES,
            },
        ]
    }
}

/// That other notes have the name of the new one.
fn same_name(others: &[VaultPath]) -> Option<String> {
    let others: Vec<String> = others.iter().map(|other| quoted_path(other).to_string()).collect();
    (!others.is_empty()).then(|| format!("There was no note at this path, but there is {}.", others.join(", ")))
}
