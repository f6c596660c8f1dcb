//! A line of the log as people look for it and read it, at a terminal and in the console.

use lapidary_tools::ReasonKind;
use serde_json::Value;

use crate::commands::{client_name, local_time::LocalTime};

/// A call in the log.
pub(crate) struct LoggedCall(Value);

/// How an outcome looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallTone {
    Plain,
    Changed,
    Refused,
    Waiting,
}

/// Which calls are wanted. What is not said lets all through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallFilter {
    /// A part of the name.
    pub(crate) client: Option<String>,
    pub(crate) tool: Option<String>,
    /// A part of a path.
    pub(crate) note: Option<String>,
    pub(crate) reason: Option<String>,
    /// Whether tool and reason are given in full, or as a part.
    pub(crate) in_full: bool,
    pub(crate) outcome: Option<WantedOutcome>,
    /// At most this many seconds ago.
    pub(crate) since: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WantedOutcome {
    Changed,
    Refused,
}

impl LoggedCall {
    /// `None` for a line that was cut off by a crash.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok().filter(Value::is_object).map(Self)
    }

    pub(crate) fn facts(&self) -> &Value {
        &self.0
    }

    /// A fact that is text; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    /// A fact that is a number, without decimals.
    pub(crate) fn number(&self, name: &str) -> String {
        // Durations are logged with decimals, which only make columns wider.
        self.0[name].as_f64().map(|number| format!("{number:.0}")).unwrap_or_default()
    }

    pub(crate) fn client(&self) -> &str {
        client_name(self.text("client_id"))
    }

    /// Of the change that it made.
    pub(crate) fn checkpoint(&self) -> Option<&str> {
        self.0["checkpoint"].as_str()
    }

    /// What became of it, in words.
    pub(crate) fn outcome(&self) -> (&str, CallTone) {
        if let Some(event) = self.0["event"].as_str() {
            return (event, CallTone::Waiting);
        }
        // In this order: a dry run has no checkpoint, and a question is neither a success nor a refusal.
        match (self.0["ok"].as_bool(), self.0.get("asked")) {
            (Some(true), _) if self.0.get("dry_run").is_some() => ("dry run", CallTone::Plain),
            (Some(true), _) if self.checkpoint().is_some() => ("changed", CallTone::Changed),
            (Some(true), _) => ("ok", CallTone::Plain),
            (_, Some(_)) => ("asked", CallTone::Waiting),
            _ if self.text("reason") == ReasonKind::ApprovalPending.wire_code().id => {
                ("waits for approval", CallTone::Waiting)
            }
            // The id of the reason is what `lapidary explain` takes.
            _ => (self.0["reason"].as_str().unwrap_or("refused"), CallTone::Refused),
        }
    }

    /// What its refusal means.
    pub(crate) fn why(&self) -> Option<&'static str> {
        let reason = self.0["reason"].as_str()?;
        ReasonKind::ALL.iter().map(|kind| kind.wire_code()).find(|code| code.id == reason).map(|code| code.when)
    }
}

impl CallFilter {
    pub(crate) fn is_open(&self) -> bool {
        let Self { client, tool, note, reason, outcome, since, .. } = self;
        [client, tool, note, reason].iter().all(|given| given.is_none()) && outcome.is_none() && since.is_none()
    }

    pub(crate) fn lets(&self, call: &LoggedCall, time: &LocalTime) -> bool {
        let has = |given: &Option<String>, found: &str| {
            // Names of clients and paths are searched as people remember them, without case.
            given.as_ref().is_none_or(|given| found.to_lowercase().contains(&given.to_lowercase()))
        };
        let is = |given: &Option<String>, found: &str| match self.in_full {
            // On the command line a name is typed in full; in the console it is typed letter by letter.
            true => given.as_ref().is_none_or(|given| found == given),
            false => has(given, found),
        };
        // The dotted spelling of a tool is accepted wherever one is named.
        let tool = self.tool.as_ref().map(|tool| tool.replace('.', "_"));
        // A call may be about several files; `file` is the first or the only one.
        let mut names = std::iter::once(call.text("file"))
            .chain(call.0["files"].as_array().into_iter().flatten().filter_map(Value::as_str));
        has(&self.client, call.text("client_id"))
            && is(&tool, call.text("tool"))
            && is(&self.reason, call.text("reason"))
            && (self.note.is_none() || names.any(|name| has(&self.note, name)))
            && self.since.is_none_or(|since| time.is_within(call.text("ts"), since))
            && match self.outcome {
                None => true,
                Some(WantedOutcome::Changed) => call.checkpoint().is_some(),
                Some(WantedOutcome::Refused) => call.0["ok"] == Value::Bool(false),
            }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use serde_json::json;

    use super::*;

    fn call(facts: &Value) -> LoggedCall {
        LoggedCall::parse(&facts.to_string()).unwrap()
    }

    #[test]
    fn an_outcome_has_words_and_a_tone() {
        for (facts, words, tone) in [
            (json!({ "ok": true }), "ok", CallTone::Plain),
            (json!({ "ok": true, "checkpoint": "c1" }), "changed", CallTone::Changed),
            (json!({ "ok": true, "checkpoint": "c1", "dry_run": true }), "dry run", CallTone::Plain),
            (json!({ "ok": false, "asked": true }), "asked", CallTone::Waiting),
            (json!({ "ok": false, "reason": "approval_pending" }), "waits for approval", CallTone::Waiting),
            (json!({ "ok": false, "reason": "note_missing" }), "note_missing", CallTone::Refused),
            (json!({ "event": "recovered" }), "recovered", CallTone::Waiting),
        ] {
            assert_eq!(call(&facts).outcome(), (words, tone), "{facts}");
        }
        assert!(call(&json!({ "reason": "approval_pending" })).why().is_some());
        assert!(LoggedCall::parse("{\"ok\": tr").is_none());
    }

    #[test]
    fn a_filter_finds_parts_or_whole_names() {
        let time = LocalTime::at(SystemTime::UNIX_EPOCH);
        let call = call(&json!({
            "ok": false, "client_id": "http:Phone", "tool": "file_read", "reason": "note_missing", "file": "a.md",
            "files": ["a.md", "Deep/b.md"],
        }));
        let some = |text: &str| Some(text.to_owned());
        let part =
            CallFilter { tool: some("read"), note: some("deep"), client: some("phone"), ..CallFilter::default() };
        assert!(part.lets(&call, &time) && !part.is_open());
        assert!(!CallFilter { in_full: true, ..part.clone() }.lets(&call, &time));
        assert!(CallFilter { in_full: true, tool: some("file.read"), ..part.clone() }.lets(&call, &time));
        assert!(!CallFilter { outcome: Some(WantedOutcome::Changed), ..part.clone() }.lets(&call, &time));
        assert!(!CallFilter { reason: some("denied"), ..part }.lets(&call, &time));
        assert!(CallFilter::default().is_open());
    }
}
