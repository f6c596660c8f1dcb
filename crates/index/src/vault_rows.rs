//! A vault as the query languages read it, answered by the index.

#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use lapidary_query::{OwnerMarks, QueryVault, Row, RowNumber, RowSelection, RowSet, VaultRow, is_page_path};

use crate::{
    VaultPath,
    file::{FileId, FileState},
    row::{FileRow, NoteRows},
    texts::GoOn,
    visible::{FileEntry, VisibleNotes},
};

/// The files of a vault that a caller may read, numbered in path order.
pub struct VaultRows<'n> {
    rows: NoteRows<'n>,
    states: Vec<&'n Arc<FileState>>,
    /// The number of each file by its id; built when needed.
    numbers: OnceLock<Vec<u32>>,
}

/// A file that the caller may not see has no number.
const NO_NUMBER: u32 = u32::MAX;

impl<'n> VaultRows<'n> {
    pub fn new(notes: &'n VisibleNotes, marks: OwnerMarks, go_on: GoOn<'n>) -> Self {
        Self {
            rows: NoteRows::new(notes, go_on).with_marks(marks),
            states: notes.iter().map(|entry| entry.state()).collect(),
            numbers: OnceLock::new(),
        }
    }

    /// How many files there are.
    pub fn count(&self) -> usize {
        self.states.len()
    }

    fn notes(&self) -> &'n VisibleNotes {
        self.rows.notes()
    }

    fn state(&self, number: RowNumber) -> Option<&'n Arc<FileState>> {
        self.states.get(number.0 as usize).copied()
    }

    fn file_row(&self, state: &'n Arc<FileState>) -> FileRow<'_> {
        self.rows.row(FileEntry(state))
    }

    fn number_of(&self, id: FileId) -> Option<RowNumber> {
        let numbers = self.numbers.get_or_init(|| {
            // By id in one list: ids are given in order, and most are in use.
            let mut numbers = vec![NO_NUMBER; self.notes().snapshot().next_id() as usize];
            for (number, state) in (0_u32..).zip(&self.states) {
                if let Some(slot) = numbers.get_mut(state.id as usize) {
                    *slot = number;
                }
            }
            numbers
        });
        numbers.get(id as usize).copied().filter(|number| *number != NO_NUMBER).map(RowNumber)
    }

    fn number_at(&self, path: &str) -> Option<RowNumber> {
        let at = self.states.binary_search_by(|state| state.path.as_str().cmp(path)).ok()?;
        u32::try_from(at).ok().map(RowNumber)
    }

    fn all(&self, wanted: impl Fn(&FileState) -> bool) -> RowSet {
        let numbered = (0_u32..).map(RowNumber).zip(&self.states);
        numbered.filter(|(_, state)| wanted(state)).map(|(number, _)| number).collect()
    }

    /// Those results of an index, which may be too many, that the caller sees and that match.
    fn fitting(&self, found: impl Iterator<Item = &'n Arc<FileState>>, selection: &RowSelection<'_>) -> RowSet {
        let fits = |state: &'n Arc<FileState>| {
            let number = self.number_of(state.id)?;
            selection.accepts(&self.file_row(state), self).then_some(number)
        };
        found.filter_map(fits).collect()
    }

    fn linked_from(&self, source: &'n Arc<FileState>) -> RowSet {
        let row = self.file_row(source);
        let links = row.links();
        let targets = links.iter().filter(|link| !link.target.is_empty()).filter_map(|link| row.resolve(link.target));
        targets.filter_map(|path| self.number_at(path)).collect()
    }
}

impl QueryVault for VaultRows<'_> {
    fn select(&self, selection: &RowSelection<'_>) -> RowSet {
        let (notes, snapshot) = (self.notes(), self.notes().snapshot());
        match *selection {
            RowSelection::Pages => self.all(|state| is_page_path(state.path.as_str())),
            RowSelection::Files if !self.rows.marks().excludes_any() => self.all(|_| true),
            RowSelection::Files => self.all(|state| !self.rows.marks().is_excluded(state.path.as_str())),
            RowSelection::Tag(tag) | RowSelection::PageTag(tag) => {
                // The key of the index is folded; the selection compares again.
                self.fitting(snapshot.tagged(&tag.trim_start_matches('#').to_lowercase()), selection)
            }
            RowSelection::Folder("") => self.all(|_| true),
            RowSelection::Folder(folder) => {
                // In path order the files below a folder are adjacent, except for those whose names only start like it.
                let below = format!("{folder}/");
                let start = self.states.partition_point(|state| state.path.as_str() < below.as_str());
                let inside = self.states[start..].iter().take_while(|state| state.path.as_str().starts_with(&below));
                (0_u32..).skip(start).map(RowNumber).zip(inside).map(|(number, _)| number).collect()
            }
            RowSelection::Extension(extension) => {
                let wanted = extension.to_lowercase();
                self.all(|state| {
                    let found = state.path.name().rsplit_once('.').map_or("", |(_, found)| found);
                    // Nearly all extensions are ASCII and need no copy.
                    found.eq_ignore_ascii_case(&wanted) || (!found.is_ascii() && found.to_lowercase() == wanted)
                })
            }
            RowSelection::LinksTo(target) => {
                let Some(target) = self.state(target) else { return RowSet::default() };
                // A source that the caller may not see has no number and drops out.
                notes.linking_to(&target.path).into_iter().filter_map(|path| self.number_at(path.as_str())).collect()
            }
            RowSelection::LinksToMissing(written) => self.fitting(snapshot.mentioning_name(written), selection),
            RowSelection::LinkedFrom(source) => {
                self.state(source).map_or_else(RowSet::default, |source| self.linked_from(source))
            }
        }
    }

    fn row(&self, number: RowNumber) -> Option<VaultRow<'_>> {
        Some(Box::new(self.file_row(self.state(number)?)))
    }

    fn find(&self, path: &str) -> Option<RowNumber> {
        self.number_at(path)
    }

    fn resolve(&self, target: &str, from: Option<&str>) -> Option<RowNumber> {
        // Without a source, as from the top of the vault.
        let source = VaultPath::parse(from.unwrap_or("-.md")).ok()?;
        if target.is_empty() {
            return self.number_at(from?);
        }
        self.number_at(self.notes().resolve(target, &source)?.as_str())
    }

    fn has_folder(&self, path: &str) -> bool {
        // From the files that the caller sees: an empty folder has no rows.
        let below = format!("{path}/");
        let start = self.states.partition_point(|state| state.path.as_str() < below.as_str());
        // The first file behind the folder's name is in it, or none is.
        self.states.get(start).is_some_and(|state| state.path.as_str().starts_with(&below))
    }

    fn text(&self, path: &str) -> Option<String> {
        self.notes().shown_text(&self.state(self.number_at(path)?)?.path)
    }

    fn served_by(&self, selection: &RowSelection<'_>) -> Option<&'static str> {
        Some(match selection {
            RowSelection::Pages | RowSelection::Files | RowSelection::Folder(_) | RowSelection::Extension(_) => "paths",
            RowSelection::Tag(_) | RowSelection::PageTag(_) => "tags",
            RowSelection::LinksTo(_) | RowSelection::LinksToMissing(_) | RowSelection::LinkedFrom(_) => "links",
        })
    }
}
