//! Tests of reading base files.

use proptest::prelude::*;

use super::*;

fn fault(base: &str) -> String {
    BaseFile::parse(base).map_or_else(|error| error.to_string(), |_| "read".to_owned())
}

#[test]
fn files_that_are_no_base_are_refused_in_the_words_of_the_app() {
    for (base, expected) in [
        ("- a", "line 1, column 1: Query is an invalid format. It should be a YAML object."),
        ("views: x", "line 1, column 8: Views must be an array"),
        ("views:\n  - x", "line 2, column 5: \"view\" items must be a YAML object, however item 1 is not"),
        ("views:\n  - type: table", "line 2, column 5: Missing or invalid \"name\" in view 1"),
        ("views:\n  - {type: table, name: 'a#b'}", "line 2, column 25: Missing or invalid \"name\" in view 1"),
        ("views:\n  - {name: A}", "line 2, column 5: \"type\" is required in view \"A\""),
        ("views:\n  - {name: A, type: [x]}", "line 2, column 21: \"type\" must be a string in view \"A\""),
        ("views:\n  - {name: A, type: table, limit: x}", "line 2, column 35: \"limit\" must be a number in view \"A\""),
        ("views:\n  - {name: A, type: table, order: x}", "line 2, column 35: \"order\" must be an array in view \"A\""),
        (
            "views:\n  - {name: A, type: table, order: [{a: 1}]}",
            "line 2, column 36: \"order\" values must all be of type string in view \"A\"",
        ),
        ("filters: 1", "line 1, column 10: \"filters\" must be a string or an object"),
        ("filters:\n  and: x", "line 2, column 8: \"and\" filter must be an array"),
        (
            "filters:\n  and: [a]\n  or: [b]",
            "line 3, column 3: \"filters\" may only have one of an \"and\", \"or\", or \"not\" keys.",
        ),
        (
            "views:\n  - name: A\n    type: table\n    filters: [a]",
            "line 4, column 14: Unable to parse filters in view \"A\": \"filters\" must be a string or an object",
        ),
        ("formulas:\n  a: 1", "line 2, column 6: Formula values must be strings. Value for property a is not."),
        ("properties: x", "line 1, column 13: Invalid properties configuration."),
        (
            "filters:\n  and:\n    - !file.hasTag(\"x\")",
            "line 3, column 7: an expression that begins with '!' must be in quotes, or YAML reads it as the name of a type",
        ),
        ("filters:\n  and:\n    - 5", "line 3, column 7: \"filters\" must be a string or an object"),
    ] {
        assert_eq!(fault(base), expected, "{base}");
    }
    assert!(fault("a: [").starts_with("line "), "{}", fault("a: ["));
    let near = BaseFile::parse("filters:\n  adn: [a]").unwrap_err();
    assert_eq!(near.nearest.as_deref(), Some("and"));
}

#[test]
fn what_the_app_passes_over_is_told_with_its_place() {
    let problems = |base: &str| {
        let base = BaseFile::parse(base).unwrap();
        base.problems().iter().map(|problem| format!("{}: {}", problem.place, problem.error)).collect::<Vec<_>>()
    };
    for (base, expected) in [
        (
            "formulas:\n  total: price *\n",
            "formula \"total\": line 2, column 17: Unable to parse formula. (position 7); expected a value, a property, a \
             function, (",
        ),
        (
            "formulas:\n  total: \"price.rond()\"\n",
            "formula \"total\": line 2, column 17: Cannot find function \"rond\"; did you mean round?",
        ),
        (
            "filters:\n  - x\n".replace("  - x", "  and:\n    - 1.5.round()").as_str(),
            "filter: line 3, column 10: Unable to parse formula. (position 3) a number needs parentheses before its functions: \
             '(1).round()'",
        ),
        (
            "filters: status == # open\n",
            "filter: line 1, column 19: Unable to parse formula. (position 9) The rest of the line is a comment of YAML: put \
             the expression in quotes; expected a value, a property, a function, (",
        ),
        ("filter: x\n", "base: line 1, column 1: \"filter\" is not a key of a base; did you mean filters?"),
        (
            "views: [{type: table, name: A, order: [file.nme]}]\n",
            "view: line 1, column 40: files have no field \"nme\"; did you mean file.name?",
        ),
        (
            "formulas: {total: '1'}\nviews: [{type: table, name: A, order: [formula.totl]}]\n",
            "view \"A\": line 2, column 40: there is no formula \"totl\"; did you mean formula.total?",
        ),
        (
            "views: [{type: table, name: A, summaries: {x: Averge}}]\n",
            "summary: line 1, column 47: there is no summary \"Averge\"; did you mean Average?",
        ),
    ] {
        assert_eq!(problems(base), [expected], "{base}");
    }
    assert!(problems("filters: 'a.lower() == \"x\"'\nnewItemFolder: x\nsomething: 1\n").is_empty());
}

#[test]
fn tabs_aliases_and_block_texts_are_read() {
    let base = BaseFile::parse("views:\n\t- type: table\n\t  name: A\n").unwrap();
    assert_eq!(base.views().next().unwrap().name, "A");
    let base = "x: &f 'file.ext == \"md\"'\nfilters: *f\nformulas:\n  a: |\n    if(true,\n      1, 2)\n";
    let base = BaseFile::parse(base).unwrap();
    assert!(base.problems().is_empty(), "{:?}", base.problems());
    assert_eq!(base.formula_names().collect::<Vec<_>>(), ["a"]);
    assert!(!base.is_random());
    assert!(BaseFile::parse("formulas: {a: RANDOM()}").unwrap().is_random());
}

/// Bits of the language in any order.
fn expression() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "1",
        "2.5",
        "\"a\"",
        "'b'",
        "true",
        "null",
        "price",
        "tags",
        "file",
        "note",
        "this",
        "value",
        "index",
        "acc",
        "values",
        "formula.a",
        "formula.b",
        "file.links",
        "file.name",
        "date(\"2026-01-31\")",
        "duration(\"1M\")",
        "/a+/g",
        "[1, \"x\", null]",
        "+",
        "-",
        "*",
        "/",
        "%",
        "==",
        "!=",
        "<",
        ">=",
        "&&",
        "||",
        "!",
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        " ",
        ".map(",
        ".filter(",
        ".reduce(",
        ".contains(",
        ".length",
        ".toString()",
        ".sort()",
        ".unique()",
        ".slice(-1)",
        ".repeat(3)",
        ".split(\"\")",
        ".replace(/a/, \"$1\")",
        ".round(2)",
        ".toFixed(",
        ".format(\"LLLL\")",
        ".relative()",
        ".days",
        ".asFile()",
        "if(",
        "min(",
        "link(",
        "file(",
        "list(",
        "number(",
        "é",
        "\\",
        "\u{0}",
        "{",
    ]);
    prop_oneof![prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat()), ".{0,24}",]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_expression_is_too_odd(expression in expression(), other in expression()) {
        let vault = PlainVault::of(&[("a.md", "---\nprice: 5\ntags: [x]\n---\n[[b]]"), ("b.md", "")]);
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace(|c: char| c.is_control(), " "));
        let base = format!(
            "filters: {0}\nformulas:\n  a: {0}\n  b: {1}\nsummaries:\n  s: {0}\nviews:\n  - type: table\n    name: A\n    order: \
             [formula.a, formula.b]\n    sort: [{{property: formula.a}}]\n    groupBy: {{property: formula.b}}\n    summaries: \
             {{formula.b: s}}\n",
            quoted(&expression),
            quoted(&other)
        );
        if let Ok(base) = BaseFile::parse(&base) {
            let answer = with_context(Some("b.md"), |context| base.run(None, &vault, context));
            if let Ok(answer) = answer {
                answer.to_markdown();
                answer.to_cli_json();
            }
        }
    }

    #[test]
    fn no_text_is_too_odd_to_be_a_base(base in r"(filters|formulas|views|order|and|not|name|type|[:\-\[\]{}'\x22!&*#|>\n ]|[a-z]|\t){0,40}") {
        drop(BaseFile::parse(&base));
    }
}
