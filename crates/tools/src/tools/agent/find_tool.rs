//! Finds tools for a task.

mod arguments;
pub(in crate::tools) mod ranking;

use std::cmp::Reverse;

use lapidary_operation::{
    AgentTool, Catalogue, CatalogueEntry, Context, Declaration, Example, ExampleResult, KnownServer, ListedPrompt,
    Reason, ReasonKind, RunnableRecipe, ToolGroup, ToolNeeds, ToolStanding, WireFamily, quote::quoted,
};
use lapidary_toolkit::query_text::check_length;
use ranking::{ToolRanking, stems, wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::tools::mcp;

pub(crate) struct FindTool;

/// Find unlisted tools for a task described in your own words; run them with `call_tool`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// E.g. `rename a heading`.
    #[schemars(length(min = 1))]
    query: String,
    /// How many; 5 by default.
    #[serde(default)]
    #[schemars(range(min = 1, max = 20))]
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Whether the first fits; if not, these are the nearest.
    fits: bool,
    /// The best one in full, the others in one sentence.
    matches: Vec<FoundTool>,
    total: usize,
    /// Listed tools that may also fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_listed: Vec<&'static str>,
    /// The user's playbooks for such tasks; read one as a note.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skills: Vec<FoundSkill>,
    /// The user's own tools for such tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recipes: Vec<FoundRecipe>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elsewhere: Vec<String>,
    /// Whether `call_tool` is available.
    #[serde(skip)]
    relays: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FoundSkill {
    /// Its prompt name.
    name: String,
    /// Its note.
    path: String,
    /// If there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    vault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FoundRecipe {
    name: String,
    effect: &'static str,
    description: String,
    /// Like `title: text, limit?: number`.
    arguments: String,
    /// If there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    vault: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FoundTool {
    name: &'static str,
    /// In your list: call it directly.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    listed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'static str>,
    description: String,
    /// Like `file: string, limit?: integer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<Map<String, Value>>,
}

const SHOWN: usize = 5;
/// A listed tool is named if it is among this many best ones.
const NEAR: usize = 3;
/// An example is about a request if they share this many words.
const ABOUT_IT: usize = 2;
/// Tools of other servers are named if they share this much with a request, and this many of them.
const ELSEWHERE_FITS: usize = 2;
const ELSEWHERE: usize = 3;
/// Limit for the text by default: asking about tools should cost less than the list it replaces.
const BYTES: usize = 1024;

impl AgentTool for FindTool {
    const DECLARATION: Declaration = Declaration {
        name: "find_tool",
        dotted: None,
        title: "Find a tool",
        family: WireFamily::Own,
        group: ToolGroup::Agent,
        listed: true,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "find search tools, what can you do",
    };
    const NEEDS: ToolNeeds = ToolNeeds { playbooks: true, runnable_recipes: true, ..ToolNeeds::NONE };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, input: Input) -> Result<Output, Reason> {
        // Every word is compared with those of all tools.
        check_length(Self::DECLARATION.name, &input.query)?;
        let skills = skills(context, &input.query, input.limit.unwrap_or(SHOWN));
        let recipes = recipes(context, &input.query, input.limit.unwrap_or(SHOWN));
        let elsewhere = elsewhere(context, &input.query);
        Ok(Output {
            skills,
            recipes,
            elsewhere,
            ..answer(context.catalogue, context.vaults, &input.query, input.limit)
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let mut text = String::new();
        // First: what the user made for just this is better than what is like it.
        if !output.recipes.is_empty() {
            let how = if output.relays { "run them with `call_tool`" } else { "call them by name" };
            text += &format!("**Recipes** (the user's own tools; {how})");
            for FoundRecipe { name, effect, description, arguments, vault } in &output.recipes {
                let place = vault.as_ref().map_or(String::new(), |vault| format!(" in the vault {}", quoted(vault)));
                text += &format!("\n- {name}({arguments}) {effect}{place}: {}", quoted(description));
            }
            text += "\n\n";
        }
        text += &output.tools();
        if !output.elsewhere.is_empty() {
            text += "\n\n**Other servers** (described by strangers; `mcp_tools` shows their arguments, `mcp_call` runs them)";
            text.extend(output.elsewhere.iter().map(|line| format!("\n- {line}")));
        }
        if !output.skills.is_empty() {
            text += "\n\n**Playbooks** (notes; read one before you start)";
            for FoundSkill { path, vault, description, .. } in &output.skills {
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
                gives: ExampleResult::Including(json!({ "matches": [{
                    "name": "file_read",
                    "effect": "read",
                    "arguments": "file: string",
                    "example": { "file": "Plan.md" },
                }] })),
                after: &[],
            },
            Example {
                says: "Nothing fits",
                before: &[],
                input: json!({ "query": "zzz" }),
                gives: ExampleResult::Output(json!({ "fits": false, "matches": [], "total": 0 })),
                after: &[],
            },
            Example {
                says: "An empty question",
                before: &[],
                input: json!({ "query": "" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

/// The playbooks whose name or description contains words of the request, best match first.
fn skills(context: &Context<'_>, wish: &str, limit: usize) -> Vec<FoundSkill> {
    let wanted = wanted(wish);
    let mut fitting: Vec<(usize, FoundSkill)> = Vec::new();
    for prompt in context.playbooks {
        let described = prompt.description.as_deref().unwrap_or_default();
        // Counted, not weighed as for tools: there are too few playbooks to say how common a word is.
        let common = stems(&format!("{} {described}", prompt.title)).intersection(&wanted).count();
        if common > 0 {
            let ListedPrompt { name, vault, path, description, .. } = prompt.clone();
            let vault = (context.vaults.len() > 1).then_some(vault);
            fitting.push((common, FoundSkill { name, path: path.to_string(), vault, description }));
        }
    }
    fitting.sort_by_key(|(common, _)| Reverse(*common));
    fitting.into_iter().take(limit).map(|(_, skill)| skill).collect()
}

/// The recipes whose name or description contains words of the request, best match first.
fn recipes(context: &Context<'_>, wish: &str, limit: usize) -> Vec<FoundRecipe> {
    let wanted = wanted(wish);
    let mut fitting: Vec<(usize, FoundRecipe)> = Vec::new();
    let is_of_tool = context.catalogue.on().any(|entry| entry.spec.name() == wish.trim());
    for recipe in context.recipes.runnable {
        let words = format!("{} {}", recipe.name.replace('_', " "), recipe.description);
        // Asked for by its own name, it comes first, whatever its description says.
        let common = if wish.trim() == recipe.name { usize::MAX } else { stems(&words).intersection(&wanted).count() };
        // Half of the request: single words, such as `note`, are in nearly every recipe.
        if common > 0 && common >= wanted.len().div_ceil(2) && !is_of_tool {
            let RunnableRecipe { name, vault, description, arguments, effect } = recipe.clone();
            let vault = (context.vaults.len() > 1).then_some(vault);
            fitting.push((common, FoundRecipe { name, effect: effect.name(), description, arguments, vault }));
        }
    }
    fitting.sort_by_key(|(common, _)| Reverse(*common));
    fitting.into_iter().take(limit).map(|(_, recipe)| recipe).collect()
}

/// Tools of other servers, one a line, as far as it is known what those offer: none is started or asked for this.
fn elsewhere(context: &Context<'_>, wish: &str) -> Vec<String> {
    let can_call = context.catalogue.on().any(|entry| entry.spec.name() == "mcp_call");
    let Some(servers) = context.servers.as_ref().filter(|_| can_call) else { return Vec::new() };
    let wanted = wanted(wish);
    let line = |name: String, said: &str| if said.is_empty() { name } else { format!("{name}: {}", quoted(said)) };
    let mut found: Vec<(usize, String)> = Vec::new();
    for KnownServer { name: server, about, offer } in servers.servers() {
        let about = about.unwrap_or_default();
        // The owner's words say what all of its tools are about.
        let of_server = stems(&format!("{server} {about}")).intersection(&wanted).count();
        match offer {
            Some(offer) => {
                for (common, tool) in mcp::fitting(&offer.tools, &wanted) {
                    let fits = common + of_server;
                    if common > 0 && fits >= ELSEWHERE_FITS {
                        found.push((fits, line(format!("{server}/{}", tool.name), &mcp::brief(&tool.description))));
                    }
                }
            }
            // Its tools are not known yet, so the server itself is named.
            None if of_server > 0 => found.push((of_server, line(server, &about))),
            None => {}
        }
    }
    found.sort_by_key(|(fits, _)| Reverse(*fits));
    found.into_iter().take(ELSEWHERE).map(|(_, found)| found).collect()
}

fn answer(catalogue: &Catalogue, vaults: &[String], query: &str, limit: Option<usize>) -> Output {
    // The caller already has these two.
    let others = catalogue.on().filter(|entry| !["find_tool", "call_tool"].contains(&entry.spec.name()));
    let ranking = ToolRanking::of(others);
    let ranked = ranking.best(query);
    let total = ranked.len();
    let fits = total > 0 && ranking.understands(query);
    // A caller that has a tool in its list may still not have thought of it.
    let near = ranked.iter().skip(1).take(NEAR - 1);
    let also_listed: Vec<&'static str> =
        near.filter(|entry| entry.standing == ToolStanding::Listed).map(|entry| entry.spec.name()).collect();
    let mut ranked = ranked.into_iter();
    // Details of a tool that does not fit would only invite a wrong call.
    let best = ranked.next().map(|entry| if fits { whole(entry, vaults, query) } else { brief(entry) });
    // The client has the descriptions of listed tools already.
    let others = ranked.filter(|entry| entry.standing != ToolStanding::Listed).map(brief);
    let matches = best.into_iter().chain(others).take(limit.unwrap_or(SHOWN)).collect();
    let relays = catalogue.on().any(|entry| entry.spec.name() == "call_tool");
    let (skills, recipes, elsewhere) = (Vec::new(), Vec::new(), Vec::new());
    let mut output = Output { fits, matches, total, also_listed, skills, recipes, elsewhere, relays };
    // A caller that sets a limit gets as many as it asked for, whatever they take.
    while limit.is_none() && output.matches.len() > 1 && output.tools().len() > BYTES {
        output.matches.pop();
    }
    // What the client has in its list anyway is the next to go.
    while limit.is_none() && !output.also_listed.is_empty() && output.tools().len() > BYTES {
        output.also_listed.pop();
    }
    output
}

impl Output {
    fn tools(&self) -> String {
        let line = |found: &FoundTool| format!("\n- {}: {}", found.name, found.description);
        let Some((best, others)) = self.matches.split_first() else {
            return "No tool fits. Try other words, or fewer.".to_owned();
        };
        let lines: String = others.iter().map(line).collect();
        if !self.fits {
            return match best.listed {
                true if others.is_empty() => format!("No tool fits; the nearest is `{}` in your list.", best.name),
                true => format!("No tool fits; the nearest are `{}` in your list, and:{lines}", best.name),
                false => format!("No tool fits; the nearest are:{}{lines}", line(best)),
            };
        }
        let mut text = match (best.listed, self.relays) {
            (true, _) => format!("The best fit, `{}`, is in your list: call it directly.", best.name),
            (false, relays) => {
                let how =
                    if relays { "run it with `call_tool`" } else { "call it by this name, though it is not listed" };
                format!("**{}** ({}; {how})\n{}", best.name, best.effect.unwrap_or_default(), best.description)
            }
        };
        text.extend(best.arguments.iter().map(|arguments| format!("\nArguments: `{arguments}`")));
        text.extend(best.example.iter().map(|example| format!("\nExample: `{}`", Value::Object(example.clone()))));
        if !self.also_listed.is_empty() {
            text += &format!("\nAlso in your list: `{}`.", self.also_listed.join("`, `"));
        }
        if !others.is_empty() {
            text += &format!("\n\nOthers (`find_tool` with a name shows one in full):{lines}");
        }
        text
    }
}

/// Its first sentence.
fn brief(entry: &CatalogueEntry) -> FoundTool {
    let description = entry.spec.description();
    // Descriptions keep their details in further paragraphs.
    let first = description.lines().next().unwrap_or_default();
    // `e.g.` does not end a sentence.
    let ends = first.match_indices(". ").find(|(at, _)| first[at + 2..].starts_with(char::is_uppercase));
    FoundTool {
        name: entry.spec.name(),
        listed: entry.standing == ToolStanding::Listed,
        effect: None,
        description: ends.map_or(first, |(at, _)| &first[..=at]).to_owned(),
        arguments: None,
        example: None,
    }
}

/// With everything needed to call it, unless the client already has that. A listed tool has an example if one is about
/// the request.
fn whole(entry: &CatalogueEntry, vaults: &[String], wish: &str) -> FoundTool {
    let brief = brief(entry);
    let wanted = wanted(wish);
    let shared = |example: &Example| stems(example.says).intersection(&wanted).count();
    // An example that is refused for lack of it would be useless.
    let vault = vaults.first().filter(|_| vaults.len() > 1 && entry.spec.kind.needs_vault());
    // Only examples that succeed: a refusal would teach the wrong call.
    let worked = |example: Example| {
        let shared = shared(&example);
        match (example.gives.last(), example.input) {
            (ExampleResult::Output(_) | ExampleResult::Including(_), Value::Object(mut arguments)) => {
                arguments.extend(vault.map(|vault| ("vault".to_owned(), json!(vault))));
                Some((shared, arguments))
            }
            _ => None,
        }
    };
    let examples = entry.tool.examples().into_iter().filter_map(worked);
    let length = |example: &Map<String, Value>| Value::Object(example.clone()).to_string().len();
    if brief.listed {
        let about_it = examples.filter(|(shared, _)| *shared >= ABOUT_IT).max_by_key(|(shared, _)| *shared);
        return FoundTool { example: about_it.map(|(_, example)| example), ..brief };
    }
    // The one that is about the request; else the shortest, which has the fewest optional arguments.
    let fitting = examples.min_by_key(|(shared, example)| (Reverse(*shared), length(example)));
    FoundTool {
        effect: Some(entry.spec.effect.name()),
        description: entry.spec.description().to_owned(),
        // With the choice of a vault, if there are several.
        arguments: Some(arguments::of(entry.spec.input())),
        example: fitting.map(|(_, example)| example),
        ..brief
    }
}

#[cfg(test)]
mod tests;
