//! Items added next to a list join it: with the same spacing, marks and numbers.

use std::ops::Range;

use crate::{
    ListItem, Note,
    span::{line_end, line_start},
};

/// The end of a list next to the new items.
pub(super) struct ListEnd<'n> {
    text: &'n str,
    marker: &'n str,
    /// The number before or after it, if any.
    neighbour: Option<&'n str>,
    indent: &'n str,
    /// Whether blank lines separate its items.
    pub(super) loose: bool,
}

impl<'n> ListEnd<'n> {
    /// The list that the text up to `last_text` ends with.
    pub(super) fn above(note: &'n Note<'_>, body: &Range<usize>, last_text: usize) -> Option<Self> {
        let outermost = outermost(note, body);
        let last = *outermost.last()?;
        let reaches =
            |item: &ListItem| note.text.get(item.whole.end..last_text).is_none_or(|rest| rest.trim().is_empty());
        // There is other text after the last item, so nothing can join it.
        if !reaches(last) {
            return None;
        }
        let neighbour = outermost.len().checked_sub(2).map(|index| outermost[index]);
        Some(Self::of(note.text, last, neighbour.map(|neighbour| (neighbour, neighbour, last))))
    }

    /// The list that starts at `first_text`.
    pub(super) fn below(note: &'n Note<'_>, body: &Range<usize>, first_text: usize) -> Option<Self> {
        let outermost = outermost(note, body);
        let first = *outermost.first().filter(|first| line_start(note.text, first.marker.start) <= first_text)?;
        let neighbour = outermost.get(1).copied();
        Some(Self::of(note.text, first, neighbour.map(|neighbour| (neighbour, first, neighbour))))
    }

    /// `beside` are the neighbour of the item, and the two of them in order.
    fn of(text: &'n str, item: &ListItem, beside: Option<(&ListItem, &ListItem, &ListItem)>) -> Self {
        let marker = &text[item.marker.clone()];
        let beside = beside.filter(|(_, upper, lower)| {
            let between = text.get(upper.whole.end..line_start(text, lower.marker.start));
            let alike = ListMark::of(&text[upper.marker.clone()]).same_kind(&ListMark::of(&text[lower.marker.clone()]));
            alike && between.is_none_or(|between| between.trim().is_empty())
        });
        let blank_between = |upper: &ListItem, lower: &ListItem| {
            let end = text[..lower.marker.start].trim_end_matches([' ', '\t', '\n']).len().max(upper.marker.end);
            // One newline ends the item; a second one is a blank line.
            text[end..line_start(text, lower.marker.start).max(end)].matches('\n').count() > 1
        };
        Self {
            text,
            marker,
            neighbour: beside.map(|(neighbour, ..)| &text[neighbour.marker.clone()]),
            indent: &text[line_start(text, item.marker.start)..item.marker.start],
            loose: beside.is_some_and(|(_, upper, lower)| blank_between(upper, lower)),
        }
    }

    /// The content as items of this list, if it consists of items: from its first line on, and to its last if
    /// `to_its_end`. Without surrounding newlines.
    pub(super) fn joining(&self, content: &str, to_its_end: bool) -> Option<String> {
        let content = content.trim_matches('\n').trim_end();
        let first = content.lines().next()?;
        let indent = &first[..first.len() - first.trim_start_matches([' ', '\t']).len()];
        let mark = item_mark(&first[indent.len()..])?;
        // Indented under the last item, it starts or continues a list in it, whatever its form.
        if indent.len() > self.indent.len() && !to_its_end {
            return Some(content.to_owned());
        }
        let own = ListMark::of(self.marker);
        if !own.same_kind(&mark) {
            return None;
        }
        // After a newline, so that no properties are read at its start.
        let below = format!("\n{content}");
        let note = Note::parse(&below);
        let items = outermost(&note, &(1..below.len()));
        // The content has to begin with its first item; text before it would become part of the list above.
        if items.first().is_none_or(|item| item.marker.start != 1 + indent.len())
            || (to_its_end && items.last().is_none_or(|item| below[item.whole.end.min(below.len())..].trim() != ""))
        {
            return None;
        }
        // Items that go before a list keep their numbers: renumbering it would change every line.
        let mut number = if to_its_end { None } else { self.next_number() };
        let mut joined = String::with_capacity(content.len() + items.len());
        let mut copied = 1;
        for (index, item) in items.iter().enumerate() {
            let old = &below[item.marker.clone()];
            // Items after other text are a separate list.
            if index > 0 && (!own.same_kind(&ListMark::of(old)) || !follows(&below, items[index - 1], item)) {
                break;
            }
            let new = own.with_number(number.as_mut().map(ItemCounter::next), old);
            let end = items.get(index + 1).map_or(below.len(), |next| line_start(&below, next.marker.start));
            joined += &below[copied..item.marker.start];
            joined += &new;
            // Lines of an item are aligned with its text, so a longer marker moves them.
            joined += &indented(&below[item.marker.end..end], new.len().saturating_sub(old.len()));
            copied = end;
        }
        joined += &below[copied..];
        Some(if indent.is_empty() { with_indent(&joined, self.indent) } else { joined })
    }

    /// The number of the next item.
    fn next_number(&self) -> Option<ItemCounter> {
        let number = |marker: &str| marker[..marker.len() - 1].parse::<u64>().ok();
        let last = number(self.marker)?;
        // Lists in which every number is the same are numbered by the renderer.
        let step = u64::from(self.neighbour.and_then(number) != Some(last));
        // CommonMark allows nine digits.
        last.checked_add(step).filter(|next| *next < 1_000_000_000).map(|next| ItemCounter { next, step })
    }

    /// The separator between the last line of the list and a new item.
    pub(super) fn gap(&self) -> &'static str {
        if self.loose { "\n" } else { "" }
    }

    /// Where the last line of the last item's text ends, including its line ending.
    pub(super) fn end(&self, last_text: usize) -> usize {
        (line_end(self.text, last_text) + 1).min(self.text.len())
    }
}

struct ItemCounter {
    next: u64,
    step: u64,
}

impl ItemCounter {
    fn next(&mut self) -> u64 {
        let number = self.next;
        self.next = number.saturating_add(self.step);
        number
    }
}

/// The marker of an item.
#[derive(Clone, Copy, PartialEq)]
enum ListMark {
    Bullet(char),
    /// With the delimiter after the number.
    Number(char),
}

impl ListMark {
    fn of(marker: &str) -> Self {
        match marker.chars().last() {
            Some(end @ ('.' | ')')) => Self::Number(end),
            end => Self::Bullet(end.unwrap_or('-')),
        }
    }

    fn same_kind(self, other: &Self) -> bool {
        matches!((self, other), (Self::Bullet(_), Self::Bullet(_)) | (Self::Number(_), Self::Number(_)))
    }

    fn with_number(self, number: Option<u64>, old: &str) -> String {
        match self {
            Self::Bullet(mark) => mark.to_string(),
            Self::Number(end) => {
                number.map_or_else(|| format!("{}{end}", &old[..old.len() - 1]), |number| format!("{number}{end}"))
            }
        }
    }
}

/// The mark of a line that begins an item, its indentation taken off.
fn item_mark(line: &str) -> Option<ListMark> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = line[digits..].chars().next()?;
    let behind = &line[digits + mark.len_utf8()..];
    let is_mark = match digits {
        0 => matches!(mark, '-' | '*' | '+'),
        1..=9 => matches!(mark, '.' | ')'),
        _ => false,
    };
    // `- - -` and `***` are rules.
    let is_rule = digits == 0 && line.chars().filter(|c| !matches!(c, ' ' | '\t')).all(|c| c == mark);
    (is_mark && !is_rule && behind.starts_with([' ', '\t'])).then(|| ListMark::of(&line[..=digits]))
}

/// Whether a text begins with an item at the margin.
pub(super) fn begins_with_item(text: &str) -> bool {
    text.lines().next().is_some_and(|line| item_mark(line).is_some())
}

/// The items of top-level lists.
fn outermost<'n>(note: &'n Note<'_>, body: &Range<usize>) -> Vec<&'n ListItem> {
    let at_margin = |item: &&ListItem| {
        let before = &note.text[line_start(note.text, item.marker.start)..item.marker.start];
        // Items in quotes have the marks of the quote before them.
        item.depth == 0 && before.trim_matches([' ', '\t']).is_empty()
    };
    let first = note.items.partition_point(|item| item.marker.start < body.start);
    let end = note.items.partition_point(|item| item.marker.start < body.end).max(first);
    note.items[first..end].iter().filter(at_margin).collect()
}

fn follows(text: &str, upper: &ListItem, lower: &ListItem) -> bool {
    text.get(upper.whole.end..line_start(text, lower.marker.start)).is_none_or(|between| between.trim().is_empty())
}

/// The rest of an item with its lines indented as far as its marker has grown.
fn indented(rest: &str, by: usize) -> String {
    if by == 0 {
        return rest.to_owned();
    }
    let mut lines = rest.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let moved =
        lines.map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("{}{line}", " ".repeat(by)) });
    std::iter::once(first.to_owned()).chain(moved).collect()
}

pub(super) fn with_indent(content: &str, indent: &str) -> String {
    if indent.is_empty() {
        return content.to_owned();
    }
    let lines = content.split_inclusive('\n');
    lines.map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("{indent}{line}") }).collect()
}

/// Whether a text is rows for a table, not another table.
pub(super) fn is_rows(content: &str) -> bool {
    let mut lines = content.trim_start_matches('\n').lines();
    let is_row = |line: &str| line.trim_start().starts_with('|');
    let is_delimiter =
        |line: &str| line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'));
    lines.next().is_some_and(is_row) && !lines.next().is_some_and(is_delimiter)
}
