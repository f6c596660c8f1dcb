use std::collections::BTreeSet;

use lapidary_query::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    Context, Declaration, Effect, Entry, Example, Family, Gives, Group, Kind, Reason, Standing, spec::AgentTool,
};

pub(crate) struct FindTool;

/// Find a tool for a task, in your own words. Answers with full input schemas and an example each; run what is not
/// listed with `call_tool`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What you want to do, e.g. `rename a heading`.
    #[schemars(length(min = 1))]
    query: String,
    /// How many tools to show; 3 by default.
    #[serde(default)]
    #[schemars(range(min = 1, max = 20))]
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    matches: Vec<Found>,
    total: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Found {
    name: &'static str,
    description: String,
    group: &'static str,
    effect: &'static str,
    listed: bool,
    input_schema: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<Map<String, Value>>,
}

const SHOWN: usize = 3;

impl AgentTool for FindTool {
    const DECLARATION: Declaration = Declaration {
        name: "find_tool",
        dotted: None,
        title: "Find a tool",
        family: Family::Own,
        group: Group::Agent,
        listed: true,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "find search discover list tools, how do I, what can you do",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, input: Input) -> Result<Output, Reason> {
        let mut ranked: Vec<(u32, &Entry)> = context
            .catalogue
            .on()
            .filter(|entry| entry.spec.declaration.group != Group::Agent)
            .map(|entry| (score(entry, &input.query), entry))
            .filter(|(score, _)| *score > 0)
            .collect();
        // The sort is stable: equals stay in the order of the list.
        ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let total = ranked.len();
        let matches = ranked.into_iter().take(input.limit.unwrap_or(SHOWN)).map(|(_, entry)| found(entry)).collect();
        Ok(Output { matches, total })
    }

    fn text(&self, output: &Output) -> Option<String> {
        if output.matches.is_empty() {
            return Some("No tool fits these words. Try others, or fewer.".to_owned());
        }
        let one = |found: &Found| {
            let how = if found.listed { "call it directly" } else { "run it with `call_tool`" };
            let example = found
                .example
                .as_ref()
                .map_or(String::new(), |example| format!("\nExample: `{}`", Value::Object(example.clone())));
            let schema = Value::Object(found.input_schema.clone());
            format!("### {} ({}, {how})\n{}\nInput: `{schema}`{example}", found.name, found.effect, found.description)
        };
        let shown: Vec<String> = output.matches.iter().map(one).collect();
        Some(format!("**{} of {} tools**\n\n{}", output.matches.len(), output.total, shown.join("\n\n")))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "What reads a whole file?",
                before: &[],
                input: json!({ "query": "file_read", "limit": 1 }),
                gives: Gives::Including(json!({ "matches": [{
                    "name": "file_read",
                    "effect": "read",
                    "listed": false,
                    "example": { "file": "Plan.md" },
                }] })),
                after: &[],
            },
            Example {
                says: "Nothing fits",
                before: &[],
                input: json!({ "query": "zzz" }),
                gives: Gives::Output(json!({ "matches": [], "total": 0 })),
                after: &[],
            },
            Example {
                says: "An empty question",
                before: &[],
                input: json!({ "query": "" }),
                gives: Gives::Refusal(Kind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

fn found(entry: &Entry) -> Found {
    let worked = |example: Example| match (example.gives.last(), example.input) {
        (Gives::Output(_) | Gives::Including(_), Value::Object(arguments)) => Some(arguments),
        _ => None,
    };
    Found {
        name: entry.spec.name(),
        description: entry.spec.description.clone(),
        group: entry.spec.declaration.group.name(),
        effect: entry.spec.effect.name(),
        listed: entry.standing == Standing::Listed,
        input_schema: entry.spec.input.clone(),
        example: entry.tool.examples().into_iter().find_map(worked),
    }
}

/// The exact name counts most, then words of the name, of the title, of what people say, and of the description.
fn score(entry: &Entry, query: &str) -> u32 {
    let spec = &entry.spec;
    let wanted: BTreeSet<String> = words(query).into_iter().collect();
    let common = |text: &str| {
        let there: BTreeSet<String> = words(text).into_iter().collect();
        u32::try_from(wanted.intersection(&there).count()).unwrap_or_default()
    };
    let exact = if words(query) == words(spec.name()) { 1000 } else { 0 };
    let arguments: String =
        spec.input["properties"].as_object().into_iter().flatten().map(|(name, _)| format!("{name} ")).collect();
    let harmless = u32::from(spec.effect == Effect::Read);
    let text = 30 * common(spec.name())
        + 15 * common(spec.declaration.title)
        + 10 * common(spec.declaration.words)
        + 3 * common(&spec.description)
        + common(&arguments);
    // Between equals, the one that changes nothing comes first.
    if exact + text > 0 { exact + 2 * text + harmless } else { 0 }
}
