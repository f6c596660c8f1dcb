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

#[test]
fn inline_values_are_typed_as_a_whole() {
    let cases = [
        ("6", "6"),
        ("-2.5", "-2.5"),
        ("6 apples", "\"6 apples\""),
        ("1,000", "[1, 0]"),
        ("1, 2, x", "\"1, 2, x\""),
        ("1,", "[1]"),
        ("1, 2,", "\"1, 2,\""),
        ("\"yes\", \"no\"", "[\"yes\", \"no\"]"),
        ("yes, no", "\"yes, no\""),
        ("\"q\"", "\"q\""),
        ("2021-04", "2021-04-01"),
        ("2010-11", "2010-11-01"),
        ("2021-04-18", "2021-04-18"),
        ("2021-04-18T04:19", "2021-04-18T04:19:00"),
        ("2021-04-18 04:19", "\"2021-04-18 04:19\""),
        ("2021-01-01T10:00Z", "\"2021-01-01T10:00Z\""),
        ("2021-01-01T10:00:00Z", "2021-01-01T10:00:00"),
        ("2021-01-01T10:00:00+02:00", "2021-01-01T10:00:00.000+02:00"),
        ("2021-13-01", "\"2021-13-01\""),
        ("2023-02-29", "2023-03-01"),
        ("16days", "dur(2 weeks, 2 days)"),
        ("5 m", "dur(5 minutes)"),
        ("5 M", "\"5 M\""),
        ("07h00m", "dur(7 hours)"),
        ("9 yrs 8 min", "dur(9 years, 8 minutes)"),
        ("1 day, 2 hours", "dur(1 day, 2 hours)"),
        ("1 day 2", "\"1 day 2\""),
        ("28 days", "dur(1 month)"),
        ("[[b]]", "[[p/b.md|b]]"),
        ("[[b#Head: x!|shown]]", "[[p/b.md#Head x|shown]]"),
        ("[[b#^id]]", "[[p/b.md#^id|b > id]]"),
        ("![[b]]", "![[p/b.md|b]]"),
        ("[[b]], [[gone]]", "[[[p/b.md|b]], [[gone|gone]]]"),
        ("[[b]] and b", "\"[[b]] and b\""),
        ("#a, #b", "[\"#a\", \"#b\"]"),
        ("#a/b", "\"#a/b\""),
        ("#a b", "\"#a b\""),
        ("true", "true"),
        ("True", "true"),
        ("TRUE", "\"TRUE\""),
        ("false, 1", "[false, 1]"),
        ("null", "\"null\""),
        ("today", "\"today\""),
        ("[1,2]", "\"[1,2]\""),
        ("", "null"),
        ("   ", "null"),
        ("a:: b", "\"a:: b\""),
    ];
    for (written, found) in cases {
        let note = format!("k:: {written}\n");
        let files = [("a.md", note.as_str()), ("p/b.md", "")];
        assert_eq!(of(&files, "a", "k"), found, "{written}");
    }
}

#[test]
fn frontmatter_values_keep_what_yaml_says() {
    let cases = [
        ("6", "6"),
        ("\"6\"", "\"6\""),
        ("1.50", "1.5"),
        ("true", "true"),
        ("\"true\"", "\"true\""),
        ("~", "null"),
        ("", "null"),
        ("2021-04-18", "2021-04-18"),
        ("\"2021-04\"", "2021-04-01"),
        ("\"2021-04-18 10:00\"", "\"2021-04-18 10:00\""),
        ("\"7 hours\"", "dur(7 hours)"),
        ("\"45 days\"", "dur(45 days)"),
        ("\"[[b]]\"", "[[p/b.md|b]]"),
        ("\"![[b]]\"", "![[p/b.md|b]]"),
        ("\"[[b]], [[b]]\"", "\"[[b]], [[b]]\""),
        ("\"#tag\"", "\"#tag\""),
        ("\"1, 2\"", "\"1, 2\""),
        ("[1, \"[[b]]\", 2020-01-02]", "[1, [[p/b.md|b]], 2020-01-02]"),
        ("{x: {y: 5 days}}", "{x: {y: dur(5 days)}}"),
        ("plain text", "\"plain text\""),
    ];
    for (written, found) in cases {
        let note = format!("---\nk: {written}\n---\n[[b]]\n");
        let files = [("a.md", note.as_str()), ("p/b.md", "")];
        assert_eq!(of(&files, "a", "k"), found, "{written}");
    }
}

#[test]
fn fields_are_found_in_every_block_but_lists() {
    let note = "---\nyaml: x\nraw: \"in:: yaml\"\n---\n# Head [a:: 1]\n\npara (b:: 2) text\n\n> quote:: 3\n\n> [!note]\n> call:: 4\n\n\
                | t | [c:: 5] |\n| - | - |\n| x | y |\n\n%% comment:: 6 %%\n\n<!-- html:: 7 -->\n\n```rust\ncode::8\n```\n\n    indented:: 9\n\n\
                ---\n\n- item:: 10\n- [ ] task:: no [e:: 11]\n    - below:: 12\n\n> - quoted:: 13\n\nlast:: 14 [[b]]\n";
    let files = [("a.md", note)];
    for (name, found) in [
        ("a", "1"),
        ("b", "2"),
        ("quote", "3"),
        ("call", "4"),
        ("c", "5"),
        ("comment", "\"6 %%\""),
        ("html", "\"7 -->\""),
        ("code", "8"),
        ("indented", "9"),
        ("item", "10"),
        ("task", "null"),
        ("e", "null"),
        ("below", "12"),
        ("quoted", "13"),
        ("last", "\"14 [[b]]\""),
        ("row[\"raw: \\\"in\"]", "null"),
        ("in", "null"),
    ] {
        assert_eq!(of(&files, "a", name), found, "{name}");
    }
}

#[test]
fn values_of_one_name_are_collected_in_order() {
    let note = "---\nnums: [1, 2]\none: 1\nposition: 5\nMixed Case: f\n---\nnums:: 3\none:: 2\n\n- one:: 3\n- [ ] x [one:: 9]\n\nA b:: 1\na-B:: 2\nA b:: 3\n\
                Mixed case:: g\nsolo:: x\n";
    let files = [("a.md", note)];
    for (expression, found) in [
        ("nums", "[[1, 2], 3]"),
        ("one", "[1, 3, 2]"),
        ("a-b", "[1, 3, 2]"),
        ("row[\"A b\"]", "[1, 3]"),
        ("row[\"a-B\"]", "2"),
        ("mixed-case", "[\"f\", \"g\"]"),
        ("row[\"Mixed Case\"]", "\"f\""),
        ("solo", "\"x\""),
        ("Solo", "null"),
        ("position", "null"),
        ("file.frontmatter.position", "null"),
        ("file.frontmatter.nums", "[1, 2]"),
        ("row.one", "[1, 3, 2]"),
    ] {
        assert_eq!(of(&files, "a", expression), found, "{expression}");
    }
}

#[test]
fn tags_and_aliases_take_more_forms_than_in_the_app() {
    for (frontmatter, tags, aliases) in [
        ("tags: [a, b/c]\naliases: [One, Two]", "[\"#a\", \"#b/c\"]", "[\"One\", \"Two\"]"),
        ("tags: one, two three\nalias: x, y", "[\"#one\", \"#two\", \"#three\"]", "[\"x\", \"y\"]"),
        ("Tag: solo\nALIASES: A name", "[\"#solo\"]", "[\"A name\"]"),
        ("tags: [\"#h\", 2024, a b]\naliases: [1, 1]", "[\"#h\", \"#2024\", \"#a\", \"#b\"]", "[\"1\"]"),
        ("tags:\naliases:", "[]", "[]"),
    ] {
        let note = format!("---\n{frontmatter}\n---\n");
        let files = [("a.md", note.as_str())];
        assert_eq!(of(&files, "a", "file.etags"), tags, "{frontmatter}");
        assert_eq!(of(&files, "a", "file.aliases"), aliases, "{frontmatter}");
        if tags.contains("#two") {
            let found = rows_in(&files, "LIST FROM #TWO");
            assert_eq!(found, "[[a.md|a]]");
        }
    }
}

fn rows_in(files: &[(&str, &str)], query: &str) -> String {
    let answer = run_in(&PlainVault::of(files), query).unwrap();
    match &answer.result {
        DqlResult::List { entries, .. } => {
            let entry = |entry: &ListEntry| shown(entry.value.as_ref().unwrap_or(&entry.id));
            entries.iter().map(entry).collect::<Vec<_>>().join("\n")
        }
        other => panic!("a list and not {other:?}"),
    }
}

#[test]
fn a_page_is_a_file_with_one_of_two_extensions() {
    let files = [("a.md", ""), ("b.markdown", "x:: 1\n"), ("c.txt", ""), ("d.canvas", ""), ("E.MD", ""), (".md", "")];
    assert_eq!(rows_in(&files, "LIST WITHOUT ID file.path"), "\"E.MD\"\n\"a.md\"\n\"b.markdown\"");
    assert_eq!(
        rows_in(&files, "LIST WITHOUT ID [file.name, file.ext] FROM \"b.markdown\""),
        "[\"b.markdown\", \"markdown\"]"
    );
    assert_eq!(rows_in(&files, "LIST WITHOUT ID file.path FROM -\"a\""), "\"E.MD\"\n\"b.markdown\"");
}

#[test]
fn the_day_of_a_file_is_in_a_field_or_in_its_name() {
    for (path, note, day) in [
        ("x 2024-05-06 y", "", "2024-05-06"),
        ("a20240506b", "", "2024-05-06"),
        ("2024-05-06 20200101", "", "2024-05-06"),
        ("20200101 2024-05-06", "", "2024-05-06"),
        ("2024-1-1", "", "null"),
        ("2024-02-30", "", "null"),
        ("2024-05-06", "Date:: 2020-01-01\n", "2020-01-01"),
        ("2024-05-06", "DAY:: 2020-01-01\n", "2020-01-01"),
        ("2024-05-06", "date:: soon\n", "2024-05-06"),
        ("2024-05-06", "date:: [[2020-01-01]]\n", "2024-05-06"),
        ("n", "---\ndate: [2020-01-01]\n---\n", "null"),
        ("n", "---\ndate: x\nday: 2020-01-02\n---\n", "2020-01-02"),
        ("n", "date:: 2020-01-01\ndate:: 2020-01-02\n", "2020-01-01"),
        ("n", "date:: x\ndate:: 2020-01-02\n", "null"),
        ("n", "- [ ] t [day:: 2020-01-01]\n", "null"),
        ("n", "- day:: 2020-01-01\n", "2020-01-01"),
    ] {
        let file = format!("{path}.md");
        assert_eq!(of(&[(file.as_str(), note)], path, "file.day"), day, "{path} {note}");
    }
}

#[test]
fn links_of_a_page_keep_their_order_and_their_doubles() {
    let files = [
        (
            "a.md",
            "---\nup: \"[[b|Up]]\"\nmore: [\"[[c]]\", \"x [[b]]\"]\n---\n[[b]] [[b]] ![[b]] [text](b.md) [[b#One#Two]] [[#Own]] [[gone#^x]] ![[pic.png]]\n",
        ),
        ("b.md", "[[b]] [[a]]"),
        ("c.md", ""),
        ("pic.png", ""),
    ];
    for (expression, found) in [
        (
            "file.outlinks",
            "[[[b.md|Up]], [[c.md|c]], [[b.md|b]], [[b.md|b]], [[b.md|text]], [[b.md#One|b > One > Two]], [[a.md#Own|Own]], [[gone#^x|gone > ^x]], ![[b.md|b]], ![[pic.png|pic.png]]]",
        ),
        // `[[#Own]]` leads to its own note.
        ("file.inlinks", "[[[a.md|a]], [[b.md|b]]]"),
        ("length(file.inlinks.file.inlinks)", "2"),
        ("map(file.outlinks, (l) => meta(l).type)[5]", "\"header\""),
        (
            "map(file.outlinks, (l) => meta(l).embed)",
            "[false, false, false, false, false, false, false, false, true, true]",
        ),
    ] {
        assert_eq!(of(&files, "a", expression), found, "{expression}");
    }
    assert_eq!(of(&files, "b", "file.inlinks"), "[[[a.md|a]], [[b.md|b]]]");
    for (query, found) in [
        ("LIST WITHOUT ID file.name FROM [[a]]", "\"a\"\n\"b\""),
        ("LIST WITHOUT ID file.name FROM outgoing([[a]])", "\"a\"\n\"b\"\n\"c\""),
        ("LIST WITHOUT ID file.name FROM [[c]]", "\"a\""),
    ] {
        assert_eq!(rows_in(&files, query), found, "{query}");
    }
}

#[test]
fn items_have_fields_dates_and_texts_of_their_own() {
    let note = "- [ ] a [due:: 2024-01-02] [due:: 2024-01-03]\n- [x] b ✅ 2024-02-01 [completion:: 2024-02-02]\n- [ ] c [completed:: 2024-03-01] [completion:: 2024-03-02]\n\
                - [ ] d [ctime:: 2024-04-01] [dueday:: 2024-04-02] [comptime:: 2024-04-03]\n- [ ] e ➕ 2024-05-01 🛫 2024-05-02 ⏳ 2024-05-03 📅 2024-05-04\n\
                - [-] f [Big Key:: 1] [checked:: 5] [text:: no]\n- plain [x](y.md) ![[pic.png]] [[z]]\n- [] boxed\n- k:: v\n1) last\n   and more\n";
    let files = [("a.md", note), ("pic.png", "")];
    for (expression, found) in [
        ("file.tasks[0].due", "2024-01-02"),
        ("file.tasks[1].completion", "2024-02-01"),
        ("file.tasks[2].completion", "2024-03-01"),
        ("file.tasks[2].completed", "false"),
        ("file.tasks[3].created", "2024-04-01"),
        ("file.tasks[3].due", "2024-04-02"),
        ("file.tasks[3].completion", "2024-04-03"),
        ("file.tasks[4].created", "2024-05-01"),
        ("file.tasks[4].start", "2024-05-02"),
        ("file.tasks[4].scheduled", "2024-05-03"),
        ("file.tasks[4].due", "2024-05-04"),
        ("file.tasks[5][\"Big Key\"]", "1"),
        ("file.tasks[5].big-key", "null"),
        ("file.tasks[5].checked", "true"),
        ("file.tasks[5].status", "\"-\""),
        ("file.tasks[5].text", "\"f [Big Key:: 1] [checked:: 5] [text:: no]\""),
        ("file.tasks.checked", "[false, true, false, false, false, true]"),
        // What looks like a box is taken for one.
        ("file.lists[6].text", "\"plain [x](y.md) ![[pic.png]] [[z]]\""),
        ("file.lists[6].outlinks", "[[[y.md|x]], [[z|z]], ![[pic.png|pic.png]]]"),
        ("file.lists[7].text", "\"boxed\""),
        ("file.lists[7].task", "false"),
        ("file.lists[8].k", "\"v\""),
        ("file.lists[8].annotated", "true"),
        ("file.lists[6].annotated", "false"),
        ("file.lists[9].symbol", "\"1)\""),
        ("file.lists[9].text", "\"last\\nand more\""),
        ("file.lists[9].lineCount", "2"),
        ("file.lists[9].list", "9"),
        ("file.lists[6].status", "null"),
        ("file.lists[6].section", "[[a.md|a]]"),
        ("typeof(file.lists[6].position.end.offset)", "\"number\""),
        ("k", "\"v\""),
        ("due", "null"),
    ] {
        assert_eq!(of(&files, "a", expression), found, "{expression}");
    }
    let boxed = [("a.md", "- [a](b.md) text\n- [[b]] c\n- [ab] d\n")];
    assert_eq!(of(&boxed, "a", "file.lists.text"), "[\"(b.md) text\", \"[[b]] c\", \"[ab] d\"]");
}

/// Tasks in each other.
fn nested_tasks(levels: usize) -> String {
    (0..levels).map(|level| format!("{}- [ ] t\n", "\t".repeat(level))).collect()
}

/// Our own decision: Dataview's `subtasks` are the same objects as its `children`, and written out they would double with
/// each level.
#[test]
fn tasks_in_each_other_are_shown_once_each_for_every_task_around_them() {
    let tasks = |levels: usize| {
        let vault = PlainVault::of(&[("a.md", &nested_tasks(levels))]);
        let in_context = context(None);
        let query = DqlQuery::parse("LIST WITHOUT ID file.tasks").unwrap();
        let answer = query.run(&vault, &in_context);
        (answer.map_err(|halt| halt.to_string()), in_context.steps_taken())
    };
    let (answer, few) = tasks(12);
    let answer = answer.unwrap();
    let DqlResult::List { entries, .. } = &answer.result else { panic!("{answer:?}") };
    let Some(Value::List(all)) = &entries[0].value else { panic!("{answer:?}") };
    let Value::Object(first) = &all[0] else { panic!("{answer:?}") };
    assert_eq!((all.len(), first.contains_key("children"), first.contains_key("subtasks")), (12, true, false));
    let (answer, many) = tasks(24);
    assert_eq!(answer.unwrap().total, 1);
    // As many tasks as there are pairs of levels.
    assert!(many <= 5 * few, "{few} steps, and {many} for twice as many levels");
    let (answer, _) = tasks(400);
    assert_eq!(answer.unwrap_err(), "the value has more than 4194304 bytes");
}

#[test]
fn a_tag_of_very_many_levels_does_not_stand_for_all_of_them() {
    let note = format!("#{}\n", vec!["a"; 2_000].join("/"));
    assert_eq!(of(&[("a.md", &note)], "a", "length(file.tags)"), "65");
    assert_eq!(of(&[("a.md", "#a/b/c #a/b\n")], "a", "file.tags"), "[\"#a/b/c\", \"#a/b\", \"#a\"]");
}
