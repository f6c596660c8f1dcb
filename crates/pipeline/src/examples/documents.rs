//! Office documents that are made of notes, rows and templates, and read back.

use base64::{Engine, prelude::BASE64_STANDARD};
use lapidary_tools::{Effect, Reason, ReasonKind};
use lapidary_vault::VaultPath;
use serde_json::{Value, json};

use crate::{
    ApprovalRule, Outcome, RuleDecision,
    testing::{TestServer, TestSetup, granted},
};

/// One grey pixel.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==";

/// The text of a document as the tool for reading gives it.
fn text_of(server: &TestServer, path: &str) -> String {
    let read = server.done("attachment_read", json!({ "path": path }));
    let parts = read["document"]["parts"].as_array().unwrap().iter();
    parts.map(|part| part["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n---\n")
}

fn make(server: &TestServer, call: Value) -> Value {
    server.done("document_create", call)
}

const STONES: &str = "---\ntitle: All stones\nauthor: Ada\ntags: [slate]\nclient: Jet & Co\n---\n# Stones\n\nThey **last** %%not here%% [[Jet|a while]].\n\n- one\n  - two\n- [x] done\n\n## Weights\n\n| Name | Weight | Found |\n|---|---|---|\n| Slate | 2.5 | 2026-04-15 |\n| =Jet | 3 | 2026-05-01 |\n\n![[Part]] ![[dot.png]] ![[Gone]]\n";

fn stones() -> TestServer {
    let files: &[(&str, &str)] = &[("Stones.md", STONES), ("Part.md", "An *embedded* part.\n")];
    let server = TestServer::new(files);
    server.done("attachment_add", json!({ "name": "dot.png", "data": DOT }));
    server
}

#[test]
fn a_note_becomes_a_document_that_says_the_same() {
    let server = stones();
    let made = make(&server, json!({ "path": "Out/Stones.docx", "note": "Stones" }));
    assert_eq!(made["title"], "All stones");
    assert_eq!(made["headings"], json!(["Stones", "Weights"]));
    assert_eq!(made["notice"], "Left out, because there is nothing to show for them: `![[Gone]]`.");
    let text = text_of(&server, "Out/Stones.docx");
    for expected in
        ["# Stones", "They last", "a while.", "- one", "done", "| Slate | 2.5 | 2026-04-15 |", "An embedded part."]
    {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("not here") && !text.contains("client"), "{text}");
    let read = server.done("attachment_read", json!({ "path": "Out/Stones.docx" }));
    assert_eq!((&read["document"]["title"], &read["document"]["author"]), (&json!("All stones"), &json!("Ada")));
    // It is a change like any other.
    assert_eq!(
        server.refused("document_create", json!({ "path": "Out/Stones.docx", "note": "Stones" })).kind(),
        ReasonKind::FileExists
    );
    let same = make(
        &server,
        json!({ "path": "Out/Stones.docx", "note": "Stones", "overwrite": true, "expectedHash": made["contentHash"] }),
    );
    assert_eq!((&same["contentHash"], &same["created"]), (&made["contentHash"], &json!(false)));
    let stale = json!({ "path": "Out/Stones.docx", "note": "Part", "overwrite": true, "expectedHash": format!("sha256:{}", "0".repeat(64)) });
    assert_eq!(server.refused("document_create", stale).kind(), ReasonKind::StalePrecondition);
    make(&server, json!({ "path": "Two.docx", "content": "two\n" }));
    server.done("undo", json!({}));
    assert_eq!(server.refused("attachment_read", json!({ "path": "Two.docx" })).kind(), ReasonKind::NoteMissing);
}

#[test]
fn a_note_becomes_slides_and_its_tables_a_workbook() {
    let server = stones();
    let made = make(&server, json!({ "path": "Stones.pptx", "note": "Stones" }));
    assert_eq!(made["slides"], 3);
    let text = text_of(&server, "Stones.pptx");
    for expected in ["Stones", "one", "two", "Weights", "Slate", "An embedded part."] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let made = make(&server, json!({ "path": "Stones.xlsx", "note": "Stones" }));
    assert_eq!(made["sheets"], json!([{ "name": "Weights", "rows": 2, "columns": 3 }]));
    assert_eq!(text_of(&server, "Stones.xlsx"), "Name\tWeight\tFound\nSlate\t2.5\t2026-04-15\n=Jet\t3\t2026-05-01");
    let refused = server.refused("document_create", json!({ "path": "Part.xlsx", "note": "Part" }));
    assert!(refused.to_string().contains("no table"), "{refused}");
}

#[test]
fn rows_come_from_queries_bases_files_and_callers() {
    let files: &[(&str, &str)] = &[
        ("a.md", "---\nrating: 9\nread: 2026-01-02\n---\n- [ ] Call\n"),
        ("b.md", "---\nrating: 7.5\nok: true\n---\n"),
        (
            "Best.base",
            "filters: rating > 8\nviews:\n  - type: table\n    name: Best\n    order: [file.name, rating, read]\n",
        ),
        ("prices.csv", "stone;price\nSlate;007\nJet;2.5\n"),
    ];
    let server = TestServer::new(files);
    for (call, expected) in [
        (
            json!({ "query": "TABLE rating, read FROM \"\" WHERE rating SORT rating" }),
            "File\trating\tread\nb\t7.5\na\t9\t2026-01-02",
        ),
        (json!({ "query": "Best.base" }), "file name\trating\tread\na\t9\t2026-01-02"),
        (json!({ "query": "Best.base", "view": "Best" }), "file name\trating\tread\na\t9\t2026-01-02"),
        (json!({ "query": "TASK" }), "status\ttext\tpath\tline\nCall\ta.md\t4"),
        (json!({ "note": "prices.csv" }), "stone\tprice\nSlate\t007\nJet\t2.5"),
        (json!({ "rows": [{ "a": 1, "b": "2026-04-15" }, { "c": [1, "x"] }] }), "a\tb\tc\n1\t2026-04-15\n1, x"),
        (json!({ "rows": [["a", "b"], [true, null], ["=x", 1e300]] }), "a\tb\nTRUE\n=x\t1"),
    ] {
        let mut call = call;
        call["path"] = json!("Rows.xlsx");
        call["overwrite"] = json!(true);
        make(&server, call.clone());
        let text = text_of(&server, "Rows.xlsx");
        assert!(text.starts_with(expected), "{call}: {text:?}");
    }
    // As a table in the other formats.
    make(&server, json!({ "path": "Rows.docx", "query": "TABLE rating WHERE rating" }));
    assert!(text_of(&server, "Rows.docx").contains("| a | 9 |"));
    assert_eq!(
        server.refused("document_create", json!({ "path": "x.xlsx", "query": "TABLE x FRM #a" })).kind(),
        ReasonKind::QueryInvalid
    );
    assert_eq!(
        server.refused("document_create", json!({ "path": "x.xlsx", "query": "Best.base", "view": "No" })).kind(),
        ReasonKind::ViewUnknown
    );
}

#[test]
fn a_template_keeps_its_look_and_gets_the_values() {
    let server = stones();
    let template = "# {{title}}\n\nFor {{cl**ie**nt}}, {{date:YYYY}}, {{unknown}}\n\n{{content}}\n\n| Stone |\n|---|\n| {{rows.stone}} |\n";
    make(&server, json!({ "path": "Letter.docx", "content": template }));
    let rows = json!([{ "stone": "Amber {{title}}" }, { "stone": "Opal" }]);
    let made =
        make(&server, json!({ "path": "Filled.docx", "note": "Stones", "rows": rows, "template": "Letter.docx" }));
    let notice = made["notice"].as_str().unwrap();
    assert!(notice.contains("unknown"), "{notice}");
    let text = text_of(&server, "Filled.docx");
    for expected in ["# All stones", "For Jet & Co, 2026, {{unknown}}", "## Weights", "| Amber {{title}} |", "| Opal |"]
    {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    make(&server, json!({ "path": "Bill.xlsx", "rows": [["{{title}}", "x"], ["{{rows.stone}}", "{{rows.price}}"]] }));
    let rows = json!([{ "stone": "Opal", "price": 3 }, { "stone": "Jet", "price": 4.5 }]);
    let made = make(&server, json!({ "path": "Filled.xlsx", "rows": rows, "title": "Bill", "template": "Bill.xlsx" }));
    assert_eq!((&made["filled"], &made["rows"]), (&json!(5), &json!(2)));
    assert_eq!(text_of(&server, "Filled.xlsx"), "Bill\tx\nOpal\t3\nJet\t4.5");
    make(
        &server,
        json!({ "path": "Deck.pptx", "content": "# {{title}}\n\nby {{author}}\n\n## {{slide.title}}\n\n{{content}}\n" }),
    );
    let made = make(&server, json!({ "path": "Filled.pptx", "note": "Stones", "template": "Deck.pptx" }));
    assert_eq!(made["slides"], 4);
    let text = text_of(&server, "Filled.pptx");
    for expected in ["All stones", "by Ada", "Weights", "two"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn an_answer_says_what_has_no_place_in_a_template() {
    let server = stones();
    make(
        &server,
        json!({ "path": "Deck.pptx", "content": "# {{title}}\n\nby {{author}}\n\n## Topic\n\nOn: {{content}}\n" }),
    );
    let call = json!({ "path": "Filled.pptx", "note": "Stones", "rows": [{ "a": 1 }], "template": "Deck.pptx" });
    let shown = server.call("document_create", call).rendered().unwrap();
    let answer: Value = serde_json::from_str(shown.structured()).unwrap();
    assert_eq!((&answer["slides"], &answer["filled"], &answer["rows"]), (&json!(2), &json!(2), &json!(0)));
    let notice = answer["notice"].as_str().unwrap();
    for expected in ["left as they are: `content`.", "must be a whole paragraph", "The rows have no place"] {
        assert!(notice.contains(expected), "{expected} in {notice}");
    }
    let text = shown.text().concat();
    assert!(text.contains(": 2 slides, 2 placeholders filled, 0 rows"), "{text}");
    make(&server, json!({ "path": "Bill.xlsx", "rows": [["{{title}}"], ["{{rows.a}}"]] }));
    let none = json!({ "path": "Filled.xlsx", "query": "TABLE a WHERE none", "template": "Bill.xlsx" });
    let made = make(&server, none);
    assert_eq!((&made["rows"], &made["notice"]), (&json!(0), &Value::Null));
}

#[test]
fn arguments_that_do_not_fit_are_refused_with_the_next_step() {
    let server = TestServer::new(&[("a.md", "text\n"), ("b.docm", "x"), ("b.docx", "x"), ("c.base", "views: []\n")]);
    for (call, says) in [
        (json!({ "path": "a.pdf", "note": "a" }), ".docx"),
        (json!({ "path": "a.docm", "note": "a" }), ".docx"),
        (json!({ "path": "x.docx" }), "`content`"),
        (json!({ "path": "x.docx", "note": "a", "content": "b" }), "beside `note`"),
        (json!({ "path": "x.docx", "rows": [{}], "query": "LIST" }), "beside `query`"),
        (json!({ "path": "x.docx", "note": "a", "rows": [{ "a": 1 }] }), "`template`"),
        (json!({ "path": "x.docx", "note": "a", "view": "V" }), "`query`"),
        (json!({ "path": "x.docx", "note": "c.base" }), "`query`"),
        (json!({ "path": "x.xlsx", "rows": [] }), "names of the columns"),
        (json!({ "path": "x.xlsx", "rows": [1] }), "names of the columns"),
        (json!({ "path": "x.pptx", "note": "a", "template": "b.docx" }), ".pptx"),
    ] {
        let refused = server.refused("document_create", call.clone());
        assert_eq!(refused.kind(), ReasonKind::InvalidArguments, "{call}: {refused}");
        let said = format!("{refused} {:?}", refused.data());
        assert!(said.contains(says), "{call}: {said}");
    }
    for template in ["b.docm", "b.docx"] {
        let refused = server.refused("document_create", json!({ "path": "x.docx", "note": "a", "template": template }));
        assert_eq!(refused.kind(), ReasonKind::TemplateRefused, "{template}: {refused}");
    }
    assert_eq!(
        server.refused("document_create", json!({ "path": "x.docx", "note": "no" })).kind(),
        ReasonKind::NoteMissing
    );
}

#[test]
fn what_a_caller_may_not_read_is_as_if_it_did_not_exist() {
    let note = "# A\n\n![[Secret]] ![[Hidden/Secret.md]] ![[Hidden/dot.png]] ![[Secret#Part]] [[Secret]]\n";
    let answer = |hidden: &[(&str, &str)]| {
        let files = [&[("Open/a.md", note), ("Open/t.md", "x")], hidden].concat();
        let server = TestServer::new(&files);
        let caller = server.principal_with(granted(&["Open"]));
        let mut said = Vec::new();
        for path in ["Open/a.docx", "Open/a.pptx"] {
            let outcome = server.call_as(&caller, "document_create", json!({ "path": path, "note": "Open/a.md" }));
            said.push(outcome.rendered().unwrap().structured().to_owned());
        }
        for (argument, value) in [("template", "Hidden/Secret.docx"), ("template", "Secret.docx")] {
            let mut call = json!({ "path": "Open/b.docx", "note": "Open/a.md" });
            call[argument] = json!(value);
            said.push(server.call_as(&caller, "document_create", call).rendered().unwrap().structured().to_owned());
        }
        said
    };
    let dot = String::from_utf8_lossy(&BASE64_STANDARD.decode(DOT).unwrap()).into_owned();
    let hidden = answer(&[
        ("Hidden/Secret.md", "# Part\n\nthe secret\n"),
        ("Hidden/dot.png", &dot),
        ("Hidden/Secret.docx", "PK"),
    ]);
    assert_eq!(hidden, answer(&[]));
    assert!(hidden[0].contains("Secret"), "{}", hidden[0]);
    // A file outside of its folders is not written either.
    let server = TestServer::new(&[("Open/a.md", note)]);
    let caller = server.principal_with(granted(&["Open"]));
    let outside = server.call_as(&caller, "document_create", json!({ "path": "Hidden/a.docx", "note": "Open/a.md" }));
    assert!(outside.rendered().unwrap().structured().contains("path_forbidden"));
}

#[test]
fn a_document_larger_than_a_file_may_be_is_refused() {
    let server = TestSetup { max_file_bytes: 2_000, ..TestSetup::default() }.serve(&[("a.md", "text\n")]);
    let refused = server.refused("document_create", json!({ "path": "a.docx", "note": "a" }));
    assert_eq!(refused.kind(), ReasonKind::FileTooLarge, "{refused}");
}

#[test]
fn a_person_sees_what_is_in_a_document_before_it_is_made() {
    let note = "# Stones\n\nThey last.\n\n## Slate\n\n| Name | Weight |\n|---|---|\n| Slate | 2.5 |\n";
    let content = "# Talk\n\nRoofs\n\n## Why `it` lasts\n\n- slate\n";
    let calls = [
        (json!({ "path": "Stones.docx", "note": "Stones" }), vec!["DOCX, ", "# Stones", "## Slate"]),
        (json!({ "path": "Stones.xlsx", "note": "Stones" }), vec!["XLSX, ", "sheet Slate: 2 rows × 2 columns"]),
        (json!({ "path": "Talk.pptx", "content": content }), vec!["PPTX, ", "slide 1: Talk", "slide 2: Why it lasts"]),
    ];
    let rules = || vec![ApprovalRule::effect(Effect::Write, RuleDecision::Ask)];
    let asking = TestSetup { rules: rules(), can_be_asked: true, ..TestSetup::default() }.serve(&[("Stones.md", note)]);
    let waits = TestSetup { rules: rules(), waits_for_approval: true, ..TestSetup::default() };
    let waits = waits.serve(&[("Stones.md", note)]);
    for (call, expected) in calls {
        let Outcome::Asked(question) = asking.call("document_create", call.clone()) else { panic!("no question") };
        let mut dry = call.clone();
        dry["dryRun"] = json!(true);
        let shown = asking.done("document_create", dry)["diff"].as_str().unwrap().to_owned();
        for part in expected {
            assert!(question.message.contains(part) && shown.contains(part), "{part}: {}\n{shown}", question.message);
        }
        assert!(!question.message.contains('\u{fffd}') && !question.message.contains("PK"), "{}", question.message);
        waits.refused("document_create", call.clone());
        let pending = waits.executor.pending().unwrap();
        let pending = pending.iter().find(|pending| pending.question.contains(call["path"].as_str().unwrap())).unwrap();
        let preview = waits.executor.preview(pending).unwrap();
        assert!(!preview.outline_of(preview.changes.changes[0].path()).is_empty());
    }
}

#[test]
fn dates_and_moments_of_queries_and_rows_are_values_of_a_workbook() {
    let server =
        TestServer::new(&[("a.md", "---\nday: 2026-04-15\nat: 2026-04-15T12:00:00\nnumber: 3\nyes: true\n---\n")]);
    let rows = json!([{ "day": "2026-04-15", "at": "2026-04-15T12:00:00.250Z", "number": 3, "yes": true }]);
    for call in [
        json!({ "path": "Query.xlsx", "query": "TABLE WITHOUT ID day, at, number, yes" }),
        json!({ "path": "Rows.xlsx", "rows": rows }),
    ] {
        make(&server, call.clone());
        let bytes = server.store.bytes(&VaultPath::parse(call["path"].as_str().unwrap()).unwrap()).unwrap();
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let sheet = std::io::read_to_string(archive.by_name("xl/worksheets/sheet1.xml").unwrap()).unwrap();
        for cell in [
            "<c r=\"A2\" s=\"2\"><v>46127</v></c>",
            "<c r=\"B2\" s=\"3\"><v>46127.5</v></c>",
            "<c r=\"C2\"><v>3</v></c>",
            "<c r=\"D2\" t=\"b\"><v>1</v></c>",
        ] {
            assert!(sheet.contains(cell), "{cell}: {sheet}");
        }
    }
}

#[test]
fn an_answer_says_which_sheet_has_which_name() {
    let long = "Everything that was ever found below the roof";
    let table = "| a |\n|---|\n| 1 |\n";
    let note = format!("# Prices: 2026/27\n\n{table}\n## {long}\n\n{table}\n## Plain\n\n{table}\nand\n\n{table}");
    let server = TestServer::new(&[("n.md", &note)]);
    let made = make(&server, json!({ "path": "n.xlsx", "note": "n.md" }));
    let sheets: Vec<(&str, Option<&str>)> = made["sheets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sheet| (sheet["name"].as_str().unwrap(), sheet["wanted"].as_str()))
        .collect();
    let expected = [
        ("Prices 2026 27", Some("Prices: 2026/27")),
        ("Everything that was ever found", Some(long)),
        ("Plain", None),
        ("Plain 2", Some("Plain")),
    ];
    assert_eq!(sheets, expected);
    let text = text_of(&server, "n.xlsx");
    assert!(!text.is_empty());
    let shown = server.call("document_create", json!({ "path": "m.xlsx", "note": "n.md" })).rendered().unwrap();
    assert!(shown.text().concat().contains("- `Plain 2` (for `Plain`): 1 row"), "{}", shown.text().concat());
}

#[test]
fn rows_of_which_few_are_long_are_refused_from_every_source() {
    let csv = format!("{}\n{}", ",".repeat(9_999), "x\n".repeat(10_000));
    let server = TestServer::new(&[("x.csv", csv.as_str())]);
    let rows: Vec<Value> = std::iter::once(json!(vec!["a"; 10_000])).chain((0..10_000).map(|_| json!(["x"]))).collect();
    let objects: Vec<Value> = (0..4_000).map(|name| json!({ name.to_string(): 1 })).collect();
    let numbers = (0..60).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let columns = (0..80).map(|number| format!("a AS \"{number}\"")).collect::<Vec<_>>().join(", ");
    let query = format!("TABLE {columns} FLATTEN [{numbers}] AS a FLATTEN [{numbers}] AS b");
    let server_of_notes = TestServer::new(&[("a.md", "a\n")]);
    for (server, source, value) in [
        (&server, "note", json!("x.csv")),
        (&server, "rows", json!(rows)),
        (&server, "rows", json!(objects)),
        (&server_of_notes, "query", json!(query)),
    ] {
        for path in ["a.docx", "a.pptx", "a.xlsx"] {
            if source == "query" && path == "a.xlsx" {
                continue;
            }
            let refused = server.refused("document_create", json!({ "path": path, source: value }));
            let (kind, said) = (refused.kind(), refused.to_string());
            assert_eq!(kind, ReasonKind::InvalidArguments, "{said}");
            assert!(said.starts_with(&format!("Invalid arguments: `{source}` makes a table of ")), "{path}: {said}");
        }
    }
    // As many as there may be are written.
    let rows: Vec<Value> = (0..2_000).map(|_| json!(["x", 1, true])).collect();
    make(&server, json!({ "path": "a.xlsx", "rows": rows }));
}

#[test]
fn what_a_document_would_have_too_much_of_is_named() {
    let server = TestServer::new(&[("a.md", "text\n")]);
    let wide = format!("|{}\n|{}\n", "a|".repeat(70), "-|".repeat(70));
    let tables = "| a |\n|---|\n\n".repeat(251);
    for (path, content, says) in [
        ("a.pptx", "a\n\n---\n\n".repeat(1_001), "the document would have more than 1000 slides."),
        ("a.xlsx", tables, "the document would have more than 250 sheets."),
        ("a.docx", wide, "a table would have more than 63 columns: leave some out, or choose `.xlsx`."),
        ("a.docx", "x".repeat((16 << 20) + 1), "`content` has, with what it embeds, more than 16777216 bytes."),
    ] {
        let refused = server.refused("document_create", json!({ "path": path, "content": content }));
        assert_eq!(refused.to_string(), format!("Invalid arguments: {says}"));
    }
}

#[test]
fn what_a_document_is_made_of_is_charged() {
    let content = "*a* ".repeat(30_000);
    let csv = "1,2,3,4\n".repeat(20_000);
    let rows: Vec<Value> = (0..20_000).map(|_| json!([1, 2, 3, 4])).collect();
    let files = [("a.md", "a\n"), ("x.csv", csv.as_str())];
    let small = TestSetup { memory_bytes: 12 << 20, ..TestSetup::default() }.serve(&files);
    let large = TestServer::new(&files);
    for call in [
        json!({ "path": "a.docx", "content": content }),
        json!({ "path": "a.pptx", "content": content }),
        json!({ "path": "a.xlsx", "note": "x.csv" }),
        json!({ "path": "a.docx", "note": "x.csv" }),
        json!({ "path": "a.xlsx", "rows": rows }),
    ] {
        let refused = small.refused("document_create", call.clone());
        assert!(matches!(refused, Reason::MemoryExceeded { .. }), "{}: {refused}", call["path"]);
    }
    small.done("file_read", json!({ "file": "a.md" }));
    make(&large, json!({ "path": "a.docx", "content": content }));
    make(&large, json!({ "path": "a.xlsx", "note": "x.csv" }));
}

#[test]
fn results_of_queries_in_a_note_are_whole_and_what_is_missing_is_said() {
    let numbers = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let query = |first: usize, second: usize| {
        format!(
            "```dataview\nTABLE WITHOUT ID a, b, \"a text that is as long as others\" AS t FROM \"a\" FLATTEN [{}] AS a FLATTEN [{}] AS b\n```\n",
            numbers(first),
            numbers(second)
        )
    };
    let base = "```base\nviews:\n  - type: table\n    name: A\n    order: [file.name, number]\n    summaries:\n      number: Sum\n```\n";
    let files = [
        ("a.md", "---\nnumber: 2\n---\n"),
        ("Whole.md", &format!("# Whole\n\n{}", query(20, 50))),
        ("Cut.md", &format!("# Cut\n\n{}", query(150, 140))),
        ("Embeds.md", "![[Cut]]\n"),
        ("Base.md", base),
    ];
    let server = TestServer::new(&files.map(|(path, text)| (path, text as &str)));
    let made = make(&server, json!({ "path": "a.xlsx", "note": "Whole" }));
    assert_eq!((&made["sheets"][0]["rows"], &made["notice"]), (&json!(1_000), &Value::Null));
    for note in ["Cut", "Embeds"] {
        let made = make(&server, json!({ "path": format!("{note}.xlsx"), "note": note }));
        assert_eq!(made["sheets"][0]["rows"], 20_000);
        assert_eq!(made["notice"], "Rows of query results that are not in it: 1000.");
    }
    // The sum below the table is not a row of it.
    let made = make(&server, json!({ "path": "Base.xlsx", "note": "Base" }));
    let made_rows = made["sheets"][0]["rows"].as_u64().unwrap();
    let text = text_of(&server, "Base.xlsx");
    assert!(made_rows >= 5 && !text.contains("Sum"), "{text}");
    make(&server, json!({ "path": "Base.docx", "note": "Base" }));
    assert!(text_of(&server, "Base.docx").contains("Sum: 2"));
}

#[test]
fn what_could_not_be_shown_is_named() {
    let server = stones();
    let made = make(&server, json!({ "path": "a.docx", "content": "a[^1]\n\n[^1]: ![[dot.png]]\n" }));
    assert_eq!(made["notice"], "Pictures that have no place where the note has them: 1.");
    let made =
        make(&server, json!({ "path": "a.pptx", "content": "# T ![[dot.png]]\n\n| a |\n|---|\n| ![[dot.png]] |\n" }));
    assert_eq!(made["notice"], "Pictures that have no place where the note has them: 1.");
    let made = make(&server, json!({ "path": "a.xlsx", "rows": [["a"], ["x".repeat(40_000)]] }));
    assert_eq!(made["notice"], "Texts cut because a cell has at most 32767 characters: 1.");
}
