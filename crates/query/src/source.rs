//! How a query language reads a vault, and what bounds it while it does.
//!
//! A language asks a [`QueryVault`] for sets of rows by what the indexes know (tags, folders, links, extensions), combines
//! them, and only then looks at rows. A [`QueryContext`] carries what is not in the vault: the note that contains the query,
//! the clock, and the budgets.

mod context;
mod dataview_settings;
mod halt;
mod owner_marks;
#[cfg(test)]
pub(crate) mod plain_vault;
mod row_set;
mod scanned_vault;

use crate::Row;

pub use context::{DroppedRows, QueryContext, QueryLimits, QueryStep};
pub use dataview_settings::DataviewSettings;
pub use halt::{QueryHalt, QuerySyntaxError};
pub use owner_marks::OwnerMarks;
pub use row_set::{RowNumber, RowSet};
pub use scanned_vault::ScannedVault;

/// A row that lives as long as the vault it is of.
pub type VaultRow<'v> = Box<dyn Row + Send + Sync + 'v>;

/// The files of a vault that one caller may read, as a query language sees them. Nothing else is in its rows, sets and
/// counts, nor in what its rows say about links.
pub trait QueryVault: Sync {
    /// The files that fit, in path order.
    fn select(&self, selection: &RowSelection<'_>) -> RowSet;

    fn row(&self, number: RowNumber) -> Option<VaultRow<'_>>;

    /// The file at exactly this path.
    fn find(&self, path: &str) -> Option<RowNumber>;

    /// The file that a link leads to, from a note or from nowhere in particular. The target is without subpath.
    fn resolve(&self, target: &str, from: Option<&str>) -> Option<RowNumber>;

    /// Whether a folder is at this path, in exactly this spelling.
    fn has_folder(&self, path: &str) -> bool;

    /// The text of any file, as [`Row::content`] has it.
    fn text(&self, path: &str) -> Option<String>;

    /// The index that answers a selection without a look at the rows, if there is one; for explanations.
    fn served_by(&self, selection: &RowSelection<'_>) -> Option<&'static str>;

    /// All notes, in path order.
    fn notes(&self) -> RowSet {
        self.select(&RowSelection::Notes)
    }

    fn row_at(&self, path: &str) -> Option<VaultRow<'_>> {
        self.row(self.find(path)?)
    }
}

/// What is asked of the indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowSelection<'q> {
    /// Every Markdown file.
    Notes,
    /// Every file of any type, but those that the owner has excluded in the settings of the app.
    Files,
    /// Notes with this tag or one below it, in any case; with or without `#`.
    Tag(&'q str),
    /// Files in this folder and below it, in exactly this spelling; all of them for the empty text.
    Folder(&'q str),
    /// Files with this extension, in any case, without the point.
    Extension(&'q str),
    /// Notes with a link, an embed or a property link to this file, itself included if it links to itself.
    LinksTo(RowNumber),
    /// Notes with a link that leads nowhere and is written exactly so, without subpath.
    LinksToMissing(&'q str),
    /// Files that this file links to.
    LinkedFrom(RowNumber),
}

impl RowSelection<'_> {
    /// Whether a row belongs to the selection, by the row alone. This is what a selection means; an index has to agree.
    pub fn accepts(&self, row: &dyn Row, vault: &dyn QueryVault) -> bool {
        match *self {
            Self::Notes => row.is_note(),
            Self::Files => !row.is_excluded(),
            Self::Tag(tag) => has_tag(row, tag),
            Self::Folder(folder) => is_below(row.path(), folder),
            Self::Extension(extension) => row.extension().to_lowercase() == extension.to_lowercase(),
            Self::LinksTo(target) => vault.row(target).is_some_and(|target| links_to(row, target.path())),
            Self::LinksToMissing(written) => {
                let mut links = row.links().into_iter();
                links.any(|link| !link.target.is_empty() && link.target == written && row.resolve(written).is_none())
            }
            Self::LinkedFrom(source) => vault.row(source).is_some_and(|source| links_to(&*source, row.path())),
        }
    }
}

fn links_to(row: &dyn Row, path: &str) -> bool {
    row.links().iter().any(|link| !link.target.is_empty() && row.resolve(link.target) == Some(path))
}

fn has_tag(row: &dyn Row, wanted: &str) -> bool {
    let wanted = wanted.trim_start_matches('#').to_lowercase();
    let fits = |tag: &str| {
        let tag = tag.to_lowercase();
        tag.strip_prefix(&wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    row.tags().iter().any(|tag| fits(tag.name))
}

fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}
