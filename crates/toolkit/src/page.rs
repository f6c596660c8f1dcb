//! Pages of lists.

use lapidary_operation::Reason;

use crate::cursor::PageCursor;

/// Part of a list, and where the next one starts.
pub struct ListPage<T> {
    pub items: Vec<T>,
    pub total: usize,
    pub next: Option<usize>,
}

impl<T> ListPage<T> {
    pub fn of(all: Vec<T>, offset: usize, limit: usize) -> Self {
        let total = all.len();
        let items: Vec<T> = all.into_iter().skip(offset).take(limit).collect();
        // An offset beyond the end gives an empty page, not an error.
        let end = offset.saturating_add(items.len());
        Self { items, total, next: (end < total).then_some(end) }
    }
}

/// The page that a caller asked for with a cursor of an earlier answer, or the first, and the cursor of the next.
pub fn page_at<T>(all: Vec<T>, cursor: Option<&str>, limit: usize) -> Result<(ListPage<T>, Option<String>), Reason> {
    let offset = cursor.map(|cursor| PageCursor::parse(Some(cursor))).transpose()?.map_or(0, |cursor| cursor.offset);
    let page = ListPage::of(all, offset, limit);
    let next = page.next.map(|offset| PageCursor { offset, limit }.written());
    Ok((page, next))
}

/// The last line of a text that goes on with this cursor.
pub fn more(next: Option<&str>) -> String {
    next.map_or(String::new(), |next| format!("\nMore with `cursor`: {next}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_and_end() {
        let page = |offset, limit| {
            let page = ListPage::of((0..5).collect::<Vec<_>>(), offset, limit);
            (page.items, page.total, page.next)
        };
        assert_eq!(page(0, 2), (vec![0, 1], 5, Some(2)));
        assert_eq!(page(2, 3), (vec![2, 3, 4], 5, None));
        assert_eq!(page(5, 1), (vec![], 5, None));
        assert_eq!(page(usize::MAX, 1), (vec![], 5, None));
    }
}
