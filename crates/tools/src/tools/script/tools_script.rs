//! Several calls that read in one request, answered with what the last of them keeps.

use lapidary_operation::{
    ArgumentProblem, Context, Declaration, Effect, Example, ExampleResult, Reason, ReasonKind, StepsOutcome, StepsPlan,
    StepsTool, ToolGroup, WireFamily,
};
use lapidary_recipe::Recipe;
use lapidary_toolkit::recipes;
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::tools::recipe::{cut_text, marked};

pub(crate) struct ToolsScript;

/// Make several calls of tools that read in one request, and get only `answer`: what lies between costs nothing.
///
/// Texts in `with` and `answer` may have `{{ }}` with an expression of Obsidian Bases over the results of earlier steps by their
/// ids, and `item`: `"{{ found.hits.map(value.file) }}"`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// In order.
    #[schemars(length(min = 1))]
    steps: Vec<ScriptStep>,
    /// What to keep: any JSON with templates; without it, the result of the last step.
    #[serde(default)]
    answer: Value,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScriptStep {
    /// A name for its result.
    #[serde(default)]
    id: Option<String>,
    /// One that reads, e.g. `query`.
    tool: String,
    /// Its arguments.
    #[serde(default)]
    with: Map<String, Value>,
    /// An expression: a list, of which the step runs once for each `item`, up to 200.
    #[serde(default)]
    for_each: Option<String>,
    /// An expression: otherwise the step, or the item, is left out.
    #[serde(default, rename = "if")]
    condition: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    answer: Value,
    /// How many calls were made.
    calls: usize,
    /// A step reached the web: the answer may have text of strangers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    foreign: bool,
    /// Steps whose results were only the first part of what there is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<String>,
}

impl StepsTool for ToolsScript {
    const DECLARATION: Declaration = Declaration {
        name: "tools_script",
        dotted: None,
        title: "Several calls in one",
        family: WireFamily::Own,
        group: ToolGroup::Script,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[
            ReasonKind::RecipeInvalid,
            ReasonKind::RecipeFailed,
            ReasonKind::ToolUnknown,
            ReasonKind::NotInBatch,
        ],
        words: "several calls in one request, script of tools that read, chain, pipeline, loop over notes, filter results, fewer tokens",
    };
    const EFFECT: Effect = Effect::Read;
    type Input = Input;
    type Output = Output;

    fn steps(&self, context: &Context<'_>, _: &View, input: Input) -> Result<StepsPlan, Reason> {
        let tool = Self::DECLARATION.name;
        let invalid = |problems: Vec<ArgumentProblem>| Reason::RecipeInvalid { name: None, problems };
        let step = |ScriptStep { id, tool, with, for_each, condition }: ScriptStep| json!({ "id": id, "tool": tool, "with": with, "for_each": for_each, "if": condition });
        let steps: Vec<Value> = input.steps.into_iter().map(step).collect();
        // A recipe must have a description, and a script has none.
        let fields = json!({ "description": tool, "steps": steps, "answer": input.answer });
        let Value::Object(fields) = fields else { return Err(invalid(Vec::new())) };
        let recipe = Recipe::of_fields(&fields)
            .map_err(|problems| invalid(problems.into_iter().map(recipes::problem).collect()))?;
        // No step of a script may change anything.
        recipes::check(context.catalogue, &recipe, false).map_err(invalid)?;
        Ok(StepsPlan { name: None, recipe, arguments: Map::new(), dry_run: false })
    }

    fn finish(&self, StepsOutcome { answer, calls, cut, reached_web, .. }: StepsOutcome) -> Output {
        Output { answer, calls: calls.iter().map(|step| step.calls).sum(), foreign: reached_web, cut }
    }

    fn text(&self, output: &Output) -> Option<String> {
        let answer = match &output.answer {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(marked(answer, output.foreign) + &cut_text(&output.cut))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            ("Roofs/Slate.md", "---\nstatus: open\n---\n# Slate\n\n## Cost\n\n40 a tile\n"),
            ("Roofs/Thatch.md", "---\nstatus: done\n---\n# Thatch\n\n## Cost\n\n10 a bale\n"),
        ];
        vec![
            Example {
                says: "One section of each note that a query finds",
                before: NOTES,
                input: json!({
                    "steps": [
                        { "id": "found", "tool": "query", "with": { "query": "TABLE status FROM \"Roofs\"" } },
                        {
                            "id": "notes", "tool": "file_read", "for_each": "found.rows", "if": "item[1] == \"open\"",
                            "with": { "file": "{{ item[0] }}" },
                        },
                    ],
                    "answer": "{{ notes.map(value.content.split(\"## Cost\")[1].trim()) }}",
                }),
                gives: ExampleResult::Including(json!({ "answer": ["40 a tile"], "calls": 2 })),
                after: &[],
            },
            Example {
                says: "A tool that writes cannot be a step of a script",
                before: NOTES,
                input: json!({ "steps": [{ "tool": "file_delete", "with": { "file": "Roofs/Slate.md" } }] }),
                gives: ExampleResult::Refusal(ReasonKind::RecipeInvalid),
                after: &[],
            },
        ]
    }
}
