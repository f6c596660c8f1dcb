//! One recipe with its definition.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, ToolNeeds, WireFamily,
};
use lapidary_toolkit::recipes::{self, RecipeFacts, RecipeStanding, RecipeState};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct RecipeShow;

/// Show a recipe: its definition, what it may do, and whether it can be run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// E.g. `custom_weekly_review`.
    #[schemars(length(min = 1))]
    name: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    name: String,
    path: String,
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'static str>,
    /// The tools that it calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<&'static str>,
    /// Where it writes, as far as the recipe says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writes: Vec<String>,
    /// A step fetches pages of the web.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reaches_web: bool,
    /// YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
    /// Of its note; `recipe_update` can expect it.
    content_hash: String,
}

impl Output {
    fn may(&mut self, RecipeFacts { effect, tools, places, reaches_web }: RecipeFacts) {
        self.effect = Some(effect.name());
        (self.tools, self.writes, self.reaches_web) = (tools, places, reaches_web);
    }
}

impl ReadTool for RecipeShow {
    const DECLARATION: Declaration = Declaration {
        name: "recipe_show",
        dotted: None,
        title: "Show a recipe",
        family: WireFamily::Own,
        group: ToolGroup::Recipe,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[ReasonKind::RecipeMissing],
        words: "show a recipe, its steps, what does this custom tool do, definition of a macro",
    };
    const NEEDS: ToolNeeds = super::NEEDS;
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let kept = recipes::find(context, view, &input.name)?;
        let standing = kept.standing(context.catalogue);
        let mut output = Output {
            name: kept.name.to_string(),
            path: kept.path.to_string(),
            enabled: false,
            effect: None,
            tools: Vec::new(),
            writes: Vec::new(),
            reaches_web: false,
            definition: None,
            problems: Vec::new(),
            content_hash: kept.note.to_string(),
        };
        match standing {
            RecipeStanding::Enabled(facts) => {
                output.enabled = true;
                output.may(facts);
            }
            RecipeStanding::NotApproved(facts) => {
                output.may(facts);
                output.problems.push(super::not_approved(&kept.name));
            }
            RecipeStanding::Broken(problems) => output.problems = problems.iter().map(super::in_words).collect(),
        }
        // Also of one that is broken, so that it can be corrected.
        output.definition = match kept.state {
            RecipeState::Read { definition, .. } => Some(definition),
            RecipeState::Broken { definition, .. } => definition,
        };
        Ok(output)
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { name, enabled, effect, definition, problems, .. } = output;
        let state = match (enabled, effect) {
            (true, Some(effect)) => (*effect).to_owned(),
            _ => format!("disabled: {}", problems.join("; ")),
        };
        let definition =
            definition.as_ref().map_or(String::new(), |text| format!("\n{}", lapidary_operation::fence::fenced(text)));
        Some(format!("{name} ({state}){definition}"))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Recipes/custom_greet.md", super::GREET_NOTE)];
        vec![
            Example {
                says: "A recipe and what it may do",
                before: NOTES,
                input: json!({ "name": "custom_greet" }),
                gives: ExampleResult::Including(json!({
                    "name": "custom_greet", "path": "Recipes/custom_greet.md", "enabled": true, "effect": "write",
                    "tools": ["file_create"], "writes": ["People/…"], "definition": super::GREET,
                })),
                after: &[],
            },
            Example {
                says: "One that cannot be run as it is",
                before: &[("Recipes/custom_odd.md", "```recipe\ndescription: Odd.\nstep: 1\n```\n")],
                input: json!({ "name": "custom_odd" }),
                gives: ExampleResult::Including(json!({
                    "enabled": false, "definition": "description: Odd.\nstep: 1\n",
                    "problems": [
                        "`step`: is not a part of a recipe; did you mean `steps`?",
                        "`steps`: must be a list of calls, each with its `tool`",
                    ],
                })),
                after: &[],
            },
            Example {
                says: "One that does not exist",
                before: NOTES,
                input: json!({ "name": "custom_great" }),
                gives: ExampleResult::Refusal(ReasonKind::RecipeMissing),
                after: &[],
            },
        ]
    }
}
