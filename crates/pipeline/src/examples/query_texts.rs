//! Results of queries as text: what a value may not do there.

use serde_json::json;

use crate::testing::TestServer;

/// Begins a line in every value below, by each character that ends one.
const PLANTED: &str = "PLANTED";

fn planted_vault() -> TestServer {
    let value = "\"x\\nPLANTED\\r\\nPLANTED\\rPLANTED\\LPLANTED\\PPLANTED\\NPLANTED\\fPLANTED\\vPLANTED\"";
    let note = format!(
        "---\ntext: {value}\nlist: [{value}, [{value}]]\nobject: {{{value}: {value}}}\nlink: \"[[B|y\\nPLANTED]]\"\nday: 2026-01-02\n---\n\
         - [ ] one\r  PLANTED\n  PLANTED\n  - [x] two\u{2028}PLANTED\n\
         > see `= this.text` and `= this.list` and ![[All.base]]\n\n\
         > ```dataview\n> LIST text\n> ```\n"
    );
    let base = format!(
        "formulas:\n  f: note.text\nproperties:\n  note.text: {{displayName: {value}}}\nviews:\n  - type: table\n    name: A\n    groupBy: {{property: note.text, direction: ASC}}\n    order: [file.name, note.text, note.list, note.object, formula.f]\n"
    );
    TestServer::new(&[("A.md", &note), ("B.md", ""), ("All.base", &base)])
}

#[test]
fn no_value_begins_a_line_in_any_rendering() {
    let server = planted_vault();
    let queries = [
        "LIST text",
        "LIST WITHOUT ID text",
        "LIST list",
        "LIST object",
        "LIST WITHOUT ID object",
        "LIST link",
        "LIST rows.text GROUP BY text",
        "LIST rows.list GROUP BY object",
        "TABLE text, list, object, link",
        "TABLE text AS \"h\nPLANTED\"",
        "TABLE WITHOUT ID rows.text GROUP BY list",
        "TASK",
        "TASK GROUP BY text",
        "TASK FLATTEN text AS visual",
        "CALENDAR day",
        "All.base",
    ];
    let texts = queries.map(|query| {
        let reply = server.done("query", json!({ "query": query, "format": "md" }));
        (query, reply["text"].as_str().unwrap().to_owned())
    });
    let read = json!({ "format": "content", "target": { "type": "path", "path": "A.md" }, "renderQueries": true });
    let rendered = server.done("obsidian_get_note", read)["result"]["content"].as_str().unwrap().to_owned();
    let rendered = rendered.split_once("> see ").unwrap().1.to_owned();
    assert!(rendered.split_inclusive('\n').all(|line| line == "\n" || line.starts_with(['>', '`', 'x'])), "{rendered}");
    for (query, text) in texts.into_iter().chain([("renderQueries", rendered)]) {
        let ends_line = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
        let begins = text.split(ends_line).find(|line| line.trim_start_matches([' ', '>', '|']).starts_with(PLANTED));
        assert_eq!(begins, None, "{query}\n{text}");
        assert!(query.contains("CALENDAR") || text.contains(PLANTED), "{query}: nothing was tried\n{text}");
    }
}

#[test]
fn no_cell_of_a_csv_file_is_a_formula() {
    let notes = [
        ("A.md", "---\ntext: \"=1+1\"\nnumber: -5\n\"@name\": \"+cmd\"\n---\n- [ ] =task\n- [-] +other\n"),
        (
            "All.base",
            "views:\n  - type: table\n    name: A\n    order: [file.name, note.text, note.number, \"note.@name\"]\n",
        ),
    ];
    let server = TestServer::new(&notes);
    for (query, expected) in [
        ("TABLE WITHOUT ID text AS \"-a\", number AS \"b\" FROM \"A\"", "'-a,b\r\n'=1+1,-5\r\n"),
        ("LIST text FROM \"A\"", "File,Value\r\n[[A.md|A]],'=1+1\r\n"),
        ("LIST number FROM \"A\"", "File,Value\r\n[[A.md|A]],-5\r\n"),
        ("TASK", "status,text,path,line\r\n ,'=task,A.md,5\r\n'-,'+other,A.md,6\r\n"),
        ("All.base", "file name,text,number,'@name\r\nA,'=1+1,-5,'+cmd\r\nAll.base,,,\r\n"),
    ] {
        let reply = server.done("query", json!({ "query": query, "format": "csv" }));
        assert_eq!(reply["text"], expected, "{query}");
    }
}
