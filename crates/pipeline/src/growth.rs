//! The work of a call grows with what it is given, and no faster: small notes and arguments that repeat one element, for
//! each language that a tool reads, in two sizes.

use std::time::Duration;

use lapidary_note::steps_of;
use lapidary_tools::{Cancel, ReasonKind};
use serde_json::{Map, Value, json};

use crate::{Outcome, testing::TestServer};

type Files = Vec<(String, String)>;

/// An element that is repeated: where, how often at least, and the call that meets it.
struct Repeated {
    what: &'static str,
    count: usize,
    files: fn(usize) -> Files,
    tool: &'static str,
    given: fn(usize) -> Value,
}

fn note(text: String) -> Files {
    vec![("a.md".to_owned(), text)]
}

fn nothing(_: usize) -> Files {
    note("# A\n".to_owned())
}

fn dql(query: &str) -> Value {
    json!({ "query": query })
}

/// A base with one table that has more lines.
fn base(more: &str) -> Value {
    json!({ "query": format!("views:\n  - type: table\n    name: A\n{more}") })
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

fn repeated() -> Vec<Repeated> {
    vec![
        Repeated {
            what: "formulas that use each other",
            count: 60,
            files: nothing,
            tool: "base_create",
            given: |count| {
                let formula = |at: usize| (format!("f{at}"), json!(format!("1 + formula.f{}", at.saturating_sub(1))));
                json!({ "file": "x.base", "formulas": (0..count).map(formula).collect::<Map<_, _>>(), "dry_run": true })
            },
        },
        Repeated {
            what: "views",
            count: 40,
            files: nothing,
            tool: "base_create",
            given: |count| {
                let views: Vec<Value> = (0..count).map(|at| json!({ "name": format!("v{at}") })).collect();
                json!({ "file": "x.base", "views": views, "dry_run": true })
            },
        },
        Repeated {
            what: "columns of a base",
            count: 200,
            files: |count| note(format!("---\n{}---\n", lines(count, |at| format!("c{at}: {at}\n")))),
            tool: "query",
            given: |count| base(&format!("    order:\n{}", lines(count, |at| format!("      - formula.c{at}\n")))),
        },
        Repeated {
            what: "summaries of groups",
            count: 50,
            files: |_| (0..40).map(|at| (format!("n{at}.md"), format!("---\nk: {at}\n---\n"))).collect(),
            tool: "query",
            given: |count| {
                let summaries = lines(count, |at| format!("      c{at}: Sum\n"));
                base(&format!("    groupBy:\n      property: k\n    summaries:\n{summaries}"))
            },
        },
        Repeated {
            what: "functions that do not exist",
            count: 150,
            files: nothing,
            tool: "query",
            given: |count| {
                let calls: Vec<String> = (0..count).map(|at| format!("zzz{at}()")).collect();
                base(&format!("    filters: {}\n", calls.join(" || ")))
            },
        },
        Repeated {
            what: "fields of tasks",
            count: 150,
            files: |count| note("- [ ] t [a:: 1]\n".repeat(count)),
            tool: "query",
            given: |_| dql("TASK WHERE a = 1"),
        },
        Repeated {
            what: "links of tasks",
            count: 150,
            files: |count| note("- [ ] [[b]]\n".repeat(count)),
            tool: "query",
            given: |_| dql("TASK WHERE outlinks"),
        },
        Repeated {
            what: "fields of one task",
            count: 150,
            files: |count| note(format!("- [ ] t {}\n", lines(count, |at| format!("[a{at}:: 1] ")))),
            tool: "query",
            given: |_| dql("TASK"),
        },
        Repeated {
            what: "names of a page",
            count: 300,
            files: |count| note(lines(count, |at| format!("F A{}:: 1\n", at % 60))),
            tool: "query",
            given: |_| dql("TABLE f-a1"),
        },
        Repeated {
            what: "operators",
            count: 1_000,
            files: nothing,
            tool: "query",
            given: |count| dql(&format!("TABLE {} AS x", vec!["1"; count].join(" + "))),
        },
        Repeated {
            what: "links of a moved note",
            count: 300,
            files: |count| vec![("a.md".to_owned(), "x".to_owned()), ("b.md".to_owned(), "[[a]] ".repeat(count))],
            tool: "file_move",
            given: |_| json!({ "from": "a.md", "to": "c.md", "dry_run": true }),
        },
        Repeated {
            what: "formulas that name a moved note",
            count: 60,
            files: |count| {
                let base = format!("formulas:\n{}", lines(count, |at| format!("  f{at}: link(\"a\")\n")));
                vec![("a.md".to_owned(), "x".to_owned()), ("b.base".to_owned(), base)]
            },
            tool: "file_move",
            given: |_| json!({ "from": "a.md", "to": "c.md", "dry_run": true }),
        },
        Repeated {
            what: "conditions of a rule",
            count: 300,
            files: nothing,
            tool: "obsidian_search_notes",
            given: |count| {
                let one = |at: usize| json!({ "!=": [{ "var": "path" }, at] });
                json!({ "mode": "jsonlogic", "logic": { "and": (0..count).map(one).collect::<Vec<_>>() } })
            },
        },
    ]
}

/// How a call ends, and its work: so few files need one thread.
fn work(files: &[(String, String)], tool: &str, given: Value) -> (Outcome, u64) {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&path[..], &text[..])).collect();
    let server = TestServer::new(&files);
    // The vault is known, so that only the work of the call is counted.
    server.done("links_get", json!({ "file": files[0].0 }));
    let cancel = Cancel::after(Duration::from_secs(600));
    let (outcome, steps) = steps_of(|| server.executor.run(&server.invocation(tool, given), &cancel));
    (outcome, steps)
}

#[test]
fn four_times_as_much_of_anything_is_no_more_than_five_times_the_work() {
    for Repeated { what, count, files, tool, given } in repeated() {
        let run = |count: usize| {
            let (outcome, work) = work(&files(count), tool, given(count));
            assert!(matches!(outcome, Outcome::Answered(_)), "{what}: {:?}", outcome.rendered());
            work
        };
        // What every call costs is not of the element.
        let (least, few, many) = (run(1), run(count), run(4 * count));
        let (few, many) = (few.saturating_sub(least), many.saturating_sub(least));
        println!("{what}: {few}, {many}");
        assert!(few >= 300, "{what}: {few} steps are not worth a test");
        assert!(many <= 5 * few, "{what}: {few} steps, and {many} for four times as many");
    }
}

#[test]
fn more_than_anyone_needs_is_refused_with_the_limit() {
    let server = TestServer::new(&[("a.md", "# A\n"), ("x.base", "views:\n  - type: table\n    name: A\n")]);
    let words = |count: usize| (0..count).map(|at| format!("w{at}")).collect::<Vec<_>>().join(" OR ");
    let formulas = |count: usize| (0..count).map(|at| (format!("f{at}"), json!("1"))).collect::<Map<_, _>>();
    let columns = format!("    order:\n{}", lines(2_000, |at| format!("      - c{at}\n")));
    for (tool, given, kind, limit) in [
        (
            "base_create",
            json!({ "file": "y.base", "formulas": formulas(1_001) }),
            ReasonKind::InvalidArguments,
            "1001 entries, more than the limit of 1000",
        ),
        (
            "base_update",
            json!({ "file": "x.base", "formulas": formulas(201) }),
            ReasonKind::InvalidArguments,
            "201 parts of the base, more than the limit of 200",
        ),
        ("query", base(&columns), ReasonKind::QueryInvalid, "2000 entries, more than the limit of 1000"),
        (
            "obsidian_search_notes",
            json!({ "mode": "text", "query": words(2_000) }),
            ReasonKind::InvalidArguments,
            "more than the limit of 2000",
        ),
        ("find_tool", json!({ "query": words(2_000) }), ReasonKind::InvalidArguments, "more than the limit of 2000"),
    ] {
        let reason = server.refused(tool, given);
        assert_eq!(reason.kind(), kind, "{tool}: {reason}");
        assert!(reason.to_string().contains(limit), "{tool}: {reason}");
    }
    assert_eq!(server.text("x.base"), "views:\n  - type: table\n    name: A\n");
}
