//! Tests of the clauses of Dataview queries.

use super::*;

#[test]
fn sources_choose_pages() {
    for (source, found) in [
        ("#book", "Dune Emma"),
        ("#BOOK", "Dune Emma"),
        ("#book/classic", "Emma"),
        ("#tag", "Other"),
        ("\"books\"", "2024-02-29 log Dune Emma"),
        ("\"books/\"", ""),
        ("\"Books\"", ""),
        ("\"books/Dune\"", "Dune"),
        ("\"books/Dune.md\"", "Dune"),
        ("\"nowhere\"", ""),
        ("\"\"", "Home Other 2024-02-29 log Dune Emma"),
        ("\"/\"", "Home Other 2024-02-29 log Dune Emma"),
        ("[[Other]]", "Home"),
        ("[[]]", "Other"),
        ("[[#]]", "Other"),
        ("[[missing]]", "Home"),
        ("outgoing([[Home]])", "Other"),
        ("outgoing([[]])", "Other"),
        ("outgoing([[missing]])", "Home"),
        ("-#book", "Home Other 2024-02-29 log"),
        ("!\"books\"", "Home Other"),
        ("#book and -#book/classic", "Dune"),
        ("#log or #tag and \"books\"", "2024-02-29 log"),
        ("#log or (#tag and \"books\")", "2024-02-29 log"),
        ("#tag | #log", "Other 2024-02-29 log"),
    ] {
        let names = rows(&format!("LIST WITHOUT ID file.name FROM {source}")).replace(['"'], "").replace('\n', " ");
        assert_eq!(names, found, "{source}");
    }
    assert_eq!(
        rows("LIST FROM outgoing([[data/table.csv]])"),
        "Could not find file \"data/table.csv\" during link lookup - does it exist?"
    );
    let columns = PlainVault::of(&[("n.md", ""), ("a.csv", "a-b,A b\n1,2\n")]);
    let answer = run_in(&columns, "LIST WITHOUT ID [a-b, row[\"A b\"]] FROM csv(\"a.csv\")").unwrap();
    assert_eq!(answer.result.to_json()["values"], serde_json::json!([[2, 2]]), "the last of two columns with one name");
    assert_eq!(rows("LIST FROM csv(\"no.csv\")"), "Failed to load data from path 'no.csv'.");
    assert_eq!(
        rows("TABLE name, n, big-name FROM csv(\"data/table.csv\")"),
        "\"data/table.csv#0\" | \"x\" | 1 | \"a\"\n\"data/table.csv#1\" | \"y\" | 2 | \"b\""
    );
    assert_eq!(rows("LIST FROM #book FROM #log").lines().next(), Some("Unrecognized query operation 'tag'"));
    assert_eq!(rows("LIST WHERE x FROM -\"a\""), "Unrecognized query operation 'negate'");
}

#[test]
fn clauses_run_in_the_order_in_which_they_are_written() {
    for (query, found) in [
        ("LIST WITHOUT ID rating FROM #book WHERE rating > 7", "9"),
        (
            "LIST WITHOUT ID file.name WHERE rating SORT rating, file.name DESC",
            "\"Home\"\n\"Emma\"\n\"Other\"\n\"Dune\"",
        ),
        ("LIST WITHOUT ID rating SORT rating", "null\n5\n7\n9\n9"),
        ("LIST WITHOUT ID rating SORT rating DESC", "9\n9\n7\n5\nnull"),
        ("LIST WITHOUT ID rating LIMIT 2 SORT rating DESC", "9\n5"),
        ("LIST WITHOUT ID rating SORT rating DESC LIMIT 2", "9\n9"),
        ("LIST WITHOUT ID rating SORT rating DESC LIMIT 0 - 3", "9\n9"),
        ("LIST WITHOUT ID rating SORT rating DESC LIMIT 1.9", "9"),
        (
            "LIST WITHOUT ID 1 LIMIT \"two\"",
            "Failed to execute 'limit' statement: limit should be a number, but got 'string' (two)",
        ),
        (
            "LIST WITHOUT ID 1 LIMIT null",
            "Failed to execute 'limit' statement: limit should be a number, but got 'null' (null)",
        ),
        (
            "LIST WITHOUT ID 1 LIMIT 1 + null",
            "Failed to execute 'limit' statement: No implementation found for 'number + null'",
        ),
        ("LIST FROM #book", "[[books/Dune.md|Dune]]\n[[books/Emma.md|Emma]]"),
        ("LIST rating FROM #book", "[[books/Dune.md|Dune]]: 9\n[[books/Emma.md|Emma]]: 7"),
        ("LIST WITHOUT ID FROM #book", "[[books/Dune.md|Dune]]\n[[books/Emma.md|Emma]]"),
        ("TABLE rating FROM #book", "[[books/Dune.md|Dune]] | 9\n[[books/Emma.md|Emma]] | 7"),
        ("TABLE WITHOUT ID rating, rating + 1 FROM #book", "9 | 10\n7 | 8"),
        ("TABLE FROM #book", "[[books/Dune.md|Dune]]\n[[books/Emma.md|Emma]]"),
        ("TABLE WITHOUT ID rating AS x, 1 AS x FROM #book", "1 | 1\n1 | 1"),
    ] {
        assert_eq!(rows(query), found, "{query}");
    }
}

#[test]
fn groups_hold_the_rows_they_were_made_of() {
    for (query, found) in [
        ("LIST rows.file.name FROM #book GROUP BY rating", "7: [\"Emma\"]\n9: [\"Dune\"]"),
        ("TABLE length(rows) GROUP BY rating", "null | 1\n5 | 1\n7 | 1\n9 | 2"),
        ("LIST file.name GROUP BY rating", "null: null\n5: null\n7: null\n9: null"),
        ("LIST WITHOUT ID [key, r] GROUP BY rating AS r", "[null, null]\n[5, 5]\n[7, 7]\n[9, 9]"),
        ("LIST rows.rows.file.name FROM #book GROUP BY rating GROUP BY 1", "1: [[\"Emma\"], [\"Dune\"]]"),
        (
            "LIST rows.rating FROM #book FLATTEN authors GROUP BY authors",
            "\"Brian\": [9]\n\"Frank\": [9]\n\"Jane\": [7]",
        ),
        ("LIST WITHOUT ID rows.file.name FROM #book GROUP BY rating FLATTEN rows AS r", "[\"Emma\"]\n[\"Dune\"]"),
        ("LIST WITHOUT ID r.file.name FROM #book GROUP BY rating FLATTEN rows AS r", "\"Emma\"\n\"Dune\""),
    ] {
        assert_eq!(rows(query), found, "{query}");
    }
    let headers = |query: &str| match run_in(&vault(), query).unwrap().result {
        DqlResult::Table { headers, .. } => headers,
        _ => panic!("a table"),
    };
    assert_eq!(headers("TABLE length(rows) AS n GROUP BY rating + 1"), ["rating + 1", "n"]);
    assert_eq!(headers("TABLE x GROUP BY rating AS r"), ["r", "x"]);
    assert_eq!(headers("TABLE x GROUP BY rating AS r FLATTEN r"), ["File", "x"]);
    assert_eq!(headers("TABLE x\n  and 1"), ["File", "xand 1"]);
}

#[test]
fn lists_are_flattened_into_rows() {
    for (query, found) in [
        ("TABLE WITHOUT ID authors FROM #book FLATTEN authors", "\"Frank\"\n\"Brian\"\n\"Jane\""),
        (
            "TABLE WITHOUT ID a, b FROM \"books/Dune\" FLATTEN authors AS a FLATTEN [1, 2] AS b",
            "\"Frank\" | 1\n\"Frank\" | 2\n\"Brian\" | 1\n\"Brian\" | 2",
        ),
        ("LIST WITHOUT ID file.name FROM #book FLATTEN []", ""),
        ("LIST WITHOUT ID x FROM #book FLATTEN null AS x", "null\nnull"),
        ("LIST WITHOUT ID length(file.tasks) FROM #log FLATTEN file.tasks", "3\n3\n3"),
        ("LIST WITHOUT ID t.text FROM #log FLATTEN file.tasks AS t", "\"open [due:: 2024-03-01]\"\n\"done\"\n\"all\""),
        ("LIST WITHOUT ID file FROM #book FLATTEN 1 AS file", "1\n1"),
        ("LIST WITHOUT ID file.name FROM #book FLATTEN {name: 2} AS file", "2\n2"),
    ] {
        assert_eq!(rows(query), found, "{query}");
    }
}

#[test]
fn rows_with_errors_are_left_out_and_counted() {
    let answer = run_in(&vault(), "LIST WITHOUT ID rating + 1").unwrap();
    assert_eq!(answer.result.len(), 4);
    assert_eq!(answer.dropped.len(), 1);
    assert_eq!(answer.dropped[0].count, 1);
    assert_eq!(answer.dropped[0].messages, ["No implementation found for 'null + number'"]);
    let answer = run_in(&vault(), "LIST WHERE rating + 1 > 6 SORT file.name").unwrap();
    assert_eq!((answer.result.len(), answer.dropped[0].step.as_str()), (3, "WHERE rating + 1 > 6"));
    assert_eq!(
        rows("LIST FROM #book WHERE 1 + null"),
        "Every row during operation 'where' failed with an error; first 2:\n\n                - No implementation found for 'number + null'\n- No implementation found for 'number + null'"
    );
    assert_eq!(
        rows("LIST 1 + null FROM #book"),
        "Every row during final data extraction failed with an error; first 3:\n\n            - No implementation found for 'number + null'\n- No implementation found for 'number + null'"
    );
    assert_eq!(rows("LIST FROM #none WHERE 1 + null"), "");
    for step in ["SORT 1 + null", "GROUP BY 1 + null", "FLATTEN 1 + null"] {
        assert!(rows(&format!("LIST FROM #book {step}")).starts_with("Every row during operation '"), "{step}");
    }
}

#[test]
fn steps_say_what_was_read_and_what_was_left() {
    let answer = run_in(&vault(), "TABLE rating FROM #book and -\"x\" WHERE rating > 7 SORT rating LIMIT 5").unwrap();
    let steps: Vec<String> = answer.steps.iter().map(|step| format!("{} → {}", step.name, step.rows)).collect();
    assert_eq!(
        steps,
        [
            "FROM #book → 2",
            "FROM \"x\" → 0",
            "FROM #book and -\"x\" → 2",
            "WHERE rating > 7 → 1",
            "SORT rating → 1",
            "LIMIT 5 → 1",
            "TABLE rating → 1",
        ]
    );
}

#[test]
fn even_a_small_query_says_how_much_work_it_was() {
    let (vault, context) = (vault(), context(None));
    DqlQuery::parse("LIST FROM #book WHERE rating > 7").unwrap().run(&vault, &context).unwrap();
    assert!((6..64).contains(&context.steps_taken()), "{}", context.steps_taken());
}

#[test]
fn tasks_are_rows_with_their_pages() {
    let texts = |query: &str| match run_in(&vault(), query).unwrap().result {
        DqlResult::Task { tasks: TaskGrouping::Tasks(tasks) } => {
            tasks.iter().map(|task| format!("{}:{}", task.line, task.text)).collect::<Vec<_>>()
        }
        other => panic!("tasks and not {other:?}"),
    };
    assert_eq!(texts("TASK"), ["1:open [due:: 2024-03-01]", "2:done", "4:all"]);
    assert_eq!(texts("TASK WHERE !completed"), ["1:open [due:: 2024-03-01]"]);
    assert_eq!(texts("TASK WHERE due < date(2025-01-01)").len(), 3, "null is below every date");
    assert_eq!(texts("TASK WHERE due"), ["1:open [due:: 2024-03-01]"]);
    assert_eq!(texts("TASK WHERE file.name = \"2024-02-29 log\" AND status = \"x\""), ["2:done", "4:all"]);
    assert_eq!(texts("TASK FROM #book"), [""; 0]);
    assert_eq!(texts("TASK SORT text DESC LIMIT 1"), ["1:open [due:: 2024-03-01]"]);
    let answer = run_in(&vault(), "TASK GROUP BY completed").unwrap();
    let DqlResult::Task { tasks: TaskGrouping::Groups(groups) } = &answer.result else { panic!("groups") };
    let shape: Vec<(String, usize)> = groups.iter().map(|(key, tasks)| (shown(key), tasks.len())).collect();
    assert_eq!(shape, [("false".to_owned(), 1), ("true".to_owned(), 2)]);
    let DqlResult::Task { tasks: TaskGrouping::Tasks(tasks) } = run_in(&vault(), "TASK").unwrap().result else {
        panic!("tasks")
    };
    let children: Vec<(Option<char>, &str)> =
        tasks[0].children.iter().map(|child| (child.status, child.text.as_str())).collect();
    assert_eq!(children, [(Some('x'), "done"), (None, "plain")]);
}

#[test]
fn calendars_have_dates() {
    let answer = run_in(&vault(), "CALENDAR file.day").unwrap();
    let DqlResult::Calendar { entries } = &answer.result else { panic!("a calendar") };
    let dates: Vec<String> = entries.iter().map(|entry| format!("{} {}", entry.date, shown(&entry.link))).collect();
    assert_eq!(dates, ["2024-03-01 [[Other.md|Other]]", "2024-02-29 [[books/2024-02-29 log.md|2024-02-29 log]]"]);
    assert_eq!(rows("CALENDAR rating"), "CALENDAR needs a date, but 'rating' is of type 'number' in a row");
}

#[test]
fn budgets_end_a_query() {
    let run = |query: &str, limits: lapidary_query::QueryLimits| {
        let vault = vault();
        let query = DqlQuery::parse(query).unwrap();
        query.run(&vault, &context(None).with_limits(limits)).err()
    };
    let usual = lapidary_query::QueryLimits::default();
    let few = lapidary_query::QueryLimits { steps: 100, ..usual };
    let small = lapidary_query::QueryLimits { bytes: 100_000, ..usual };
    assert_eq!(run("LIST map(split(\"a\" * 1000, \"\"), (x) => x)", few), Some(QueryHalt::TooManySteps { limit: 100 }));
    let large = Some(QueryHalt::TooMuchMemory { limit: 100_000 });
    assert_eq!(run("LIST \"a\" * 1000000", small), large);
    assert_eq!(run("LIST padleft(\"a\", 1000000)", small), large);
    assert_eq!(run("LIST reduce(split(\"a\" * 100, \"\"), (a, x) => a + a)", small), large);
    assert_eq!(run("LIST replace(\"a\" * 1000, \"a\", \"b\" * 1000)", small), large);
    // A row with many flattened values is as large as all of them.
    let mut wide = "LIST".to_owned();
    (0..60).for_each(|number| wide += &format!(" FLATTEN 1 AS a{number}"));
    let none = lapidary_query::QueryLimits { bytes: 50_000, ..usual };
    assert_eq!(run(&wide, usual), None);
    assert_eq!(run(&wide, none), Some(QueryHalt::TooMuchMemory { limit: 50_000 }));
    let cancelled = QueryContext::new(now(), TimeZone::UTC, &|| false);
    let vault = vault();
    let query = DqlQuery::parse("LIST map(split(\"a\" * 3000, \"\"), (x) => x)").unwrap();
    assert_eq!(query.run(&vault, &cancelled).err(), Some(QueryHalt::Cancelled));
}

#[test]
fn clauses_may_come_in_any_order_and_number() {
    for (query, found) in [
        ("LIST WITHOUT ID rating WHERE rating WHERE rating > 5 WHERE rating < 9", "7"),
        ("LIST WITHOUT ID rating WHERE rating LIMIT 2 WHERE rating > 5", "9"),
        ("LIST WITHOUT ID file.name FROM #book SORT rating SORT file.name DESC", "\"Emma\"\n\"Dune\""),
        ("LIST WITHOUT ID file.name FROM #book SORT rating ASC, file.name", "\"Emma\"\n\"Dune\""),
        ("LIST WITHOUT ID rating WHERE rating SORT rating DESCENDING LIMIT 1", "9"),
        ("LIST WITHOUT ID rating WHERE rating SORT rating ascending LIMIT 1", "5"),
        ("LIST WITHOUT ID rating LIMIT 0", ""),
        ("LIST WITHOUT ID 1 LIMIT 99", "1\n1\n1\n1\n1"),
        ("LIST WITHOUT ID 1 LIMIT 0 - 4", "1"),
        ("LIST WITHOUT ID 1 LIMIT 0 - 9", ""),
        ("LIST WITHOUT ID 1 LIMIT length(this.file.outlinks) - 2", "1"),
        ("LIST WITHOUT ID a FROM \"books/Dune\" FLATTEN authors AS a SORT a", "\"Brian\"\n\"Frank\""),
        ("LIST WITHOUT ID a FROM \"books/Dune\" FLATTEN authors AS a WHERE a = \"Frank\"", "\"Frank\""),
        ("LIST WITHOUT ID key FROM #book GROUP BY rating > 8", "false\ntrue"),
        ("LIST WITHOUT ID [key, length(rows)] GROUP BY file.folder", "[\"\", 2]\n[\"books\", 3]"),
        ("LIST WITHOUT ID rows.rating GROUP BY file.folder SORT length(rows) DESC", "[null, 9, 7]\n[5, 9]"),
        ("LIST WITHOUT ID key FROM #book GROUP BY null", "null"),
        (
            "LIST WITHOUT ID key GROUP BY file.tags",
            "[]\n[\"#book\"]\n[\"#book/classic\", \"#book\"]\n[\"#log\"]\n[\"#tag/sub\", \"#tag\"]",
        ),
        ("LIST WITHOUT ID key FROM #book GROUP BY [[Other]]", "[[Other|Other]]"),
        ("LIST key FROM #book GROUP BY rating AS r WHERE r > 8", "9: 9"),
        ("TABLE WITHOUT ID r, length(rows) FROM #book GROUP BY rating AS r", "7 | 1\n9 | 1"),
        ("TABLE WITHOUT ID row[\"rating + 1\"] AS x FROM #book GROUP BY rating + 1", "8\n10"),
        ("TABLE WITHOUT ID file.name FROM #book FLATTEN file.name AS n FLATTEN n AS m", "\"Dune\"\n\"Emma\""),
        ("LIST WITHOUT ID x FROM #book FLATTEN [ [1, 2], 3 ] AS x", "[1, 2]\n3\n[1, 2]\n3"),
        ("LIST WITHOUT ID rows.a FROM #book FLATTEN authors AS a GROUP BY 1", "[\"Frank\", \"Brian\", \"Jane\"]"),
        ("LIST WITHOUT ID this.rating FROM #book", "5\n5"),
        ("LIST WITHOUT ID row.file.name FROM #book", "\"Dune\"\n\"Emma\""),
        ("LIST WITHOUT ID row[\"rating\"] FROM #book", "9\n7"),
        ("LIST WITHOUT ID row.this.file.name FROM \"books/Dune\"", "\"Home\""),
        ("LIST WITHOUT ID [[Other]].rating + rating FROM #book", "18\n16"),
        ("LIST WITHOUT ID map(authors, (a) => a + \"!\") FROM #book", "[\"Frank!\", \"Brian!\"]\n[\"Jane!\"]"),
        ("LIST WITHOUT ID filter(authors, (rating) => rating = \"Frank\") FROM \"books/Dune\"", "[\"Frank\"]"),
        ("LIST WITHOUT ID name FROM csv(\"data/table.csv\") WHERE n > 1", "\"y\""),
        ("LIST n FROM csv(\"/data/table.csv\")", "\"data/table.csv#0\": 1\n\"data/table.csv#1\": 2"),
        ("TASK FROM csv(\"data/table.csv\")", "{\"type\":\"task\",\"tasks\":[]}"),
    ] {
        assert_eq!(rows(query), found, "{query}");
    }
}

#[test]
fn a_window_shows_a_part_and_counts_all() {
    let vault = vault();
    for (query, total) in [
        ("LIST WITHOUT ID file.name SORT file.name", 5),
        ("TABLE rating + 1", 4),
        ("LIST file.name FLATTEN 1 AS file WHERE rating", 4),
        ("TASK", 3),
        ("TASK GROUP BY completed", 3),
        ("CALENDAR file.day", 2),
        ("LIST key GROUP BY rating", 4),
    ] {
        let query = DqlQuery::parse(query).unwrap();
        let whole = query.run(&vault, &context(None)).unwrap();
        assert_eq!((whole.total, whole.first, whole.result.len()), (total, 0, total));
        for window in [0..0, 0..2, 1..3, 3..9, 9..12] {
            let part = query.run(&vault, &context(None).with_window(Some(window.clone()))).unwrap();
            let shown = window.start.min(total)..window.end.min(total);
            assert_eq!((part.total, part.first, part.result.len()), (total, shown.start, shown.len()), "{window:?}");
            assert_eq!((&part.dropped, &part.steps), (&whole.dropped, &whole.steps));
            if let (DqlResult::List { entries, .. }, DqlResult::List { entries: all, .. }) =
                (&part.result, &whole.result)
            {
                assert_eq!(entries[..], all[shown]);
            }
        }
    }
}

#[test]
fn an_error_that_ends_a_query_has_a_place_in_it() {
    for (query, line, column) in [
        ("LIST WHERE foo(rating)", 1, 12),
        ("LIST FROM #book\nWHERE rating and round(\"a\")", 2, 18),
        ("LIST FROM #book\nSORT [1, foo(1)]", 2, 10),
        ("TABLE rating,\n  foo(1)", 2, 3),
        ("LIST FROM #book LIMIT \"a\"", 1, 17),
        ("LIST WHERE rating FROM #book", 1, 19),
        ("LIST\nFROM csv(\"no.csv\")", 2, 1),
        ("LIST WHERE contains(\"foo(\", \"f\") and foo(1)", 1, 38),
        ("CALENDAR rating", 1, 1),
    ] {
        let halt = DqlQuery::parse(query).unwrap().run(&vault(), &context(None)).unwrap_err();
        let QueryHalt::Failed { place: Some(place), .. } = halt else { panic!("{query}: {halt:?}") };
        assert_eq!((place.line, place.column), (line, column), "{query}");
    }
}

#[test]
fn a_query_without_rows_says_which_names_no_note_has() {
    for (query, hints) in [
        ("LIST FROM #bok", vec!["no note has the tag #bok; did you mean #book?"]),
        ("LIST FROM #Tag/subs", vec!["no note has the tag #Tag/subs; did you mean #tag/sub?"]),
        ("LIST FROM \"Books\"", vec!["there is no folder \"Books\"; did you mean \"books\"?"]),
        ("LIST FROM \"books/Dune\" and \"zzzzzz\"", vec!["there is no folder \"zzzzzz\""]),
        ("LIST WHERE ratng > 3", vec!["no note has the property ratng; did you mean rating?"]),
        ("LIST WHERE basic-field > 9 or row.author", vec!["no note has the property author; did you mean authors?"]),
        ("LIST WHERE file.nam = \"x\"", vec!["files have no field file.nam; did you mean file.name?"]),
        ("LIST FROM -\"nowhere\" WHERE rating > 99 and any(authors, (x) => x = 1) and this.x", vec![]),
        ("LIST FLATTEN authors AS a WHERE a = 1 GROUP BY rating AS r WHERE r = 99 and key and rows", vec![]),
        ("TASK WHERE due and status = \"z\" and fullyCompleted", vec![]),
        ("TASK WHERE priority = 9", vec!["no note has the property priority"]),
    ] {
        let found = DqlQuery::parse(query).unwrap().unknown_names(&vault(), &context(None)).unwrap();
        assert_eq!(found, hints, "{query}");
    }
}

#[test]
fn an_empty_column_says_which_name_is_mistyped() {
    for (query, hints) in [
        ("TABLE ratng, authors", vec!["no note has the property ratng; did you mean rating?"]),
        ("TABLE WITHOUT ID file.nam", vec!["files have no field file.nam; did you mean file.name?"]),
        ("LIST ratng + 1", vec!["no note has the property ratng; did you mean rating?"]),
        // A column may be for what no note has yet.
        ("TABLE zzzzzz, this.ratng", vec![]),
        ("TABLE rating, key, rows.ratng GROUP BY rating AS ratng", vec![]),
        ("TABLE ratng FLATTEN authors AS ratng", vec![]),
        ("TASK", vec![]),
    ] {
        let found = DqlQuery::parse(query).unwrap().mistyped_columns(&vault(), &context(None)).unwrap();
        assert_eq!(found, hints, "{query}");
    }
}
