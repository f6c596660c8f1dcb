//! Dataview queries and bases, on the wire and on the command line.

use serde_json::{Value, json};

use crate::harness::{Era, Server, Vault, path};

const BOOKS: &str = "filters: file.hasTag(\"book\")\nformulas:\n  stars: \"\\\"*\\\".repeat(rating)\"\nviews:\n  - type: table\n    name: Best\n    order: [file.name, rating, formula.stars]\n    sort:\n      - property: rating\n        direction: DESC\n    summaries:\n      rating: Sum\n  - type: list\n    name: By status\n    groupBy:\n      property: status\n      direction: ASC\n";

fn library() -> Vault {
    Vault::new(&[
        ("Books/Dune.md", b"---\nrating: 9\nstatus: read\nread: 2026-01-02\nup: \"[[Shelf]]\"\n---\n#book\nPages:: 600\n"),
        ("Books/Emma.md", b"---\nrating: 7\nstatus: open\n---\n#book [[Dune]]\n- [ ] Return it [due:: 2026-02-01]\n  - [x] Pack it\n- plain\n"),
        ("Shelf.md", b"---\nrating: high\n---\n# Shelf\n- [x] Dust ^dust\n"),
        ("Books.base", BOOKS.as_bytes()),
        ("data/prices.csv", b"title,price\nDune,12\nEmma,9.5\n"),
        (".obsidian/app.json", b"{\"userIgnoreFilters\": [\"data/\"]}"),
        (".obsidian/bookmarks.json", b"{\"items\": [{\"type\": \"file\", \"path\": \"Books/Dune.md\"}]}"),
    ])
}

fn query(server: &mut Server, text: &str) -> Value {
    server.done("query", json!({ "query": text }))
}

fn link(path: &str) -> Value {
    json!({ "$link": { "path": path, "type": "file" } })
}

#[test]
fn each_type_of_dql_query_answers_with_typed_rows() {
    let vault = library();
    let mut server = vault.serve().open(Era::Modern);
    let table = query(&mut server, "TABLE rating, read, pages AS \"P\" FROM \"Books\" SORT rating");
    assert_eq!(table["headers"], json!(["File", "rating", "read", "P"]));
    assert_eq!(
        table["rows"],
        json!([
            [link("Books/Emma.md"), 7, null, null],
            [link("Books/Dune.md"), 9, { "$date": "2026-01-02" }, 600],
        ])
    );
    let list = query(&mut server, "LIST rating FROM #book");
    assert_eq!(list["values"][0], json!({ "key": link("Books/Dune.md"), "value": 9 }));
    let tasks = query(&mut server, "TASK WHERE !completed");
    assert_eq!((&tasks["type"], &tasks["total"]), (&json!("task"), &json!(1)));
    let task = &tasks["tasks"][0];
    assert_eq!((&task["text"], &task["path"]), (&json!("Return it [due:: 2026-02-01]"), &json!("Books/Emma.md")));
    assert_eq!(task["due"], json!({ "$date": "2026-02-01" }));
    assert_eq!(task["children"][0]["text"], "Pack it", "children are all there, whether they fit or not");
    let calendar = query(&mut server, "CALENDAR read");
    assert_eq!(calendar["entries"], json!([{ "date": { "$date": "2026-01-02" }, "link": link("Books/Dune.md") }]));
    let csv = query(&mut server, "TABLE WITHOUT ID title, price FROM csv(\"data/prices.csv\") SORT price");
    assert_eq!(csv["rows"], json!([["Emma", 9.5], ["Dune", 12]]));
    let starred = query(&mut server, "LIST WITHOUT ID file.name WHERE file.starred");
    assert_eq!(starred["values"], json!(["Dune"]));
}

#[test]
fn a_base_answers_with_columns_rows_groups_and_summaries() {
    let vault = library();
    let mut server = vault.serve().open(Era::Modern);
    let best = server.done("query", json!({ "query": "Books.base" }));
    assert_eq!((&best["base"], &best["view"], &best["total"]), (&json!("Books.base"), &json!("Best"), &json!(2)));
    assert_eq!(best["columns"][1], json!({ "id": "rating", "name": "rating" }));
    assert_eq!(
        best["rows"][0],
        json!({ "path": "Books/Dune.md", "values": { "file.name": "Dune", "rating": 9, "formula.stars": "*********" } })
    );
    assert_eq!(best["summaries"], json!([{ "property": "rating", "name": "Sum", "value": 16 }]));
    let grouped = server.done("query", json!({ "query": "[[Books.base#By status]]" }));
    assert_eq!(grouped["type"], "list");
    assert_eq!(grouped["groups"], json!([{ "key": "open", "rows": 1 }, { "key": "read", "rows": 1 }]));
    let all = server.done("query", json!({ "query": "views:\n  - type: table\n    name: All\n", "format": "paths" }));
    let paths: Vec<&str> = all["text"].as_str().unwrap().lines().collect();
    assert_eq!(paths, ["Books.base", "Books/Dune.md", "Books/Emma.md", "Shelf.md"], "excluded files are left out");
    let this = server.done(
        "query",
        json!({
            "query": "filters: file.hasLink(this)\nviews:\n  - type: table\n    name: All\n",
            "note": "Dune",
            "format": "paths",
        }),
    );
    assert_eq!(this["text"], "Books/Emma.md\n");
}

#[test]
fn results_come_in_every_format_and_without_columns() {
    let vault = library();
    let mut server = vault.serve().open(Era::Modern);
    let dql = "TABLE rating, status FROM #book SORT rating DESC";
    let mut in_format = |query: &str, format: &str| {
        let answer =
            server.done("query", json!({ "query": query, "format": format, "without": ["status", "formula.stars"] }));
        answer["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(in_format(dql, "csv"), "File,rating\r\n[[Books/Dune.md|Dune]],9\r\n[[Books/Emma.md|Emma]],7\r\n");
    assert!(in_format(dql, "md").starts_with("| File                    | rating |\n| ---"), "a padded table");
    let json: Value = serde_json::from_str(&in_format(dql, "json")).unwrap();
    assert_eq!(json[0], json!({ "filename": "Books/Dune.md", "result": { "rating": 9 } }));
    assert_eq!(in_format(dql, "paths"), "Books/Dune.md\nBooks/Emma.md\n");
    assert_eq!(in_format("Books.base", "csv"), "file name,rating\r\nDune,9\r\nEmma,7\r\n");
    let json: Value = serde_json::from_str(&in_format("Books.base", "json")).unwrap();
    assert_eq!(json[0], json!({ "path": "Books/Dune.md", "file name": "Dune", "rating": "9" }), "as the app's CLI");
}

#[test]
fn pages_follow_each_other_until_all_rows_were_seen() {
    let vault = Vault::new(&[]);
    for number in 0..130 {
        vault.write(&format!("n{number:03}.md"), format!("---\nn: {number}\n---\n- [ ] t{number}\n").as_bytes());
    }
    let mut server = vault.serve().open(Era::Modern);
    for (text, rows) in
        [("TABLE n SORT n DESC", "rows"), ("TASK", "tasks"), ("views:\n  - type: table\n    name: A\n", "rows")]
    {
        let (mut seen, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
        loop {
            let mut arguments = json!({ "query": text });
            if !cursor.is_null() {
                arguments["cursor"] = cursor;
            }
            let page = server.done("query", arguments);
            assert_eq!(page["total"], 130);
            seen.extend(page[rows].as_array().unwrap().iter().map(Value::to_string));
            cursor = page["nextCursor"].clone();
            pages += 1;
            if cursor.is_null() {
                break;
            }
        }
        let mut distinct = seen.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!((seen.len(), distinct.len()), (130, 130), "{text}");
        assert!(pages >= 3, "{text}: {pages}");
    }
}

#[test]
fn long_work_says_how_far_it_has_come() {
    let vault = Vault::new(&[]);
    for number in 0..2500 {
        vault.write(&format!("n{number:04}.md"), format!("---\nn: {number}\n---\nx\n").as_bytes());
    }
    let mut server = vault.serve().open(Era::Modern);
    // On a busy machine the first call reports the indexing up to its end, and nothing that comes behind is more than that.
    query(&mut server, "LIST LIMIT 1");
    for (tool, arguments) in [
        ("query", json!({ "query": "TABLE n WHERE n > 5 SORT n" })),
        ("query", json!({ "query": "filters: n > 5\n" })),
        ("search_content", json!({ "query": "nowhere" })),
    ] {
        server.aside.clear();
        let id = server
            .ask("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "t" } }));
        server.answer_to(id);
        let told = server.aside.iter().filter(|message| message["method"] == "notifications/progress");
        let told: Vec<(f64, &str)> = told
            .map(|message| &message["params"])
            .map(|params| (params["progress"].as_f64().unwrap(), params["message"].as_str().unwrap()))
            .collect();
        assert!(told.iter().any(|(_, message)| message.starts_with("working: ")), "{tool}: {told:?}");
        assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0), "{tool}: {told:?}");
        assert_eq!(told.last(), Some(&(2.0, "done")), "{tool}");
    }
}

fn refused(server: &mut Server, tool: &str, arguments: Value) -> (String, Value) {
    let reply = server.call(tool, arguments);
    assert_eq!(reply["isError"], true, "{reply}");
    let error = &reply["structuredContent"]["error"];
    (error["data"]["reason"].as_str().unwrap_or_default().to_owned(), error["data"].clone())
}

#[test]
fn errors_say_where_and_what_was_expected() {
    let vault = library();
    vault.write("Broken.base", b"views:\n  - type: table\n    name: A\n    filters: [\n");
    let mut server = vault.serve().open(Era::Modern);
    let (reason, data) = refused(&mut server, "query", json!({ "query": "TABLE rating\nFRM #book" }));
    assert_eq!((reason.as_str(), &data["line"]), ("query_invalid", &json!(2)), "{data}");
    let (reason, data) = refused(&mut server, "query", json!({ "query": "Broken.base" }));
    assert_eq!(reason, "query_invalid");
    assert!(data["line"].as_u64().unwrap() >= 4, "{data}");
    let (reason, data) = refused(&mut server, "query", json!({ "query": "Books.base", "view": "best" }));
    assert_eq!((reason.as_str(), &data["views"][0]), ("view_unknown", &json!("Best")));
    let (reason, data) = refused(&mut server, "query", json!({ "query": "$= dv.pages()" }));
    assert_eq!((reason.as_str(), &data["unsupported"]), ("query_invalid", &json!("DataviewJS")));
    let (reason, data) = refused(&mut server, "query", json!({ "query": "LIST\nLIMIT \"two\"" }));
    assert_eq!((reason.as_str(), &data["line"], &data["column"]), ("query_failed", &json!(2), &json!(1)));
    let (reason, _) = refused(&mut server, "query", json!({ "query": "Nowhere.base" }));
    assert_eq!(reason, "note_missing");
}

#[test]
fn rows_that_errors_left_out_are_counted() {
    let vault = library();
    let mut server = vault.serve().open(Era::Modern);
    let answer = query(&mut server, "LIST WHERE rating - 1 > 5");
    assert_eq!(answer["total"], 2);
    let dropped = &answer["dropped"][0];
    assert_eq!(dropped["count"], 1, "the rating of the shelf is `high`: {answer}");
    assert!(dropped["messages"][0].as_str().unwrap().contains("No implementation found"), "{dropped}");
    let explained = server.done("query_explain", json!({ "query": "LIST FROM #book WHERE rating > 8" }));
    let steps = explained["steps"].as_array().unwrap();
    assert_eq!(steps.first().map(|step| (&step["rows"], &step["index"])), Some((&json!(2), &json!("tags"))));
    assert_eq!(steps.last().map(|step| &step["rows"]), Some(&json!(1)), "{explained}");
}

#[test]
fn search_answers_dataview_queries_of_all_four_types_by_note() {
    let vault = library();
    let mut server = vault.serve().open(Era::Modern);
    let mut search = |query: &str| server.done("obsidian_search_notes", json!({ "mode": "dataview", "query": query }));
    let table = search("TABLE rating, up FROM \"Books\" SORT rating DESC");
    assert_eq!(
        table["result"]["hits"],
        json!([
            {
                "filename": "Books/Dune.md",
                "result": { "rating": 9, "up": { "path": "Shelf.md", "embed": false, "type": "file" } },
            },
            { "filename": "Books/Emma.md", "result": { "rating": 7, "up": null } },
        ])
    );
    assert_eq!(search("LIST FROM #book")["result"]["hits"][1], json!({ "filename": "Books/Emma.md", "result": {} }));
    let tasks = search("TASK FROM \"Books\" WHERE !completed");
    assert_eq!(tasks["result"]["hits"][0]["result"]["text"], "Return it [due:: 2026-02-01]");
    let calendar = search("CALENDAR read");
    let date = calendar["result"]["hits"][0]["result"]["date"].as_str().unwrap();
    assert!(date.starts_with("2026-01-02T00:00:00.000"), "{date}");
    let (reason, _) = refused(
        &mut server,
        "obsidian_search_notes",
        json!({ "mode": "dataview", "query": "TABLE WITHOUT ID rating" }),
    );
    assert_eq!(reason, "query_failed");
}

#[test]
fn a_note_is_read_as_people_see_it() {
    let vault = library();
    vault.write(
        "Page.md",
        b"Top `= this.file.name` `$= 1` `= nope(`\n\n> ```dataview\n> LIST FROM #book\n> ```\n\n```base\nfilters: file.name == this.file.name\nviews:\n  - type: table\n    name: A\n```\n![[Books.base#Best]]\n```dataview\nTABLE (\n```\nEnd\n",
    );
    let mut server = vault.serve().open(Era::Modern);
    let read = |server: &mut Server, render: bool| {
        server.done(
            "obsidian_get_note",
            json!({ "format": "content", "target": path("Page.md"), "renderQueries": render }),
        )
    };
    let seen = read(&mut server, true);
    let text = seen["result"]["content"].as_str().unwrap();
    assert!(text.starts_with("Top Page (an inline DataviewJS query is JavaScript"), "{text}");
    assert!(text.contains("> - [[Books/Dune.md|Dune]]\n> - [[Books/Emma.md|Emma]]\n"), "{text}");
    assert!(text.contains("| file name |\n| --- |\n| Page |\n"), "{text}");
    assert!(text.contains("| Dune | 9 | ********* |\n"), "{text}");
    assert!(
        text.contains("Dataview (inline field 'nope('): line 1, column 6: PARSING FAILED") && text.ends_with("\nEnd\n"),
        "{text}"
    );
    assert!(seen["notice"].as_str().unwrap().contains("7 queries are shown as results"), "{seen}");
    let plain = read(&mut server, false);
    assert_eq!(plain["result"]["content"].as_str().unwrap().as_bytes(), vault.read("Page.md"));
    assert_eq!(plain["result"]["contentHash"], seen["result"]["contentHash"]);
}

#[test]
fn a_query_without_an_end_is_stopped() {
    let vault = library();
    let mut server = vault.serve_with(&[], &[("MCP_DEADLINE_MS", "1500")]).open(Era::Modern);
    let numbers = (0..40).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let flatten = format!("FLATTEN [{numbers}] AS a ").repeat(12);
    let (reason, _) = refused(&mut server, "query", json!({ "query": format!("LIST {flatten}") }));
    assert!(matches!(reason.as_str(), "deadline_exceeded" | "query_too_large" | "deadline"), "{reason}");
    let endless = (0..8).fold("1".to_owned(), |inner, _| format!("[{numbers}].filter({inner} == 0).length"));
    let (reason, _) = refused(&mut server, "query", json!({ "query": format!("filters: \"{endless}\"\n") }));
    assert!(matches!(reason.as_str(), "deadline_exceeded" | "query_too_large" | "deadline"), "a base: {reason}");
    assert_eq!(query(&mut server, "LIST FROM #book")["total"], 2, "and the next one is answered");
}

/// What a model reads of an answer.
fn text_of(server: &mut Server, text: &str) -> String {
    server.call("query", json!({ "query": text }))["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn the_text_of_an_answer_is_enough_to_act_on() {
    let vault = library();
    vault.write("Work/Plan.md", b"# Plan\n\n- [ ] Slates\n- [x] Nails\n");
    let mut server = vault.serve().open(Era::Modern);
    let tasks = text_of(&mut server, "TASK WHERE !completed");
    assert!(tasks.contains("\nWork/Plan.md\n3: - [ ] Slates\n"), "file and line of each task: {tasks}");
    let best = text_of(&mut server, "Books.base");
    assert!(best.contains("| Emma | 7 | ******* |\nrating Sum: 16\n"), "{best}");
    let by_status = server.call("query", json!({ "query": "Books.base", "view": "By status" }));
    let by_status = by_status["content"][0]["text"].as_str().unwrap();
    assert!(by_status.contains("open (1 row)\n| file name |\n| --- |\n"), "{by_status}");
    for (query, hint) in [
        ("LIST FROM #bok", "no note has the tag #bok; did you mean #book?"),
        ("LIST FROM \"Work/Pln\"", "there is no folder \"Work/Pln\""),
        ("LIST WHERE ratng > 3", "no note has the property ratng; did you mean rating?"),
        ("filters: file.hasTag(\"bok\")\n", "no note has the tag #bok; did you mean #book?"),
    ] {
        let text = text_of(&mut server, query);
        assert!(text.starts_with("0 rows\n") && text.contains(hint), "{query}: {text}");
    }
}

#[test]
fn hints_name_only_what_the_caller_may_read() {
    let vault = library();
    vault.write("Secret/s.md", b"---\nsalary: 5\n---\n#payroll\n");
    let mut server = vault.serve_with(&[], &[("OBSIDIAN_READ_PATHS", "Books")]).open(Era::Modern);
    for query in ["LIST FROM #payrol", "LIST FROM \"Secre\"", "LIST WHERE salry", "filters: salry > 1\n"] {
        let text = text_of(&mut server, query);
        assert!(text.starts_with("0 rows\n") && !text.contains("did you mean"), "{query}: {text}");
    }
}

fn out(vault: &Vault, arguments: &[&str]) -> (String, String, i32) {
    let output = vault.run(arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn the_command_line_prints_tables_and_points_at_errors() {
    let vault = library();
    let (table, _, code) = out(&vault, &["query", "TABLE rating, read FROM #book SORT rating"]);
    assert_eq!((code, table.lines().next()), (0, Some("File  rating  read")), "{table}");
    assert_eq!(table.lines().nth(2), Some("Dune       9  2026-01-02"), "{table}");
    let (base, _, _) = out(&vault, &["query", "Books.base", "--view", "By status"]);
    assert_eq!(base.lines().next(), Some("open"), "groups have headings: {base}");
    let (csv, _, _) = out(&vault, &["query", "Books.base", "--csv"]);
    assert_eq!(csv, "file name,rating,stars\r\nDune,9,*********\r\nEmma,7,*******\r\n");
    let (csv, _, _) = out(&vault, &["query", "TASK WHERE !completed", "--csv"]);
    assert!(csv.starts_with("status,text,path,line\r\n"), "{csv}");
    let (json, _, _) = out(&vault, &["query", "LIST", "FROM", "#book", "--json", "--limit", "1"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["values"].as_array().unwrap().len(), &json["total"]), (1, &json!(2)));
    let (md, _, _) = out(&vault, &["query", "TASK WHERE !completed", "--md"]);
    assert_eq!(md, "- [ ] Return it [due:: 2026-02-01]\n    - [x] Pack it\n");
    for missing in [vec!["query", "Bookz.base"], vec!["query", "Books.base", "--view", "None"]] {
        let (nothing, error, code) = out(&vault, &missing);
        assert_eq!((nothing.as_str(), code), ("", 1), "{missing:?}: {error}");
        assert!(error.contains("Books.base") || error.contains("By status"), "{missing:?}: {error}");
    }
    let (nothing, error, code) = out(&vault, &["query", "LIST FROM #book WHERE )"]);
    assert_eq!((nothing.as_str(), code), ("", 1));
    let lines: Vec<&str> = error.lines().collect();
    let (written, caret) = (lines[lines.len() - 2], lines[lines.len() - 1]);
    assert!(written.ends_with("LIST FROM #book WHERE )") && caret.trim() == "^", "{error}");
    let (_, error, code) = out(&vault, &["query", "TABLE rating WHERE fo(rating)"]);
    let marked = "  TABLE rating WHERE fo(rating)\n                     ^\n";
    assert!(code == 1 && error.ends_with(marked) && !error.contains("\\n"), "a query that fails in every row: {error}");
    let (best, _, _) = out(&vault, &["query", "Books.base"]);
    assert!(best.ends_with("\n\nrating Sum: 16\n"), "{best}");
    let (_, hint, _) = out(&vault, &["query", "LIST FROM #bok"]);
    assert!(hint.contains("no note has the tag #bok; did you mean #book?"), "{hint}");
    let (_, told, _) = out(&vault, &["query", "LIST WHERE rating - 1 > 5"]);
    assert!(told.contains("1 row left out by errors"), "{told}");
}
