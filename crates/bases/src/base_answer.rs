//! What a view of a base comes to, as data and as text.

use std::{borrow::Cow, sync::Arc};

use super::{
    base_value::{BaseLink, BaseObject, BaseValue},
    text_form::{TextClock, VALUE_STEPS},
};
use lapidary_note::count_steps;
use lapidary_query::{DroppedRows, LinkValue, Number, Object, QueryStep, Value, csv_record, joined_lines};

/// A view with its rows, in the order of the view.
#[derive(Debug)]
pub struct BaseAnswer {
    pub view: String,
    /// `table`, `cards`, `list`, `map`, or the type of a plugin.
    pub kind: String,
    /// What else the view says, for its type.
    pub options: Object,
    pub columns: Vec<BaseColumn>,
    /// The rows that are shown.
    pub rows: Vec<BaseRow>,
    /// The place of the first of them among all rows of the view.
    pub first: usize,
    /// How many rows the view has, shown or not.
    pub count: usize,
    /// Nothing if the view does not group.
    pub groups: Option<Vec<BaseGroup>>,
    /// Over all rows of the view.
    pub summaries: Vec<BaseSummary>,
    /// How many rows passed the filters, within the limit or not.
    pub total: usize,
    pub limit: Option<usize>,
    /// Rows that filters left out because they failed.
    pub dropped: Vec<DroppedRows>,
    pub steps: Vec<QueryStep>,
    /// Whether `random` was used, so that the answer is another each time.
    pub is_random: bool,
    pub(super) clock: TextClock,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseColumn {
    /// `file.name`, `status`, `formula.total`: as the view names it.
    pub id: String,
    /// The header.
    pub name: String,
}

#[derive(Clone, Debug)]
pub struct BaseRow {
    pub path: Arc<str>,
    /// One for each column.
    pub cells: Vec<BaseValue>,
}

#[derive(Clone, Debug)]
pub struct BaseGroup {
    /// Null for the rows without a value.
    pub key: BaseValue,
    /// Places among all rows of the view, in order.
    pub rows: Vec<usize>,
    pub summaries: Vec<BaseSummary>,
}

#[derive(Clone, Debug)]
pub struct BaseSummary {
    /// The id of the property, which need not be a column.
    pub property: String,
    pub name: String,
    pub value: BaseValue,
}

impl BaseAnswer {
    /// A value as the app writes it.
    pub fn text<'v>(&self, value: &'v BaseValue) -> Cow<'v, str> {
        let text = self.clock.text(value);
        // Whatever is written next copies it.
        count_steps(VALUE_STEPS + text.len());
        text
    }

    /// A value in the type that all languages share. Files are links to them; errors, pictures, addresses and tags are
    /// their texts.
    pub fn shared_value(&self, value: &BaseValue) -> Value {
        self.shared(value, 0)
    }

    fn shared(&self, value: &BaseValue, depth: usize) -> Value {
        count_steps(VALUE_STEPS);
        match value {
            BaseValue::Null => Value::Null,
            BaseValue::Boolean(value) => Value::Boolean(*value),
            BaseValue::Number(number) => shared_number(*number),
            // A relative date is words such as `2 days ago`, which only its text has.
            BaseValue::Date(date) if !date.is_relative => Value::Date(date.to_shared(&self.clock.zone)),
            BaseValue::Duration(duration) => Value::Duration(duration.to_shared()),
            BaseValue::Link(link) => Value::Link(shared_link(link)),
            BaseValue::File(file) => Value::Link(LinkValue { path: file.path.to_string(), ..LinkValue::default() }),
            // Bounds the recursion; what is written by hand is far from it.
            BaseValue::List(_) | BaseValue::Object(_) if depth > 64 => Value::Null,
            BaseValue::List(items) => items.iter().map(|item| self.shared(item, depth + 1)).collect(),
            BaseValue::Object(entries) => Value::Object(self.shared_object(entries, depth + 1)),
            other => Value::Text(self.text(other).into_owned()),
        }
    }

    fn shared_object(&self, entries: &BaseObject, depth: usize) -> Object {
        entries.iter().map(|(name, value)| (name.clone(), self.shared(value, depth))).collect()
    }

    /// What the app puts above a group.
    pub fn group_heading<'g>(&self, group: &'g BaseGroup) -> Cow<'g, str> {
        if group.key.is_null() { Cow::Borrowed("None") } else { self.text(&group.key) }
    }

    /// A pipe table of the rows in order, as the app copies it: groups and summaries are not in it.
    pub fn to_markdown(&self) -> String {
        self.markdown_of(self.rows.iter())
    }

    /// The same with what the app shows around the rows: a line above each group, with its summaries, and the summaries
    /// of all rows below. Groups without a row that is shown are left out; the header is written once.
    pub fn to_grouped_markdown(&self) -> String {
        let mut text = String::new();
        match &self.groups {
            None => text += &self.to_markdown(),
            Some(groups) => {
                for group in groups {
                    // Groups count over all rows of the view, while `rows` holds only those that are shown.
                    let shown = |place: &usize| self.rows.get(place.checked_sub(self.first)?);
                    let rows: Vec<&BaseRow> = group.rows.iter().filter_map(shown).collect();
                    if rows.is_empty() {
                        continue;
                    }
                    let heading = cell_text(&self.group_heading(group));
                    let count =
                        if group.rows.len() == 1 { "1 row".to_owned() } else { format!("{} rows", group.rows.len()) };
                    let summaries = self.summary_texts(&group.summaries).map(|summary| format!("; {summary}"));
                    let is_first = text.is_empty();
                    text += &format!("{heading} ({count}{})\n", summaries.collect::<String>());
                    let table = self.markdown_of(rows.into_iter());
                    // Header and ruler of the table are its first two lines.
                    let header = if is_first { 0 } else { table.split_inclusive('\n').take(2).map(str::len).sum() };
                    text += &table[header..];
                }
            }
        }
        let summaries: Vec<String> = self.summary_texts(&self.summaries).collect();
        if !summaries.is_empty() {
            text += &format!("{}\n", summaries.join("; "));
        }
        text
    }

    /// `price Sum: 12`
    fn summary_texts<'s>(&'s self, summaries: &'s [BaseSummary]) -> impl Iterator<Item = String> + 's {
        let text = |summary: &BaseSummary| {
            let value = cell_text(&self.text(&summary.value));
            format!("{} {}: {value}", cell_text(&summary.property), cell_text(&summary.name))
        };
        summaries.iter().map(text)
    }

    /// A pipe table of some of the rows.
    fn markdown_of<'r>(&self, rows: impl Iterator<Item = &'r BaseRow>) -> String {
        let mut table = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = Cow<'_, str>>| {
            table.push('|');
            for cell in cells {
                table.push(' ');
                table += &cell_text(&cell);
                table += " |";
            }
            table.push('\n');
        };
        line(&mut self.columns.iter().map(|column| Cow::Borrowed(column.name.as_str())));
        line(&mut self.columns.iter().map(|_| Cow::Borrowed("---")));
        for row in rows {
            line(&mut row.cells.iter().map(|cell| self.text(cell)));
        }
        table
    }

    /// Comma-separated values with the column names first.
    pub fn to_csv(&self) -> String {
        let header = csv_record(self.columns.iter().map(|column| column.name.as_str()));
        let rows = self.rows.iter().map(|row| csv_record(row.cells.iter().map(|cell| self.text(cell))));
        std::iter::once(header).chain(rows).collect()
    }

    /// The same with the group of each row before it, if the view groups; nothing for rows without a value.
    pub fn to_grouped_csv(&self) -> String {
        let Some(groups) = &self.groups else { return self.to_csv() };
        // One key for each row, filled by group: the groups are few and the rows many.
        let mut keys = vec![Cow::Borrowed(""); self.rows.len()];
        for group in groups.iter().filter(|group| !group.key.is_null()) {
            for place in &group.rows {
                if let Some(key) = place.checked_sub(self.first).and_then(|at| keys.get_mut(at)) {
                    *key = self.text(&group.key);
                }
            }
        }
        let named = self.columns.iter().map(|column| Cow::Borrowed(column.name.as_str()));
        let header = csv_record(std::iter::once(Cow::Borrowed("group")).chain(named));
        let row = |(row, key): (&BaseRow, &Cow<'_, str>)| {
            csv_record(std::iter::once(Cow::Borrowed(key.as_ref())).chain(row.cells.iter().map(|cell| self.text(cell))))
        };
        std::iter::once(header).chain(self.rows.iter().zip(&keys).map(row)).collect()
    }

    /// What `base:query format=json` of the app's command line prints: every value as text, `path` first.
    pub fn to_cli_json(&self) -> serde_json::Value {
        let row = |row: &BaseRow| {
            let mut entries = serde_json::Map::new();
            entries.insert("path".to_owned(), row.path.to_string().into());
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                // Of two columns with one name the last one wins.
                entries.insert(column.name.clone(), self.cli_cell(cell));
            }
            serde_json::Value::Object(entries)
        };
        self.rows.iter().map(row).collect()
    }

    /// Errors carry a word before them; nothing is an empty text.
    fn cli_cell(&self, cell: &BaseValue) -> serde_json::Value {
        match cell {
            BaseValue::Error(message) => format!("Error: {message}").into(),
            cell => self.text(cell).into_owned().into(),
        }
    }
}

fn cell_text(text: &str) -> String {
    // A bar or a line break would end the cell.
    joined_lines(text).replace('|', "\\|")
}

fn shared_link(link: &BaseLink) -> LinkValue {
    // Only the first `#` divides; a heading may contain another.
    let (path, subpath) = match link.target.split_once('#') {
        Some((path, subpath)) => (path.to_owned(), Some(subpath.to_owned())),
        None => (link.target.clone(), None),
    };
    LinkValue { path, subpath, display: link.display.clone(), embed: false }
}

fn shared_number(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number that fits")]
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Value::from(number as i64);
    }
    Value::Number(Number::Float(number))
}
