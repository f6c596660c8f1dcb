//! Completes prompt arguments.

use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice,
};
use serde_json::{Map, Value, json};

use super::fill_prompt::vault_of;
use crate::prompts::complete_prompt;

/// Completes an argument of a prompt.
pub struct CompletePrompt {
    pub prompt: String,
    pub argument: String,
    pub typed: String,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "completion/complete", recorded: true };

impl ReadOperation for CompletePrompt {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([(self.argument.clone(), json!(self.typed))])
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Vault))
    }

    fn vaults(&self, visible: &[String]) -> Result<VaultChoice, Reason> {
        vault_of(&self.prompt, visible)
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let completed = complete_prompt(context, vaults.one()?, &self.prompt, &self.argument, &self.typed)?;
        Ok(ReadPayload::Completed(completed))
    }
}
