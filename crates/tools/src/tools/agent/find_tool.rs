mod ranking;

use lapidary_operation::{
    AgentTool, Context, Declaration, Entry, Example, Family, Gives, Group, Kind, Needs, Prompt, Reason, Standing,
    quote::quoted,
};
use ranking::{Ranking, stems, wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) struct FindTool;

/// Find tools that are not listed for a task, in your own words; run them with `call_tool`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// E.g. `rename a heading`.
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
    /// Playbooks of the person for such tasks; read one as a note.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skills: Vec<Skill>,
    /// Whether `call_tool` is to be had.
    #[serde(skip)]
    relays: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Skill {
    /// As a prompt.
    name: String,
    /// As a note.
    path: String,
    /// Where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    vault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
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
    const NEEDS: Needs = Needs { log_lines: 0, playbooks: true };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, input: Input) -> Result<Output, Reason> {
        // Whoever asks has these two already.
        let others = context.catalogue.on().filter(|entry| !["find_tool", "call_tool"].contains(&entry.spec.name()));
        let ranked = Ranking::of(others).best(&input.query);
        let limit = input.limit.unwrap_or(SHOWN);
        let skills = skills(context, &input.query, limit);
        let total = ranked.len();
        let matches = ranked.into_iter().take(limit).map(|entry| found(entry, context.vaults)).collect();
        let relays = context.catalogue.on().any(|entry| entry.spec.name() == "call_tool");
        Ok(Output { matches, total, skills, relays })
    }

    fn text(&self, output: &Output) -> Option<String> {
        if output.matches.is_empty() && output.skills.is_empty() {
            return Some("No tool fits these words. Try others, or fewer.".to_owned());
        }
        let one = |found: &Found| {
            let how = match (found.listed, output.relays) {
                (true, _) => "call it directly",
                (false, true) => "run it with `call_tool`",
                (false, false) => "call it by this name, though it is not listed",
            };
            let example = found
                .example
                .as_ref()
                .map_or(String::new(), |example| format!("\nExample: `{}`", Value::Object(example.clone())));
            let schema = Value::Object(found.input_schema.clone());
            format!("### {} ({}, {how})\n{}\nInput: `{schema}`{example}", found.name, found.effect, found.description)
        };
        let shown: Vec<String> = output.matches.iter().map(one).collect();
        let mut text = format!("**{} of {} tools**\n\n{}", output.matches.len(), output.total, shown.join("\n\n"));
        if !output.skills.is_empty() {
            text += "\n\n**Playbooks** (notes; read one before you begin)";
            for Skill { path, vault, description, .. } in &output.skills {
                let place = vault.as_ref().map_or(String::new(), |vault| format!(" in the vault {}", quoted(vault)));
                let said = description.as_ref().map_or(String::new(), |text| format!(": {}", quoted(text)));
                text += &format!("\n- {}{place}{said}", quoted(path));
            }
        }
        Some(text)
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

/// The playbooks whose name or description has words of the wish, the most of them first.
fn skills(context: &Context<'_>, wish: &str, limit: usize) -> Vec<Skill> {
    let wanted = wanted(wish);
    let mut fitting: Vec<(usize, Skill)> = Vec::new();
    for prompt in context.playbooks {
        let described = prompt.description.as_deref().unwrap_or_default();
        let common = stems(&format!("{} {described}", prompt.title)).intersection(&wanted).count();
        if common > 0 {
            let Prompt { name, vault, path, description, .. } = prompt.clone();
            let vault = (context.vaults.len() > 1).then_some(vault);
            fitting.push((common, Skill { name, path: path.to_string(), vault, description }));
        }
    }
    fitting.sort_by_key(|(common, _)| std::cmp::Reverse(*common));
    fitting.into_iter().take(limit).map(|(_, skill)| skill).collect()
}

fn found(entry: &Entry, vaults: &[String]) -> Found {
    let worked = |example: Example| match (example.gives.last(), example.input) {
        (Gives::Output(_) | Gives::Including(_), Value::Object(mut arguments)) => {
            // An example that is refused for want of it would be none.
            let vault = vaults.first().filter(|_| vaults.len() > 1 && entry.spec.kind.needs_vault());
            arguments.extend(vault.map(|vault| ("vault".to_owned(), json!(vault))));
            Some(arguments)
        }
        _ => None,
    };
    Found {
        name: entry.spec.name(),
        description: entry.spec.description().to_owned(),
        group: entry.spec.declaration.group.name(),
        effect: entry.spec.effect.name(),
        listed: entry.standing == Standing::Listed,
        input_schema: entry.spec.input().clone(),
        example: entry.tool.examples().into_iter().find_map(worked),
    }
}
