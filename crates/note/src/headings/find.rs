//! Finds headings by name, path, line or link.

use std::{collections::HashMap, ops::Range};

use super::{Heading, heading_key};
use crate::{LinkPlace, Note};

/// The headings that a caller's name leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum HeadingMatch<'a> {
    None,
    One(&'a Heading),
    /// Several match, the first of them first.
    Several(Vec<&'a Heading>),
}

/// How much of a heading's path a name covers.
#[derive(PartialEq)]
enum NameMatch {
    Whole,
    /// A suffix of it that ends in the heading.
    End,
}

/// A name for a heading as people write it.
pub(crate) struct HeadingName {
    /// Each part of the path without heading marks and surrounding blanks.
    pub(crate) text: String,
    /// The level given by the marks of the last part.
    pub(crate) level: Option<u8>,
}

impl HeadingName {
    pub(crate) fn read(name: &str, delimiter: &str) -> Self {
        let mut level = None;
        let part = |part: &str| {
            let words = part.trim();
            let bare = words.trim_start_matches('#');
            let marks = words.len() - bare.len();
            level = u8::try_from(marks).ok().filter(|marks| (1..=6).contains(marks));
            if level.is_none() || bare.trim().is_empty() { words.to_owned() } else { bare.trim_start().to_owned() }
        };
        let parts: Vec<String> = name.split(delimiter).map(part).collect();
        Self { text: parts.join(delimiter), level }
    }
}

impl Note<'_> {
    /// The texts of the headings above a heading and its own, outermost first.
    pub fn heading_path<'h>(&'h self, heading: &'h Heading) -> Vec<&'h str> {
        let mut path = vec![&*heading.text];
        let mut parent = heading.parent;
        while let Some(above) = parent.and_then(|index| self.headings.get(index)) {
            path.push(&above.text);
            parent = above.parent;
        }
        path.reverse();
        path
    }

    /// Compares the end of a heading's path with a name. A long path is compared only up to the length of the name.
    fn name_match(&self, name: &str, heading: &Heading, delimiter: &str) -> Option<NameMatch> {
        let wanted = name.len() + delimiter.len();
        let mut parts: Vec<&[u8]> = Vec::new();
        let (mut length, mut at) = (0, Some(heading));
        while let Some(here) = at.filter(|_| length < wanted) {
            let separator = if parts.is_empty() { "" } else { delimiter };
            for part in [separator.as_bytes(), here.text.as_bytes()] {
                let taken = &part[part.len() - part.len().min(wanted - length)..];
                length += taken.len();
                parts.push(taken);
            }
            at = here.parent.and_then(|index| self.headings.get(index));
        }
        parts.reverse();
        let tail = parts.concat();
        let before = tail.strip_suffix(name.as_bytes())?;
        match before {
            [] => Some(NameMatch::Whole),
            before => before.ends_with(delimiter.as_bytes()).then_some(NameMatch::End),
        }
    }

    /// Finds a heading by its full path (`A::B`), otherwise by a suffix of its path, of which a bare heading text is
    /// the shortest form.
    pub fn find_heading(&self, name: &str) -> HeadingMatch<'_> {
        let all = self.headings_named(name, "::");
        let whole = self.whole_paths(&all, name, "::");
        let mut matches = if whole.is_empty() { all } else { whole };
        match matches.len() {
            0 => HeadingMatch::None,
            1 => matches.pop().map_or(HeadingMatch::None, HeadingMatch::One),
            _ => HeadingMatch::Several(matches),
        }
    }

    /// The same with a number, counted from 1, that chooses among several.
    pub fn find_nth_heading(&self, name: &str, occurrence: Option<usize>) -> HeadingMatch<'_> {
        let found = self.find_heading(name);
        let (Some(wanted), HeadingMatch::Several(several)) = (occurrence, &found) else { return found };
        wanted.checked_sub(1).and_then(|index| several.get(index).copied()).map_or(found, HeadingMatch::One)
    }

    /// The headings whose path, joined with a delimiter, is the name or ends in it, in order. A name that is written
    /// like the heading, `## Tasks`, means the same without its marks, which choose among several.
    pub fn headings_named(&self, name: &str, delimiter: &str) -> Vec<&Heading> {
        let as_written = self.headings_ending_in(name, delimiter);
        if !as_written.is_empty() {
            return as_written;
        }
        let HeadingName { text, level } = HeadingName::read(name, delimiter);
        if text == name {
            return Vec::new();
        }
        let mut found = self.headings_ending_in(&text, delimiter);
        // The marks choose among several, but a wrong level does not hide the only heading of that name.
        if found.iter().any(|heading| Some(heading.level) == level) {
            found.retain(|heading| Some(heading.level) == level);
        }
        found
    }

    fn headings_ending_in(&self, name: &str, delimiter: &str) -> Vec<&Heading> {
        // Its own words end the name, so the rest depends only on the heading above and their length.
        let mut known: HashMap<(Option<usize>, usize), bool> = HashMap::new();
        let mut is_named = |heading: &&Heading| {
            name.ends_with(&heading.text)
                // In a note with thousands of equal headings, each would compare its whole path.
                && *known
                    .entry((heading.parent, heading.text.len()))
                    .or_insert_with(|| self.name_match(name, heading, delimiter).is_some())
        };
        self.headings.iter().filter(|heading| is_named(heading)).collect()
    }

    /// The headings found by a name that is their full path.
    pub fn whole_paths<'h>(&self, found: &[&'h Heading], name: &str, delimiter: &str) -> Vec<&'h Heading> {
        let read = HeadingName::read(name, delimiter).text;
        let mut known: HashMap<(Option<usize>, &str), bool> = HashMap::new();
        let is_whole = |heading: &Heading| {
            let is = |name: &str| self.name_match(name, heading, delimiter) == Some(NameMatch::Whole);
            is(name) || is(&read)
        };
        let mut is_whole =
            |heading: &'h Heading| *known.entry((heading.parent, &heading.text)).or_insert_with(|| is_whole(heading));
        found.iter().copied().filter(|heading| is_whole(heading)).collect()
    }

    /// The heading on a line, counted from 1; an underline belongs to its heading.
    pub fn heading_at_line(&self, line: usize) -> Option<&Heading> {
        let after = self.headings.partition_point(|heading| heading.line <= line);
        let heading = self.headings.get(after.checked_sub(1)?)?;
        let lines = self.text[heading.span.clone()].lines().count().max(1);
        // Between two headings, no heading is on the line.
        (line < heading.line + lines).then_some(heading)
    }

    /// The part of the text that a link to a place in the note shows: a section, or a block.
    pub fn part_of_link(&self, place: &LinkPlace<'_>) -> Option<Range<usize>> {
        match place {
            LinkPlace::Headings(parts) => {
                let last = *self.headings_of_link(parts)?.last()?;
                Some(self.headings.get(last)?.section.clone())
            }
            LinkPlace::Block(id) => Some(self.find_block(id)?.span.clone()),
            LinkPlace::Footnote(_) => None,
        }
    }

    /// The headings that the parts of a link's subpath lead through, as indexes, its target last. As Obsidian finds it:
    /// each part is compared loosely (see [`heading_key`]) and must be below the one before. The first match wins.
    pub(crate) fn headings_of_link(&self, parts: &[&str]) -> Option<Vec<usize>> {
        let keys: Vec<String> = parts.iter().map(|part| heading_key(part)).collect();
        let mut matched: Vec<usize> = Vec::new();
        for (index, heading) in self.headings.iter().enumerate() {
            // Outside the section of a match its parts no longer lead here. Obsidian's own behaviour is not known; this
            // follows the path literally.
            while matched.pop_if(|above| self.headings[*above].level >= heading.level).is_some() {}
            let wanted = keys.get(matched.len())?;
            if heading_key(&heading.text) == *wanted {
                matched.push(index);
                if matched.len() == keys.len() {
                    return Some(matched);
                }
            }
        }
        None
    }
}
