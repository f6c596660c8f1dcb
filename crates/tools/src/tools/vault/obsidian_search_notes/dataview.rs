//! A query of Dataview, row by row under its notes.

use lapidary_operation::{Context, Reason, quote::Prose};
use lapidary_toolkit::{
    cursor::PageCursor,
    page::ListPage,
    querying::{NoFileOfRow, ReadQuery},
};
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
    let result = ReadQuery::dql(query)?.run(context, view, None, None)?;
    let left_out: usize = result.dropped().iter().map(|dropped| dropped.count).sum();
    if left_out > 0 {
        *notice = Some(format!("Errors left out rows: {left_out}."));
    }
    let hits = result.hits().map_err(|problem| Reason::QueryFailed {
        line: None,
        column: None,
        problem: Prose::ours(match problem {
            NoFileOfRow::WithoutId => "TABLE WITHOUT ID has no note for a row, and this mode answers by note",
            NoFileOfRow::Grouped => "GROUP BY makes rows of groups, and this mode answers by note",
        }),
        nearest: None,
    })?;
    let page = ListPage::of(hits, cursor.offset, cursor.limit);
    let hit = |(filename, result)| SearchHit::Logic { filename, result };
    Ok((page.total, page.items.into_iter().map(hit).collect()))
}
