//! No text crashes the Dataview parser, no query its evaluator, and what is spelled from a tree is read as that tree.

use bolero::check;
use jiff::{Timestamp, tz::TimeZone};
use lapidary_dataview::{DqlExpression, DqlQuery, DqlWriter, field_tree};
use lapidary_query::{DataviewSettings, QueryContext, QueryLimits, testing::PlainVault};
use serde_json::{Value as Json, json};

/// A vault with one table and no notes: its rows go through all clauses.
fn vault() -> PlainVault {
    PlainVault::of(&[("t", "a,b,c\n1,x,2020-01-02\n2.5,,\"[[l]]\"\n-3,y é,3 days\n")])
}

const PIECES: [&str; 96] = [
    "a",
    "b",
    "c",
    "this",
    "row.a",
    "rows",
    "key",
    "file.name",
    " ",
    ", ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "x: ",
    "[[l]]",
    "![[l#h|d]]",
    "\"s\"",
    "\"\\w+\"",
    "\"(a|b)*c\"",
    "\"石💎\"",
    "1",
    "0",
    "-2.5",
    "1000000000",
    "true",
    "null",
    ".x",
    "[0]",
    " + ",
    " - ",
    " * ",
    " / ",
    " % ",
    " = ",
    " != ",
    " < ",
    " >= ",
    "!",
    " and ",
    " or ",
    "(x) => ",
    "(x, y) => ",
    "x",
    "y",
    "date(today)",
    "date(2020-02-29)",
    "date(\"2020-01-01T10:00:00+05:30\")",
    "dur(3 days)",
    "dur(\"1 month, 2 s\")",
    "length(",
    "contains(",
    "split(",
    "regexreplace(",
    "regextest(",
    "join(",
    "map(",
    "filter(",
    "sort(",
    "unique(",
    "reduce(",
    "flat(",
    "slice(",
    "padleft(",
    "truncate(",
    "substring(",
    "replace(",
    "round(",
    "min(",
    "max(",
    "sum(",
    "average(",
    "string(",
    "display(",
    "dateformat(",
    "durationformat(",
    "currencyformat(",
    "hash(",
    "extract(",
    "meta(",
    "typeof(",
    "default(",
    "choice(",
    "number(",
    "link(",
    "elink(",
    "striptime(",
    "list(",
    "object(",
    "minby(",
    "any(",
    "\n",
    "// c\n",
    "é",
];

const CLAUSES: [&str; 14] = [
    "WHERE ",
    "SORT ",
    "SORT b DESC, ",
    "LIMIT ",
    "GROUP BY ",
    "GROUP BY a AS g ",
    "FLATTEN ",
    "FLATTEN c AS c ",
    "FROM #t ",
    "FLATTEN rows AS r ",
    "LIMIT 0 - 1 ",
    "WHERE a ",
    "GROUP BY b ",
    "SORT a ",
];

const HEADS: [&str; 8] = [
    "LIST ",
    "TABLE ",
    "TABLE WITHOUT ID ",
    "TASK",
    "CALENDAR ",
    "LIST WITHOUT ID ",
    "TABLE a, b AS \"B\", ",
    "LIST rows ",
];

fn context() -> QueryContext<'static> {
    let limits = QueryLimits { steps: 200_000, bytes: 4 << 20, depth: 32 };
    QueryContext::new(Timestamp::UNIX_EPOCH, TimeZone::UTC, &|| true).with_limits(limits)
}

/// A text that bytes spell: pieces for most of them, the byte itself for some.
fn spelled(bytes: &[u8]) -> String {
    let mut text = String::new();
    for pair in bytes.chunks(2) {
        match pair {
            [0..=15, byte] => text.push(char::from(*byte)),
            [_, byte] => text += PIECES[usize::from(*byte) % PIECES.len()],
            _ => {}
        }
    }
    text
}

#[test]
fn no_query_crashes_the_parser_or_the_evaluator() {
    let (settings, vault) = (DataviewSettings::default(), vault());
    check!().for_each(|bytes: &[u8]| {
        let (head, rest) = bytes.split_at(bytes.len().min(3));
        let choice = |at: usize| usize::from(head.get(at).copied().unwrap_or_default());
        let text = spelled(rest);
        let (columns, condition) = text.split_at(text.floor_char_boundary(text.len() / 2));
        let query = format!(
            "{}{columns} FROM csv(\"t\") {}{condition}",
            HEADS[choice(0) % HEADS.len()],
            CLAUSES[choice(1) % CLAUSES.len()]
        );
        for query in [query, text.clone(), format!("LIST {text}")] {
            let Ok(query) = DqlQuery::parse(&query) else { continue };
            let answer = query.run(&vault, &context());
            assert_eq!(answer, query.run(&vault, &context()), "the same again");
            if let Ok(answer) = answer {
                let writer = DqlWriter::new(&settings, TimeZone::UTC);
                assert!(writer.markdown(&answer.result).is_ok() || answer.result.kind() == "calendar");
                answer.result.to_json();
            }
        }
        if let Ok(expression) = DqlExpression::parse(&text) {
            let value = expression.evaluate(&vault, &context());
            if let Ok(value) = value {
                DqlWriter::new(&settings, TimeZone::UTC).inline_text(&value);
            }
        }
    });
}

/// A text and the tree that it was spelled from.
fn expression(bytes: &mut std::slice::Iter<'_, u8>, depth: usize) -> (String, Json) {
    // Where the bytes end, so do the branches.
    let (kind, choice) =
        (bytes.next().map_or(7, |byte| usize::from(*byte)), bytes.next().map_or(0, |byte| usize::from(*byte)));
    let atom = || {
        let atoms = [
            ("a-b", json!({ "variable": "a-b" })),
            ("7", json!({ "literal": 7 })),
            ("-2.5", json!({ "literal": -2.5 })),
            ("\"q \\\" é\"", json!({ "literal": "q \" é" })),
            ("true", json!({ "literal": true })),
            ("null", json!({ "literal": null })),
            (
                "[[n#h|d]]",
                json!({ "literal": { "$link": { "path": "n", "type": "header", "subpath": "h", "display": "d" } } }),
            ),
            ("dur(3 d)", json!({ "literal": { "$duration": { "days": 3 } } })),
        ];
        let (text, tree) = &atoms[choice % atoms.len()];
        ((*text).to_owned(), tree.clone())
    };
    if depth > 8 {
        return atom();
    }
    let inner = |bytes: &mut std::slice::Iter<'_, u8>| expression(bytes, depth + 1);
    match kind % 8 {
        0 | 1 => {
            let operators = ["+", "*", "=", "and"];
            let (left, right) = (inner(bytes), inner(bytes));
            let operator = operators[choice % operators.len()];
            let sign = if operator == "and" { "&" } else { operator };
            let tree = json!({ "chain": [left.1, sign, right.1] });
            // In brackets, so that neither side is drawn into another chain.
            (format!("(({}) {operator} ({}))", left.0, right.0), tree)
        }
        2 => {
            let items: Vec<(String, Json)> = (0..choice % 4).map(|_| inner(bytes)).collect();
            let text = items.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" , ");
            (format!("[ {text} ]"), json!({ "list": items.into_iter().map(|(_, tree)| tree).collect::<Json>() }))
        }
        3 => {
            let item = inner(bytes);
            (format!("f({})", item.0), json!({ "postfix": { "variable": "f" }, "steps": [{ "call": [item.1] }] }))
        }
        4 => {
            let body = inner(bytes);
            (format!("((x) => {})", body.0), json!({ "lambda": ["x"], "body": body.1 }))
        }
        5 => {
            let item = inner(bytes);
            (format!("!({})", item.0), json!({ "not": item.1 }))
        }
        _ => atom(),
    }
}

#[test]
fn what_is_spelled_from_a_tree_is_read_as_that_tree() {
    check!().for_each(|bytes: &[u8]| {
        let (text, tree) = expression(&mut bytes.iter(), 0);
        assert_eq!(field_tree(&text).as_ref(), Some(&tree), "{text}");
    });
}
