//! Tests of pages and their fields in Dataview.

use super::*;

/// What an expression gives for one note of a vault.
fn of(files: &[(&str, &str)], path: &str, expression: &str) -> String {
    let vault = PlainVault::of(files);
    let query = DqlQuery::parse(&format!("LIST WITHOUT ID {expression} FROM \"{path}\"")).unwrap();
    match query.run(&vault, &context(None)).map(|answer| answer.result) {
        Ok(DqlResult::List { entries, .. }) => {
            entries.iter().map(|entry| shown(entry.value.as_ref().unwrap())).collect::<Vec<_>>().join("\n")
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn fields_answer_to_their_names() {
    let note = "---\nStatus: Open\nnums: [1, 2]\nBasic Field: x\nwhen: 2021-04\nlong: 7 hours\nlink: \"[[b]]\"\nsix: \"6\"\nfile: nope\n---\n\
                nums:: 3\n\nk:: 1\nk:: 2\n\nDone!:: no\n[Hello!:: 5] [hello:: 6]\ntime:: 16days\n\n- item:: in list\n- [ ] task [t:: 9]\n";
    let files = [("a.md", note), ("p/b.md", "")];
    for (expression, found) in [
        ("Status", "\"Open\""),
        ("status", "\"Open\""),
        ("STATUS", "null"),
        ("nums", "[[1, 2], 3]"),
        ("basic-field", "\"x\""),
        ("row[\"Basic Field\"]", "\"x\""),
        ("when", "2021-04-01"),
        ("long", "dur(7 hours)"),
        ("time", "dur(2 weeks, 2 days)"),
        ("link", "[[p/b.md|b]]"),
        ("link.file.folder", "\"p\""),
        ("six", "\"6\""),
        ("k", "[1, 2]"),
        ("hello", "6"),
        ("row[\"Hello!\"]", "5"),
        ("item", "\"in list\""),
        ("t", "null"),
        ("file.name", "\"a\""),
        ("typeof(file)", "\"object\""),
    ] {
        assert_eq!(of(&files, "a", expression), found, "{expression}");
    }
}

#[test]
fn files_say_what_they_are() {
    let files = [
        (
            "x/2024-05-06 note.md",
            "---\ntags: [front, a/b]\naliases: [One, Two]\nrel: \"[[c]]\"\n---\n#a/b/c #A text [[c#Head|al]] [[c#Head]] ![[p.png]] [[gone]]\n[[x/2024-05-06 note]]\n",
        ),
        ("c.md", "[[2024-05-06 note]]"),
        ("p.png", ""),
        ("20240229.md", ""),
        ("2024-13-45.md", ""),
        ("f.md", "day:: 2020-01-01\n"),
        ("g.md", "date:: [[2020-01-01]]\n"),
    ];
    for (expression, found) in [
        ("file.path", "\"x/2024-05-06 note.md\""),
        ("file.folder", "\"x\""),
        ("file.name", "\"2024-05-06 note\""),
        ("file.ext", "\"md\""),
        ("file.link", "[[x/2024-05-06 note.md|2024-05-06 note]]"),
        ("file.etags", "[\"#a/b/c\", \"#A\", \"#front\", \"#a/b\"]"),
        ("file.tags", "[\"#a/b/c\", \"#a/b\", \"#a\", \"#A\", \"#front\"]"),
        ("file.aliases", "[\"One\", \"Two\"]"),
        (
            "file.outlinks",
            "[[[c.md|c]], [[c.md#Head|al]], [[c.md#Head|c > Head]], [[gone|gone]], [[x/2024-05-06 note.md|x/2024-05-06 note]], ![[p.png|p.png]]]",
        ),
        ("file.inlinks", "[[[c.md|c]], [[x/2024-05-06 note.md|2024-05-06 note]]]"),
        ("file.day", "2024-05-06"),
        ("file.starred", "false"),
        ("file.frontmatter.rel", "\"[[c]]\""),
        ("file.mtime", "1970-01-01"),
        ("typeof(file.size)", "\"number\""),
        ("tags", "[\"front\", \"a/b\"]"),
    ] {
        assert_eq!(of(&files, "x/2024-05-06 note", expression), found, "{expression}");
    }
    for (path, day) in
        [("20240229", "2024-02-29"), ("2024-13-45", "null"), ("f", "2020-01-01"), ("g", "null"), ("c", "null")]
    {
        assert_eq!(of(&files, path, "file.day"), day, "{path}");
    }
}

#[test]
fn list_items_say_what_they_are() {
    let note = "# Head: one!\n\n- [ ] first #t a#b [[c|d]] [due:: 2024-01-02] ➕ 2024-01-01\n  more ^id\n    - [X] sub\n    - plain k:: v\n* [/] second [status:: no]\n1. num\n";
    let files = [("a.md", note)];
    for (expression, found) in [
        ("length(file.lists)", "5"),
        ("file.tasks.line", "[2, 4, 6]"),
        ("file.lists.symbol", "[\"-\", \"-\", \"-\", \"*\", \"1.\"]"),
        ("file.tasks[0].lineCount", "2"),
        ("file.tasks[0].tags", "[\"#t\", \"#b\"]"),
        ("file.tasks[0].outlinks", "[[[c|d]]]"),
        ("file.tasks[0].section", "[[a.md#Head one|a > Head one]]"),
        ("file.tasks[0].link", "[[a.md#^id|a > id]]"),
        ("file.tasks[0].blockId", "\"id\""),
        ("file.tasks[0].due", "2024-01-02"),
        ("file.tasks[0].created", "2024-01-01"),
        ("file.tasks[0].children.task", "[true, false]"),
        ("file.tasks[0].subtasks.checked", "[true, null]"),
        ("file.tasks.status", "[\" \", \"X\", \"/\"]"),
        ("file.tasks.completed", "[false, true, false]"),
        ("file.tasks.checked", "[false, true, true]"),
        ("file.tasks.fullyCompleted", "[false, true, false]"),
        ("file.tasks[0].annotated", "true"),
        ("file.tasks[1].parent", "2"),
        ("file.tasks[0].parent", "null"),
        ("file.tasks[0].path", "\"a.md\""),
        ("file.tasks[0].real", "true"),
        ("file.tasks[0].position.start", "{line: 2, col: 0, offset: 14}"),
        ("file.lists[2].k", "null"),
        ("file.tasks[2].status", "\"/\""),
        ("file.lists[4].task", "false"),
        ("file.tasks[0].list", "2"),
    ] {
        assert_eq!(of(&files, "a", expression), found, "{expression}");
    }
}
