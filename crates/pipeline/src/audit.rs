//! The log: one line per call and its outcome. Hashes and sizes, never note text.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use lapidary_note::ContentHash;
use lapidary_tools::{Interruption, Kind, Reason, Walked};
use lapidary_vault::{News, Receipt, Stop, VaultPath, store::LogFile};
use serde_json::{Map, Value, json};

use crate::clock::iso;

/// The name of a vault's log in its state folder.
pub const AUDIT_FILE: &str = "audit.jsonl";

/// What the log keeps of one call.
#[derive(Clone, Debug)]
pub struct AuditLine {
    pub time: SystemTime,
    pub caller: String,
    pub known_as: String,
    pub one_client: bool,
    pub profile: String,
    pub tool: String,
    /// The tool that led to this one.
    pub via: Option<&'static str>,
    pub vault: Option<String>,
    /// The files that the arguments name.
    pub files: Vec<String>,
    pub arguments: ContentHash,
    pub dry_run: bool,
    /// Operations of a batch that came to nothing.
    pub refused: Vec<(String, Kind)>,
    /// What was changed, or would have been.
    pub receipt: Receipt,
    pub outcome: Outcome,
    /// What a walk through the vault cost.
    pub walked: Option<Walked>,
    pub duration: Duration,
    pub reply_bytes: usize,
}

#[derive(Clone, Debug)]
pub enum Outcome {
    Ok,
    Asked,
    Refused(Reason),
    UnknownTool,
}

impl AuditLine {
    /// All files that were named or changed, each once, in the order in which they come.
    fn named(&self) -> Vec<String> {
        let mut named: Vec<String> = self.files.clone();
        for changed in &self.receipt.changed {
            named.push(changed.path.to_string());
            named.extend(changed.moved_to.as_ref().map(ToString::to_string));
        }
        let mut seen = BTreeSet::new();
        named.retain(|file| seen.insert(file.clone()));
        named
    }

    fn json(&self) -> Value {
        let mut line = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                line.insert(key.to_owned(), value);
            }
        };
        put("ts", json!(iso(self.time)));
        put("client_id", json!(self.caller));
        put("profile", json!(self.profile));
        put("tool", json!(self.tool));
        put("via", json!(self.via));
        put("vault", json!(self.vault));
        let named = self.named();
        put("file", json!(named.first()));
        if named.len() > 1 {
            put("files", json!(named));
        }
        put("args_hash", json!(self.arguments.to_string()));
        put("ok", json!(matches!(self.outcome, Outcome::Ok)));
        match &self.outcome {
            Outcome::Ok => {}
            Outcome::Asked => put("asked", json!(true)),
            Outcome::UnknownTool => put("reason", json!("tool_unknown")),
            Outcome::Refused(reason) => {
                put("reason", json!(reason.kind().wire_code().id));
                put("error_code", json!(reason.kind().wire_code().code));
            }
        }
        if self.dry_run {
            put("dry_run", json!(true));
        }
        if !self.refused.is_empty() {
            let one = |(tool, kind): &(String, Kind)| json!({ "tool": tool, "reason": kind.wire_code().id });
            put("refused", self.refused.iter().map(one).collect());
        }
        if let [changed] = &self.receipt.changed[..] {
            put("before_hash", json!(changed.before.map(|hash| hash.to_string())));
            put("after_hash", json!(changed.after.map(|hash| hash.to_string())));
            put("moved_to", json!(changed.moved_to.as_ref().map(ToString::to_string)));
            put("bytes_before", json!(changed.before.map(|_| changed.bytes_before)));
            put("bytes_after", json!(changed.bytes_after));
        } else if !self.receipt.changed.is_empty() {
            put("files_changed", json!(self.receipt.changed.len()));
        }
        put("checkpoint", json!(self.receipt.checkpoint));
        if let Some(Walked { files, bytes, stopped }) = self.walked {
            put("files_scanned", json!(files));
            put("bytes_read", json!(bytes));
            put("truncated", json!(stopped.map(|_| true)));
            put("abort_reason", json!(stopped.map(why)));
        }
        match &self.outcome {
            Outcome::Refused(Reason::Interrupted(Interruption::TakenBack)) => {
                put("abort_reason", json!(why(Stop::Cancelled)));
            }
            Outcome::Refused(Reason::Interrupted(Interruption::Deadline { .. })) => {
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
pub(crate) struct Audit {
    warn: fn(&str),
    failed: AtomicBool,
}

impl Audit {
    pub(crate) fn new(warn: fn(&str)) -> Self {
        Self { warn, failed: AtomicBool::new(false) }
    }

    pub(crate) fn record(&self, log: &LogFile, line: &AuditLine) {
        self.append(log, &line.json());
    }

    /// What happened to the vault without a call.
    pub(crate) fn tell(&self, log: &LogFile, time: SystemTime, news: &News) {
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
            (self.warn)(&format!("the audit log cannot be written ({error}); calls go on without it"));
        }
    }
}
