//! The one pass over the events of the Markdown parser.

use std::{borrow::Cow, ops::Range};

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Parser, Tag, TagEnd};

use super::{
    brackets::BracketPairs,
    leaf::{InlineRun, InlineToken, TokenKind, scan},
    mask::{MaskedKind, MaskedSpan, mask, visible_parts},
    options,
    reading::read_as_obsidian,
};
use crate::{
    BlockKind, Comment, Footnote, FootnoteKind, ListItem, MarkForm, MathSpan, NoteStructure,
    blocks::{TrailingMarker, trailing_id},
    callouts::callout,
    count_steps,
    headings::heading,
    items, links,
    span::{line_end, line_start, trim, trim_end},
    tasks,
};

mod code;
mod names;

/// What an event of the parser counts beside its text.
const EVENT_STEPS: usize = 16;

/// Adds the structure of the body, which starts at `start`, to a note.
pub(crate) fn walk(text: &str, note: &mut NoteStructure, start: usize) {
    let visible = without_returns(text);
    // Masked in the text that the parser will see; the spans are the same in both.
    let (body, mut masked) = mask(&visible[start..]);
    let body = read_as_obsidian(body);
    for region in &mut masked {
        for span in [&mut region.span, &mut region.content] {
            *span = span.start + start..span.end + start;
        }
    }
    let mut walk = BlockWalk::new(text, note, &masked);
    walk.events(&body, start);
    walk.finish();
    for region in masked {
        let MaskedSpan { span, content, kind, quotes, .. } = region;
        match kind {
            MaskedKind::Math => note.math.push(MathSpan { span, content, display: true, form: MarkForm::Block }),
            MaskedKind::Comment => {
                note.comments.push(Comment { span, content: content.clone(), form: MarkForm::Block });
                // Obsidian reads a comment as one run of text, so only links and tags count.
                let mut walk = BlockWalk::new(text, note, &[]);
                walk.quotes = quotes;
                walk.run(content);
            }
        }
    }
}

/// The Markdown parser would end lines at a `\r`, so it is given another blank, one that indents nothing. A shown text
/// has none, but YAML escapes may produce one.
fn without_returns(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\r', "\u{b}"))
}

/// An open container block.
enum OpenContainer {
    List,
    Item(usize),
    Quote { span: Range<usize>, callout: Option<usize> },
    Footnote(Range<usize>),
    Table(Range<usize>),
}

/// The kind of a leaf, for the block id at its end.
#[derive(Clone, Copy, PartialEq)]
enum LeafKind {
    Paragraph,
    /// The text of a tight list item, which has no paragraph around it.
    Tight,
    Heading(u8),
    Cell,
}

struct BlockWalk<'n, 'm, 't> {
    text: &'t str,
    note: &'n mut NoteStructure,
    masked: &'m [MaskedSpan],
    /// Where the walked text ends.
    end: usize,
    containers: Vec<OpenContainer>,
    quotes: usize,
    /// The items that are open, outermost first.
    open_items: Vec<usize>,
    /// The callouts that are open, outermost first.
    open_callouts: Vec<usize>,
    /// The last measured run of whitespace; nested parts often end at the same place.
    blank: Range<usize>,
    /// The leaf being read.
    leaf: Option<(LeafKind, Range<usize>)>,
    tokens: Vec<InlineToken>,
    /// Links whose end has not been seen, as indexes of tokens.
    open_links: Vec<usize>,
    marks: Vec<usize>,
    ends: Vec<(usize, usize)>,
    brackets: BracketPairs,
    /// Where the last inline event ended.
    inline_end: usize,
    /// Where the last table cell ended.
    cell_end: usize,
    /// In a block of code or HTML, where the parser's text events are not text.
    closed: bool,
    /// Whether Obsidian indents an item further than the parser does, for the last item checked.
    wider: Option<(usize, Option<usize>)>,
    /// The last finished top-level block, with trailing blanks.
    previous: Option<(BlockKind, Range<usize>)>,
    /// Blocks that name an item, whose own content may not have ended yet.
    named_items: Vec<(usize, usize)>,
}

impl<'n, 'm, 't> BlockWalk<'n, 'm, 't> {
    fn new(text: &'t str, note: &'n mut NoteStructure, masked: &'m [MaskedSpan]) -> Self {
        Self {
            text,
            note,
            masked,
            end: 0,
            containers: Vec::new(),
            quotes: 0,
            open_items: Vec::new(),
            open_callouts: Vec::new(),
            blank: 0..0,
            leaf: None,
            tokens: Vec::new(),
            open_links: Vec::new(),
            marks: Vec::new(),
            ends: Vec::new(),
            brackets: BracketPairs::default(),
            inline_end: 0,
            cell_end: 0,
            closed: false,
            wider: None,
            previous: None,
            named_items: Vec::new(),
        }
    }

    /// Walks the events of a text that starts at `base` in the note.
    fn events(&mut self, body: &str, base: usize) {
        let events = Parser::new_ext(body, options()).into_offset_iter();
        self.definitions(&events, base);
        self.end = base + body.len();
        let text = self.text;
        let exact = self.masked.is_empty();
        for (event, range) in events {
            let range = range.start + base..range.end + base;
            // Parsing is charged by event, as its cost is not visible from here.
            count_steps(EVENT_STEPS);
            // Masked text has other characters than the parser saw.
            let range =
                if exact { range } else { text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end) };
            self.step(&event, range);
        }
        self.end_tight();
    }

    /// Parses a part of the text in which only inline syntax counts, although it may have lines that look like blocks.
    fn run(&mut self, span: Range<usize>) {
        // On a single line that starts with a stop, the parser can see no block.
        let line = format!(".{}", self.text[span.clone()].replace(['\n', '\r'], " "));
        for (event, range) in Parser::new_ext(&line, options()).into_offset_iter() {
            count_steps(EVENT_STEPS);
            if !matches!(event, Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph)) {
                let place = |at: usize| span.start + at.saturating_sub(1);
                self.step(&event, place(range.start)..place(range.end));
            }
        }
        self.leaf = None;
        self.scan(span);
    }

    fn definitions(&mut self, events: &pulldown_cmark::OffsetIter<'_>, base: usize) {
        let from = self.note.definitions.len();
        for (_, definition) in events.reference_definitions().iter() {
            let span = definition.span.start + base..definition.span.end + base;
            self.note.definitions.extend(links::definition(self.text, span));
        }
        // They come in no order.
        self.note.definitions[from..].sort_by_key(|definition| definition.span.start);
    }

    fn step(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(*tag, range),
            // Text of code and HTML is not scanned for links and tags.
            Event::Text(_) if self.closed => {}
            Event::Text(_) | Event::SoftBreak | Event::HardBreak | Event::FootnoteReference(_) => self.inline(&range),
            Event::Code(_) => self.code_span(range),
            Event::InlineHtml(_) => self.token(TokenKind::Html, range),
            Event::Rule => {
                self.end_tight();
                self.finish_top(BlockKind::Rule, &range);
            }
            Event::Html(_) | Event::InlineMath(_) | Event::DisplayMath(_) | Event::TaskListMarker(_) => {}
        }
    }

    /// Something inline: outside a paragraph it is the text of a tight item.
    fn inline(&mut self, range: &Range<usize>) {
        match &mut self.leaf {
            Some((LeafKind::Tight, span)) => span.end = span.end.max(range.end),
            Some(_) => {}
            None => self.leaf = Some((LeafKind::Tight, range.clone())),
        }
        self.inline_end = range.end;
    }

    /// At the end of a heading the parser includes the blanks after a code span.
    fn code_span(&mut self, range: Range<usize>) {
        let ticks = memchr::memrchr(b'`', self.text[range.clone()].as_bytes());
        let end = ticks.map_or(range.end, |last| range.start + last + 1);
        self.token(TokenKind::Code, range.start..end);
    }

    fn token(&mut self, kind: TokenKind, span: Range<usize>) {
        self.inline(&span);
        // A mask divides the text around it, so nothing spans it.
        if visible_parts(self.masked, span.clone()).nth(1).is_none() {
            self.tokens.push(InlineToken { span, kind });
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Emphasis | Tag::Strikethrough => self.mark(&range, 1),
            Tag::Strong => self.mark(&range, 2),
            Tag::Link { link_type, .. } => self.link(*link_type, false, range),
            Tag::Image { link_type, .. } => self.link(*link_type, true, range),
            _ => {
                self.end_tight();
                self.start_block(tag, range);
            }
        }
    }

    fn mark(&mut self, range: &Range<usize>, length: usize) {
        // Text may be struck out with one tilde or two.
        // The parser reports both as the same event.
        let length = length + usize::from(self.text[range.clone()].starts_with("~~"));
        self.inline(&(range.start..range.start + length));
        self.marks.push(range.start + length);
    }

    fn end_mark(&mut self, range: &Range<usize>, length: usize) {
        self.inline(range);
        self.ends.push((range.end - length, range.start));
        self.marks.push(range.end);
    }

    fn link(&mut self, link_type: LinkType, image: bool, range: Range<usize>) {
        self.inline(&(range.start..range.start + 1));
        self.open_links.push(self.tokens.len());
        self.tokens.push(InlineToken { span: range, kind: TokenKind::Link { link_type, image, inner_end: 0 } });
    }

    fn end_link(&mut self, range: &Range<usize>) {
        let inner = self.inline_end;
        let open = self.open_links.pop().and_then(|index| self.tokens.get_mut(index));
        if let Some(InlineToken { kind: TokenKind::Link { inner_end, .. }, .. }) = open {
            *inner_end = inner;
        }
        self.inline(range);
    }

    fn start_block(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph => self.leaf = Some((LeafKind::Paragraph, range)),
            Tag::Heading { level, .. } => self.leaf = Some((LeafKind::Heading(*level as u8), range)),
            Tag::TableCell => self.leaf = Some((LeafKind::Cell, range)),
            Tag::BlockQuote(_) => self.start_quote(range),
            Tag::List(_) => {
                // A nested list ends the item's own text.
                if let Some(OpenContainer::Item(item)) = self.containers.last()
                    && let Some(item) = self.note.items.get_mut(*item)
                {
                    // Only the first list counts; the whitespace before it is short.
                    item.span = trim_end(self.text, item.span.start..item.span.end.min(range.start));
                }
                self.containers.push(OpenContainer::List);
            }
            Tag::Item => self.start_item(range),
            Tag::FootnoteDefinition(_) => self.start_footnote(range),
            Tag::Table(_) => self.containers.push(OpenContainer::Table(range)),
            Tag::CodeBlock(kind) => {
                self.code_block(matches!(kind, CodeBlockKind::Fenced(_)), range);
                self.closed = true;
            }
            Tag::HtmlBlock => self.closed = true,
            _ => {}
        }
    }

    fn start_quote(&mut self, range: Range<usize>) {
        let text = self.text;
        let span = self.trimmed(range);
        let callout = callout(text, span.clone()).map(|mut callout| {
            callout.parent = self.open_callouts.last().copied();
            self.note.callouts.push(callout);
            self.note.callouts.len() - 1
        });
        self.open_callouts.extend(callout);
        self.quotes += 1;
        self.containers.push(OpenContainer::Quote { span, callout });
    }

    fn start_item(&mut self, range: Range<usize>) {
        let text = self.text;
        let index = self.note.items.len();
        let (marker, content) = items::marker(text, range.start, range.end);
        let parent = self.open_items.last().copied();
        let depth = self.open_items.len();
        // Even an item without text has its marker.
        let whole = marker.start..self.trimmed(marker.start..range.end).end.max(marker.end);
        let task = tasks::task(text, content, whole.end).map(|mut task| {
            task.item = index;
            self.note.tasks.push(task);
            self.note.tasks.len() - 1
        });
        self.note.items.push(ListItem { span: whole.clone(), whole, marker, parent, depth, task });
        self.open_items.push(index);
        self.containers.push(OpenContainer::Item(index));
    }

    fn start_footnote(&mut self, range: Range<usize>) {
        let text = self.text;
        let span = self.trimmed(range);
        // As written: the parser's own label differs if it contains unusual blanks.
        let from = (span.start + 2).min(span.end);
        let written = &text[from..span.end];
        let closes = |at: &usize| !written[..*at].ends_with('\\');
        let length = written.match_indices("]:").map(|(at, _)| at).find(closes).unwrap_or_default();
        let label = from..from + length;
        let content = trim(text, (label.end + 2).min(span.end)..span.end);
        self.note.footnotes.push(Footnote {
            kind: FootnoteKind::Definition,
            span: span.clone(),
            label: Some(label),
            content: Some(content),
        });
        self.containers.push(OpenContainer::Footnote(span));
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strikethrough => self.end_mark(&range, 1),
            TagEnd::Strong => self.end_mark(&range, 2),
            TagEnd::Link | TagEnd::Image => self.end_link(&range),
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::TableCell => self.end_leaf(),
            _ => {
                self.end_tight();
                self.end_block(tag, range);
            }
        }
    }

    fn end_block(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::BlockQuote(_) => {
                self.quotes -= 1;
                if let Some(OpenContainer::Quote { callout, .. }) = self.containers.pop() {
                    self.open_callouts.truncate(self.open_callouts.len() - usize::from(callout.is_some()));
                    let kind = if callout.is_some() { BlockKind::Callout } else { BlockKind::Quote };
                    self.finish_top(kind, &range);
                }
            }
            TagEnd::List(_) => {
                self.containers.pop();
                self.finish_top(BlockKind::List, &range);
            }
            TagEnd::Item => {
                self.containers.pop();
                self.open_items.pop();
            }
            TagEnd::FootnoteDefinition => {
                self.containers.pop();
                self.finish_top(BlockKind::Footnote, &range);
            }
            TagEnd::Table => {
                self.containers.pop();
                self.finish_top(BlockKind::Table, &range);
            }
            TagEnd::TableHead | TagEnd::TableRow => self.end_row(range),
            TagEnd::CodeBlock => {
                self.closed = false;
                self.finish_top(BlockKind::Code, &range);
            }
            TagEnd::HtmlBlock => {
                self.closed = false;
                self.finish_top(BlockKind::Html, &range);
            }
            _ => {}
        }
    }

    /// Remembers a top-level block, for a marker on its own line below it.
    fn finish_top(&mut self, kind: BlockKind, range: &Range<usize>) {
        if self.containers.is_empty() {
            self.previous = Some((kind, range.clone()));
        }
    }

    /// The span without trailing whitespace, and without masked text there: the parser saw blanks.
    fn trimmed(&mut self, span: Range<usize>) -> Range<usize> {
        let mut end = span.end;
        loop {
            if !(self.blank.start..=self.blank.end).contains(&end) {
                self.blank = self.text[..end].trim_end_matches(is_blank).len()..end;
            }
            end = self.blank.start;
            let before = self.masked.partition_point(|region| region.span.start < end);
            match self.masked[..before].last() {
                // The mask at the end was blanks to the parser; it is not part of the block.
                Some(region) if region.span.end >= end && region.span.start > span.start => end = region.span.start,
                _ => return span.start..end.max(span.start),
            }
        }
    }

    fn end_tight(&mut self) {
        if matches!(self.leaf, Some((LeafKind::Tight, _))) {
            self.end_leaf();
        }
    }

    fn end_leaf(&mut self) {
        let Some((kind, span)) = self.leaf.take() else { return };
        let span = self.unmasked(span);
        let text = self.text;
        match kind {
            LeafKind::Cell => {
                self.cell_end = span.end;
                self.scan(span);
            }
            LeafKind::Paragraph => {
                let line_end = text.as_bytes()[span.clone()].ends_with(b"\n");
                // The line end is not part of the text, but the parser counts it.
                let span = span.start..span.end - usize::from(line_end);
                self.scan(span.clone());
                self.name(BlockKind::Paragraph, span);
            }
            LeafKind::Tight => {
                // The parser's text omits the preceding backslash and trailing blanks.
                let start = span.start - usize::from(text.as_bytes()[..span.start].ends_with(b"\\"));
                let span = start..line_end(text, span.end).min(self.end);
                self.scan(span.clone());
                self.name(BlockKind::Paragraph, span);
            }
            LeafKind::Heading(level) => self.end_heading(level, span),
        }
    }

    fn end_heading(&mut self, level: u8, span: Range<usize>) {
        let text = self.text;
        let top = self.containers.is_empty();
        let found = if top { heading(text, level, span.clone()) } else { None };
        if let Some(found) = found {
            self.scan(found.words.clone());
            if let Some(TrailingMarker::Behind(marker) | TrailingMarker::Alone(marker)) =
                trailing_id(text, found.words.clone(), &[], &self.note.links)
            {
                self.block(BlockKind::Heading, found.span.clone(), marker);
            }
            self.previous = Some((BlockKind::Heading, found.span.clone()));
            self.note.headings.push(found);
            return;
        }
        // An underline of several lines of text does not make a heading: it is a rule, or belongs to the paragraph.
        let span = trim_end(text, span);
        let last = line_start(text, span.end);
        // Three hyphens are a rule where they are not an underline.
        let rule = last > span.start && text[last..span.end].bytes().filter(|byte| *byte == b'-').count() >= 3;
        let words = span.start..if rule { text[..last].trim_end_matches('\n').len() } else { span.end };
        self.scan(words.clone());
        self.name(BlockKind::Paragraph, words);
        if rule {
            self.finish_top(BlockKind::Rule, &(last..span.end));
        }
    }

    /// The end of a comment block on the same line is not part of the paragraph after it.
    fn unmasked(&self, span: Range<usize>) -> Range<usize> {
        let before = self.masked.partition_point(|region| region.span.start <= span.start);
        let Some(region) = self.masked[..before].last().filter(|region| region.span.end > span.start) else {
            return span;
        };
        region.span.end.min(span.end)..span.end
    }

    fn scan(&mut self, span: Range<usize>) {
        let mut span = span;
        // The box of a task is not part of its text.
        if let Some(OpenContainer::Item(item)) = self.containers.last()
            && let Some(task) = self.note.items.get(*item).and_then(|item| self.note.tasks.get(item.task?))
            && task.checkbox.start == span.start
        {
            span.start = task.checkbox.end.min(span.end);
        }
        let (tokens, marks, ends, quotes) = (&self.tokens, &self.marks, &self.ends, self.quotes);
        // A mask can be within a leaf only if a line looked like a list item and was not one.
        for span in visible_parts(self.masked, span) {
            scan(self.text, self.note, &InlineRun { span, tokens, marks, ends, quotes }, &mut self.brackets);
        }
        self.forget_tokens();
    }

    fn forget_tokens(&mut self) {
        self.tokens.clear();
        self.marks.clear();
        self.ends.clear();
        self.open_links.clear();
    }
}

/// Whitespace to the Markdown parser: a block can consist of other whitespace alone.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}
