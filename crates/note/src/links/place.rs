use std::ops::Range;

use super::{Place, labels::normal};
use crate::{FootnoteKind, Note};

impl Note<'_> {
    /// What a subpath leads to: the section of a heading, a block, or the definition of a footnote.
    pub fn resolve_place(&self, place: &Place<'_>) -> Option<Range<usize>> {
        match place {
            Place::Headings(parts) => Some(self.heading_of_link(parts)?.section.clone()),
            Place::Block(id) => Some(self.find_block(id)?.span.clone()),
            Place::Footnote(name) => self.footnote_definition(name),
        }
    }

    /// Of several with one name the first counts, as in all Markdown.
    fn footnote_definition(&self, name: &str) -> Option<Range<usize>> {
        let wanted = normal(name);
        let mut definitions = self.footnotes.iter().filter(|footnote| footnote.kind == FootnoteKind::Definition);
        let same = |found: &Range<usize>| normal(&self.text[found.clone()]) == wanted;
        definitions.find(|footnote| footnote.label.as_ref().is_some_and(same)).map(|footnote| footnote.span.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subpath_leads_to_a_section_a_block_or_a_footnote() {
        let text = "# A\nx[^N 1]\n## B\ny ^Id-1\n# C\n## B\n- z ^id-2\n\n[^N 1]: foot\n\n[^n 1]: later\n";
        let note = Note::parse(text);
        for (subpath, expected) in [
            ("#A", Some("# A\nx[^N 1]\n## B\ny ^Id-1\n")),
            ("#b", Some("## B\ny ^Id-1\n")),
            ("#C#B", Some("## B\n- z ^id-2\n\n[^N 1]: foot\n\n[^n 1]: later\n")),
            ("#B#A", None),
            ("#A#C", None),
            ("#", None),
            ("#^id-1", Some("y ^Id-1")),
            ("#^ID-2", Some("- z ^id-2")),
            ("#^id-3", None),
            ("#^", None),
            ("#[^n 1]", Some("[^N 1]: foot")),
            ("#[^N 1]", Some("[^N 1]: foot")),
            ("#[^2]", None),
            ("#[^]", None),
        ] {
            let found = note.resolve_place(&Place::of(subpath)).map(|span| &text[span]);
            assert_eq!(found, expected, "{subpath}");
        }
    }
}
