//! Fills in a prompt.

use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, ToolGroup, VaultChoice, clipped,
};
use serde_json::{Map, Value};

use crate::prompts::fill_prompt;

/// The text of a prompt with its arguments filled in.
pub struct FillPrompt {
    pub name: String,
    pub arguments: Map<String, Value>,
}

const DECLARATION: OperationDeclaration = OperationDeclaration { name: "prompts/get", recorded: true };

impl ReadOperation for FillPrompt {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DECLARATION
    }

    fn arguments(&self) -> Map<String, Value> {
        self.arguments.clone()
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, visible: &[String]) -> Result<VaultChoice, Reason> {
        vault_of(&self.name, visible)
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        fill_prompt(context, vaults.one()?, &self.name, &self.arguments).map(ReadPayload::FilledPrompt)
    }
}

/// The vault whose name is the prefix of a prompt's name.
pub(super) fn vault_of(prompt: &str, visible: &[String]) -> Result<VaultChoice, Reason> {
    let is_of = |vault: &&String| prompt.strip_prefix(vault.as_str()).is_some_and(|rest| rest.starts_with('/'));
    // A vault's name may contain `/`, so one may be the beginning of another: the longest is meant.
    match visible.iter().filter(is_of).max_by_key(|vault| vault.len()) {
        Some(vault) => Ok(VaultChoice::One(Some(vault.clone()))),
        None => Err(Reason::PromptUnknown { name: clipped(prompt), nearest: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_of_an_existing_vault_counts() {
        let names: Vec<String> = ["a", "a/b", "c"].map(str::to_owned).to_vec();
        for (prompt, visible, vault) in [
            ("a/x", &names[..], Some("a")),
            ("a/b/x", &names, Some("a/b")),
            ("a/b/x", &names[..1], Some("a")),
            ("c/x", &names[..2], None),
            ("c", &names, None),
        ] {
            let found = vault_of(prompt, visible);
            let expected = vault.map(|vault| VaultChoice::One(Some(vault.to_owned())));
            assert_eq!(found.ok(), expected, "{prompt}");
        }
    }
}
