//! Whether two texts need a blank line between them to remain separate blocks.

use super::super::place::{block_at, last_block};
use crate::{BlockKind, HeadingStyle, Note};

/// What is at the end of a text.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::edit) enum TextEnding {
    /// A blank line, or nothing at all.
    Blank,
    Block(BlockKind),
    /// Something that continues until it is closed, and absorbs everything that follows.
    Open,
}

/// The last block of a text, regardless of trailing newlines.
pub(super) struct LastBlock<'t> {
    text: &'t str,
    heading: usize,
    kind: Option<BlockKind>,
}

impl<'t> LastBlock<'t> {
    /// `heading` is where the last heading starts. Everything above it has ended there, so it need not be parsed.
    pub(super) fn of(text: &'t str, heading: usize) -> Self {
        let text = text.trim_end_matches('\n');
        // After a newline, so that no properties are read at its start.
        let kind = last_block(&format!("\n{}", &text[heading.min(text.len())..])).map(|block| block.kind);
        Self { text, heading, kind }
    }

    /// The same for another text, which may be this one with other trailing newlines.
    pub(super) fn or_of(self, text: &'t str) -> Self {
        if text.trim_end_matches('\n') == self.text { self } else { Self::of(text, self.heading) }
    }

    /// What is at the end of the text, with its trailing newlines.
    pub(super) fn ending(&self, text: &str) -> TextEnding {
        match self.kind {
            _ if text.trim().is_empty() => TextEnding::Blank,
            // A blank line ends every block that is not open.
            Some(_) if text.ends_with("\n\n") => TextEnding::Blank,
            Some(kind) => TextEnding::Block(kind),
            None => TextEnding::Open,
        }
    }
}

impl TextEnding {
    /// For a text that is not the start of a note.
    pub(in crate::edit) fn of(text: &str) -> Self {
        LastBlock::of(text, 0).ending(text)
    }

    pub(super) fn is_table(self) -> bool {
        self == Self::Block(BlockKind::Table)
    }

    /// Whether text can continue on the last line.
    pub(super) fn goes_on(self) -> bool {
        use BlockKind::{Callout, Footnote, Item, List, Paragraph, Quote};
        matches!(self, Self::Block(Paragraph | Item | List | Quote | Callout | Footnote))
    }

    /// Whether `below` would become part of it, or change it, on the next line.
    pub(super) fn takes_in(self, below: &str) -> bool {
        use BlockKind::{Callout, Footnote, Html, Item, List, Paragraph, Quote, Table};
        let Self::Block(above @ (Callout | Footnote | Html | Item | List | Paragraph | Quote | Table)) = self else {
            return false;
        };
        let begin = TextStart::of(below);
        match above {
            _ if begin == TextStart::Blank => false,
            // HTML goes on until a blank line, whatever follows.
            Html => true,
            Item | List | Quote | Callout | Footnote => begin == TextStart::Words,
            // A line with a pipe is meant to be a row.
            Table => begin == TextStart::Words && !below.lines().next().unwrap_or_default().contains('|'),
            // Two paragraphs become one: a caller that sends no blank line wants none.
            Paragraph => begin == TextStart::Weak,
            _ => false,
        }
    }
}

/// How a text starts.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum TextStart {
    Blank,
    /// A paragraph at the margin.
    Words,
    /// Something that can start right below a paragraph.
    Strong,
    /// Something that a paragraph above would absorb, or that would underline it.
    Weak,
}

impl TextStart {
    pub(super) fn of(text: &str) -> Self {
        let first = text.split('\n').next().unwrap_or_default();
        let words = first.trim_start();
        if words.is_empty() {
            return Self::Blank;
        }
        // After a newline, so that no properties are read at its start.
        let below = format!("\n{text}");
        let note = Note::parse(&below);
        let indented = first.len() > words.len();
        let Some(block) = block_at(&note, 1 + first.len() - words.len()) else {
            // A frame that is closed further down, or the definition of a link.
            return if ["```", "~~~", "$$", "%%"].iter().any(|frame| words.starts_with(frame)) {
                Self::Strong
            } else {
                Self::Weak
            };
        };
        match block.kind {
            BlockKind::Paragraph if indented => Self::Strong,
            BlockKind::Paragraph => Self::Words,
            BlockKind::Quote | BlockKind::Callout | BlockKind::Math | BlockKind::Comment => Self::Strong,
            BlockKind::Code if words.starts_with(['`', '~']) => Self::Strong,
            BlockKind::Heading if note.headings.first().is_some_and(|found| found.style != HeadingStyle::Setext) => {
                Self::Strong
            }
            // Only a list that starts at 1 interrupts a paragraph, and only if it is not empty.
            BlockKind::Item if !words.starts_with(|c: char| c.is_ascii_digit()) || words.starts_with("1") => {
                Self::Strong
            }
            _ => Self::Weak,
        }
    }
}
