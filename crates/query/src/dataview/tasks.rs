//! The result of a TASK query.

use std::collections::HashSet;

use crate::{Object, Value};

use super::{
    answer::{DqlTask, TaskGrouping},
    cell::Cell,
    compare::object_entries,
    engine::{FieldError, QueryEngine},
    evaluate::index,
    record::RecordBase,
    text::cell_value,
};

/// Rows as tasks, or as groups of them.
pub(super) fn task_groups<'v>(
    engine: &QueryEngine<'v>,
    rows: &[Cell<'v>],
    groups: &[String],
) -> Result<TaskGrouping, FieldError> {
    let Some((name, inner)) = groups.split_last() else {
        return Ok(TaskGrouping::Tasks(rows.iter().map(|row| task(engine, row, true)).collect::<Result<_, _>>()?));
    };
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let key = index(engine, row, &Cell::text(name.as_str()))?;
        let rows = match index(engine, row, &Cell::text("rows"))? {
            Cell::List(list) => task_groups(engine, &list.items, inner)?,
            _ => TaskGrouping::Tasks(Vec::new()),
        };
        found.push((cell_value(engine, &key)?, rows));
    }
    Ok(TaskGrouping::Groups(found))
}

/// A task with its children. Of a row of the query the fields of the item are kept, and what FLATTEN has set.
fn task<'v>(engine: &QueryEngine<'v>, row: &Cell<'v>, is_row: bool) -> Result<DqlTask, FieldError> {
    engine.step()?;
    let item = match row {
        Cell::Record(record) => match record.base() {
            RecordBase::Item { page, item, .. } => Some((page, *item, record)),
            _ => None,
        },
        _ => None,
    };
    let Some((page, at, record)) = item else { return loose_task(engine, row) };
    let mut fields = Object::new();
    if is_row {
        let own = super::record::item_cell(page, at);
        let left_out = |name: &str| matches!(name, "children" | "subtasks");
        for (name, value) in object_entries(engine, &own).iter().chain(record.extra()) {
            if !left_out(name) {
                fields.insert(name.to_string(), cell_value(engine, value)?);
            }
        }
    }
    let children = match index(engine, row, &Cell::text("children"))? {
        Cell::List(list) => list.items.iter().map(|child| task(engine, child, false)).collect::<Result<_, _>>()?,
        _ => Vec::new(),
    };
    let data = &page.items()[at];
    engine.hold(size_of::<DqlTask>() + data.text.len())?;
    let parent = data.parent.and_then(|parent| page.items().get(parent)).map(|parent| parent.line - 1);
    Ok(DqlTask {
        path: page.path().to_owned(),
        line: data.line - 1,
        parent,
        status: data.status,
        text: data.text.to_string(),
        children,
        fields,
    })
}

/// What became of a row that is no longer a list item.
fn loose_task<'v>(engine: &QueryEngine<'v>, row: &Cell<'v>) -> Result<DqlTask, FieldError> {
    let text = match index(engine, row, &Cell::text("text"))? {
        Cell::Text(text) => text.to_string(),
        _ => String::new(),
    };
    let mut fields = Object::new();
    if let Value::Object(entries) = cell_value(engine, row)? {
        fields = entries;
    }
    Ok(DqlTask { path: String::new(), line: 0, parent: None, status: None, text, children: Vec::new(), fields })
}

/// The tasks that are shown at the top: those that no other shown task holds.
pub(super) fn shown_roots(tasks: &[DqlTask]) -> Vec<&DqlTask> {
    fn mark<'t>(task: &'t DqlTask, known: &mut HashSet<(&'t str, usize)>) {
        known.insert((&task.path, task.line));
        task.children.iter().for_each(|child| mark(child, known));
    }
    let mut known = HashSet::new();
    tasks.iter().for_each(|task| mark(task, &mut known));
    let is_root = |task: &&DqlTask| task.parent.is_none_or(|parent| !known.contains(&(task.path.as_str(), parent)));
    tasks.iter().filter(is_root).collect()
}
