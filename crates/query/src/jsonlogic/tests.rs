//! Tests of rules, with the public JsonLogic cases.

use serde_json::{Value as Json, json};

use super::*;
use crate::row::PlainRow;

fn applied(rule: &Json, data: &Json) -> Result<Json, String> {
    let logic = Logic::parse(rule).map_err(|error| error.to_string())?;
    logic.apply(&Value::from(data)).map(|value| Json::from(&value)).map_err(|halt| halt.to_string())
}

#[test]
fn the_public_cases_pass() {
    let cases: Vec<(Json, Json, Json)> =
        serde_json::from_str(include_str!("../../../../fixtures/jsonlogic/cases.json")).unwrap();
    assert_eq!(cases.len(), 278);
    for (rule, data, expected) in cases {
        assert_eq!(applied(&rule, &data), Ok(expected), "{rule} on {data}");
    }
}

/// Checked against json-logic-js 2.0.5.
#[test]
fn values_are_seen_as_in_javascript() {
    for (rule, expected) in [
        (json!({ "==": [1, "1.0"] }), json!(true)),
        (json!({ "==": [null, 0] }), json!(false)),
        (json!({ "==": ["", 0] }), json!(true)),
        (json!({ "==": [[1], "1"] }), json!(true)),
        (json!({ "==": [[1], [1]] }), json!(false)),
        (json!({ "===": [1, 1.0] }), json!(true)),
        (json!({ "<": ["10", "9"] }), json!(true)),
        (json!({ "<": ["10", 9] }), json!(false)),
        (json!({ "<": [1, "x"] }), json!(false)),
        (json!({ ">": [null, -1] }), json!(true)),
        (json!({ "+": ["3 pears", "0.5"] }), json!(3.5)),
        (json!({ "+": [null] }), json!(null)),
        (json!({ "-": ["0x10", 1] }), json!(15)),
        (json!({ "*": ["2", 3.5] }), json!(7)),
        (json!({ "/": [1, 0] }), json!(null)),
        (json!({ "%": [-7, 3] }), json!(-1)),
        (json!({ "max": [] }), json!(null)),
        (json!({ "max": ["3", 2] }), json!(3)),
        (json!({ "cat": [1.0, null, [1, [2]], true] }), json!("11,2true")),
        (json!({ "in": [2, "123"] }), json!(true)),
        (json!({ "in": ["2", [1, 2]] }), json!(false)),
        (json!({ "substr": ["stone", -3, 2] }), json!("on")),
        (json!({ "substr": ["stone", 1, -1] }), json!("ton")),
        (json!({ "var": "list.length" }), json!(2)),
        (json!({ "var": "word.0" }), json!("a")),
        (json!({ "var": ["none", 7] }), json!(7)),
        (json!({ "!!": [[]] }), json!(false)),
        (json!({ "!!": [{}] }), json!(true)),
        (json!({ "if": [] }), json!(null)),
    ] {
        let data = json!({ "list": [1, 2], "word": "ab" });
        assert_eq!(applied(&rule, &data), Ok(expected), "{rule}");
    }
}

#[test]
fn patterns_come_first() {
    let data = json!({ "path": "Projects/House/Plan.md", "content": "one\ntwo", "n": 7 });
    for (rule, expected) in [
        (json!({ "glob": ["Projects/*", { "var": "path" }] }), true),
        (json!({ "glob": ["*.md", { "var": "path" }] }), true),
        (json!({ "glob": ["Projects", { "var": "path" }] }), false),
        (json!({ "glob": ["Projects/House/Plan?md", { "var": "path" }] }), true),
        (json!({ "glob": ["Projects/House/Plan?.md", { "var": "path" }] }), false),
        (json!({ "glob": ["{Areas,Projects/{Barn,House}}/*", { "var": "path" }] }), true),
        (json!({ "glob": ["{Areas,Barn}/*", { "var": "path" }] }), false),
        (json!({ "glob": ["Projects/{*", { "var": "path" }] }), false),
        (json!({ "glob": [{ "var": "path" }, "*.md"] }), false),
        (json!({ "glob": ["*", { "var": "n" }] }), false),
        (json!({ "regexp": ["^Projects/.+\\.md$", { "var": "path" }] }), true),
        (json!({ "regexp": ["house", { "var": "path" }] }), false),
        (json!({ "regexp": ["^two", { "var": "content" }] }), false),
        (json!({ "regexp": ["(?<=\\n)two", { "var": "content" }] }), true),
        (json!({ "regexp": [{ "cat": ["Pl", "an"] }, { "var": "path" }] }), true),
        (json!({ "regexp": ["", { "var": "path" }] }), true),
    ] {
        assert_eq!(applied(&rule, &data), Ok(json!(expected)), "{rule}");
    }
}

#[test]
fn an_invalid_rule_is_refused_before_it_runs() {
    for (rule, part) in [
        (json!({ "equals": [1, 1] }), "no operator `equals`"),
        (json!({ "tags": "x", "status": "y" }), "an object with 2 entries is none"),
        (json!({ "and": [{ "tags": "x", "status": "y" }] }), "joined by `and`"),
        (json!({}), "0 entries"),
        (json!({ "and": [true, { "regex": ["a", "b"] }] }), "did you mean `regexp`"),
        (json!({ "regexp": ["(", "x"] }), "`(`"),
        (json!({ "cat": vec![json!(1); 20_000] }), "more than 10000"),
        ((0..100).fold(json!(1), |rule, _| json!({ "!": [rule] })), "64 levels"),
    ] {
        let problem = Logic::parse(&rule).err().unwrap().to_string();
        assert!(problem.contains(part), "{problem}");
    }
}

#[test]
fn no_rule_runs_or_grows_without_end() {
    let doubling =
        json!({ "reduce": [vec![1; 100], { "cat": [{ "var": "accumulator" }, { "var": "accumulator" }] }, "x"] });
    let nesting = json!({ "reduce": [vec![1; 100], [{ "var": "accumulator" }, { "var": "accumulator" }], []] });
    let list = vec![1; 500];
    let nested = json!({ "map": [list, { "map": [list, { "map": [list, 1] }] }] });
    let slow = json!({ "regexp": ["^(?:a|aa)+(?!c)c$", format!("{}c", "a".repeat(400))] });
    for rule in [doubling, nesting, nested, slow] {
        assert!(applied(&rule, &json!({})).is_err());
    }
}

#[test]
fn a_rule_says_what_it_reads() {
    let reads = |rule: Json, field: &str| Logic::parse(&rule).unwrap().reads(field);
    assert!(reads(json!({ "==": [{ "var": "frontmatter.status" }, "open"] }), "frontmatter"));
    assert!(!reads(json!({ "==": [{ "var": "frontmatter.content" }, "open"] }), "content"));
    assert!(!reads(json!({ "some": [{ "var": "tags" }, { "==": [{ "var": "" }, "gem"] }] }), "content"));
    assert!(reads(json!({ "missing": ["content"] }), "content"));
    assert!(reads(json!({ "missing_some": [1, ["content", "tags"]] }), "tags"));
    assert!(reads(json!({ "var": "" }), "content"));
    assert!(reads(json!({ "var": { "cat": ["con", "tent"] } }), "content"));
    let logic =
        Logic::parse(&json!({ "or": [{ "var": "frontmatter.status" }, { "var": ["frontmatter.a.b", 1] }] })).unwrap();
    let parts = ["status", "a", "b", "other"].map(|part| logic.reads_part("frontmatter", part));
    assert_eq!(parts, [true, true, false, false]);
    let whole = Logic::parse(&json!({ "merge": [{ "var": "frontmatter.a" }, { "var": "frontmatter" }] })).unwrap();
    assert!(whole.reads_part("frontmatter", "other"));
}

#[test]
fn a_rule_sees_the_requested_parts_of_a_note() {
    let row = PlainRow {
        path: "a/Plan.md".to_owned(),
        text: "slate".to_owned(),
        tags: vec!["gem".to_owned()],
        links: [("Home", Some("Home.md")), ("None", None), ("home", Some("Home.md")), ("", None), ("None", None)]
            .map(|(target, path)| (target.to_owned(), path.map(str::to_owned)))
            .to_vec(),
        backlinks: vec!["Home.md".to_owned()],
        ..PlainRow::with_properties(&json!({ "status": "open", "n": 9_007_199_254_740_993_i64, "none": null }))
    };
    let seen = |rule: Json| Json::from(&Logic::parse(&rule).unwrap().apply_to(&row).unwrap());
    for (rule, expected) in [
        (json!({ "var": "path" }), json!("a/Plan.md")),
        (json!({ "var": "content" }), json!("slate")),
        (json!({ "var": "frontmatter.n" }), json!(9_007_199_254_740_993_i64)),
        (json!({ "var": "frontmatter" }), json!({ "status": "open", "n": 9_007_199_254_740_993_i64, "none": null })),
        (json!({ "missing": ["frontmatter.status", "frontmatter.other"] }), json!(["frontmatter.other"])),
        (json!({ "var": "tags" }), json!(["gem"])),
        (json!({ "var": "stat" }), json!({ "ctime": 0, "mtime": 0, "size": 5 })),
        (json!({ "var": "links" }), json!(["Home.md"])),
        (json!({ "var": "unresolvedLinks" }), json!(["None"])),
        (json!({ "var": "backlinks" }), json!(["Home.md"])),
        (json!({ "var": "other" }), json!(null)),
    ] {
        assert_eq!(seen(rule.clone()), expected, "{rule}");
    }
    let Json::Object(everything) = seen(json!({ "var": "" })) else { panic!("an object") };
    let names: Vec<&str> = everything.keys().map(String::as_str).collect();
    assert_eq!(names, ["path", "content", "frontmatter", "tags", "stat", "links", "unresolvedLinks", "backlinks"]);
}

#[test]
fn words_represent_values_that_json_cannot_express() {
    let mut row = PlainRow::default();
    row.properties.insert("far".to_owned(), Value::Number(crate::Number::Float(f64::NEG_INFINITY)));
    let logic = Logic::parse(&json!({ "var": "frontmatter.far" })).unwrap();
    assert_eq!(logic.apply_to(&row), Ok(Value::from("-inf")));
}
