//! Reads the owner's guides, for clients that connect.

use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, OwnerGuide, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice,
};
use lapidary_toolkit::owner_guide;
use serde_json::{Map, Value};

/// The start of each vault's guide, all of them within the bytes that the owner allows.
pub struct ReadGuides;

// Every connection makes it by itself, and the owner knows what a guide says.
const DECLARATION: OperationDeclaration = OperationDeclaration { name: "guides", recorded: false };

impl ReadOperation for ReadGuides {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::new()
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, visible: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::Several(visible.to_vec()))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let room = context.owner.guide_bytes;
        // The owner wants no guide to be sent to clients that connect.
        if room == 0 {
            return Ok(ReadPayload::Guides(Vec::new()));
        }
        // One unavailable vault, or a guide that is not text, must not hide the guides of the others.
        let views = vaults.several().iter().filter_map(|opened| opened.view.as_ref().ok());
        let found = |most: usize| -> Vec<OwnerGuide> {
            views.clone().filter_map(|view| owner_guide::find(context, view, most).ok().flatten()).collect()
        };
        let guides = found(room);
        context.check()?;
        // Read from what is known by now, with a fair share for each.
        Ok(ReadPayload::Guides(if guides.len() > 1 { found(room / guides.len()) } else { guides }))
    }
}

/// The whole guide of one vault, for its owner.
pub struct FindGuide {
    pub vault: Option<String>,
}

// Its owner reads it on the console.
const OF_ONE: OperationDeclaration = OperationDeclaration { name: "guide", recorded: false };

impl ReadOperation for FindGuide {
    fn declaration(&self) -> &'static OperationDeclaration {
        &OF_ONE
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::new()
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(self.vault.clone()))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        Ok(ReadPayload::Guides(owner_guide::find(context, vaults.one()?, usize::MAX)?.into_iter().collect()))
    }
}
