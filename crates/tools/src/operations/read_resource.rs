//! Reads a resource.

use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice, bug,
};
use serde_json::{Map, Value, json};

use crate::{
    ResourceUri, VaultResource,
    resources::{read_file, read_guide, read_tags, status},
    skills::{read_skill_file, single_view},
};

/// Reads the resource that a URI names.
pub struct ReadResource {
    pub uri: String,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "resources/read", recorded: true };

impl ReadOperation for ReadResource {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([("uri".to_owned(), json!(self.uri))])
    }

    fn files(&self) -> Vec<String> {
        file_of(&self.uri)
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(match ResourceUri::parse(&self.uri)?.resource {
            // The status says only whether the vaults can be used, so it is available whatever tools are on.
            VaultResource::Status => None,
            VaultResource::Tags => Some(ToolGroup::Vault),
            VaultResource::Guide | VaultResource::File(_) | VaultResource::Skill(_) => Some(ToolGroup::Read),
        })
    }

    fn vaults(&self, visible: &[String]) -> Result<VaultChoice, Reason> {
        let ResourceUri { resource, vault } = ResourceUri::parse(&self.uri)?;
        Ok(match resource {
            VaultResource::Status => VaultChoice::States,
            VaultResource::Skill(uri) => uri.vaults(visible)?,
            VaultResource::Tags | VaultResource::Guide | VaultResource::File(_) => VaultChoice::One(vault),
        })
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let contents = match (ResourceUri::parse(&self.uri)?.resource, vaults) {
            (VaultResource::Status, OpenedVaults::States(states)) => status(context, states)?,
            (VaultResource::Status, _) => return Err(bug!("the status was requested without the state of the vaults")),
            (VaultResource::Tags, vaults) => read_tags(context, vaults.one()?)?,
            (VaultResource::Guide, vaults) => read_guide(context, vaults.one()?)?,
            (VaultResource::Skill(uri), vaults) => read_skill_file(context, single_view(vaults), &uri)?,
            (VaultResource::File(path), vaults) => read_file(context, vaults.one()?, &path)?,
        };
        Ok(ReadPayload::Contents(contents))
    }
}

/// The path in a URI, if it has one.
pub(super) fn file_of(uri: &str) -> Vec<String> {
    match ResourceUri::parse(uri) {
        Ok(ResourceUri { resource: VaultResource::File(path), .. }) => vec![path.to_string()],
        _ => Vec::new(),
    }
}
