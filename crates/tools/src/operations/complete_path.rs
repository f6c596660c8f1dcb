//! Completes file paths.

use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice,
};
use serde_json::{Map, Value, json};

use crate::resources::complete_path;

/// Completes the path of a file.
pub struct CompletePath {
    pub typed: String,
    pub vault: Option<String>,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "completion/complete", recorded: true };

impl ReadOperation for CompletePath {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([("path".to_owned(), json!(self.typed)), ("vault".to_owned(), json!(self.vault))])
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Vault))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(self.vault.clone()))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        complete_path(context, vaults.one()?, &self.typed).map(ReadPayload::Completed)
    }
}
