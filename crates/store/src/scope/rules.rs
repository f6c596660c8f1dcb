//! What the vault's own files say: which of its paths are not there for anybody, and which nobody may change.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{
    excluded::Excluded,
    fold::{FoldedPath, Wanted, folded},
};
use crate::StoreError;

/// A file in which the owner of the vault writes rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RuleFile {
    pub(super) path: &'static str,
    pub(super) says: Says,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Ignored,
    Protected,
    Excluded,
}

/// The last two are those of another server, which people already have in their vaults.
pub(super) const RULE_FILES: [RuleFile; 4] = [
    RuleFile { path: ".lapidaryignore", says: Says::Ignored },
    RuleFile { path: ".lapidaryprotect", says: Says::Protected },
    RuleFile { path: ".obsidian-agentignore", says: Says::Ignored },
    RuleFile { path: ".obsidian-agentprotected", says: Says::Protected },
];

pub(super) const OBSIDIAN_SETTINGS: RuleFile = RuleFile { path: ".obsidian/app.json", says: Says::Excluded };

/// Larger than any list that a person keeps.
pub(super) const MAX_RULE_BYTES: u64 = 1_000_000;

/// Why no scope could be made. Whoever cannot read the rules must not guess them, so the vault is closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    #[error("the rule file {file} cannot be used: {problem}")]
    Unreadable { file: &'static str, problem: RuleProblem },
    #[error("the vault's folder is not there")]
    VaultGone,
}

/// For the owner of the vault; callers are not told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    #[error("{0}")]
    Store(StoreError),
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("line {line} is not a pattern")]
    Pattern { line: usize },
    #[error("its patterns are too large together")]
    TooComplex,
    #[error("its list of excluded files cannot be read")]
    Filters,
}

/// What all rule files say together. No file can take back what another says.
#[derive(Clone, Debug, Default)]
pub(super) struct VaultRules {
    ignored: Vec<Patterns>,
    protected: Vec<Patterns>,
    excluded: Excluded,
}

impl VaultRules {
    pub(super) fn add(&mut self, says: Says, bytes: &[u8]) -> Result<(), RuleProblem> {
        let text = std::str::from_utf8(bytes).map_err(|_| RuleProblem::NotUtf8)?.trim_start_matches('\u{feff}');
        match says {
            Says::Ignored => self.ignored.push(Patterns::parse(text)?),
            Says::Protected => self.protected.push(Patterns::parse(text)?),
            Says::Excluded => self.excluded = Excluded::parse(text).map_err(|_| RuleProblem::Filters)?,
        }
        Ok(())
    }

    pub(super) fn ignore_nothing(&self) -> bool {
        self.ignored.iter().all(Patterns::is_empty) && self.excluded.is_empty()
    }

    pub(super) fn protect_nothing(&self) -> bool {
        self.protected.iter().all(Patterns::is_empty)
    }

    pub(super) fn ignore(&self, path: &str, folded: &FoldedPath, wanted: Wanted) -> bool {
        self.ignored.iter().any(|patterns| patterns.cover(folded, wanted)) || self.excluded.covers(path, folded, wanted)
    }

    pub(super) fn protect(&self, folded: &FoldedPath) -> bool {
        self.protected.iter().any(|patterns| patterns.cover(folded, Wanted::Anything))
    }
}

/// One file of patterns, as git reads them but without case.
#[derive(Clone, Debug)]
struct Patterns(Gitignore);

impl Patterns {
    fn parse(text: &str) -> Result<Self, RuleProblem> {
        let mut builder = GitignoreBuilder::new(".");
        builder.allow_unclosed_class(false);
        for (index, line) in text.lines().enumerate() {
            builder.add_line(None, &folded(line)).map_err(|_| RuleProblem::Pattern { line: index + 1 })?;
        }
        builder.build().map(Self).map_err(|_| RuleProblem::TooComplex)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// From the outermost folder inwards: below a folder that is covered, `!` takes nothing out again.
    fn cover(&self, path: &FoldedPath, wanted: Wanted) -> bool {
        let covers = |path: &str, is_folder| self.0.matched(path, is_folder).is_ignore();
        path.folders().any(|folder| covers(folder, true))
            || covers(path.as_str(), true)
            || (wanted == Wanted::Anything && covers(path.as_str(), false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(text: &str, path: &str, wanted: Wanted) -> bool {
        Patterns::parse(text).unwrap().cover(&FoldedPath::new(path), wanted)
    }

    #[test]
    fn patterns_mean_what_git_takes_them_for() {
        for (text, covered, not) in [
            ("secret.md", &["secret.md", "a/secret.md", "SECRET.md", "secret.md/x"][..], &["secrets.md"][..]),
            ("Private/", &["private", "a/Private/b.md", "private/x"], &["privates/x"]),
            ("/Private", &["private/x", "PRIVATE"], &["a/private"]),
            ("a/b", &["a/b", "a/b/c"], &["x/a/b", "a/bc"]),
            ("*.log", &["x.log", "a/x.LOG"], &["x.logs"]),
            ("a/**/z", &["a/z", "a/b/c/z"], &["b/z"]),
            ("inside/**", &["inside/x"], &["inside"]),
            ("*.md\n!open.md", &["a.md"], &["open.md", "a/OPEN.md"]),
            ("!open.md\n*.md", &["open.md"], &[]),
            ("Private/\n!Private/open.md", &["private/open.md"], &[]),
            ("/Private/*\n!/Private/open.md", &["private/a.md"], &["private/open.md", "private"]),
            ("# note\n\n  \nx", &["x"], &["# note", "note"]),
            ("\\#x\n\\!y", &["#x", "!y"], &["x", "y"]),
            ("x  \r\ny\r\n", &["x", "y"], &["x  "]),
            ("[a-c]x", &["Bx"], &["dx"]),
            ("Priv\u{e9}", &["prive\u{301}/x"], &[]),
            ("Prive\u{301}", &["PRIV\u{c9}/x"], &[]),
            ("ΟΔΟΣ.md", &["οδος.md", "οδοσ.md"], &[]),
            ("", &[], &["a"]),
        ] {
            for path in covered {
                assert!(covers(text, path, Wanted::Anything), "{text:?} covers {path}");
            }
            for path in not {
                assert!(!covers(text, path, Wanted::Anything), "{text:?} does not cover {path}");
            }
        }
    }

    #[test]
    fn all_but_notes_is_possible() {
        let text = "*\n!*/\n!*.md";
        assert!(covers(text, "a/b.png", Wanted::Anything));
        assert!(!covers(text, "a/b.md", Wanted::Anything));
        assert!(!covers(text, "a", Wanted::Folder), "asked for as a folder it is open");
        assert!(covers(text, "a", Wanted::Anything), "a file of this name would be closed");
    }

    #[test]
    fn what_is_no_pattern_is_said() {
        for (text, line) in [("a\n[b", 2), ("a\\", 1), ("{a", 1), ("\n\n[z-a]", 3)] {
            assert_eq!(Patterns::parse(text).unwrap_err(), RuleProblem::Pattern { line }, "{text:?}");
        }
        let mut rules = VaultRules::default();
        assert_eq!(rules.add(Says::Ignored, b"a\xff"), Err(RuleProblem::NotUtf8));
        assert_eq!(rules.add(Says::Excluded, b"{"), Err(RuleProblem::Filters));
        assert_eq!(rules.add(Says::Ignored, b"\xef\xbb\xbfa"), Ok(()));
        assert!(rules.ignore("a", &FoldedPath::new("a"), Wanted::Anything), "a byte order mark is no part of it");
    }
}
