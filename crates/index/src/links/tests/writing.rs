//! Tests of how links are written.

use lapidary_note::LinkForm::{self, Markdown, Wiki};

use super::{Files, path};
use crate::links::{
    LinkFormat::{self, Absolute, Relative, Shortest},
    linkpath_for,
};

fn check(files: &[&str], source: &str, cases: &[(LinkFormat, LinkForm, &str, &str)]) {
    let names = Files::of(files);
    for (format, form, target, expected) in cases {
        let written = linkpath_for(&names, &path(target), &path(source), *format, *form);
        assert_eq!(written, *expected, "{format:?} {form:?} link to {target} in {source} of {files:?}");
    }
}

#[test]
fn the_shortest_link_is_the_name_if_nothing_else_has_it() {
    let files = ["A/One.md", "A/T.md", "B/T.md", "Note.md", "b/Note.md", "i/p.png", "i/q.png", "q.png"];
    check(
        &files,
        "B/s.md",
        &[
            (Shortest, Wiki, "A/One.md", "One"),
            (Shortest, Wiki, "A/T.md", "A/T"),
            // It would be found first, and is not the only one.
            (Shortest, Wiki, "B/T.md", "B/T"),
            // The root's own file is the target of its bare name.
            (Shortest, Wiki, "Note.md", "Note"),
            (Shortest, Wiki, "b/Note.md", "b/Note"),
            (Shortest, Wiki, "i/p.png", "p.png"),
            (Shortest, Wiki, "i/q.png", "i/q.png"),
        ],
    );
}

#[test]
fn a_relative_link_is_the_way_from_the_folder() {
    let files = ["N.md", "a/N1.md", "a/b/N2.md", "a/b/c/N3.md", "x/N4.md", "a/b/i.png"];
    check(
        &files,
        "a/b/s.md",
        &[
            (Relative, Wiki, "a/b/N2.md", "N2"),
            (Relative, Wiki, "a/b/c/N3.md", "c/N3"),
            (Relative, Wiki, "a/N1.md", "../N1"),
            (Relative, Wiki, "x/N4.md", "../../x/N4"),
            (Relative, Markdown, "N.md", "../../N.md"),
            (Relative, Markdown, "a/b/i.png", "i.png"),
        ],
    );
    check(&files, "s.md", &[(Relative, Wiki, "N.md", "N"), (Relative, Wiki, "a/N1.md", "a/N1")]);
}

#[test]
fn an_absolute_link_is_the_whole_path() {
    let files = ["N.md", "a/b/M.md"];
    check(&files, "a/s.md", &[(Absolute, Wiki, "N.md", "N"), (Absolute, Wiki, "a/b/M.md", "a/b/M")]);
}

#[test]
fn a_wikilink_drops_md_and_a_markdown_link_keeps_it() {
    let files = ["d/N.md", "d/U.MD", "d/c.canvas", "a b/100% (x).md"];
    check(
        &files,
        "s.md",
        &[
            (Shortest, Wiki, "d/N.md", "N"),
            (Shortest, Markdown, "d/N.md", "N.md"),
            (Absolute, Wiki, "d/N.md", "d/N"),
            (Absolute, Markdown, "d/N.md", "d/N.md"),
            (Shortest, Wiki, "d/U.MD", "U"),
            (Shortest, Markdown, "d/U.MD", "U.MD"),
            (Shortest, Wiki, "d/c.canvas", "c.canvas"),
            // Encoding is up to the code that writes it into the note.
            (Absolute, Markdown, "a b/100% (x).md", "a b/100% (x).md"),
        ],
    );
}

#[test]
fn a_link_that_would_lead_elsewhere_is_not_written() {
    // The bare relative name means the root's file.
    check(
        &["Note.md", "b/Note.md", "c/d/M.md", "d/M.md"],
        "b/s.md",
        &[(Relative, Wiki, "b/Note.md", "./Note"), (Relative, Markdown, "b/Note.md", "./Note.md")],
    );
    check(&["c/d/M.md", "d/M.md"], "c/s.md", &[(Relative, Wiki, "c/d/M.md", "./d/M")]);
    // A file without an extension has the name of the note.
    check(
        &["x.md", "x", "b/y.md", "b/y"],
        "s.md",
        &[
            (Absolute, Wiki, "x.md", "x.md"),
            (Absolute, Wiki, "x", "x"),
            (Absolute, Wiki, "b/y.md", "b/y.md"),
            (Relative, Wiki, "b/y.md", "b/y.md"),
            (Shortest, Wiki, "b/y.md", "y.md"),
        ],
    );
    check(&["x.md", "x.md.md"], "s.md", &[(Shortest, Wiki, "x.md.md", "x.md.md")]);
    // Surrounding blanks are ignored.
    check(&[" a.md", "b .md"], "s.md", &[(Shortest, Wiki, " a.md", "/ a"), (Shortest, Wiki, "b .md", "b .md")]);
    // A `#` ends the path, and a colon makes an address.
    check(
        &["C#/N.md", "C#/T.md", "D#/T.md"],
        "C#/s.md",
        &[
            (Absolute, Wiki, "C#/N.md", "N"),
            (Absolute, Markdown, "C#/N.md", "N.md"),
            (Shortest, Wiki, "C#/T.md", "T"),
            (Shortest, Wiki, "D#/T.md", "D#/T"),
        ],
    );
    check(
        &["d/1:2.md"],
        "d/s.md",
        &[(Shortest, Wiki, "d/1:2.md", "1:2"), (Shortest, Markdown, "d/1:2.md", "./1:2.md")],
    );
}

#[test]
fn letters_are_written_as_obsidian_knows_them() {
    let one = "d/e\u{301}\u{a0}x.md";
    for (format, expected) in [(Shortest, "\u{e9} x"), (Relative, "../d/\u{e9} x"), (Absolute, "d/\u{e9} x")] {
        check(&[one], "a/s.md", &[(format, Wiki, one, expected)]);
    }
    // Obsidian knows one of these two; a link must not confuse them.
    let (one, two) = ("d/e\u{301}.md", "d/\u{e9}.md");
    check(&[one, two], "s.md", &[(Absolute, Wiki, one, "/d/e\u{301}"), (Absolute, Wiki, two, "d/\u{e9}")]);
}

#[test]
fn a_missing_file_gets_its_full_path() {
    for format in [Shortest, Relative, Absolute] {
        check(&["d/N.md"], "a/s.md", &[(format, Wiki, "b/N.md", "b/N"), (format, Markdown, "b/N.md", "b/N.md")]);
        check(&["d/N.md"], "a/s.md", &[(format, Wiki, "d/.md", "d/.md")]);
    }
}

#[test]
fn the_setting_has_three_values() {
    for (setting, format) in
        [("shortest", Some(Shortest)), ("relative", Some(Relative)), ("absolute", Some(Absolute)), ("other", None)]
    {
        assert_eq!(LinkFormat::parse(setting), format, "{setting}");
    }
    assert_eq!(LinkFormat::default(), Shortest);
}
