//! The log: one line per call and its outcome. Hashes and sizes, never note text.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use lapidary_tools::{Interruption, Kind, Reason, Rendered, Walked};
use lapidary_vault::{News, Stop, VaultPath, store::LogFile};
use serde::Serialize;
use serde_json::json;

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
        if named.len() > 1 {
            let mut seen = BTreeSet::new();
            named.retain(|file| seen.insert(file.clone()));
        }
        named
    }

    fn json(&self) -> String {
        let Execution { receipt, walked, refused_steps, .. } = self.execution;
        let mut line = JsonLine::default();
        line.put("ts", &iso(self.time));
        line.put("client_id", &self.execution.principal().id);
        line.put("profile", &self.execution.profile().name);
        line.put("tool", &self.execution.operation_name);
        line.put("via", &self.execution.via);
        line.put("vault", &self.execution.vault.map(|served| served.vault.name()));
        let named = self.named();
        line.put("file", &named.first());
        if named.len() > 1 {
            line.put("files", &named);
        }
        line.put("args_hash", &self.execution.given_hash.to_string());
        line.put("ok", &matches!(self.ending, Ending::Ok));
        match self.ending {
            Ending::Ok => {}
            Ending::Asked => line.put("asked", &true),
            Ending::UnknownTool => line.put("reason", &"tool_unknown"),
            Ending::Refused(reason) => {
                line.put("reason", &reason.kind().wire_code().id);
                line.put("error_code", &reason.kind().wire_code().code);
            }
        }
        if self.execution.dry_run {
            line.put("dry_run", &true);
        }
        if !refused_steps.is_empty() {
            let one = |(tool, kind): &(String, Kind)| json!({ "tool": tool, "reason": kind.wire_code().id });
            line.put("refused", &refused_steps.iter().map(one).collect::<Vec<_>>());
        }
        if let [changed] = &receipt.changed[..] {
            line.put("before_hash", &changed.before.map(|hash| hash.to_string()));
            line.put("after_hash", &changed.after.map(|hash| hash.to_string()));
            line.put("moved_to", &changed.moved_to.as_ref().map(ToString::to_string));
            line.put("bytes_before", &changed.before.map(|_| changed.bytes_before));
            line.put("bytes_after", &changed.bytes_after);
        } else if !receipt.changed.is_empty() {
            line.put("files_changed", &receipt.changed.len());
        }
        line.put("checkpoint", &receipt.checkpoint);
        if let Some(Walked { files, bytes, stopped }) = walked {
            line.put("files_scanned", &files);
            line.put("bytes_read", &bytes);
            line.put("truncated", &stopped.map(|_| true));
        }
        let stopped = match self.ending {
            Ending::Refused(Reason::Interrupted(Interruption::TakenBack)) => Some(Stop::Cancelled),
            Ending::Refused(Reason::Interrupted(Interruption::Deadline { .. })) => Some(Stop::Deadline),
            _ => walked.and_then(|walked| walked.stopped),
        };
        line.put("abort_reason", &stopped.map(why));
        line.put("duration_ms", &(self.duration.as_secs_f64() * 1000.0));
        line.put("reply_bytes", &self.reply_bytes);
        line.end()
    }
}

/// A line of JSON as it is written. A value that is nothing is left out.
#[derive(Default)]
struct JsonLine(Vec<u8>);

impl JsonLine {
    fn put(&mut self, key: &str, value: &(impl Serialize + ?Sized)) {
        let start = self.0.len();
        self.0.push(if start == 0 { b'{' } else { b',' });
        let key = serde_json::to_writer(&mut self.0, key);
        self.0.push(b':');
        let at = self.0.len();
        let value = serde_json::to_writer(&mut self.0, value);
        if key.and(value).is_err() || self.0[at..] == *b"null" {
            self.0.truncate(start);
        }
    }

    fn end(mut self) -> String {
        self.0.push(b'}');
        // What serde writes is UTF-8.
        String::from_utf8(self.0).unwrap_or_default()
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
        self.append(log, &line.to_string());
    }

    fn append(&self, log: &LogFile, line: &str) {
        if let Err(error) = log.append(line)
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            tracing::warn!("the audit log cannot be written ({error}); calls go on without it");
        }
    }
}
