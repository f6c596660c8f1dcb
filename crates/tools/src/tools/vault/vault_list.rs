//! Lists the vaults.

use lapidary_operation::{
    AgentTool, Context, Declaration, Example, ExampleResult, Reason, ReasonKind, ToolGroup, WireFamily, quote::quoted,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct VaultList;

/// List the vaults that can be named as `vault`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Not needed: all vaults are listed.
    // Callers with several vaults had to send one, regardless of the schema.
    #[serde(default, rename = "vault")]
    _vault: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    vaults: Vec<VaultName>,
}

#[derive(Serialize, JsonSchema)]
struct VaultName {
    name: String,
}

impl AgentTool for VaultList {
    const DECLARATION: Declaration = Declaration {
        name: "vault_list",
        dotted: Some("vault.list"),
        title: "List the vaults",
        family: WireFamily::Files,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "which vaults are there, names of all vaults",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, _: Input) -> Result<Output, Reason> {
        Ok(Output { vaults: context.vaults.iter().map(|name| VaultName { name: name.clone() }).collect() })
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(output.vaults.iter().map(|vault| quoted(&vault.name).to_string()).collect::<Vec<_>>().join("\n"))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "Which vaults are there?",
                before: &[],
                input: json!({}),
                gives: ExampleResult::Output(json!({ "vaults": [{ "name": "test" }] })),
                after: &[],
            },
            Example {
                says: "There is nothing to choose from",
                before: &[],
                input: json!({ "path": "Projects" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}
