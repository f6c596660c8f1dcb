//! One thing that was looked at from outside.

use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindingKind {
    Fine,
    /// It works, but not for everyone, or not as well as it could.
    Doubtful,
    Wrong,
}

pub(super) struct RemoteFinding {
    pub(super) kind: FindingKind,
    /// What was looked at.
    pub(super) what: &'static str,
    pub(super) found: String,
    /// What to do about it.
    pub(super) advice: Option<String>,
}

impl RemoteFinding {
    pub(super) fn fine(what: &'static str, found: impl Into<String>) -> Self {
        Self { kind: FindingKind::Fine, what, found: found.into(), advice: None }
    }

    pub(super) fn doubtful(what: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { kind: FindingKind::Doubtful, what, found: found.into(), advice: Some(advice.into()) }
    }

    pub(super) fn wrong(what: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { kind: FindingKind::Wrong, what, found: found.into(), advice: Some(advice.into()) }
    }

    pub(super) fn line(&self) -> String {
        let mark = match self.kind {
            FindingKind::Fine => '✓',
            FindingKind::Doubtful => '!',
            FindingKind::Wrong => '✗',
        };
        format!("  {mark}  {}: {}", self.what, self.found)
    }

    pub(super) fn json(&self) -> Value {
        let kind = match self.kind {
            FindingKind::Fine => "fine",
            FindingKind::Doubtful => "doubtful",
            FindingKind::Wrong => "wrong",
        };
        json!({ "kind": kind, "what": self.what, "found": self.found, "advice": self.advice })
    }
}
