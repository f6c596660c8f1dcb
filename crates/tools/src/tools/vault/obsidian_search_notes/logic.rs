//! Evaluates a rule for each note.

use lapidary_operation::{Context, Reason, quote::Prose};
use lapidary_query::{Logic, LogicHalt, Row, Value, is_truthy};
use lapidary_toolkit::{cursor::PageCursor, index, page::ListPage};
use lapidary_vault::{FileEntry, FileRow, NoteRows, View};
use serde_json::{Map, Value as Json};

use super::hits::SearchHit;

/// How many notes match, and those of one page, in path order.
pub(super) fn search(
    context: &Context<'_>,
    view: &View,
    rule: &Map<String, Json>,
    cursor: PageCursor,
) -> Result<(usize, Vec<SearchHit>), Reason> {
    let logic = Logic::parse(&Json::Object(rule.clone()))
        .map_err(|error| Reason::LogicInvalid { problem: Prose::ours(error) })?;
    let notes = index::notes(context, view)?;
    let cancel = context.cancel;
    let go_on = || cancel.check().is_ok();
    let rows = NoteRows::new(notes, &go_on);
    // Reading all texts takes most of the time, and few rules look at them.
    let found: Vec<Result<SearchHit, LogicHalt>> = if logic.reads("content") {
        let look = |entry: FileEntry<'_>, bytes: &[u8]| {
            // A note without a digest was never read, and the other branch does not see it either.
            notes.digest(entry.path())?;
            judge(&logic, &rows.row(entry).with_bytes(bytes))
        };
        index::map_texts(context, notes, look)?
    } else {
        let mut found = Vec::new();
        for row in rows.iter() {
            context.check()?;
            found.extend(judge(&logic, &row));
        }
        found
    };
    // When stopped early, the last notes may have been judged with only half of the links.
    context.check()?;
    // The error must not name the note: it may be one that the caller did not ask for.
    let found = found
        .into_iter()
        .collect::<Result<Vec<SearchHit>, LogicHalt>>()
        .map_err(|halt| Reason::LogicInvalid { problem: Prose::ours(halt) })?;
    let page = ListPage::of(found, cursor.offset, cursor.limit);
    Ok((page.total, page.items))
}

/// A hit if the rule gives a truthy result for the note.
fn judge(logic: &Logic, row: &FileRow<'_>) -> Option<Result<SearchHit, LogicHalt>> {
    // JavaScript takes `{}` for true, but a rule that gives it says nothing about the note.
    let is_empty = |result: &Value| matches!(result, Value::Object(entries) if entries.is_empty());
    match logic.apply_to(row) {
        Ok(result) if is_truthy(&result) && !is_empty(&result) => {
            Some(Ok(SearchHit::Logic { filename: row.path().to_owned(), result: Json::from(&result) }))
        }
        Ok(_) => None,
        Err(halt) => Some(Err(halt)),
    }
}
