//! The vault's own rule files: which of its paths do not exist for callers, and which may not be changed.

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "git looks for rule files on a disk")]
mod against_git;
mod wildmatch;

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use self::wildmatch::{PatternForm, RuleLine};
use super::{
    UnmatchedRule,
    excluded::ExcludedFiles,
    fold::{FoldedPath, PathWanted},
};
use crate::{RemoteFault, StoreError};

/// A file with rules of the vault's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RuleFile {
    pub(super) path: &'static str,
    pub(super) says: RuleVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleVerdict {
    Ignored,
    Protected,
    Excluded,
}

/// The last two are those of another server, which people already have in their vaults.
pub(super) const RULE_FILES: [RuleFile; 4] = [
    RuleFile { path: ".lapidaryignore", says: RuleVerdict::Ignored },
    RuleFile { path: ".lapidaryprotect", says: RuleVerdict::Protected },
    RuleFile { path: ".obsidian-agentignore", says: RuleVerdict::Ignored },
    RuleFile { path: ".obsidian-agentprotected", says: RuleVerdict::Protected },
];

pub(super) const OBSIDIAN_SETTINGS: RuleFile = RuleFile { path: ".obsidian/app.json", says: RuleVerdict::Excluded };

/// Larger than any hand-written list.
pub(super) const MAX_RULE_BYTES: u64 = 1_000_000;

/// Why no scope could be built. Unreadable rules must not be guessed, so the vault is closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    #[error("the rule file {file} cannot be used: {problem}")]
    Unreadable { file: &'static str, problem: RuleProblem },
    #[error("the vault's folder does not exist")]
    VaultGone,
    #[error("{0}")]
    Remote(RemoteFault),
}

/// For the owner of the vault; callers are not told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    #[error("{0}")]
    Store(StoreError),
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("line {line} has a NUL character or a carriage return in it; lines end with LF or CR LF")]
    LineEnds { line: usize },
    #[error("line {line} is a pattern that can match nothing")]
    Pattern { line: usize },
    #[error("its patterns are too large together")]
    TooComplex,
    #[error("its list of excluded files cannot be read")]
    Filters,
}

/// All rule files combined. No file can undo a rule of another.
#[derive(Clone, Debug, Default)]
pub(super) struct VaultRules {
    ignored: Vec<PatternFile>,
    protected: Vec<PatternFile>,
    excluded: ExcludedFiles,
}

impl VaultRules {
    #[cfg(test)]
    pub(super) fn add(&mut self, says: RuleVerdict, bytes: &[u8]) -> Result<(), RuleProblem> {
        self.add_file(RuleFile { path: "", says }, bytes)
    }

    pub(super) fn add_file(&mut self, RuleFile { path, says }: RuleFile, bytes: &[u8]) -> Result<(), RuleProblem> {
        let text = std::str::from_utf8(bytes).map_err(|_| RuleProblem::NotUtf8)?;
        // Editors on Windows begin files with a byte order mark, which would become part of the first pattern.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match says {
            RuleVerdict::Ignored => self.ignored.push(PatternFile { file: path, ..PatternFile::parse(text)? }),
            RuleVerdict::Protected => self.protected.push(PatternFile { file: path, ..PatternFile::parse(text)? }),
            RuleVerdict::Excluded => self.excluded = ExcludedFiles::parse(text).map_err(|_| RuleProblem::Filters)?,
        }
        Ok(())
    }

    pub(super) fn ignore_nothing(&self) -> bool {
        self.ignored.iter().all(PatternFile::is_empty) && self.excluded.is_empty()
    }

    pub(super) fn protect_nothing(&self) -> bool {
        self.protected.iter().all(PatternFile::is_empty)
    }

    pub(super) fn ignore(&self, path: &str, folded: &FoldedPath, wanted: PathWanted) -> bool {
        self.ignored.iter().any(|patterns| patterns.cover(folded, wanted)) || self.excluded.covers(path, folded, wanted)
    }

    /// The lines that match none of these.
    pub(super) fn unmatched(&self, files: &[FoldedPath], folders: &[FoldedPath]) -> Vec<UnmatchedRule> {
        let mut unmatched = Vec::new();
        for patterns in self.ignored.iter().chain(&self.protected) {
            // A line that re-includes something may rightly match nothing.
            for line in patterns.lines.iter().filter(|line| !line.negated) {
                let is_about =
                    |paths: &[FoldedPath], is_folder| paths.iter().any(|path| line.is_about(path.as_str(), is_folder));
                if !is_about(files, false) && !is_about(folders, true) {
                    let rule = line.written.trim_end().to_owned();
                    // A pattern with a leading slash is only for the top of the vault.
                    let any_folder = !rule.starts_with('/');
                    unmatched.push(UnmatchedRule { source: patterns.file, rule, any_folder });
                }
            }
        }
        unmatched
    }

    /// Whether the same is ignored and protected in both folders.
    pub(super) fn close_alike(&self, one: &FoldedPath, other: &FoldedPath) -> bool {
        let mut files = self.ignored.iter().chain(&self.protected);
        files.all(|patterns| patterns.cover_alike(one, other)) && self.excluded.covers_alike(one, other)
    }

    pub(super) fn protect(&self, folded: &FoldedPath) -> bool {
        self.protected.iter().any(|patterns| patterns.cover(folded, PathWanted::Anything))
    }
}

/// One file of patterns, as git reads them but without case. The last matching line decides.
#[derive(Clone, Debug, Default)]
struct PatternFile {
    file: &'static str,
    lines: Vec<RuleLine>,
    /// Lines without wildcards, by the name they match; those only for folders separately.
    names: [HashMap<String, usize>; 2],
    paths: [HashMap<String, usize>; 2],
    /// The other lines, last first.
    wild: Vec<usize>,
}

/// More wildcard tokens than this would make every check of a path slow.
const MAX_WILD_PARTS: usize = 100_000;

impl PatternFile {
    fn parse(text: &str) -> Result<Self, RuleProblem> {
        let mut patterns = Self::default();
        let mut wild_parts = 0;
        for (index, line) in text.split('\n').enumerate() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            let number = index + 1;
            // Git ends a line at a NUL and takes a lone carriage return as part of a name: such a file closes nothing.
            if line.contains(['\0', '\r']) {
                return Err(RuleProblem::LineEnds { line: number });
            }
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // As paths are compared: an accent may have two encodings.
            let line: String = line.nfc().collect();
            let line = RuleLine::parse(&line).map_err(|_| RuleProblem::Pattern { line: number })?;
            let at = patterns.lines.len();
            let table = usize::from(line.folders_only);
            match &line.fits {
                PatternForm::Nothing => continue,
                // A later line of the same name replaces the earlier one, as the last match decides.
                PatternForm::Name(name) => drop(patterns.names[table].insert(name.clone(), at)),
                PatternForm::Path(path) => drop(patterns.paths[table].insert(path.clone(), at)),
                PatternForm::NameLike(wild) | PatternForm::PathLike(wild) => {
                    wild_parts += wild.size();
                    patterns.wild.push(at);
                }
            }
            patterns.lines.push(line);
        }
        patterns.wild.reverse();
        if wild_parts > MAX_WILD_PARTS { Err(RuleProblem::TooComplex) } else { Ok(patterns) }
    }

    /// Whether nothing is covered.
    fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.negated)
    }

    fn cover(&self, path: &FoldedPath, wanted: PathWanted) -> bool {
        // Without a look at the disk the path may be either, and each reading may be covered.
        self.cover_as(path, true) || (wanted == PathWanted::Anything && self.cover_as(path, false))
    }

    /// From the outermost folder inwards: below a covered folder, `!` re-includes nothing.
    fn cover_as(&self, path: &FoldedPath, is_folder: bool) -> bool {
        path.folders().any(|folder| self.covers_alone(folder, true)) || self.covers_alone(path.as_str(), is_folder)
    }

    /// Whether each line says the same about the contents of both folders.
    fn cover_alike(&self, one: &FoldedPath, other: &FoldedPath) -> bool {
        let [one, other] = [one, other].map(|folder| format!("{}/", folder.as_str()));
        self.lines.iter().all(|line| match &line.fits {
            PatternForm::Nothing | PatternForm::Name(_) | PatternForm::NameLike(_) => true,
            PatternForm::Path(path) => path.strip_prefix(&*one) == path.strip_prefix(&*other),
            PatternForm::PathLike(wild) => wild.goes_on_alike(&one, &other),
        })
    }

    /// What the lines say about this path, regardless of the folders around it.
    fn covers_alone(&self, path: &str, is_folder: bool) -> bool {
        if self.lines.is_empty() {
            return false;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let tables = ..if is_folder { 2 } else { 1 };
        let by_name = self.names[tables].iter().filter_map(|table| table.get(name));
        let by_path = self.paths[tables].iter().filter_map(|table| table.get(path));
        let plain = by_name.chain(by_path).copied().max();
        // Wildcards are slow, and only those after the last plain match can still change the outcome.
        let mut wild = self.wild.iter().copied().take_while(|at| Some(*at) > plain);
        let wild = wild.find(|at| self.lines[*at].is_about(path, is_folder));
        wild.or(plain).is_some_and(|at| !self.lines[at].negated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(text: &str, path: &str, wanted: PathWanted) -> bool {
        PatternFile::parse(text).unwrap().cover(&FoldedPath::new(path), wanted)
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
            ("/Notes {private}/", &["Notes {private}/x", "notes {private}"], &["Notes private/x", "x/Notes {private}"]),
            ("{a,b}", &["{a,b}"], &["a", "b"]),
            ("{a", &["{a"], &["a"]),
            ("[[:alpha:]]x", &["bx", "BX/y"], &["1x", "xx1"]),
            ("[A]x", &["ax", "Ax"], &["bx"]),
            ("\\Ax", &["ax"], &["bx"]),
            ("a**/x", &["ax", "a/x", "ab/c/x"], &["x", "b/x"]),
            ("***", &["a", "a/b"], &[]),
            ("/***/x", &["x", "a/x", "a/b/x"], &["a"]),
            ("a/***", &["a/b", "a/b/c"], &["a"]),
            ("**/\n!a/b", &["b"], &[]),
            ("x\\ ", &["x "], &["x"]),
            ("x\t", &["x\t"], &["x"]),
            (" x", &[" x"], &["x"]),
            ("?", &["\u{e9}"], &["ab"]),
        ] {
            for path in covered {
                assert!(covers(text, path, PathWanted::Anything), "{text:?} covers {path}");
            }
            for path in not {
                assert!(!covers(text, path, PathWanted::Anything), "{text:?} does not cover {path}");
            }
        }
    }

    #[test]
    fn everything_except_notes_can_be_ignored() {
        let text = "*\n!*/\n!*.md";
        assert!(covers(text, "a/b.png", PathWanted::Anything));
        assert!(!covers(text, "a/b.md", PathWanted::Anything));
        assert!(!covers(text, "a", PathWanted::Folder), "asked for as a folder it is open");
        assert!(covers(text, "a", PathWanted::Anything), "a file of this name would be closed");
    }

    #[test]
    fn invalid_patterns_are_reported() {
        for (text, line) in [("a\n[b", 2), ("a\\", 1), ("a\\/", 1), ("\n\n[z-a]", 3), ("[[:letter:]]", 1)] {
            assert_eq!(PatternFile::parse(text).unwrap_err(), RuleProblem::Pattern { line }, "{text:?}");
        }
        for (text, line) in [("a\rb", 1), ("a\nb\0", 2), ("a\r\r\n", 1), ("a\n\0\n", 2), ("#\rsecret", 1)] {
            assert_eq!(PatternFile::parse(text).unwrap_err(), RuleProblem::LineEnds { line }, "{text:?}");
        }
        let long = format!("{}b", "*a".repeat(60_000));
        assert_eq!(PatternFile::parse(&long).unwrap_err(), RuleProblem::TooComplex);
        let mut rules = VaultRules::default();
        assert_eq!(rules.add(RuleVerdict::Ignored, b"a\xff"), Err(RuleProblem::NotUtf8));
        assert_eq!(rules.add(RuleVerdict::Excluded, b"{"), Err(RuleProblem::Filters));
        assert_eq!(rules.add(RuleVerdict::Ignored, b"\xef\xbb\xbfa"), Ok(()));
        assert!(rules.ignore("a", &FoldedPath::new("a"), PathWanted::Anything), "a byte order mark is ignored");
    }
}
