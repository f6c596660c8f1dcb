//! Laws of links for random vaults: a written link leads to its target, also after a move.

use std::collections::BTreeSet;

use lapidary_note::{Document, LinkForm, LinkRetarget};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
    sample::Index,
};

use unicode_normalization::UnicodeNormalization;

use super::Files;
use crate::{
    VaultPath,
    links::{FileMoves, FileNames, LinkFormat, WrittenLink, folded_name, keys, linkpath_for, resolve},
};

/// Few letters, so that names and folders often coincide; all characters that a link can have.
const NAME: &str = "[abAΣÉ]{1,2}(e\u{301}| b|%2|\\(|\\.b)?";

fn file() -> impl Strategy<Value = VaultPath> {
    let name =
        (NAME, prop_oneof![3 => Just(".md"), 1 => Just(""), 1 => Just(".MD"), 1 => Just(".md.md"), 1 => Just(".png")]);
    (vec("[abA]", 0..4), name).prop_map(|(folders, (name, ending))| {
        let mut path: String = folders.iter().map(|folder| format!("{folder}/")).collect();
        path += &name;
        VaultPath::parse(&(path + ending)).unwrap()
    })
}

fn files() -> impl Strategy<Value = BTreeSet<VaultPath>> {
    btree_set(file(), 1..12).prop_filter("Obsidian knows one file of each spelling", |files| {
        let known: BTreeSet<String> =
            files.iter().map(|file| crate::links::fold::plain(file.as_str()).into()).collect();
        known.len() == files.len()
    })
}

fn format() -> impl Strategy<Value = LinkFormat> {
    prop_oneof![Just(LinkFormat::Shortest), Just(LinkFormat::Relative), Just(LinkFormat::Absolute)]
}

fn form() -> impl Strategy<Value = LinkForm> {
    prop_oneof![Just(LinkForm::Wiki), Just(LinkForm::Markdown)]
}

/// What people write, and what they do not.
fn linkpath() -> impl Strategy<Value = String> {
    prop_oneof![
        (prop_oneof![Just(""), Just("./"), Just("../"), Just("/"), Just("../../")], file())
            .prop_map(|(front, file)| format!("{front}{}", file.as_str().trim_end_matches(".md"))),
        "[abA./ Σ]{0,8}",
        any::<String>(),
    ]
}

/// The last names of a path, as people write them into links.
fn end_of(file: &VaultPath, names: usize) -> String {
    let all: Vec<&str> = file.names().collect();
    let end = all[all.len().saturating_sub(names)..].join("/");
    end.strip_suffix(".md").unwrap_or(&end).to_owned()
}

/// A link as written in a note and parsed back.
fn through_a_note(linkpath: &str, form: LinkForm) -> String {
    let note = match form {
        LinkForm::Wiki => "[[old]]\n",
        LinkForm::Markdown => "[x](old)\n",
    };
    let document = Document::open(note.to_owned()).unwrap();
    let retarget = LinkRetarget::link(&document.note().links[0], linkpath).unwrap();
    let edited = document.retarget_links(&[retarget]).unwrap().document;
    edited.note().links[0].target(edited.shown()).into_owned()
}

proptest! {
    #[test]
    fn a_link_leads_to_what_it_was_written_for(
        files in files(), target: Index, source in file(), format in format(), form in form(),
    ) {
        let names: Files = files.iter().cloned().collect();
        let target = target.get(&files.iter().collect::<Vec<_>>()).to_owned();
        let written = linkpath_for(&names, target, &source, format, form);
        prop_assert_eq!(resolve(&names, &written, &source), Some(target), "{}", written);
        let read = through_a_note(&written, form);
        prop_assert_eq!(resolve(&names, &read, &source), Some(target), "{} read as {}", written, read);
    }

    #[test]
    fn every_link_leads_to_the_same_file_after_a_move(
        files in files(), from: Index, to in file(), whole_folder: bool, source: Index,
        links in vec((any::<Index>(), 1_usize..4, format()), 1..8), format in format(), form in form(),
    ) {
        let list: Vec<&VaultPath> = files.iter().collect();
        let (from, source) = (from.get(&list), source.get(&list));
        // A folder is renamed to what would be the path of a file.
        let from = from.folder().filter(|_| whole_folder).unwrap_or_else(|| (*from).clone());
        let moved_to = |file: &VaultPath| match file.as_str().strip_prefix(from.as_str()) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => VaultPath::parse(&format!("{to}{rest}")).unwrap(),
            _ => file.clone(),
        };
        let moved: BTreeSet<VaultPath> = files.iter().map(moved_to).collect();
        prop_assume!(moved.len() == files.len());
        let (before, after): (Files, Files) = (files.iter().cloned().collect(), moved.into_iter().collect());
        let plan = FileMoves { before: &before, after: &after, moved_to: &moved_to, format };
        let written = links.iter().flat_map(|(target, names, written_in)| {
            let target = target.get(&list);
            [end_of(target, *names), linkpath_for(&before, target, source, *written_in, form)]
        });
        for linkpath in &written.collect::<Vec<_>>() {
            let rewritten = plan.rewrite(WrittenLink { form, linkpath, alias: None }, source);
            let Some(target) = resolve(&before, linkpath, source) else {
                prop_assert_eq!(rewritten, None, "a link that led nowhere stays");
                continue;
            };
            let now = rewritten.map_or_else(|| linkpath.clone(), |link| link.linkpath);
            let (new_source, new_target) = (moved_to(source), moved_to(target));
            prop_assert_eq!(resolve(&after, &now, &new_source), Some(&new_target), "{} now {}", linkpath, now);
        }
    }

    #[test]
    fn a_link_leads_to_a_file_of_its_name_or_nowhere(files in files(), source in file(), linkpath in linkpath()) {
        let names: Files = files.iter().cloned().collect();
        match resolve(&names, &linkpath, &source) {
            Some(found) if linkpath.is_empty() => prop_assert_eq!(found, &source),
            Some(found) => {
                prop_assert!(files.contains(found));
                let keys = keys(&linkpath).unwrap();
                let name = folded_name(found.name());
                prop_assert!(name == keys.as_written() || name == keys.as_note());
            }
            None => {}
        }
    }

    #[test]
    fn what_the_asker_may_not_see_changes_nothing(
        files in files(), hidden in files(), source in file(), linkpath in linkpath(),
        format in format(), form in form(),
    ) {
        struct Without<'a>(&'a Files, &'a BTreeSet<VaultPath>);
        impl FileNames for Without<'_> {
            fn named<'n>(&'n self, folded: &str) -> impl Iterator<Item = &'n VaultPath> {
                self.0.named(folded).filter(|file| !self.1.contains(*file))
            }
        }
        let all: Files = files.union(&hidden).cloned().collect();
        let seen: Files = files.difference(&hidden).cloned().collect();
        let without = Without(&all, &hidden);
        prop_assert_eq!(resolve(&without, &linkpath, &source), resolve(&seen, &linkpath, &source));
        for target in &files {
            let written = linkpath_for(&without, target, &source, format, form);
            prop_assert_eq!(written, linkpath_for(&seen, target, &source, format, form));
        }
    }

    #[test]
    fn letters_fold_alike_in_both_their_forms(name in "[À-ỿἀ-῿Å-ⷿａ-ｚ\u{300}-\u{345}\u{a0}]{1,6}|\\PC{1,6}") {
        let (composed, decomposed): (String, String) = (name.nfc().collect(), name.nfd().collect());
        prop_assert_eq!(folded_name(&composed), folded_name(&decomposed));
        prop_assert_eq!(folded_name(&name), folded_name(&decomposed));
    }

    #[test]
    fn folding_twice_is_folding_once_and_endings_do_not_matter(name in any::<String>()) {
        let folded = folded_name(&name);
        prop_assert_eq!(folded_name(&folded), folded.clone());
        let longer = format!("a/{name}.md");
        prop_assert_eq!(folded_name(&longer), format!("a/{folded}.md"));
        let (upper, lower) = (name.to_uppercase(), name.to_uppercase().to_lowercase());
        prop_assert_eq!(folded_name(&upper), folded_name(&lower));
    }
}
