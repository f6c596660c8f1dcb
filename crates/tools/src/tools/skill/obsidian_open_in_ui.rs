//! Opens a note in the app, or gives the link that does.

use lapidary_operation::{
    ActionPlan, ActionTool, AppAction, AppFault, Context, Declaration, Effect, Example, ExampleResult, PathArgument,
    PathRefusal, PathRole, Reason, ReasonKind, ToolGroup, WireFamily,
    quote::{quoted, quoted_path},
    uri::{LinkAction, in_app},
};
use lapidary_toolkit::naming::{self, NamedFile};
use lapidary_vault::{Change, ChangeSet, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct ObsidianOpenInUi;

/// Open a note in the user's Obsidian app. If the app does not answer, the reply has a link for the user to click.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path in the vault with its extension.
    #[schemars(length(min = 1))]
    path: String,
    /// Otherwise a missing note is created.
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
    opened: bool,
    created_if_missing: bool,
    /// The link, if nothing was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Why there is only a link.
const UNREACHED: &str = "Obsidian does not answer, so nothing was opened: give the user the link.";
const NO_PLUGIN: &str = "Obsidian cannot be reached, because its plugin Local REST API is not set up or off, so nothing was opened: give the \
                         user the link.";
const NO_APP_THERE: &str =
    "The server that has this vault runs without Obsidian, so nothing was opened: give the user the link.";
const UNOPENED: &str = "Obsidian did not confirm that it opened the note: ask the user, or give them the link.";

impl ActionTool for ObsidianOpenInUi {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_open_in_ui",
        dotted: None,
        title: "Obsidian Open In UI",
        family: WireFamily::Obsidian,
        group: ToolGroup::Skill,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "open show a note in the Obsidian app, show in Obsidian, obsidian:// link, URI",
    };
    const EFFECT: Effect = Effect::Read;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ActionPlan<Output>, Reason> {
        context.check()?;
        let (path, requested, missing) = match naming::find(context, view, &input.path) {
            Ok(NamedFile { path, requested, .. }) => (path, requested, false),
            // The app would create it, and so does a click on the link.
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
        // A note is only made for an app that shows it.
        let has_app = !missing || context.app.is_some_and(|app| app.status(context.cancel.left()).is_ok());
        let changes = match missing && has_app {
            true => vec![Change::Create { path: path.clone(), content: Vec::new().into() }],
            false => Vec::new(),
        };
        // `open` does not create a missing note.
        let is_link = missing && !has_app;
        let action = if is_link { LinkAction::Create } else { LinkAction::Open };
        let pane = if input.new_leaf { "&paneType=tab" } else { "" };
        // The app knows the vault by its folder, whatever it is called here.
        let uri = format!("{}{pane}", in_app(action, &view.vault_in_obsidian(), &path));
        let notice = match &requested {
            Some(requested) => Some(format!("{} was found as {}.", quoted_path(requested), quoted_path(&path))),
            None => is_link.then(|| format!("{UNREACHED} There is no such note; the link creates it.")),
        };
        let output = Output {
            path: path.to_string(),
            opened: false,
            created_if_missing: missing && has_app,
            uri: Some(uri),
            requested_path: requested.map(|path| path.to_string()),
            notice,
        };
        let open = AppAction::Open { path, new_leaf: input.new_leaf };
        Ok(ActionPlan { changes: ChangeSet { changes }, action: has_app.then_some(open), output })
    }

    fn finish(&self, output: &mut Output, acted: Option<Result<(), AppFault>>) -> Result<(), Reason> {
        match acted {
            Some(Ok(())) => {
                output.opened = true;
                output.uri = None;
            }
            // The link is the next step, whatever was wrong.
            Some(Err(fault)) => {
                let unopened = match fault {
                    AppFault::SwitchedOff | AppFault::Unreachable => UNREACHED,
                    AppFault::NotSetUp | AppFault::PluginOff | AppFault::PluginUnready | AppFault::KeyMissing => {
                        NO_PLUGIN
                    }
                    AppFault::NoAppThere => NO_APP_THERE,
                    // After any other fault, the app may have opened it.
                    _ => UNOPENED,
                };
                let known = output.notice.take().map_or(String::new(), |notice| format!("{notice} "));
                output.notice = Some(format!("{known}{unopened}"));
            }
            None => {}
        }
        Ok(())
    }

    fn text(&self, output: &Output) -> Option<String> {
        let path = quoted(&output.path);
        Some(match &output.uri {
            Some(uri) => format!("**{path}**\n{}\n*Opened:* {}", quoted(uri), output.opened),
            None => format!(
                "**Opened {path}**\n*Opened:* {}\n*Created if missing:* {}",
                output.opened, output.created_if_missing
            ),
        })
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
                    "opened": true,
                    "createdIfMissing": false,
                }))
                .with_app(),
                after: NOTES,
            },
            Example {
                says: "The same where Obsidian has no plugin to be reached by",
                before: NOTES,
                input: json!({ "path": "Daily/To do.md", "newLeaf": true }),
                gives: ExampleResult::Output(json!({
                    "path": "Daily/To do.md",
                    "opened": false,
                    "createdIfMissing": false,
                    "uri": "obsidian://open?vault=test&file=Daily%2FTo%20do.md&paneType=tab",
                    "notice": NO_PLUGIN,
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
