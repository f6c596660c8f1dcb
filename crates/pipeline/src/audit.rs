//! The log: one line per call and its outcome. Hashes and sizes, never note text.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use lapidary_tools::{Interruption, Kind, Reason, Rendered, Walked};
use lapidary_vault::{News, Stop, VaultPath, store::LogFile};
use serde_json::{Map, Value, json};

use crate::{Outcome, Refusal, clock::iso, execution::Execution};

/// The name of a vault's log in its state folder.
pub const AUDIT_FILE: &str = "audit.jsonl";

/// What the log keeps of one call, made from the call and its outcome.
pub(crate) struct AuditRecord<'e> {
    pub(crate) time: SystemTime,
    execution: &'e Execution<'e>,
    ending: Ending<'e>,
    duration: Duration,
    reply_bytes: usize,
}

/// How the call ended, as far as the log tells.
enum Ending<'e> {
    Ok,
    Asked,
    Refused(&'e Reason),
    UnknownTool,
}

impl<'e> AuditRecord<'e> {
    pub(crate) fn of(execution: &'e Execution<'e>, outcome: &'e Outcome) -> Self {
        let (ending, reply_bytes) = match outcome {
            Outcome::Answered(payload) => (Ending::Ok, payload.reply_bytes()),
            Outcome::Asked(_) => (Ending::Asked, 0),
            Outcome::Refused(Refusal { reason, rendered }) => {
                (Ending::Refused(reason), rendered.as_ref().map_or(0, Rendered::bytes))
            }
            Outcome::UnknownTool { .. } => (Ending::UnknownTool, 0),
        };
        Self { time: execution.time, execution, ending, duration: execution.started.elapsed(), reply_bytes }
    }

    /// All files that were named or changed, each once, in the order in which they come.
    fn named(&self) -> Vec<String> {
        let mut named: Vec<String> = self.execution.files.clone();
        for changed in &self.execution.receipt.changed {
            named.push(changed.path.to_string());
            named.extend(changed.moved_to.as_ref().map(ToString::to_string));
        }
        let mut seen = BTreeSet::new();
        named.retain(|file| seen.insert(file.clone()));
        named
    }

    fn json(&self) -> Value {
        let Execution { receipt, walked, refused_steps, .. } = self.execution;
        let mut line = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                line.insert(key.to_owned(), value);
            }
        };
        put("ts", json!(iso(self.time)));
        put("client_id", json!(self.execution.principal().id));
        put("profile", json!(self.execution.profile().name));
        put("tool", json!(self.execution.operation_name));
        put("via", json!(self.execution.via));
        put("vault", json!(self.execution.vault.map(|served| served.vault.name())));
        let named = self.named();
        put("file", json!(named.first()));
        if named.len() > 1 {
            put("files", json!(named));
        }
        put("args_hash", json!(self.execution.given_hash.to_string()));
        put("ok", json!(matches!(self.ending, Ending::Ok)));
        match self.ending {
            Ending::Ok => {}
            Ending::Asked => put("asked", json!(true)),
            Ending::UnknownTool => put("reason", json!("tool_unknown")),
            Ending::Refused(reason) => {
                put("reason", json!(reason.kind().wire_code().id));
                put("error_code", json!(reason.kind().wire_code().code));
            }
        }
        if self.execution.dry_run {
            put("dry_run", json!(true));
        }
        if !refused_steps.is_empty() {
            let one = |(tool, kind): &(String, Kind)| json!({ "tool": tool, "reason": kind.wire_code().id });
            put("refused", refused_steps.iter().map(one).collect());
        }
        if let [changed] = &receipt.changed[..] {
            put("before_hash", json!(changed.before.map(|hash| hash.to_string())));
            put("after_hash", json!(changed.after.map(|hash| hash.to_string())));
            put("moved_to", json!(changed.moved_to.as_ref().map(ToString::to_string)));
            put("bytes_before", json!(changed.before.map(|_| changed.bytes_before)));
            put("bytes_after", json!(changed.bytes_after));
        } else if !receipt.changed.is_empty() {
            put("files_changed", json!(receipt.changed.len()));
        }
        put("checkpoint", json!(receipt.checkpoint));
        if let Some(Walked { files, bytes, stopped }) = walked {
            put("files_scanned", json!(files));
            put("bytes_read", json!(bytes));
            put("truncated", json!(stopped.map(|_| true)));
            put("abort_reason", json!(stopped.map(why)));
        }
        match self.ending {
            Ending::Refused(Reason::Interrupted(Interruption::TakenBack)) => {
                put("abort_reason", json!(why(Stop::Cancelled)));
            }
            Ending::Refused(Reason::Interrupted(Interruption::Deadline { .. })) => {
                put("abort_reason", json!(why(Stop::Deadline)));
            }
            _ => {}
        }
        put("duration_ms", json!(self.duration.as_secs_f64() * 1000.0));
        put("reply_bytes", json!(self.reply_bytes));
        Value::Object(line)
    }
}

fn why(stop: Stop) -> &'static str {
    match stop {
        Stop::Budget => "budget",
        Stop::Deadline => "deadline",
        Stop::Cancelled => "cancelled",
    }
}

/// Writes lines and says once if it cannot: a server on a read-only disk still serves.
#[derive(Default)]
pub(crate) struct AuditLog {
    failed: AtomicBool,
}

impl AuditLog {
    pub(crate) fn record(&self, log: &LogFile, record: &AuditRecord<'_>) {
        self.append(log, &record.json());
    }

    /// What happened to the vault without a call.
    pub(crate) fn record_news(&self, log: &LogFile, time: SystemTime, news: &News) {
        let files = |paths: &[VaultPath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        // First, as in every line: whoever reads several logs sorts them by it.
        let ts = iso(time);
        let line = match news {
            News::Completed { checkpoint } => {
                json!({ "ts": ts, "event": "change_completed", "checkpoint": checkpoint })
            }
            News::Undone { left } => json!({ "ts": ts, "event": "change_undone", "left": files(left) }),
            News::LateSave { path, checkpoint } => {
                json!({ "ts": ts, "event": "late_save", "file": path.to_string(), "checkpoint": checkpoint })
            }
            News::Postponed { why } => json!({ "ts": ts, "event": "postponed", "why": why }),
        };
        self.append(log, &line);
    }

    fn append(&self, log: &LogFile, line: &Value) {
        if let Err(error) = log.append(&line.to_string())
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            tracing::warn!("the audit log cannot be written ({error}); calls go on without it");
        }
    }
}
