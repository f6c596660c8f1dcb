//! Says how a query runs: what each step leaves, and which index served it.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, clipped, fence::fenced, quote::one_line,
};
use lapidary_query::QueryStep;
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::querying::{AskedQuery, QUERY_REASONS};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::query::DroppedOutput;

pub(crate) struct QueryExplain;

/// Say how a query runs, for one that is slow or has other rows than expected: what each step reads and leaves, which
/// index served it, and which rows errors left out. Takes what `query` takes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// DQL, the path of a base, or its YAML.
    query: String,
    /// View of a base; else its first.
    #[serde(default)]
    view: Option<String>,
    /// The note that `this` is.
    #[serde(default)]
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// `dql` or `base`.
    language: &'static str,
    /// In the order in which they run.
    steps: Vec<StepOutput>,
    /// Rows of the result.
    total: usize,
    /// Operators and calls that were evaluated.
    work: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dropped: Vec<DroppedOutput>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// One step of a query.
#[derive(Serialize, JsonSchema)]
struct StepOutput {
    step: String,
    /// How many it left.
    rows: usize,
    /// Which index served it; without one it looked at each row.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'static str>,
}

impl From<&QueryStep> for StepOutput {
    fn from(step: &QueryStep) -> Self {
        Self { step: clipped(&step.name), rows: step.rows, index: step.index }
    }
}

impl ReadTool for QueryExplain {
    const DECLARATION: Declaration = Declaration {
        name: "query_explain",
        dotted: None,
        title: "Explain a query",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/note", role: PathRole::Read }],
        reasons: QUERY_REASONS,
        words: "explain query plan, why is a row missing, slow query, which index, dataview base debug",
    };
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/query", TextLanguage::Query)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let Input { query, view: base_view, note } = &input;
        let asked = AskedQuery { query, view: base_view.as_deref(), note: note.as_deref() };
        // Nothing of the rows is shown.
        let result = asked.run(context, view, Some(0..0))?;
        Ok(Output {
            language: result.language(),
            steps: result.steps().iter().map(StepOutput::from).collect(),
            total: result.total(),
            work: result.steps_taken,
            dropped: result.dropped().iter().map(DroppedOutput::from).collect(),
            warnings: result.warnings(),
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let line = |step: &StepOutput| {
            let index = step.index.map_or(String::new(), |index| format!(" (index: {index})"));
            format!("{}: {}{index}\n", counted(step.rows, "row"), one_line(&step.step))
        };
        let mut text = format!("{} in {} steps of work", counted(output.total, "row"), output.work);
        text += &format!("\n{}", fenced(&output.steps.iter().map(line).collect::<String>()));
        for dropped in &output.dropped {
            text += &format!("\n{}", dropped.sentence());
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] =
            &[("a.md", "#x\n"), ("b.md", "---\nn: 1\n---\n#x\n"), ("Some.base", "filters: file.hasTag(\"x\")\n")];
        vec![
            Example {
                says: "Why a table has fewer rows than notes",
                before: NOTES,
                input: json!({ "query": "TABLE n FROM #x WHERE n + 1 > 1" }),
                gives: ExampleResult::Including(json!({
                    "language": "dql",
                    "total": 1,
                    "dropped": [{ "count": 1, "messages": ["No implementation found for 'null + number'"] }],
                })),
                after: &[],
            },
            Example {
                says: "Which rows each part of a base leaves",
                before: NOTES,
                input: json!({ "query": "Some.base" }),
                gives: ExampleResult::Including(json!({ "language": "base", "total": 2 })),
                after: &[],
            },
            Example {
                says: "A base that is not there",
                before: NOTES,
                input: json!({ "query": "Other.base" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
        ]
    }
}
