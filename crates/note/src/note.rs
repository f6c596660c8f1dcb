//! A parsed note.

use std::{borrow::Cow, ops::Deref};

use crate::{
    Block, Callout, CodeSpan, Comment, Footnote, Frontmatter, FrontmatterError, Heading, InlineField, Link,
    LinkDefinition, ListItem, MathSpan, Property, Tag, Task, headings, links::ReferenceLabels, memory::HeldMemory,
    parse, properties, tags::plain_tags,
};

/// A note with its structure, as Obsidian sees it. Every span is a range of bytes in `text`.
#[derive(Clone, Debug, PartialEq)]
pub struct Note<'t> {
    /// The shown text: no byte order mark, `\n` line endings (see [`crate::Document::shown`]).
    pub text: &'t str,
    structure: Cow<'t, NoteStructure>,
}

/// The structure of a note, without the text itself.
///
/// All parts of one kind are ordered by their starts.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteStructure {
    pub frontmatter: Option<Frontmatter>,
    /// The values of the frontmatter, in document order, or why it cannot be parsed.
    pub properties: Result<Vec<Property>, FrontmatterError>,
    pub headings: Vec<Heading>,
    /// The parts that carry a `^name`.
    pub blocks: Vec<Block>,
    /// Links in the text; see [`Note::property_links`] for the others.
    pub links: Vec<Link>,
    pub definitions: Vec<LinkDefinition>,
    pub(crate) labels: ReferenceLabels,
    pub footnotes: Vec<Footnote>,
    pub tags: Vec<Tag>,
    pub items: Vec<ListItem>,
    pub tasks: Vec<Task>,
    pub callouts: Vec<Callout>,
    pub comments: Vec<Comment>,
    pub math: Vec<MathSpan>,
    pub fields: Vec<InlineField>,
    pub code: Vec<CodeSpan>,
    /// What it takes in memory.
    held: HeldMemory,
}

impl<'t> Note<'t> {
    /// Parses the structure of a shown text, in time and memory linear in the text.
    pub fn parse(text: &'t str) -> Self {
        Self { text, structure: Cow::Owned(NoteStructure::parse(text)) }
    }

    /// The properties and tags of a text, without the rest of its structure if the text is so plain that it need not be parsed
    /// for that.
    pub fn tagged(text: &'t str) -> Self {
        let (mut structure, body) = NoteStructure::head(text);
        match plain_tags(text, body) {
            Some(tags) => structure.tags = tags,
            None => structure.walk(text, body),
        }
        Self { text, structure: Cow::Owned(structure) }
    }

    /// A text whose structure is already known.
    pub(crate) fn known(text: &'t str, structure: &'t NoteStructure) -> Self {
        Self { text, structure: Cow::Borrowed(structure) }
    }
}

impl Deref for Note<'_> {
    type Target = NoteStructure;

    fn deref(&self) -> &NoteStructure {
        &self.structure
    }
}

impl NoteStructure {
    pub(crate) fn parse(text: &str) -> Self {
        let (mut structure, body) = Self::head(text);
        structure.walk(text, body);
        structure
    }

    /// Only the properties, and where the rest begins.
    fn head(text: &str) -> (Self, usize) {
        // First, because the text begins only behind it.
        let frontmatter = Frontmatter::find(text);
        let body = frontmatter.as_ref().map_or(0, |block| block.span.end);
        let properties =
            frontmatter.as_ref().map_or(Ok(Vec::new()), |block| properties::read(text, block.yaml.clone()));
        let structure = Self {
            frontmatter,
            properties,
            headings: Vec::new(),
            blocks: Vec::new(),
            links: Vec::new(),
            definitions: Vec::new(),
            labels: ReferenceLabels::default(),
            footnotes: Vec::new(),
            tags: Vec::new(),
            items: Vec::new(),
            tasks: Vec::new(),
            callouts: Vec::new(),
            comments: Vec::new(),
            math: Vec::new(),
            fields: Vec::new(),
            code: Vec::new(),
            held: HeldMemory::default(),
        };
        (structure, body)
    }

    fn walk(&mut self, text: &str, body: usize) {
        #[cfg(test)]
        parse_count::add();
        self.held = HeldMemory::for_parsing(text);
        parse::walk(text, self, body);
        // Needs all headings: the end of a section depends on those that follow.
        headings::nest(text, &mut self.headings);
        self.sort();
        // After sorting, as the first definition of a label counts.
        self.labels = ReferenceLabels::of(text, &self.definitions);
        debug_assert!(
            plain_tags(text, body).is_none_or(|tags| tags == self.tags),
            "a plain text has other tags when it is parsed"
        );
    }

    /// Comments are parsed last, and an enclosing part ends after the enclosed one.
    fn sort(&mut self) {
        self.blocks.sort_by_key(|block| (block.span.start, block.marker.start));
        self.links.sort_by_key(|link| link.span.start);
        self.definitions.sort_by_key(|definition| definition.span.start);
        self.footnotes.sort_by_key(|footnote| footnote.span.start);
        self.tags.sort_by_key(|tag| tag.span.start);
        self.comments.sort_by_key(|comment| comment.span.start);
        self.math.sort_by_key(|math| math.span.start);
        self.fields.sort_by_key(|field| field.span.start);
        self.code.sort_by_key(|code| code.span.start);
    }
}

/// How many texts this thread has parsed, for tests that promise a number.
#[cfg(test)]
pub(crate) mod parse_count {
    use std::cell::Cell;

    thread_local! {
        static PARSES: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn add() {
        PARSES.set(PARSES.get() + 1);
    }

    /// The result of `work`, and how many texts were parsed for it.
    pub(crate) fn during<T>(work: impl FnOnce() -> T) -> (T, usize) {
        let before = PARSES.get();
        let outcome = work();
        (outcome, PARSES.get() - before)
    }
}
