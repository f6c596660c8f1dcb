//! The owner's settings, for a Lapidary that has the vault through this one.

use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, RestPayload, ToolGroup,
    VaultChoice,
};
use lapidary_toolkit::periodic;
use serde_json::{Map, Value};

/// The settings that tools follow: where periodic notes and templates are, and how links and tasks are written.
pub struct ShareSettings {
    pub vault: String,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "rest/settings", recorded: true };

impl ReadOperation for ShareSettings {
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
        let shared = view.shared_settings(periodic::are_shown(context, view));
        Ok(ReadPayload::Rest(RestPayload::Json(Value::Object(shared))))
    }
}
