use std::time::Duration;

use lapidary_vault::{IndexError, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Context, Declaration, Example, Family, Gives, Group, Kind, Reason, spec::ReadTool};

pub(crate) struct VaultInfo;

/// How many notes a vault has and how large they are together.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What the call may cost at most; 0 means no limit.
    #[serde(default, rename = "_budget")]
    budget: Option<Budget>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Budget {
    /// How many notes to count.
    #[serde(default)]
    max_files_scanned: Option<u64>,
    /// Accepted; counting reads no note.
    #[serde(default, rename = "maxBytesRead")]
    _max_bytes_read: Option<u64>,
    /// Milliseconds since the call began.
    #[serde(default)]
    deadline_ms: Option<u64>,
}

impl Budget {
    fn files(&self) -> u64 {
        self.max_files_scanned.filter(|most| *most > 0).unwrap_or(u64::MAX)
    }

    fn has_time(&self, context: &Context<'_>) -> bool {
        let allowed = self.deadline_ms.filter(|allowed| *allowed > 0);
        allowed.is_none_or(|allowed| context.cancel.elapsed() < Duration::from_millis(allowed))
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    name: String,
    file_count: u64,
    size_bytes: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

const TRUNCATED: &str =
    "The budget ended the count before all notes were counted. Raise `_budget`, or leave it out to count all.";

impl ReadTool for VaultInfo {
    const DECLARATION: Declaration = Declaration {
        name: "vault_info",
        dotted: Some("vault.info"),
        title: "Size of a vault",
        family: Family::Files,
        group: Group::Read,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "how many notes, how large is the vault, count, size, statistics",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let budget = input.budget.unwrap_or_default();
        let mut counted =
            Output { name: view.vault().to_owned(), file_count: 0, size_bytes: 0, truncated: false, hint: None };
        let files = match view.files(&|| context.check().is_ok() && budget.has_time(context)) {
            Ok(files) => files,
            Err(IndexError::Stopped) if context.check().is_ok() => return Ok(truncated(counted)),
            Err(error) => return Err(Reason::from_index(&error, context.cancel)),
        };
        for note in files.iter().filter(lapidary_vault::FileEntry::is_note) {
            context.check()?;
            if counted.file_count >= budget.files() || !budget.has_time(context) {
                return Ok(truncated(counted));
            }
            counted.file_count += 1;
            counted.size_bytes += note.bytes();
        }
        Ok(counted)
    }

    fn examples(&self) -> Vec<Example> {
        const FILES: &[(&str, &str)] = &[("Projects/Plan.md", "Plan"), ("Todo.md", "To do"), ("gem.png", "PNG")];
        let budget = |most: i64| json!({ "_budget": { "maxFilesScanned": most } });
        vec![
            Example {
                says: "How large is the vault?",
                before: FILES,
                input: json!({}),
                gives: Gives::Output(json!({ "name": "test", "fileCount": 2, "sizeBytes": 9 })),
                after: &[],
            },
            Example {
                says: "A budget that is used up to the last is not exceeded",
                before: FILES,
                input: budget(2),
                gives: Gives::Output(json!({ "name": "test", "fileCount": 2, "sizeBytes": 9 })),
                after: &[],
            },
            Example {
                says: "A budget that is too small",
                before: FILES,
                input: budget(1),
                gives: Gives::Including(json!({ "fileCount": 1, "sizeBytes": 4, "truncated": true })),
                after: &[],
            },
            Example {
                says: "A budget that is none",
                before: FILES,
                input: budget(-1),
                gives: Gives::Refusal(Kind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

fn truncated(counted: Output) -> Output {
    Output { truncated: true, hint: Some(TRUNCATED), ..counted }
}
