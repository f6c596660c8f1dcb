//! The tools that hints may name.

use crate::{Catalogue, CatalogueEntry, ToolStanding, WireFamily};

/// The tools a caller can call. Hints name no others, so that a model is never sent to a tool that is switched off.
#[derive(Clone, Copy)]
pub struct OfferedTools<'a>(&'a Catalogue);

impl<'a> OfferedTools<'a> {
    pub fn of(catalogue: &'a Catalogue) -> Self {
        Self(catalogue)
    }

    /// Whether this family sends its JSON as the text of an answer.
    pub(crate) fn in_json(&self, family: WireFamily) -> bool {
        self.0.in_json(family)
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        self.tools().any(|entry| entry.spec.name() == tool)
    }

    /// Whether a tool is in the caller's list, with its schema.
    pub(crate) fn lists(&self, tool: &str) -> bool {
        self.tools().any(|entry| entry.spec.name() == tool && entry.standing == ToolStanding::Listed)
    }

    /// Whether any tool has this argument.
    pub(crate) fn takes(&self, argument: &str) -> bool {
        self.tools().any(|entry| entry.spec.takes(argument))
    }

    /// The first of these tools that the caller has; they come in order of preference.
    pub(crate) fn first(&self, tools: &[&'static str]) -> Option<&'static str> {
        tools.iter().copied().find(|tool| self.has(tool))
    }

    /// Those of these tools that the caller has, as alternatives.
    pub(crate) fn any(&self, tools: &[&str]) -> Option<String> {
        let named: Vec<String> = tools.iter().filter(|tool| self.has(tool)).map(|tool| format!("`{tool}`")).collect();
        (!named.is_empty()).then(|| named.join(" or "))
    }

    fn tools(&self) -> impl Iterator<Item = &'a CatalogueEntry> {
        self.0.on()
    }
}
