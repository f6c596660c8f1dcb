//! URIs of resources.

use lapidary_operation::{
    Reason, clipped,
    uri::{FILE_URIS, decoded, encoded},
};
use lapidary_toolkit::reading::parse_path;
use lapidary_vault::VaultPath;

use crate::skills::SkillUri;

pub(super) const TAGS: &str = "obsidian://tags";
pub(super) const GUIDE: &str = "obsidian://guide";
pub(super) const STATUS: &str = "obsidian://status";
const OF_VAULT: &str = "?vault=";

/// The resource that a URI names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultResource {
    File(VaultPath),
    Tags,
    Guide,
    Status,
    Skill(SkillUri),
}

/// A resource, and the vault if one is named: `obsidian://vault/Projects/Plan.md?vault=Work`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceUri {
    pub resource: VaultResource,
    pub vault: Option<String>,
}

impl ResourceUri {
    pub fn parse(uri: &str) -> Result<Self, Reason> {
        // Before `?vault=` is looked for: the first name of such a URI is the vault.
        if SkillUri::is_meant(uri) {
            return Ok(Self { resource: VaultResource::Skill(SkillUri::parse(uri)?), vault: None });
        }
        // A template is filled in with `?` unescaped, so any other `?` belongs to the name of a file.
        let (place, vault) = match uri.rsplit_once(OF_VAULT) {
            Some((place, vault)) => (place, Some(decoded(vault))),
            None => (uri, None),
        };
        let resource = match place {
            TAGS => VaultResource::Tags,
            GUIDE => VaultResource::Guide,
            STATUS => VaultResource::Status,
            _ => match place.strip_prefix(FILE_URIS) {
                Some(path) => VaultResource::File(parse_path(&decoded(path))?),
                None => return Err(Reason::ResourceUnknown { uri: clipped(uri) }),
            },
        };
        Ok(Self { resource, vault })
    }
}

impl super::FixedResource {
    /// How clients name it in one of several vaults.
    pub fn in_vault(&self, vault: &str) -> String {
        format!("{}{OF_VAULT}{}", self.uri, encoded(vault))
    }
}

#[cfg(test)]
mod tests {
    use lapidary_operation::uri::of_file;

    use super::*;

    #[test]
    fn files_are_named_with_and_without_escapes() {
        for (uri, path, vault) in [
            ("obsidian://vault/Projects/Plan.md", "Projects/Plan.md", None),
            ("obsidian://vault/Daily/To%20do.md", "Daily/To do.md", None),
            ("obsidian://vault/Daily/To do.md", "Daily/To do.md", None),
            ("obsidian://vault/Daily%2FTo%20do.md?vault=My%20notes", "Daily/To do.md", Some("My notes")),
            ("obsidian://vault/Why?.md", "Why?.md", None),
            ("obsidian://vault/C#.md?vault=a?b", "C#.md", Some("a?b")),
            ("obsidian://vault/100%.md", "100%.md", None),
            ("obsidian://vault/%E7%9F%B3.md", "石.md", None),
        ] {
            let path = VaultResource::File(VaultPath::parse(path).unwrap());
            let expected = ResourceUri { resource: path, vault: vault.map(str::to_owned) };
            assert_eq!(ResourceUri::parse(uri), Ok(expected), "{uri}");
        }
    }

    #[test]
    fn a_formatted_uri_parses_back() {
        for path in ["a.md", "Daily/To do.md", "C#/Why?.md", "100%41.md", "a?vault=b.md", "石/💎.png"] {
            let path = VaultPath::parse(path).unwrap();
            let read = ResourceUri::parse(&of_file(&path)).unwrap();
            assert_eq!(read, ResourceUri { resource: VaultResource::File(path), vault: None });
        }
    }

    #[test]
    fn other_names_are_unknown_and_bad_paths_are_bad() {
        for uri in ["", "obsidian://", "obsidian://vault", "obsidian://tags/x", "file:///etc/passwd", "test://x"] {
            assert!(matches!(ResourceUri::parse(uri), Err(Reason::ResourceUnknown { .. })), "{uri}");
        }
        for uri in ["obsidian://vault/", "obsidian://vault/../x", "obsidian://vault/%2e%2e/x", "obsidian://vault/a%00"]
        {
            assert!(matches!(ResourceUri::parse(uri), Err(Reason::PathInvalid { .. })), "{uri}");
        }
    }
}
