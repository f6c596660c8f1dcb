use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::headings::{body_start, options};

/// A part of a note that carries a `^name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Without the caret.
    pub id: String,
    /// The named part, its marker included, in the shown text.
    pub span: Range<usize>,
}

/// The named blocks of a note in order: paragraphs, list items, headings, quotes, tables and whatever a marker
/// on a line of its own stands below.
pub fn blocks(text: &str) -> Vec<Block> {
    let start = body_start(text);
    let mut walk = Walk { text, open: Vec::new(), previous: None, found: Vec::new() };
    for (event, range) in Parser::new_ext(&text[start..], options()).into_offset_iter() {
        walk.step(&event, start + range.start..start + range.end);
    }
    // Inner items are finished first; the last paragraph of a loose item names it like the item itself does.
    walk.found.sort_by(|a, b| (a.span.start, &a.id).cmp(&(b.span.start, &b.id)));
    walk.found.dedup_by(|a, b| a.span.start == b.span.start && a.id == b.id);
    walk.found
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Item,
    Quote,
    Table,
    Row,
    Paragraph,
    Heading,
    Other,
}

struct Walk<'a> {
    text: &'a str,
    open: Vec<(Kind, Range<usize>)>,
    /// The last finished block that stands in no other.
    previous: Option<Range<usize>>,
    found: Vec<Block>,
}

impl Walk<'_> {
    fn step(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => {
                let Some(kind) = kind(tag) else { return };
                // A nested list ends what an item says itself.
                if let (Tag::List(_), Some((Kind::Item, item))) = (tag, self.open.last_mut()) {
                    item.end = item.end.min(range.start);
                }
                self.open.push((kind, range));
            }
            Event::End(tag) if is_block_end(*tag) => {
                let Some((kind, range)) = self.open.pop() else { return };
                self.close(kind, range);
            }
            Event::Rule | Event::Html(_) if self.open.is_empty() => self.previous = Some(range),
            _ => {}
        }
    }

    fn close(&mut self, kind: Kind, range: Range<usize>) {
        match kind {
            Kind::Paragraph if self.open.is_empty() && own_line(&self.text[range.clone()]).is_some() => {
                let id = own_line(&self.text[range.clone()]);
                if let (Some(id), Some(named)) = (id, self.previous.clone()) {
                    self.name(id, named);
                }
                return;
            }
            Kind::Paragraph | Kind::Heading => {
                let item = self.open.iter().rfind(|(kind, _)| *kind == Kind::Item);
                let quote = self.open.iter().find(|(kind, _)| *kind == Kind::Quote);
                let named = item.or(quote).map_or(&range, |(_, span)| span).clone();
                if let Some(id) = at_end(&self.text[range.clone()]) {
                    self.name(id, named.start..named.end.min(range.end).max(range.start));
                }
            }
            Kind::Row => {
                // A marker right below a table is read as its last row.
                let table = self.open.iter().rfind(|(kind, _)| *kind == Kind::Table).map(|(_, span)| span.clone());
                if let (Some(id), Some(table)) = (own_line(&self.text[range.clone()]), table) {
                    self.name(id, table);
                }
            }
            // A tight item holds its text directly, without a paragraph around it.
            Kind::Item => {
                let own = self.text[range.clone()].trim_end();
                if let Some(id) = at_end(own) {
                    self.name(id, range.start..range.start + own.len());
                }
            }
            Kind::Quote | Kind::Table | Kind::Other => {}
        }
        if self.open.is_empty() {
            self.previous = Some(range);
        }
    }

    fn name(&mut self, id: &str, span: Range<usize>) {
        self.found.push(Block { id: id.to_owned(), span });
    }
}

fn kind(tag: &Tag<'_>) -> Option<Kind> {
    Some(match tag {
        Tag::Item => Kind::Item,
        Tag::BlockQuote(_) => Kind::Quote,
        Tag::Table(_) => Kind::Table,
        Tag::TableRow => Kind::Row,
        Tag::Paragraph => Kind::Paragraph,
        Tag::Heading { .. } => Kind::Heading,
        Tag::List(_) | Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::FootnoteDefinition(_) => Kind::Other,
        _ => return None,
    })
}

fn is_block_end(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Item
            | TagEnd::BlockQuote(_)
            | TagEnd::Table
            | TagEnd::TableRow
            | TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::List(_)
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::FootnoteDefinition
    )
}

/// The id in ` ^id` at the very end of a text.
fn at_end(text: &str) -> Option<&str> {
    let text = text.trim_end_matches('\n');
    let (before, id) = text.rsplit_once('^')?;
    (is_id(id) && before.ends_with(char::is_whitespace)).then_some(id)
}

/// The id of a text that is nothing but a marker.
fn own_line(text: &str) -> Option<&str> {
    text.trim().strip_prefix('^').filter(|id| is_id(id))
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_the_block_that_obsidian_shows_for_it() {
        for (text, expected) in [
            ("text ^a\n", vec![("a", "text ^a")]),
            ("l1 ^a\nl2\n", vec![]),
            ("l1\nl2 ^a\n", vec![("a", "l1\nl2 ^a")]),
            ("p\n\n^a\n\nq\n", vec![("a", "p")]),
            ("- x ^a\n- y ^b\n", vec![("a", "- x ^a"), ("b", "- y ^b")]),
            ("- x ^a\n  - n ^b\n- y\n", vec![("a", "- x ^a"), ("b", "- n ^b")]),
            ("- x\n- y\n\n^a\n", vec![("a", "- x\n- y")]),
            ("> q ^a\n", vec![("a", "> q ^a")]),
            ("> q\n\n^a\n", vec![("a", "> q")]),
            ("| a |\n| - |\n| 1 |\n\n^t\n", vec![("t", "| a |\n| - |\n| 1 |")]),
            ("```\ncode ^no\n```\n\n^c\n", vec![("c", "```\ncode ^no\n```")]),
            ("# H ^a\n", vec![("a", "# H ^a")]),
            ("t ^a ^b\n", vec![("b", "t ^a ^b")]),
            ("^a\n\ntext\n", vec![]),
            ("a^b c_^d x ^e_f\n", vec![]),
        ] {
            let found: Vec<(String, String)> =
                blocks(text).into_iter().map(|block| (block.id, text[block.span].trim_end().to_owned())).collect();
            let expected: Vec<(String, String)> =
                expected.into_iter().map(|(id, part)| (id.to_owned(), part.to_owned())).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
