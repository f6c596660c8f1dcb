//! What links to a part of a note have to say after the part got another name.

use super::LinkPlace;
use crate::{Note, headings::heading_for_link};

/// What becomes of the place that a link names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkOutcome {
    /// It still leads there, or never did.
    Stays,
    /// Without the first `#`.
    Becomes(String),
    /// Nothing that a link could say leads there any more.
    Lost,
}

/// A heading that got another text.
pub struct HeadingRename<'n> {
    pub before: &'n Note<'n>,
    pub after: &'n Note<'n>,
    /// Which heading, in both; the others are the same.
    pub index: usize,
}

impl HeadingRename<'_> {
    /// Every link to a heading of the note is concerned, not only those to the renamed one: it may take links from
    /// another that has its new text already.
    pub fn follow(&self, place: &LinkPlace<'_>) -> LinkOutcome {
        let LinkPlace::Headings(parts) = place else { return LinkOutcome::Stays };
        let Some(over) = self.before.headings_of_link(parts) else { return LinkOutcome::Stays };
        let Some(target) = over.last() else { return LinkOutcome::Stays };
        let leads_there =
            |parts: &[&str]| self.after.headings_of_link(parts).is_some_and(|over| over.last() == Some(target));
        if !over.contains(&self.index) && leads_there(parts) {
            return LinkOutcome::Stays;
        }
        let text = |index: usize| {
            self.after.headings.get(index).map_or(String::new(), |heading| heading_for_link(&heading.text))
        };
        let renamed: Vec<String> = over
            .iter()
            .zip(parts)
            .map(|(index, part)| if *index == self.index { text(*index) } else { (*part).to_owned() })
            .collect();
        let whole: Vec<String> = match self.after.headings.get(*target) {
            Some(heading) => self.after.heading_path(heading).into_iter().map(heading_for_link).collect(),
            None => return LinkOutcome::Lost,
        };
        let works = [renamed, whole].into_iter().find(|parts| {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            parts.iter().all(|part| !part.is_empty()) && leads_there(&parts)
        });
        works.map_or(LinkOutcome::Lost, |parts| LinkOutcome::Becomes(parts.join("#")))
    }
}

/// A block that got another id.
pub struct BlockRename<'n> {
    pub before: &'n Note<'n>,
    /// Which block, as an index.
    pub index: usize,
    pub new_id: &'n str,
}

impl BlockRename<'_> {
    /// Of several blocks with one id, links lead to one.
    pub fn follow(&self, place: &LinkPlace<'_>) -> LinkOutcome {
        let LinkPlace::Block(id) = place else { return LinkOutcome::Stays };
        match (self.before.find_block(id), self.before.blocks.get(self.index)) {
            (Some(found), Some(block)) if found == block => LinkOutcome::Becomes(format!("^{}", self.new_id)),
            _ => LinkOutcome::Stays,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_follow_a_heading_and_no_other_link_changes() {
        let becomes = |text: &str| LinkOutcome::Becomes(text.to_owned());
        for (before, after, index, subpath, expected) in [
            ("# A\n# B\n", "# C\n# B\n", 0, "#A", becomes("C")),
            ("# A\n# B\n", "# C\n# B\n", 0, "#a", becomes("C")),
            ("# A\n# B\n", "# C\n# B\n", 0, "#B", LinkOutcome::Stays),
            ("# A\n# B\n", "# C\n# B\n", 0, "#X", LinkOutcome::Stays),
            ("# A\n## B\n", "# C\n## B\n", 0, "#A#B", becomes("C#B")),
            ("# A\n## B\n", "# C\n## B\n", 0, "#B", LinkOutcome::Stays),
            ("# A\n# B: x | y\n", "# A\n# C: x | y\n", 1, "#B x y", becomes("C x y")),
            // The second of two with one text has no links.
            ("# A\n# A\n", "# A\n# C\n", 1, "#A", LinkOutcome::Stays),
            ("# A\n# A\n", "# C\n# A\n", 0, "#A", becomes("C")),
            // The new text is that of a heading above.
            ("# X\n## N\n# Y\n## M\n", "# X\n## N\n# Y\n## N\n", 3, "#M", becomes("Y#N")),
            ("# N\n# M\n", "# N\n# N\n", 1, "#M", LinkOutcome::Lost),
            // The new text takes the links of a heading below.
            ("# X\n## M\n# Y\n## N\n", "# X\n## N\n# Y\n## N\n", 1, "#N", becomes("Y#N")),
            ("# A\n", "# ??\n", 0, "#A", becomes("??")),
            ("# A\n", "#\n", 0, "#A", LinkOutcome::Lost),
            ("# A\nx ^id\n", "# C\nx ^id\n", 0, "#^id", LinkOutcome::Stays),
        ] {
            let (old, new) = (Note::parse(before), Note::parse(after));
            let rename = HeadingRename { before: &old, after: &new, index };
            assert_eq!(rename.follow(&LinkPlace::of(subpath)), expected, "{before:?} {after:?} {subpath}");
        }
    }

    #[test]
    fn links_follow_the_block_they_lead_to() {
        let note = Note::parse("a ^x\n\nb ^x\n\nc ^y\n");
        let follow = |index, subpath| BlockRename { before: &note, index, new_id: "z" }.follow(&LinkPlace::of(subpath));
        assert_eq!(follow(2, "#^Y"), LinkOutcome::Becomes("^z".to_owned()));
        assert_eq!(follow(1, "#^x"), LinkOutcome::Becomes("^z".to_owned()));
        assert_eq!(follow(0, "#^x"), LinkOutcome::Stays);
        assert_eq!(follow(2, "#y"), LinkOutcome::Stays);
    }
}
