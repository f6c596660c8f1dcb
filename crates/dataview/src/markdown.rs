//! Results as Markdown, as the plugin's export writes them.

use lapidary_note::count_steps;
use lapidary_query::{
    DataviewSettings, LuxonDate, LuxonZone, Value, format_luxon, joined_lines, number_text, utf16_length,
};

use super::{
    answer::{DqlResult, DqlTask, ListEntry, TaskGrouping},
    links::link_text,
    tasks::shown_roots,
};

/// What writing a short value counts.
const VALUE_STEPS: usize = 32;
/// A larger table is not aligned.
const MOST_PADDED: usize = 256 << 10;
/// The least that a table needs below a header.
const LEAST_WIDTH: usize = 3;

/// Writes values as Dataview shows them to one person.
pub struct DqlWriter<'s> {
    settings: &'s DataviewSettings,
    zone: LuxonZone,
}

impl<'s> DqlWriter<'s> {
    pub fn new(settings: &'s DataviewSettings, zone: jiff::tz::TimeZone) -> Self {
        Self { settings, zone: LuxonZone::Local(zone) }
    }

    /// What a value looks like.
    pub fn text(&self, value: &Value) -> String {
        self.nested_text(value, false)
    }

    /// What a value looks like on a line that it does not end.
    pub fn line_text(&self, value: &Value) -> String {
        joined_lines(&self.text(value)).into_owned()
    }

    fn nested_text(&self, value: &Value, nested: bool) -> String {
        count_steps(VALUE_STEPS);
        match value {
            Value::Null => self.settings.null_text.clone(),
            Value::Boolean(value) => value.to_string(),
            Value::Number(number) => number_text(number.as_f64()),
            Value::Text(text) => text.clone(),
            Value::Date(date) => match LuxonDate::of(date, &self.zone) {
                Some(date) => self.date_text(&date),
                None => date.to_string(),
            },
            Value::Duration(duration) => duration.normalised().human_text(),
            Value::Link(link) => link_text(link),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.nested_text(item, true)).collect();
                let items = items.join(", ");
                // Brackets tell a list in a list from the list around it.
                if nested { format!("[{items}]") } else { items }
            }
            Value::Object(entries) => {
                let entry = |(name, value)| format!("{name}: {}", self.nested_text(value, true));
                format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn date_text(&self, date: &LuxonDate) -> String {
        let wall = date.wall();
        // Dataview has no dates without a time; midnight is shown as one.
        let midnight = (wall.hour, wall.minute, wall.second) == (0, 0, 0);
        format_luxon(date, if midnight { &self.settings.date_format } else { &self.settings.date_time_format })
    }

    /// The value of an inline query, as written in the text of a note: dates are those of the reader.
    pub fn inline_text(&self, value: &Value) -> String {
        count_steps(VALUE_STEPS);
        match value {
            Value::Date(date) => match LuxonDate::of(date, &self.zone) {
                Some(date) => self.date_text(&date.in_zone(self.zone.clone())),
                None => date.to_string(),
            },
            Value::List(items) if items.is_empty() => "<empty list>".to_owned(),
            Value::List(items) => items.iter().map(|item| self.inline_text(item)).collect::<Vec<_>>().join(", "),
            Value::Object(entries) if entries.is_empty() => "<empty object>".to_owned(),
            Value::Object(entries) => {
                let entry = |(name, value)| format!("{name}: {}", self.inline_text(value));
                entries.iter().map(entry).collect::<Vec<_>>().join(", ")
            }
            other => self.text(other),
        }
    }

    /// A whole result. Calendars cannot be written, which the error says.
    pub fn markdown(&self, result: &DqlResult) -> Result<String, &'static str> {
        // The plugin writes lists and tasks with its default settings.
        let usual = DataviewSettings::default();
        let plain = DqlWriter { settings: &usual, zone: self.zone.clone() };
        match result {
            DqlResult::Table { headers, rows, .. } => {
                Ok(self.table(headers, rows.iter().map(|row| row.cells.as_slice())))
            }
            DqlResult::List { shows_id, entries } => {
                Ok(entries.iter().map(|entry| plain.list_entry(entry, *shows_id)).collect())
            }
            DqlResult::Task { tasks } => {
                let mut text = String::new();
                plain.tasks(tasks, 0, &mut text);
                Ok(text)
            }
            DqlResult::Calendar { .. } => Err("Cannot render calendar queries to markdown."),
        }
    }

    fn table<'r>(&self, headers: &[String], rows: impl Iterator<Item = &'r [Value]>) -> String {
        // A line break would end the row of the table.
        let line = |text: String| joined_lines(&text).into_owned();
        let headers: Vec<String> = headers.iter().map(|header| line(escaped(header))).collect();
        let rows: Vec<Vec<String>> =
            rows.map(|cells| cells.iter().map(|cell| line(self.table_cell(cell))).collect()).collect();
        // In units, as Dataview pads, although wide characters are then not aligned.
        let mut widths: Vec<usize> = headers.iter().map(|header| utf16_length(header)).collect();
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(utf16_length(cell));
            }
        }
        // One wide cell would make every line as long.
        if widths.iter().sum::<usize>().saturating_mul(rows.len()) > MOST_PADDED {
            widths.fill(LEAST_WIDTH);
        }
        let line = |cells: &[String]| {
            let padded = |(cell, width): (&String, &usize)| {
                format!("{cell}{}", " ".repeat(width.saturating_sub(utf16_length(cell))))
            };
            format!("| {} |\n", cells.iter().zip(&widths).map(padded).collect::<Vec<_>>().join(" | "))
        };
        let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        let mut text = line(&headers) + &line(&dashes);
        rows.iter().for_each(|row| text += &line(row));
        text
    }

    /// Bars are escaped once for every level that a value is nested.
    fn table_cell(&self, value: &Value) -> String {
        if !self.settings.allows_html {
            return escaped(&self.text(value));
        }
        let text = match value {
            Value::List(items) => {
                let items = items.iter().map(|item| format!("<li>{}</li>", self.table_cell(item)));
                format!("<ul>{}</ul>", items.collect::<String>())
            }
            Value::Object(entries) => {
                let entry = |(name, value): (&String, _)| {
                    format!("<li><b>{}</b>: {}</li>", escaped(name), self.table_cell(value))
                };
                format!("<ul>{}</ul>", entries.iter().map(entry).collect::<String>())
            }
            other => self.text(other),
        };
        escaped(&text)
    }

    fn list_entry(&self, entry: &ListEntry, shows_id: bool) -> String {
        let text = match &entry.value {
            Some(value) if shows_id => format!("{}: {}", self.line_text(&entry.id), self.list_value(value, 1)),
            Some(value) => self.list_value(value, 0),
            None => self.list_value(&entry.id, 0),
        };
        format!("- {text}\n")
    }

    /// Lists inside of lists keep the depth of the outer one, as in the original.
    fn list_value(&self, value: &Value, depth: usize) -> String {
        let indent = "    ".repeat(depth);
        let start = if depth == 0 { "" } else { "\n" };
        match value {
            Value::List(items) => {
                let item = |item| format!("{indent}- {}\n", self.list_value(item, depth));
                format!("{start}{}", items.iter().map(item).collect::<String>())
            }
            Value::Object(entries) => {
                let entry = |(name, value): (&String, _)| {
                    format!("{indent}- {}: {}\n", joined_lines(name), self.list_value(value, depth))
                };
                format!("{start}{}", entries.iter().map(entry).collect::<String>())
            }
            other => self.line_text(other),
        }
    }

    fn tasks(&self, tasks: &TaskGrouping, depth: usize, text: &mut String) {
        match tasks {
            TaskGrouping::Groups(groups) => {
                for (key, tasks) in groups {
                    *text += &format!("{} {}\n\n", "#".repeat(depth + 1), self.line_text(key));
                    self.tasks(tasks, depth + 1, text);
                }
            }
            TaskGrouping::Tasks(tasks) => shown_roots(tasks).into_iter().for_each(|task| self.task(task, depth, text)),
        }
    }

    /// Tasks below the paths of their files, each with its line, counted from 1 as other tools do: what is needed to
    /// change one.
    pub fn located_tasks(&self, tasks: &TaskGrouping) -> String {
        let mut text = String::new();
        self.located(tasks, 0, &mut text);
        text
    }

    fn located(&self, tasks: &TaskGrouping, depth: usize, text: &mut String) {
        match tasks {
            TaskGrouping::Groups(groups) => {
                for (key, tasks) in groups {
                    *text += &format!("{} {}\n", "#".repeat(depth + 1), joined_lines(&self.text(key)));
                    self.located(tasks, depth + 1, text);
                }
            }
            TaskGrouping::Tasks(tasks) => {
                let mut path: Option<&str> = None;
                for task in shown_roots(tasks) {
                    if path != Some(&task.path) {
                        *text += &format!("{}\n", joined_lines(&task.path));
                        path = Some(&task.path);
                    }
                    self.located_task(task, 0, text);
                }
            }
        }
    }

    fn located_task(&self, task: &DqlTask, depth: usize, text: &mut String) {
        *text += &format!("{}{}: {}\n", "  ".repeat(depth), task.line + 1, task_line(task));
        task.children.iter().for_each(|child| self.located_task(child, depth + 1, text));
    }

    fn task(&self, task: &DqlTask, depth: usize, text: &mut String) {
        *text += &format!("{}{}\n", "    ".repeat(depth), task_line(task));
        task.children.iter().for_each(|child| self.task(child, depth + 1, text));
    }
}

/// `- [ ] text`
fn task_line(task: &DqlTask) -> String {
    let shown = match task.fields.get("visual") {
        // Dataview shows this field of a task instead of its text.
        Some(Value::Text(visual)) => visual,
        _ => &task.text,
    };
    count_steps(VALUE_STEPS + shown.len());
    let mark = task.status.map(|status| format!("[{status}] ")).unwrap_or_default();
    format!("- {mark}{}", joined_lines(shown))
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
