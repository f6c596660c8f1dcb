//! Prints the result of a Dataview query or a base.

use std::io::{self, Write};

use lapidary_tools::{
    Reason,
    quote::{one_line, visible},
};
use serde_json::{Value, json};

use super::{
    CommandFailure, CommandOutcome, SAVING,
    call::{CallRefusal, OwnerCalls},
    report,
    screen::Screen,
    table::TableCell,
};
use crate::cli::QueryArguments;

const TOOL: &str = "query";
/// A person waits for one long page rather than for many short ones.
const ROWS_AT_ONCE: usize = 1000;
/// Where the rows of each type of result are.
const ROW_FIELDS: [&str; 4] = ["rows", "values", "tasks", "entries"];

/// What a query comes to, by the same tool as for a client.
pub(super) fn run(
    query: &QueryArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let printed = query.printed;
    let asking = QueryAsking { query, calls };
    let answer = match (printed.csv, printed.md) {
        (true, _) => asking.all("csv"),
        (_, true) => asking.all("md"),
        _ => asking.all("rows"),
    };
    let answer = match answer {
        // A list and tasks are read best as the lines they are. The list of a base is a table, with columns.
        Ok(rows) if !printed.json && !printed.csv && is_lines(&rows) => asking.all("md"),
        answer => answer,
    };
    calls.assembled.executor.save_indexes(SAVING);
    let answer = answer.map_err(|refusal| asking.failure(refusal))?;
    let is_empty = answer["total"] == json!(0);
    let outcome = if is_empty { CommandOutcome::NothingFound } else { CommandOutcome::Well };
    if printed.json {
        screen.json(&answer)?;
        return Ok(outcome);
    }
    say_what_is_missing(&answer);
    if is_empty && !printed.csv && !printed.md {
        report::note("nothing found");
        return Ok(outcome);
    }
    match answer["text"].as_str() {
        // A terminal needs no carriage return, and would show it.
        Some(text) if screen.style.is_terminal => write!(screen, "{}", visible(&text.replace("\r\n", "\n")))?,
        Some(text) => write!(screen, "{text}")?,
        None => print_tables(screen, &answer)?,
    }
    screen.flush()?;
    say_how_many(query, &answer);
    Ok(outcome)
}

/// Whether a result of DQL is a list or tasks.
fn is_lines(answer: &Value) -> bool {
    matches!(answer["type"].as_str(), Some("list" | "task")) && answer["columns"].is_null()
}

/// What the app hides is said beside the result, not in it.
fn say_what_is_missing(answer: &Value) {
    for dropped in answer["dropped"].as_array().into_iter().flatten() {
        let (count, step) =
            (dropped["count"].as_u64().unwrap_or_default(), dropped["step"].as_str().unwrap_or_default());
        let message = dropped["messages"][0].as_str().unwrap_or_default();
        let rows = if count == 1 { "row" } else { "rows" };
        report::note(&format!("{count} {rows} left out by errors in {}: {}", one_line(step), one_line(message)));
    }
    for warning in answer["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        report::note(&one_line(warning));
    }
}

/// As below the hits of a search: how many there are, if not all were wanted.
fn say_how_many(query: &QueryArguments, answer: &Value) {
    let total = answer["total"].as_u64().unwrap_or_default();
    if let Some(limit) = query.limit.map(|limit| limit.max(1) as u64).filter(|limit| *limit < total) {
        report::note(&format!("{limit} of {total} rows; --limit shows more"));
    }
}

/// Calls of the tool.
struct QueryAsking<'q> {
    query: &'q QueryArguments,
    calls: OwnerCalls<'q>,
}

impl QueryAsking<'_> {
    /// All pages as one answer, as far as they are wanted.
    fn all(&self, format: &str) -> Result<Value, CallRefusal> {
        let most = self.query.limit.unwrap_or(usize::MAX);
        let mut whole: Option<Value> = None;
        let mut offset = 0_usize;
        loop {
            // At least one: a page of none would never end.
            let limit = ROWS_AT_ONCE.min(most.saturating_sub(offset)).max(1);
            let mut page = self.page(format, offset, limit)?;
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

    fn page(&self, format: &str, offset: usize, limit: usize) -> Result<Value, CallRefusal> {
        let QueryArguments { query, view, note, .. } = self.query;
        let (query, cursor) = (query.join(" "), cursor(offset, limit));
        let arguments = json!({ "query": query, "format": format, "cursor": cursor, "view": view, "note": note });
        self.calls.try_facts(TOOL, arguments)
    }

    /// The refusal, and below it the line of the query with a mark at the place.
    fn failure(&self, refusal: CallRefusal) -> CommandFailure {
        let place = match &refusal {
            CallRefusal::Reason(reason) => self.place(reason),
            CallRefusal::Tool(_) => None,
        };
        match (self.calls.failure(refusal), place) {
            (CommandFailure::Refused(words), Some(place)) => CommandFailure::Refused(format!("{words}\n{place}")),
            (failure, _) => failure,
        }
    }

    fn place(&self, reason: &Reason) -> Option<String> {
        let data = reason.data();
        // Only some reasons have a place.
        let number = |name: &str| data.get(name)?.as_u64().and_then(|number| usize::try_from(number).ok());
        let (line, column) = (number("line")?, number("column")?);
        let source = self.source()?;
        Some(marked(source.lines().nth(line.checked_sub(1)?)?, column))
    }

    /// The text that line and column are of: the query, or the base that it names.
    fn source(&self) -> Option<String> {
        let query = self.query.query.join(" ");
        if !query.trim().to_lowercase().ends_with(".base") {
            return Some(query);
        }
        // If it cannot be read, the refusal has said so.
        let read = self.calls.try_facts("file_read", json!({ "file": query.trim() })).ok()?;
        read["content"].as_str().map(str::to_owned)
    }
}

/// A line, and below it a caret at a column, counted in characters from 1.
fn marked(line: &str, column: usize) -> String {
    use unicode_width::UnicodeWidthStr;
    // A tab is as wide as the terminal likes, and the mark would not be below its place.
    let shown = |text: &str| visible(&text.replace('\t', " ")).into_owned();
    let before: String = line.chars().take(column.saturating_sub(1)).collect();
    format!("  {}\n  {}^", shown(line), " ".repeat(shown(&before).width()))
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

/// One table, or one for each group of a base.
fn print_tables(screen: &mut Screen<'_>, answer: &Value) -> io::Result<()> {
    let list = |field: &str| answer[field].as_array().map(Vec::as_slice).unwrap_or_default();
    let cells = |values: &[Value]| -> Vec<TableCell> { values.iter().map(table_cell).collect() };
    if !list("entries").is_empty() {
        let rows: Vec<_> =
            list("entries").iter().map(|entry| vec![table_cell(&entry["date"]), table_cell(&entry["link"])]).collect();
        return screen.table(&["Date", "File"], &rows);
    }
    let columns = list("columns");
    if columns.is_empty() {
        let header: Vec<String> = list("headers").iter().map(cell).collect();
        let rows: Vec<_> =
            list("rows").iter().map(|row| cells(row.as_array().map(Vec::as_slice).unwrap_or_default())).collect();
        return screen.table(&header.iter().map(String::as_str).collect::<Vec<_>>(), &rows);
    }
    let header: Vec<String> = columns.iter().map(|column| cell(&column["name"])).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let row = |row: &Value| -> Vec<TableCell> {
        columns.iter().map(|column| table_cell(&row["values"][column["id"].as_str().unwrap_or_default()])).collect()
    };
    let groups = list("groups");
    if groups.is_empty() {
        let rows: Vec<_> = list("rows").iter().map(row).collect();
        screen.table(&header, &rows)?;
    }
    for (number, group) in groups.iter().enumerate() {
        let rows: Vec<_> =
            list("rows").iter().filter(|found| found.get("group") == group.get("key")).map(row).collect();
        let heading = if group["key"].is_null() { "None".to_owned() } else { cell(&group["key"]) };
        if number > 0 {
            writeln!(screen)?;
        }
        let summed: String = summaries(group, columns).map(|summary| format!("  {summary}")).collect();
        let heading = screen.style.strong(&heading);
        writeln!(screen, "{heading}{summed}")?;
        screen.table(&header, &rows)?;
    }
    let summed: Vec<String> = summaries(answer, columns).collect();
    if !summed.is_empty() {
        writeln!(screen, "\n{}", summed.join("\n"))?;
    }
    Ok(())
}

/// Numbers are aligned at their end.
fn table_cell(value: &Value) -> TableCell {
    let shown = TableCell::from(cell(value));
    if value.is_number() { shown.number() } else { shown }
}

/// `price Sum: 12`, of all rows or of a group. A property that is a column is called as that.
fn summaries<'a>(of: &'a Value, columns: &'a [Value]) -> impl Iterator<Item = String> + 'a {
    of["summaries"].as_array().into_iter().flatten().map(|summary| {
        let property = &summary["property"];
        let column = columns.iter().find(|column| column["id"] == *property).map(|column| &column["name"]);
        format!("{} {}: {}", cell(column.unwrap_or(property)), cell(&summary["name"]), cell(&summary["value"]))
    })
}

/// A typed value as people read it, on one line.
fn cell(value: &Value) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_below_the_place_in_every_script() {
        assert_eq!(marked("LIST WHERE )", 12), "  LIST WHERE )\n             ^");
        assert_eq!(marked("日記 x", 4), "  日記 x\n       ^");
        assert_eq!(marked("a", 9), "  a\n   ^");
    }

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
}
