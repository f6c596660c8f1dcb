//! The rows of a Dataview query, a page at a time.

use std::ops::Range;

use jiff::tz::TimeZone;
use lapidary_dataview::{DqlAnswer, DqlResult, DqlTask, DqlWriter, ListEntry, TableRow, TaskGrouping};
use lapidary_query::{DataviewSettings, DateValue, LinkValue, Value, csv_record};
use serde_json::{Map, Value as Json, json};

use super::{PageRequest, QueryFormat, QueryPage};

/// A query that was run, and how its values are written.
pub(super) struct DqlOutcome {
    pub(super) answer: DqlAnswer,
    pub(super) settings: DataviewSettings,
    pub(super) zone: TimeZone,
}

/// Why rows have no note to be found under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFileOfRow {
    WithoutId,
    Grouped,
}

impl DqlOutcome {
    pub(super) fn page(mut self, request: &PageRequest<'_>) -> QueryPage {
        leave_out(&mut self.answer.result, request);
        let range = request.range(self.answer.total);
        let made = super::made(&range, self.answer.first, self.answer.result.len());
        let mut shown = made.len();
        loop {
            // Written and measured, then tried again with fewer rows: the size of a page is only known once it is
            // written.
            let result = part(&self.answer.result, made.start..made.start + shown);
            let (fields, text) = self.written(&result, request.format);
            let bytes = match request.format {
                QueryFormat::Rows => super::json_bytes(&fields),
                _ => text.len(),
            };
            if bytes <= request.room || shown <= 1 {
                return QueryPage { fields, text, shown, total: 0 };
            }
            // Rows are of about one size, so this ends soon.
            // Scaled by how much was too large, and at least one fewer each time.
            shown = (shown * request.room / bytes).clamp(1, shown - 1);
        }
    }

    fn written(&self, result: &DqlResult, format: QueryFormat) -> (Map<String, Json>, String) {
        let mut fields = Map::new();
        // Only this format is read by programs as rows; the others are texts.
        if format == QueryFormat::Rows
            && let Json::Object(typed) = result.to_json()
        {
            fields = typed;
        }
        fields.insert("type".to_owned(), result.kind().into());
        let text = match format {
            QueryFormat::Rows => match result {
                // With path and line, which a model needs to change a task.
                DqlResult::Task { tasks } => self.writer().located_tasks(tasks),
                result => self.markdown(result),
            },
            QueryFormat::Md => self.markdown(result),
            QueryFormat::Csv => self.csv(result),
            QueryFormat::Json => {
                let hit = |(filename, result)| json!({ "filename": filename, "result": result });
                self.hits(result).into_iter().map(hit).collect::<Json>().to_string()
            }
            QueryFormat::Paths => distinct(paths(result)).iter().map(|path| format!("{path}\n")).collect(),
        };
        (fields, text)
    }

    fn writer(&self) -> DqlWriter<'_> {
        DqlWriter::new(&self.settings, self.zone.clone())
    }

    fn markdown(&self, result: &DqlResult) -> String {
        match (self.writer().markdown(result), result) {
            (Ok(text), _) => text,
            // The plugin does not write calendars as Markdown; a list of dates says the same.
            (Err(_), DqlResult::Calendar { entries }) => {
                let line = |(date, link)| format!("- {date}: {}\n", self.writer().line_text(link));
                entries.iter().map(|entry| (&entry.date, &entry.link)).map(line).collect()
            }
            (Err(problem), _) => problem.to_owned(),
        }
    }

    fn csv(&self, result: &DqlResult) -> String {
        let writer = self.writer();
        // Nothing is an empty cell to a program that reads it.
        let text = |value: &Value| if value.is_null() { String::new() } else { writer.text(value) };
        let strings = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<String>>();
        let mut records: Vec<Vec<String>> = Vec::new();
        match result {
            DqlResult::Table { headers, rows, .. } => {
                records.push(headers.clone());
                records.extend(rows.iter().map(|row| row.cells.iter().map(text).collect()));
            }
            DqlResult::List { entries, .. } => {
                records.push(strings(&[&self.settings.id_column, "Value"]));
                let record =
                    |entry: &ListEntry| vec![text(&entry.id), entry.value.as_ref().map(text).unwrap_or_default()];
                records.extend(entries.iter().map(record));
            }
            DqlResult::Task { tasks } => {
                records.push(strings(&["status", "text", "path", "line"]));
                let record = |task: &DqlTask| {
                    let status = task.status.map(String::from).unwrap_or_default();
                    vec![status, task.text.clone(), task.path.clone(), task.line.to_string()]
                };
                records.extend(flat(tasks).into_iter().map(record));
            }
            DqlResult::Calendar { entries } => {
                records.push(strings(&["date", &self.settings.id_column]));
                records.extend(entries.iter().map(|entry| vec![entry.date.to_string(), text(&entry.link)]));
            }
        }
        records.iter().map(csv_record).collect()
    }

    /// As the Local REST API answered: each row under its file, without the column that says it.
    pub(super) fn hits(&self, result: &DqlResult) -> Vec<(String, Json)> {
        match result {
            DqlResult::Table { headers, shows_id, rows } => {
                // The first column is the file, under which the row is listed.
                // A table without ids has its first column among the values.
                let skipped = usize::from(*shows_id);
                let hit = |row: &TableRow| {
                    let columns = headers.iter().zip(&row.cells).skip(skipped);
                    let columns = columns.map(|(name, cell)| (name.clone(), self.plain(cell)));
                    // Under the file of the row, or under its group.
                    (self.file_of(&row.id), Json::Object(columns.collect()))
                };
                rows.iter().map(hit).collect()
            }
            DqlResult::List { entries, .. } => {
                let hit = |entry: &ListEntry| {
                    let value = entry.value.as_ref().map(|value| ("value".to_owned(), self.plain(value)));
                    (self.file_of(&entry.id), Json::Object(value.into_iter().collect()))
                };
                entries.iter().map(hit).collect()
            }
            DqlResult::Task { tasks } => {
                let hit = |task: &DqlTask| {
                    let fields = task.fields.iter().map(|(name, value)| (name.clone(), self.plain(value)));
                    let mut made: Map<String, Json> = fields.collect();
                    made.insert("text".to_owned(), task.text.clone().into());
                    made.insert("line".to_owned(), task.line.into());
                    // No status is a list item without a box.
                    made.insert("status".to_owned(), task.status.map(String::from).into());
                    (task.path.clone(), Json::Object(made))
                };
                flat(tasks).into_iter().map(hit).collect()
            }
            DqlResult::Calendar { entries } => {
                let hit = |(date, link): (&DateValue, &Value)| {
                    (self.file_of(link), json!({ "date": self.plain(&Value::Date(date.clone())) }))
                };
                entries.iter().map(|entry| (&entry.date, &entry.link)).map(hit).collect()
            }
        }
    }

    /// Whether every row has a file.
    pub(super) fn has_files(&self) -> Result<(), NoFileOfRow> {
        match &self.answer.result {
            DqlResult::Table { shows_id: false, .. } => Err(NoFileOfRow::WithoutId),
            DqlResult::Table { .. } | DqlResult::List { .. } if !self.answer.groups.is_empty() => {
                Err(NoFileOfRow::Grouped)
            }
            _ => Ok(()),
        }
    }

    fn file_of(&self, id: &Value) -> String {
        match id {
            Value::Link(link) => link.path.clone(),
            id => self.writer().text(id),
        }
    }

    /// As JavaScript writes values into JSON.
    fn plain(&self, value: &Value) -> Json {
        match value {
            Value::Link(link) => plain_link(link),
            Value::Date(date) => self.plain_date(date),
            Value::List(items) => items.iter().map(|item| self.plain(item)).collect(),
            Value::Object(entries) => {
                Json::Object(entries.iter().map(|(name, value)| (name.clone(), self.plain(value))).collect())
            }
            value => Json::from(value),
        }
    }

    fn plain_date(&self, date: &DateValue) -> Json {
        let moment = date.timestamp(&self.zone).map(|moment| moment.to_zoned(self.zone.clone()));
        // As Luxon writes it: with milliseconds and the offset.
        moment.map_or(Json::Null, |moment| moment.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string().into())
    }
}

fn plain_link(link: &LinkValue) -> Json {
    let (kind, subpath) = match link.subpath.as_deref() {
        None => ("file", None),
        Some(subpath) => match subpath.strip_prefix('^') {
            // Subpaths of blocks begin with a caret, those of headings do not.
            Some(block) => ("block", Some(block)),
            None => ("header", Some(subpath)),
        },
    };
    let mut made = json!({ "path": link.path, "embed": link.embed, "type": kind });
    if let Some(subpath) = subpath {
        made["subpath"] = subpath.into();
    }
    if let Some(display) = &link.display {
        made["display"] = display.as_str().into();
    }
    made
}

/// Some of the rows. Groups of tasks stay groups.
fn part(result: &DqlResult, range: Range<usize>) -> DqlResult {
    fn within<T: Clone>(rows: &[T], range: &Range<usize>) -> Vec<T> {
        rows.get(range.clone()).unwrap_or_default().to_vec()
    }
    match result {
        DqlResult::Table { headers, shows_id, rows } => {
            DqlResult::Table { headers: headers.clone(), shows_id: *shows_id, rows: within(rows, &range) }
        }
        DqlResult::List { shows_id, entries } => {
            DqlResult::List { shows_id: *shows_id, entries: within(entries, &range) }
        }
        DqlResult::Task { tasks } => DqlResult::Task { tasks: part_of_tasks(tasks, &range) },
        DqlResult::Calendar { entries } => DqlResult::Calendar { entries: within(entries, &range) },
    }
}

fn part_of_tasks(tasks: &TaskGrouping, range: &Range<usize>) -> TaskGrouping {
    match tasks {
        TaskGrouping::Tasks(tasks) => {
            let end = range.end.min(tasks.len());
            TaskGrouping::Tasks(tasks.get(range.start.min(end)..end).unwrap_or_default().to_vec())
        }
        TaskGrouping::Groups(groups) => {
            let mut before = 0;
            let mut kept = Vec::new();
            for (key, inner) in groups {
                let (start, end) = (before, before + inner.len());
                before = end;
                // Only groups that have a row on the page.
                if start < range.end && range.start < end {
                    // The page within this group.
                    let own = range.start.saturating_sub(start)..range.end.min(end) - start;
                    kept.push((key.clone(), part_of_tasks(inner, &own)));
                }
            }
            TaskGrouping::Groups(kept)
        }
    }
}

fn flat(tasks: &TaskGrouping) -> Vec<&DqlTask> {
    match tasks {
        TaskGrouping::Tasks(tasks) => tasks.iter().collect(),
        TaskGrouping::Groups(groups) => groups.iter().flat_map(|(_, tasks)| flat(tasks)).collect(),
    }
}

fn leave_out(result: &mut DqlResult, request: &PageRequest<'_>) {
    match result {
        DqlResult::Table { headers, shows_id, rows } => {
            let keeps: Vec<bool> = headers.iter().map(|name| !request.leaves_out(name, name)).collect();
            let kept = |at: usize| keeps.get(at).copied().unwrap_or(true);
            // Leaving out the first column leaves out the ids.
            *shows_id = *shows_id && kept(0);
            let mut at = 0;
            headers.retain(|_| {
                at += 1;
                kept(at - 1)
            });
            for row in rows {
                let mut at = 0;
                row.cells.retain(|_| {
                    at += 1;
                    kept(at - 1)
                });
            }
        }
        DqlResult::Task { tasks } if !request.without.is_empty() => leave_out_of_tasks(tasks, request),
        _ => {}
    }
}

/// The columns of tasks are their fields.
fn leave_out_of_tasks(tasks: &mut TaskGrouping, request: &PageRequest<'_>) {
    match tasks {
        TaskGrouping::Tasks(tasks) => {
            tasks.iter_mut().for_each(|task| task.fields.retain(|name, _| !request.leaves_out(name, name)));
        }
        TaskGrouping::Groups(groups) => {
            groups.iter_mut().for_each(|(_, tasks)| leave_out_of_tasks(tasks, request));
        }
    }
}

/// The files of the rows, in order.
fn paths(result: &DqlResult) -> Vec<&str> {
    fn path(value: &Value) -> Option<&str> {
        match value {
            Value::Link(link) => Some(&link.path),
            _ => None,
        }
    }
    match result {
        DqlResult::Table { rows, .. } => rows.iter().filter_map(|row| path(&row.id)).collect(),
        DqlResult::List { entries, .. } => entries.iter().filter_map(|entry| path(&entry.id)).collect(),
        DqlResult::Task { tasks } => flat(tasks).into_iter().map(|task| task.path.as_str()).collect(),
        DqlResult::Calendar { entries } => entries.iter().filter_map(|entry| path(&entry.link)).collect(),
    }
}

fn distinct(paths: Vec<&str>) -> Vec<&str> {
    let mut seen = std::collections::HashSet::new();
    paths.into_iter().filter(|path| seen.insert(*path)).collect()
}
