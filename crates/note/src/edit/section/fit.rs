//! Whether two texts need a blank line between them to stay the blocks that they are.

use super::super::place::{block_at, last_block};
use crate::{BlockKind, HeadingStyle, Note};

/// What becomes of two paragraphs without a blank line between them.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Paragraphs {
    /// One: whoever sends no blank line wants none.
    Join,
    Part,
}

/// What stands at the end of a text.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ending {
    /// A blank line, or nothing at all.
    Blank,
    Block(BlockKind),
    /// Something that goes on until it is closed, and takes in whatever follows.
    Open,
}

impl Ending {
    pub(super) fn of(text: &str) -> Self {
        if text.trim().is_empty() || text.ends_with("\n\n") && last_block(text).is_some() {
            return Self::Blank;
        }
        last_block(text).map_or(Self::Open, |block| Self::Block(block.kind))
    }

    /// Whether text can go on in the last line.
    pub(super) fn goes_on(self) -> bool {
        use BlockKind::{Callout, Footnote, Item, List, Paragraph, Quote};
        matches!(self, Self::Block(Paragraph | Item | List | Quote | Callout | Footnote))
    }

    /// Whether `below` would become a part of it, or change it, on the next line.
    pub(super) fn takes_in(self, below: &str, paragraphs: Paragraphs) -> bool {
        use BlockKind::{Callout, Footnote, Html, Item, List, Paragraph, Quote, Table};
        let Self::Block(above) = self else { return false };
        let begin = Begin::of(below);
        match above {
            _ if begin == Begin::Blank => false,
            Html => true,
            Item | List | Quote | Callout | Footnote => begin == Begin::Words,
            // A line with a pipe is meant to be a row.
            Table => begin == Begin::Words && !below.lines().next().unwrap_or_default().contains('|'),
            Paragraph if begin == Begin::Words => paragraphs == Paragraphs::Part,
            Paragraph => begin == Begin::Weak,
            _ => false,
        }
    }
}

/// How a text begins.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Begin {
    Blank,
    /// A paragraph at the margin.
    Words,
    /// Something that begins right below a paragraph too.
    Strong,
    /// Something that a paragraph above would take in, or that would underline it.
    Weak,
}

impl Begin {
    pub(super) fn of(text: &str) -> Self {
        let first = text.split('\n').next().unwrap_or_default();
        let words = first.trim_start();
        if words.is_empty() {
            return Self::Blank;
        }
        // Below a line, so that no properties are read at its begin.
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
            // Only a list from 1 on interrupts a paragraph, and only with something in it.
            BlockKind::Item if !words.starts_with(|c: char| c.is_ascii_digit()) || words.starts_with("1") => {
                Self::Strong
            }
            _ => Self::Weak,
        }
    }
}
