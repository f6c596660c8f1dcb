//! The addressable parts of a document: sections, blocks, and the keys that a map of the document gives them.

use std::{collections::HashMap, ops::Range};

use pulldown_cmark::{Event, Options, Parser};

use crate::{
    Block, BlockKind, Heading, Note, count_steps,
    span::{is_blank_line, line_end, line_start},
};

/// Between a name that occurs several times and its number. No name contains it.
const REPEATED: char = '\u{1f}';

/// A note with the keys of its parts. The first part of a name has the name as its key, later ones a number as well.
pub struct DocumentParts<'n> {
    pub(super) note: &'n Note<'n>,
    pub headings: Vec<String>,
    pub blocks: Vec<String>,
}

/// A section, or the whole document as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SectionSpan {
    pub(super) index: Option<usize>,
    pub(super) level: usize,
    /// The heading with its line end; empty for the document.
    pub(super) marker: Range<usize>,
    /// Everything under it, without the blank lines at its end.
    pub(super) content: Range<usize>,
    /// Where its own text ends, without blank lines: before the first heading under it.
    pub(super) own_end: usize,
    /// With the blank lines.
    pub(super) end: usize,
}

/// A named block: what it names, and its id with the blanks before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockSpan {
    pub(super) content: Range<usize>,
    pub(super) marker: Range<usize>,
    pub(super) is_table: bool,
}

impl<'n> DocumentParts<'n> {
    pub fn of(note: &'n Note<'n>) -> Self {
        // By parent as well: the same name under two headings needs no number.
        let mut seen: HashMap<(Option<usize>, &str), usize> = HashMap::new();
        let headings = note.headings.iter().map(|heading| {
            let name = heading.text.trim();
            numbered(name, seen.entry((heading.parent, name)).or_default())
        });
        let headings = headings.collect();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let blocks = note.blocks.iter().map(|block| numbered(&block.id, seen.entry(&block.id).or_default())).collect();
        Self { note, headings, blocks }
    }

    pub(super) fn text(&self) -> &'n str {
        self.note.text
    }

    /// The section at the end of a path of keys.
    pub(super) fn section(&self, path: &[String]) -> Option<SectionSpan> {
        let mut found = None;
        for key in path {
            // A path of many keys in a note of many headings is work that counts.
            count_steps(self.headings.len());
            // Keys are unique among siblings, so the first is the only one.
            let is_it = |(index, heading): &(usize, &Heading)| heading.parent == found && self.headings[*index] == *key;
            found = Some(self.note.headings.iter().enumerate().find(is_it)?.0);
        }
        Some(self.span_of(found))
    }

    /// The text of a section as a reader gets it: its headings as deep as if it were a document.
    pub fn section_text(&self, path: &[String], with_heading: bool) -> Option<String> {
        let section = self.section(path)?;
        let (start, above) = match with_heading {
            true => (section.marker.start, self.parent_level(&section)),
            false => (section.content.start, section.level),
        };
        let text = &self.text()[start..section.content.end];
        // Heading marks are relative to the section, as the API has it.
        let above = isize::try_from(above).unwrap_or_default();
        Some(super::relevelled(text, -above).0)
    }

    /// The words of a heading.
    pub fn section_name(&self, path: &[String]) -> Option<&str> {
        Some(self.note.headings.get(self.section(path)?.index?)?.text.trim())
    }

    /// The text of a block, with its id if wanted.
    pub fn block_text(&self, key: &str, with_marker: bool) -> Option<&'n str> {
        let BlockSpan { content, marker, .. } = self.block(key)?;
        let end = if with_marker { marker.end.max(content.end) } else { content.end };
        self.text().get(content.start..end)
    }

    pub(super) fn span_of(&self, index: Option<usize>) -> SectionSpan {
        let text = self.text();
        let first_heading = self.note.headings.first().map_or(text.len(), |heading| heading.own.start);
        let (level, marker, end, own_end) = match index.and_then(|index| self.note.headings.get(index)) {
            Some(heading) => {
                let marker = heading.own.start..heading.body;
                (usize::from(heading.level), marker, heading.section.end, heading.own.end)
            }
            None => {
                let start = self.note.frontmatter.as_ref().map_or(0, |block| block.span.end);
                // Properties are not part of the document's text.
                (0, start..start, text.len(), first_heading.max(start))
            }
        };
        let content = marker.end..visible_end(text, marker.end, end);
        SectionSpan { index, level, own_end: visible_end(text, marker.end, own_end), marker, content, end }
    }

    pub(super) fn parent(&self, section: &SectionSpan) -> Option<usize> {
        self.note.headings.get(section.index?)?.parent
    }

    pub(super) fn parent_level(&self, section: &SectionSpan) -> usize {
        self.parent(section).map_or(0, |parent| usize::from(self.note.headings[parent].level))
    }

    /// The sections directly under one, in order.
    pub(super) fn children(&self, of: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let is_child = move |index: &usize| self.note.headings[*index].parent == of;
        (0..self.note.headings.len()).filter(is_child)
    }

    pub(super) fn block(&self, key: &str) -> Option<BlockSpan> {
        let index = self.blocks.iter().position(|known| known == key)?;
        let Block { kind, span, marker, .. } = &self.note.blocks[index];
        let text = self.text();
        // The id at the end of a row names the table to this language, as it names the row to Obsidian's.
        let (start, is_table) = match kind {
            BlockKind::Row => (table_start(text, span.start), true),
            kind => (span.start, *kind == BlockKind::Table),
        };
        // Inside the span for an id at the end of a line, behind it for one on its own line.
        let is_inside = marker.start < span.end;
        let content_end = if is_inside { text[..marker.start].trim_end_matches([' ', '\t']).len() } else { span.end };
        let content_end = content_end.max(start);
        let marker_start = if is_inside { content_end } else { marker.start };
        Some(BlockSpan { content: start..content_end, marker: marker_start..marker.end, is_table })
    }

    /// The outermost blocks of a section's own text, without line ends.
    pub(super) fn own_blocks(&self, section: &SectionSpan) -> Vec<Range<usize>> {
        let text = &self.text()[section.content.start..section.own_end.max(section.content.start)];
        count_steps(text.len());
        // The same extensions as a reader of this API has; blocks of Obsidian are not known to it.
        let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
        let (mut depth, mut blocks) = (0_usize, Vec::new());
        for (event, span) in Parser::new_ext(text, options).into_offset_iter() {
            let is_outermost = depth == 0;
            match event {
                Event::Start(_) => depth += 1,
                Event::End(_) => {
                    depth = depth.saturating_sub(1);
                    continue;
                }
                _ => {}
            }
            let end = span.start + text[span.clone()].trim_end_matches('\n').len();
            if is_outermost && end > span.start {
                blocks.push(section.content.start + span.start..section.content.start + end);
            }
        }
        blocks
    }
}

fn numbered(name: &str, seen: &mut usize) -> String {
    *seen += 1;
    if *seen == 1 { name.to_owned() } else { format!("{name}{REPEATED}{seen}") }
}

/// Where a text ends without the blank lines at its end; the last line keeps its line end.
fn visible_end(text: &str, start: usize, end: usize) -> usize {
    let visible = text[start..end].trim_end_matches('\n').len();
    // With one line end, unless the file ends before.
    if visible == 0 { start } else { (start + visible + 1).min(end) }
}

/// The first line of the table that a row is in.
fn table_start(text: &str, row: usize) -> usize {
    let mut start = line_start(text, row);
    while start > 0 {
        let above = line_start(text, start - 1);
        if is_blank_line(text, above) || !text[above..line_end(text, above)].contains('|') {
            break;
        }
        start = above;
    }
    start
}
