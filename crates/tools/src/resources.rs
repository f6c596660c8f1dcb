//! What clients read without a tool: files of the vault, its tags, and the server's status. People choose these in the
//! client, whereas models choose tools.

mod completing;
mod media;
mod reading;
mod uri;

pub(crate) use completing::best;
pub(crate) use completing::complete_path;
pub use media::media_type;
pub use reading::shown_capabilities;
pub(crate) use reading::{read_file, read_guide, read_tags, status};
pub use uri::{ResourceUri, VaultResource};

/// A resource that always exists.
pub struct FixedResource {
    pub uri: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Whether each vault has its own.
    pub of_a_vault: bool,
}

pub const FIXED_RESOURCES: &[FixedResource] = &[
    FixedResource {
        uri: uri::TAGS,
        name: "obsidian-tags",
        title: "Tags",
        description: "Every tag of the vault with the number of notes that have it.",
        of_a_vault: true,
    },
    FixedResource {
        uri: uri::GUIDE,
        name: "vault-guide",
        title: "Guide",
        description: "How to work in the vault, in its owner's words.",
        of_a_vault: true,
    },
    FixedResource {
        uri: uri::STATUS,
        name: "obsidian-status",
        title: "Status",
        description: "Whether the vaults and their Obsidian app can be used, and their versions.",
        of_a_vault: false,
    },
];

/// The files of a vault: too many for a list.
pub struct FileTemplate;

impl FileTemplate {
    pub const NAME: &str = "obsidian-vault-note";
    pub const TITLE: &str = "Note or attachment";
    pub const DESCRIPTION: &str = "A note as JSON (content, frontmatter, tags, stat), any other file unchanged.";
    /// The variable for the path.
    pub const PATH: &str = "path";
    /// The variable for the vault, where there are several.
    pub const VAULT: &str = "vault";

    pub fn uri(several_vaults: bool) -> &'static str {
        if several_vaults { "obsidian://vault/{+path}{?vault}" } else { "obsidian://vault/{+path}" }
    }
}

/// The format of everything that the server generates.
pub const JSON: &str = "application/json";
