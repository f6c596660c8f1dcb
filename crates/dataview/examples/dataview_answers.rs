//! Answers what `tests/outside/dataview.mjs` asks, a line of JSON each: the tree of a text, or the value of an expression
//! in an empty vault.

use std::io::{BufRead, Write};

use jiff::{Timestamp, tz::TimeZone};
use lapidary_dataview::{DqlExpression, field_tree, query_tree};
use lapidary_query::{QueryContext, dataview_field, testing::PlainVault, typed_json};
use serde_json::{Value, json};

fn answer(question: &Value) -> Value {
    let text = question["text"].as_str().unwrap_or_default();
    match question["kind"].as_str() {
        Some("field") => json!({ "tree": field_tree(text) }),
        Some("query") => json!({ "tree": query_tree(text) }),
        Some("inline") => json!({ "value": typed_json(&dataview_field(text)) }),
        _ => evaluated(text, question["zone"].as_str().unwrap_or("UTC")),
    }
}

fn evaluated(text: &str, zone: &str) -> Value {
    let now: Timestamp = "2026-05-13T10:30:00Z".parse().unwrap_or_default();
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let expression = match DqlExpression::parse(text) {
        Ok(expression) => expression,
        Err(error) => return json!({ "syntax": error.to_string() }),
    };
    match expression.evaluate(&PlainVault::of(&[]), &QueryContext::new(now, zone, &|| true)) {
        Ok(value) => json!({ "value": typed_json(&value) }),
        Err(halt) => json!({ "error": halt.to_string() }),
    }
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question = serde_json::from_str(&line?).unwrap_or(Value::Null);
        writeln!(out, "{}", answer(&question))?;
    }
    Ok(())
}
