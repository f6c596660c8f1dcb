//! A query of Dataview, row by row under its notes.

use lapidary_operation::{Context, Reason};
use lapidary_toolkit::{cursor::PageCursor, note_hits, page::ListPage};
use lapidary_vault::View;

use super::hits::SearchHit;

/// How many rows there are, and those of one page.
pub(super) fn search(
    context: &Context<'_>,
    view: &View,
    query: &str,
    cursor: PageCursor,
    notice: &mut Option<String>,
) -> Result<(usize, Vec<SearchHit>), Reason> {
    let (hits, left_out) = note_hits::by_dql(context, view, query)?;
    if left_out > 0 {
        *notice = Some(format!("Errors left out rows: {left_out}."));
    }
    let page = ListPage::of(hits, cursor.offset, cursor.limit);
    let hit = |(filename, result)| SearchHit::Logic { filename, result };
    Ok((page.total, page.items.into_iter().map(hit).collect()))
}
