//! Describes one skill.

use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice,
};
use serde_json::{Map, Value, json};

use crate::{
    SkillUri,
    skills::{find_skill, single_view},
};

/// The skill whose `SKILL.md` a URI names.
pub struct FindSkill {
    pub uri: String,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "skills/get", recorded: true };

impl ReadOperation for FindSkill {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([("uri".to_owned(), json!(self.uri))])
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Vault))
    }

    fn vaults(&self, visible: &[String]) -> Result<VaultChoice, Reason> {
        SkillUri::parse(&self.uri)?.vaults(visible)
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let skill = find_skill(context, single_view(vaults), &SkillUri::parse(&self.uri)?)?;
        Ok(ReadPayload::Skills(vec![skill]))
    }
}
