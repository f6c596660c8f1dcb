//! Lists prompts.

use lapidary_operation::{
    Context, ListedPrompt, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup,
    VaultChoice,
};
use serde_json::{Map, Value};

use crate::prompts::prompts;

/// The prompts of all vaults.
pub struct ListPrompts;

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "prompts/list", recorded: true };

impl ReadOperation for ListPrompts {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::new()
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Vault))
    }

    fn vaults(&self, visible: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::Several(visible.to_vec()))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        Ok(ReadPayload::Prompts(all(context, vaults)))
    }
}

/// A vault that cannot be read has none; the others are still listed.
pub(super) fn all(context: &Context<'_>, vaults: &OpenedVaults) -> Vec<ListedPrompt> {
    // One unavailable vault must not hide the prompts of the others.
    let views = vaults.several().iter().filter_map(|opened| opened.view.as_ref().ok());
    views.flat_map(|view| prompts(context, view).unwrap_or_default()).collect()
}
