//! Runs another tool by name.

use lapidary_operation::{
    Declaration, Example, ExampleResult, ReasonKind, RelayTool, RelayedCall, ToolGroup, WireFamily,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) struct CallTool;

/// Run a tool that is not listed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// E.g. `file_read`.
    #[schemars(length(min = 1))]
    name: String,
    /// That tool's arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
}

impl RelayTool for CallTool {
    const DECLARATION: Declaration = Declaration {
        name: "call_tool",
        dotted: None,
        title: "Run a tool by name",
        family: WireFamily::Own,
        group: ToolGroup::Agent,
        listed: true,
        idempotent: false,
        paths: &[],
        reasons: &[ReasonKind::ToolUnknown],
        words: "run call another tool by name",
    };
    type Input = Input;

    fn relay(&self, input: Input) -> RelayedCall {
        RelayedCall { tool: input.name, arguments: input.arguments }
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "Read a file with a tool that is not listed",
                before: &[("a.txt", "hello\n")],
                input: json!({ "name": "file_read", "arguments": { "file": "a.txt" } }),
                gives: ExampleResult::Including(json!({ "content": "hello\n" })),
                after: &[],
            },
            Example {
                says: "A tool that does not exist",
                before: &[],
                input: json!({ "name": "file_raed", "arguments": {} }),
                gives: ExampleResult::Refusal(ReasonKind::ToolUnknown),
                after: &[],
            },
        ]
    }
}
