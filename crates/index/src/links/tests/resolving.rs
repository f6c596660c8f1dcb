//! Tests of where links lead.

use super::Files;
use crate::links::{folded_name, keys};

/// Files, the note with the links, and where each of them leads.
type Case = (&'static [&'static str], &'static str, &'static [(&'static str, Option<&'static str>)]);

fn check(cases: &[Case]) {
    for (files, source, links) in cases {
        // In any order of the files.
        let (files, reversed) = (Files::of(files), files.iter().rev().copied().map(super::path).collect::<Files>());
        for (linkpath, expected) in *links {
            let found = files.resolve(linkpath, source);
            assert_eq!(found.as_deref(), *expected, "[[{linkpath}]] in {source} of {files:?}");
            assert_eq!(reversed.resolve(linkpath, source), found, "[[{linkpath}]] in another order");
        }
    }
}

#[test]
fn without_a_path_a_link_leads_to_its_own_note() {
    check(&[(&["a.md", "b/s.md"], "b/s.md", &[("", Some("b/s.md"))])]);
}

#[test]
fn case_does_not_matter_and_only_md_may_be_left_out() {
    check(&[
        (&["Log.md"], "s.md", &[("log", Some("Log.md")), ("LOG", Some("Log.md")), ("Log.md", Some("Log.md"))]),
        (&["Ext.md"], "s.md", &[("Ext.MD", Some("Ext.md"))]),
        (&["Ext.MD"], "s.md", &[("ext", Some("Ext.MD")), ("ext.md", Some("Ext.MD"))]),
        (&["D/N.md"], "s.md", &[("d/n", Some("D/N.md")), ("/d/n", Some("D/N.md")), ("./d/n", Some("D/N.md"))]),
        (&["dash.base", "c.canvas", "i.png"], "s.md", &[("dash", None), ("c", None), ("i", None)]),
        (&["x/dash.base", "I.PNG"], "s.md", &[("dash.base", Some("x/dash.base")), ("i.png", Some("I.PNG"))]),
        (&["folder/n.md"], "s.md", &[("folder", None), ("folder/", None), ("folder/.md", None)]),
    ]);
}

#[test]
fn the_name_as_written_wins_over_the_name_with_md() {
    check(&[
        (&["v1.2.md"], "s.md", &[("v1.2", Some("v1.2.md"))]),
        (&["x.md", "x.md.md"], "s.md", &[("x.md", Some("x.md")), ("x.md.md", Some("x.md.md"))]),
        (&["x.md.md"], "s.md", &[("x.md", Some("x.md.md")), ("x", None)]),
        // Even if the file is elsewhere, and then the link may lead nowhere.
        (&["x.md", "far/away/x"], "s.md", &[("x", Some("far/away/x"))]),
        (&["b/x.md", "far/x"], "s.md", &[("b/x", None), ("b/x.md", Some("b/x.md"))]),
    ]);
}

#[test]
fn a_relative_link_starts_at_the_folder_of_its_note_and_has_no_other_reading() {
    check(&[
        (
            &["d/n.md", "a/b/n.md", "a/n.md"],
            "a/b/s.md",
            &[
                ("./n", Some("a/b/n.md")),
                ("../n", Some("a/n.md")),
                ("../n.md", Some("a/n.md")),
                ("../b/./n", Some("a/b/n.md")),
                ("../../d/n", Some("d/n.md")),
                ("../../d/../a/n", Some("a/n.md")),
                ("../d/n", None),
                ("./d/n", None),
            ],
        ),
        // Above the root is nothing, and names are not tried again.
        (&["n.md", "x/n.md"], "a/s.md", &[("../n", Some("n.md")), ("../../n", None), ("./n", None), ("..", None)]),
        (&["n.md"], "s.md", &[("./n", Some("n.md")), ("../n", None), ("../", None), ("./", None)]),
        (&["x/a/n.md"], "a/s.md", &[("./n", None), ("../a/n", None)]),
        // A dot elsewhere is a name.
        (&["a/n.md"], "s.md", &[("b/../a/n", None), ("a/./n", None)]),
    ]);
}

#[test]
fn a_link_from_the_root_has_no_other_reading() {
    check(&[(
        &["a/n.md", "b/a/m.md"],
        "b/s.md",
        &[("/a/n", Some("a/n.md")), ("/a/n.md", Some("a/n.md")), ("/n", None), ("/a/m", None), ("/", None)],
    )]);
}

#[test]
fn the_whole_path_wins_even_over_a_file_beside_the_note() {
    check(&[
        (&["Note.md", "b/Note.md"], "b/x.md", &[("Note", Some("Note.md"))]),
        (&["b/Note.md", "a/b/Note.md"], "a/x.md", &[("b/Note", Some("b/Note.md"))]),
    ]);
}

#[test]
fn the_end_of_a_path_is_enough_at_the_begin_of_a_name() {
    check(&[
        (&["a/b/Note.md"], "x.md", &[("b/Note", Some("a/b/Note.md")), ("Note", Some("a/b/Note.md"))]),
        (&["beta/R.md"], "x.md", &[("eta/R", None), ("R", Some("beta/R.md"))]),
        (&["c/b/N.md"], "x.md", &[("a/b/N", None), ("x/c/b/N", None)]),
        // Markdown links follow the same rules.
        (&["Sub/My Note.md"], "m.md", &[("My Note.md", Some("Sub/My Note.md"))]),
        (&["Sub/My Note.md"], "Sub/m.md", &[("Sub/My Note.md", Some("Sub/My Note.md"))]),
    ]);
}

#[test]
fn a_file_under_the_folder_of_the_note_wins_over_others() {
    check(&[
        (&["A/T.md", "B/T.md"], "B/s.md", &[("T", Some("B/T.md"))]),
        (&["A/T.md", "B/deep/er/T.md"], "B/s.md", &[("T", Some("B/deep/er/T.md"))]),
        (&["A/c/T.md", "B/x/c/T.md"], "B/s.md", &[("c/T", Some("B/x/c/T.md"))]),
        // A folder above counts for nothing, and a name with the same start is another folder.
        (&["a/T.md", "b/c/T.md"], "b/c/d/s.md", &[("T", Some("a/T.md"))]),
        (&["a/T.md", "bb/T.md"], "b/s.md", &[("T", Some("a/T.md"))]),
    ]);
}

#[test]
fn the_shortest_path_wins_counted_in_characters() {
    check(&[
        (&["b/Note.md", "a/b/Note.md"], "zzzz/deep/x.md", &[("Note", Some("b/Note.md"))]),
        (&["a/b/Note.md", "zzzz/Note.md"], "x.md", &[("Note", Some("a/b/Note.md"))]),
        (&["s/aaa/T.md", "s/bb/T.md", "c/T.md"], "s/x.md", &[("T", Some("s/bb/T.md"))]),
        // `é` is one character in both its forms, `石` one, `💎` two as JavaScript counts.
        (&["e\u{301}e\u{301}/T.md", "zzz/T.md"], "x.md", &[("T", Some("e\u{301}e\u{301}/T.md"))]),
        (&["石石/T.md", "zzz/T.md"], "x.md", &[("T", Some("石石/T.md"))]),
        (&["💎💎/T.md", "zzz/T.md"], "x.md", &[("T", Some("zzz/T.md"))]),
    ]);
}

#[test]
fn of_paths_of_one_length_the_one_spelled_as_the_link_wins_then_the_first() {
    check(&[
        (&["bb/Tie.md", "aa/Tie.md"], "x.md", &[("Tie", Some("aa/Tie.md"))]),
        (&["aa/TIE.md", "bb/Tie.md"], "x.md", &[("Tie", Some("bb/Tie.md")), ("tie", Some("aa/TIE.md"))]),
        (
            &["Log.md", "log.md"],
            "x.md",
            &[("Log", Some("Log.md")), ("log", Some("log.md")), ("LOG", Some("Log.md")), ("log.md", Some("log.md"))],
        ),
    ]);
}

#[test]
fn letters_and_spaces_are_the_same_in_all_their_forms() {
    check(&[
        (&["Cafe\u{301}.md"], "x.md", &[("Caf\u{e9}", Some("Cafe\u{301}.md"))]),
        (&["\u{c9}/n.md"], "x.md", &[("e\u{301}/n", Some("\u{c9}/n.md"))]),
        (&["a\u{a0}b\u{202f}c.md"], "x.md", &[("a b c", Some("a\u{a0}b\u{202f}c.md"))]),
        (&["a b c.md"], "x.md", &[("A\u{202f}B\u{a0}C", Some("a b c.md"))]),
        (&["ΟΔΟΣ.md"], "x.md", &[("ΟΔΟΣ", Some("ΟΔΟΣ.md")), ("οδος", Some("ΟΔΟΣ.md")), ("οδοσ", Some("ΟΔΟΣ.md"))]),
        (&["\u{212a}/a.md"], "x.md", &[("k/a", Some("\u{212a}/a.md"))]),
    ]);
}

#[test]
fn a_name_folds_without_a_copy_if_it_can() {
    for (name, folded, copied) in [
        ("note 1.md", "note 1.md", false),
        ("", "", false),
        ("Note.md", "note.md", true),
        ("Ä\u{a0}B", "ä b", true),
        ("İ", "i\u{307}", true),
    ] {
        let found = folded_name(name);
        assert_eq!(found, folded, "{name:?}");
        assert_eq!(matches!(found, std::borrow::Cow::Owned(_)), copied, "{name:?}");
    }
}

#[test]
fn the_keys_of_a_link_are_its_last_name_with_and_without_md() {
    for (linkpath, expected) in [
        ("a/B", Some(("b", "b.md"))),
        ("../B.md", Some(("b.md", "b.md.md"))),
        ("Ä", Some(("ä", "ä.md"))),
        ("", None),
        ("a/", None),
    ] {
        let keys = keys(linkpath);
        assert_eq!(keys.as_ref().map(|keys| (keys.as_written(), keys.as_note())), expected, "{linkpath:?}");
    }
}
