//! The budget of a call: files, bytes and time.

use std::time::Duration;

use lapidary_operation::{Cancel, Context};
use lapidary_vault::{ElapsedTime, ScanStop};
use schemars::JsonSchema;
use serde::Deserialize;

/// 0 means no limit; omitted values default to the server's own.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BudgetInput {
    /// Notes to scan.
    #[serde(default)]
    max_files_scanned: Option<u64>,
    /// Bytes of text to scan.
    #[serde(default)]
    max_bytes_read: Option<u64>,
    /// Time to take.
    #[serde(default)]
    deadline_ms: Option<u64>,
}

/// Where the arguments of a tool with a budget set the time limit of a call.
pub const DEADLINE: &str = "/_budget/deadlineMs";

/// How many operations may be sent at once; 0 means any number.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OperationsInput {
    #[serde(default)]
    max_bulk_ops: Option<u64>,
}

impl OperationsInput {
    /// The call's own value overrides the server's, in either direction.
    pub fn limit(&self, context: &Context<'_>) -> Option<u64> {
        Some(self.max_bulk_ops.unwrap_or(context.limits.max_operations)).filter(|limit| *limit != 0)
    }
}

/// What a call may spend.
pub struct BudgetLimits {
    pub files: Option<usize>,
    pub bytes: Option<u64>,
    started: ElapsedTime,
    allowed: Duration,
}

impl BudgetLimits {
    pub fn of(budget: Option<&BudgetInput>, context: &Context<'_>) -> Self {
        let unless_zero = |limit: u64| Some(limit).filter(|limit| *limit != 0);
        let own = |given: fn(&BudgetInput) -> Option<u64>| budget.and_then(given);
        let files = unless_zero(own(|budget| budget.max_files_scanned).unwrap_or(context.limits.max_files));
        let asked = own(|budget| budget.deadline_ms).and_then(unless_zero).map(Duration::from_millis);
        // Partial results are worth more than a call that is cut off.
        let left = context.cancel.left();
        Self {
            files: files.map(|files| usize::try_from(files).unwrap_or(usize::MAX)),
            bytes: unless_zero(own(|budget| budget.max_bytes_read).unwrap_or(context.limits.max_bytes)),
            started: ElapsedTime::start(),
            // Never more than the call has left, whatever was asked for.
            allowed: asked.map_or(left, |asked| asked.min(left)),
        }
    }

    /// Whether to stop, and why. The first file is always scanned, however small the budget, so that a continued call
    /// makes progress.
    pub fn stop_after(&self, files: usize, cancel: &Cancel) -> Option<ScanStop> {
        self.stop(cancel).filter(|stop| files > 0 || *stop == ScanStop::Cancelled)
    }

    pub fn stop(&self, cancel: &Cancel) -> Option<ScanStop> {
        match () {
            () if cancel.check().is_err() => Some(ScanStop::Cancelled),
            () if self.started.elapsed() >= self.allowed => Some(ScanStop::Deadline),
            () => None,
        }
    }
}
