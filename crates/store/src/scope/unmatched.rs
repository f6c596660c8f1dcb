//! Rules that match nothing: more often a typo than a plan.

use super::{PathGlobs, Scope, fold::FoldedPath};
use crate::{PathPrefix, VaultPath};

/// A rule that covers no file or folder of the vault. Only for the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchedRule {
    /// The setting or rule file that contains it.
    pub source: &'static str,
    pub rule: String,
    /// A name in it is meant in every folder, not only at the top of the vault.
    pub any_folder: bool,
}

impl Scope {
    /// The rules of the configuration and of the rule files that match none of these.
    pub fn unmatched(&self, files: &[VaultPath], folders: &[VaultPath]) -> Vec<UnmatchedRule> {
        let folded = |paths: &[VaultPath]| paths.iter().map(|path| FoldedPath::new(path.as_str())).collect::<Vec<_>>();
        let (files, folders) = (folded(files), folded(folders));
        let mut unmatched = Vec::new();
        let policy = &*self.policy;
        let lists = [
            ("OBSIDIAN_READ_PATHS", policy.read.as_deref()),
            ("OBSIDIAN_WRITE_PATHS", policy.write.as_deref()),
            ("OBSIDIAN_DENY_PATHS", Some(&policy.deny[..])),
        ];
        for (source, prefixes) in lists {
            for prefix in prefixes.unwrap_or_default() {
                if !files.iter().chain(&folders).any(|path| prefix.covers_folded(path.as_str())) {
                    unmatched.push(UnmatchedRule { source, rule: prefix.to_string(), any_folder: false });
                }
            }
        }
        for (source, globs) in [("allow", policy.allow_globs.as_ref()), ("deny", Some(&policy.deny_globs))] {
            for pattern in globs.map(PathGlobs::written).unwrap_or_default() {
                // Compiled one by one, as a set does not say which of its patterns matched.
                let alone = PathGlobs::parse(std::slice::from_ref(pattern));
                if alone.is_ok_and(|alone| !files.iter().chain(&folders).any(|path| alone.covers(path))) {
                    unmatched.push(UnmatchedRule { source, rule: pattern.clone(), any_folder: false });
                }
            }
        }
        unmatched.extend(self.rules.unmatched(&files, &folders));
        unmatched
    }
}

impl PathPrefix {
    /// Whether it matches none of these.
    pub fn matches_none(&self, paths: &[VaultPath]) -> bool {
        !paths.iter().any(|path| self.covers(path))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Policy, rules::RuleVerdict},
        *,
    };

    #[test]
    fn a_rule_that_matches_nothing_is_reported_with_its_place() {
        let prefixes = |list: &[&str]| list.iter().map(|path| PathPrefix::parse(path).unwrap()).collect::<Vec<_>>();
        let policy = Policy {
            deny: prefixes(&["Persnen", "work/plan.md"]),
            write: Some(prefixes(&["Work", "New"])),
            deny_globs: PathGlobs::parse(&["**/*.md", "Wrok/**"]).unwrap(),
            ..Policy::default()
        };
        let mut scope = Scope::from(policy);
        let rules = "# all\n/Work/\nPersonn/\n*.pdf\nplan.md/\n!none\nW*\n";
        scope.rules.add(RuleVerdict::Ignored, rules.as_bytes()).unwrap();
        let paths = |list: &[&str]| list.iter().map(|path| VaultPath::parse(path).unwrap()).collect::<Vec<_>>();
        let found = scope.unmatched(&paths(&["Work/Plan.md", "Personen/Anna.md"]), &paths(&["Work", "Personen"]));
        let found: Vec<String> = found.iter().map(|rule| rule.rule.clone()).collect();
        assert_eq!(found, ["New", "Persnen", "Wrok", "Personn/", "*.pdf", "plan.md/"]);
    }
}
