//! Calls a tool of another MCP server.

use lapidary_operation::{
    CallResult, ContentBlock, Context, Declaration, Effect, Example, ExampleResult, ForwardTool, NamedCall, Reason,
    ReasonKind, ServerCall, ServerReply, ServerTool, ToolGroup, WireFamily, fence::fenced, quote::visible,
};
use lapidary_toolkit::{foreign_schema, foreign_text::FOREIGN};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::servers;

pub(crate) struct McpCall;

/// Call a tool of another MCP server; `mcp_tools` shows its arguments. It cannot be undone here.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Its name, from `mcp_tools`.
    #[schemars(length(min = 1, max = 100))]
    server: String,
    /// The name of its tool.
    #[schemars(length(min = 1, max = 200))]
    tool: String,
    /// For that tool.
    #[serde(default)]
    arguments: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    server: String,
    tool: String,
    /// The tool says that it failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
    /// Text of strangers, and so is `structured`.
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<Value>,
    /// Bytes of text that are missing at its end.
    #[serde(skip_serializing_if = "is_zero")]
    cut_bytes: usize,
    /// Parts that were too large or of an unknown kind.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl ForwardTool for McpCall {
    const DECLARATION: Declaration = Declaration {
        name: "mcp_call",
        dotted: None,
        title: "Call another server",
        family: WireFamily::Own,
        group: ToolGroup::Mcp,
        listed: false,
        idempotent: false,
        paths: &[],
        reasons: &[
            ReasonKind::ServerUnknown,
            ReasonKind::ServerToolUnknown,
            ReasonKind::ServerUnavailable,
            ReasonKind::ServerTimeout,
            ReasonKind::ServerFaulty,
        ],
        words: "call another external mcp server integration connector, anderen Server aufrufen, appeler un outil d'un autre serveur, llamar a otro servidor, 调用其他服务器的工具, 他のサーバーを呼び出す",
    };
    const EFFECT: Effect = Effect::Destroy;
    type Input = Input;
    type Output = Output;

    fn named(&self, Input { server, tool, arguments }: Input) -> NamedCall {
        NamedCall { server, tool, arguments }
    }

    fn call(&self, context: &Context<'_>, named: NamedCall) -> Result<ServerCall, Reason> {
        let name = Self::DECLARATION.name;
        let NamedCall { server, tool, arguments } = named;
        let ServerTool { input, standing, .. } = servers(context, name)?.tool(&server, &tool, context.cancel)?;
        // Before a person is asked to approve a call that the other server would only refuse.
        let mut problems = input.map(|schema| foreign_schema::problems(&schema, &arguments)).unwrap_or_default();
        for problem in &mut problems {
            problem.at =
                if problem.at.is_empty() { "arguments".to_owned() } else { format!("arguments.{}", problem.at) };
        }
        match problems.is_empty() {
            true => Ok(ServerCall { server, tool, arguments, standing }),
            false => Err(Reason::ServerArguments { server, tool, problems }),
        }
    }

    fn finish(&self, call: &ServerCall, result: &CallResult) -> Result<Output, Reason> {
        let reply = result.as_ref().map_err(|failed| failed.clone().into_reason(&call.server))?;
        let ServerReply { text, structured, has_failed, cut, left_out, .. } = reply;
        // Servers repeat what is structured as text, for older clients. Once is enough.
        let is_repeated = structured.as_ref().is_some_and(|structured| repeats(text, structured));
        Ok(Output {
            server: call.server.clone(),
            tool: call.tool.clone(),
            failed: *has_failed,
            text: if is_repeated { String::new() } else { visible(text).into_owned() },
            structured: structured.clone(),
            cut_bytes: *cut,
            left_out: *left_out,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { server, tool, failed, text, structured, cut_bytes, left_out } = output;
        // Values that no text has: many clients show a model nothing but the text of an answer.
        let values = structured.as_ref().map(|structured| visible(&structured.to_string()).into_owned());
        let said = [Some(text).filter(|text| !text.is_empty()), values.as_ref()];
        let said = said.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n\n");
        let ended = if *failed { "reports that it failed" } else { "answered" };
        let mut shown = match said.is_empty() {
            true => format!("{server}/{tool} {ended}, without text."),
            false => format!("{server}/{tool} {ended}. {FOREIGN}\n{}", fenced(&said)),
        };
        if *cut_bytes > 0 {
            shown += &format!("\nCut: {cut_bytes} more bytes. Ask for less.");
        }
        if *left_out > 0 {
            shown += &format!("\nLeft out, as they are too large or of an unknown kind: {left_out}.");
        }
        Some(shown)
    }

    fn blocks(&self, result: &CallResult) -> Vec<ContentBlock> {
        result.as_ref().map(|reply| reply.blocks.clone()).unwrap_or_default()
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "A tool that the owner says only reads",
                before: &[],
                input: json!({ "server": "garden", "tool": "plant_count", "arguments": { "bed": "north" } }),
                gives: ExampleResult::Output(json!({
                    "server": "garden", "tool": "plant_count", "text": "12 plants in north.",
                }))
                .with_servers(),
                after: &[],
            },
            Example {
                says: "Arguments that do not fit the tool's schema",
                before: &[],
                input: json!({ "server": "garden", "tool": "plant_count", "arguments": { "bed": 7 } }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments).with_servers(),
                after: &[],
            },
            Example {
                says: "A tool that the server does not have",
                before: &[],
                input: json!({ "server": "garden", "tool": "plant_cuont" }),
                gives: ExampleResult::Refusal(ReasonKind::ServerToolUnknown).with_servers(),
                after: &[],
            },
            Example {
                says: "A tool that may change something, and no user can be asked",
                before: &[],
                input: json!({ "server": "garden", "tool": "plant_add", "arguments": { "bed": "north" } }),
                gives: ExampleResult::Refusal(ReasonKind::ApprovalUnavailable).with_servers(),
                after: &[],
            },
        ]
    }
}

/// Whether a text is only the JSON of a value.
fn repeats(text: &str, structured: &Value) -> bool {
    let is_json = text.trim_start().starts_with(['{', '[']);
    text.is_empty() || (is_json && serde_json::from_str::<Value>(text).is_ok_and(|value| value == *structured))
}
