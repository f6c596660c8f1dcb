//! Gives the link that opens a note in the app.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRefusal, PathRole, ReadTool, Reason, ReasonKind,
    ToolGroup, WireFamily,
    quote::{quoted, quoted_path},
    uri::{AppAction, in_app},
};
use lapidary_toolkit::naming::{self, NamedFile};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct ObsidianOpenInUi;

/// The link that opens a note in the Obsidian app, for the user to click. The server is not connected to the app and
/// opens nothing itself.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path in the vault with its extension.
    #[schemars(length(min = 1))]
    path: String,
    /// Otherwise the link to a missing note creates it.
    #[serde(default = "yes")]
    fail_if_missing: bool,
    /// In a new tab.
    #[serde(default)]
    new_leaf: bool,
}

fn yes() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    /// The app was told to.
    opened: bool,
    created_if_missing: bool,
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl ReadTool for ObsidianOpenInUi {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_open_in_ui",
        dotted: None,
        title: "Obsidian Open In UI",
        family: WireFamily::Obsidian,
        group: ToolGroup::Skill,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::AmbiguousPath],
        words: "open show a note in the Obsidian app, show in Obsidian, obsidian:// link, URI",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        context.check()?;
        let (path, requested, missing) = match naming::find(context, view, &input.path) {
            Ok(NamedFile { path, requested, .. }) => (path, requested, false),
            // Clicking the link creates the note, so the caller must be allowed to.
            Err(Reason::NoteMissing { path, .. }) if !input.fail_if_missing => {
                view.may_write(&path).map_err(|denied| Reason::PathForbidden {
                    path: path.clone(),
                    writing: true,
                    denied: PathRefusal::ByScope(denied),
                })?;
                (path, None, true)
            }
            Err(Reason::NoteMissing { path, suggestions }) => {
                return Err(Reason::NothingToOpen { path, suggestions });
            }
            Err(reason) => return Err(reason),
        };
        // `open` does not create a missing note.
        let action = if missing { AppAction::Create } else { AppAction::Open };
        let pane = if input.new_leaf { "&paneType=tab" } else { "" };
        // The app knows the vault by its folder, whatever it is called here.
        let uri = format!("{}{pane}", in_app(action, &view.vault_in_obsidian(), &path));
        let notice = match &requested {
            Some(requested) => Some(format!("{} was found as {}.", quoted_path(requested), quoted_path(&path))),
            None => missing.then(|| "There is no such note; the link creates it.".to_owned()),
        };
        Ok(Output {
            path: path.to_string(),
            // The server never contacts the app; the field is part of the format that callers know.
            opened: false,
            created_if_missing: false,
            uri,
            requested_path: requested.map(|path| path.to_string()),
            notice,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(format!("**{}**\n{}\n*Opened:* {}", quoted(&output.path), quoted(&output.uri), output.opened))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Daily/To do.md", "x\n")];
        vec![
            Example {
                says: "A note in a new tab",
                before: NOTES,
                input: json!({ "path": "Daily/To do.md", "newLeaf": true }),
                gives: ExampleResult::Output(json!({
                    "path": "Daily/To do.md",
                    "opened": false,
                    "createdIfMissing": false,
                    "uri": "obsidian://open?vault=test&file=Daily%2FTo%20do.md&paneType=tab",
                })),
                after: NOTES,
            },
            Example {
                says: "A note that does not exist",
                before: NOTES,
                input: json!({ "path": "Daily/Done.md" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: NOTES,
            },
        ]
    }
}
