//! Answers what `tests/outside/dataview.mjs` asks, a line of JSON each: the tree of a text, or the value of an expression
//! in an empty vault.

use std::io::{BufRead, Write};

use jiff::{Timestamp, tz::TimeZone};
use lapidary_query::{
    DqlExpression, QueryContext, QueryVault, RowNumber, RowSelection, RowSet, VaultRow, dataview_field, field_tree,
    query_tree, typed_json,
};
use serde_json::{Value, json};

/// A vault without files.
struct EmptyVault;

impl QueryVault for EmptyVault {
    fn select(&self, _selection: &RowSelection<'_>) -> RowSet {
        RowSet::default()
    }

    fn row(&self, _number: RowNumber) -> Option<VaultRow<'_>> {
        None
    }

    fn find(&self, _path: &str) -> Option<RowNumber> {
        None
    }

    fn resolve(&self, _target: &str, _from: Option<&str>) -> Option<RowNumber> {
        None
    }

    fn has_folder(&self, _path: &str) -> bool {
        false
    }

    fn text(&self, _path: &str) -> Option<String> {
        None
    }

    fn served_by(&self, _selection: &RowSelection<'_>) -> Option<&'static str> {
        None
    }
}

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
    match expression.evaluate(&EmptyVault, &QueryContext::new(now, zone, &|| true)) {
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
