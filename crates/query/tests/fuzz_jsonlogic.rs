//! No rule crashes the evaluator or keeps it busy.

use bolero::check;
use lapidary_query::{LOGIC_OPERATORS, Logic, Value, is_truthy};
use serde_json::{Map, Value as Json, json};

const WORDS: [&str; 20] = [
    "",
    "path",
    "tags",
    "frontmatter.a",
    "content",
    "current",
    "accumulator",
    "length",
    "tags.0",
    "*",
    "a*",
    "(a|aa)+$",
    "(?=a)",
    "[",
    "1",
    "-0x1",
    "1e999",
    "石💎",
    "Infinity",
    "b",
];

/// A rule that bytes spell.
fn rule(bytes: &mut std::slice::Iter<'_, u8>, depth: usize) -> Json {
    let mut next = || bytes.next().copied().map(usize::from).unwrap_or_default();
    let (kind, choice) = (next(), next());
    match kind % 12 {
        _ if depth > 12 => Json::Null,
        0 => Json::Null,
        1 => Json::Bool(choice % 2 == 0),
        2 => json!(choice),
        3 => json!((choice as f64 - 128.0) * 1.5),
        4 | 5 => json!(WORDS[choice % WORDS.len()]),
        6 => (0..choice % 4).map(|_| rule(bytes, depth + 1)).collect(),
        7 => json!({ "a": choice, "b": [choice] }),
        _ => {
            let arguments: Vec<Json> =
                (0..choice / LOGIC_OPERATORS.len() % 5).map(|_| rule(bytes, depth + 1)).collect();
            let arguments = if arguments.len() == 1 { arguments[0].clone() } else { Json::Array(arguments) };
            Json::Object(Map::from_iter([(LOGIC_OPERATORS[choice % LOGIC_OPERATORS.len()].to_owned(), arguments)]))
        }
    }
}

#[test]
fn every_rule_comes_to_an_end() {
    let data = json!({
        "path": "Projects/Plan.md",
        "content": "one\ntwo 石💎",
        "tags": ["gem", "gem/cut"],
        "frontmatter": { "a": [1, 2, { "b": null }], "n": 1.5 },
        "stat": { "mtime": 1_700_000_000_000_u64 },
    });
    let data = Value::from(&data);
    check!().for_each(|bytes: &[u8]| {
        let Ok(logic) = Logic::parse(&rule(&mut bytes.iter(), 0)) else { return };
        if let Ok(found) = logic.apply(&data) {
            assert_eq!(logic.apply(&data).as_ref(), Ok(&found), "the same again");
            is_truthy(&found);
            // Fields that a rule does not read may be left out.
            let mut less = data.clone();
            if let Value::Object(less) = &mut less {
                less.retain(|field, _| logic.reads(field));
                if let Some(Value::Object(frontmatter)) = less.get_mut("frontmatter") {
                    frontmatter.retain(|name, _| logic.reads_part("frontmatter", name));
                }
            }
            assert_eq!(logic.apply(&less), Ok(found));
        }
    });
}
