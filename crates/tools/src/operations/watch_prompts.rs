use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, PromptsSeen, ReadOperation, ReadPayload, Reason, ToolGroup,
    VaultChoice,
};
use serde_json::{Map, Value};

use super::list_prompts;
use crate::prompts::prompts_mark;

/// Whether the list of prompts is another than at the last look.
pub struct WatchPrompts {
    pub seen: PromptsSeen,
}

/// Not recorded, as nothing is told but that the list is another.
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
        if self.seen.mark == Some(mark) {
            return Ok(ReadPayload::PromptsWatched { seen: self.seen.clone(), changed: false });
        }
        let seen = PromptsSeen { mark: Some(mark), list: list_prompts::all(context, vaults) };
        // An edit of the text alone is no change of the list.
        let changed = self.seen.mark.is_some() && seen.list != self.seen.list;
        Ok(ReadPayload::PromptsWatched { seen, changed })
    }
}

/// What tells one state of all prompts from another, without reading them. A vault that is gone for a while has a state
/// of its own.
fn mark(context: &Context<'_>, vaults: &OpenedVaults) -> ContentHash {
    let mut marks = String::new();
    for opened in vaults.several() {
        let mark = opened.view.as_ref().map_err(Clone::clone).and_then(|view| prompts_mark(context, view));
        marks += &format!("{mark:?}");
    }
    ContentHash::of(marks.as_bytes())
}
