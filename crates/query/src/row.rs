//! What can be queried about one file of a vault.
//!
//! A [`Row`] is lazy: every method computes its answer on demand, so a query pays only for what it reads. Rows exist
//! only for files that the caller may read, and answers about links, too, are as if there were no others.

mod inline_fields;
mod of_note;
mod page_names;
#[cfg(any(test, feature = "testing"))]
mod plain;

use std::{
    borrow::Cow,
    ops::{ControlFlow, Range},
};

use jiff::Timestamp;

use crate::{Object, Value};

pub use inline_fields::{FoundField, item_fields, line_fields};
pub use of_note::{NoteField, note_fields, note_items};
pub use page_names::{page_aliases, page_tags, property_tag_texts};
#[cfg(any(test, feature = "testing"))]
pub(crate) use plain::PlainRow;

/// Takes the name of a property and access to its value, and says whether to continue.
pub type PropertyVisitor<'v> = dyn FnMut(&str, &dyn Fn() -> Value) -> ControlFlow<()> + 'v;

/// One file. Lines are counted from 1.
pub trait Row {
    /// Relative to the vault's folder, with `/`.
    fn path(&self) -> &str;

    fn bytes(&self) -> u64;

    /// `None` if the file system does not know.
    fn created(&self) -> Option<Timestamp>;

    fn modified(&self) -> Option<Timestamp>;

    /// The text without byte order mark and with `\n` line endings; `None` if it cannot be read.
    fn content(&self) -> Option<Cow<'_, str>>;

    fn frontmatter(&self) -> FrontmatterState;

    /// Iterates over the frontmatter in document order until `visit` stops. A value is computed only on demand, and is
    /// what YAML says: what else a text may be is up to a language (`dataview_property`).
    fn visit_properties(&self, visit: &mut PropertyVisitor<'_>);

    /// Iterates over every tag as written, without `#`, until `visit` stops.
    fn visit_tags<'r>(&'r self, visit: &mut dyn FnMut(RowTag<'r>) -> ControlFlow<()>);

    /// Other names, as Obsidian reads them.
    fn aliases(&self) -> Vec<&str>;

    fn headings(&self) -> Vec<RowHeading<'_>>;

    fn blocks(&self) -> Vec<RowBlock<'_>>;

    /// Those of the frontmatter first, then those in the text in order.
    fn links(&self) -> Vec<RowLink<'_>>;

    /// The file that a link in this file leads to.
    fn resolve(&self, target: &str) -> Option<&str>;

    /// The files with a link to this one, including itself, in path order.
    fn backlinks(&self) -> Vec<&str>;

    /// Every list item in document order, flat; including tasks.
    fn items(&self) -> Vec<RowItem<'_>>;

    /// Iterates over every inline field in document order, including those of list items and tasks.
    fn visit_fields<'r>(&'r self, visit: &mut dyn FnMut(RowField<'r>));

    /// Whether the owner has bookmarked the file in the app.
    fn is_bookmarked(&self) -> bool;

    /// Whether the owner has excluded the file in the settings of the app.
    fn is_excluded(&self) -> bool;

    fn is_note(&self) -> bool {
        self.extension().eq_ignore_ascii_case("md")
    }

    /// What Dataview takes for a note, which may have an extension that Obsidian does not know.
    fn is_page(&self) -> bool {
        is_page_path(self.path())
    }

    fn name(&self) -> &str {
        self.path().rsplit_once('/').map_or(self.path(), |(_, name)| name)
    }

    /// Empty at the top of the vault.
    fn folder(&self) -> &str {
        self.path().rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Without the dot; empty if there is none.
    fn extension(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    fn tags(&self) -> Vec<RowTag<'_>> {
        let mut tags = Vec::new();
        self.visit_tags(&mut |tag| {
            tags.push(tag);
            ControlFlow::Continue(())
        });
        tags
    }

    fn fields(&self) -> Vec<RowField<'_>> {
        let mut fields = Vec::new();
        self.visit_fields(&mut |field| fields.push(field));
        fields
    }

    /// Those of some top-level properties, or of all.
    fn properties(&self, wanted: &dyn Fn(&str) -> bool) -> Object {
        let mut found = Object::new();
        self.visit_properties(&mut |name, value| {
            if wanted(name) {
                found.insert(name.to_owned(), value());
            }
            ControlFlow::Continue(())
        });
        found
    }

    fn property(&self, wanted: &str) -> Option<Value> {
        let mut found = None;
        self.visit_properties(&mut |name, value| {
            if name == wanted {
                found = Some(value());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        found
    }
}

/// Whether Dataview takes a file for a page: `.md` and `.markdown`.
pub fn is_page_path(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let extension = name.rsplit_once('.').filter(|(base, _)| !base.is_empty()).map_or("", |(_, extension)| extension);
    extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
}

/// Whether there are properties, and whether they are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontmatterState {
    Absent,
    Unreadable,
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTag<'r> {
    pub name: &'r str,
    pub in_properties: bool,
    /// The same tag comes earlier, in another case or place.
    pub repeated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowHeading<'r> {
    pub level: u8,
    pub line: usize,
    pub text: &'r str,
}

/// A part that has a `^name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowBlock<'r> {
    pub id: &'r str,
    pub line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLink<'r> {
    /// As it is looked up; empty for a link into the same file.
    pub target: &'r str,
    /// With its `#`.
    pub subpath: Option<&'r str>,
    pub display: Option<&'r str>,
    pub embed: bool,
    /// `[text](target)` and not `[[target]]`.
    pub markdown: bool,
    pub line: usize,
    /// The path of the property that contains it: `related.0`.
    pub property: Option<&'r str>,
}

/// A list item, or a task if it has a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowItem<'r> {
    pub line: usize,
    /// Of the item itself, without the lists in it.
    pub line_count: usize,
    /// How many items enclose it.
    pub depth: usize,
    /// The item whose list it is in, as an index of [`Row::items`].
    pub parent: Option<usize>,
    /// `-`, `*`, `+`, `1.` or `1)`
    pub marker: &'r str,
    /// The character in the box of a task.
    pub status: Option<char>,
    /// Its text: the first line without marker and box, then the lines after it, each trimmed.
    pub text: Cow<'r, str>,
    /// The first line of its list; `None` inside a quote.
    pub list_line: Option<usize>,
    /// From the marker to the end of its content, in bytes of [`Row::content`].
    pub span: Range<usize>,
    /// The same as Obsidian counts it.
    pub start: TextPosition,
    pub end: TextPosition,
}

/// A place in a text, in UTF-16 units except for the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPosition {
    pub line: usize,
    /// From 0.
    pub column: usize,
    /// From 0.
    pub offset: usize,
}

impl RowItem<'_> {
    /// The heading above it, of those of its note.
    pub fn section<'h, 'r>(&self, headings: &'h [RowHeading<'r>]) -> Option<&'h RowHeading<'r>> {
        let above = headings.partition_point(|heading| heading.line <= self.line);
        above.checked_sub(1).and_then(|last| headings.get(last))
    }

    /// Its `^name`, of those of its note.
    pub fn block_id<'b>(&self, blocks: &[RowBlock<'b>]) -> Option<&'b str> {
        let lines = self.line..self.line + self.line_count;
        blocks.iter().find(|block| lines.contains(&block.line)).map(|block| block.id)
    }
}

/// A value in the text: `key:: value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowField<'r> {
    pub key: &'r str,
    /// As written; `dataview_field` interprets it.
    pub value: &'r str,
    pub line: usize,
    /// The list item that it belongs to, as an index of [`Row::items`].
    pub item: Option<usize>,
    /// Whether that item is a task.
    pub of_task: bool,
}
