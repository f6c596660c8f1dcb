//! Lists skills.

use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice,
};
use serde_json::{Map, Value};

use crate::skills::{own_skill, vault_skills};

/// Our own skill, and the skills of all vaults.
pub struct ListSkills;

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "skills/list", recorded: true };

impl ReadOperation for ListSkills {
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
        let mut skills = vec![own_skill(context)];
        // One unavailable vault must not hide the skills of the others.
        for view in vaults.several().iter().filter_map(|opened| opened.view.as_ref().ok()) {
            skills.extend(vault_skills(context, view)?);
        }
        Ok(ReadPayload::Skills(skills))
    }
}
