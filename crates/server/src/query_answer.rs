//! The answer of the tool `query`: its pages as one, its rows as a table, and its values as people read them.

use lapidary_tools::{Reason, quote::one_line};
use serde_json::{Value, json};

pub(crate) const QUERY_TOOL: &str = "query";
/// A person waits for one long page rather than for many short ones.
const ROWS_AT_ONCE: usize = 1000;
/// Where the rows of each type of result are.
const ROW_FIELDS: [&str; 4] = ["rows", "values", "tasks", "entries"];

/// All pages as one answer, up to this many rows. `page` calls the tool with a cursor.
pub(crate) fn all_pages<E>(
    format: &str,
    most: usize,
    mut page: impl FnMut(&str) -> Result<Value, E>,
) -> Result<Value, E> {
    let mut whole: Option<Value> = None;
    let mut offset = 0_usize;
    loop {
        // At least one: a page of none would never end.
        let limit = ROWS_AT_ONCE.min(most.saturating_sub(offset)).max(1);
        let mut page = page(&cursor(offset, limit))?;
        let next = page["nextCursor"].take();
        if let Value::Object(fields) = &mut page {
            fields.remove("nextCursor");
        }
        whole = Some(match whole.take() {
            None => page,
            Some(before) => joined(before, page, format),
        });
        // Without a cursor, this was the last page.
        offset = next.as_str().and_then(offset_of).unwrap_or(usize::MAX);
        if offset >= most {
            return Ok(whole.unwrap_or_default());
        }
    }
}

/// As the tool writes its cursors.
fn cursor(offset: usize, limit: usize) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json!({ "offset": offset, "limit": limit }).to_string())
}

fn offset_of(cursor: &str) -> Option<usize> {
    use base64::Engine as _;
    let json = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let cursor: Value = serde_json::from_slice(&json).ok()?;
    cursor["offset"].as_u64().and_then(|offset| usize::try_from(offset).ok())
}

/// A page behind those before it.
fn joined(mut before: Value, mut page: Value, format: &str) -> Value {
    for field in ROW_FIELDS {
        let (rows, more) = (before.get_mut(field), page.get_mut(field).map(Value::take));
        if let (Some(Value::Array(rows)), Some(Value::Array(more))) = (rows, more) {
            rows.extend(more);
        }
    }
    if let (Some(text), Some(more), "md", false) =
        (before["text"].as_str(), page["text"].as_str(), format, before["view"].is_null())
    {
        before["text"] = json!(joined_tables(text, more));
    } else if let (Some(text), Some(more)) = (before["text"].as_str(), page["text"].as_str()) {
        // Each page comes with its header, which is wanted once.
        let header = match (format, before["type"].as_str()) {
            ("md", Some("list" | "task")) => 0,
            ("md", _) => more.split_inclusive('\n').take(2).map(str::len).sum(),
            _ => first_record(more),
        };
        before["text"] = json!(format!("{text}{}", more.get(header..).unwrap_or_default()));
    }
    before
}

/// Two pages of a base as Markdown. Each has the header once, a line above each group, and the sums of all rows at its end.
fn joined_tables(text: &str, more: &str) -> String {
    let is_row = |line: &&str| line.starts_with('|');
    let mut lines: Vec<&str> = text.lines().collect();
    while lines.last().is_some_and(|line| !is_row(line)) {
        lines.pop();
    }
    let last_group = lines.iter().rev().find(|line| !is_row(line)).copied();
    let mut more: Vec<&str> = more.lines().collect();
    if let Some(header) = more.iter().position(is_row) {
        more.drain(header..(header + 2).min(more.len()));
        // The group goes on.
        if header > 0 && more.first().copied() == last_group {
            more.remove(0);
        }
    }
    lines.into_iter().chain(more).map(|line| format!("{line}\n")).collect()
}

/// Where the first record of comma-separated values ends. Line ends in quotes are part of it.
fn first_record(csv: &str) -> usize {
    let mut quoted = false;
    let end = csv.bytes().position(|byte| {
        // A quoted cell may have line breaks; doubled quotes cancel each other.
        quoted ^= byte == b'"';
        byte == b'\n' && !quoted
    });
    end.map_or(csv.len(), |end| end + 1)
}

/// A typed value as people read it, on one line.
pub(crate) fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Object(entries) => match entries.iter().next() {
            Some((key, inner)) if entries.len() == 1 && key.starts_with('$') => typed_cell(key, inner),
            _ => entries.iter().map(|(name, value)| format!("{name}: {}", cell(value))).collect::<Vec<_>>().join(", "),
        },
        other => other.to_string(),
    };
    one_line(&text).into_owned()
}

fn typed_cell(key: &str, inner: &Value) -> String {
    let name = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.strip_suffix(".md").unwrap_or(name).to_owned()
    };
    match key {
        "$link" => {
            let display = inner["display"].as_str().map(str::to_owned);
            display.unwrap_or_else(|| name(inner["path"].as_str().unwrap_or_default()))
        }
        "$duration" => {
            let units = inner.as_object().into_iter().flatten();
            units.map(|(unit, number)| format!("{number} {unit}")).collect::<Vec<_>>().join(", ")
        }
        _ => inner.as_str().map_or_else(|| inner.to_string(), str::to_owned),
    }
}

/// The rows of an answer as a table, whatever its type. Values are typed, as the tool gives them.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct QueryTable {
    pub(crate) headers: Vec<String>,
    pub(crate) rows: Vec<Vec<Value>>,
}

impl QueryTable {
    pub(crate) fn of(answer: &Value) -> Self {
        let list = |field: &str| answer[field].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match answer["type"].as_str() {
            // The list of a base is a table too, with columns.
            _ if answer["columns"].is_array() => Self::of_base(answer, list("columns"), list("rows")),
            Some("list") => {
                let is_pair = |value: &Value| value.get("key").is_some() && value.get("value").is_some();
                let has_pairs = list("values").iter().any(is_pair);
                let row = |value: &Value| match has_pairs {
                    true => vec![value["key"].clone(), value["value"].clone()],
                    false => vec![value.clone()],
                };
                let headers = if has_pairs { named(&["File", "Value"]) } else { named(&["Value"]) };
                Self { headers, rows: list("values").iter().map(row).collect() }
            }
            Some("task") => {
                let mut rows = Vec::new();
                list("tasks").iter().for_each(|task| put_task(task, &mut rows));
                Self { headers: named(&["Done", "Task", "Line", "File"]), rows }
            }
            Some("calendar") => {
                let row = |entry: &Value| vec![entry["date"].clone(), entry["link"].clone()];
                Self { headers: named(&["Date", "File"]), rows: list("entries").iter().map(row).collect() }
            }
            _ => Self {
                headers: list("headers").iter().map(cell).collect(),
                rows: list("rows").iter().filter_map(|row| row.as_array().cloned()).collect(),
            },
        }
    }

    fn of_base(answer: &Value, columns: &[Value], rows: &[Value]) -> Self {
        let is_grouped = answer["groups"].is_array();
        let group = is_grouped.then(|| "Group".to_owned());
        let row = |row: &Value| {
            let values = columns.iter().map(|column| {
                let (id, path) = (column["id"].as_str().unwrap_or_default(), &row["path"]);
                // What names the file leads to it.
                match (id, row["values"][id].as_str()) {
                    ("file.name" | "file.path" | "file.basename", Some(name)) => {
                        json!({ "$link": { "path": path, "display": name } })
                    }
                    _ => row["values"][id].clone(),
                }
            });
            is_grouped.then(|| row["group"].clone()).into_iter().chain(values).collect()
        };
        let headers = group.into_iter().chain(columns.iter().map(|column| cell(&column["name"]))).collect();
        Self { headers, rows: rows.iter().map(row).collect() }
    }

    /// Sorts by a column: numbers before texts, nothing at the end.
    pub(crate) fn sort(&mut self, column: usize, descends: bool) {
        let key = |row: &Vec<Value>| {
            let value = row.get(column).cloned().unwrap_or_default();
            let text = cell(&value).to_lowercase();
            (value.as_f64(), text)
        };
        let mut keyed: Vec<_> = self.rows.drain(..).map(|row| (key(&row), row)).collect();
        keyed.sort_by(|((one, text), _), ((other, other_text), _)| {
            let by_value = match (one, other) {
                (Some(one), Some(other)) => one.total_cmp(other),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => text.cmp(other_text),
            };
            let by_value = if descends { by_value.reverse() } else { by_value };
            // Whichever way it is sorted.
            let is_nothing = |value: &Option<f64>, text: &str| value.is_none() && text.is_empty();
            is_nothing(one, text).cmp(&is_nothing(other, other_text)).then(by_value)
        });
        self.rows = keyed.into_iter().map(|(_, row)| row).collect();
    }
}

/// A task, or those of a group, in rows.
fn put_task(task: &Value, rows: &mut Vec<Vec<Value>>) {
    if let Some(grouped) = task["rows"].as_array() {
        grouped.iter().for_each(|task| put_task(task, rows));
        return;
    }
    // The same is counted from 0 in the answer.
    let line = task["line"].as_u64().map(|line| line + 1);
    let file = json!({ "$link": { "path": task["path"] } });
    rows.push(vec![task["completed"].clone(), task["text"].clone(), json!(line), file]);
}

/// The file that a value leads to.
pub(crate) fn linked_file(value: &Value) -> Option<&str> {
    value["$link"]["path"].as_str()
}

/// Where in the text of a query something is wrong: line and column, from 1. Only some reasons have a place.
pub(crate) fn place_in_query(reason: &Reason) -> Option<(usize, usize)> {
    let data = reason.data();
    let number = |name: &str| data.get(name)?.as_u64().and_then(|number| usize::try_from(number).ok());
    Some((number("line")?, number("column")?))
}

/// Whether a query is the path of a base; then places are in that file.
pub(crate) fn is_base_file(query: &str) -> bool {
    query.trim().to_lowercase().ends_with(".base")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_what_people_read() {
        for (value, expected) in [
            (json!(null), ""),
            (json!(1.5), "1.5"),
            (json!(["a", { "$link": { "path": "x/B.md", "type": "file" } }]), "a, B"),
            (json!({ "$date": "2026-01-02" }), "2026-01-02"),
            (json!({ "$duration": { "days": 2 } }), "2 days"),
            (json!({ "a": 1, "b": null }), "a: 1, b: "),
        ] {
            assert_eq!(cell(&value), expected, "{value}");
        }
    }

    #[test]
    fn pages_become_one_answer() {
        let page = |rows: Value, text: &str| json!({ "type": "table", "rows": rows, "text": text });
        let whole = joined(page(json!([1]), "a,b\n1,2\n"), page(json!([2]), "a,b\n3,4\n"), "csv");
        assert_eq!(whole, page(json!([1, 2]), "a,b\n1,2\n3,4\n"));
        let base = |text: &str| json!({ "type": "table", "view": "A", "text": text });
        let (first, second) = (
            "x (2 rows)\n| n |\n| --- |\n| 1 |\nSum: 6\n",
            "x (2 rows)\n| n |\n| --- |\n| 2 |\ny (1 row)\n| 3 |\nSum: 6\n",
        );
        let whole = joined(base(first), base(second), "md");
        assert_eq!(whole["text"], "x (2 rows)\n| n |\n| --- |\n| 1 |\n| 2 |\ny (1 row)\n| 3 |\nSum: 6\n");
        let whole = joined(base("| n |\n| --- |\n| 1 |\n"), base("| n |\n| --- |\n| 2 |\n"), "md");
        assert_eq!(whole["text"], "| n |\n| --- |\n| 1 |\n| 2 |\n");
        assert_eq!(first_record("\"a\nb\",c\n1,2\n"), 8);
        assert_eq!(offset_of(&cursor(7, 9)), Some(7));
    }

    #[test]
    fn every_result_is_a_table() {
        let link = json!({ "$link": { "path": "B.md" } });
        let table = |answer: Value| {
            let QueryTable { headers, rows } = QueryTable::of(&answer);
            (
                headers.join("|"),
                rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("|")).collect::<Vec<_>>(),
            )
        };
        for (answer, headers, rows) in [
            (json!({ "type": "table", "headers": ["File", "n"], "rows": [[link, 1]] }), "File|n", vec!["B|1"]),
            (json!({ "type": "list", "values": [link, 3] }), "Value", vec!["B", "3"]),
            (json!({ "type": "list", "values": [{ "key": link, "value": 3 }] }), "File|Value", vec!["B|3"]),
            (
                json!({ "type": "task", "tasks": [{ "key": 1, "rows": [{ "text": "t", "completed": true, "line": 0, "path": "B.md" }] }] }),
                "Done|Task|Line|File",
                vec!["true|t|1|B"],
            ),
            (json!({ "type": "calendar", "entries": [{ "date": "d", "link": link }] }), "Date|File", vec!["d|B"]),
            (
                json!({
                    "type": "list", "columns": [{ "id": "file.name", "name": "name" }, { "id": "n", "name": "n" }],
                    "groups": [{ "key": "g", "rows": 1 }],
                    "rows": [{ "path": "x/B.md", "group": "g", "values": { "file.name": "B", "n": 2 } }],
                }),
                "Group|name|n",
                vec!["g|B|2"],
            ),
            (json!({}), "", vec![]),
        ] {
            assert_eq!(
                table(answer.clone()),
                (headers.to_owned(), rows.iter().map(|row| (*row).to_owned()).collect()),
                "{answer}"
            );
        }
    }

    #[test]
    fn rows_are_sorted_by_value_with_nothing_at_the_end() {
        let values = [json!("b"), json!(10), json!(null), json!("A"), json!(9)];
        let mut table =
            QueryTable { headers: Vec::new(), rows: values.iter().map(|value| vec![value.clone()]).collect() };
        let shown = |table: &QueryTable| table.rows.iter().map(|row| cell(&row[0])).collect::<Vec<_>>().join(" ");
        table.sort(0, false);
        assert_eq!(shown(&table).trim_end(), "9 10 A b");
        table.sort(0, true);
        assert_eq!(shown(&table).trim_end(), "b A 10 9");
        table.sort(7, true);
        assert_eq!(table.rows.len(), 5);
    }
}
