//! Inserts a template into a note.

use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::{
    file_edit::{FileEdit, FileInput, FileWritten},
    naming,
    note_template::{self, NoteTemplate, TemplatePlace},
    template,
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct TemplateApply;

/// Insert a template into a note, as Obsidian does: `{{title}}`, `{{date}}`, `{{time}}` and `{{date:FORMAT}}` are filled in, and its
/// properties are merged: lists are joined, values of the note stay.
///
/// Templater commands are left as they are.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// Name or path of the template.
    template: String,
    /// Where its text goes: behind the properties, or at the end.
    #[serde(default)]
    at: InsertionPlace,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum InsertionPlace {
    Start,
    #[default]
    End,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    /// The path of the template.
    template: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
}

impl WriteTool for TemplateApply {
    const DECLARATION: Declaration = Declaration {
        name: "template_apply",
        dotted: None,
        title: "Insert a template",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[
            PathArgument { pointer: "/file", role: PathRole::Write },
            PathArgument { pointer: "/template", role: PathRole::Read },
        ],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::StalePrecondition,
            ReasonKind::FrontmatterInvalid,
            ReasonKind::EditRefused,
        ],
        words: "insert a template into a note, apply template, merge properties of a template",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        let template = NoteTemplate::find(context, view, &input.template)?;
        // `{{title}}` is the title of the note, not of the template.
        let filled = template.filled(context, naming::title(editing.path()));
        let place = match input.at {
            InsertionPlace::Start => TemplatePlace::Start,
            InsertionPlace::End => TemplatePlace::End,
        };
        let document = note_template::inserted(&editing.document()?, &filled.text, place);
        let document = document.map_err(|error| editing.refusal(error))?;
        let notice = filled.has_commands.then_some(template::COMMANDS_LEFT);
        let template = template.path.to_string();
        Ok(editing.plan(&document, |written| Output { written, template, notice }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(output.written.text("template inserted"))
    }

    fn examples(&self) -> Vec<Example> {
        const SETTINGS: (&str, &str) = (".obsidian/templates.json", r#"{"folder":"Templates"}"#);
        const BOOK: (&str, &str) =
            ("Templates/Book.md", "---\nkind: book\ntags: [reading]\n---\n# {{title}}\nFrom {{date}}\n");
        const NOTE: &str = "---\ntags: [slate]\n---\nA thought.\n";
        const NOTES: &[(&str, &str)] = &[SETTINGS, BOOK, ("The Wall.md", NOTE)];
        vec![
            Example {
                says: "Text at the end, properties merged",
                before: NOTES,
                input: json!({ "file": "The Wall.md", "template": "Book" }),
                gives: ExampleResult::Including(json!({ "changed": true, "template": "Templates/Book.md" })),
                after: &[
                    SETTINGS,
                    BOOK,
                    (
                        "The Wall.md",
                        "---\ntags: [slate, reading]\nkind: book\n---\nA thought.\n# The Wall\nFrom 2026-04-15\n",
                    ),
                ],
            },
            Example {
                says: "A template that does not exist",
                before: NOTES,
                input: json!({ "file": "The Wall.md", "template": "Boook" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: NOTES,
            },
        ]
    }
}
