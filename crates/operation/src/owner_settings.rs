//! What the owner's settings say about the notes of the vaults, for tools that pass it on or work by it.

use std::collections::BTreeMap;

use lapidary_vault::VaultPath;

/// For all vaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerSettings {
    /// Notes that may hold the owner's guide: the first that exists does. None if the owner wants no guide.
    pub guides: Vec<VaultPath>,
    /// How many bytes of the guides clients get when they connect.
    pub guide_bytes: usize,
    /// What folders are for.
    pub folders: BTreeMap<VaultPath, String>,
    /// The folder of source notes.
    pub sources: Option<VaultPath>,
}

impl OwnerSettings {
    /// Where other programs look for such a guide, too.
    pub const USUAL_GUIDES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
}
