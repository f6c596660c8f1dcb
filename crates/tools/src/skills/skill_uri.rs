//! URIs of skills: `skill://Notes/reviews/weekly-review/SKILL.md`.

use std::fmt;

use lapidary_operation::{
    Reason, VaultChoice, clipped,
    uri::{decoded, encoded},
};

use super::{MAIN_FILE, SERVER_SKILL};

/// A URI of the scheme `skill`, as the names between its slashes. Which of them are the skill and which the file is known
/// to those who know the skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillUri {
    pub(super) names: Vec<String>,
}

impl SkillUri {
    const SCHEME: &str = "skill://";

    /// Whether a URI has the scheme at all.
    pub fn is_meant(uri: &str) -> bool {
        uri.starts_with(Self::SCHEME)
    }

    pub fn parse(uri: &str) -> Result<Self, Reason> {
        let unknown = || Reason::ResourceUnknown { uri: clipped(uri) };
        let names: Vec<String> = uri.strip_prefix(Self::SCHEME).ok_or_else(unknown)?.split('/').map(decoded).collect();
        // Only compared with the names of files that exist, so that none can lead elsewhere.
        if names.len() < 2 || names.iter().any(String::is_empty) {
            return Err(unknown());
        }
        Ok(Self { names })
    }

    pub(super) fn of(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect() }
    }

    /// Our own skill. Those of vaults have one name more.
    pub(crate) fn is_own(&self) -> bool {
        self.names == [SERVER_SKILL, MAIN_FILE]
    }

    /// The vault whose skill it is; none for our own.
    pub(crate) fn vaults(&self, visible: &[String]) -> Result<VaultChoice, Reason> {
        if self.is_own() {
            return Ok(VaultChoice::Several(Vec::new()));
        }
        let first = self.names.first().map_or("", String::as_str);
        // The first name is where other URIs have a host, and some clients write hosts in lower case.
        let alike = || visible.iter().find(|vault| vault.to_lowercase() == first.to_lowercase());
        match visible.iter().find(|vault| *vault == first).or_else(alike) {
            Some(vault) => Ok(VaultChoice::One(Some(vault.clone()))),
            None => Err(Reason::ResourceUnknown { uri: clipped(&self.to_string()) }),
        }
    }
}

impl fmt::Display for SkillUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.names.iter().map(|name| encoded(name)).collect();
        write!(f, "{}{}", Self::SCHEME, names.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_read_as_it_was_written() {
        for names in [&["Notes", "weekly", "SKILL.md"][..], &["My notes", "a b", "x", "ä?#%.md"], &["a/b", "c", "d"]] {
            let uri = SkillUri::of(names.iter().copied());
            assert_eq!(SkillUri::parse(&uri.to_string()), Ok(uri));
        }
        for bad in ["", "skill://", "skill://x", "skill://x/", "skill://x//y", "skills://x/y", "obsidian://x/y"] {
            assert!(matches!(SkillUri::parse(bad), Err(Reason::ResourceUnknown { .. })), "{bad}");
        }
    }

    #[test]
    fn the_vault_is_found_in_any_case_but_its_own_is_preferred() {
        let vaults = ["notes", "Notes", "Work"].map(str::to_owned);
        for (uri, vault) in [
            ("skill://Notes/x/SKILL.md", Some("Notes")),
            ("skill://notes/x/SKILL.md", Some("notes")),
            ("skill://work/x/SKILL.md", Some("Work")),
            ("skill://Other/x/SKILL.md", None),
        ] {
            let chosen = SkillUri::parse(uri).unwrap().vaults(&vaults).ok();
            assert_eq!(chosen, vault.map(|vault| VaultChoice::One(Some(vault.to_owned()))), "{uri}");
        }
        let own = SkillUri::parse("skill://lapidary/SKILL.md").unwrap();
        assert_eq!(own.vaults(&vaults).ok(), Some(VaultChoice::Several(Vec::new())));
    }
}
