//! Changes a recipe.

use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, Reason, ReasonKind, ToolGroup, ToolNeeds, ToolPlan,
    WireFamily, WriteTool,
};
use lapidary_toolkit::{reading, recipes};
use lapidary_vault::{Change, ChangeSet, View};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{ChangedRecipe, RecipeOutput};

pub(crate) struct RecipeUpdate;

/// Replace the definition of a recipe, which has the form of `recipe_create`. The text around it in its note stays. A person has
/// to approve it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// E.g. `custom_weekly_review`.
    #[schemars(length(min = 1))]
    name: String,
    /// YAML, the whole of it.
    #[schemars(length(min = 1))]
    definition: String,
    /// The `contentHash` of `recipe_show`.
    #[serde(default)]
    expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

impl WriteTool for RecipeUpdate {
    const DECLARATION: Declaration = Declaration {
        name: "recipe_update",
        dotted: None,
        title: "Change a recipe",
        family: WireFamily::Own,
        group: ToolGroup::Recipe,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[
            ReasonKind::RecipeMissing,
            ReasonKind::RecipeInvalid,
            ReasonKind::StalePrecondition,
            ReasonKind::NoteMissing,
        ],
        words: "change update edit correct a recipe, another step in my custom tool, fix a macro",
    };
    const EFFECT: Effect = Effect::Write;
    const IN_BATCHES: bool = false;
    const KEEPS_RECIPES: bool = true;
    const NEEDS: ToolNeeds = super::NEEDS;
    type Input = Input;
    type Output = RecipeOutput;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<RecipeOutput>, Reason> {
        let arguments = (Self::DECLARATION.name, Self::EXPECTED_HASH);
        let ChangedRecipe { kept, before, guard } =
            ChangedRecipe::find(context, view, arguments, &input.name, input.expected_hash.as_deref())?;
        let definition = recipes::in_form(&input.definition);
        let (_, facts) = recipes::checked(context, kept.name.as_str(), &definition)?;
        let document = reading::editable(&kept.path, &before)?;
        // A note without a definition gets one at its end.
        let text = recipes::with_definition(document.shown(), &definition)
            .unwrap_or_else(|| format!("{}\n\n{}", document.shown().trim_end(), recipes::block(&definition)));
        // A note that had no other text would begin with blank lines.
        let content = document.in_own_form(text.trim_start());
        let output = RecipeOutput::new(&kept.name, &kept.path, facts, input.dry_run);
        let change = Change::Write { path: kept.path, before, guard, content };
        Ok(ToolPlan { changes: ChangeSet::one(change), output, dry_run: input.dry_run })
    }

    fn text(&self, output: &RecipeOutput) -> Option<String> {
        Some(output.text("change", "Changed"))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Recipes/custom_greet.md", super::GREET_NOTE)];
        let other = super::GREET.replace("Hello", "Welcome");
        vec![
            Example {
                says: "Another text, shown first",
                before: NOTES,
                input: json!({ "name": "custom_greet", "definition": other, "dryRun": true }),
                gives: ExampleResult::Including(json!({ "name": "custom_greet", "effect": "write" })),
                after: NOTES,
            },
            Example {
                says: "One that does not exist",
                before: NOTES,
                input: json!({ "name": "custom_grate", "definition": other }),
                gives: ExampleResult::Refusal(ReasonKind::RecipeMissing),
                after: NOTES,
            },
        ]
    }
}
