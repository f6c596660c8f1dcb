//! Runs a command of the Obsidian app.

use lapidary_operation::{
    ActionPlan, ActionTool, AppAction, AppCommand, AppFault, AppNeed, Context, Declaration, Effect, Example,
    ExampleResult, Reason, ReasonKind, ToolGroup, WireFamily, clipped, quote::quoted,
};
use lapidary_query::nearest_several;
use lapidary_vault::{ChangeSet, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::obsidian_list_commands::commands;

pub(crate) struct ObsidianExecuteCommand;

/// Run a command of the Obsidian app's palette, which has to be running. It acts on whatever is open there and cannot be
/// undone here.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// From `obsidian_list_commands`.
    #[schemars(length(min = 1))]
    command_id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    command_id: String,
    executed: bool,
}

/// Names in a hint.
const MOST_NEAREST: usize = 3;

/// The command with this id; an unknown one is refused with the nearest by id or name.
pub(super) fn known_command(context: &Context<'_>, id: &str) -> Result<AppCommand, Reason> {
    let commands = commands(context, AppNeed::RunCommand)?;
    if let Some(known) = commands.iter().find(|command| command.id == id) {
        return Ok(known.clone());
    }
    // Models know commands by their names.
    let by_name = commands.iter().filter(|command| command.name.eq_ignore_ascii_case(id)).map(|it| it.id.as_str());
    let by_id = nearest_several(id, commands.iter().map(|command| command.id.as_str()), MOST_NEAREST);
    let mut nearest: Vec<String> = Vec::new();
    for near in by_name.chain(by_id) {
        if nearest.len() < MOST_NEAREST && !nearest.iter().any(|known| known == near) {
            nearest.push(near.to_owned());
        }
    }
    Err(Reason::CommandUnknown { command: clipped(id), nearest })
}

impl ActionTool for ObsidianExecuteCommand {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_execute_command",
        dotted: None,
        title: "Obsidian Execute Command",
        family: WireFamily::Obsidian,
        group: ToolGroup::Skill,
        listed: false,
        idempotent: false,
        paths: &[],
        reasons: &[ReasonKind::CommandUnknown],
        words: "run execute a command of the Obsidian app, command palette, plugin command, needs Obsidian running",
    };
    const EFFECT: Effect = Effect::Destroy;
    const IS_COMMAND: bool = true;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, _: &View, input: Input) -> Result<ActionPlan<Output>, Reason> {
        // Its name is what the owner is asked about.
        let command = known_command(context, &input.command_id)?;
        let output = Output { command_id: command.id.clone(), executed: false };
        Ok(ActionPlan { changes: ChangeSet::default(), action: Some(AppAction::RunCommand(command)), output })
    }

    fn finish(&self, output: &mut Output, acted: Option<Result<(), AppFault>>) -> Result<(), Reason> {
        match acted {
            // It was in the list a moment ago.
            Some(Err(AppFault::NotOffered)) => {
                Err(Reason::CommandUnknown { command: output.command_id.clone(), nearest: Vec::new() })
            }
            Some(Err(fault)) => Err(Reason::AppUnavailable { fault, need: AppNeed::RunCommand }),
            Some(Ok(())) => {
                output.executed = true;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(format!("**Executed {}** (executed: {})", quoted(&output.command_id), output.executed))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "Close the tab in front",
                before: &[],
                input: json!({ "commandId": "workspace:close" }),
                gives: ExampleResult::Output(json!({ "commandId": "workspace:close", "executed": true })).with_app(),
                after: &[],
            },
            Example {
                says: "A command that Obsidian does not have",
                before: &[],
                input: json!({ "commandId": "workspace:cloze" }),
                gives: ExampleResult::Refusal(ReasonKind::CommandUnknown).with_app(),
                after: &[],
            },
            Example {
                says: "Obsidian does not run",
                before: &[],
                input: json!({ "commandId": "workspace:close" }),
                gives: ExampleResult::Refusal(ReasonKind::ObsidianUnreachable),
                after: &[],
            },
        ]
    }
}
