//! Shows the log of calls.

use std::collections::BTreeSet;

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    ToolNeeds, WireFamily, quote::quoted,
};
use lapidary_toolkit::reading;
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) struct OperationLog;

/// What was done with this vault through the server, newest first: every call with its outcome.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Only calls that name this file or folder, or changed something there.
    #[serde(default)]
    path: Option<String>,
    /// Only calls of this tool.
    #[serde(default)]
    tool: Option<String>,
    /// Only calls that were refused or failed.
    #[serde(default)]
    only_failed: bool,
    /// How many.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 200))]
    limit: usize,
}

fn twenty() -> usize {
    20
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    calls: Vec<CallOutput>,
    /// There are older ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CallOutput {
    time: String,
    client: String,
    /// Or an event without a call, such as `late_save`.
    tool: String,
    /// `ok`, `changed`, `dry run`, `asked`, or the reason of a refusal.
    outcome: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// Undoes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
}

/// How far back it searches.
const LINES: usize = 20_000;

impl ReadTool for OperationLog {
    const DECLARATION: Declaration = Declaration {
        name: "operation_log",
        dotted: None,
        title: "Show what was done",
        family: WireFamily::Own,
        group: ToolGroup::Agent,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::List }],
        reasons: &[],
        words: "log history of calls, what did you do, who changed what and when, audit, errors, activity, what have we done in this session",
    };
    const NEEDS: ToolNeeds = ToolNeeds { log_lines: LINES, ..ToolNeeds::NONE };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let below = input.path.as_deref().map(reading::parse_path).transpose()?;
        // Tools also have a name with a dot, and the log has the other one.
        let tool = input.tool.as_ref().map(|tool| tool.replace('.', "_"));
        let mut calls = Vec::new();
        let mut truncated = false;
        // The log is written at its end, so the newest line is the last one.
        for line in context.log.iter().rev() {
            context.check()?;
            // A line that was cut off by a crash, or that the caller may not see, is not an error of this call.
            let Some((call, failed)) = read(view, line) else { continue };
            let there = |below: &VaultPath| {
                let is_below = |file: &String| file == below.as_str() || file.starts_with(&format!("{below}/"));
                call.files.iter().any(is_below)
            };
            let wanted = below.as_ref().is_none_or(there)
                && tool.as_ref().is_none_or(|tool| *tool == call.tool)
                && (failed || !input.only_failed);
            // Only one more that is wanted proves that there are older ones.
            if wanted && calls.len() == input.limit {
                truncated = true;
                break;
            }
            if wanted {
                calls.push(call);
            }
        }
        Ok(Output { calls, truncated })
    }

    fn text(&self, output: &Output) -> Option<String> {
        if output.calls.is_empty() {
            return Some("_The log has no such entries._".to_owned());
        }
        let mut text = String::new();
        for CallOutput { time, client, tool, outcome, files, checkpoint } in &output.calls {
            let files: Vec<String> = files.iter().map(|file| format!(" {}", quoted(file))).collect();
            let undo = checkpoint.as_ref().map_or(String::new(), |id| format!(", checkpoint {}", quoted(id)));
            let (client, tool) = (quoted(client), quoted(tool));
            text += &format!("- {time} {client} {tool}: {outcome}{}{undo}\n", files.join(","));
        }
        Some(text.trim_end().to_owned())
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "Nothing has been done yet",
                before: &[],
                input: json!({}),
                gives: ExampleResult::Output(json!({ "calls": [] })),
                after: &[],
            },
            Example {
                says: "A limit that is too high",
                before: &[],
                input: json!({ "limit": 1000 }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

/// A log line as far as this caller may see it, and whether the call failed. A line that names something the caller may
/// not read is omitted; how much a call saw or answered may reveal it too, so that is not shown either.
fn read(view: &View, line: &str) -> Option<(CallOutput, bool)> {
    let line: Value = serde_json::from_str(line).ok()?;
    let said = |key: &str| line[key].as_str().map(str::to_owned);
    let listed = |key: &str| line[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let mut files: Vec<String> = said("file").into_iter().chain(listed("files")).chain(listed("left")).collect();
    files.sort();
    files.dedup();
    // A value that is not a path was refused as such; only its sender knows what it was.
    let readable = |file: &String| VaultPath::parse(file).is_ok_and(|path| view.shows(&path));
    if !files.iter().all(readable) {
        return None;
    }
    let ok = line["ok"] == true;
    let outcome = match (ok, said("reason")) {
        (true, _) if line["dry_run"] == true => "dry run".to_owned(),
        (true, _) if line["checkpoint"].is_string() => "changed".to_owned(),
        (true, _) => "ok".to_owned(),
        (false, Some(reason)) => reason,
        (false, None) if line["asked"] == true => "asked".to_owned(),
        // An event such as a late save has no outcome.
        (false, None) => "happened".to_owned(),
    };
    // For a batch: the operations that failed.
    let refused: BTreeSet<&str> =
        line["refused"].as_array().into_iter().flatten().filter_map(|one| one["reason"].as_str()).collect();
    let outcome = match refused.is_empty() {
        true => outcome,
        false => format!("{outcome}, refused: {}", Vec::from_iter(refused.iter().copied()).join(", ")),
    };
    // A question that waits for its answer is neither a success nor a failure.
    let failed = (!ok && said("reason").is_some()) || !refused.is_empty();
    let tool = said("tool").or_else(|| said("event"))?;
    let client = said("client_id").unwrap_or_default();
    Some((CallOutput { time: said("ts")?, client, tool, outcome, files, checkpoint: said("checkpoint") }, failed))
}
