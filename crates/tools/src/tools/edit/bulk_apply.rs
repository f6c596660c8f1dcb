//! Several changes as one.

use std::collections::BTreeMap;

use lapidary_note::counted;
use lapidary_operation::{
    BatchOutcome, BatchPlan, BatchStep, BatchTool, Context, Declaration, Effect, Example, ExampleResult, OfferedTools,
    Reason, ReasonKind, StepAnswer, StepRefusal, ToolGroup, WireFamily, operation_error, quote::quoted,
};
use lapidary_toolkit::{budget::OperationsInput, hash};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) struct BulkApply;

/// Make many changes as one: each applies to the result of those before, and one checkpoint undoes them all.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// In order.
    #[schemars(length(min = 1))]
    ops: Vec<BatchOperation>,
    /// All or none; `false` applies those that work.
    #[serde(default = "yes")]
    atomic: bool,
    /// Only show the diff.
    #[serde(default)]
    dry_run: bool,
    /// 0 means no limit.
    #[serde(default, rename = "_budget")]
    #[schemars(extend("x-rare" = true))]
    budget: Option<OperationsInput>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BatchOperation {
    /// One that writes, e.g. `str_replace`.
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
    /// Whether all operations would work; only if nothing was changed.
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
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: true,
        idempotent: false,
        paths: &[],
        reasons: &[ReasonKind::BudgetExceeded],
        words: "batch bulk several many edits at once, transaction, all or nothing, atomic",
    };
    // A hard delete may be among the operations.
    const EFFECT: Effect = Effect::Destroy;
    type Input = Input;
    type Output = Output;

    fn batch(&self, context: &Context<'_>, input: Input) -> Result<BatchPlan, Reason> {
        let Input { ops, atomic, dry_run, budget } = input;
        let limit = budget.unwrap_or_default().limit(context);
        // Before any operation is planned, as planning is what costs.
        if let Some(limit) = limit.filter(|limit| ops.len() as u64 > *limit) {
            return Err(Reason::TooManyOperations { submitted: ops.len(), limit });
        }
        let steps = ops.into_iter().map(|BatchOperation { tool, args }| BatchStep { tool, arguments: args }).collect();
        Ok(BatchPlan { steps, atomic, dry_run })
    }

    fn finish(&self, outcome: BatchOutcome, offered: OfferedTools<'_>) -> Output {
        let BatchOutcome { atomic, dry_run, withdrawn, steps } = outcome;
        Output {
            atomic,
            // An atomic batch with a refusal has changed nothing, which is what a dry run says.
            dry_run: dry_run || withdrawn,
            validated: (atomic && (dry_run || withdrawn)).then_some(steps.iter().all(Result::is_ok)),
            rolled_back: (atomic && !dry_run && !withdrawn).then_some(false),
            hint: withdrawn.then(|| hint(&steps)),
            results: (0..).zip(steps).map(|(index, step)| result(index, step, withdrawn, offered)).collect(),
        }
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = match (output.dry_run, output.validated) {
            // Also for a requested dry run: that it would fail is what matters.
            (true, Some(false)) => "Nothing changed",
            (true, _) => "Dry run",
            (false, _) => "Done",
        };
        let went = output.results.iter().filter(|result| result.ok).count();
        let mut text = format!("{done}: {went} of {} ok", counted(output.results.len(), "operation"));
        let mut hashes: BTreeMap<&str, &str> = BTreeMap::new();
        // The text counts from 1, as people do; `index` is the position in `ops`.
        for (number, OperationOutput { result, error, .. }) in (1..).zip(&output.results) {
            if let Some(error) = error {
                let said = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
                text += &format!("\n{number}: {}: {} {}", said("code"), said("message"), said("hint"));
            }
            if let Some(result) = result {
                // An operation that simply did what it was sent for needs no line.
                text += &unusual(result).map_or_else(String::new, |said| format!("\n{number}: {said}"));
                // Later operations on the same file overwrite the hash, so that the last one is reported.
                hashes.extend(hash_now(result));
            }
        }
        // A dry run leaves nothing that a later call could expect.
        if !output.dry_run {
            text.extend(hashes.iter().map(|(file, hash)| format!("\n{} {}", quoted(file), hash::digits(hash))));
        }
        text += &output.hint.as_ref().map_or_else(String::new, |hint| format!("\n{hint}"));
        Some(text)
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
                gives: ExampleResult::Including(json!({ "atomic": true, "rolled_back": false, "results": [
                    { "index": 0, "ok": true }, { "ok": true }, { "ok": true, "result": { "linksUpdated": 2 } }, { "ok": true },
                ] })),
                after: &[("new.md", "see [[c]]\n"), ("b.md", "[[c]]\n"), ("c.md", "two\n")],
            },
            Example {
                says: "One refusal leaves everything unchanged",
                before: NOTES,
                input: json!({ "ops": [edit("a.md", "one", "two"), edit("b.md", "nothing", "x")] }),
                gives: ExampleResult::Including(json!({ "dry_run": true, "validated": false, "results": [
                    { "ok": true }, { "ok": false, "error": { "code": "NOT_FOUND" } },
                ] })),
                after: NOTES,
            },
            Example {
                says: "Operations that work are carried out",
                before: NOTES,
                input: json!({ "atomic": false, "ops": [edit("a.md", "one", "two"), edit("b.md", "nothing", "x")] }),
                gives: ExampleResult::Including(
                    json!({ "dry_run": false, "results": [{ "ok": true }, { "ok": false }] }),
                ),
                after: &[("a.md", "two\n"), ("b.md", "[[a]]\n")],
            },
            Example {
                says: "More than the budget allows",
                before: NOTES,
                input: json!({ "ops": [edit("a.md", "one", "two"), edit("a.md", "two", "x")], "_budget": { "maxBulkOps": 1 } }),
                gives: ExampleResult::Refusal(ReasonKind::BudgetExceeded),
                after: NOTES,
            },
        ]
    }
}

/// A hash that was right before the batch is stale after an operation that changes the same file.
fn next_hash(StepRefusal { reason, changed_before, .. }: &StepRefusal) -> Option<String> {
    let (argument, now) = match reason {
        Reason::Stale { argument, current: Some(current), .. }
        | Reason::Overtaken { argument: Some(argument), current, .. } => (*argument, current),
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

/// Side effects of an operation, if any.
fn unusual(result: &Map<String, Value>) -> Option<String> {
    let number = |name: &str| result.get(name).and_then(Value::as_u64);
    let is = |name: &str, expected: bool| result.get(name) == Some(&Value::Bool(expected));
    let replaced = number("replacedCount").filter(|count| *count != 1).map(|count| format!("{count} replaced"));
    // The tools count links to files under one name and links to parts of notes under another.
    let links = number("linksUpdated").or_else(|| number("referencesUpdated")).filter(|count| *count > 0);
    let links =
        links.map(|count| format!("{} followed", counted(usize::try_from(count).unwrap_or(usize::MAX), "link")));
    // A tool that works on the whole vault does not name one file.
    let files = number("filesChanged").filter(|_| !result.contains_key("contentHash"));
    let files = files.map(|count| counted(usize::try_from(count).unwrap_or(usize::MAX), "file").to_string());
    let unchanged = is("changed", false).then(|| "unchanged".to_owned());
    let said: Vec<String> = [replaced, files, links, unchanged].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// The file that an operation leaves, with its hash; the last operation on a file counts.
fn hash_now(result: &Map<String, Value>) -> Option<(&str, &str)> {
    // The `obsidian_manage_` tools nest their answer in `result`.
    let result = result.get("result").and_then(Value::as_object).unwrap_or(result);
    let text = |name: &str| result.get(name).and_then(Value::as_str);
    // The file after the operation: a move reports where the file went in `to`.
    Some((text("file").or_else(|| text("path")).or_else(|| text("to"))?, text("contentHash")?))
}

fn hint(steps: &[Result<StepAnswer, StepRefusal>]) -> String {
    let refused = || (1..).zip(steps).filter_map(|(at, step)| Some((at, step.as_ref().err()?)));
    // Nothing that a caller could send would be allowed.
    let is_final = |refusal: &StepRefusal| {
        matches!(
            refusal.reason.kind(),
            ReasonKind::DeniedByRule
                | ReasonKind::PathForbidden
                | ReasonKind::ToolDisabled
                | ReasonKind::NotInBatch
                | ReasonKind::ToolUnknown
        )
    };
    let all: Vec<String> = refused().map(|(at, _): (usize, _)| at.to_string()).collect();
    let next = match refused().all(|(_, refusal)| is_final(refusal)) {
        true => "Leave it out",
        false if refused().any(|(_, refusal)| is_final(refusal)) => "Fix it or, if it is not allowed, leave it out,",
        false => "Correct it",
    };
    format!(
        "Nothing was changed because of operation {} of {}. {next} and send the batch again, or set `atomic: false`.",
        all.join(", "),
        steps.len(),
    )
}

fn result(
    index: usize,
    step: Result<StepAnswer, StepRefusal>,
    withdrawn: bool,
    offered: OfferedTools<'_>,
) -> OperationOutput {
    match step {
        Ok(answer) => {
            // It worked, but was withdrawn with the rest, and must not read as if it had been done.
            let result = if withdrawn { answer.into_dry_run() } else { answer.output };
            OperationOutput { index, ok: true, result: Some(result), error: None }
        }
        Err(refusal) => {
            let mut error = operation_error(&refusal.reason, offered.called(&refusal.tool));
            // Replaces the usual hint to read the file again, which would show the state before the batch.
            error.extend(next_hash(&refusal).map(|next| ("hint".to_owned(), json!(next))));
            OperationOutput { index, ok: false, result: None, error: Some(error) }
        }
    }
}
