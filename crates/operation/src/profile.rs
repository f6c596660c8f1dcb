//! What a caller may use of the server's tools. Chosen by the owner, never by a call.

use crate::{
    Catalogue, CatalogueEntry, Effect, OffReason, SelectionError, ToolGroup, ToolKind, ToolSelection, ToolSet,
    ToolSpec, ToolStanding,
};

/// How a profile is described: words as in `--tools`, and the strongest effect on files that it allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRules {
    pub allow: Vec<String>,
    pub exclude: Vec<String>,
    pub most: Effect,
}

impl ProfileRules {
    /// Reads everything and changes nothing.
    pub fn reader() -> Self {
        Self::groups(&["read", "vault", "agent", "recipe", "script"], Effect::Read)
    }

    /// Changes notes in ways that can be undone.
    pub fn editor() -> Self {
        Self::groups(&["read", "vault", "edit", "agent", "recipe", "script"], Effect::Write)
    }

    /// Everything that the server offers.
    pub fn curator() -> Self {
        Self::groups(&["all"], Effect::Destroy)
    }

    /// A built-in profile.
    pub fn built_in(name: &str) -> Option<Self> {
        match name {
            "reader" => Some(Self::reader()),
            "editor" => Some(Self::editor()),
            "curator" => Some(Self::curator()),
            _ => None,
        }
    }

    fn groups(groups: &[&str], most: Effect) -> Self {
        Self { allow: groups.iter().map(|group| (*group).to_owned()).collect(), exclude: Vec::new(), most }
    }
}

/// The names of the built-in profiles, narrowest first.
pub const BUILT_IN_PROFILES: [&str; 3] = ["reader", "editor", "curator"];

/// A profile with the tools that it allows.
pub struct ProfileView {
    pub name: String,
    pub catalogue: Catalogue,
    /// The strongest effect on files that any tool may have.
    pub most: Effect,
    groups: Vec<ToolGroup>,
}

impl ProfileView {
    pub fn new(
        name: &str,
        set: ToolSet,
        rules: &ProfileRules,
        selection: &ToolSelection,
        vaults: &[String],
    ) -> Result<Self, SelectionError> {
        let catalogue = Catalogue::new(set, selection, rules, vaults)?;
        // A tool that was not chosen may still be in the profile; an excluded one is never available.
        let has =
            |entry: &&CatalogueEntry| entry.in_profile && entry.standing != ToolStanding::Off(OffReason::Excluded);
        let groups = catalogue.entries().iter().filter(has).map(|entry| entry.spec.declaration.group).collect();
        // Tools that write are off then, except for their reading uses.
        let most = if selection.read_only { Effect::Read } else { rules.most };
        Ok(Self { name: name.to_owned(), catalogue, most, groups })
    }

    /// The same profile without anything that the scopes of a caller do not cover: `covers` decides about tools, `shows`
    /// about other operations by group.
    #[must_use]
    pub fn within(mut self, covers: &dyn Fn(&ToolSpec) -> bool, shows: &dyn Fn(ToolGroup) -> bool) -> Self {
        self.catalogue.restrict(covers);
        self.groups.retain(|group| shows(*group));
        // A batch or a relay does what its parts may do, so it says nothing about the extent of the scopes.
        let changes = self.catalogue.on().filter(|entry| entry.spec.kind == ToolKind::Write);
        // With no write tool left, the profile only reads.
        let most = changes.map(|entry| entry.spec.effect).max().unwrap_or(Effect::Read);
        // Scopes may narrow a profile but never widen it.
        self.most = self.most.min(most);
        self
    }

    /// Whether it includes anything of this group: things other than tools belong to groups too.
    pub fn has(&self, group: ToolGroup) -> bool {
        self.groups.contains(&group)
    }
}

impl std::fmt::Debug for ProfileView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Profile").field("name", &self.name).field("most", &self.most).finish_non_exhaustive()
    }
}
