//! Lists what other MCP servers offer.

use std::cmp::Reverse;

use lapidary_note::counted;
use lapidary_operation::{
    AgentTool, Context, Declaration, Example, ExampleResult, KnownServer, Reason, ReasonKind, ServerRequests,
    ServerTool, ToolGroup, ToolOffer, WireFamily,
    fence::fenced,
    quote::{quoted, quoted_list, visible},
};
use lapidary_toolkit::{foreign_text::FOREIGN, query_text::check_length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{brief, fitting, servers};
use crate::tools::agent::find_tool::ranking::wanted;

pub(crate) struct McpTools;

/// List the other MCP servers that the owner configured, and their tools; run those with `mcp_call`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Only this server's tools.
    #[serde(default)]
    #[schemars(length(max = 100))]
    server: Option<String>,
    /// What the tool should do, in your own words.
    #[serde(default)]
    query: Option<String>,
    /// One tool of `server`, whole, with its arguments.
    #[serde(default)]
    #[schemars(length(max = 200))]
    tool: Option<String>,
    /// How many tools.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

fn limit() -> usize {
    20
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Without `server` and `query`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    servers: Vec<ConfiguredServer>,
    /// Text of strangers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ListedServerTool>,
    /// How many there are, if not all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// Tools that cannot be shown: too many, or of an odd name.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    /// Servers that did not answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unavailable: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<WholeServerTool>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize, JsonSchema)]
struct ConfiguredServer {
    name: String,
    /// In the owner's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    /// How many tools it has, if it was asked lately.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedServerTool {
    server: String,
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    /// By what the owner says.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_reads: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WholeServerTool {
    server: String,
    name: String,
    /// Text of strangers.
    description: String,
    /// The schema of its arguments, unless it is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_reads: bool,
    /// Whether a person is asked before each call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    needs_approval: bool,
}

impl AgentTool for McpTools {
    const DECLARATION: Declaration = Declaration {
        name: "mcp_tools",
        dotted: None,
        title: "Tools of other servers",
        family: WireFamily::Own,
        group: ToolGroup::Mcp,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[
            ReasonKind::ServerUnknown,
            ReasonKind::ServerToolUnknown,
            ReasonKind::ServerUnavailable,
            ReasonKind::ServerTimeout,
            ReasonKind::ServerFaulty,
        ],
        words: "other external mcp servers integrations connectors, which servers are connected, andere Server, autres serveurs, otros servidores, 其他服务器的工具, 他のサーバーのツール",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, input: Input) -> Result<Output, Reason> {
        let name = Self::DECLARATION.name;
        let access = servers(context, name)?;
        let Input { server, query, tool, limit } = input;
        if let Some(query) = &query {
            check_length(name, query)?;
        }
        match (server, tool, query) {
            (Some(server), Some(tool), _) => {
                let whole = access.tool(&server, &tool, context.cancel)?;
                Ok(Output { tool: Some(WholeServerTool::of(server, whole)), ..Output::default() })
            }
            (None, Some(_), _) => Err(Reason::bad_argument(name, "server", "is required with `tool`")),
            (Some(server), None, query) => {
                let offer = access.tools(&server, context.cancel)?;
                let offers = vec![(server, offer)];
                Ok(listed(&offers, query.as_deref(), limit))
            }
            // Which server has such a tool is not known, so all of them are asked.
            (None, None, Some(query)) => all(context, access, &query, limit),
            (None, None, None) => {
                let shown = |server: KnownServer| ConfiguredServer {
                    name: server.name,
                    about: server.about,
                    tools: server.offer.map(|offer| offer.tools.len()),
                };
                Ok(Output { servers: access.servers().into_iter().map(shown).collect(), ..Output::default() })
            }
        }
    }

    fn text(&self, output: &Output) -> Option<String> {
        if let Some(tool) = &output.tool {
            return Some(tool.text());
        }
        let mut text = match output.servers.is_empty() {
            false => {
                let line = |server: &ConfiguredServer| {
                    let about = server.about.as_ref().map_or(String::new(), |about| format!(": {}", quoted(about)));
                    let tools = server.tools.map_or(String::new(), |tools| format!(" ({})", counted(tools, "tool")));
                    format!("\n- {}{tools}{about}", quoted(&server.name))
                };
                let lines: String = output.servers.iter().map(line).collect();
                let servers = counted(output.servers.len(), "server");
                format!("{servers}; `server` or `query` lists their tools.{lines}")
            }
            true if output.tools.is_empty() => "No tool of another server fits.".to_owned(),
            true => {
                let line = |tool: &ListedServerTool| {
                    let reads = if tool.only_reads { " (only reads)" } else { "" };
                    let about = match tool.description.is_empty() {
                        true => String::new(),
                        false => format!(": {}", quoted(&tool.description)),
                    };
                    format!("\n- {}/{}{reads}{about}", tool.server, tool.name)
                };
                let lines: String = output.tools.iter().map(line).collect();
                let count = match output.total {
                    Some(total) => format!("{} of {total} tools, as SERVER/TOOL", output.tools.len()),
                    None => format!("{}, as SERVER/TOOL", counted(output.tools.len(), "tool")),
                };
                format!("{count}; `server` and `tool` show the arguments of one. {FOREIGN}{lines}")
            }
        };
        if output.left_out > 0 {
            text += &format!("\nNot shown, as they are too many or have odd names: {}.", output.left_out);
        }
        if !output.unavailable.is_empty() {
            text += &format!("\nDid not answer: {}.", quoted_list(&output.unavailable));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        let count = json!({ "server": "garden", "name": "plant_count", "description": "Counts plants in a bed.", "onlyReads": true });
        vec![
            Example {
                says: "Which servers are there?",
                before: &[],
                input: json!({}),
                gives: ExampleResult::Output(json!({
                    "servers": [{ "name": "garden", "about": "beds and plants", "tools": 2 }],
                }))
                .with_servers(),
                after: &[],
            },
            Example {
                says: "Tools for a task",
                before: &[],
                input: json!({ "query": "count the plants", "limit": 1 }),
                gives: ExampleResult::Including(json!({ "tools": [count] })).with_servers(),
                after: &[],
            },
            Example {
                says: "One of them, whole",
                before: &[],
                input: json!({ "server": "garden", "tool": "plant_count" }),
                gives: ExampleResult::Output(json!({ "tool": {
                    "server": "garden",
                    "name": "plant_count",
                    "description": "Counts plants in a bed.",
                    "inputSchema": {
                        "type": "object",
                        "properties": { "bed": { "type": "string" } },
                        "required": ["bed"],
                    },
                    "onlyReads": true,
                } }))
                .with_servers(),
                after: &[],
            },
            Example {
                says: "A server that is not configured",
                before: &[],
                input: json!({ "server": "kitchen" }),
                gives: ExampleResult::Refusal(ReasonKind::ServerUnknown).with_servers(),
                after: &[],
            },
            Example {
                says: "The owner has configured no server",
                before: &[],
                input: json!({}),
                gives: ExampleResult::Refusal(ReasonKind::ToolDisabled),
                after: &[],
            },
        ]
    }
}

/// Asks every server. One that does not answer does not keep the others from it.
fn all(context: &Context<'_>, access: &ServerRequests<'_>, query: &str, limit: usize) -> Result<Output, Reason> {
    let (mut offers, mut unavailable) = (Vec::new(), Vec::new());
    for KnownServer { name, .. } in access.servers() {
        match access.tools(&name, context.cancel) {
            Ok(offer) => offers.push((name, offer)),
            Err(Reason::ServerFailed { .. }) => unavailable.push(name),
            Err(reason) => return Err(reason),
        }
    }
    Ok(Output { unavailable, ..listed(&offers, Some(query), limit) })
}

fn listed(offers: &[(String, std::sync::Arc<ToolOffer>)], query: Option<&str>, limit: usize) -> Output {
    let wanted = query.map(wanted).unwrap_or_default();
    let mut found: Vec<(usize, &str, &ServerTool)> = Vec::new();
    for (server, offer) in offers {
        found.extend(fitting(&offer.tools, &wanted).into_iter().map(|(common, tool)| (common, server.as_str(), tool)));
    }
    // Stable, so that those of a server stay in its order.
    found.sort_by_key(|(common, ..)| Reverse(*common));
    let total = found.len();
    let line = |(_, server, tool): (usize, &str, &ServerTool)| ListedServerTool {
        server: server.to_owned(),
        name: tool.name.clone(),
        description: brief(&tool.description),
        only_reads: tool.standing.only_reads,
    };
    let tools: Vec<ListedServerTool> = found.into_iter().take(limit).map(line).collect();
    let left_out = offers.iter().map(|(_, offer)| offer.left_out).sum();
    Output { total: (total > tools.len()).then_some(total), tools, left_out, ..Output::default() }
}

impl WholeServerTool {
    fn of(server: String, tool: ServerTool) -> Self {
        let ServerTool { name, description, input, standing } = tool;
        Self {
            server,
            name,
            description: visible(&description).into_owned(),
            input_schema: input,
            only_reads: standing.only_reads,
            needs_approval: standing.is_asked,
        }
    }

    fn text(&self) -> String {
        let Self { server, name, description, input_schema, only_reads, needs_approval } = self;
        let schema = match input_schema {
            Some(schema) => visible(&Value::Object(schema.clone()).to_string()).into_owned(),
            None => "(The schema of its arguments is too large to be shown.)".to_owned(),
        };
        let reads = if *only_reads { " It only reads." } else { "" };
        let asks = if *needs_approval { " A person is asked before each call." } else { "" };
        format!(
            "**{server}/{name}**, run with `mcp_call`.{reads}{asks} {FOREIGN}\n{}",
            fenced(&format!("{description}\n{schema}"))
        )
    }
}
