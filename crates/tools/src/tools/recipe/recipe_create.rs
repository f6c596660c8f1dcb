//! Makes a recipe.

use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, NameWanted, Reason, ReasonKind, ToolGroup, ToolNeeds,
    ToolPlan, WireFamily, WriteTool, quote::Prose,
};
use lapidary_recipe::{MOST_RECIPES, RecipeName};
use lapidary_toolkit::{reading, recipes};
use lapidary_vault::{Change, ChangeSet, View};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::RecipeOutput;

pub(crate) struct RecipeCreate;

/// Make a recipe: a tool of steps that are calls of other tools, run as one change. A person approves it.
///
/// `definition` is YAML: `description`, `parameters` (`name: text|number|boolean|date|list|note|folder`, or `{type, description,
/// default}`), `steps` (`id`, `tool`, `with` its arguments, `for_each` a list, `if` a condition) and `answer`. Texts in `with` and
/// `answer` may have `{{ }}` with an expression of Obsidian Bases over parameters, results of earlier steps by their ids, and
/// `item`: `"Meetings/{{ today() }} {{ title }}.md"`, `"{{ found.rows }}"`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// `custom_` and up to 33 of `a-z0-9_`.
    #[schemars(length(min = 1))]
    name: String,
    /// YAML, as above.
    #[schemars(length(min = 1))]
    definition: String,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

impl WriteTool for RecipeCreate {
    const DECLARATION: Declaration = Declaration {
        name: "recipe_create",
        dotted: None,
        title: "Make a recipe",
        family: WireFamily::Own,
        group: ToolGroup::Recipe,
        listed: false,
        idempotent: false,
        paths: &[],
        reasons: &[ReasonKind::RecipeInvalid, ReasonKind::FileExists],
        words: "make create save a recipe, new custom tool, macro, workflow of several tools, automate, template of calls",
    };
    const EFFECT: Effect = Effect::Write;
    const IN_BATCHES: bool = false;
    const KEEPS_RECIPES: bool = true;
    const NEEDS: ToolNeeds = super::NEEDS;
    type Input = Input;
    type Output = RecipeOutput;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<RecipeOutput>, Reason> {
        let tool = Self::DECLARATION.name;
        let Some(name) = RecipeName::parse(&input.name) else {
            return Err(Reason::bad_argument(tool, "name", "must be `custom_` and 1 to 33 of `a-z`, `0-9` and `_`"));
        };
        let path = recipes::path_of(context, &name)?;
        // Changing one is left to `recipe_update`, which can expect its hash.
        if let Some(there) = reading::read_if_there(view, &path)? {
            return Err(Reason::DestinationExists { path, current: there.hash(), wanted: NameWanted::Recipe });
        }
        if recipes::are_full(context, view)? {
            let problem =
                format_args!("would be one too many: the folder may have {MOST_RECIPES} recipes, so delete one first");
            return Err(Reason::bad_argument(tool, "name", Prose::ours(problem)));
        }
        let definition = recipes::in_form(&input.definition);
        let (_, facts) = recipes::checked(context, name.as_str(), &definition)?;
        let output = RecipeOutput::new(&name, &path, facts, input.dry_run);
        let content = recipes::block(&definition).into();
        Ok(ToolPlan { changes: ChangeSet::one(Change::Create { path, content }), output, dry_run: input.dry_run })
    }

    fn text(&self, output: &RecipeOutput) -> Option<String> {
        Some(format!("{}; run it with `call_tool`", output.text("make", "Made")))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "A recipe that creates a note, shown first",
                before: &[],
                input: json!({ "name": "custom_greet", "definition": super::GREET, "dryRun": true }),
                gives: ExampleResult::Including(json!({
                    "name": "custom_greet", "path": "Recipes/custom_greet.md", "effect": "write", "tools": ["file_create"],
                })),
                after: &[],
            },
            Example {
                says: "A step that does not exist",
                before: &[],
                input: json!({ "name": "custom_x", "definition": "description: X\nsteps:\n  - tool: file_raed\n" }),
                gives: ExampleResult::Refusal(ReasonKind::RecipeInvalid),
                after: &[],
            },
            Example {
                says: "The user cannot be asked",
                before: &[],
                input: json!({ "name": "custom_greet", "definition": super::GREET }),
                gives: ExampleResult::Refusal(ReasonKind::ApprovalUnavailable),
                after: &[],
            },
        ]
    }
}
