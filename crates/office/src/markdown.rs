//! A note as blocks of a document: what a Markdown parser finds, with Obsidian's own syntax (links, embeds, comments, formulas, tasks,
//! callouts, highlights) as the note crate reads it.

mod html;
mod inline;
mod marked;

use std::collections::{HashMap, HashSet};

use lapidary_note::{EmbedSize, HeldMemory, Note, count_steps, parse_price};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::body::{
    BlockContent, BodyBlock, BodyPicture, BodyTable, ColumnSide, DEEPEST_LIST, DEEPEST_QUOTE, DocumentBody, InlineRun,
    ListPlace, RunContent, RunStyle, TOO_LONG,
};

use crate::xml::safe_address;

use self::{
    html::HtmlPiece,
    inline::{InlineState, highlighted, trimmed},
    marked::{EmbedMark, InsertedMark, MarkedText},
};

/// Something that a note shows in place.
pub struct WantedEmbed<'e> {
    /// The note that has it, as the caller named it.
    pub note: &'e str,
    /// The file, as written; empty for a part of the same note.
    pub target: &'e str,
    /// `#Heading` or `#^block`.
    pub place: Option<&'e str>,
    /// Whether a note can be put there; a picture always can.
    pub takes_notes: bool,
}

/// What there is in its place.
pub enum EmbeddedPart {
    /// Shown at its own size unless the note says another.
    Picture(BodyPicture),
    Note {
        name: String,
        text: String,
    },
    /// Nothing: the link is shown as text.
    Nothing,
}

/// Why a note makes no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkdownFault<E> {
    /// With everything that it embeds, it is longer than this many bytes.
    TooLong { limit: usize },
    /// What was embedded could not be read, and the call may not go on.
    Embed(E),
}

/// The blocks of a note.
#[derive(Debug)]
pub struct MarkdownResult {
    pub body: DocumentBody,
    /// Embeds that are only shown as text, as they are written, each once.
    pub left_out: Vec<String>,
}

/// Notes in notes in notes.
const DEEPEST_EMBED: usize = 5;
/// More are shown as links.
const MOST_EMBEDS: usize = 500;
/// What an event of the parser counts.
const EVENT_STEPS: usize = 16;

/// The document that a note is. `name` is given back with every embed of this note.
pub fn markdown<E>(
    name: &str,
    text: &str,
    embed: &mut dyn FnMut(&WantedEmbed<'_>) -> Result<EmbeddedPart, E>,
) -> Result<MarkdownResult, MarkdownFault<E>> {
    let mut reader = MarkdownReader {
        body: DocumentBody::default(),
        embed,
        read: 0,
        embeds: 0,
        inside: Vec::new(),
        left_out: Vec::new(),
        known: HashSet::new(),
    };
    // Embedded notes are read by the same reader, so the limits hold for all of them together.
    reader.note(name, text, NotePlace::default())?;
    Ok(MarkdownResult { body: reader.body, left_out: reader.left_out })
}

/// Where a note goes that is embedded in another.
#[derive(Clone, Default)]
struct NotePlace {
    quote: u8,
    callout: Option<String>,
    list: Option<ListPlace>,
    /// The words of a footnote.
    is_footnote: bool,
}

struct MarkdownReader<'r, E> {
    body: DocumentBody,
    embed: &'r mut dyn FnMut(&WantedEmbed<'_>) -> Result<EmbeddedPart, E>,
    /// How many bytes of notes were read.
    read: usize,
    embeds: usize,
    /// The notes that are being read, outermost first: none is embedded in itself.
    inside: Vec<(String, Option<String>)>,
    left_out: Vec<String>,
    known: HashSet<String>,
}

impl<E> MarkdownReader<'_, E> {
    fn note(&mut self, name: &str, text: &str, place: NotePlace) -> Result<(), MarkdownFault<E>> {
        self.read = self.read.saturating_add(text.len());
        if self.read > TOO_LONG {
            return Err(MarkdownFault::TooLong { limit: TOO_LONG });
        }
        let price = parse_price(text);
        // Blocks and runs are about twice as large as the structure of a note, and the parser has its own while it runs.
        self.body.held.add(price.saturating_mul(2));
        let _parsing = HeldMemory::of(price);
        let marked = MarkedText::of(&Note::parse(text));
        // Formulas, tasks and highlights are not among them: the note crate finds those, by Obsidian's rules.
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
        let mut walk = NoteWalk {
            reader: self,
            name,
            place,
            marked: &marked,
            containers: Vec::new(),
            target: RunTarget::Paragraph,
            inline: InlineState::default(),
            table: BodyTable::default(),
            code: None,
            html: None,
            footnotes: HashMap::new(),
            open_footnotes: Vec::new(),
        };
        for event in Parser::new_ext(&marked.text, options) {
            count_steps(EVENT_STEPS);
            walk.step(event)?;
        }
        walk.end_block();
        Ok(())
    }

    /// The words of a part of a note, on as many lines as it has blocks.
    fn words(&mut self, name: &str, text: &str) -> Result<Vec<InlineRun>, MarkdownFault<E>> {
        // A footnote has runs and no blocks, so its blocks are gathered apart from those of the note.
        let before = std::mem::take(&mut self.body.blocks);
        let place = NotePlace { is_footnote: true, ..NotePlace::default() };
        let read = self.note(name, text, place);
        let blocks = std::mem::replace(&mut self.body.blocks, before);
        read.map(|()| joined_runs(blocks))
    }

    fn leave_out(&mut self, written: &str) {
        if self.known.insert(written.to_owned()) {
            self.left_out.push(written.to_owned());
        }
    }
}

fn joined_runs(blocks: Vec<BodyBlock>) -> Vec<InlineRun> {
    let mut runs: Vec<InlineRun> = Vec::new();
    for block in blocks {
        let own = match block.content {
            BlockContent::Heading(_, runs) | BlockContent::Paragraph(runs) | BlockContent::CalloutTitle(runs) => runs,
            BlockContent::Code(text) | BlockContent::Formula(text) => vec![InlineRun::text(text)],
            // Only the words: a footnote has no room for a table.
            BlockContent::Table(table) => table.rows.into_iter().flatten().flatten().collect(),
            BlockContent::Rule => Vec::new(),
        };
        if !runs.is_empty() && !own.is_empty() {
            runs.push(InlineRun::plain(RunContent::Break));
        }
        runs.extend(own);
    }
    runs
}

/// An open container.
enum OpenedContainer {
    List(usize),
    Item { task: Option<bool>, is_open: bool },
    Quote { callout: Option<String>, is_new: bool },
}

/// What the runs that are being read become.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunTarget {
    Paragraph,
    Heading(u8),
    Cell,
}

struct NoteWalk<'w, 'r, E> {
    reader: &'w mut MarkdownReader<'r, E>,
    name: &'w str,
    place: NotePlace,
    marked: &'w MarkedText,
    containers: Vec<OpenedContainer>,
    target: RunTarget,
    inline: InlineState,
    table: BodyTable,
    code: Option<String>,
    html: Option<String>,
    /// Footnotes of this note by their labels.
    footnotes: HashMap<String, usize>,
    /// The footnotes that are being read, outermost first: a definition may be within another.
    open_footnotes: Vec<OpenedFootnote>,
}

/// A definition of a footnote, and what was in front of it.
struct OpenedFootnote {
    number: usize,
    blocks: Vec<BodyBlock>,
    containers: Vec<OpenedContainer>,
}

impl<'w, E> NoteWalk<'w, '_, E> {
    fn step(&mut self, event: Event<'_>) -> Result<(), MarkdownFault<E>> {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => return self.text(&text),
            Event::Code(text) => {
                let code = RunStyle { code: true, ..self.inline.style() };
                self.inline.push(RunContent::Text(text.into_string()), code);
            }
            // As the app shows them unless it is told otherwise.
            Event::SoftBreak | Event::HardBreak => self.inline.line_break(),
            Event::Rule => {
                self.end_block();
                self.block(BlockContent::Rule);
            }
            Event::FootnoteReference(label) => {
                // The reference may come before its definition, so either of them gives the number.
                let number = self.footnote_number(&label);
                self.inline.push(RunContent::Footnote(number), RunStyle::default());
            }
            // A block comes line by line, and a tag may span several.
            Event::Html(text) => match &mut self.html {
                Some(html) => html.push_str(&text),
                None => self.html_pieces(&text),
            },
            Event::InlineHtml(text) => self.html_pieces(&text),
            // Parsed by the note crate, whose rules are Obsidian's.
            Event::InlineMath(text) | Event::DisplayMath(text) => return self.text(&text),
            Event::TaskListMarker(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.end_block(),
            Tag::Heading { level, .. } => {
                self.end_block();
                self.target = RunTarget::Heading(level_of(level));
            }
            Tag::BlockQuote(_) => {
                self.end_block();
                self.containers.push(OpenedContainer::Quote { callout: None, is_new: true });
            }
            Tag::CodeBlock(kind) => {
                self.end_block();
                self.code = Some(String::new());
                // An indented block has no name, and nothing is shown of a name anyway.
                drop::<CodeBlockKind<'_>>(kind);
            }
            Tag::HtmlBlock => {
                self.end_block();
                self.html = Some(String::new());
            }
            Tag::List(first) => {
                self.end_block();
                self.containers.push(OpenedContainer::List(self.reader.body.lists.len()));
                self.reader.body.lists.push(first);
            }
            Tag::Item => {
                self.end_block();
                self.containers.push(OpenedContainer::Item { task: None, is_open: true });
            }
            Tag::FootnoteDefinition(label) => {
                self.end_block();
                let number = self.footnote_number(&label);
                // Put back at the end of the definition, which may be between any two blocks.
                let blocks = std::mem::take(&mut self.reader.body.blocks);
                let containers = std::mem::take(&mut self.containers);
                self.open_footnotes.push(OpenedFootnote { number, blocks, containers });
            }
            Tag::Table(sides) => {
                self.end_block();
                self.table = BodyTable { sides: sides.into_iter().map(side_of).collect(), rows: Vec::new() };
            }
            Tag::TableHead | Tag::TableRow => self.table.rows.push(Vec::new()),
            Tag::TableCell => self.target = RunTarget::Cell,
            Tag::Emphasis => self.inline.italic += 1,
            Tag::Strong => self.inline.bold += 1,
            Tag::Strikethrough => self.inline.strike += 1,
            // An image of the web is not fetched: its address is all there is.
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let links = &mut self.reader.body.links;
                self.inline.links.push(safe_address(&dest_url).map(|address| {
                    links.push(address);
                    links.len() - 1
                }));
            }
            Tag::Superscript
            | Tag::Subscript
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) => self.end_block(),
            TagEnd::BlockQuote(_) | TagEnd::List(_) => {
                self.end_block();
                self.containers.pop();
            }
            TagEnd::Item => {
                self.end_block();
                // An item without text still has its bullet.
                if let Some(OpenedContainer::Item { is_open: true, .. }) = self.containers.last() {
                    self.block(BlockContent::Paragraph(Vec::new()));
                }
                self.containers.pop();
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                self.block(BlockContent::Code(code.strip_suffix('\n').unwrap_or(&code).to_owned()));
            }
            TagEnd::HtmlBlock => {
                let html = self.html.take().unwrap_or_default();
                self.html_pieces(&html);
                self.end_block();
            }
            TagEnd::FootnoteDefinition => {
                self.end_block();
                if let Some(OpenedFootnote { number, blocks, containers }) = self.open_footnotes.pop() {
                    let own = std::mem::replace(&mut self.reader.body.blocks, blocks);
                    self.containers = containers;
                    if let Some(footnote) = self.reader.body.footnotes.get_mut(number) {
                        *footnote = joined_runs(own);
                    }
                }
            }
            TagEnd::Table => {
                let table = std::mem::take(&mut self.table);
                self.block(BlockContent::Table(table));
            }
            TagEnd::TableCell => {
                let runs = trimmed(highlighted(self.inline.take()));
                if let Some(row) = self.table.rows.last_mut() {
                    row.push(runs);
                }
                self.target = RunTarget::Paragraph;
            }
            TagEnd::Emphasis => self.inline.italic -= 1,
            TagEnd::Strong => self.inline.bold -= 1,
            TagEnd::Strikethrough => self.inline.strike -= 1,
            TagEnd::Link | TagEnd::Image => drop(self.inline.links.pop()),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    /// Text, in which marks stand for what the note crate has parsed.
    fn text(&mut self, text: &str) -> Result<(), MarkdownFault<E>> {
        if let Some(code) = &mut self.code {
            code.push_str(text);
            return Ok(());
        }
        let marked = self.marked;
        for piece in marked.pieces(text) {
            match piece {
                Ok(text) => self.inline.text(text),
                Err(mark) => self.inserted(mark)?,
            }
        }
        Ok(())
    }

    fn inserted(&mut self, mark: &'w InsertedMark) -> Result<(), MarkdownFault<E>> {
        match mark {
            InsertedMark::Text(text) => self.inline.text(text),
            InsertedMark::Task(is_done) => {
                if let Some(OpenedContainer::Item { task, .. }) = self.containers.last_mut() {
                    // The box comes first in its item, so the innermost container is that item.
                    *task = Some(*is_done);
                }
            }
            // Only in a paragraph: a heading or a cell cannot be cut in two.
            InsertedMark::Formula { text, stands_alone: true } if self.target == RunTarget::Paragraph => {
                self.end_block();
                self.block(BlockContent::Formula(text.clone()));
            }
            InsertedMark::Formula { text, .. } => {
                let italic = RunStyle { italic: true, ..self.inline.style() };
                self.inline.push(RunContent::Text(text.clone()), italic);
            }
            InsertedMark::Footnote(text) => {
                // A footnote in a footnote is shown as its words.
                if self.place.is_footnote {
                    self.inline.text(text);
                } else {
                    let runs = self.reader.words(self.name, text)?;
                    let number = self.reader.body.footnotes.len();
                    self.reader.body.footnotes.push(runs);
                    self.inline.push(RunContent::Footnote(number), RunStyle::default());
                }
            }
            InsertedMark::Embed(embed) => return self.embedded(embed),
        }
        Ok(())
    }

    fn embedded(&mut self, mark: &EmbedMark) -> Result<(), MarkdownFault<E>> {
        // The blocks of a note fit neither into a line nor into a footnote.
        let is_in_footnote = self.place.is_footnote || !self.open_footnotes.is_empty();
        let takes_notes = self.target == RunTarget::Paragraph && !is_in_footnote;
        let takes_notes = takes_notes && self.reader.inside.len() < DEEPEST_EMBED;
        // Counted before the caller is asked, since every answer may read a file.
        self.reader.embeds += 1;
        let wanted = WantedEmbed { note: self.name, target: &mark.target, place: mark.place.as_deref(), takes_notes };
        let part = match self.reader.embeds <= MOST_EMBEDS {
            true => (self.reader.embed)(&wanted).map_err(MarkdownFault::Embed)?,
            false => EmbeddedPart::Nothing,
        };
        match part {
            EmbeddedPart::Picture(picture) => {
                let number = self.reader.body.pictures.len();
                self.reader.body.pictures.push(sized(picture, mark));
                self.inline.push(RunContent::Picture(number), RunStyle::default());
                Ok(())
            }
            EmbeddedPart::Note { name, text } if takes_notes && !self.is_inside(&name, mark) => {
                self.end_block();
                // The embedded note continues the list or quote that it is in.
                count_steps(self.containers.len());
                let place = self.current_place();
                let entered = (name.clone(), mark.place.clone());
                self.reader.inside.push(entered);
                let read = self.reader.note(&name, &text, place);
                self.reader.inside.pop();
                // The note that is embedded has used up the bullet.
                if let Some(OpenedContainer::Item { is_open, .. }) = self.containers.last_mut() {
                    *is_open = false;
                }
                read
            }
            EmbeddedPart::Note { .. } | EmbeddedPart::Nothing => {
                // Named in the answer, and shown as the link that it also is.
                self.reader.leave_out(&mark.written);
                self.inline.text(&mark.shown);
                Ok(())
            }
        }
    }

    /// A note that embeds itself, perhaps over others, would have no end.
    fn is_inside(&self, name: &str, mark: &EmbedMark) -> bool {
        let whole_of_itself = name == self.name && mark.place.is_none();
        whole_of_itself || self.reader.inside.iter().any(|(known, place)| known == name && *place == mark.place)
    }

    fn html_pieces(&mut self, html: &str) {
        for piece in html::pieces(html) {
            match piece {
                HtmlPiece::Text(text) => self.inline.text(&text),
                HtmlPiece::Break => self.inline.line_break(),
                HtmlPiece::Style(style, is_open) => self.inline.html_style(style, is_open),
            }
        }
    }

    fn footnote_number(&mut self, label: &str) -> usize {
        let body = &mut self.reader.body;
        // Labels are compared without case, as in Markdown.
        *self.footnotes.entry(label.to_lowercase()).or_insert_with(|| {
            body.footnotes.push(Vec::new());
            body.footnotes.len() - 1
        })
    }

    /// Ends what is being read, if that is anything.
    fn end_block(&mut self) {
        let target = std::mem::replace(&mut self.target, RunTarget::Paragraph);
        let runs = self.inline.take();
        self.inline.end_html();
        if runs.is_empty() {
            return;
        }
        let runs = trimmed(highlighted(runs));
        match target {
            RunTarget::Heading(level) => self.block(BlockContent::Heading(level, runs)),
            RunTarget::Paragraph | RunTarget::Cell => self.paragraph(runs),
        }
    }

    fn paragraph(&mut self, runs: Vec<InlineRun>) {
        // The first paragraph of a quote says whether it is a callout.
        if let Some(OpenedContainer::Quote { callout, is_new: true }) = self.containers.last_mut()
            && let Some((kind, title, rest)) = inline::callout(&runs)
        {
            *callout = Some(kind);
            self.block(BlockContent::CalloutTitle(title));
            if !rest.is_empty() {
                self.block(BlockContent::Paragraph(rest));
            }
            return;
        }
        if !runs.is_empty() {
            self.block(BlockContent::Paragraph(runs));
        }
    }

    fn block(&mut self, content: BlockContent) {
        // One event may make many blocks, each of which looks at everything that is open.
        count_steps(EVENT_STEPS + self.containers.len());
        let NotePlace { quote, callout, list, .. } = self.current_place();
        // A table has no place for a bullet.
        if matches!(content, BlockContent::Table(_) | BlockContent::Code(_) | BlockContent::Rule)
            && let Some(place) = list.filter(|place| place.opens)
        {
            let content = BlockContent::Paragraph(Vec::new());
            let (callout, list) = (callout.clone(), Some(place));
            self.reader.body.blocks.push(BodyBlock { content, quote, callout, list });
        }
        let has_bullet = !matches!(content, BlockContent::Table(_) | BlockContent::Code(_) | BlockContent::Rule);
        let list = list.map(|place| ListPlace { opens: place.opens && has_bullet, ..place });
        self.reader.body.blocks.push(BodyBlock { content, quote, callout, list });
        match self.containers.last_mut() {
            Some(OpenedContainer::Item { is_open, .. }) => *is_open = false,
            Some(OpenedContainer::Quote { is_new, .. }) => *is_new = false,
            _ => {}
        }
        // What was embedded in the item of another note has its bullet once.
        if let Some(place) = &mut self.place.list {
            place.opens = false;
        }
        for container in &mut self.containers {
            if let OpenedContainer::Item { is_open, .. } = container {
                *is_open = false;
            }
        }
    }

    /// Where a block is now.
    fn current_place(&self) -> NotePlace {
        let mut place = self.place.clone();
        let mut level = place.list.map_or(0, |place| place.level + 1);
        let mut current = None;
        for container in &self.containers {
            match container {
                OpenedContainer::List(list) => current = Some(*list),
                OpenedContainer::Item { task, is_open } => {
                    place.list = current.map(|list| ListPlace { level, list, task: *task, opens: *is_open });
                    level = level.saturating_add(1).min(DEEPEST_LIST);
                }
                OpenedContainer::Quote { callout, .. } => {
                    place.quote = place.quote.saturating_add(1).min(DEEPEST_QUOTE);
                    // A plain quote in a callout keeps the colours around it.
                    if callout.is_some() {
                        place.callout.clone_from(callout);
                    }
                }
            }
        }
        place
    }
}

fn level_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

fn side_of(side: Alignment) -> ColumnSide {
    match side {
        Alignment::None | Alignment::Left => ColumnSide::Left,
        Alignment::Center => ColumnSide::Center,
        Alignment::Right => ColumnSide::Right,
    }
}

/// A picture at the size that the note says.
fn sized(picture: BodyPicture, mark: &EmbedMark) -> BodyPicture {
    let alt = if mark.alt.is_empty() { picture.alt.clone() } else { mark.alt.clone() };
    let (width, height) = match mark.size {
        Some(EmbedSize { width, height: Some(height), .. }) if width > 0 && height > 0 => (width, height),
        Some(EmbedSize { width, height: None, .. }) if width > 0 => {
            // With a width alone, Obsidian keeps the proportions.
            let height = u64::from(picture.height) * u64::from(width) / u64::from(picture.width.max(1));
            (width, u32::try_from(height).unwrap_or(u32::MAX).max(1))
        }
        _ => (picture.width, picture.height),
    };
    BodyPicture { width, height, alt, ..picture }
}
