//! The result of a TASK query.

use std::{collections::HashSet, rc::Rc};

use lapidary_query::{Object, Value};

use super::{
    answer::{DqlTask, TaskGrouping},
    cell::Cell,
    engine::{FieldError, QueryEngine},
    evaluate::index,
    items::{child_items, written_fields},
    page::PageData,
    record::RecordBase,
    text::cell_value,
};

/// Rows as tasks, or as groups of them, as far as they are shown. All are counted.
pub(super) fn task_groups<'v>(
    engine: &QueryEngine<'v>,
    rows: &[Cell<'v>],
    groups: &[String],
    count: &mut usize,
) -> Result<TaskGrouping, FieldError> {
    // The outermost group was made last.
    let Some((name, inner)) = groups.split_last() else {
        let mut tasks = Vec::new();
        for row in rows {
            if engine.context.shows(*count) {
                tasks.push(task(engine, row)?);
            }
            *count += 1;
        }
        return Ok(TaskGrouping::Tasks(tasks));
    };
    let mut found = Vec::new();
    for row in rows {
        let rows = match index(engine, row, &Cell::text("rows"))? {
            Cell::List(list) => task_groups(engine, &list.items, inner, count)?,
            // A later clause replaced `rows` with something else.
            _ => TaskGrouping::Tasks(Vec::new()),
        };
        // On a later page, groups without any shown task would only repeat their keys.
        if engine.context.shows_all() || !rows.is_empty() {
            let key = index(engine, row, &Cell::text(name.as_str()))?;
            found.push((cell_value(engine, &key)?, rows));
        }
    }
    Ok(TaskGrouping::Groups(found))
}

/// A row of the query as a task.
fn task<'v>(engine: &QueryEngine<'v>, row: &Cell<'v>) -> Result<DqlTask, FieldError> {
    match row {
        Cell::Record(record) => match record.base() {
            RecordBase::Item { page, item, .. } => {
                let mut task = item_task(engine, page, *item)?;
                for (name, value) in written_fields(engine, page, *item).iter().chain(record.extra()) {
                    task.fields.insert(name.to_string(), cell_value(engine, value)?);
                }
                Ok(task)
            }
            _ => loose_task(engine, row),
        },
        _ => loose_task(engine, row),
    }
}

/// An item with its children.
fn item_task<'v>(engine: &QueryEngine<'v>, page: &Rc<PageData<'v>>, at: usize) -> Result<DqlTask, FieldError> {
    engine.step()?;
    let item = &page.items()[at];
    // Children are copied into each parent that is a row, so a deep list costs its square.
    engine.hold(size_of::<DqlTask>() + page.text(item).len() + page.path().len())?;
    let children = child_items(page, at).map(|child| item_task(engine, page, child)).collect::<Result<_, _>>()?;
    Ok(DqlTask {
        path: page.path().to_owned(),
        line: item.line - 1,
        parent: item.parent.and_then(|parent| page.items().get(parent)).map(|parent| parent.line - 1),
        status: item.status,
        text: page.text(item).to_owned(),
        symbol: page.marker(item).into(),
        line_count: item.line_count,
        section: page.heading_above(item.line).map(Into::into),
        block_id: page.block_id(item).map(Into::into),
        children,
        fields: Object::new(),
    })
}

/// What became of a row that is no longer a list item.
fn loose_task<'v>(engine: &QueryEngine<'v>, row: &Cell<'v>) -> Result<DqlTask, FieldError> {
    // Dataview shows a row by its `text`, whatever it is.
    let text = match index(engine, row, &Cell::text("text"))? {
        Cell::Text(text) => text.to_string(),
        _ => String::new(),
    };
    let mut fields = Object::new();
    if let Value::Object(entries) = cell_value(engine, row)? {
        fields = entries;
    }
    Ok(DqlTask {
        path: String::new(),
        line: 0,
        parent: None,
        status: None,
        text,
        symbol: "-".into(),
        line_count: 1,
        section: None,
        block_id: None,
        children: Vec::new(),
        fields,
    })
}

/// The tasks that are shown at the top: those that no other shown task holds.
pub(super) fn shown_roots(tasks: &[DqlTask]) -> Vec<&DqlTask> {
    fn mark<'t>(task: &'t DqlTask, known: &mut HashSet<(&'t str, usize)>) {
        // By place and not by text: equal tasks are common.
        known.insert((&task.path, task.line));
        task.children.iter().for_each(|child| mark(child, known));
    }
    let mut known = HashSet::new();
    tasks.iter().for_each(|task| mark(task, &mut known));
    // A task whose parent is shown appears below it, not a second time.
    let is_root = |task: &&DqlTask| task.parent.is_none_or(|parent| !known.contains(&(task.path.as_str(), parent)));
    tasks.iter().filter(is_root).collect()
}
