//! A vault whose selections are answered by a look at every row.

use super::{QueryVault, RowNumber, RowSelection, RowSet, VaultRow};

/// Another vault without its indexes: what they answer has to be what this answers.
pub struct ScannedVault<'v> {
    vault: &'v dyn QueryVault,
    count: u32,
}

impl<'v> ScannedVault<'v> {
    /// Of a vault with this many files.
    pub fn new(vault: &'v dyn QueryVault, count: u32) -> Self {
        Self { vault, count }
    }
}

impl QueryVault for ScannedVault<'_> {
    fn select(&self, selection: &RowSelection<'_>) -> RowSet {
        let fits = |number: &RowNumber| self.row(*number).is_some_and(|row| selection.accepts(&*row, self.vault));
        (0..self.count).map(RowNumber).filter(fits).collect()
    }

    fn row(&self, number: RowNumber) -> Option<VaultRow<'_>> {
        self.vault.row(number)
    }

    fn find(&self, path: &str) -> Option<RowNumber> {
        self.vault.find(path)
    }

    fn resolve(&self, target: &str, from: Option<&str>) -> Option<RowNumber> {
        self.vault.resolve(target, from)
    }

    fn has_folder(&self, path: &str) -> bool {
        self.vault.has_folder(path)
    }

    fn text(&self, path: &str) -> Option<String> {
        self.vault.text(path)
    }

    fn served_by(&self, _selection: &RowSelection<'_>) -> Option<&'static str> {
        None
    }
}
