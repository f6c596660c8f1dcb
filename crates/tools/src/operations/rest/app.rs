//! What the REST API does through the Obsidian app, where there is one: the open note, and the tools for opening and commands,
//! whatever tools the owner has chosen for models.

use lapidary_operation::{
    ActionPlan, ActionTool, AppFault, AppNeed, Context, Declaration, Effect, Example, OpenedVaults,
    OperationDeclaration, ReadOperation, ReadPayload, ReadTool, Reason, RestOpenNote, RestPayload, ToolGroup,
    VaultChoice,
};
use lapidary_vault::{VaultPath, View};
use serde_json::{Map, Value};

use crate::tools::skill::{obsidian_execute_command, obsidian_list_commands, obsidian_open_in_ui};

/// Which note is open in the app.
pub struct FindOpenNote {
    pub vault: String,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "rest/active", recorded: true };

impl ReadOperation for FindOpenNote {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::new()
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(Some(self.vault.clone())))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        context.check()?;
        let view = vaults.one()?;
        // With the time that is left to the call.
        let found = match context.app.map(|app| app.active_note(context.cancel.left())) {
            // One that the caller may not read is not open for it.
            Some(Ok(path)) => {
                let path = path.and_then(|path| VaultPath::parse(&path).ok());
                // `stamp` asks the view, so a note that is closed to the caller has none.
                path.filter(|path| view.stamp(path).is_some()).map_or(RestOpenNote::Nothing, RestOpenNote::Note)
            }
            // Another note than the open one must not be taken for it.
            Some(Err(fault)) if !fault.is_absence() => {
                return Err(Reason::AppUnavailable { fault, need: AppNeed::ActiveNote });
            }
            Some(Err(_)) | None => RestOpenNote::Unknown,
        };
        Ok(ReadPayload::Rest(RestPayload::OpenNote(found)))
    }
}

pub(crate) struct RestOpen;

impl ActionTool for RestOpen {
    const DECLARATION: Declaration = Declaration {
        name: "rest/open",
        dotted: None,
        title: "REST: open a note",
        listed: false,
        ..obsidian_open_in_ui::ObsidianOpenInUi::DECLARATION
    };
    const EFFECT: Effect = obsidian_open_in_ui::ObsidianOpenInUi::EFFECT;
    type Input = obsidian_open_in_ui::Input;
    type Output = obsidian_open_in_ui::Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Self::Input) -> Result<ActionPlan<Self::Output>, Reason> {
        // The same plan as the tool for models, so both are judged alike.
        obsidian_open_in_ui::ObsidianOpenInUi.plan(context, view, input)
    }

    fn finish(&self, output: &mut Self::Output, acted: Option<Result<(), AppFault>>) -> Result<(), Reason> {
        obsidian_open_in_ui::ObsidianOpenInUi.finish(output, acted)
    }

    fn examples(&self) -> Vec<Example> {
        Vec::new()
    }
}

pub(crate) struct RestCommands;

impl ReadTool for RestCommands {
    const DECLARATION: Declaration = Declaration {
        name: "rest/commands",
        dotted: None,
        title: "REST: list the commands",
        listed: false,
        ..obsidian_list_commands::ObsidianListCommands::DECLARATION
    };
    const IS_COMMAND: bool = true;
    type Input = obsidian_list_commands::Input;
    type Output = obsidian_list_commands::Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Self::Input) -> Result<Self::Output, Reason> {
        obsidian_list_commands::ObsidianListCommands.run(context, view, input)
    }

    fn examples(&self) -> Vec<Example> {
        Vec::new()
    }
}

pub(crate) struct RestCommand;

impl ActionTool for RestCommand {
    const DECLARATION: Declaration = Declaration {
        name: "rest/command",
        dotted: None,
        title: "REST: run a command",
        listed: false,
        ..obsidian_execute_command::ObsidianExecuteCommand::DECLARATION
    };
    const EFFECT: Effect = obsidian_execute_command::ObsidianExecuteCommand::EFFECT;
    const IS_COMMAND: bool = true;
    type Input = obsidian_execute_command::Input;
    type Output = obsidian_execute_command::Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Self::Input) -> Result<ActionPlan<Self::Output>, Reason> {
        obsidian_execute_command::ObsidianExecuteCommand.plan(context, view, input)
    }

    fn finish(&self, output: &mut Self::Output, acted: Option<Result<(), AppFault>>) -> Result<(), Reason> {
        obsidian_execute_command::ObsidianExecuteCommand.finish(output, acted)
    }

    fn examples(&self) -> Vec<Example> {
        Vec::new()
    }
}
