//! A note in pieces that are small enough to have one meaning each.
//!
//! A piece is part of one section: paragraphs, joined up to about [`USUAL_WORDS`]. Its text starts with the title of the
//! note and the heading of the section, because a paragraph alone rarely says what it is about. Code is left out: a
//! model of prose makes noise of it.

use std::ops::Range;

use lapidary_note::Frontmatter;
use lapidary_query::RowHeading;

/// Paragraphs are joined up to this many words. Fewer find slightly better and cost more, more find worse.
const USUAL_WORDS: usize = 80;
/// A paragraph that is longer is cut, at the end of a sentence if there is one from [`USUAL_WORDS`] on.
const MOST_WORDS: usize = 120;
/// No piece is longer, whatever it consists of.
const MOST_BYTES: usize = 2_048;
/// A longer title or heading says no more than its beginning.
const LONGEST_HEADING: usize = 200;
/// Of a longer text, only the first pieces are taken.
pub(super) const MOST_CHUNKS: usize = 4_096;

/// A piece of a note.
pub(super) struct TextChunk<'c> {
    /// In the shown text; empty if the note has no text.
    pub(super) span: Range<usize>,
    /// Title, heading and paragraphs.
    pub(super) text: &'c str,
}

/// Calls `each` for all pieces of a text, in order. Returns whether there were more than [`MOST_CHUNKS`].
pub(super) fn for_each_chunk(
    title: &str,
    text: &str,
    headings: &[RowHeading<'_>],
    each: impl FnMut(TextChunk<'_>),
) -> bool {
    let mut joiner =
        ChunkJoiner { title, text, heading: None, said: false, parts: Vec::new(), words: 0, made: 0, each };
    let body = Frontmatter::find(text).map_or(0, |block| block.span.end);
    let first = 1 + text[..body].matches('\n').count();
    let mut headings = headings.iter().filter(|heading| heading.line >= first).peekable();
    let mut paragraph: Option<Range<usize>> = None;
    let mut fence: Option<&str> = None;
    let mut at = body;
    for (number, line) in (first..).zip(text[body..].split_inclusive('\n')) {
        let span = at..at + line.len();
        at = span.end;
        let trimmed = line.trim();
        // A heading in code is not among them.
        if let Some(heading) = headings.next_if(|heading| heading.line == number) {
            joiner.paragraph(paragraph.take());
            joiner.section(heading, headings.peek().copied(), span);
            // A heading is never in code, so a mark above it that was not closed opened none.
            fence = None;
            continue;
        }
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        let inside = fence.is_some();
        fence = match fence {
            // Only the mark that opened it closes it.
            Some(open) => Some(open).filter(|open| mark != Some(open)),
            None => mark,
        };
        // Code ends a paragraph and is not part of one.
        if trimmed.is_empty() || inside || mark.is_some() {
            joiner.paragraph(paragraph.take());
        } else {
            paragraph = Some(paragraph.map_or(span.start, |known| known.start)..span.end);
        }
    }
    joiner.paragraph(paragraph);
    joiner.finish();
    // A note without text still has its title.
    if joiner.made == 0 {
        joiner.put(body..body, &[]);
    }
    joiner.made > MOST_CHUNKS
}

struct ChunkJoiner<'t, E> {
    title: &'t str,
    text: &'t str,
    heading: Option<SectionHeading<'t>>,
    /// Whether anything of the section is in a piece.
    said: bool,
    parts: Vec<Range<usize>>,
    words: usize,
    made: usize,
    each: E,
}

struct SectionHeading<'t> {
    text: &'t str,
    line: Range<usize>,
    /// Whether the next heading is below it, so that it needs no separate piece.
    has_sections: bool,
}

impl<'t, E: FnMut(TextChunk<'_>)> ChunkJoiner<'t, E> {
    fn section(&mut self, heading: &RowHeading<'t>, next: Option<&RowHeading<'_>>, line: Range<usize>) {
        self.finish();
        let has_sections = next.is_some_and(|next| next.level > heading.level);
        self.heading = Some(SectionHeading { text: heading.text, line, has_sections });
        self.said = false;
    }

    fn paragraph(&mut self, paragraph: Option<Range<usize>>) {
        let Some(paragraph) = paragraph else { return };
        let mut rest = paragraph;
        while let Some((part, words)) = next_part(self.text, &mut rest) {
            // With what is left out between the parts, since the span covers it.
            let bytes = self.parts.first().map_or(0, |first| part.end - first.start);
            if !self.parts.is_empty() && (self.words + words > USUAL_WORDS || bytes > MOST_BYTES) {
                self.flush();
            }
            self.words += words;
            self.parts.push(part);
        }
    }

    fn flush(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        self.words = 0;
        if let (Some(first), Some(last)) = (parts.first(), parts.last()) {
            self.said = true;
            self.put(first.start..last.end, &parts);
        }
    }

    /// Ends a section.
    fn finish(&mut self) {
        self.flush();
        if let Some(heading) = self.heading.take()
            && !self.said
            && !heading.has_sections
        {
            // Nothing is below it, but the heading itself may be what is searched for.
            let line = heading.line.clone();
            self.heading = Some(heading);
            self.put(line, &[]);
        }
    }

    fn put(&mut self, span: Range<usize>, parts: &[Range<usize>]) {
        self.made += 1;
        if self.made > MOST_CHUNKS {
            return;
        }
        let mut text = format!("{}. ", beginning(self.title));
        // A heading that repeats the title would count twice.
        if let Some(heading) = self.heading.as_ref().filter(|heading| heading.text != self.title) {
            text.push_str(beginning(heading.text));
            text.push_str(". ");
        }
        for part in parts {
            text.push_str(&self.text[part.clone()]);
            text.push('\n');
        }
        // Without blank lines around it, which would be shown with the piece.
        let own = &self.text[span.clone()];
        let start = span.start + own.len() - own.trim_start().len();
        let span = start..start.max(span.start + own.trim_end().len());
        (self.each)(TextChunk { span, text: text.trim_end() });
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_HEADING)]
}

/// As much of a paragraph as one piece may have, and how many words that is; `None` at its end.
fn next_part(text: &str, rest: &mut Range<usize>) -> Option<(Range<usize>, usize)> {
    let left = text.get(rest.clone()).filter(|left| !left.trim().is_empty())?;
    // In half words: two characters of a script without spaces are about a word.
    let mut halves = 0;
    let mut in_word = false;
    let mut last = ' ';
    let (mut sentence, mut blank) = (None, None);
    let mut end = left.len();
    for (at, c) in left.char_indices() {
        if is_dense(c) {
            halves += 1;
            in_word = false;
        } else if c.is_whitespace() {
            in_word = false;
        } else if !in_word {
            halves += 2;
            in_word = true;
        }
        if halves > 2 * MOST_WORDS || at >= MOST_BYTES {
            // Cut at the end of a sentence, else between words, else here.
            end = sentence.or(blank).unwrap_or(at);
            break;
        }
        let after = at + c.len_utf8();
        // A Latin full stop ends a sentence only if a blank follows.
        let ends = matches!(c, '。' | '！' | '？') || (c.is_whitespace() && matches!(last, '.' | '!' | '?' | '\n'));
        if halves >= 2 * USUAL_WORDS && (ends || c == '\n') {
            sentence = Some(after);
        }
        if c.is_whitespace() {
            blank = Some(after);
        }
        last = c;
    }
    let part = rest.start..rest.start + end;
    rest.start = part.end;
    // Of what was cut off, nothing was counted twice: the rest is counted when its turn comes.
    Some((part, (halves / 2).min(MOST_WORDS)))
}

/// Whether it is of a script that writes words without spaces.
fn is_dense(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

#[cfg(test)]
mod tests {
    use lapidary_index::digest;
    use proptest::prelude::*;

    use super::*;
    use crate::Digest;

    /// Spans and texts, and whether there were more.
    fn chunks(title: &str, text: &str) -> Vec<(Range<usize>, String)> {
        let mut bytes = Vec::new();
        digest(text.as_bytes(), &mut bytes);
        let digest = Digest::read(&bytes).unwrap();
        let mut found = Vec::new();
        for_each_chunk(title, text, &digest.structure().headings, |chunk| {
            found.push((chunk.span, chunk.text.to_owned()));
        });
        found
    }

    fn texts(title: &str, text: &str) -> Vec<String> {
        chunks(title, text).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_piece_has_title_and_heading_in_front_and_no_code() {
        let text = "---\na: b\n---\nBefore.\n\n# Roof\nSlates.\n\n```sh\nrm -r x\n```\n\nNails.\n## Cost\n12 each\n";
        assert_eq!(texts("House", text), ["House. Before.", "House. Roof. Slates.\n\nNails.", "House. Cost. 12 each"]);
        let (span, _) = &chunks("House", text)[1];
        assert_eq!(&text[span.clone()], "Slates.\n\n```sh\nrm -r x\n```\n\nNails.");
    }

    #[test]
    fn what_has_no_text_still_has_its_title() {
        assert_eq!(texts("Roof", ""), ["Roof."]);
        assert_eq!(texts("Roof", "---\na: b\n---\n"), ["Roof."]);
        assert_eq!(texts("Roof", "# Roof\n"), ["Roof."]);
        assert_eq!(texts("Log", "# A\n## B\n# C\nx\n"), ["Log. B.", "Log. C. x"]);
        assert_eq!(texts("Code", "```\nlet a;\n```\n"), ["Code."]);
    }

    #[test]
    fn paragraphs_are_joined_up_to_eighty_words_and_never_across_a_heading() {
        let paragraph = format!("{}\n\n", "word ".repeat(30).trim());
        let found = texts("T", &format!("{}# H\n{}", paragraph.repeat(5), paragraph));
        let words: Vec<usize> = found.iter().map(|text| text.matches("word").count()).collect();
        assert_eq!(words, [60, 60, 30, 30]);
        assert!(found[3].starts_with("T. H. word"));
    }

    #[test]
    fn a_long_paragraph_is_cut_at_a_sentence_and_an_endless_one_anywhere() {
        let sentence = format!("{}.", "word ".repeat(25).trim());
        let found = texts("T", &[sentence.as_str(); 8].join(" "));
        assert_eq!(found.iter().map(|text| text.matches("word").count()).collect::<Vec<_>>(), [100, 100]);
        assert!(found.iter().all(|text| text.ends_with('.')));
        let found = chunks("T", &"x".repeat(100_000));
        assert!(found.len() >= 48 && found.iter().all(|(span, _)| span.len() <= MOST_BYTES));
        let found = texts("T", &"石の庭を造る。".repeat(100));
        assert!(found.len() > 2 && found.iter().all(|text| text.ends_with('。')), "{found:?}");
    }

    #[test]
    fn a_book_in_one_note_is_cut_off() {
        let text = "word\n\n".repeat(90 * MOST_CHUNKS);
        let mut bytes = Vec::new();
        digest(text.as_bytes(), &mut bytes);
        let digest = Digest::read(&bytes).unwrap();
        let mut count = 0;
        assert!(for_each_chunk("T", &text, &digest.structure().headings, |_| count += 1));
        assert_eq!(count, MOST_CHUNKS);
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[a-z ]{0,40}",
            2 => "([a-zäß]{1,9} ){0,60}[.!]",
            1 => "[石庭水。]{0,300}",
            1 => "#{1,3} [a-z]{1,8}",
            1 => Just("```".to_owned()),
            1 => Just("~~~".to_owned()),
            2 => Just(String::new()),
            1 => "\\PC{0,60}",
        ]
    }

    proptest! {
        #[test]
        fn every_line_of_prose_is_in_exactly_one_piece(lines in prop::collection::vec(line(), 0..40)) {
            let text = lines.join("\n");
            let found = chunks("Title", &text);
            prop_assert!(!found.is_empty());
            let mut end = 0;
            for (span, said) in &found {
                prop_assert!(span.start >= end && text.get(span.clone()).is_some());
                prop_assert!(said.starts_with("Title."));
                prop_assert!(said.len() <= 2 * MOST_BYTES + 3 * LONGEST_HEADING);
                end = span.end;
            }
            // Spans do not overlap, so what is in them is there once.
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            let whole: String = found.iter().map(|(span, _)| letters(&text[span.clone()])).collect();
            let mut bytes = Vec::new();
            digest(text.as_bytes(), &mut bytes);
            let digest = Digest::read(&bytes).unwrap();
            let headings: Vec<usize> = digest.structure().headings.iter().map(|heading| heading.line).collect();
            let body = 1 + Frontmatter::find(&text).map_or(0, |block| text[..block.span.end].matches('\n').count());
            let mut fence: Option<&str> = None;
            let mut from = 0;
            for (number, line) in (1..).zip(text.lines()) {
                if number < body { continue }
                if headings.contains(&number) { fence = None; continue }
                let mark = ["```", "~~~"].into_iter().find(|mark| line.trim().starts_with(mark));
                match (fence, mark) {
                    (Some(open), mark) => { if mark == Some(open) { fence = None; } continue }
                    (None, Some(mark)) => { fence = Some(mark); continue }
                    (None, None) => {}
                }
                // In order, and in parts if it is longer than a piece.
                for word in line.split_whitespace().filter(|word| word.chars().count() < 20) {
                    let word = letters(word);
                    let at = whole[from..].find(&word);
                    prop_assert!(at.is_some(), "{word:?} of line {number} is missing");
                    from += at.unwrap() + word.len();
                }
            }
        }
    }
}
