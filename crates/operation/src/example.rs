//! Examples of tools, which are their documentation and their tests.

use serde_json::Value;

use crate::ReasonKind;

/// A call on a tiny vault, before and after. All of them run as tests and are shown in the reference.
pub struct Example {
    pub says: &'static str,
    pub before: &'static [(&'static str, &'static str)],
    pub input: Value,
    pub gives: ExampleResult,
    /// All that is left of the files before, and what is new: those that are not listed are gone. Nothing, if the call
    /// changes nothing.
    pub after: &'static [(&'static str, &'static str)],
}

pub enum ExampleResult {
    /// Exactly this.
    Output(Value),
    /// At least this; the rest would obscure the point.
    Including(Value),
    Refusal(ReasonKind),
    /// This, while the Obsidian app runs.
    WithApp(Box<ExampleResult>),
    /// This, where the owner opened the web, in which there are a few pages.
    WithWeb(Box<ExampleResult>),
    /// This, where the owner configured another server, which has two tools.
    WithServers(Box<ExampleResult>),
    /// This, on a vault where another call was made first.
    After {
        tool: &'static str,
        input: Value,
        gives: Box<ExampleResult>,
    },
}

impl ExampleResult {
    pub fn after(self, tool: &'static str, input: Value) -> Self {
        Self::After { tool, input, gives: Box::new(self) }
    }

    pub fn with_app(self) -> Self {
        Self::WithApp(Box::new(self))
    }

    pub fn with_web(self) -> Self {
        Self::WithWeb(Box::new(self))
    }

    pub fn with_servers(self) -> Self {
        Self::WithServers(Box::new(self))
    }

    /// Whether another server has to be there.
    pub fn needs_servers(&self) -> bool {
        match self {
            Self::WithServers(_) => true,
            Self::After { gives, .. } | Self::WithApp(gives) | Self::WithWeb(gives) => gives.needs_servers(),
            Self::Output(_) | Self::Including(_) | Self::Refusal(_) => false,
        }
    }

    /// Whether the web has to be there.
    pub fn needs_web(&self) -> bool {
        match self {
            Self::WithWeb(_) => true,
            Self::After { gives, .. } | Self::WithApp(gives) | Self::WithServers(gives) => gives.needs_web(),
            Self::Output(_) | Self::Including(_) | Self::Refusal(_) => false,
        }
    }

    /// Whether the Obsidian app has to run.
    pub fn needs_app(&self) -> bool {
        match self {
            Self::WithApp(_) => true,
            Self::After { gives, .. } | Self::WithWeb(gives) | Self::WithServers(gives) => gives.needs_app(),
            Self::Output(_) | Self::Including(_) | Self::Refusal(_) => false,
        }
    }

    /// The result in the end.
    pub fn last(&self) -> &Self {
        match self {
            Self::WithApp(gives) | Self::WithWeb(gives) | Self::WithServers(gives) => gives.last(),
            Self::After { gives, .. } => gives.last(),
            gives => gives,
        }
    }
}
