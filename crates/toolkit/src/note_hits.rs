//! Notes and what a rule or a query says of each.

use lapidary_operation::{Context, Reason, quote::Prose};
use lapidary_query::{Logic, LogicHalt, Row, Value, is_truthy};
use lapidary_vault::{FileEntry, FileRow, NoteRows, View};
use serde_json::Value as Json;

use crate::{
    index,
    querying::{NoFileOfRow, ReadQuery},
};

/// A note by its path, and the result for it.
pub type NoteHit = (String, Json);

/// The notes for which a rule of JsonLogic gives a truthy result, in path order.
pub fn by_logic(context: &Context<'_>, view: &View, rule: &Json) -> Result<Vec<NoteHit>, Reason> {
    let logic = Logic::parse(rule).map_err(|error| Reason::LogicInvalid { problem: Prose::ours(error) })?;
    let notes = index::notes(context, view)?;
    let cancel = context.cancel;
    let go_on = || cancel.check().is_ok();
    let rows = NoteRows::new(notes, &go_on);
    // Reading all texts takes most of the time, and few rules look at them.
    let found: Vec<Result<NoteHit, LogicHalt>> = if logic.reads("content") {
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
    found
        .into_iter()
        .collect::<Result<_, LogicHalt>>()
        .map_err(|halt| Reason::LogicInvalid { problem: Prose::ours(halt) })
}

/// A hit if the rule gives a truthy result for the note.
fn judge(logic: &Logic, row: &FileRow<'_>) -> Option<Result<NoteHit, LogicHalt>> {
    // JavaScript takes `{}` for true, but a rule that gives it says nothing about the note.
    let is_empty = |result: &Value| matches!(result, Value::Object(entries) if entries.is_empty());
    match logic.apply_to(row) {
        Ok(result) if is_truthy(&result) && !is_empty(&result) => {
            Some(Ok((row.path().to_owned(), Json::from(&result))))
        }
        Ok(_) => None,
        Err(halt) => Some(Err(halt)),
    }
}

/// The rows of a query of Dataview under their notes, and how many rows were left out because of errors.
pub fn by_dql(context: &Context<'_>, view: &View, query: &str) -> Result<(Vec<NoteHit>, usize), Reason> {
    let result = ReadQuery::dql(query)?.run(context, view, None, None)?;
    let left_out: usize = result.dropped().iter().map(|dropped| dropped.count).sum();
    let hits = result.hits().map_err(|problem| Reason::QueryFailed {
        line: None,
        column: None,
        problem: Prose::ours(match problem {
            NoFileOfRow::WithoutId => "TABLE WITHOUT ID has no note for a row, and this mode answers by note",
            NoFileOfRow::Grouped => "GROUP BY makes rows of groups, and this mode answers by note",
        }),
        nearest: None,
    })?;
    Ok((hits, left_out))
}
