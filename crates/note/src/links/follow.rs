//! The new text of links to a part of a note after that part was renamed.

use std::ops::Range;

use super::LinkPlace;
use crate::{Note, headings::heading_for_link};

/// The result for the place that a link names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkOutcome {
    /// It still leads there, or never did.
    Stays,
    /// Without the first `#`.
    Becomes(String),
    /// No link text leads there any more.
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
    /// Every link to a heading of the note is affected, not only those to the renamed one: it may take over links of
    /// another that already has its new text.
    pub fn follow(&self, place: &LinkPlace<'_>) -> LinkOutcome {
        let LinkPlace::Headings(parts) = place else { return LinkOutcome::Stays };
        let Some(over) = self.before.headings_of_link(parts) else { return LinkOutcome::Stays };
        let Some(target) = over.last() else { return LinkOutcome::Stays };
        let leads_there =
            |parts: &[&str]| self.after.headings_of_link(parts).is_some_and(|over| over.last() == Some(target));
        // Its text says the same, and it still leads to the same heading.
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
        // The full path is unambiguous where the shortened one has become ambiguous.
        let whole: Vec<String> = match self.after.headings.get(*target) {
            Some(heading) => self.after.heading_path(heading).into_iter().map(heading_for_link).collect(),
            None => return LinkOutcome::Lost,
        };
        let works = [renamed, whole].into_iter().find(|parts| {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            // An empty part would be dropped when the link is read.
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
    /// Of several blocks with the same id, links lead to one.
    pub fn follow(&self, place: &LinkPlace<'_>) -> LinkOutcome {
        let LinkPlace::Block(id) = place else { return LinkOutcome::Stays };
        match (self.before.find_block(id), self.before.blocks.get(self.index)) {
            (Some(found), Some(block)) if found == block => LinkOutcome::Becomes(format!("^{}", self.new_id)),
            _ => LinkOutcome::Stays,
        }
    }
}

/// A part of a note that went elsewhere, in this note or in another.
pub struct PartTransfer<'n> {
    pub source_before: &'n Note<'n>,
    /// Of a move within one note, the note.
    pub source_after: &'n Note<'n>,
    /// Where the part was.
    pub part: Range<usize>,
    /// The other note before and after; of a new note, an empty one before.
    pub target: Option<(&'n Note<'n>, &'n Note<'n>)>,
    /// Where the part is.
    pub inserted: Range<usize>,
}

/// One of the two notes of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferSide {
    Source,
    Target,
}

impl PartTransfer<'_> {
    /// In which note the place is that a link to this one names, and what the link has to say of it.
    pub fn follow(&self, side: TransferSide, place: &LinkPlace<'_>) -> (TransferSide, LinkOutcome) {
        let before = match side {
            TransferSide::Source => self.source_before,
            TransferSide::Target => self.target.map_or(self.source_before, |(before, _)| before),
        };
        match place {
            LinkPlace::Headings(parts) => self.heading(side, before, parts),
            LinkPlace::Block(id) => self.block(side, before, id),
            LinkPlace::Footnote(_) => (side, LinkOutcome::Stays),
        }
    }

    fn note_after(&self, side: TransferSide) -> &Note<'_> {
        match (side, self.target) {
            (TransferSide::Target, Some((_, after))) => after,
            _ => self.source_after,
        }
    }

    /// Where the thing with this number is now. `starts` are where such things begin, before and in the note that has the
    /// part now.
    fn number(&self, side: TransferSide, index: usize, source: &[usize], inserted: &[usize]) -> (TransferSide, usize) {
        let first = source.iter().filter(|at| **at < self.part.start).count();
        let moved = source.iter().filter(|at| self.part.contains(*at)).count();
        let there = inserted.iter().filter(|at| **at < self.inserted.start).count();
        let holder = if self.target.is_some() { TransferSide::Target } else { TransferSide::Source };
        let after_it = |index: usize| if index < there { index } else { index + moved };
        match side {
            TransferSide::Target => (side, after_it(index)),
            // Things keep their order within the part, so their number is that of the first one and the distance.
            TransferSide::Source if (first..first + moved).contains(&index) => (holder, there + index - first),
            TransferSide::Source => {
                let kept = if index < first { index } else { index - moved };
                // In one note, what comes after the new place has moved on by what was inserted.
                (side, if self.target.is_some() { kept } else { after_it(kept) })
            }
        }
    }

    fn heading(&self, side: TransferSide, before: &Note<'_>, parts: &[&str]) -> (TransferSide, LinkOutcome) {
        let Some(index) = before.headings_of_link(parts).and_then(|over| over.last().copied()) else {
            return (side, LinkOutcome::Stays);
        };
        let (now, index) = self.heading_number(side, index);
        let after = self.note_after(now);
        // The same text leads to the right place, so the link is left as its author wrote it.
        if after.headings_of_link(parts).is_some_and(|over| over.last() == Some(&index)) {
            return (now, LinkOutcome::Stays);
        }
        (now, shortest_place(after, index).map_or(LinkOutcome::Lost, LinkOutcome::Becomes))
    }

    /// What a link to a heading of the source says after the move, without the first `#`.
    pub fn place_of_heading(&self, index: usize) -> Option<String> {
        let (now, index) = self.heading_number(TransferSide::Source, index);
        shortest_place(self.note_after(now), index)
    }

    fn heading_number(&self, side: TransferSide, index: usize) -> (TransferSide, usize) {
        let starts = |note: &Note<'_>| note.headings.iter().map(|heading| heading.section.start).collect::<Vec<_>>();
        let holder = self.note_after(TransferSide::Target);
        self.number(side, index, &starts(self.source_before), &starts(holder))
    }

    fn block(&self, side: TransferSide, before: &Note<'_>, id: &str) -> (TransferSide, LinkOutcome) {
        let number = |note: &Note<'_>| {
            let found = note.find_block(id)?;
            note.blocks.iter().position(|block| block == found)
        };
        let Some(index) = number(before) else { return (side, LinkOutcome::Stays) };
        let starts = |note: &Note<'_>| note.blocks.iter().map(|block| block.marker.start).collect::<Vec<_>>();
        let holder = self.note_after(TransferSide::Target);
        let (now, index) = self.number(side, index, &starts(self.source_before), &starts(holder));
        let leads = number(self.note_after(now)) == Some(index);
        // An id cannot be qualified like a heading, so there is no other text to write.
        (now, if leads { LinkOutcome::Stays } else { LinkOutcome::Lost })
    }
}

/// The fewest parts of its path that lead to a heading.
fn shortest_place(note: &Note<'_>, index: usize) -> Option<String> {
    let path: Vec<String> = note.heading_path(note.headings.get(index)?).into_iter().map(heading_for_link).collect();
    let leads = |parts: &&[String]| {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let leads_there = |over: Vec<usize>| over.last() == Some(&index);
        parts.iter().all(|part| !part.is_empty()) && note.headings_of_link(&parts).is_some_and(leads_there)
    };
    // Shortest first: a link with fewer parts survives more changes.
    (0..path.len()).rev().map(|from| &path[from..]).find(leads).map(|parts| parts.join("#"))
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
            // The second of two with the same text has no links.
            ("# A\n# A\n", "# A\n# C\n", 1, "#A", LinkOutcome::Stays),
            ("# A\n# A\n", "# C\n# A\n", 0, "#A", becomes("C")),
            // The new text is that of a heading above.
            ("# X\n## N\n# Y\n## M\n", "# X\n## N\n# Y\n## N\n", 3, "#M", becomes("Y#N")),
            ("# N\n# M\n", "# N\n# N\n", 1, "#M", LinkOutcome::Lost),
            // The new text takes over the links of a heading below.
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
    fn links_follow_a_part_to_the_note_that_has_it_now() {
        use TransferSide::{Source, Target};
        let becomes = |text: &str| LinkOutcome::Becomes(text.to_owned());
        let source = Note::parse("# A\n## B\nx ^b\n# C\n# B\ny ^k\n");
        let source_after = Note::parse("# A\n# C\n# B\ny ^k\n");
        let target = Note::parse("# T\n## C\n# U\n");
        let target_after = Note::parse("# T\n## C\n## B\nx ^b\n# U\n");
        let moved = PartTransfer {
            source_before: &source,
            source_after: &source_after,
            part: 4..14,
            target: Some((&target, &target_after)),
            inserted: 9..19,
        };
        for (side, place, expected) in [
            (Source, "#B", (Target, LinkOutcome::Stays)),
            (Source, "#A#B", (Target, becomes("B"))),
            (Source, "#A", (Source, LinkOutcome::Stays)),
            (Source, "#C", (Source, LinkOutcome::Stays)),
            (Source, "#^b", (Target, LinkOutcome::Stays)),
            (Source, "#^k", (Source, LinkOutcome::Stays)),
            (Source, "#nowhere", (Source, LinkOutcome::Stays)),
            (Target, "#C", (Target, LinkOutcome::Stays)),
            (Target, "#U", (Target, LinkOutcome::Stays)),
        ] {
            assert_eq!(moved.follow(side, &LinkPlace::of(place)), expected, "{place}");
        }
        // Within one note, the part takes the name from another or gives it up.
        let before = Note::parse("# A\n## X\n# B\n## X\n");
        let after = Note::parse("# B\n## X\n# A\n## X\n");
        let within =
            PartTransfer { source_before: &before, source_after: &after, part: 0..9, target: None, inserted: 9..18 };
        assert_eq!(within.follow(Source, &LinkPlace::of("#X")), (Source, becomes("A#X")));
        assert_eq!(within.follow(Source, &LinkPlace::of("#B#X")), (Source, LinkOutcome::Stays));
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
