//! What a tool says about itself: names, group, effect and arguments, from which lists, checks and references are derived.

use crate::ReasonKind;

/// Everything about a tool except its logic. Listing, authorization, approval, log, annotations and reference are
/// derived from it.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    pub name: &'static str,
    /// The file tools' spelling from before clients rejected dots.
    pub dotted: Option<&'static str>,
    pub title: &'static str,
    pub family: WireFamily,
    pub group: ToolGroup,
    /// Shown in `tools/list`; the others are found with `find_tool`.
    pub listed: bool,
    /// Doing it twice has the same effect as doing it once.
    pub idempotent: bool,
    pub paths: &'static [PathArgument],
    /// In addition to those that every tool of its kind may give.
    pub reasons: &'static [ReasonKind],
    /// Words that people use for it, for `find_tool` and for clients that search tools themselves.
    pub words: &'static str,
}

/// Tools that a client which loads tools on demand should have from the start.
pub const CORE_TOOLS: [&str; 4] = ["obsidian_get_note", "obsidian_search_notes", "find_tool", "call_tool"];

/// The wire form that a tool uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFamily {
    Obsidian,
    Files,
    Own,
    /// The pair that ChatGPT's connectors expect. Only offered if chosen: next to the others it has nothing to add.
    ChatGpt,
}

impl WireFamily {
    /// The name of its tools' argument for showing a change without making it.
    pub(crate) const fn dry_run(self) -> &'static str {
        match self {
            // The file tools keep the spelling of the original.
            Self::Files => "dry_run",
            Self::Obsidian | Self::Own | Self::ChatGpt => "dryRun",
        }
    }

    /// The name of its tools' argument for the hash that a file is expected to have.
    pub(crate) const fn expected_hash(self) -> &'static str {
        match self {
            Self::Files => "expected_content_hash",
            Self::Obsidian | Self::Own | Self::ChatGpt => "expectedHash",
        }
    }
}

/// Tools that are switched on and off together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolGroup {
    /// File contents, present and past.
    Read,
    /// What exists, where it is and how it is linked.
    Vault,
    Edit,
    /// The tools themselves and the log of their calls.
    Agent,
    /// What only the Obsidian app can do.
    Skill,
    /// What assistants remember, in a folder that the owner names; off until then.
    Memory,
    /// Tools that people and assistants make, kept in a folder that the owner names; off until then.
    Recipe,
    /// Several calls that read, as one; off until the owner switches it on.
    Script,
    /// Pages of the web, at hosts that the owner names; off until then.
    Web,
    /// Tools of other MCP servers, which the owner configures; off until then.
    Mcp,
}

impl ToolGroup {
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Vault,
        Self::Edit,
        Self::Agent,
        Self::Skill,
        Self::Memory,
        Self::Recipe,
        Self::Script,
        Self::Web,
        Self::Mcp,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Vault => "vault",
            Self::Edit => "edit",
            Self::Agent => "agent",
            Self::Skill => "skill",
            Self::Memory => "memory",
            Self::Recipe => "recipe",
            Self::Script => "script",
            Self::Web => "web",
            Self::Mcp => "mcp",
        }
    }
}

/// Which changes a tool takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreReach {
    Nothing,
    /// Only those of its caller, and only while the files have not been changed since by another.
    OwnChanges,
    AnyChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    Read,
    Write,
    /// Bytes are lost afterwards, or may be: permanently, or through a tool that only the call names.
    Destroy,
}

impl Effect {
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destroy => "destroy",
        }
    }
}

/// An argument that names a file, and what happens to that file.
#[derive(Clone, Copy, Debug)]
pub struct PathArgument {
    /// JSON pointer into the arguments.
    pub pointer: &'static str,
    pub role: PathRole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRole {
    Read,
    Write,
    /// A folder that is searched.
    List,
}

/// How the executor handles a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// Reads a vault and answers.
    Read,
    /// Plans a change of a vault.
    Write,
    /// Lists calls of other tools, which are planned on top of each other and committed as one change.
    Batch,
    /// Runs the calls of a recipe, which may all read. What they do is judged call by call, as with a relay.
    Steps,
    /// About the server itself: needs no vault.
    Agent,
    /// Names another tool that runs in its place.
    Relay,
    /// Plans an effect outside of the vault, and perhaps a change before it.
    Action,
    /// Plans a call of another server's tool: needs no vault.
    Forward,
}

impl ToolKind {
    pub fn needs_vault(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Batch | Self::Steps | Self::Action)
    }

    /// Whether it may change a vault by itself. A relay does nothing itself; the call it leads to is judged separately.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Batch | Self::Steps)
    }
}

/// What a tool needs in addition to its arguments and a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolNeeds {
    /// This many of the latest lines of the vault's log.
    pub log_lines: usize,
    /// The playbooks of all vaults, as far as the caller may see them.
    pub playbooks: bool,
    /// Which recipes of the vault the owner has approved.
    pub approved_recipes: bool,
    /// The recipes of all vaults that the caller can run.
    pub runnable_recipes: bool,
}

impl ToolNeeds {
    pub const NONE: Self = Self { log_lines: 0, playbooks: false, approved_recipes: false, runnable_recipes: false };
}
