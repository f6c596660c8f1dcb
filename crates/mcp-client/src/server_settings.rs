//! What the owner says of a server.

use std::{collections::BTreeMap, fmt, time::Duration};

use lapidary_operation::{NamePattern, ServerToolStanding};
use ureq::Agent;

/// One server, as the owner configured it.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    pub name: String,
    /// What it is for, in the owner's words.
    pub about: Option<String>,
    pub place: ServerPlace,
    /// Tools that may be used; all, if there is none.
    pub allow: Vec<NamePattern>,
    pub deny: Vec<NamePattern>,
    /// Tools that change nothing.
    pub read_only: Vec<NamePattern>,
    /// Whether a person is asked about tools that change nothing, and about the others.
    pub asks_for_reads: bool,
    pub asks_for_writes: bool,
    /// For a call.
    pub timeout: Duration,
    /// For one message of the server.
    pub max_reply_bytes: usize,
}

/// How a server is reached.
#[derive(Clone)]
pub enum ServerPlace {
    Program {
        /// A name in `PATH`, or an absolute path.
        command: String,
        args: Vec<String>,
        /// All variables that it gets.
        variables: BTreeMap<String, String>,
    },
    Address {
        url: String,
        headers: Vec<(String, String)>,
        /// Follows no redirect, and takes every status as an answer.
        agent: Agent,
    },
}

impl fmt::Debug for ServerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments, variables, addresses and headers may have secrets.
        f.write_str(match self {
            Self::Program { .. } => "Program",
            Self::Address { .. } => "Address",
        })
    }
}

impl ServerSettings {
    /// Whether the owner lets a tool be used.
    pub(crate) fn allows(&self, tool: &str) -> bool {
        let is_in = |patterns: &[NamePattern]| patterns.iter().any(|pattern| pattern.matches(tool));
        (self.allow.is_empty() || is_in(&self.allow)) && !is_in(&self.deny)
    }

    /// What a tool says of itself does not count.
    pub(crate) fn standing(&self, tool: &str) -> ServerToolStanding {
        let only_reads = self.read_only.iter().any(|pattern| pattern.matches(tool));
        ServerToolStanding { only_reads, is_asked: if only_reads { self.asks_for_reads } else { self.asks_for_writes } }
    }
}
