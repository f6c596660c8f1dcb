//! Pages of lists.

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
