//! Evaluates a rule for each note.

use lapidary_operation::{Context, Reason};
use lapidary_toolkit::{cursor::PageCursor, note_hits, page::ListPage};
use lapidary_vault::View;
use serde_json::{Map, Value};

use super::hits::SearchHit;

/// How many notes match, and those of one page, in path order.
pub(super) fn search(
    context: &Context<'_>,
    view: &View,
    rule: &Map<String, Value>,
    cursor: PageCursor,
) -> Result<(usize, Vec<SearchHit>), Reason> {
    let found = note_hits::by_logic(context, view, &Value::Object(rule.clone()))?;
    let page = ListPage::of(found, cursor.offset, cursor.limit);
    let hit = |(filename, result)| SearchHit::Logic { filename, result };
    Ok((page.total, page.items.into_iter().map(hit).collect()))
}
