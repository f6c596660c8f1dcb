//! Answers what `tests/outside/bases.mjs` asks, a line of JSON each: what an expression of a base comes to in a note, and
//! its text.

use std::io::{BufRead, Write};

use jiff::{Timestamp, tz::TimeZone};
use lapidary_bases::{BaseFile, BaseValue};
use lapidary_query::{QueryContext, testing::PlainVault, typed_json};
use serde_json::{Value, json};

fn evaluated(question: &Value) -> Result<Value, String> {
    let text_of = |name: &str, usual: &'static str| question[name].as_str().unwrap_or(usual).to_owned();
    let now: Timestamp = text_of("now", "2026-06-10T07:17:08.070Z").parse().unwrap_or_default();
    let zone = TimeZone::get(&text_of("zone", "UTC")).unwrap_or(TimeZone::UTC);
    let note = text_of("note", "a.md");
    let files = question["files"].as_object();
    let files: Vec<(&str, &str)> = match files {
        Some(files) => files.iter().map(|(path, text)| (path.as_str(), text.as_str().unwrap_or_default())).collect(),
        None => vec![("a.md", "")],
    };
    let base = json!({
        "filters": format!("file.path == {}", json!(note)),
        "formulas": { "total": "price * quantity", "case": question["text"] },
        "views": [{ "type": "table", "name": "T", "order": ["formula.case"] }],
    });
    let base = BaseFile::parse(&base.to_string()).map_err(|error| error.to_string())?;
    let go_on = || true;
    let context = QueryContext::new(now, zone, &go_on).with_origin(Some(&note));
    let answer = base.run(None, &PlainVault::of(&files), &context).map_err(|halt| halt.to_string())?;
    let cell = answer.rows.first().and_then(|row| row.cells.first()).ok_or("there is no such note")?;
    Ok(match cell {
        BaseValue::Error(message) => json!({ "error": message.as_ref() }),
        cell => json!({ "value": typed_json(&answer.shared_value(cell)), "text": answer.text(cell) }),
    })
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question = serde_json::from_str(&line?).unwrap_or(Value::Null);
        let answer = evaluated(&question).unwrap_or_else(|problem| json!({ "halt": problem }));
        writeln!(out, "{answer}")?;
    }
    Ok(())
}
