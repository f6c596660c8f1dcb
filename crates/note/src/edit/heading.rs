//! Changes the text of a heading.

use super::{EditError, EditResult, TextChange, outline::outline};
use crate::{Document, Heading, blocks::is_block_id};

impl Document {
    /// Gives a heading another text. `#` marks, closing marks and the underline stay.
    ///
    /// What would not be read back as exactly this heading among the same others is refused.
    pub fn rename_heading(&self, heading: &Heading, new_text: &str) -> Result<EditResult, EditError> {
        let shown = self.shown();
        let new_text = new_text.trim();
        if new_text.contains(['\n', '\r']) {
            return Err(EditError::SeveralLines);
        }
        let outside = || self.outside(heading.words.clone());
        let before = shown.get(..heading.words.start).ok_or_else(outside)?;
        let after = shown.get(heading.words.end..).ok_or_else(outside)?;
        // The block id of the heading belongs to it, not to its text.
        let id = heading.text.rsplit_once(" ^").filter(|(_, id)| is_block_id(id)).map(|(_, id)| format!(" ^{id}"));
        let named = new_text.rsplit_once('^').is_some_and(|(_, id)| is_block_id(id));
        let new_text: &str = &format!("{new_text}{}", id.filter(|_| !named).unwrap_or_default());
        let mut written = new_text.to_owned();
        // An empty heading may have no space after its marks.
        if !written.is_empty() && before.ends_with('#') {
            written.insert(0, ' ');
        }
        if after.starts_with('#') {
            written.push(' ');
        }
        let lost = || EditError::HeadingLost { text: new_text.to_owned() };
        let draft = self.draft(vec![TextChange::new(heading.words.clone(), written)]).map_err(|_| lost())?;
        let (before, after) = (self.note(), draft.note());
        let (old, new) = (outline(&before), outline(&after));
        let length = draft.shown().len();
        let shift = |start: usize| if start > heading.words.start { start + length - shown.len() } else { start };
        let kept = old.len() == new.len()
            && old.iter().zip(&new).all(|(a, b)| {
                let renamed = a.start == heading.section.start;
                let expected = if renamed { new_text } else { a.text };
                (a.level, expected, shift(a.start)) == (b.level, b.text, b.start)
            });
        if kept { draft.finish() } else { Err(lost()) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        NoteStructure,
        edit::variants::{check, refuse},
    };

    /// The first heading with this text.
    pub(in crate::edit) fn find(shown: &str, name: &str) -> Heading {
        NoteStructure::parse(shown).headings.into_iter().find(|heading| heading.text == name).expect(name)
    }

    #[test]
    fn only_the_text_of_a_heading_changes() {
        for (before, name, new, after) in [
            ("# A\ntext\n", "A", "B", "# B\ntext\n"),
            ("# A", "A", "B", "# B"),
            ("#  A  \ntext\n", "A", "B c", "#  B c  \ntext\n"),
            ("## A ##\n", "A", "B", "## B ##\n"),
            ("## A ###   \n", "A", "C #", "## C # ###   \n"),
            ("   ### A\n", "A", "B", "   ### B\n"),
            ("A\n===\ntext\n", "A", "B", "B\n===\ntext\n"),
            ("A\n---", "A", "Longer than the line", "Longer than the line\n---"),
            ("#\n", "", "B", "# B\n"),
            ("# A\n", "A", "", "# \n"),
            ("x\n\n# A\n\ny\n\n# Z\n", "A", "  B  ", "x\n\n# B\n\ny\n\n# Z\n"),
            ("# A ^id\n", "A ^id", "B ^id", "# B ^id\n"),
            ("# A ^id\n", "A ^id", "B", "# B ^id\n"),
            ("# **A** `c`\n", "**A** `c`", "[[x|y]] #tag", "# [[x|y]] #tag\n"),
            ("---\nA: 1\n---\n# A\n", "A", "B", "---\nA: 1\n---\n# B\n"),
        ] {
            check(before, after, |document| document.rename_heading(&find(document.shown(), name), new));
        }
    }

    #[test]
    fn text_that_would_not_be_such_a_heading_is_refused() {
        let lost = |text: &str| EditError::HeadingLost { text: text.to_owned() };
        for (before, new, error) in [
            ("# A\n", "B\n# C", EditError::SeveralLines),
            ("# A\n", "B\r# C", EditError::SeveralLines),
            ("A\n===\n", "- B", lost("- B")),
            ("A\n===\n", "# B", lost("# B")),
            ("A\n===\n", "> B", lost("> B")),
            ("A\n===\n", "", lost("")),
            ("A\n===\n", "```", lost("```")),
            ("# A\n", "B #", lost("B #")),
            ("# Z\n\nA\n---\n\n# Y\n", "<!-- B", lost("<!-- B")),
        ] {
            refuse(before, &error, |document| document.rename_heading(&find(document.shown(), "A"), new));
        }
    }
}
