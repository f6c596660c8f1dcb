//! Whether two folders have the same closed parts, so that one can become the other with everything in it.

use super::{PathPrefix, Policy, Scope, fold::FoldedPath, inner::InnerScope};
use crate::VaultPath;

impl Scope {
    /// Whether every path in one folder is open if it is in the other. A folder moves with files that the caller may
    /// not see, which must be neither revealed at the destination nor noticed at the source: so it moves only if this
    /// holds for any content.
    pub fn closes_alike(&self, one: &VaultPath, other: &VaultPath) -> bool {
        let paths = (one, other);
        let (one, other) = (FoldedPath::new(one.as_str()), FoldedPath::new(other.as_str()));
        let inside = |inner: &InnerScope| inner.closes_alike((paths.0, &one), (paths.1, &other));
        self.inner.iter().all(inside)
            && self.policies().all(|policy| policy.closes_alike(&one, &other))
            && self.rules.close_alike(&one, &other)
    }
}

impl Policy {
    /// Both folders themselves may be changed, so anything allowed as a whole is allowed in both.
    fn closes_alike(&self, one: &FoldedPath, other: &FoldedPath) -> bool {
        let parts = |prefixes: &[PathPrefix], folder: &FoldedPath| {
            // The whole folder is covered, so parts of it make no difference.
            if prefixes.iter().any(|prefix| prefix.covers_folded(folder.as_str())) {
                return vec![String::new()];
            }
            let mut parts: Vec<String> =
                prefixes.iter().filter_map(|prefix| prefix.below(folder.as_str())).map(str::to_owned).collect();
            parts.sort_unstable();
            parts.dedup();
            parts
        };
        let alike = |prefixes: &[PathPrefix]| parts(prefixes, one) == parts(prefixes, other);
        // What may be changed may be read, so both lists decide.
        let readable = || {
            let read = self.read.as_ref()?;
            Some(read.iter().chain(self.write.iter().flatten()).cloned().collect::<Vec<_>>())
        };
        alike(&self.own_files) && alike(&self.deny)
            // Without a list everything is open in both.
            && readable().is_none_or(|readable| alike(&readable))
            && self.deny_globs.cover_alike(one, other)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{PathGlobs, rules::RuleVerdict},
        *,
    };

    fn alike(scope: &Scope, one: &str, other: &str) -> bool {
        scope.closes_alike(&VaultPath::parse(one).unwrap(), &VaultPath::parse(other).unwrap())
    }

    #[test]
    fn rules_for_names_close_every_folder_alike_and_rules_for_places_do_not() {
        for (rules, one, other, expected) in [
            ("", "a", "b", true),
            ("secret.md\n*.tmp\nPrivate/", "a", "b/c", true),
            ("**/secret.md", "a", "b", true),
            ("/a/secret.md", "a", "b", false),
            ("a/secret.md", "A", "b", false),
            ("/a/secret.md", "b", "c", true),
            ("/a/secret.md", "b", "a/c", true),
            ("/*/secret.md", "a", "b", true),
            ("/*/secret.md", "a", "b/c", false),
            ("/a/**/x", "a/b", "a/c", true),
            ("/a/**/x", "a/b", "c", false),
            ("**/x/y", "a", "b", true),
            ("**/x/y", "a/x", "a/b", false),
            ("*.md\n!/open/*.md", "a", "open", false),
            ("*.md\n!/open/*.md", "a", "b", true),
        ] {
            let mut scope = Scope::default();
            scope.rules.add(RuleVerdict::Ignored, rules.as_bytes()).unwrap();
            assert_eq!(alike(&scope, one, other), expected, "{rules:?} {one} {other}");
            assert_eq!(alike(&scope, other, one), expected, "{rules:?} {other} {one}");
        }
    }

    #[test]
    fn closed_paths_and_patterns_of_the_configuration_count_too() {
        let prefixes = |list: &[&str]| list.iter().map(|path| PathPrefix::parse(path).unwrap()).collect::<Vec<_>>();
        let deny = Scope::from(Policy { deny: prefixes(&["a/x", "b/x", "c"]), ..Policy::default() });
        assert!(alike(&deny, "a", "b"));
        assert!(!alike(&deny, "a", "d") && !alike(&deny, "d", "a"));
        let read = Scope::from(Policy { read: Some(prefixes(&["a/x", "b"])), ..Policy::default() });
        assert!(alike(&read, "b/c", "b/d"));
        assert!(!alike(&read, "a", "b/a"));
        let globs = |patterns: &[&str]| PathGlobs::parse(patterns).unwrap();
        let deny = Scope::from(Policy { deny_globs: globs(&["**/*.secret.md", "a/x/**"]), ..Policy::default() });
        assert!(alike(&deny, "b", "c"));
        assert!(!alike(&deny, "a", "c"));
    }

    #[test]
    fn filters_of_obsidian_count_too() {
        let excluded = |filters: &str| {
            let mut scope = Scope::default();
            let settings = format!(r#"{{"userIgnoreFilters": {filters}}}"#);
            scope.rules.add(RuleVerdict::Excluded, settings.as_bytes()).unwrap();
            scope
        };
        assert!(alike(&excluded(r#"["a/x/"]"#), "b", "c"));
        assert!(!alike(&excluded(r#"["a/x/"]"#), "a", "c"));
        assert!(!alike(&excluded(r#"["/x$/"]"#), "b", "c"), "what an expression closes is not known");
    }
}
