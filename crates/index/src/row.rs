//! The rows of query languages, answered by the index.

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    ops::ControlFlow,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::SystemTime,
};

use jiff::Timestamp;
use lapidary_note::{LinkKind, count_steps, shown_text};
use lapidary_query::{
    FrontmatterState, OwnerMarks, PropertyVisitor, Row, RowBlock, RowField, RowHeading, RowItem, RowLink, RowTag,
    is_page_path,
};

use super::{
    digest::{Digest, LinkDigest},
    file::{FileId, FileState},
    texts::GoOn,
    visible::{FileEntry, VisibleFiles, VisibleNotes},
};

/// How often the links to a single file are looked up separately. After that, those of all files are computed at once.
const SINGLE_LOOKUPS: usize = 32;

/// The rows of one query. Results that several rows need are cached for its duration.
pub struct NoteRows<'n> {
    notes: &'n VisibleNotes,
    backlinks: Backlinks,
    marks: OwnerMarks,
    go_on: GoOn<'n>,
}

impl<'n> NoteRows<'n> {
    /// After a request to stop, some answers are empty and must not be used.
    pub fn new(notes: &'n VisibleNotes, go_on: GoOn<'n>) -> Self {
        Self { notes, backlinks: Backlinks::default(), marks: OwnerMarks::default(), go_on }
    }

    /// With what the owner has marked in the app.
    #[must_use]
    pub fn with_marks(self, marks: OwnerMarks) -> Self {
        Self { marks, ..self }
    }

    pub(crate) fn marks(&self) -> &OwnerMarks {
        &self.marks
    }

    pub(crate) fn notes(&self) -> &'n VisibleNotes {
        self.notes
    }

    /// All notes, in path order.
    pub fn iter(&self) -> impl Iterator<Item = FileRow<'_>> {
        self.notes.notes().map(|(entry, _)| self.row(entry))
    }

    /// Of a note of the same vault.
    pub fn row<'r>(&'r self, entry: FileEntry<'r>) -> FileRow<'r> {
        FileRow { rows: Some(self), ..FileRow::new(self.notes, entry.state()) }
    }
}

/// One file as a row.
#[derive(Clone, Copy)]
pub struct FileRow<'r> {
    files: &'r VisibleFiles,
    state: &'r Arc<FileState>,
    /// Empty for a file that is not a note, or has not been read.
    digest: Digest<'r>,
    bytes: Option<&'r [u8]>,
    rows: Option<&'r NoteRows<'r>>,
}

impl<'r> FileRow<'r> {
    pub fn new(files: &'r VisibleFiles, state: &'r Arc<FileState>) -> Self {
        // A note that has not been read yet has no properties, tags and links, rather than an error.
        let digest = state.digest().and_then(|digest| Digest::read(digest)).unwrap_or_default();
        Self { files, state, digest, bytes: None, rows: None }
    }

    /// With its content, for a caller that has it at hand.
    pub fn with_bytes(self, bytes: &'r [u8]) -> Self {
        Self { bytes: Some(bytes), ..self }
    }
}

fn links<'d>(digest: Digest<'d>) -> impl Iterator<Item = LinkDigest<'d>> {
    digest.links().filter(|link| link.kind != LinkKind::Reference)
}

/// What reading a part of a note counts.
const PART_STEPS: usize = 16;

/// All parts of a kind, which are read each time they are asked for.
fn counted_parts<T>(parts: Vec<T>) -> Vec<T> {
    count_steps(PART_STEPS * parts.len());
    parts
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}

impl Row for FileRow<'_> {
    fn path(&self) -> &str {
        self.state.path.as_str()
    }

    fn bytes(&self) -> u64 {
        self.state.stat.stamp.size
    }

    fn created(&self) -> Option<Timestamp> {
        self.state.stat.created().and_then(timestamp)
    }

    fn modified(&self) -> Option<Timestamp> {
        timestamp(self.state.stat.modified())
    }

    fn content(&self) -> Option<Cow<'_, str>> {
        let shown = |bytes: &[u8]| Cow::Owned(shown_text(bytes).into_owned());
        match self.bytes {
            Some(bytes) => Some(shown(bytes)),
            // Read only now: most queries never look at the text.
            None => self.files.source().text(self.state).map(|bytes| shown(&bytes)),
        }
    }

    fn frontmatter(&self) -> FrontmatterState {
        self.digest.frontmatter()
    }

    fn visit_properties(&self, visit: &mut PropertyVisitor<'_>) {
        for (name, value) in self.digest.properties() {
            count_steps(PART_STEPS);
            if visit(name, &|| value.read()).is_break() {
                return;
            }
        }
    }

    fn visit_tags<'r>(&'r self, visit: &mut dyn FnMut(RowTag<'r>) -> ControlFlow<()>) {
        for tag in self.digest.written_tags() {
            count_steps(PART_STEPS);
            if visit(tag).is_break() {
                return;
            }
        }
    }

    fn aliases(&self) -> Vec<&str> {
        self.digest.aliases().collect()
    }

    fn headings(&self) -> Vec<RowHeading<'_>> {
        counted_parts(self.digest.structure().headings)
    }

    fn blocks(&self) -> Vec<RowBlock<'_>> {
        counted_parts(self.digest.structure().blocks)
    }

    fn links(&self) -> Vec<RowLink<'_>> {
        let links = links(self.digest);
        let links = links
            .map(|LinkDigest { kind, embed, line, target, subpath, alias, property }| RowLink {
                target,
                markdown: kind == LinkKind::Markdown,
                subpath,
                display: alias,
                embed,
                line,
                property,
            })
            .collect();
        counted_parts(links)
    }

    fn resolve(&self, target: &str) -> Option<&str> {
        self.files.resolve(target, &self.state.path).map(|path| path.as_str())
    }

    fn backlinks(&self) -> Vec<&str> {
        match self.rows {
            Some(rows) => rows.backlinks.of(self.files, self.state, rows.go_on),
            // Outside of a query there is only this one lookup.
            None => self.files.linking_to(&self.state.path).into_iter().map(|path| path.as_str()).collect(),
        }
    }

    fn items(&self) -> Vec<RowItem<'_>> {
        counted_parts(self.digest.items())
    }

    fn visit_fields<'r>(&'r self, visit: &mut dyn FnMut(RowField<'r>)) {
        for field in self.digest.fields() {
            count_steps(PART_STEPS);
            visit(field);
        }
    }

    fn is_bookmarked(&self) -> bool {
        // Only a query knows the owner's marks.
        self.rows.is_some_and(|rows| rows.marks.is_bookmarked(self.path()))
    }

    fn is_excluded(&self) -> bool {
        self.rows.is_some_and(|rows| rows.marks.is_excluded(self.path()))
    }

    fn is_note(&self) -> bool {
        self.state.path.is_note()
    }

    fn is_page(&self) -> bool {
        self.is_note() || is_page_path(self.path())
    }
}

/// Which files link to which, as far as needed so far.
#[derive(Default)]
struct Backlinks {
    asked: AtomicUsize,
    /// The sources of the links to each file, in path order.
    all: OnceLock<HashMap<FileId, Vec<FileId>>>,
}

impl Backlinks {
    fn of<'f>(&self, files: &'f VisibleFiles, target: &Arc<FileState>, go_on: GoOn<'_>) -> Vec<&'f str> {
        // A query that asks for many rows pays for all links once, instead of a lookup for each.
        if self.all.get().is_none() && self.asked.fetch_add(1, Ordering::Relaxed) < SINGLE_LOOKUPS {
            return files.linking_to(&target.path).into_iter().map(|path| path.as_str()).collect();
        }
        let all = self.all.get_or_init(|| all_backlinks(files, go_on));
        let sources = all.get(&target.id).map(Vec::as_slice).unwrap_or_default();
        let path = |id: &FileId| files.snapshot().by_id(*id).map(|state| state.path.as_str());
        sources.iter().filter_map(path).collect()
    }
}

fn all_backlinks(files: &VisibleFiles, go_on: GoOn<'_>) -> HashMap<FileId, Vec<FileId>> {
    let mut backlinks: HashMap<FileId, Vec<FileId>> = HashMap::new();
    // A stopped walk gives an incomplete table; the query is stopped as well and never uses it.
    for entry in files.iter().take_while(|_| go_on()) {
        let source = entry.state();
        let Some(digest) = source.digest().and_then(|digest| Digest::read(digest)) else { continue };
        // A link within the note does not make it its own source.
        let targets = links(digest).filter(|link| !link.target.is_empty());
        let targets = targets.filter_map(|link| files.resolve(link.target, &source.path));
        // Several links from one note to another count once.
        let targets: BTreeSet<FileId> =
            targets.filter_map(|path| files.snapshot().file(path)).map(|state| state.id).collect();
        targets.into_iter().for_each(|target| backlinks.entry(target).or_default().push(source.id));
    }
    backlinks
}
