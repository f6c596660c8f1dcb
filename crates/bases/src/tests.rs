//! Tables of cases of the language, by what they show.

mod cases;
mod files;
mod views;

use jiff::{Timestamp, tz::TimeZone};

use super::{BaseAnswer, BaseFile, BaseValue};
use lapidary_query::{QueryContext, QueryHalt, QueryVault, testing::PlainVault};

/// The clock of all cases.
const NOW: &str = "2026-06-10T07:17:08.070Z";
const ZONE: &str = "Australia/Melbourne";

fn with_context<T>(origin: Option<&str>, work: impl FnOnce(&QueryContext<'_>) -> T) -> T {
    let now: Timestamp = NOW.parse().unwrap();
    let go_on = || true;
    work(&QueryContext::new(now, TimeZone::get(ZONE).unwrap(), &go_on).with_origin(origin))
}

fn run(base: &str, vault: &dyn QueryVault, view: Option<&str>, origin: Option<&str>) -> Result<BaseAnswer, QueryHalt> {
    let base = BaseFile::parse(base).unwrap_or_else(|error| panic!("{error}\n{base}"));
    with_context(origin, |context| base.run(view, vault, context))
}

/// The value of an expression for one note, in a form that shows its kind.
fn shown(answer: &BaseAnswer, value: &BaseValue) -> String {
    match value {
        BaseValue::Null => "null".to_owned(),
        BaseValue::Text(text) => format!("{text:?}"),
        BaseValue::List(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(answer, item)).collect();
            format!("[{}]", items.join(", "))
        }
        BaseValue::Error(message) => format!("! {message}"),
        value => answer.text(value).into_owned(),
    }
}

/// Evaluates an expression as a formula of a base that shows one note.
fn evaluated(vault: &PlainVault, note: &str, expression: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let filter = quoted(&format!("file.path == \"{note}\""));
    let base = format!(
        "filters: {filter}\nformulas:\n  total: price * quantity\n  case: {}\nviews:\n  - type: table\n    name: T\n    \
         order: [formula.case]\n",
        quoted(expression)
    );
    let answer = run(&base, vault, None, Some(note)).unwrap();
    let [row] = &answer.rows[..] else { panic!("{} rows", answer.rows.len()) };
    shown(&answer, &row.cells[0])
}
