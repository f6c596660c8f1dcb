//! Tests of scopes: what may be read and changed.

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
        let policy = Policy { read: read.map(prefixes), write: write.map(prefixes), read_only, ..Policy::default() };
        let scope = Scope::from(policy);
        let path = VaultPath::parse(path).unwrap();
        assert_eq!(scope.may_read(&path).is_ok(), may_read, "read {path} under {scope:?}");
        assert_eq!(scope.may_write(&path).is_ok(), may_write, "write {path} under {scope:?}");
    }
}

#[test]
fn letters_with_accents_are_the_same_in_both_forms() {
    let (composed, decomposed) = ("Priv\u{e9}", "Prive\u{301}");
    for (rule, asked) in [(composed, decomposed), (decomposed, composed)] {
        let scope = Scope::from(Policy { deny: prefixes(&[rule]), ..Policy::default() });
        let path = VaultPath::parse(&format!("{asked}/s.md")).unwrap();
        assert_eq!(scope.may_read(&path), Err(PathDenied::InDenyPaths), "{rule:?} {asked:?}");
    }
}

#[test]
fn deny_wins_in_every_spelling() {
    let policy = Policy { read: Some(prefixes(&["a"])), deny: prefixes(&["a/secret"]), ..Policy::default() };
    let scope = Scope::from(policy);
    for given in ["a/secret/x.md", "./a/secret/x.md", "/a/secret", "a\\secret\\x.md", "A/SECRET/x.md", "a//secret/x"] {
        let path = VaultPath::parse(given).unwrap();
        assert_eq!(scope.may_read(&path), Err(PathDenied::InDenyPaths), "{given}");
        assert_eq!(scope.may_write(&path), Err(PathDenied::InDenyPaths), "{given}");
    }
    assert!(scope.may_read(&VaultPath::parse("a/secrets.md").unwrap()).is_ok());
}

fn globs(patterns: &[&str]) -> PathGlobs {
    PathGlobs::parse(patterns).unwrap()
}

fn scope_of(policy: Policy, rules: &[(rules::RuleVerdict, &str)]) -> Scope {
    let mut scope = Scope::from(policy);
    for (says, text) in rules {
        scope.rules.add(*says, text.as_bytes()).unwrap();
    }
    scope
}

#[test]
fn patterns_of_a_vault_are_asked_in_order_allow_then_deny() {
    let allow = || Some(globs(&["Work/**", "**/*.md"]));
    let allowed = || vec!["Work".to_owned(), "**/*.md".to_owned()];
    let policy = Policy { allow_globs: allow(), deny_globs: globs(&["work/Secret/**"]), ..Policy::default() };
    let scope = Scope::from(policy);
    for (path, expected) in [
        ("work/a.png", Ok(())),
        ("WORK", Ok(())),
        ("x/y/a.MD", Ok(())),
        ("x/a.png", Err(PathDenied::NotAllowed { allowed: allowed() })),
        ("work/secret/a.md", Err(PathDenied::Forbidden)),
        ("Work/SECRET", Err(PathDenied::Forbidden)),
        ("work/.hidden.md", Err(PathDenied::Hidden)),
    ] {
        let path = VaultPath::parse(path).unwrap();
        assert_eq!(scope.may_read(&path), expected, "{path}");
        assert_eq!(scope.may_write(&path), expected, "{path}");
    }
    let folder = |path| scope.may_enter(&VaultPath::parse(path).unwrap());
    assert_eq!(folder("x/y"), Ok(()), "notes may be in it");
    assert_eq!(folder("work/secret"), Err(PathDenied::Forbidden));
    assert!(scope.may_read(&VaultPath::parse("x/y").unwrap()).is_err());
}

#[test]
fn no_rule_file_opens_paths_closed_by_the_configuration() {
    let policy = Policy { deny: prefixes(&["deny"]), read: Some(prefixes(&["read", "deny"])), ..Policy::default() };
    let scope =
        scope_of(policy, &[(rules::RuleVerdict::Ignored, "!*\n!deny/**"), (rules::RuleVerdict::Protected, "!*")]);
    for path in ["deny/a.md", "other/a.md", ".obsidian/app.json", ".lapidaryignore", "a/.lapidaryprotect"] {
        assert!(scope.may_read(&VaultPath::parse(path).unwrap()).is_err(), "{path}");
    }
}

#[test]
fn ignored_is_closed_and_protected_is_readable() {
    use rules::RuleVerdict::{Excluded, Ignored, Protected};
    let policy = Policy { skip_folders: FolderNames::new(&["Node_Modules"]), ..Policy::default() };
    let scope = scope_of(
        policy,
        &[
            (Ignored, "/private/\n*.tmp\n!keep.tmp"),
            (Ignored, "!private/\nkeep.tmp"),
            (Protected, "rules.md\n!*"),
            (Protected, "/fixed/"),
            (Excluded, r#"{"userIgnoreFilters": ["Archive/"]}"#),
        ],
    );
    for (path, read, write) in [
        ("a.md", Ok(()), Ok(())),
        ("Private/a.md", Err(PathDenied::Ignored), Err(PathDenied::Ignored)),
        ("private", Err(PathDenied::Ignored), Err(PathDenied::Ignored)),
        ("x/private/a.md", Ok(()), Ok(())),
        ("x/a.TMP", Err(PathDenied::Ignored), Err(PathDenied::Ignored)),
        ("keep.tmp", Err(PathDenied::Ignored), Err(PathDenied::Ignored)),
        ("x/node_modules/a.md", Err(PathDenied::Ignored), Err(PathDenied::Ignored)),
        ("archive/a.md", Err(PathDenied::Ignored), Err(PathDenied::Ignored)),
        ("rules.md", Ok(()), Ok(())),
        ("Fixed/a/b.md", Ok(()), Err(PathDenied::Protected)),
        ("fixed", Ok(()), Err(PathDenied::Protected)),
    ] {
        let path = VaultPath::parse(path).unwrap();
        assert_eq!((scope.may_read(&path), scope.may_write(&path)), (read, write), "{path}");
    }
}

#[test]
fn a_refusal_names_the_folders_of_the_grant_and_not_the_servers() {
    let server = Policy {
        read: Some(prefixes(&["Work", "Private"])),
        write: Some(prefixes(&["Work/Drafts", "Private"])),
        allow_globs: Some(globs(&["Work/**", "Private/**"])),
        ..Policy::default()
    };
    let grant =
        Policy { read: Some(prefixes(&["Work", "Elsewhere"])), write: Some(prefixes(&["Work"])), ..Policy::default() };
    let scope = scope_of(server, &[]).narrowed(std::sync::Arc::new(grant));
    let told = |path: &str| {
        let path = VaultPath::parse(path).unwrap();
        format!("{:?} {:?}", scope.may_read(&path), scope.may_write(&path))
    };
    assert!(told("Work/Drafts/a.md").starts_with("Ok(()) Ok(())"));
    for path in ["Other/a.md", "Private/a.md", "Elsewhere/a.md", "Work/a.md", "a.md"] {
        let told = told(path);
        assert!(told.contains("Err") && !told.contains("Private") && !told.contains("Drafts"), "{path}: {told}");
    }
}
