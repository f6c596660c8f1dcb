//! The tools that hints may name.

use crate::{Catalogue, CatalogueEntry, ToolStanding, WireFamily};

/// The tools a caller can call. Hints name no others, so that a model is never sent to a tool that is switched off.
#[derive(Clone, Copy)]
pub struct OfferedTools<'a> {
    catalogue: &'a Catalogue,
    /// The tool whose call is answered.
    called: Option<&'a CatalogueEntry>,
}

impl<'a> OfferedTools<'a> {
    pub fn of(catalogue: &'a Catalogue) -> Self {
        Self { catalogue, called: None }
    }

    /// For the answer to a call of this tool: a hint that names an argument without a tool means one that this tool has.
    #[must_use]
    pub fn called(self, tool: &str) -> Self {
        Self { called: self.catalogue.find(tool).ok(), ..self }
    }

    /// Whether this family sends its JSON as the text of an answer.
    pub(crate) fn in_json(&self, family: WireFamily) -> bool {
        self.catalogue.in_json(family)
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        self.tools().any(|entry| entry.spec.name() == tool)
    }

    /// Whether it is this tool whose call is answered.
    pub(crate) fn calls(&self, tool: &str) -> bool {
        self.called.is_some_and(|entry| entry.spec.name() == tool)
    }

    /// Whether a tool is in the caller's list, with its schema.
    pub(crate) fn lists(&self, tool: &str) -> bool {
        self.tools().any(|entry| entry.spec.name() == tool && entry.standing == ToolStanding::Listed)
    }

    /// Whether the called tool has this argument; if none was called, whether any tool has.
    pub(crate) fn takes(&self, argument: &str) -> bool {
        match self.called {
            Some(entry) => entry.spec.takes(argument),
            None => self.tools().any(|entry| entry.spec.takes(argument)),
        }
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
        self.catalogue.on()
    }
}
