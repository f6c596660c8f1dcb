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

/// A name for a heading as people write it.
pub(crate) struct HeadingName {
    /// Each part of the path without the marks of a heading and blanks around it.
    pub(crate) text: String,
    /// What the marks of the last part say.
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

    /// Finds a heading by its whole path (`A::B`), else by a run of its path that ends in it, which a bare heading
    /// text is the shortest form of.
    pub fn find_heading(&self, name: &str) -> HeadingMatch<'_> {
        let all = self.headings_named(name, "::");
        let whole: Vec<&Heading> =
            all.iter().copied().filter(|heading| self.is_whole_path(heading, name, "::")).collect();
        let mut matches = if whole.is_empty() { all } else { whole };
        match matches.len() {
            0 => HeadingMatch::None,
            1 => matches.pop().map_or(HeadingMatch::None, HeadingMatch::One),
            _ => HeadingMatch::Several(matches),
        }
    }

    /// The headings whose path, written with a delimiter between its parts, is a name or ends in it, in order. A name that
    /// is written as the heading is, `## Tasks`, means the same without its marks, which choose among several.
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
        if found.iter().any(|heading| Some(heading.level) == level) {
            found.retain(|heading| Some(heading.level) == level);
        }
        found
    }

    fn headings_ending_in(&self, name: &str, delimiter: &str) -> Vec<&Heading> {
        let is_named = |heading: &&Heading| {
            // Its own words end the name, so most headings need no look at their path.
            name.ends_with(&heading.text) && {
                let path = self.heading_path(heading).join(delimiter);
                path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with(delimiter))
            }
        };
        self.headings.iter().filter(is_named).collect()
    }

    /// Whether a name, which this heading was found by, is its whole path.
    pub fn is_whole_path(&self, heading: &Heading, name: &str, delimiter: &str) -> bool {
        let path = self.heading_path(heading).join(delimiter);
        path == name || path == HeadingName::read(name, delimiter).text
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
