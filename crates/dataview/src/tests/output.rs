//! Tests of the results of Dataview queries.

use super::*;

fn written(query: &str) -> String {
    let settings = lapidary_query::DataviewSettings::default();
    match run_in(&vault(), query) {
        Ok(answer) => match DqlWriter::new(&settings, TimeZone::UTC).markdown(&answer.result) {
            Ok(text) => text,
            Err(error) => error.to_owned(),
        },
        Err(error) => error,
    }
}

#[test]
fn tables_are_padded_to_their_widest_cells() {
    assert_eq!(
        written("TABLE rating, authors FROM #book"),
        "| File                    | rating | authors                             |\n\
         | ----------------------- | ------ | ----------------------------------- |\n\
         | [[books/Dune.md\\|Dune]] | 9      | <ul><li>Frank</li><li>Brian</li></ul> |\n\
         | [[books/Emma.md\\|Emma]] | 7      | <ul><li>Jane</li></ul>                |\n"
            .replace("authors                             |", "authors                               |")
            .replace("----------------------------------- |\n", "------------------------------------- |\n")
    );
    assert_eq!(written("TABLE rating FROM #none"), "| File | rating |\n| ---- | ------ |\n");
    assert_eq!(
        written("TABLE WITHOUT ID [ [[a]] ] AS x FROM \"Home\""),
        "| x                               |\n| ------------------------------- |\n| <ul><li>[[a\\\\|a]]</li></ul> |\n"
            .replace("| x                               |", "| x                           |")
            .replace("| ------------------------------- |", "| --------------------------- |")
    );
    assert_eq!(
        written("TABLE WITHOUT ID {a: \"1|2\"} AS x, [] AS y, \"l\n2\" AS z FROM \"Home\""),
        "| x                                   | y         | z   |\n\
         | ----------------------------------- | --------- | --- |\n\
         | <ul><li><b>a</b>: 1\\\\|2</li></ul> | <ul></ul> | l 2 |\n"
            .replace("| x                                   |", "| x                                 |")
            .replace("| ----------------------------------- |", "| --------------------------------- |")
    );
}

#[test]
fn lists_nest_their_values() {
    assert_eq!(written("LIST FROM #book"), "- [[books/Dune.md|Dune]]\n- [[books/Emma.md|Emma]]\n");
    assert_eq!(written("LIST rating FROM #book"), "- [[books/Dune.md|Dune]]: 9\n- [[books/Emma.md|Emma]]: 7\n");
    assert_eq!(
        written("LIST rows.file.link FROM #book GROUP BY file.folder"),
        "- books: \n    - [[books/Dune.md|Dune]]\n    - [[books/Emma.md|Emma]]\n\n"
    );
    assert_eq!(written("LIST rows.file.name FROM #book GROUP BY nothing"), "- \\-: \n    - Dune\n    - Emma\n\n");
    assert_eq!(written("LIST WITHOUT ID {a: 1} FROM \"Home\""), "- - a: 1\n\n");
    assert_eq!(written("LIST FROM #none"), "");
}

#[test]
fn tasks_are_located_by_file_and_line() {
    let files = [("a.md", "- [ ] one\n    - two\n- [x] three\n"), ("b/c.md", "text\n- [ ] four\n  more\n")];
    let settings = lapidary_query::DataviewSettings::default();
    let writer = DqlWriter::new(&settings, TimeZone::UTC);
    for (query, found) in [
        ("TASK", "a.md\n1: - [ ] one\n  2: - two\n3: - [x] three\nb/c.md\n2: - [ ] four more\n"),
        (
            "TASK GROUP BY completed",
            "# false\na.md\n1: - [ ] one\n  2: - two\nb/c.md\n2: - [ ] four more\n# true\na.md\n3: - [x] three\n",
        ),
    ] {
        let DqlResult::Task { tasks } = run_in(&PlainVault::of(&files), query).unwrap().result else { panic!() };
        assert_eq!(writer.located_tasks(&tasks), found, "{query}");
    }
}

#[test]
fn tasks_stand_with_their_children_and_under_their_groups() {
    assert_eq!(written("TASK"), "- [ ] open [due:: 2024-03-01]\n    - [x] done\n    - plain\n- [x] all\n");
    assert_eq!(
        written("TASK GROUP BY file.link"),
        "# [[books/2024-02-29 log.md|2024-02-29 log]]\n\n    - [ ] open [due:: 2024-03-01]\n        - [x] done\n        - plain\n    - [x] all\n"
    );
    assert_eq!(
        written("TASK GROUP BY completed"),
        "# false\n\n    - [ ] open [due:: 2024-03-01]\n        - [x] done\n        - plain\n# true\n\n    - [x] done\n    - [x] all\n"
    );
    assert_eq!(written("TASK FROM #none"), "");
    assert_eq!(written("CALENDAR file.day"), "Cannot render calendar queries to markdown.");
}

#[test]
fn json_keeps_the_types() {
    let json = |query: &str| run_in(&vault(), query).unwrap().result.to_json().to_string();
    assert_eq!(
        json("TABLE rating, dur(2 days) AS d FROM \"books/Dune\""),
        r#"{"type":"table","headers":["File","rating","d"],"rows":[[{"$link":{"path":"books/Dune.md","type":"file"}},9,{"$duration":{"days":2}}]]}"#
    );
    assert_eq!(
        json("LIST rating FROM \"Other\""),
        r#"{"type":"list","values":[{"key":{"$link":{"path":"Other.md","type":"file"}},"value":9}]}"#
    );
    assert_eq!(
        json("TASK WHERE due FLATTEN 1 AS x"),
        concat!(
            r#"{"type":"task","tasks":[{"text":"open [due:: 2024-03-01]","path":"books/2024-02-29 log.md","line":1,"#,
            r#""due":{"$date":"2024-03-01"},"x":1,"status":" ","completed":false,"#,
            r#""children":[{"text":"done","line":2,"status":"x","completed":true},{"text":"plain","line":3}]}]}"#
        )
    );
    assert_eq!(json("LIST WITHOUT ID 0/0 FROM \"Other\""), r#"{"type":"list","values":[{"$number":"NaN"}]}"#);
}

#[test]
fn inline_queries_are_told_from_code() {
    let settings = lapidary_query::DataviewSettings::default();
    assert_eq!(InlineCode::of("= this.x ", &settings), InlineCode::Expression("this.x"));
    assert_eq!(InlineCode::of("$= dv.x", &settings), InlineCode::Script("dv.x"));
    assert_eq!(InlineCode::of("=", &settings), InlineCode::Text);
    assert_eq!(InlineCode::of("x = 1", &settings), InlineCode::Text);
    assert_eq!(QueryBlock::of("dataview", &settings), Some(QueryBlock::Query));
    assert_eq!(QueryBlock::of("dataviewjs", &settings), Some(QueryBlock::Script));
    assert_eq!(QueryBlock::of("rust", &settings), None);
    let vault = vault();
    let shown = |text: &str| {
        let value = DqlExpression::parse(text).unwrap().evaluate(&vault, &context(Some("Home.md"))).unwrap();
        DqlWriter::new(&settings, TimeZone::UTC).inline_text(&value)
    };
    assert_eq!(shown("[1, [2, 3]]"), "1, 2, 3");
    assert_eq!(shown("[]"), "<empty list>");
    assert_eq!(shown("{}"), "<empty object>");
    assert_eq!(shown("{a: 1, b: null}"), "a: 1, b: \\-");
    assert_eq!(shown("date(2021-01-01T00:00:00+05:00)"), "7:00 PM - December 31, 2020");
    assert_eq!(shown("this.file.link"), "[[Home.md|Home]]");
}

/// Our own decision: with one wide cell, every line would be as long.
#[test]
fn a_very_wide_table_is_not_aligned() {
    let wide = "w".repeat(20_000);
    let mut files = vec![("a.md".to_owned(), format!("---\nwide: {wide}\n---\n"))];
    files.extend((0..40).map(|at| (format!("n{at}.md"), String::new())));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&path[..], &text[..])).collect();
    let answer = run_in(&PlainVault::of(&files), "TABLE wide, wide AS w2").unwrap();
    let settings = lapidary_query::DataviewSettings::default();
    let text = DqlWriter::new(&settings, TimeZone::UTC).markdown(&answer.result).unwrap();
    assert_eq!(text.lines().count(), 43);
    assert!(text.contains(&wide) && text.len() < 3 * wide.len(), "{} bytes", text.len());
}
