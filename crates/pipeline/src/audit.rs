//! The log: one line per call and its outcome. Hashes and sizes, never note text.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    time::SystemTime,
};

use lapidary_note::ContentHash;
use lapidary_recipe::RecipeName;
use lapidary_tools::{Interruption, OutsideAction, Reason, ReasonKind, RenderedReply, StepCalls, WalkCost};
use lapidary_vault::{FileChange, ScanStop, VaultNews, VaultPath, store::LogFile};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{Outcome, Refusal, clock::iso, execution::Execution};

/// The name of a vault's log in its state folder.
pub const AUDIT_FILE: &str = "audit.jsonl";

/// All files that were named or changed, each once, in order.
fn named(execution: &Execution<'_>) -> Vec<String> {
    let mut named: Vec<String> = execution.files.clone();
    for changed in &execution.receipt.changed {
        named.push(changed.path.to_string());
        named.extend(changed.moved_to.as_ref().map(ToString::to_string));
    }
    if named.len() > 1 {
        let mut seen = BTreeSet::new();
        named.retain(|file| seen.insert(file.clone()));
    }
    named
}

/// The log's record of one call, built from the call and its outcome.
fn line(execution: &Execution<'_>, outcome: &Outcome) -> String {
    let Execution { receipt, walked, refused_steps, .. } = execution;
    let mut line = JsonLine::default();
    line.put("ts", &iso(execution.time));
    line.put("client_id", execution.principal().label());
    line.put("profile", &execution.profile().name);
    line.put("tool", &execution.operation_name);
    line.put("via", &execution.via);
    line.put("recipe", &execution.ran.recipe.as_ref().map(RecipeName::as_str));
    line.put("vault", &execution.vault.map(|served| served.vault.name()));
    let named = named(execution);
    line.put("file", &named.first());
    if named.len() > 1 {
        line.put("files", &named);
    }
    // Arguments may hold text of notes, so the log has only what makes two calls comparable.
    line.put("args_hash", &execution.given_hash.to_string());
    line.put("ok", &matches!(outcome, Outcome::Answered(_)));
    match outcome {
        Outcome::Answered(_) => {}
        Outcome::Asked(_) | Outcome::Previewed(_) => line.put("asked", &true),
        Outcome::UnknownTool { .. } => line.put("reason", &"tool_unknown"),
        Outcome::Refused(Refusal { reason, .. }) => {
            line.put("reason", &reason.kind().wire_code().id);
            line.put("error_code", &reason.kind().wire_code().code);
        }
    }
    if execution.dry_run {
        line.put("dry_run", &true);
    }
    if !execution.ran.calls.is_empty() {
        let one = |made: &StepCalls| json!({ "tool": made.tool, "calls": made.calls });
        line.put("steps", &execution.ran.calls.iter().map(one).collect::<Vec<_>>());
    }
    if !refused_steps.is_empty() {
        let one = |(tool, kind): &(String, ReasonKind)| json!({ "tool": tool, "reason": kind.wire_code().id });
        line.put("refused", &refused_steps.iter().map(one).collect::<Vec<_>>());
    }
    // Nearly every change has one file, so its facts are fields of the line and need no list.
    if let [changed] = &receipt.changed[..] {
        facts_of(changed).iter().for_each(|(key, value)| line.put(key, value));
    } else if !receipt.changed.is_empty() {
        line.put("files_changed", &receipt.changed.len());
        line.put("changes", &receipt.changed.iter().take(MOST_CHANGES).map(change).collect::<Vec<_>>());
    }
    match &execution.acted {
        Some(OutsideAction::App(action)) => line.put("app", &action.logged()),
        // Which one is below, as for a call that was refused.
        Some(OutsideAction::Call(_)) => line.put("called", &true),
        None => {}
    }
    let asked = execution.servers_asked.all();
    if !asked.is_empty() {
        line.put("mcp", &asked);
    }
    let asked = execution.web_asked.all();
    if !asked.is_empty() {
        line.put("web", &asked);
    }
    line.put("checkpoint", &receipt.checkpoint);
    if let Some(WalkCost { files, bytes, stopped }) = walked {
        line.put("files_scanned", &files);
        line.put("bytes_read", &bytes);
        line.put("truncated", &stopped.map(|_| true));
    }
    // A call that was refused for it has no walk that could say so.
    let stopped = match outcome {
        Outcome::Refused(Refusal { reason: Reason::Interrupted(Interruption::TakenBack), .. }) => {
            Some(ScanStop::Cancelled)
        }
        Outcome::Refused(Refusal { reason: Reason::Interrupted(Interruption::Deadline { .. }), .. }) => {
            Some(ScanStop::Deadline)
        }
        _ => walked.and_then(|walked| walked.stopped),
    };
    line.put("abort_reason", &stopped.map(why));
    line.put("duration_ms", &(execution.started.elapsed().as_secs_f64() * 1000.0));
    let reply_bytes = match outcome {
        Outcome::Answered(payload) => payload.reply_bytes(),
        Outcome::Refused(Refusal { rendered, .. }) => rendered.as_ref().map_or(0, RenderedReply::bytes),
        Outcome::Asked(_) | Outcome::Previewed(_) | Outcome::UnknownTool { .. } => 0,
    };
    line.put("reply_bytes", &reply_bytes);
    line.end()
}

/// For a change of very many files, the line names all; the checkpoint has the hashes of the rest.
const MOST_CHANGES: usize = 20;

/// One of several files that were changed.
fn change(changed: &FileChange) -> Map<String, Value> {
    let file = ("file", json!(changed.path.to_string()));
    let facts = std::iter::once(file).chain(facts_of(changed)).filter(|(_, value)| !value.is_null());
    facts.map(|(key, value)| (key.to_owned(), value)).collect()
}

fn facts_of(changed: &FileChange) -> [(&'static str, Value); 5] {
    let hash = |hash: Option<ContentHash>| json!(hash.map(|hash| hash.to_string()));
    [
        ("before_hash", hash(changed.before)),
        ("after_hash", hash(changed.after)),
        ("moved_to", json!(changed.moved_to.as_ref().map(ToString::to_string))),
        // Left out for a new file: 0 would say that there was an empty one.
        ("bytes_before", json!(changed.before.map(|_| changed.bytes_before))),
        ("bytes_after", json!(changed.bytes_after)),
    ]
}

/// A line of JSON as written. Null values are omitted.
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
        // A key with `null` says no more than no key, and costs bytes in every line.
        if key.and(value).is_err() || self.0[at..] == *b"null" {
            self.0.truncate(start);
        }
    }

    fn end(mut self) -> String {
        self.0.push(b'}');
        // serde writes UTF-8.
        String::from_utf8(self.0).unwrap_or_default()
    }
}

fn why(stop: ScanStop) -> &'static str {
    match stop {
        ScanStop::Budget => "budget",
        ScanStop::Deadline => "deadline",
        ScanStop::Cancelled => "cancelled",
    }
}

/// Writes lines and reports once if it cannot: a server on a read-only disk still serves.
#[derive(Default)]
pub(crate) struct AuditLog {
    failed: AtomicBool,
}

impl AuditLog {
    pub(crate) fn record(&self, log: &LogFile, execution: &Execution<'_>, outcome: &Outcome) {
        self.append(log, &line(execution, outcome));
    }

    /// Events in the vault without a call.
    pub(crate) fn record_news(&self, log: &LogFile, time: SystemTime, news: &VaultNews) {
        let files = |paths: &[VaultPath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        // First, as in every line: readers of several logs sort by it.
        let ts = iso(time);
        let line = match news {
            VaultNews::Completed { checkpoint } => {
                json!({ "ts": ts, "event": "change_completed", "checkpoint": checkpoint })
            }
            VaultNews::Undone { left } => json!({ "ts": ts, "event": "change_undone", "left": files(left) }),
            VaultNews::LateSave { path, checkpoint } => {
                json!({ "ts": ts, "event": "late_save", "file": path.to_string(), "checkpoint": checkpoint })
            }
            VaultNews::Postponed { why } => json!({ "ts": ts, "event": "postponed", "why": why }),
        };
        self.append(log, &line.to_string());
    }

    /// A decision of the owner without a call.
    pub(crate) fn record_event(&self, log: &LogFile, line: &Value) {
        self.append(log, &line.to_string());
    }

    fn append(&self, log: &LogFile, line: &str) {
        if let Err(error) = log.append(line)
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            tracing::warn!("the audit log cannot be written ({error}); calls continue without it");
        }
    }
}
