//! Runs a recipe. Clients call it by the name of the recipe; this tool runs all of them.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, Reason, ReasonKind, StepsOutcome, StepsPlan, StepsTool,
    ToolGroup, ToolNeeds, WireFamily,
};
use lapidary_toolkit::recipes::{self, KeptRecipe, RecipeState};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) struct RecipeRun;

/// Run a recipe: all its steps as one change, or none. `call_tool` with the name of the recipe does the same.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// E.g. `custom_weekly_review`.
    #[schemars(length(min = 1))]
    name: String,
    /// Its parameters.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    recipe: String,
    /// What the recipe says; the result of its last step if it says nothing.
    answer: Value,
    /// How many calls its steps made.
    calls: usize,
    /// How many files they change.
    files: usize,
    dry_run: bool,
    /// A step reached the web: the answer may have text of strangers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    foreign: bool,
    /// Steps whose results were only the first part of what there is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<String>,
}

impl StepsTool for RecipeRun {
    const DECLARATION: Declaration = Declaration {
        name: "recipe_run",
        dotted: None,
        title: "Run a recipe",
        family: WireFamily::Own,
        group: ToolGroup::Recipe,
        listed: false,
        idempotent: false,
        paths: &[],
        reasons: &[
            ReasonKind::RecipeMissing,
            ReasonKind::RecipeInvalid,
            ReasonKind::RecipeDisabled,
            ReasonKind::RecipeFailed,
            ReasonKind::ToolUnknown,
            ReasonKind::NotInBatch,
            ReasonKind::BatchConflict,
            ReasonKind::NoteMissing,
            ReasonKind::DirectoryMissing,
            ReasonKind::AmbiguousPath,
            ReasonKind::PathIsFile,
        ],
        words: "run a recipe, execute a custom tool, start a macro or workflow",
    };
    // A hard delete may be among the steps.
    const EFFECT: Effect = Effect::Destroy;
    const NEEDS: ToolNeeds = super::NEEDS;
    type Input = Input;
    type Output = Output;

    fn steps(&self, context: &Context<'_>, view: &View, input: Input) -> Result<StepsPlan, Reason> {
        let KeptRecipe { name, state, .. } = recipes::find(context, view, &input.name)?;
        match state {
            RecipeState::Broken { problems, .. } => {
                Err(Reason::RecipeInvalid { name: Some(name.to_string()), problems })
            }
            RecipeState::Read { is_approved: false, .. } => Err(Reason::RecipeDisabled { name }),
            RecipeState::Read { recipe, .. } => {
                // This caller may have fewer tools than the one who made it, for instance only those that read.
                recipes::authorize(context.catalogue, &recipe)?;
                // The tools may have changed since it was kept.
                if let Err(problems) = recipes::check(context.catalogue, &recipe, true) {
                    return Err(Reason::RecipeInvalid { name: Some(name.to_string()), problems });
                }
                let arguments = recipes::with_paths(context, view, &recipe, input.arguments)?;
                Ok(StepsPlan { name: Some(name), recipe, arguments, dry_run: input.dry_run })
            }
        }
    }

    fn finish(&self, outcome: StepsOutcome) -> Output {
        let StepsOutcome { name, dry_run, reached_web, answer, calls, files, cut } = outcome;
        let recipe = name.map_or(String::new(), |name| name.to_string());
        let calls = calls.iter().map(|step| step.calls).sum();
        Output { recipe, answer, calls, files, dry_run, foreign: reached_web, cut }
    }

    fn text(&self, output: &Output) -> Option<String> {
        let answer = match &output.answer {
            Value::Null => String::new(),
            Value::String(text) => format!("\n{}", super::marked(text.clone(), output.foreign)),
            other => format!("\n{}", super::marked(other.to_string(), output.foreign)),
        };
        let done = match (output.dry_run, output.files) {
            (true, _) => format!("Dry run of {}: {} would change", output.recipe, counted(output.files, "file")),
            (false, 0) => output.recipe.clone(),
            (false, files) => format!("{}: {} changed", output.recipe, counted(files, "file")),
        };
        Some(format!("{done}{answer}{}", super::cut_text(&output.cut)))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("Recipes/custom_greet.md", super::GREET_NOTE)];
        vec![
            Example {
                says: "All steps as one change",
                before: NOTES,
                input: json!({ "name": "custom_greet", "arguments": { "name": "Ada" } }),
                gives: ExampleResult::Including(json!({
                    "recipe": "custom_greet", "answer": "People/Ada.md", "calls": 1, "files": 1, "dryRun": false,
                })),
                after: &[("Recipes/custom_greet.md", super::GREET_NOTE), ("People/Ada.md", "Hello Ada!\n")],
            },
            Example {
                says: "A value cannot leave the folder that the recipe names",
                before: NOTES,
                input: json!({ "name": "custom_greet", "arguments": { "name": "../Ada" } }),
                gives: ExampleResult::Refusal(ReasonKind::RecipeFailed),
                after: NOTES,
            },
            Example {
                says: "A parameter is missing",
                before: NOTES,
                input: json!({ "name": "custom_greet" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: NOTES,
            },
        ]
    }
}
