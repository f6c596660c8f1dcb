//! PDF: by pages, first as pdf-extract reads them, then as lopdf does.

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use lapidary_vault::DecodeFault;
use lopdf::{Document, Object};
use pdf_extract::output_doc_page;
use unicode_normalization::UnicodeNormalization;

use super::{PartCollector, pdf_lines::PageLines, pdf_repair};

/// The header may come after other bytes, as some programs write them.
const HEADER_WITHIN: usize = 1024;
/// More pages than books have.
const MOST_PAGES: usize = 20_000;

/// A file that can be read, maybe with an empty password.
pub(super) fn open(bytes: &[u8]) -> Result<Document, DecodeFault> {
    let beginning = &bytes[..bytes.len().min(HEADER_WITHIN)];
    if !beginning.windows(5).any(|five| five == b"%PDF-") {
        return Err(DecodeFault::Broken);
    }
    // A file without pages has lost its table, even if it can be loaded.
    let mut document = match Document::load_mem(bytes) {
        Ok(document) if !document.get_pages().is_empty() => document,
        Err(lopdf::Error::InvalidPassword | lopdf::Error::Decryption(_)) => return Err(DecodeFault::Locked),
        // Its end is missing, or its table is wrong.
        read => match pdf_repair::repaired(bytes).map(|repaired| Document::load_mem(&repaired)) {
            Some(Ok(repaired)) => repaired,
            _ => read.map_err(|_| DecodeFault::Broken)?,
        },
    };
    // Many files are only locked against changes, and open with an empty password.
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(DecodeFault::Locked);
    }
    Ok(document)
}

pub(super) fn read(bytes: &[u8], parts: &mut PartCollector) -> Result<(), DecodeFault> {
    let document = open(bytes)?;
    let pages = document.get_pages().len();
    if pages == 0 {
        return Err(DecodeFault::Broken);
    }
    if pages > MOST_PAGES {
        return Err(DecodeFault::Unpacked);
    }
    parts.set_total(pages);
    let [title, author] = [information(&document, b"Title"), information(&document, b"Author")];
    parts.set_origin(title.as_deref(), author.as_deref());
    for number in 1..=pages {
        if parts.is_full() {
            break;
        }
        parts.add(number, None, &joined_lines(&page(&document, u32::try_from(number).unwrap_or(u32::MAX))));
        if number < pages && parts.is_late() {
            break;
        }
    }
    Ok(())
}

/// The text of a page. Some pages make the first reader panic, and for some it finds nothing where the other does.
fn page(document: &Document, number: u32) -> String {
    // What the reader leaves half done is dropped with it, so nothing broken is seen afterwards.
    let first = catch_unwind(AssertUnwindSafe(|| {
        let mut lines = PageLines::default();
        let read = output_doc_page(document, &mut lines, number);
        // What was read before an error is still text of the page.
        (read.is_ok(), lines.into_text())
    }));
    let (is_whole, text) = first.unwrap_or_default();
    let text = plain_letters(&text);
    if is_whole && has_words(&text) {
        return text;
    }
    let second = catch_unwind(AssertUnwindSafe(|| document.extract_text(&[number]).unwrap_or_default()));
    let second = plain_letters(&second.unwrap_or_default());
    // The longer one has lost less.
    if has_words(&second) && second.len() > text.len() { second } else { text }
}

/// Text that is nothing but signs for unknown letters is none.
fn has_words(text: &str) -> bool {
    text.chars().any(|letter| letter.is_alphanumeric())
}

/// Typesetters have one sign for several letters, and wide forms of letters; people search for the letters. Raised and
/// lowered digits stay: `10²` is not `102`.
fn plain_letters(text: &str) -> String {
    let is_form = |letter: char| matches!(letter, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{ff00}'..='\u{ffef}');
    let mut plain = String::with_capacity(text.len());
    for letter in text.nfc() {
        match letter {
            letter if is_form(letter) => plain.extend(letter.nfkc()),
            // It only says where a word could be cut; at the end of a line it was.
            '\u{ad}' => plain.push('\u{2010}'),
            '\r' | '\u{c}' => plain.push('\n'),
            letter => plain.push(letter),
        }
    }
    plain
}

/// Words that were cut at the end of a line, in one piece again; without blanks at the ends and with one empty line between
/// paragraphs.
fn joined_lines(text: &str) -> String {
    let is_cut = |line: &str| {
        let mut last = line.chars().rev();
        matches!(last.next(), Some('-' | '\u{2010}')) && last.next().is_some_and(char::is_alphabetic)
    };
    // Words that are written with a hyphen in the middle of a line keep it at its end.
    let hyphenated: HashSet<&str> = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '-')
        .filter(|word| word.trim_matches('-').contains('-'))
        .collect();
    let mut joined = String::with_capacity(text.len());
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            if !joined.is_empty() && !joined.ends_with("\n\n") {
                joined.push('\n');
            }
            continue;
        }
        let before = joined.trim_end_matches('\n');
        // Only the very next line goes on with a word.
        let follows = joined.len() - before.len() <= 1;
        let goes_on = line.starts_with(char::is_lowercase) && follows && is_cut(before);
        if goes_on {
            let hyphen = before.chars().next_back().map_or(0, char::len_utf8);
            let whole = before.len() - hyphen;
            let start = before[..whole].rfind(|letter: char| !letter.is_alphanumeric() && letter != '-');
            let start = start.map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
            let end = line.find(|letter: char| !letter.is_alphanumeric() && letter != '-').unwrap_or(line.len());
            let with_hyphen = format!("{}-{}", &before[start..whole], &line[..end]);
            // Only as other lines of the page write it; a dictionary would be for one language only.
            let keeps = hyphenated.contains(with_hyphen.as_str());
            joined.truncate(whole);
            if keeps {
                joined.push('-');
            }
        }
        joined.push_str(line);
        joined.push('\n');
    }
    joined.replace('\u{2010}', "-")
}

/// A text about the document, as it says itself.
fn information(document: &Document, key: &[u8]) -> Option<String> {
    let entry = document.trailer.get(b"Info").ok()?;
    let entry = match entry {
        Object::Reference(id) => document.get_object(*id).ok()?,
        other => other,
    };
    let value = entry.as_dict().ok()?.get(key).ok()?;
    let value = match value {
        Object::Reference(id) => document.get_object(*id).ok()?,
        other => other,
    };
    catch_unwind(AssertUnwindSafe(|| lopdf::decode_text_string(value).ok())).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_were_cut_at_the_end_of_a_line_are_whole() {
        let joined = |text: &str| joined_lines(&plain_letters(text));
        assert_eq!(joined("the exam-\nple of a\n  line  \n"), "the example of a\nline\n");
        assert_eq!(joined("a well-known and a well-\nknown one"), "a well-known and a well-known one\n");
        assert_eq!(joined("from 1914-\n1918, Meyer-\nSchulze, a -\nb"), "from 1914-\n1918, Meyer-\nSchulze, a -\nb\n");
        assert_eq!(joined("a\n\n\n\nb"), "a\n\nb\n");
        assert_eq!(joined("exam-\n\nple"), "exam-\n\nple\n", "another paragraph");
        assert_eq!(joined("soft\u{ad}\nware"), "software\n");
    }

    #[test]
    fn letters_are_those_that_people_search_for() {
        assert_eq!(plain_letters("ﬁeld ﬂow oﬃce ＡＢ u\u{308}ber 10²\u{a0}m"), "field flow office AB über 10² m");
    }
}
