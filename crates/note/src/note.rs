use crate::{
    Block, Callout, Code, Comment, Field, Footnote, Frontmatter, FrontmatterError, Heading, Highlight, Link,
    LinkDefinition, ListItem, Math, Property, Tag, Task, headings, links::Labels, parse, properties,
};

/// A note with its structure, as Obsidian sees it. Every span is a range of bytes in `text`.
///
/// All parts of one kind are in the order of their begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Note<'t> {
    /// The shown text: no byte order mark, `\n` line ends (see [`crate::Text::shown`]).
    pub text: &'t str,
    pub frontmatter: Option<Frontmatter>,
    /// What the frontmatter says, in document order, or why it cannot be read.
    pub properties: Result<Vec<Property>, FrontmatterError>,
    pub headings: Vec<Heading>,
    /// The parts that carry a `^name`.
    pub blocks: Vec<Block>,
    /// Links in the text; see [`Note::property_links`] for the others.
    pub links: Vec<Link>,
    pub definitions: Vec<LinkDefinition>,
    pub(crate) labels: Labels,
    pub footnotes: Vec<Footnote>,
    pub tags: Vec<Tag>,
    pub items: Vec<ListItem>,
    pub tasks: Vec<Task>,
    pub callouts: Vec<Callout>,
    pub comments: Vec<Comment>,
    pub math: Vec<Math>,
    pub highlights: Vec<Highlight>,
    pub fields: Vec<Field>,
    pub code: Vec<Code>,
}

impl<'t> Note<'t> {
    /// Reads the structure of a shown text, in time and memory that grow no faster than the text.
    pub fn parse(text: &'t str) -> Self {
        let frontmatter = Frontmatter::find(text);
        let body = frontmatter.as_ref().map_or(0, |block| block.span.end);
        let properties =
            frontmatter.as_ref().map_or(Ok(Vec::new()), |block| properties::read(text, block.yaml.clone()));
        let mut note = Self {
            text,
            frontmatter,
            properties,
            headings: Vec::new(),
            blocks: Vec::new(),
            links: Vec::new(),
            definitions: Vec::new(),
            labels: Labels::default(),
            footnotes: Vec::new(),
            tags: Vec::new(),
            items: Vec::new(),
            tasks: Vec::new(),
            callouts: Vec::new(),
            comments: Vec::new(),
            math: Vec::new(),
            highlights: Vec::new(),
            fields: Vec::new(),
            code: Vec::new(),
        };
        parse::walk(&mut note, body);
        headings::nest(&mut note);
        note.sort();
        note.labels = Labels::of(text, &note.definitions);
        note
    }

    /// Comments are read last, and what encloses another thing ends after it.
    fn sort(&mut self) {
        self.blocks.sort_by_key(|block| (block.span.start, block.marker.start));
        self.links.sort_by_key(|link| link.span.start);
        self.definitions.sort_by_key(|definition| definition.span.start);
        self.footnotes.sort_by_key(|footnote| footnote.span.start);
        self.tags.sort_by_key(|tag| tag.span.start);
        self.comments.sort_by_key(|comment| comment.span.start);
        self.math.sort_by_key(|math| math.span.start);
        self.highlights.sort_by_key(|highlight| highlight.span.start);
        self.fields.sort_by_key(|field| field.span.start);
        self.code.sort_by_key(|code| code.span.start);
    }
}
