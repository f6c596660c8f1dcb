//! Checks subscribed files for changes.

use std::collections::BTreeSet;

use lapidary_operation::{
    Context, FileSubscription, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup,
    VaultChoice,
};
use serde_json::{Map, Value};

/// Whether the files that the caller subscribed to have changed for it. An unavailable or closed vault has no news.
pub struct CheckSubscriptions {
    pub subscriptions: Vec<FileSubscription>,
}

/// Not recorded, since it reveals only that there is news.
const DECLARATION: OperationDeclaration = OperationDeclaration { name: "resources/updated", recorded: false };

impl ReadOperation for CheckSubscriptions {
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
        let followed: BTreeSet<&String> = self.subscriptions.iter().map(|subscription| &subscription.vault).collect();
        // Only vaults that are followed: opening another one just to find no news would cost a scan.
        Ok(VaultChoice::Several(visible.iter().filter(|name| followed.contains(name)).cloned().collect()))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        let mut checked = Vec::new();
        for mut subscription in self.subscriptions.iter().cloned() {
            context.check()?;
            let opened = vaults.several().iter().find(|opened| opened.name == subscription.vault);
            // A vault that is unavailable keeps its subscription, which is checked again the next time.
            let view = opened.and_then(|opened| opened.view.as_ref().ok());
            let changed = view.is_some_and(|view| view.has_changed(&mut subscription.sight));
            checked.push((subscription, changed));
        }
        Ok(ReadPayload::Checked(checked))
    }
}
