//! Creates a note where the app would, from a template.

use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::{
    file_edit::{EditTarget, FileInput, FileMade},
    naming,
    note_template::NoteTemplate,
    reading, template,
};
use lapidary_vault::{NewNotePlace, VaultPath, View};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(crate) struct NoteCreate;

/// Make a note from a template or a text. Without a folder it goes where the vault's settings put it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Name or path; `.md` is implied.
    name: String,
    /// Name or path of a template, filled in as Obsidian does.
    #[serde(default)]
    template: Option<String>,
    /// The text, behind that of the template.
    #[serde(default)]
    content: Option<String>,
    /// The note that it belongs to, for a vault that puts new notes next to the open one.
    #[serde(default)]
    beside: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

impl WriteTool for NoteCreate {
    const DECLARATION: Declaration = Declaration {
        name: "note_create",
        dotted: None,
        title: "Note from a template",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[
            // A name without a folder is judged by where it goes.
            PathArgument { pointer: "/name", role: PathRole::Write },
            PathArgument { pointer: "/template", role: PathRole::Read },
            PathArgument { pointer: "/beside", role: PathRole::Read },
        ],
        reasons: &[ReasonKind::FileExists, ReasonKind::NoteMissing],
        words: "from a template, default folder, template",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = FileMade;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<FileMade>, Reason> {
        let tool = Self::DECLARATION.name;
        let path = path(context, view, &input)?;
        let filled = match &input.template {
            // The title is that of the new note, which the template does not know.
            Some(name) => Some(NoteTemplate::find(context, view, name)?.filled(context, naming::title(&path))),
            None => None,
        };
        let has_commands = filled.as_ref().is_some_and(|filled| filled.has_commands);
        let mut text = filled.map_or_else(String::new, |filled| filled.text);
        if let Some(content) = &input.content {
            // The text begins on its own line.
            text += if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            text += content;
        }
        let file = FileInput { file: path.to_string(), expected_content_hash: None, dry_run: input.dry_run };
        // An existing note is an error here: a template must never overwrite one.
        match EditTarget::begin(tool, context, view, file)? {
            EditTarget::File(existing) => {
                let current = existing.document().map(|document| document.content().hash());
                Err(Reason::FileExists { path, current: current? })
            }
            EditTarget::Nothing(creation) => Ok(creation.plan(text, |written| FileMade {
                written,
                created: true,
                notice: has_commands.then(|| template::COMMANDS_LEFT.to_owned()),
            })),
        }
    }

    fn text(&self, output: &FileMade) -> Option<String> {
        Some(output.text("created"))
    }

    fn examples(&self) -> Vec<Example> {
        const APP: (&str, &str) = (".obsidian/app.json", r#"{"newFileLocation":"folder","newFileFolderPath":"Inbox"}"#);
        const SETTINGS: (&str, &str) = (".obsidian/templates.json", r#"{"folder":"Templates"}"#);
        const BOOK: (&str, &str) = ("Templates/Book.md", "# {{title}}\n");
        const NOTES: &[(&str, &str)] = &[APP, SETTINGS, BOOK];
        vec![
            Example {
                says: "A name goes into the folder for new notes",
                before: NOTES,
                input: json!({ "name": "The Wall", "template": "Book", "content": "By Ilse Weber.\n" }),
                gives: ExampleResult::Including(json!({ "file": "Inbox/The Wall.md", "created": true })),
                after: &[APP, SETTINGS, BOOK, ("Inbox/The Wall.md", "# The Wall\nBy Ilse Weber.\n")],
            },
            Example {
                says: "A path stays where it is",
                before: NOTES,
                input: json!({ "name": "Books/The Wall.md" }),
                gives: ExampleResult::Including(json!({ "file": "Books/The Wall.md", "created": true })),
                after: &[APP, SETTINGS, BOOK, ("Books/The Wall.md", "")],
            },
            Example {
                says: "A note that exists is not replaced",
                before: &[("a.md", "x\n")],
                input: json!({ "name": "a" }),
                gives: ExampleResult::Refusal(ReasonKind::FileExists),
                after: &[("a.md", "x\n")],
            },
        ]
    }
}

/// Where the note goes.
fn path(context: &Context<'_>, view: &View, input: &Input) -> Result<VaultPath, Reason> {
    let given = input.name.trim();
    if given.is_empty() || given.ends_with(['/', '\\']) {
        return Err(Reason::bad_argument(NoteCreate::DECLARATION.name, "name", "must name a note"));
    }
    let name = if given.to_lowercase().ends_with(".md") { given.to_owned() } else { format!("{given}.md") };
    let path = reading::parse_path(&name)?;
    // A path says where the note goes; only a bare name is placed by the settings of the vault.
    if path.folder().is_some() {
        return Ok(path);
    }
    let beside = input.beside.as_deref().map(|note| naming::find(context, view, note)).transpose()?;
    let folder = match (view.new_note_place(), beside) {
        (NewNotePlace::BesideNote, Some(note)) => note.path.folder().map(|folder| folder.to_string()),
        (NewNotePlace::Folder(folder), _) => Some(folder),
        // Without a note to be beside, the setting has no meaning, and the root is the app's answer.
        (NewNotePlace::Root | NewNotePlace::BesideNote, _) => None,
    };
    match folder.filter(|folder| !folder.is_empty()) {
        Some(folder) => reading::parse_path(&format!("{folder}/{path}")),
        None => Ok(path),
    }
}
