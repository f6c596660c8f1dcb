//! Lists the commands of the Obsidian app.

use lapidary_note::counted;
use lapidary_operation::{
    AppCommand, AppFault, AppNeed, Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind,
    ToolGroup, WireFamily, quote::quoted,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::names::NameRegex;
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct ObsidianListCommands;

/// List the commands of the Obsidian app's palette, which has to be running.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Only commands whose name this matches.
    #[serde(default)]
    name_regex: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    commands: Vec<ListedCommand>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_filters: Option<CommandFilters>,
}

#[derive(Serialize, JsonSchema)]
struct ListedCommand {
    id: String,
    name: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CommandFilters {
    name_regex: String,
}

/// The commands of the app, or why they are not known.
pub(super) fn commands(context: &Context<'_>, need: AppNeed) -> Result<Vec<AppCommand>, Reason> {
    context.check()?;
    let asked = context.app.map_or(Err(AppFault::NotSetUp), |app| app.commands(context.cancel.left()));
    asked.map_err(|fault| Reason::AppUnavailable { fault, need })
}

impl ReadTool for ObsidianListCommands {
    const DECLARATION: Declaration = Declaration {
        name: "obsidian_list_commands",
        dotted: None,
        title: "Obsidian List Commands",
        family: WireFamily::Obsidian,
        group: ToolGroup::Skill,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[ReasonKind::RegexInvalid, ReasonKind::RegexUnsafe],
        words: "commands of the Obsidian app, command palette, plugin commands, ids, needs Obsidian running",
    };
    const IS_COMMAND: bool = true;
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/nameRegex", TextLanguage::Pattern)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, _: &View, input: Input) -> Result<Output, Reason> {
        let regex = input.name_regex.as_deref().map(|given| NameRegex::guarded("nameRegex", given)).transpose()?;
        let mut found = Vec::new();
        for AppCommand { id, name } in commands(context, AppNeed::ListCommands)? {
            context.check()?;
            if regex.as_ref().map_or(Ok(true), |regex| regex.matches(&name))? {
                found.push(ListedCommand { id, name });
            }
        }
        let applied_filters = input.name_regex.map(|name_regex| CommandFilters { name_regex });
        Ok(Output { commands: found, applied_filters })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let regex = output.applied_filters.as_ref().map(|filters| quoted(&filters.name_regex));
        if output.commands.is_empty() {
            let matching = regex.map_or(String::new(), |regex| format!(" matching {regex}"));
            return Some(format!("_No commands available{matching}._"));
        }
        let regex = regex.map_or(String::new(), |regex| format!(" · nameRegex={regex}"));
        let line = |command: &ListedCommand| format!("\n- {} — {}", quoted(&command.id), quoted(&command.name));
        let lines: String = output.commands.iter().map(line).collect();
        Some(format!("**{}**{regex}\n{lines}", counted(output.commands.len(), "command")))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "The commands about tabs",
                before: &[],
                input: json!({ "nameRegex": "tab" }),
                gives: ExampleResult::Output(json!({
                    "commands": [{ "id": "workspace:close", "name": "Close current tab" }],
                    "appliedFilters": { "nameRegex": "tab" },
                }))
                .with_app(),
                after: &[],
            },
            Example {
                says: "Obsidian does not run",
                before: &[],
                input: json!({}),
                gives: ExampleResult::Refusal(ReasonKind::ObsidianUnreachable),
                after: &[],
            },
        ]
    }
}
