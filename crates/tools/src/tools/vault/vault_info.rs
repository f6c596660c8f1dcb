//! Counts notes and their size.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WalkCost, WireFamily, bug,
    quote::quoted,
};
use lapidary_toolkit::{
    budget::{self, BudgetInput, BudgetLimits},
    index,
};
use lapidary_vault::{FileEntry, ScanStop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct VaultInfo;

/// The number of notes in a vault and their total size.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Stop early and say so.
    #[serde(default, rename = "_budget")]
    budget: Option<BudgetInput>,
    /// Continue a truncated answer: its `nextOffset`. Counts from there only.
    #[serde(default)]
    offset: usize,
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    name: String,
    file_count: usize,
    size_bytes: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

const TRUNCATED: &str = "Not all notes were counted: the budget is spent or the time is up. For the rest, send `nextOffset` as `offset`; `_budget: {\"maxFilesScanned\": 0}` removes the limit.";

impl ReadTool for VaultInfo {
    const DECLARATION: Declaration = Declaration {
        name: "vault_info",
        dotted: Some("vault.info"),
        title: "Size of a vault",
        family: WireFamily::Files,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "how many notes, how large is the vault, count, size, statistics",
    };
    const DEADLINE: Option<&'static str> = Some(budget::DEADLINE);
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let (counted, stopped) = count(context, view, &input)?;
        // Reported for refusals too: the log shows what a call has cost.
        context.walked.set(Some(WalkCost { files: counted.file_count as u64, bytes: 0, stopped }));
        match stopped {
            Some(ScanStop::Cancelled) => {
                Err(context.check().err().unwrap_or_else(|| bug!("the count stopped and the call was not cancelled")))
            }
            Some(_) => {
                let next_offset = Some(input.offset.saturating_add(counted.file_count));
                Ok(Output { truncated: true, next_offset, hint: Some(TRUNCATED), ..counted })
            }
            None => Ok(counted),
        }
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { name, file_count, size_bytes, hint, .. } = output;
        let hint = hint.map_or_else(String::new, |hint| format!("\n{hint}"));
        let next = output.next_offset.map_or_else(String::new, |next| format!(" `nextOffset` is {next}."));
        let notes = counted(*file_count, "note");
        Some(format!("{}: {notes}, {size_bytes} bytes{hint}{next}", quoted(name)))
    }

    fn examples(&self) -> Vec<Example> {
        const FILES: &[(&str, &str)] = &[("Projects/Plan.md", "Plan"), ("Todo.md", "To do"), ("gem.png", "PNG")];
        let budget = |most: i64| json!({ "_budget": { "maxFilesScanned": most } });
        vec![
            Example {
                says: "How large is the vault?",
                before: FILES,
                input: json!({}),
                gives: ExampleResult::Output(json!({ "name": "test", "fileCount": 2, "sizeBytes": 9 })),
                after: &[],
            },
            Example {
                says: "A budget that is used up exactly is not exceeded",
                before: FILES,
                input: budget(2),
                gives: ExampleResult::Output(json!({ "name": "test", "fileCount": 2, "sizeBytes": 9 })),
                after: &[],
            },
            Example {
                says: "A budget that is too small",
                before: FILES,
                input: budget(1),
                gives: ExampleResult::Including(
                    json!({ "fileCount": 1, "sizeBytes": 4, "truncated": true, "nextOffset": 1 }),
                ),
                after: &[],
            },
            Example {
                says: "A byte budget always covers at least one note",
                before: FILES,
                input: json!({ "_budget": { "maxBytesRead": 1 }, "offset": 1 }),
                gives: ExampleResult::Output(json!({ "name": "test", "fileCount": 1, "sizeBytes": 5 })),
                after: &[],
            },
            Example {
                says: "An invalid budget",
                before: FILES,
                input: budget(-1),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

/// The notes within the budget, and why it ended there.
fn count(context: &Context<'_>, view: &View, input: &Input) -> Result<(Output, Option<ScanStop>), Reason> {
    let limits = BudgetLimits::of(input.budget.as_ref(), context);
    let mut counted = Output { name: view.vault().to_owned(), ..Output::default() };
    for note in index::files(context, view)?.iter().filter(FileEntry::is_note).skip(input.offset) {
        let stop = limits.stop_after(counted.file_count, context.cancel);
        if stop.is_some() {
            return Ok((counted, stop));
        }
        // The first one always counts, or a large note could never be passed.
        let too_much = |most: u64| counted.file_count > 0 && counted.size_bytes + note.bytes() > most;
        if limits.files.is_some_and(|most| counted.file_count >= most) || limits.bytes.is_some_and(too_much) {
            return Ok((counted, Some(ScanStop::Budget)));
        }
        counted.file_count += 1;
        counted.size_bytes += note.bytes();
    }
    Ok((counted, None))
}
