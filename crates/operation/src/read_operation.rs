//! What an operation is that is no tool: what clients and the command line ask for besides. Like a tool, each is a
//! declaration and a pure function of narrowed views, and the executor runs it through the same stages; unlike a tool, it
//! comes with typed arguments, only looks, and its answer is a value of its own.

use lapidary_vault::View;
use serde_json::{Map, Value};

use crate::{Context, ReadPayload, Reason, ToolGroup, VaultState};

/// Everything about such an operation that is not its logic.
#[derive(Clone, Copy, Debug)]
pub struct OperationDeclaration {
    /// Under which it is in the log: the method of the protocol, or what the command line calls it.
    pub name: &'static str,
    /// Whether the log tells of it. What the server looks at by itself, every second, is left out.
    pub recorded: bool,
}

/// An operation that is no tool, with its arguments.
pub trait ReadOperation: Send + Sync {
    fn declaration(&self) -> &'static OperationDeclaration;
    /// What the log keeps a hash of.
    fn arguments(&self) -> Map<String, Value>;
    /// The files that the arguments name.
    fn files(&self) -> Vec<String> {
        Vec::new()
    }
    /// The tools whose rules hold for what it shows; `None` if it shows nothing of a vault.
    fn group(&self) -> Result<Option<ToolGroup>, Reason>;
    /// Which of the vaults that there are for the caller it is about.
    fn vaults(&self, visible: &[String]) -> Result<VaultChoice, Reason>;
    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason>;
}

/// The vaults that an operation wants to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultChoice {
    /// The one of this name, or the only one there is.
    One(Option<String>),
    /// As many of these as can be opened.
    Several(Vec<String>),
    /// Only whether each of them can be used.
    States,
}

/// The vaults as an operation sees them.
pub enum OpenedVaults {
    One(Box<View>),
    Several(Vec<VaultView>),
    States(Vec<VaultState>),
}

/// One of several vaults, or why it cannot be looked at.
pub struct VaultView {
    pub name: String,
    pub view: Result<View, Reason>,
}

impl OpenedVaults {
    pub fn one(&self) -> Result<&View, Reason> {
        match self {
            Self::One(view) => Ok(view),
            Self::Several(_) | Self::States(_) => Err(bug!("an operation on one vault was handed several")),
        }
    }

    pub fn several(&self) -> &[VaultView] {
        match self {
            Self::Several(views) => views,
            Self::One(_) | Self::States(_) => &[],
        }
    }
}
