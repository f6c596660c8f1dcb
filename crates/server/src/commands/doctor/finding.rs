//! One thing that was looked at.

use std::borrow::Cow;

use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindingLevel {
    // Shown as well: a check that is silent when all is fine cannot be told from one that did not run.
    Ok,
    /// It works, but not for every client, or not as well as it could.
    Warning,
    Failure,
}

pub(super) struct Finding {
    pub(super) level: FindingLevel,
    /// What was looked at.
    pub(super) what: Cow<'static, str>,
    pub(super) found: String,
    /// What to do about it.
    pub(super) advice: Option<String>,
}

impl Finding {
    pub(super) fn ok(what: impl Into<Cow<'static, str>>, found: impl Into<String>) -> Self {
        Self { level: FindingLevel::Ok, what: what.into(), found: found.into(), advice: None }
    }

    pub(super) fn warning(
        what: impl Into<Cow<'static, str>>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { level: FindingLevel::Warning, what: what.into(), found: found.into(), advice: Some(advice.into()) }
    }

    pub(super) fn failure(
        what: impl Into<Cow<'static, str>>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { level: FindingLevel::Failure, what: what.into(), found: found.into(), advice: Some(advice.into()) }
    }

    pub(super) fn json(&self) -> Value {
        let level = match self.level {
            FindingLevel::Ok => "ok",
            FindingLevel::Warning => "warning",
            FindingLevel::Failure => "failure",
        };
        json!({ "level": level, "what": self.what, "found": self.found, "advice": self.advice })
    }
}
