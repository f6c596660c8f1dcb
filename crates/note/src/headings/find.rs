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
            all.iter().copied().filter(|heading| self.heading_path(heading).join("::") == name).collect();
        let mut matches = if whole.is_empty() { all } else { whole };
        match matches.len() {
            0 => HeadingMatch::None,
            1 => matches.pop().map_or(HeadingMatch::None, HeadingMatch::One),
            _ => HeadingMatch::Several(matches),
        }
    }

    /// The headings whose path, written with a delimiter between its parts, is a name or ends in it, in order.
    pub fn headings_named(&self, name: &str, delimiter: &str) -> Vec<&Heading> {
        let is_named = |heading: &&Heading| {
            // Its own words end the name, so most headings need no look at their path.
            name.ends_with(&heading.text) && {
                let path = self.heading_path(heading).join(delimiter);
                path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with(delimiter))
            }
        };
        self.headings.iter().filter(is_named).collect()
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
