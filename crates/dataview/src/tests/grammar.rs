//! Tests of the Dataview grammar.

use super::*;

fn fails(query: &str) -> String {
    DqlQuery::parse(query)
        .err()
        .map_or_else(|| "no fault".to_owned(), |error| format!("{}:{}", error.line, error.column))
}

#[test]
fn expressions_have_their_traps() {
    check(&[
        ("[[1, 2]]", "[[1, 2|1, 2]]"),
        ("[ [1, 2] ]", "[[1, 2]]"),
        ("[[1,2],[3,4]]", "[[1, 2], [3, 4]]"),
        ("true or false and false", "false"),
        ("\"a\" andtrue", "true"),
        ("\"\\d\" = \"\\\\d\"", "true"),
        ("\"a\\\"b\"", "\"a\\\"b\""),
        ("TRUE", "null"),
        ("NULL", "null"),
        ("True", "true"),
        ("5 -1", "4"),
        ("-5", "-5"),
        ("{\"a b\": 1, c: 2}", "{a b: 1, c: 2}"),
        ("{a: 1, a: 2}", "{a: 2}"),
        ("[]", "[]"),
        ("[ ]", "[]"),
        ("{}", "{}"),
        ("(1)", "1"),
        ("( 1 + 2 ) * 3", "9"),
        ("dur(1d 3h, 2 min)", "dur(1 day, 3 hours, 2 minutes)"),
        ("dur(1 day 1 day)", "dur(2 days)"),
        ("date( 2020-01-02 )", "2020-01-02"),
        ("date(2020-1-2)", "error: No implementation of 'date' found for arguments: number"),
        ("🎅-x", "null"),
        ("größe", "null"),
        ("[[A#My: Head!|x]]", "[[A#My Head|x]]"),
        ("[[a\\|b]]", "[[a\\|b|a|b]]"),
    ]);
    for wrong in [
        "trueish",
        "nullable",
        "falsey",
        "length (x)",
        "x . y",
        "x => x",
        "1e3",
        ".5",
        "1.",
        "'a'",
        "a && b",
        "a == b",
        "not a",
        "-a",
        "x[",
        "[1, ]",
        "{a}",
        "date(2020-13-01",
        "\"open",
        "",
        "a b",
        "where",
        "!",
        "a +",
    ] {
        assert!(DqlExpression::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn queries_are_read_with_their_traps() {
    for query in [
        "LIST",
        "list",
        "TABLE",
        "TASK",
        "LIST FROM #a",
        "TABLE WITHOUT ID",
        "TABLE a, b AS \"B c\", c AS d FROM \"x\" or -#b and ([[c]] | outgoing([[d]])) WHERE a SORT b DESC, c LIMIT 5",
        "// comment\nLIST // other\nFROM #x // more\n// again\nWHERE x",
        "LIST WHERE x WHERE y GROUP BY z FLATTEN w AS v",
        "LIST rating-1",
        "LIST x WHERE y FROM #a",
        "TABLE x andy",
        "LIST FROM csv(\"x.csv\")",
        "CALENDAR file.day",
        "TASKFROM #x",
        "LIST sort FROM #a",
        "LIST GROUP BY rating AS r",
        "LIST FROM !\"a\"",
        "LIST SORT",
        "LIST FROM #",
        "TABLE x\n+ 1",
    ] {
        assert_eq!(fails(query), "no fault", "{query}");
    }
    for (query, place) in [
        ("", "1:1"),
        ("LISTS", "1:5"),
        ("LIST SORT x", "1:11"),
        ("TABLE SORT x", "1:12"),
        ("LIST FROM #x, #y", "1:13"),
        ("LIST WHERE", "1:11"),
        ("LIST GROUP  BY x", "1:6"),
        ("CALENDAR", "1:9"),
        ("LIST FROM - #x", "1:12"),
        ("LIST\nWHERE a = ", "2:11"),
        ("LIST FROM [[x]] #y", "1:17"),
        ("SELECT x", "1:1"),
        // Ours: the original is broken by it.
        ("LIST GROUP BY x AS rows", "1:15"),
    ] {
        assert_eq!(fails(query), place, "{query}");
    }
}

#[test]
fn a_fault_says_what_was_expected_and_what_was_probably_meant() {
    let fault = |query: &str| DqlQuery::parse(query).err().unwrap();
    let error = fault("TABEL file.name");
    assert!(error.message.starts_with("PARSING FAILED"), "{error}");
    assert_eq!(error.nearest.as_deref(), Some("TABLE"));
    assert_eq!(error.expected, ["TABLE", "LIST", "TASK", "CALENDAR"]);
    assert_eq!(fault("LIST WHERE x\nSROT y").nearest.as_deref(), Some("SORT"));
    assert_eq!((fault("LIST WHERE x\nSROT y").line, fault("LIST WHERE x\nSROT y").column), (2, 1));
    let sort = fault("LIST SORT file.name");
    assert!(sort.message.contains("'SORT' was read as a column"), "{sort}");
    assert_eq!(sort.expected[0], "an operator");
    assert!(!sort.expected.contains(&"*".to_owned()), "{:?}", sort.expected);
    assert!(fault("LIST FROM #a, #b").expected.contains(&"and".to_owned()));
    assert!(!fault("LIST FROM #a SORT x y").message.contains("column"));
    let deep = format!("LIST {}", "(".repeat(200));
    assert!(fault(&deep).message.contains("nested"), "{}", fault(&deep));
    let long = format!("LIST {}", "x".repeat(70_000));
    assert!(fault(&long).message.contains("bytes"));
}

#[test]
fn long_chains_are_no_deeper_than_short_ones() {
    let sum = format!("1{}", " + 1".repeat(5_000));
    assert_eq!(value(&sum), "5001");
    let path = format!("this{}", ".x".repeat(5_000));
    assert_eq!(value(&path), "null");
    let calls = format!("((x) => x){}", "(1)".repeat(2));
    assert_eq!(value(&calls), "error: Cannot call type 'number' as a function");
    let nested = "reduce(map(split(\"x\" * 1000, \"\"), (x) => [x]), (a, x) => [a])";
    assert!(value(nested).contains("nested"), "{}", value(nested));
}
