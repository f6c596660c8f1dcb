//! Exports the history of a vault.

use lapidary_operation::{
    CheckpointHistory, Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup,
    VaultChoice,
};
use lapidary_vault::ChangeSet;
use serde_json::{Map, Value, json};

/// All checkpoints of a vault, for keeping them elsewhere.
pub struct ExportCheckpoints {
    pub vault: Option<String>,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "checkpoints/export", recorded: true };

impl ReadOperation for ExportCheckpoints {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([("vault".to_owned(), json!(self.vault))])
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(self.vault.clone()))
    }

    fn answer(&self, _: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let view = vaults.one()?;
        let page = view.checkpoints(None, None, usize::MAX);
        let mut checkpoints = page.map_err(|_| Reason::no_state())?.checkpoints;
        // The ledger lists the newest first; an export is read from the beginning.
        checkpoints.reverse();
        // The view is borrowed here; with no changes on top, it is the same vault.
        Ok(ReadPayload::History(Box::new(CheckpointHistory { checkpoints, view: view.with(&ChangeSet::default()) })))
    }
}
