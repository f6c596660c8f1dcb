//! Creates a file.

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, NameWanted, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, bug,
};
use lapidary_toolkit::{
    file_edit::{EditTarget, FileInput, FileMade},
    reading,
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(crate) struct FileCreate;

/// Create a text file with any missing folders. An existing file is never touched.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    /// The whole text.
    content: String,
}

impl WriteTool for FileCreate {
    const DECLARATION: Declaration = Declaration {
        name: "file_create",
        dotted: Some("file.create"),
        title: "Create a file",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[ReasonKind::FileExists, ReasonKind::StalePrecondition],
        words: "make file of any kind, txt csv canvas",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = FileMade;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<FileMade>, Reason> {
        let path = reading::parse_path(&input.file.file)?;
        // Before the expected hash is compared: an existing file is refused as such, whatever hash was sent.
        if let Some(there) = reading::read_if_there(view, &path)? {
            return Err(Reason::DestinationExists { path, current: there.hash(), wanted: NameWanted::New });
        }
        match EditTarget::begin(Self::DECLARATION.name, context, view, input.file)? {
            EditTarget::Nothing(creating) => Ok(creating.plan(input.content, FileMade::created)),
            // A view does not change.
            EditTarget::File(_) => Err(bug!("a file appeared in a view that does not change")),
        }
    }

    fn text(&self, output: &FileMade) -> Option<String> {
        Some(output.text("created"))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "A note in a new folder",
                before: &[],
                input: json!({ "file": "Inbox/Idea.md", "content": "# Idea\n" }),
                gives: ExampleResult::Output(json!({
                    "file": "Inbox/Idea.md",
                    "created": true,
                    "changed": true,
                    "contentHash": ContentHash::of(b"# Idea\n").to_string(),
                    "totalLines": 1,
                    "sizeBefore": 0,
                    "sizeAfter": 7,
                    "dry_run": false,
                })),
                after: &[("Inbox/Idea.md", "# Idea\n")],
            },
            Example {
                says: "An existing file is kept",
                before: &[("a.md", "old\n")],
                input: json!({ "file": "a.md", "content": "new\n" }),
                gives: ExampleResult::Refusal(ReasonKind::FileExists),
                after: &[("a.md", "old\n")],
            },
        ]
    }
}
