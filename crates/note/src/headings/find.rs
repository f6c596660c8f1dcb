use super::{Heading, heading_key};
use crate::Note;

/// What a caller's name for a heading leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum HeadingMatch<'a> {
    None,
    One(&'a Heading),
    /// Several match, the first of them first.
    Several(Vec<&'a Heading>),
}

/// How much of a heading's path a name is.
#[derive(PartialEq)]
enum NameMatch {
    Whole,
    /// A run of it that ends in the heading.
    End,
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

    /// Whether a name is the whole path of a heading, written with a delimiter between its parts.
    pub fn is_path_of(&self, name: &str, heading: &Heading, delimiter: &str) -> bool {
        self.name_match(name, heading, delimiter) == Some(NameMatch::Whole)
    }

    /// Compares the end of a heading's path with a name. Of a long path only as much is looked at as the name is long.
    fn name_match(&self, name: &str, heading: &Heading, delimiter: &str) -> Option<NameMatch> {
        // Its own words end the name, so most headings need no look at their path.
        if !name.ends_with(&heading.text) {
            return None;
        }
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

    /// Finds a heading by its whole path (`A::B`), else by a run of its path that ends in it, which a bare heading
    /// text is the shortest form of.
    pub fn find_heading(&self, name: &str) -> HeadingMatch<'_> {
        let all = self.headings_named(name, "::");
        let whole: Vec<&Heading> = all.iter().copied().filter(|heading| self.is_path_of(name, heading, "::")).collect();
        let mut matches = if whole.is_empty() { all } else { whole };
        match matches.len() {
            0 => HeadingMatch::None,
            1 => matches.pop().map_or(HeadingMatch::None, HeadingMatch::One),
            _ => HeadingMatch::Several(matches),
        }
    }

    /// The headings whose path, written with a delimiter between its parts, is a name or ends in it, in order.
    pub fn headings_named(&self, name: &str, delimiter: &str) -> Vec<&Heading> {
        self.headings.iter().filter(|heading| self.name_match(name, heading, delimiter).is_some()).collect()
    }

    /// The heading that stands on a line, counted from 1; an underline belongs to its heading.
    pub fn heading_at_line(&self, line: usize) -> Option<&Heading> {
        let after = self.headings.partition_point(|heading| heading.line <= line);
        let heading = self.headings.get(after.checked_sub(1)?)?;
        let lines = self.text[heading.span.clone()].lines().count().max(1);
        (line < heading.line + lines).then_some(heading)
    }

    /// The headings that the parts of a link's subpath lead over, as indexes, the one it leads to last. As Obsidian finds
    /// it: each part is compared loosely (see [`heading_key`]) and must lie below the one before it. The first that
    /// fits wins.
    pub(crate) fn headings_of_link(&self, parts: &[&str]) -> Option<Vec<usize>> {
        let keys: Vec<String> = parts.iter().map(|part| heading_key(part)).collect();
        let mut matched: Vec<usize> = Vec::new();
        for (index, heading) in self.headings.iter().enumerate() {
            // Outside the section of a match its parts no longer lead here. Obsidian's own behaviour is not known;
            // this is what the path says.
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
