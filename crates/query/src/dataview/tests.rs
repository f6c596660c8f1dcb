//! Each expected value was obtained from Dataview 0.5.68 itself, unless a comment says that it is our own decision.

mod clauses;
mod expressions;
mod functions;
mod grammar;
mod output;
mod pages;

use jiff::{Timestamp, tz::TimeZone};

use super::*;
use crate::{LuxonDate, LuxonZone, Value, source::plain_vault::PlainVault};

/// Wednesday, 13 May 2026, 10:30 in UTC.
fn now() -> Timestamp {
    "2026-05-13T10:30:00Z".parse().unwrap()
}

fn context(origin: Option<&str>) -> QueryContext<'_> {
    QueryContext::new(now(), TimeZone::UTC, &|| true).with_origin(origin)
}

/// A value in a form that shows its type.
fn shown(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::Text(text) => format!("{text:?}"),
        Value::Date(date) => {
            let date = LuxonDate::of(date, &LuxonZone::Local(TimeZone::UTC)).unwrap();
            date.iso_text().replace(".000+00:00", "").replace("T00:00:00", "")
        }
        Value::Duration(duration) => format!("dur({})", duration.human_text()),
        Value::List(items) => format!("[{}]", list(items.iter().map(shown).collect())),
        Value::Object(entries) => {
            format!("{{{}}}", list(entries.iter().map(|(name, value)| format!("{name}: {}", shown(value))).collect()))
        }
        Value::Null => "null".to_owned(),
        other => DqlWriter::new(&crate::DataviewSettings::default(), TimeZone::UTC).text(other),
    }
}

fn vault() -> PlainVault {
    PlainVault::of(&[
        (
            "Home.md",
            "---\nrating: 5\nup: \"[[Other]]\"\n---\n# Top\nSee [[Other]] and [[missing]].\n\nBasic Field:: 7\n",
        ),
        ("Other.md", "---\nrating: 9\nday: 2024-03-01\n---\n[[Home]] #tag/sub\n"),
        ("books/Dune.md", "---\nrating: 9\nauthors: [Frank, Brian]\n---\n#book\n"),
        ("books/Emma.md", "---\nrating: 7\nauthors: [Jane]\nread: 2023-05-06\n---\n#book/classic\n"),
        ("books/2024-02-29 log.md", "#log\n- [ ] open [due:: 2024-03-01]\n    - [x] done\n    - plain\n- [x] all\n"),
        ("data/table.csv", "name,n,Big Name\nx,1,a\ny,2,b\n"),
    ])
}

/// What an expression comes to in `Home.md`, or its error.
fn value(expression: &str) -> String {
    value_in(&vault(), expression)
}

fn value_in(vault: &PlainVault, expression: &str) -> String {
    let expression = match DqlExpression::parse(expression) {
        Ok(expression) => expression,
        Err(error) => return format!("syntax: {error}"),
    };
    match expression.evaluate(vault, &context(Some("Home.md"))) {
        Ok(value) => shown(&value),
        Err(halt) => format!("error: {halt}"),
    }
}

/// Every expression with what it comes to; all that differ are listed at once.
fn check(cases: &[(&str, &str)]) {
    let vault = vault();
    let wrong: Vec<String> = cases
        .iter()
        .map(|(expression, expected)| (expression, expected, value_in(&vault, expression)))
        .filter(|(_, expected, found)| *found != **expected)
        .map(|(expression, expected, found)| format!("{expression}\n    expected {expected}\n    found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn run_in(vault: &PlainVault, query: &str) -> Result<DqlAnswer, String> {
    let query = DqlQuery::parse(query).map_err(|error| format!("syntax: {error}"))?;
    query.run(vault, &context(Some("Home.md"))).map_err(|halt| halt.to_string())
}

/// The rows of a result, one a line: cells with bars between them, or an error.
fn rows(query: &str) -> String {
    let answer = match run_in(&vault(), query) {
        Ok(answer) => answer,
        Err(error) => return error,
    };
    let lines: Vec<String> = match &answer.result {
        DqlResult::Table { rows, .. } => {
            rows.iter().map(|row| row.cells.iter().map(shown).collect::<Vec<_>>().join(" | ")).collect()
        }
        DqlResult::List { shows_id, entries } => entries
            .iter()
            .map(|entry| match &entry.value {
                Some(value) if *shows_id => format!("{}: {}", shown(&entry.id), shown(value)),
                Some(value) => shown(value),
                None => shown(&entry.id),
            })
            .collect(),
        DqlResult::Task { .. } | DqlResult::Calendar { .. } => vec![answer.result.to_json().to_string()],
    };
    lines.join("\n")
}
