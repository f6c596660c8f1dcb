//! The rows of a base, a page at a time.

use lapidary_bases::{BaseAnswer, BaseProblem, BaseRow, BaseSummary, BaseValue};
use lapidary_query::typed_json;
use serde_json::{Map, Value, json};

use crate::base_edit::problem_text;

use super::{PageRequest, QueryFormat, QueryPage, json_bytes};

/// A view that was run.
pub(super) struct BaseResult {
    pub(super) path: Option<String>,
    pub(super) problems: Vec<BaseProblem>,
    pub(super) more_problems: usize,
    pub(super) answer: BaseAnswer,
}

impl BaseResult {
    pub(super) fn warnings(&self) -> Vec<String> {
        let problems = self.problems.iter().map(problem_text);
        let more = (self.more_problems > 0).then(|| format!("There are {} more problems.", self.more_problems));
        let random = self.answer.is_random.then(|| "random() gives other values each time.".to_owned());
        problems.chain(more).chain(random).collect()
    }

    pub(super) fn page(mut self, request: &PageRequest<'_>) -> QueryPage {
        self.leave_out(request);
        let groups = self.groups();
        // Groups are found before the page is cut out, as they count all rows.
        let range = request.range(self.answer.count);
        let mut rows = std::mem::take(&mut self.answer.rows);
        let made = super::made(&range, self.answer.first, rows.len());
        let mut rows: Vec<BaseRow> = rows.drain(made).collect();
        let group_of = |at: usize| groups.as_ref().and_then(|groups| groups.of_row.get(range.start + at).copied());
        let made: Vec<Value> = match request.format {
            QueryFormat::Rows => {
                rows.iter().enumerate().map(|(at, row)| self.row(row, group_of(at), groups.as_ref())).collect()
            }
            _ => Vec::new(),
        };
        // By bytes and not by a number of rows, because a cell may be a whole text.
        let shown = match request.format {
            QueryFormat::Rows => request.fitting(made.iter().map(json_bytes)),
            QueryFormat::Paths => request.fitting(rows.iter().map(|row| row.path.len())),
            _ => request.fitting(rows.iter().map(|row| self.text_bytes(row))),
        };
        // After the rows are measured: those that did not fit are on the next page.
        rows.truncate(shown);
        let mut fields = Map::new();
        fields.insert("type".to_owned(), self.answer.kind.clone().into());
        fields.extend(self.path.clone().map(|path| ("base".to_owned(), path.into())));
        fields.insert("view".to_owned(), self.answer.view.clone().into());
        (self.answer.rows, self.answer.first) = (rows, range.start);
        let text = match request.format {
            QueryFormat::Rows => {
                let column = |(id, name): (&String, &String)| json!({ "id": id, "name": name });
                let columns = self.answer.columns.iter().map(|column| (&column.id, &column.name));
                fields.insert("columns".to_owned(), columns.map(column).collect());
                fields.insert("rows".to_owned(), made.into_iter().take(shown).collect());
                fields.extend(groups.map(|groups| ("groups".to_owned(), groups.shown.into())));
                if !self.answer.summaries.is_empty() {
                    fields.insert("summaries".to_owned(), self.summaries(&self.answer.summaries));
                }
                self.answer.to_grouped_markdown()
            }
            QueryFormat::Md => self.answer.to_grouped_markdown(),
            QueryFormat::Csv => self.answer.to_grouped_csv(),
            QueryFormat::Json => self.answer.to_cli_json().to_string(),
            QueryFormat::Paths => self.answer.rows.iter().map(|row| format!("{}\n", row.path)).collect(),
        };
        QueryPage { fields, text, shown, total: 0 }
    }

    fn leave_out(&mut self, request: &PageRequest<'_>) {
        let columns = &self.answer.columns;
        // By id or by header, since callers see both.
        let keeps: Vec<bool> = columns.iter().map(|column| !request.leaves_out(&column.id, &column.name)).collect();
        if keeps.iter().all(|keeps| *keeps) {
            return;
        }
        let kept = |at: usize| keeps.get(at).copied().unwrap_or(true);
        let mut at = 0;
        self.answer.columns.retain(|_| {
            at += 1;
            kept(at - 1)
        });
        for row in &mut self.answer.rows {
            let mut at = 0;
            // Cells and columns are parallel lists, so the same positions go.
            row.cells.retain(|_| {
                at += 1;
                kept(at - 1)
            });
        }
    }

    fn typed(&self, value: &BaseValue) -> Value {
        match value {
            // Marked, so that a program can tell it from a text of the note.
            BaseValue::Error(message) => json!({ "$error": message.as_ref() }),
            value => typed_json(&self.answer.shared_value(value)),
        }
    }

    fn row(&self, row: &BaseRow, group: Option<usize>, groups: Option<&RowGroups>) -> Value {
        let cells = self.answer.columns.iter().zip(&row.cells);
        let values: Map<String, Value> = cells.map(|(column, cell)| (column.id.clone(), self.typed(cell))).collect();
        let mut made = json!({ "path": row.path.as_ref(), "values": values });
        if let Some(key) = group.and_then(|group| groups?.keys.get(group)) {
            made["group"] = key.clone();
        }
        made
    }

    fn text_bytes(&self, row: &BaseRow) -> usize {
        // Three more for the separators around a cell.
        row.path.len() + row.cells.iter().map(|cell| self.answer.text(cell).len() + 3).sum::<usize>()
    }

    fn summaries(&self, summaries: &[BaseSummary]) -> Value {
        let one = |summary: &BaseSummary| json!({ "property": summary.property, "name": summary.name, "value": self.typed(&summary.value) });
        summaries.iter().map(one).collect()
    }

    fn groups(&self) -> Option<RowGroups> {
        let groups = self.answer.groups.as_ref()?;
        // A row without a group keeps a number that no group has.
        let mut of_row = vec![usize::MAX; self.answer.count];
        for (number, group) in groups.iter().enumerate() {
            group.rows.iter().for_each(|row| {
                if let Some(slot) = of_row.get_mut(*row) {
                    *slot = number;
                }
            });
        }
        let keys: Vec<Value> = groups.iter().map(|group| self.typed(&group.key)).collect();
        let shown = groups.iter().zip(&keys).map(|(group, key)| {
            let mut made = json!({ "key": key, "rows": group.rows.len() });
            if !group.summaries.is_empty() {
                made["summaries"] = self.summaries(&group.summaries);
            }
            made
        });
        Some(RowGroups { shown: shown.collect(), keys, of_row })
    }
}

/// The groups of a view, and which row is in which.
struct RowGroups {
    shown: Vec<Value>,
    keys: Vec<Value>,
    of_row: Vec<usize>,
}
