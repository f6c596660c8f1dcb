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
use crate::{
    cli::QueryArguments,
    query_answer::{QUERY_TOOL, all_pages, cell, is_base_file, place_in_query},
};

/// What a query comes to, by the same tool as for a client.
pub(super) fn run(
    query: &QueryArguments,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let printed = query.printed;
    let asking = QueryAsking { query, calls };
    // The format decides what the tool computes, so rows are only asked for where a table is printed.
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
    // The total and not the rows: a page may be cut.
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
        // CSV has `\r\n` by its specification (RFC 4180).
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
    // At least one row is always asked for, so 0 counts as 1.
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
        all_pages(format, self.query.limit.unwrap_or(usize::MAX), |cursor| self.page(format, cursor))
    }

    fn page(&self, format: &str, cursor: &str) -> Result<Value, CallRefusal> {
        let QueryArguments { query, view, note, .. } = self.query;
        let query = query.join(" ");
        let arguments = json!({ "query": query, "format": format, "cursor": cursor, "view": view, "note": note });
        self.calls.try_facts(QUERY_TOOL, arguments)
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
        let (line, column) = place_in_query(reason)?;
        let source = self.source()?;
        Some(marked(source.lines().nth(line.checked_sub(1)?)?, column))
    }

    /// The text that line and column are of: the query, or the base that it names.
    fn source(&self) -> Option<String> {
        let query = self.query.query.join(" ");
        if !is_base_file(&query) {
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

/// One table, or one for each group of a base.
fn print_tables(screen: &mut Screen<'_>, answer: &Value) -> io::Result<()> {
    let list = |field: &str| answer[field].as_array().map(Vec::as_slice).unwrap_or_default();
    let cells = |values: &[Value]| -> Vec<TableCell> { values.iter().map(table_cell).collect() };
    // A calendar has days and links instead of columns.
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
            // Rows carry the key of their group, because pages may split a group.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_below_the_place_in_every_script() {
        assert_eq!(marked("LIST WHERE )", 12), "  LIST WHERE )\n             ^");
        assert_eq!(marked("日記 x", 4), "  日記 x\n       ^");
        assert_eq!(marked("a", 9), "  a\n   ^");
    }
}
