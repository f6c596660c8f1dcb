//! Subscribes to a file.

use lapidary_operation::{
    Context, FileSubscription, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup,
    VaultChoice,
};
use lapidary_vault::LastSeen;
use serde_json::{Map, Value, json};

use super::read_resource::file_of;
use crate::{ResourceUri, VaultResource};

/// Subscribes to a file. It need not exist yet, but the caller must be allowed to read it.
pub struct Subscribe {
    pub uri: String,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "resources/subscribe", recorded: true };

impl ReadOperation for Subscribe {
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
        match ResourceUri::parse(&self.uri)?.resource {
            VaultResource::File(_) => Ok(Some(ToolGroup::Read)),
            VaultResource::Tags | VaultResource::Guide | VaultResource::Status | VaultResource::Skill(_) => {
                Err(Reason::ResourceUnknown { uri: self.uri.clone() })
            }
        }
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(ResourceUri::parse(&self.uri)?.vault))
    }

    fn answer(&self, _: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let ResourceUri { resource: VaultResource::File(path), .. } = ResourceUri::parse(&self.uri)? else {
            return Err(Reason::ResourceUnknown { uri: self.uri.clone() });
        };
        let view = vaults.one()?;
        // Asked about the path, not the file: whether a closed file exists must not be revealed.
        view.may_read(&path).map_err(|denied| Reason::closed(path.clone(), denied))?;
        let mut sight = LastSeen::new(path);
        // Remembers the present state, so that only later changes are news.
        view.has_changed(&mut sight);
        Ok(ReadPayload::Subscribed(FileSubscription { uri: self.uri.clone(), vault: view.vault().to_owned(), sight }))
    }
}
