//! Operations other than tools, requested by clients and the command line. Like a tool, each is a declaration and a
//! pure function of narrowed views, and the executor runs it through the same stages; unlike a tool, it has typed
//! arguments, only reads, and its answer has its own type.

use lapidary_vault::View;
use serde_json::{Map, Value};

use crate::{Context, ReadPayload, Reason, ToolGroup, VaultState};

/// Everything about such an operation except its logic.
#[derive(Clone, Copy, Debug)]
pub struct OperationDeclaration {
    /// Its name in the log: the method of the protocol, or the name of the command.
    pub name: &'static str,
    /// Whether it is logged. Checks that the server makes by itself, every second, are not.
    pub recorded: bool,
}

/// An operation other than a tool, with its arguments.
pub trait ReadOperation: Send + Sync {
    fn declaration(&self) -> &'static OperationDeclaration;
    /// The data that the log keeps a hash of.
    fn arguments(&self) -> Map<String, Value>;
    /// The files that the arguments name.
    fn files(&self) -> Vec<String> {
        Vec::new()
    }
    /// The tools whose rules apply to what it shows; `None` if it shows nothing of a vault.
    fn group(&self) -> Result<Option<ToolGroup>, Reason>;
    /// Which of the caller's vaults it concerns.
    fn vaults(&self, visible: &[String]) -> Result<VaultChoice, Reason>;
    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason>;
}

/// The vaults that an operation needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultChoice {
    /// The one of this name, or the only one.
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

/// One of several vaults, or why it cannot be used.
pub struct VaultView {
    pub name: String,
    pub view: Result<View, Reason>,
}

impl OpenedVaults {
    pub fn one(&self) -> Result<&View, Reason> {
        match self {
            Self::One(view) => Ok(view),
            Self::Several(_) | Self::States(_) => Err(bug!("an operation on one vault was given several")),
        }
    }

    pub fn several(&self) -> &[VaultView] {
        match self {
            Self::Several(views) => views,
            Self::One(_) | Self::States(_) => &[],
        }
    }
}
