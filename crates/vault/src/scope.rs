use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::{PathError, VaultPath};

/// Which part of a vault a caller may read and which it may change, decided by the path alone: the answer is the
/// same whether or not anything is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// `None` means everywhere.
    pub read: Option<Vec<PathPrefix>>,
    /// `None` means everywhere. What may be changed may also be read.
    pub write: Option<Vec<PathPrefix>>,
    /// Wins over both.
    pub deny: Vec<PathPrefix>,
    pub read_only: bool,
}

/// A folder or file that a rule names; compared without case, at name boundaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPrefix(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a folder or file of the vault: {problem}")]
pub struct ScopeError {
    pub given: String,
    pub problem: PathError,
}

/// Why a path is closed to a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    OutsideReadPaths {
        allowed: Vec<PathPrefix>,
    },
    OutsideWritePaths {
        allowed: Vec<PathPrefix>,
    },
    /// The rule itself stays untold.
    InDenyPaths,
    /// `.obsidian`, `.git`, `.trash` and every other name with a dot in front.
    Hidden,
    ReadOnly,
}

impl PathPrefix {
    pub fn parse(given: &str) -> Result<Self, ScopeError> {
        VaultPath::parse(given)
            .map(|path| Self(folded(path.as_str())))
            .map_err(|problem| ScopeError { given: given.to_owned(), problem })
    }

    pub fn covers(&self, path: &VaultPath) -> bool {
        self.covers_folded(&folded(path.as_str()))
    }

    fn covers_folded(&self, path: &str) -> bool {
        path.strip_prefix(&self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for PathPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Scope {
    pub fn may_read(&self, path: &VaultPath) -> Result<(), Denied> {
        let lower = self.open(path)?;
        let Some(read) = &self.read else { return Ok(()) };
        let write = self.write.iter().flatten().filter(|_| !self.read_only);
        let allowed: Vec<&PathPrefix> = read.iter().chain(write).collect();
        if allowed.iter().any(|prefix| prefix.covers_folded(&lower)) {
            return Ok(());
        }
        Err(Denied::OutsideReadPaths { allowed: allowed.into_iter().cloned().collect() })
    }

    pub fn may_write(&self, path: &VaultPath) -> Result<(), Denied> {
        if self.read_only {
            return Err(Denied::ReadOnly);
        }
        let lower = self.open(path)?;
        match &self.write {
            Some(allowed) if !allowed.iter().any(|prefix| prefix.covers_folded(&lower)) => {
                Err(Denied::OutsideWritePaths { allowed: allowed.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The path in lower case, unless it is closed for every purpose.
    fn open(&self, path: &VaultPath) -> Result<String, Denied> {
        let lower = folded(path.as_str());
        if path.is_hidden() {
            return Err(Denied::Hidden);
        }
        if self.deny.iter().any(|prefix| prefix.covers_folded(&lower)) {
            return Err(Denied::InDenyPaths);
        }
        Ok(lower)
    }
}

/// One spelling for all that some system takes for the same name: macOS and sync services store letters with accents
/// in two ways, and several systems do not tell case apart.
fn folded(path: &str) -> String {
    path.nfc().collect::<String>().to_lowercase().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes(list: &[&str]) -> Vec<PathPrefix> {
        list.iter().map(|prefix| PathPrefix::parse(prefix).unwrap()).collect()
    }

    #[test]
    fn the_table_of_the_path_policy() {
        struct Case(&'static str, Option<&'static [&'static str]>, Option<&'static [&'static str]>, bool, bool, bool);
        for Case(path, read, write, read_only, may_read, may_write) in [
            Case("a.md", None, None, false, true, true),
            Case("a.md", None, None, true, true, false),
            Case("pub/a.md", Some(&["pub"]), None, false, true, true),
            Case("public/a.md", Some(&["pub"]), None, false, false, true),
            Case("PUB/A.md", Some(&["pub/"]), None, false, true, true),
            Case("pub\\a.md", Some(&["pub"]), None, false, true, true),
            Case("x/a.md", Some(&["x/a.md"]), None, false, true, true),
            Case("x/b.md", Some(&["x/a.md"]), None, false, false, true),
            Case("w/a.md", Some(&["r"]), Some(&["w"]), false, true, true),
            Case("w/a.md", Some(&["r"]), Some(&["w"]), true, false, false),
            Case("r/a.md", Some(&["r"]), Some(&["w"]), false, true, false),
            Case("o/a.md", Some(&["r"]), Some(&["w"]), false, false, false),
            Case("o/a.md", None, Some(&["w"]), false, true, false),
            Case(".obsidian/app.json", None, None, false, false, false),
            Case("a/.trash/b.md", None, None, false, false, false),
        ] {
            let scope = Scope { read: read.map(prefixes), write: write.map(prefixes), deny: vec![], read_only };
            let path = VaultPath::parse(path).unwrap();
            assert_eq!(scope.may_read(&path).is_ok(), may_read, "read {path} under {scope:?}");
            assert_eq!(scope.may_write(&path).is_ok(), may_write, "write {path} under {scope:?}");
        }
    }

    #[test]
    fn letters_with_accents_are_the_same_in_both_forms() {
        let (composed, decomposed) = ("Priv\u{e9}", "Prive\u{301}");
        for (rule, asked) in [(composed, decomposed), (decomposed, composed)] {
            let scope = Scope { deny: prefixes(&[rule]), ..Scope::default() };
            let path = VaultPath::parse(&format!("{asked}/s.md")).unwrap();
            assert_eq!(scope.may_read(&path), Err(Denied::InDenyPaths), "{rule:?} {asked:?}");
        }
    }

    #[test]
    fn deny_wins_in_every_spelling() {
        let scope = Scope { read: Some(prefixes(&["a"])), deny: prefixes(&["a/secret"]), ..Scope::default() };
        for given in
            ["a/secret/x.md", "./a/secret/x.md", "/a/secret", "a\\secret\\x.md", "A/SECRET/x.md", "a//secret/x"]
        {
            let path = VaultPath::parse(given).unwrap();
            assert_eq!(scope.may_read(&path), Err(Denied::InDenyPaths), "{given}");
            assert_eq!(scope.may_write(&path), Err(Denied::InDenyPaths), "{given}");
        }
        assert!(scope.may_read(&VaultPath::parse("a/secrets.md").unwrap()).is_ok());
    }
}
