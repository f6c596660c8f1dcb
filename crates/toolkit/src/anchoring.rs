//! Block ids at quoted places of a text, so that notes can link to exactly what a source says.

use lapidary_note::{Block, BlockKind, Note, count_steps};

/// Why a place gets no block id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnchorProblem {
    /// The text does not have the quotation.
    Missing,
    /// Another block has the id.
    Taken,
    /// No id can be written there.
    Unfit,
}

/// The text with a block id at the block that has the quotation, and the id: the block may have one already.
pub fn anchored(text: &str, quotation: &str, id: &str) -> Result<(String, String), AnchorProblem> {
    let place = find(text, quotation).ok_or(AnchorProblem::Missing)?;
    let note = Note::parse(text);
    if let Some(block) = note.blocks.iter().find(|block| block.span.contains(&place)) {
        return Ok((text.to_owned(), block.id.clone()));
    }
    if note.find_block(id).is_some() {
        return Err(AnchorProblem::Taken);
    }
    // Behind the text of a paragraph, item or heading; below a table, list, quotation or code.
    for end in [IdPlace::Line, IdPlace::Lines, IdPlace::Block] {
        let candidate = end.with_id(text, place, id);
        let parsed = Note::parse(&candidate);
        // Obsidian cannot link to a row.
        let names = |block: &Block| block.id == id && block.span.contains(&place) && block.kind != BlockKind::Row;
        if parsed.blocks.len() == note.blocks.len() + 1 && parsed.blocks.iter().any(names) {
            return Ok((candidate, id.to_owned()));
        }
    }
    Err(AnchorProblem::Unfit)
}

/// Where an id may be written.
#[derive(Clone, Copy)]
enum IdPlace {
    /// The line.
    Line,
    /// The last line before a blank one.
    Lines,
    /// The same, in a separate paragraph.
    Block,
}

impl IdPlace {
    fn with_id(self, text: &str, place: usize, id: &str) -> String {
        let line_end = text[place..].find('\n').map_or(text.len(), |at| place + at);
        let mut end = line_end;
        if !matches!(self, Self::Line) {
            while let Some(next) = text[end..].strip_prefix('\n') {
                let line = next.split('\n').next().unwrap_or_default();
                count_steps(line.len() + 1);
                if line.trim().is_empty() {
                    break;
                }
                end += 1 + line.len();
            }
        }
        let end = place.max(text[..end].trim_end().len());
        let (before, after) = text.split_at(end);
        match self {
            Self::Line | Self::Lines => format!("{before} ^{id}{after}"),
            Self::Block => format!("{before}\n\n^{id}{after}"),
        }
    }
}

/// Where a quotation begins. Blanks, line breaks and the marks of Markdown need not be the same.
fn find(text: &str, quotation: &str) -> Option<usize> {
    if let Some(at) = text.find(quotation.trim()).filter(|_| !quotation.trim().is_empty()) {
        return Some(at);
    }
    let (plain, places) = plain(text);
    let (wanted, _) = self::plain(quotation);
    let at = plain.find(wanted.trim()).filter(|_| !wanted.trim().is_empty())?;
    let number = plain[..at].chars().count();
    places.get(number).copied()
}

/// A text without marks and with single blanks, and where each of its characters is.
fn plain(text: &str) -> (String, Vec<usize>) {
    let (mut plain, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    count_steps(text.len());
    for (at, c) in text.char_indices() {
        if matches!(c, '\\' | '*' | '_' | '`' | '>') {
            continue;
        }
        let c = if c.is_whitespace() { ' ' } else { c };
        if c == ' ' && plain.ends_with(' ') {
            continue;
        }
        plain.push(c);
        places.push(at);
    }
    (plain, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_comes_where_obsidian_reads_it() {
        for (text, quotation, expected) in [
            ("One two.\n\nThree.\n", "two", "One two. ^a\n\nThree.\n"),
            ("One\ntwo.\nthree\n\nFour.\n", "One", "One\ntwo.\nthree ^a\n\nFour.\n"),
            ("One", "One", "One ^a"),
            ("# Head\n\nText\n", "Head", "# Head ^a\n\nText\n"),
            ("- one\n- two\n  - three\n", "two", "- one\n- two ^a\n  - three\n"),
            ("| a |\n| --- |\n| b |\n", "b", "| a |\n| --- |\n| b |\n\n^a\n"),
            ("```\ncode\n```\n", "code", "```\ncode\n```\n\n^a\n"),
            ("Some **bold\n  words** here.\n", "bold words here", "Some **bold\n  words** here. ^a\n"),
        ] {
            assert_eq!(anchored(text, quotation, "a"), Ok((expected.to_owned(), "a".to_owned())), "{text}");
        }
    }

    #[test]
    fn an_id_that_is_there_is_used() {
        let text = "One two. ^known\n\nThree. ^a\n\nFour.\n";
        assert_eq!(anchored(text, "two", "b"), Ok((text.to_owned(), "known".to_owned())));
        assert_eq!(anchored(text, "Four", "a"), Err(AnchorProblem::Taken));
        assert_eq!(anchored(text, "five", "b"), Err(AnchorProblem::Missing));
        assert_eq!(anchored(text, " ", "b"), Err(AnchorProblem::Missing));
    }
}
