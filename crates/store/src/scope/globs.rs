//! Patterns of `allow` and `deny`.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use lapidary_note::quoted;

use super::fold::{FoldedPath, folded};

/// Patterns for paths: `*` and `?` stay within a name, `**` spans folders, `{a,b}` and `[a-z]` are alternatives. A
/// pattern that matches a folder covers everything below it.
#[derive(Clone, Debug, Default)]
pub struct PathGlobs {
    written: Vec<String>,
    covering: GlobSet,
    /// Matches the folders that can contain something covered.
    leading: GlobSet,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is not a pattern for paths of the vault: {problem}", quoted(.given))]
pub struct GlobError {
    pub given: String,
    pub problem: GlobProblem,
}

/// Each of these would be a pattern that matches nothing, and a rule that closes nothing is worse than none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobProblem {
    #[error("it names nothing")]
    Empty,
    #[error("it leaves the vault")]
    Escapes,
    #[error("`!` has no meaning here; `allow` says what is open and `deny` what is closed")]
    Negated,
    #[error("write {{a,b}} instead of @(a|b)")]
    Extended,
    #[error("{0}")]
    Syntax(globset::ErrorKind),
}

impl PathGlobs {
    pub fn parse(patterns: &[impl AsRef<str>]) -> Result<Self, GlobError> {
        let (mut covering, mut leading) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut written = Vec::new();
        for given in patterns.iter().map(AsRef::as_ref) {
            let failed = |problem| GlobError { given: given.to_owned(), problem };
            let pattern = normal(given).map_err(failed)?;
            let compiled =
                |pattern: &str| compile(pattern).map_err(|error| failed(GlobProblem::Syntax(error.kind().clone())));
            // Paths are folded before they are compared, so patterns have to be as well.
            let compared = folded(&pattern);
            covering.add(compiled(&compared)?);
            for folders in leading_folders(&compared) {
                leading.add(compiled(&folders)?);
            }
            written.push(pattern);
        }
        let build = |set: &GlobSetBuilder| {
            set.build().map_err(|error| GlobError {
                given: error.glob().unwrap_or_default().to_owned(),
                problem: GlobProblem::Syntax(error.kind().clone()),
            })
        };
        Ok(Self { written, covering: build(&covering)?, leading: build(&leading)? })
    }

    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// The patterns in the owner's spelling.
    pub fn written(&self) -> &[String] {
        &self.written
    }

    pub(super) fn covers(&self, path: &FoldedPath) -> bool {
        // A pattern that covers a folder covers everything in it.
        self.covering.is_match(path.as_str()) || path.folders().any(|folder| self.covering.is_match(folder))
    }

    /// Whether the same is covered in both folders, as far as the patterns show. Neither is covered itself.
    pub(super) fn cover_alike(&self, one: &FoldedPath, other: &FoldedPath) -> bool {
        // A pattern for names matches in one folder what it matches in the other.
        let is_for_names = |pattern: &&String| pattern.strip_prefix("**/").is_some_and(|name| !name.contains('/'));
        let of_places: Vec<&String> = self.written.iter().filter(|pattern| !is_for_names(pattern)).collect();
        // It parsed before, so it parses again.
        let of_places = Self::parse(&of_places).unwrap_or_else(|_| self.clone());
        !of_places.may_be_in(one) && !of_places.may_be_in(other)
    }

    /// Whether something covered can be in this folder, as far as the patterns show.
    pub(super) fn may_be_in(&self, folder: &FoldedPath) -> bool {
        self.covers(folder) || self.leading.is_match(folder.as_str())
    }
}

fn compile(pattern: &str) -> Result<globset::Glob, globset::Error> {
    // Without escapes, because `\` is a separator in paths from Windows.
    GlobBuilder::new(pattern).literal_separator(true).backslash_escape(false).build()
}

/// The pattern in the form of paths. A pattern for a folder and everything below it is the folder.
fn normal(given: &str) -> Result<String, GlobProblem> {
    const EXTENDED: [&str; 5] = ["@(", "+(", "?(", "*(", "!("];
    if given.starts_with('!') {
        return Err(GlobProblem::Negated);
    }
    if EXTENDED.iter().any(|opening| given.contains(opening)) {
        return Err(GlobProblem::Extended);
    }
    // Owners on Windows write patterns with backslashes.
    let pattern = given.replace('\\', "/");
    let mut names: Vec<&str> = pattern.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    if names.contains(&"..") {
        return Err(GlobProblem::Escapes);
    }
    while names.len() > 1 && names.last() == Some(&"**") {
        names.pop();
    }
    if names.is_empty() { Err(GlobProblem::Empty) } else { Ok(names.join("/")) }
}

/// Patterns for the folders above what a pattern covers.
fn leading_folders(pattern: &str) -> Vec<String> {
    let anywhere = "**".to_owned();
    let mut folders = Vec::new();
    let mut above: Vec<&str> = Vec::new();
    let mut names = pattern.split('/').peekable();
    while let Some(name) = names.next() {
        let balanced = |open: char, close: char| name.matches(open).count() == name.matches(close).count();
        if !balanced('{', '}') || !balanced('[', ']') {
            // An alternative between whole paths: the folders that lead there cannot be derived name by name.
            return vec![anywhere];
        }
        if name == "**" {
            above.push(name);
            folders.push(above.join("/"));
            break;
        }
        if names.peek().is_none() {
            break;
        }
        above.push(name);
        folders.push(above.join("/"));
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> PathGlobs {
        PathGlobs::parse(patterns).unwrap()
    }

    #[test]
    fn what_patterns_cover() {
        for (pattern, covered, not) in [
            ("Private", &["private", "Private/a.md", "PRIVATE/b/c.md"][..], &["privates", "a/private"][..]),
            ("Private/**", &["private", "Private/a.md"], &["privat"]),
            ("/Private/", &["private", "private/a"], &["x/private"]),
            ("./a\\b/**", &["a/b", "a/b/c"], &["a", "a/c"]),
            ("*.md", &["a.md", "a.md/x"], &["a/b.md", "a.txt"]),
            ("**/*.md", &["a.md", "a/b.md", "a/b/c.md"], &["a", "a/b", "a.txt"]),
            ("**/secret/**", &["secret", "a/secret/b", "a/b/secret"], &["secrets", "a"]),
            ("a/*/c", &["a/b/c", "a/x/c/d"], &["a/b", "a/b/b/c"]),
            ("a?.md", &["ab.md"], &["a/.md", "a.md"]),
            ("{a,b}/x*", &["a/x1", "b/x"], &["c/x", "a/y"]),
            ("[a-c]", &["B", "b/x"], &["d"]),
            ("Priv\u{e9}", &["prive\u{301}/x"], &["prive"]),
            ("ΟΔΟΣ", &["οδοσ/x", "οδος"], &["οδο"]),
            ("Notes (old)", &["notes (old)/x"], &["notes old"]),
        ] {
            let globs = globs(&[pattern]);
            for path in covered {
                assert!(globs.covers(&FoldedPath::new(path)), "{pattern} covers {path}");
            }
            for path in not {
                assert!(!globs.covers(&FoldedPath::new(path)), "{pattern} does not cover {path}");
            }
        }
    }

    #[test]
    fn the_folders_on_the_way_to_something_covered() {
        for (pattern, leading, not) in [
            ("a/b/c.md", &["a", "A/B", "a/b/c.md/below"][..], &["b", "a/c", "a/b/d"][..]),
            ("a/**/c.md", &["a", "a/x", "a/x/y"], &["b"]),
            ("**/*.md", &["a", "a/b"], &[]),
            ("*.md", &["x.md"], &["a"]),
            ("a*/b?/c", &["ax", "ax/b1"], &["b", "ax/b"]),
            ("{a/b,c}/d", &["a", "a/b", "z"], &[]),
        ] {
            let globs = globs(&[pattern]);
            for folder in leading {
                assert!(globs.may_be_in(&FoldedPath::new(folder)), "{pattern}: {folder}");
            }
            for folder in not {
                assert!(!globs.may_be_in(&FoldedPath::new(folder)), "{pattern}: {folder}");
            }
        }
    }

    #[test]
    fn a_pattern_that_would_fit_nothing_is_refused() {
        for (given, problem) in [
            ("", GlobProblem::Empty),
            ("/", GlobProblem::Empty),
            ("../x", GlobProblem::Escapes),
            ("a/../b", GlobProblem::Escapes),
            ("!a", GlobProblem::Negated),
            ("a/+(b|c)", GlobProblem::Extended),
            ("a/[b", GlobProblem::Syntax(globset::ErrorKind::UnclosedClass)),
            ("{a", GlobProblem::Syntax(globset::ErrorKind::UnclosedAlternates)),
        ] {
            assert_eq!(PathGlobs::parse(&[given]).unwrap_err(), GlobError { given: given.into(), problem }, "{given}");
        }
    }
}
