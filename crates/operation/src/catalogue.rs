//! Which tools are offered, and how: chosen once at startup, never changed by a call.

use std::{borrow::Cow, sync::Arc};

use lapidary_query::nearest;

use crate::{AnyTool, Effect, ProfileRules, Reason, ToolGroup, ToolKind, ToolSpec, WireFamily, successor};

/// All tools that exist.
#[derive(Clone, Copy)]
pub struct ToolSet {
    pub tools: &'static [&'static dyn AnyTool],
    /// Changes that a transport makes for programs. They are judged as tools are, and no client can name them.
    pub internal: &'static [&'static dyn AnyTool],
    /// The reviewed definition of a tool, if there is one: its description and its schemas as JSON.
    pub definition: fn(&str) -> Option<&'static str>,
}

/// All tools with their status, in list order.
pub struct Catalogue {
    entries: Vec<CatalogueEntry>,
    internal: Vec<CatalogueEntry>,
    /// Clients of the original file tools parse the text of an answer.
    files_in_json: bool,
    /// The owner chose the tools, perhaps for a client that knows all their arguments.
    pub lists_whole_schemas: bool,
}

pub struct CatalogueEntry {
    pub tool: &'static dyn AnyTool,
    pub spec: ToolSpec,
    pub standing: ToolStanding,
    /// Whether the profile includes it, on or off.
    pub(crate) in_profile: bool,
}

impl CatalogueEntry {
    /// Whether only a transport of ours calls it. No name of a tool has a slash.
    pub fn is_internal(&self) -> bool {
        self.spec.name().contains('/')
    }

    /// Whether it may be called at all, by any caller and route.
    pub fn authorize(&self) -> Result<(), Reason> {
        match self.standing {
            ToolStanding::Listed | ToolStanding::Deferred => Ok(()),
            // For the client program: it can ask for a wider token, unlike for a tool that the owner switched off.
            ToolStanding::Off(OffReason::Scope) => Err(Reason::InsufficientScope { tool: self.spec.name().to_owned() }),
            ToolStanding::Off(off) => Err(Reason::ToolOff { tool: self.spec.name().to_owned(), off }),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolStanding {
    /// Shown to every client.
    Listed,
    /// Callable, and discoverable with `find_tool`.
    Deferred,
    Off(OffReason),
}

/// Why a tool is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffReason {
    ReadOnly,
    Excluded,
    NotChosen,
    /// The caller's profile does not include it.
    Profile,
    /// The scopes of the caller's token do not cover it.
    Scope,
    /// It needs a setting that the owner has not made.
    NotSetUp(MissingSetting),
    /// It needs the command palette of the app, which the owner has not opened.
    Commands,
    /// It acts on the whole vault, and the caller has only part of it.
    OwnFolders,
}

/// What the owner chose. Words are tool names, group names, `default`, `obsidian`, `files`, `chatgpt` or `all`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSelection {
    /// Empty means `default`.
    pub chosen: Vec<String>,
    pub excluded: Vec<String>,
    pub read_only: bool,
    /// Whether the command palette of the app may be used.
    pub commands: bool,
    /// File tools are listed under their original names, so their clients are those of the original.
    pub dotted_names: bool,
    pub not_set_up: Vec<MissingSetting>,
    /// Whether the owner says of some tool of another server that it only reads.
    pub servers_read: bool,
}

impl ToolSelection {
    /// Whether a tool that may write is of use to those who may only read.
    fn has_reading_use(&self, spec: &ToolSpec) -> bool {
        spec.kind == ToolKind::Forward && self.servers_read
    }
}

/// A setting that the owner has not made and without which some tools could do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingSetting {
    pub key: &'static str,
    /// A tool or a group.
    pub needed_by: &'static str,
}

impl MissingSetting {
    fn stops(&self, spec: &ToolSpec) -> bool {
        self.needed_by == spec.name() || self.needed_by == spec.declaration.group.name()
    }
}

impl ToolSelection {
    /// Checks that every word of these lists is known.
    pub fn check(set: ToolSet, words: &[String]) -> Result<(), SelectionError> {
        let specs: Vec<ToolSpec> = set.tools.iter().map(|tool| tool.spec()).collect();
        let specs: Vec<&ToolSpec> = specs.iter().collect();
        words.iter().try_for_each(|word| ToolChoice::parse(word, &specs).map(|_| ()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is neither a tool nor a group of tools{}", .nearest.map_or(String::new(), |name| format!("; did you mean `{name}`?")))]
pub struct SelectionError {
    pub word: String,
    pub nearest: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchTool {
    pub nearest: Option<&'static str>,
}

const WORDS: [&str; 5] = ["default", "obsidian", "files", "chatgpt", "all"];

impl Catalogue {
    /// With several vaults, every tool that works on one takes its name. A profile only removes from the selection.
    pub fn new(
        set: ToolSet,
        selection: &ToolSelection,
        profile: &ProfileRules,
        vaults: &[String],
    ) -> Result<Self, SelectionError> {
        let entry = |tool: &&'static dyn AnyTool| CatalogueEntry {
            tool: *tool,
            spec: tool.spec(),
            standing: ToolStanding::Deferred,
            in_profile: true,
        };
        let mut entries: Vec<CatalogueEntry> = set.tools.iter().map(entry).collect();
        let specs: Vec<&ToolSpec> = entries.iter().map(|entry| &entry.spec).collect();
        let chosen =
            selection.chosen.iter().map(|word| ToolChoice::parse(word, &specs)).collect::<Result<Vec<_>, _>>()?;
        let excluded =
            selection.excluded.iter().map(|word| ToolChoice::parse(word, &specs)).collect::<Result<Vec<_>, _>>()?;
        let allowed =
            profile.allow.iter().map(|word| ToolChoice::parse(word, &specs)).collect::<Result<Vec<_>, _>>()?;
        let refused =
            profile.exclude.iter().map(|word| ToolChoice::parse(word, &specs)).collect::<Result<Vec<_>, _>>()?;
        // Shared by all tools, since each keeps the list for its schema.
        let choices: Arc<[String]> = vaults.into();
        for entry in &mut entries {
            // Builds with debug assertions derive them, so that a tool under development matches its types.
            if let Some(definition) = (set.definition)(entry.spec.name()).filter(|_| !cfg!(debug_assertions)) {
                entry.spec.take_definition(definition);
            }
            if choices.len() > 1 && entry.spec.kind.needs_vault() {
                entry.spec.choose_vault(&choices);
            }
            // The server's choice first: a profile takes away from it, and says so only of tools that would be there
            // without it.
            let of_server = standing(&entry.spec, &chosen, &excluded, selection);
            let covered = |choices: &[ToolChoice]| choices.iter().any(|choice| choice.covers(&entry.spec));
            // A tool that could never do anything is not offered.
            let in_vain =
                profile.most == Effect::Read && entry.spec.only_writes() && !selection.has_reading_use(&entry.spec);
            entry.in_profile = covered(&allowed) && !covered(&refused) && !in_vain;
            entry.standing = match of_server {
                ToolStanding::Listed | ToolStanding::Deferred if !entry.in_profile => {
                    ToolStanding::Off(OffReason::Profile)
                }
                of_server => of_server,
            };
        }
        let mut internal: Vec<CatalogueEntry> = set.internal.iter().map(entry).collect();
        for entry in &mut internal {
            if choices.len() > 1 {
                entry.spec.choose_vault(&choices);
            }
            let covered = |choices: &[ToolChoice]| choices.iter().any(|choice| choice.covers(&entry.spec));
            // The choice of tools is about what models see; what may be done is decided by the rest.
            entry.standing = match selection.read_only && (entry.spec.only_writes() || entry.spec.is_command) {
                true => ToolStanding::Off(OffReason::ReadOnly),
                false if entry.spec.is_command && !selection.commands => ToolStanding::Off(OffReason::Commands),
                false if covered(&excluded) => ToolStanding::Off(OffReason::Excluded),
                false
                    if (profile.most == Effect::Read && entry.spec.only_writes())
                        || !covered(&allowed)
                        || covered(&refused) =>
                {
                    ToolStanding::Off(OffReason::Profile)
                }
                false => ToolStanding::Deferred,
            };
        }
        let is_original = |choice: &ToolChoice| matches!(choice, ToolChoice::Family(WireFamily::Files));
        // Clients written for the original parse the text as JSON, and dotted names are only wanted by those.
        let files_in_json = selection.dotted_names || chosen.iter().any(is_original);
        // An owner who names tools has a client that knows them, and it may compare.
        let lists_whole_schemas =
            !chosen.is_empty() && !chosen.iter().any(|choice| matches!(choice, ToolChoice::Default));
        Ok(Self { entries, internal, files_in_json, lists_whole_schemas })
    }

    pub fn entries(&self) -> &[CatalogueEntry] {
        &self.entries
    }

    /// Switches off tools that the scopes of a caller do not cover.
    pub(crate) fn restrict(&mut self, covers: &dyn Fn(&ToolSpec) -> bool) {
        for entry in self.entries.iter_mut().chain(&mut self.internal) {
            // A tool that is off anyway keeps its reason: a wider token would not switch it on.
            if !matches!(entry.standing, ToolStanding::Off(_)) && !covers(&entry.spec) {
                entry.standing = ToolStanding::Off(OffReason::Scope);
            }
        }
    }

    /// Whether this family sends its JSON as the text of an answer, as the original does, instead of a short form.
    pub(crate) fn in_json(&self, family: WireFamily) -> bool {
        self.files_in_json && family == WireFamily::Files
    }

    /// The callable tools, listed or not.
    pub fn on(&self) -> impl Iterator<Item = &CatalogueEntry> {
        self.entries.iter().filter(|entry| !matches!(entry.standing, ToolStanding::Off(_)))
    }

    /// Finds a tool by its name, in the dotted spelling too, whether or not it is on.
    pub fn find(&self, name: &str) -> Result<&CatalogueEntry, NoSuchTool> {
        // No tool has a dot in its name, so this can only be the spelling of the original.
        let plain = if name.contains('.') { Cow::Owned(name.replace('.', "_")) } else { Cow::Borrowed(name) };
        self.entries
            .iter()
            .chain(&self.internal)
            .find(|entry| entry.spec.name() == plain)
            .ok_or_else(|| NoSuchTool { nearest: self.instead_of(&plain) })
    }

    /// The tool that an unknown name probably means: its successor, or the nearest name.
    fn instead_of(&self, name: &str) -> Option<&'static str> {
        let names = || self.on().map(|entry| entry.spec.name());
        let successor = successor(name).map(|successor| successor.tool);
        // Only a tool that the caller has: one that is off would be the next refusal.
        successor.filter(|tool| names().any(|name| name == *tool)).or_else(|| nearest(name, names()))
    }
}

enum ToolChoice {
    Default,
    All,
    Family(WireFamily),
    Group(ToolGroup),
    Tool(&'static str),
}

impl ToolChoice {
    fn parse(word: &str, specs: &[&ToolSpec]) -> Result<Self, SelectionError> {
        // The names of the original file tools have dots.
        let plain = word.trim().replace('.', "_").to_lowercase();
        let group = ToolGroup::ALL.into_iter().find(|group| group.name() == plain);
        let tool = specs.iter().map(|spec| spec.name()).find(|name| *name == plain);
        match (plain.as_str(), group, tool) {
            ("default", ..) => Ok(Self::Default),
            ("all", ..) => Ok(Self::All),
            ("obsidian", ..) => Ok(Self::Family(WireFamily::Obsidian)),
            ("files", ..) => Ok(Self::Family(WireFamily::Files)),
            ("chatgpt", ..) => Ok(Self::Family(WireFamily::ChatGpt)),
            (_, Some(group), _) => Ok(Self::Group(group)),
            (_, _, Some(tool)) => Ok(Self::Tool(tool)),
            _ => {
                let groups = ToolGroup::ALL.into_iter().map(ToolGroup::name);
                let known = specs.iter().map(|spec| spec.name()).chain(groups).chain(WORDS);
                Err(SelectionError { word: word.to_owned(), nearest: nearest(&plain, known) })
            }
        }
    }

    fn covers(&self, spec: &ToolSpec) -> bool {
        match self {
            Self::Default => spec.declaration.listed || spec.is_command,
            Self::All => true,
            Self::Family(family) => spec.declaration.family == *family,
            Self::Group(group) => spec.declaration.group == *group,
            Self::Tool(name) => spec.name() == *name,
        }
    }
}

/// Read-only wins over exclusion, exclusion over choice. The palette of the app is listed as soon as it is open. A
/// choice without `default` is exhaustive.
fn standing(
    spec: &ToolSpec,
    chosen: &[ToolChoice],
    excluded: &[ToolChoice],
    selection: &ToolSelection,
) -> ToolStanding {
    let open_ended =
        chosen.is_empty() || chosen.iter().any(|choice| matches!(choice, ToolChoice::Default | ToolChoice::All));
    let by_default = ToolChoice::Default.covers(spec);
    if selection.read_only && (spec.only_writes() || spec.is_command) && !selection.has_reading_use(spec) {
        ToolStanding::Off(OffReason::ReadOnly)
    } else if spec.is_command && !selection.commands {
        ToolStanding::Off(OffReason::Commands)
    } else if let Some(missing) = selection.not_set_up.iter().find(|missing| missing.stops(spec)) {
        ToolStanding::Off(OffReason::NotSetUp(*missing))
    } else if excluded.iter().any(|choice| choice.covers(spec)) {
        ToolStanding::Off(OffReason::Excluded)
    } else if chosen.iter().any(|choice| choice.covers(spec)) || (chosen.is_empty() && by_default) {
        ToolStanding::Listed
    } else if open_ended && spec.declaration.family != WireFamily::ChatGpt {
        // Without ChatGPT's: next to the others they add nothing, so `find_tool` does not show them either.
        ToolStanding::Deferred
    } else {
        ToolStanding::Off(OffReason::NotChosen)
    }
}
