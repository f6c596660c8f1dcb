//! Checks the list of prompts for changes.

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, PromptsSeen, ReadOperation, ReadPayload, Reason, ToolGroup,
    VaultChoice,
};
use serde_json::{Map, Value};

use super::list_prompts;
use crate::prompts::prompts_mark;

/// Whether the list of prompts differs from the last check.
pub struct WatchPrompts {
    pub seen: PromptsSeen,
}

/// Not recorded, since it reveals only that the list changed.
const DECLARATION: OperationDeclaration = OperationDeclaration { name: "prompts/list_changed", recorded: false };

impl ReadOperation for WatchPrompts {
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
        let mark = mark(context, vaults);
        // Checked every second, so the usual case must read no note.
        if self.seen.mark == Some(mark) {
            return Ok(ReadPayload::PromptsWatched { seen: self.seen.clone(), changed: false });
        }
        let seen = PromptsSeen { mark: Some(mark), list: list_prompts::all(context, vaults) };
        // An edit of the text alone does not change the list.
        let changed = self.seen.mark.is_some() && seen.list != self.seen.list;
        Ok(ReadPayload::PromptsWatched { seen, changed })
    }
}

/// A fingerprint of all prompts that does not read them. A vault that is temporarily gone has its own state.
fn mark(context: &Context<'_>, vaults: &OpenedVaults) -> ContentHash {
    let mut marks = String::new();
    for opened in vaults.several() {
        let mark = opened.view.as_ref().map_err(Clone::clone).and_then(|view| prompts_mark(context, view));
        // An error is part of the fingerprint, so that a vault that comes back is noticed.
        marks += &format!("{mark:?}");
    }
    ContentHash::of(marks.as_bytes())
}
