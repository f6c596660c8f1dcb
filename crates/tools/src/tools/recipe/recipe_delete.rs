//! Deletes a recipe.

use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, Reason, ReasonKind, ToolGroup, ToolNeeds, ToolPlan,
    WireFamily, WriteTool, quote::quoted,
};
use lapidary_toolkit::removing::to_trash;
use lapidary_vault::{ChangeSet, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ChangedRecipe;

pub(crate) struct RecipeDelete;

/// Delete a recipe: its note goes to the trash. A person has to approve it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// E.g. `custom_weekly_review`.
    #[schemars(length(min = 1))]
    name: String,
    /// The `contentHash` of `recipe_show`.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show what would be deleted.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    name: String,
    path: String,
    dry_run: bool,
}

impl WriteTool for RecipeDelete {
    const DECLARATION: Declaration = Declaration {
        name: "recipe_delete",
        dotted: None,
        title: "Delete a recipe",
        family: WireFamily::Own,
        group: ToolGroup::Recipe,
        listed: false,
        idempotent: false,
        paths: &[],
        reasons: &[ReasonKind::RecipeMissing, ReasonKind::StalePrecondition, ReasonKind::NoteMissing],
        words: "delete remove a recipe, custom tool no longer needed, forget a macro",
    };
    const EFFECT: Effect = Effect::Destroy;
    const IN_BATCHES: bool = false;
    const KEEPS_RECIPES: bool = true;
    const NEEDS: ToolNeeds = super::NEEDS;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let arguments = (Self::DECLARATION.name, Self::EXPECTED_HASH);
        let ChangedRecipe { kept, before, guard } =
            ChangedRecipe::find(context, view, arguments, &input.name, input.expected_hash.as_deref())?;
        let output = Output { name: kept.name.to_string(), path: kept.path.to_string(), dry_run: input.dry_run };
        let change = to_trash(view, kept.path, before, guard);
        Ok(ToolPlan { changes: ChangeSet::one(change), output, dry_run: input.dry_run })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = if output.dry_run { "Dry run: would delete" } else { "Deleted" };
        Some(format!("{done} {}", quoted(&output.path)))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Recipes/custom_greet.md", super::GREET_NOTE)];
        vec![
            Example {
                says: "Shown first",
                before: NOTES,
                input: json!({ "name": "custom_greet", "dryRun": true }),
                gives: ExampleResult::Including(json!({ "path": "Recipes/custom_greet.md" })),
                after: NOTES,
            },
            Example {
                says: "One that does not exist",
                before: NOTES,
                input: json!({ "name": "custom_other" }),
                gives: ExampleResult::Refusal(ReasonKind::RecipeMissing),
                after: NOTES,
            },
        ]
    }
}
