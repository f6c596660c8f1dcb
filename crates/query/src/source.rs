//! How a query language reads a vault, and what bounds it while it does.
//!
//! A language asks a [`QueryVault`] for sets of rows by what the indexes know (tags, folders, links, extensions), combines
//! them, and only then looks at rows. A [`QueryContext`] carries what is not in the vault: the note that contains the query,
//! the clock, and the budgets.

mod context;
mod dataview_settings;
mod halt;
mod known_names;
mod owner_marks;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod plain_vault;
mod row_set;
mod scanned_vault;

use std::ops::ControlFlow;

use crate::{Row, RowTag, property_tag_texts};

pub use context::{DroppedRows, QueryContext, QueryLimits, QueryStep};
pub use dataview_settings::DataviewSettings;
pub use halt::{QueryHalt, QueryPlace, QuerySyntaxError};
pub use known_names::KnownNames;
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

    /// All pages, in path order.
    fn pages(&self) -> RowSet {
        self.select(&RowSelection::Pages)
    }

    fn row_at(&self, path: &str) -> Option<VaultRow<'_>> {
        self.row(self.find(path)?)
    }
}

/// What is asked of the indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowSelection<'q> {
    /// Everything that Dataview takes for a note.
    Pages,
    /// Every file of any type, but those that the owner has excluded in the settings of the app.
    Files,
    /// Notes with this tag or one below it, in any case; with or without `#`.
    Tag(&'q str),
    /// The same for the tags that Dataview finds.
    PageTag(&'q str),
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
            Self::Pages => row.is_page(),
            Self::Files => !row.is_excluded(),
            Self::Tag(tag) => has_tag(row, tag),
            Self::PageTag(tag) => has_page_tag(row, tag),
            Self::Folder(folder) => is_below(row.path(), folder),
            Self::Extension(extension) => row.extension().to_lowercase() == extension.to_lowercase(),
            Self::LinksTo(target) => vault.row(target).is_some_and(|target| links_to(row, target.path())),
            Self::LinksToMissing(written) => {
                let mut links = row.links().into_iter();
                // An empty target is a link into the same note.
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
    let wanted = wanted.trim_start_matches('#');
    has_tag_that(row, &|tag| is_tag_within(tag.name, wanted))
}

/// A tag of the text is one in both; so is one of the properties, unless Dataview would take it apart.
fn has_page_tag(row: &dyn Row, wanted: &str) -> bool {
    let wanted = wanted.trim_start_matches('#');
    // Dataview takes a comma for a separator, so the properties are read again below.
    if has_tag_that(row, &|tag| !(tag.in_properties && tag.name.contains(',')) && is_tag_within(tag.name, wanted)) {
        return true;
    }
    let mut found = false;
    row.visit_properties(&mut |name, value| {
        let mut texts = property_tag_texts(name, value).into_iter();
        found = texts.any(|text| is_tag_within(text.strip_prefix('#').unwrap_or(&text), wanted));
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

fn has_tag_that(row: &dyn Row, fits: &dyn Fn(RowTag<'_>) -> bool) -> bool {
    let mut found = false;
    row.visit_tags(&mut |tag| {
        found = fits(tag);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

/// Whether a tag is the wanted one or below it, in any case. Both are without `#`.
pub fn is_tag_within(tag: &str, wanted: &str) -> bool {
    // Most tags are ASCII, and then nothing has to be copied.
    if tag.is_ascii() && wanted.is_ascii() {
        let head = tag.get(..wanted.len());
        return head.is_some_and(|head| head.eq_ignore_ascii_case(wanted))
            && (tag.len() == wanted.len() || tag.as_bytes()[wanted.len()] == b'/');
    }
    let (tag, wanted) = (tag.to_lowercase(), wanted.to_lowercase());
    tag.strip_prefix(&wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_below(path: &str, folder: &str) -> bool {
    // A slash has to follow: `Work` is not above `Workshop/x.md`.
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}
