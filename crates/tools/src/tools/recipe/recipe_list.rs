//! The recipes of a vault.

use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, ToolNeeds, WireFamily,
    quote::quoted,
};
use lapidary_recipe::{MOST_RECIPES, RecipeName};
use lapidary_toolkit::recipes::{self, KeptRecipe, RecipeStanding};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct RecipeList;

/// List the recipes of the vault: tools made of other tools. Run one with `call_tool` by its name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    recipes: Vec<RecipeLine>,
    /// How many others are not loaded either.
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Serialize, JsonSchema)]
struct RecipeLine {
    name: String,
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Like `title: text, limit?: number`.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    /// The strongest of its steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'static str>,
    /// Why it cannot be run, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl RecipeLine {
    fn of(context: &Context<'_>, kept: &KeptRecipe) -> Self {
        let standing = kept.standing(context.catalogue);
        let recipe = kept.recipe();
        let problem = match &standing {
            RecipeStanding::Enabled(_) => None,
            RecipeStanding::NotApproved(_) => Some(super::not_approved(&kept.name)),
            RecipeStanding::Broken(problems) => problems.first().map(super::in_words),
        };
        let effect = match &standing {
            RecipeStanding::Enabled(facts) => Some(facts.effect.name()),
            RecipeStanding::NotApproved(_) | RecipeStanding::Broken(_) => None,
        };
        Self {
            name: kept.name.to_string(),
            enabled: effect.is_some(),
            description: recipe.map(|recipe| recipe.description.clone()),
            arguments: recipe.map(recipes::arguments).filter(|arguments| !arguments.is_empty()),
            effect,
            problem,
        }
    }
}

impl RecipeLine {
    fn not_loaded(name: &RecipeName) -> Self {
        let problem = Some(recipes::too_many().to_string());
        Self { name: name.to_string(), enabled: false, description: None, arguments: None, effect: None, problem }
    }
}

impl ReadTool for RecipeList {
    const DECLARATION: Declaration = Declaration {
        name: "recipe_list",
        dotted: None,
        title: "List recipes",
        family: WireFamily::Own,
        group: ToolGroup::Recipe,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "list recipes, custom tools, macros, workflows, which recipes are there, my own tools",
    };
    const NEEDS: ToolNeeds = super::NEEDS;
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, _: Input) -> Result<Output, Reason> {
        let kept = recipes::all(context, view)?;
        let mut lines: Vec<RecipeLine> = kept.iter().map(|kept| RecipeLine::of(context, kept)).collect();
        let besides = recipes::not_loaded(context, view)?;
        lines.extend(besides.iter().take(MOST_RECIPES).map(RecipeLine::not_loaded));
        Ok(Output { recipes: lines, more: besides.len().saturating_sub(MOST_RECIPES) })
    }

    fn text(&self, output: &Output) -> Option<String> {
        if output.recipes.is_empty() {
            return Some("There are no recipes.".to_owned());
        }
        let line = |RecipeLine { name, description, arguments, effect, problem, .. }: &RecipeLine| {
            let arguments = arguments.as_deref().unwrap_or_default();
            let effect = effect.map_or(String::new(), |effect| format!(" {effect}"));
            let described = description.as_ref().map_or(String::new(), |text| format!(": {}", quoted(text)));
            let problem = problem.as_ref().map_or(String::new(), |problem| format!(" (disabled: {problem})"));
            format!("{name}({arguments}){effect}{described}{problem}")
        };
        let more = (output.more > 0).then(|| format!("{} more are not loaded", output.more));
        Some(output.recipes.iter().map(line).chain(more).collect::<Vec<_>>().join("\n"))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "A recipe that can be run, and one that cannot be read",
                before: &[("Recipes/custom_greet.md", super::GREET_NOTE), ("Recipes/custom_odd.md", "Nothing yet.\n")],
                input: json!({}),
                gives: ExampleResult::Output(json!({ "recipes": [
                    {
                        "name": "custom_greet", "enabled": true, "description": "Greet a person in a new note.",
                        "arguments": "name: text", "effect": "write",
                    },
                    { "name": "custom_odd", "enabled": false, "problem": "its note has no `recipe` block" },
                ] })),
                after: &[],
            },
            Example {
                says: "An argument that it does not have",
                before: &[],
                input: json!({ "folder": "Recipes" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}
