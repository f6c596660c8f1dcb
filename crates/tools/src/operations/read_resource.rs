use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice, bug,
};
use serde_json::{Map, Value, json};

use crate::{
    Resource, ResourceUri,
    resources::{read_file, read_tags, status},
};

/// Reads what a URI stands for.
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
            Resource::Status => None,
            Resource::Tags => Some(ToolGroup::Vault),
            Resource::File(_) => Some(ToolGroup::Read),
        })
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        let ResourceUri { resource, vault } = ResourceUri::parse(&self.uri)?;
        Ok(match resource {
            Resource::Status => VaultChoice::States,
            Resource::Tags | Resource::File(_) => VaultChoice::One(vault),
        })
    }

    fn answer(&self, context: &Context<'_>, vaults: OpenedVaults) -> Result<ReadPayload, Reason> {
        let contents = match (ResourceUri::parse(&self.uri)?.resource, vaults) {
            (Resource::Status, OpenedVaults::States(states)) => status(&states)?,
            (Resource::Status, _) => return Err(bug!("the status is asked for without the state of the vaults")),
            (Resource::Tags, vaults) => read_tags(context, vaults.one()?)?,
            (Resource::File(path), vaults) => read_file(context, vaults.one()?, &path)?,
        };
        Ok(ReadPayload::Contents(contents))
    }
}

/// The path in a URI, if it has one.
pub(super) fn file_of(uri: &str) -> Vec<String> {
    match ResourceUri::parse(uri) {
        Ok(ResourceUri { resource: Resource::File(path), .. }) => vec![path.to_string()],
        _ => Vec::new(),
    }
}
