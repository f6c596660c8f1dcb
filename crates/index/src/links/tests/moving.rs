//! Tests of links that follow moved files.

use lapidary_note::LinkForm::{self, Markdown, Wiki};

use super::{Files, path};
use crate::{
    VaultPath,
    links::{
        FileMoves,
        LinkFormat::{self, Absolute, Relative, Shortest},
        RewrittenLink, WrittenLink,
    },
};

/// A vault in which files or folders get other paths.
struct Case {
    files: &'static [&'static str],
    moves: &'static [(&'static str, &'static str)],
    format: LinkFormat,
}

impl Case {
    fn moved(&self, file: &VaultPath) -> VaultPath {
        let inside =
            |from: &str| file.as_str().strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let new = self.moves.iter().find_map(|(from, to)| Some(path(&format!("{to}{}", inside(from)?))));
        new.unwrap_or_else(|| file.clone())
    }

    fn rewrite(&self, source: &str, link: WrittenLink<'_>) -> Option<RewrittenLink> {
        let before = Files::of(self.files);
        let after: Files = self.files.iter().map(|file| self.moved(&path(file))).collect();
        let moved =
            FileMoves { before: &before, after: &after, moved_to: &|file| self.moved(file), format: self.format };
        moved.rewrite(link, &path(source))
    }

    /// Source, form, link path, and its text after the move.
    fn check(&self, links: &[(&str, LinkForm, &str, Option<&str>)]) {
        for (source, form, linkpath, expected) in links {
            let link = WrittenLink { form: *form, linkpath, alias: None };
            let found = self.rewrite(source, link);
            assert_eq!(found.as_ref().map(|found| &*found.linkpath), *expected, "{link:?} in {source}");
            assert_eq!(found.and_then(|found| found.alias), None, "a link without an alias stays without");
        }
    }
}

#[test]
fn links_to_a_file_that_gets_another_name_follow_in_their_form() {
    Case { files: &["d/Old.md", "s.md"], moves: &[("d/Old.md", "d/New.md")], format: Shortest }.check(&[
        ("s.md", Wiki, "Old", Some("New")),
        ("s.md", Wiki, "d/old", Some("New")),
        ("s.md", Wiki, "Old.md", Some("New")),
        ("s.md", Markdown, "d/Old.md", Some("New.md")),
        ("s.md", Markdown, "Old", Some("New.md")),
        ("d/Old.md", Wiki, "Old", Some("New")),
        ("s.md", Wiki, "Other", None),
    ]);
}

#[test]
fn a_changed_link_is_written_in_the_format_of_the_vault() {
    let (files, moves): (&[&str], &[_]) = (&["d/Old.md", "d/s.md"], &[("d/Old.md", "e/New.md")]);
    for (format, expected) in [(Shortest, "New"), (Relative, "../e/New"), (Absolute, "e/New")] {
        Case { files, moves, format }.check(&[("d/s.md", Wiki, "d/Old", Some(expected))]);
    }
}

#[test]
fn a_link_that_still_leads_to_the_file_stays_as_it_is() {
    Case { files: &["a/N.md", "s.md"], moves: &[("a/N.md", "b/N.md")], format: Absolute }.check(&[
        ("s.md", Wiki, "N", None),
        ("s.md", Markdown, "n.md", None),
        ("s.md", Wiki, "a/N", Some("b/N")),
    ]);
    Case { files: &["log.md", "s.md"], moves: &[("log.md", "Log.md")], format: Shortest }
        .check(&[("s.md", Wiki, "log", None)]);
}

#[test]
fn links_within_a_note_gain_no_name() {
    Case { files: &["a/N.md"], moves: &[("a/N.md", "b/M.md")], format: Absolute }.check(&[("a/N.md", Wiki, "", None)]);
}

#[test]
fn relative_links_in_a_file_that_moves_follow() {
    Case { files: &["a/s.md", "a/N.md", "a/i.png"], moves: &[("a/s.md", "b/c/s.md")], format: Relative }.check(&[
        ("a/s.md", Wiki, "./N", Some("../../a/N")),
        ("a/s.md", Markdown, "../a/i.png", Some("../../a/i.png")),
        ("a/s.md", Wiki, "N", None),
    ]);
}

#[test]
fn an_ambiguous_link_keeps_its_winner_when_its_note_moves() {
    Case { files: &["a/T.md", "b/T.md", "a/s.md"], moves: &[("a/s.md", "b/s.md")], format: Shortest }.check(&[(
        "a/s.md",
        Wiki,
        "T",
        Some("a/T"),
    )]);
}

#[test]
fn links_to_other_files_keep_them_when_a_name_becomes_ambiguous() {
    Case { files: &["x/T.md", "y/Other.md", "y/s.md"], moves: &[("y/Other.md", "y/T.md")], format: Shortest }
        .check(&[("y/s.md", Wiki, "T", Some("x/T")), ("y/s.md", Wiki, "Other", Some("y/T"))]);
}

#[test]
fn links_follow_a_moved_folder() {
    let files = &["f/a.md", "f/g/b.md", "s.md", "ff/c.md"];
    Case { files, moves: &[("f", "h/k")], format: Shortest }.check(&[
        ("s.md", Wiki, "f/a", Some("a")),
        ("s.md", Wiki, "g/b", None),
        ("s.md", Wiki, "ff/c", None),
        ("f/a.md", Wiki, "g/b", None),
        ("f/a.md", Wiki, "./g/b", None),
        ("f/a.md", Markdown, "../s.md", Some("s.md")),
    ]);
}

#[test]
fn files_may_change_places() {
    Case { files: &["a.md", "b.md", "s.md"], moves: &[("a.md", "b.md"), ("b.md", "a.md")], format: Shortest }.check(&[
        ("s.md", Wiki, "a", Some("b")),
        ("s.md", Wiki, "b", Some("a")),
        ("a.md", Wiki, "a", Some("b")),
    ]);
}

#[test]
fn an_alias_that_was_the_name_follows() {
    let files = &["f/2.md", "i/Pic.png", "s.md"];
    let case = Case { files, moves: &[("f/2.md", "f/222.md"), ("i/Pic.png", "i/New.png")], format: Absolute };
    for (form, linkpath, alias, expected) in [
        (Wiki, "f/2", "2", Some("222")),
        (Markdown, "f/2.md", "2", Some("222")),
        (Wiki, "f/2", "2.md", Some("222.md")),
        (Wiki, "f/2", "two", None),
        (Wiki, "f/2", "2 ", None),
        (Wiki, "i/Pic.png", "Pic.png", Some("New.png")),
        (Wiki, "i/Pic.png", "Pic", Some("New")),
        (Wiki, "i/Pic.png", "pic", None),
    ] {
        let found = case.rewrite("s.md", WrittenLink { form, linkpath, alias: Some(alias) }).unwrap();
        assert_eq!(found.alias.as_deref(), expected, "{linkpath}|{alias}");
    }
    let elsewhere = Case { files, moves: &[("f", "g")], format: Absolute };
    let link = WrittenLink { form: Wiki, linkpath: "f/2", alias: Some("2") };
    let expected = RewrittenLink { linkpath: "g/2".to_owned(), alias: None };
    assert_eq!(elsewhere.rewrite("s.md", link), Some(expected), "another folder is not another name");
}

#[test]
fn links_to_a_removed_file_are_not_touched() {
    let (before, after) = (Files::of(&["a.md", "b/c.md", "s.md"]), Files::of(&["b/c.md", "s.md"]));
    let moved = FileMoves { before: &before, after: &after, moved_to: &VaultPath::clone, format: Shortest };
    let link = WrittenLink { form: Wiki, linkpath: "a", alias: None };
    assert_eq!(moved.rewrite(link, &path("s.md")), None);
}
