use lapidary_operation::{
    BatchOutcome, BatchPlan, BatchStep, BatchTool, Context, Declaration, Effect, Example, Family, Gives, Group, Kind,
    Offered, Reason, StepAnswer, StepRefusal, operation_error,
};
use lapidary_toolkit::budget::OperationsInput;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) struct BulkApply;

/// Make many changes in one: each operation works on what those before it left, and one checkpoint undoes them all.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// In order.
    #[schemars(length(min = 1))]
    ops: Vec<Operation>,
    /// All or none; `false` makes those that work.
    #[serde(default = "yes")]
    atomic: bool,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
    /// 0 is any number.
    #[serde(default, rename = "_budget")]
    budget: Option<OperationsInput>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Operation {
    /// A tool that writes: `str_replace`, `file_move`, …
    tool: String,
    /// Its arguments.
    args: Map<String, Value>,
}

fn yes() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    atomic: bool,
    /// Nothing was changed.
    dry_run: bool,
    /// Whether all operations would work; only where nothing was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    validated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rolled_back: Option<bool>,
    results: Vec<OperationOutput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct OperationOutput {
    index: usize,
    ok: bool,
    /// What the tool answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Map<String, Value>>,
}

impl BatchTool for BulkApply {
    const DECLARATION: Declaration = Declaration {
        name: "bulk_apply",
        dotted: Some("bulk.apply"),
        title: "Make many changes at once",
        family: Family::Files,
        group: Group::Edit,
        listed: true,
        idempotent: false,
        paths: &[],
        reasons: &[Kind::BudgetExceeded],
        words: "batch bulk several many edits at once, transaction, all or nothing, atomic",
    };
    // A hard delete may be among the operations.
    const EFFECT: Effect = Effect::Destroy;
    type Input = Input;
    type Output = Output;

    fn batch(&self, context: &Context<'_>, input: Input) -> Result<BatchPlan, Reason> {
        let Input { ops, atomic, dry_run, budget } = input;
        let limit = budget.unwrap_or_default().limit(context);
        if let Some(limit) = limit.filter(|limit| ops.len() as u64 > *limit) {
            return Err(Reason::TooManyOperations { submitted: ops.len(), limit });
        }
        let steps = ops.into_iter().map(|Operation { tool, args }| BatchStep { tool, arguments: args }).collect();
        Ok(BatchPlan { steps, atomic, dry_run })
    }

    fn finish(&self, outcome: BatchOutcome, offered: Offered<'_>) -> Output {
        let BatchOutcome { atomic, dry_run, withdrawn, steps } = outcome;
        Output {
            atomic,
            dry_run: dry_run || withdrawn,
            validated: (atomic && (dry_run || withdrawn)).then_some(steps.iter().all(Result::is_ok)),
            rolled_back: (atomic && !dry_run && !withdrawn).then_some(false),
            hint: withdrawn.then(|| hint(&steps)),
            results: (0..).zip(steps).map(|(index, step)| result(index, step, withdrawn, offered)).collect(),
        }
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[("a.md", "one\n"), ("b.md", "[[a]]\n")];
        let edit = |file: &str, find: &str, replace: &str| json!({ "tool": "str_replace", "args": { "file": file, "find": find, "replace": replace } });
        vec![
            Example {
                says: "Create, edit, move and edit again",
                before: NOTES,
                input: json!({ "ops": [
                    { "tool": "file_create", "args": { "file": "new.md", "content": "x\n" } },
                    edit("new.md", "x", "see [[a]]"),
                    { "tool": "file.move", "args": { "from": "a.md", "to": "c.md" } },
                    edit("c.md", "one", "two"),
                ] }),
                gives: Gives::Including(json!({ "atomic": true, "rolled_back": false, "results": [
                    { "index": 0, "ok": true }, { "ok": true }, { "ok": true, "result": { "linksUpdated": 2 } }, { "ok": true },
                ] })),
                after: &[("new.md", "see [[c]]\n"), ("b.md", "[[c]]\n"), ("c.md", "two\n")],
            },
            Example {
                says: "One that is refused leaves everything as it was",
                before: NOTES,
                input: json!({ "ops": [edit("a.md", "one", "two"), edit("b.md", "nothing", "x")] }),
                gives: Gives::Including(json!({ "dry_run": true, "validated": false, "results": [
                    { "ok": true }, { "ok": false, "error": { "code": "NOT_FOUND" } },
                ] })),
                after: NOTES,
            },
            Example {
                says: "What works is done",
                before: NOTES,
                input: json!({ "atomic": false, "ops": [edit("a.md", "one", "two"), edit("b.md", "nothing", "x")] }),
                gives: Gives::Including(json!({ "dry_run": false, "results": [{ "ok": true }, { "ok": false }] })),
                after: &[("a.md", "two\n"), ("b.md", "[[a]]\n")],
            },
            Example {
                says: "More than the budget allows",
                before: NOTES,
                input: json!({ "ops": [edit("a.md", "one", "two"), edit("a.md", "two", "x")], "_budget": { "maxBulkOps": 1 } }),
                gives: Gives::Refusal(Kind::BudgetExceeded),
                after: NOTES,
            },
        ]
    }
}

/// A hash that was right before the batch is out of date behind an operation that changes the same file.
fn next_hash(StepRefusal { reason, changed_before }: &StepRefusal) -> Option<String> {
    let (argument, now) = match reason {
        Reason::Stale { argument, current: Some(current), .. } => (*argument, current),
        Reason::StalePart { part, found: Some(found), .. } => (part.argument(), found),
        _ => return None,
    };
    changed_before.then(|| {
        format!(
            "An earlier operation of this batch changes it. Expect what that one leaves: `{argument}` {now}; or send \
             the hash with the first operation on a file only."
        )
    })
}

fn hint(steps: &[Result<StepAnswer, StepRefusal>]) -> String {
    let refused: Vec<String> =
        (0..).zip(steps).filter(|(_, step)| step.is_err()).map(|(at, _)| at.to_string()).collect();
    format!(
        "Nothing was changed, because of operation {}. Correct it and send the batch again, or set `atomic: false`.",
        refused.join(", ")
    )
}

fn result(
    index: usize,
    step: Result<StepAnswer, StepRefusal>,
    withdrawn: bool,
    offered: Offered<'_>,
) -> OperationOutput {
    match step {
        Ok(answer) => {
            let result = if withdrawn { answer.into_dry_run() } else { answer.output };
            OperationOutput { index, ok: true, result: Some(result), error: None }
        }
        Err(refusal) => {
            let mut error = operation_error(&refusal.reason, offered);
            error.extend(next_hash(&refusal).map(|next| ("hint".to_owned(), json!(next))));
            OperationOutput { index, ok: false, result: None, error: Some(error) }
        }
    }
}
