//! Pages of lists.

use lapidary_operation::Reason;
use lapidary_vault::{VaultPath, View, VisibleFiles};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{cursor::PageCursor, folder::FolderTarget};

/// Which part of a list a caller wants: the arguments of tools that list what a vault has.
#[derive(Deserialize, JsonSchema)]
pub struct ListingInput {
    /// Only in this folder.
    #[serde(default)]
    folder: Option<String>,
    /// How many.
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
    /// `nextCursor` of an earlier answer.
    #[serde(default)]
    cursor: Option<String>,
}

const LONGEST_PAGE: usize = 500;

impl ListingInput {
    /// `None` is the whole vault.
    pub fn folder(&self, view: &View, files: &VisibleFiles) -> Result<Option<VaultPath>, Reason> {
        FolderTarget::chosen(view, files, self.folder.as_deref())
    }

    /// The page that was asked for, and the cursor of the next. `usual` is how many it has if the caller says nothing; a
    /// cursor says what its first call did.
    pub fn page<T>(&self, all: Vec<T>, usual: usize) -> Result<(ListPage<T>, Option<String>), Reason> {
        let cursor = self.cursor.as_deref();
        let cursor = cursor.map(|cursor| PageCursor::parse_up_to(Some(cursor), LONGEST_PAGE)).transpose()?;
        let limit = self.limit.or(cursor.map(|cursor| cursor.limit)).unwrap_or(usual).clamp(1, LONGEST_PAGE);
        let page = ListPage::of(all, cursor.map_or(0, |cursor| cursor.offset), limit);
        let next = page.next.map(|offset| PageCursor { offset, limit }.written());
        Ok((page, next))
    }
}

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
