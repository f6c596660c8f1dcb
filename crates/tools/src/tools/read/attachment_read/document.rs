//! Documents as text, by pages.

use lapidary_note::LinkForm;
use lapidary_operation::{
    Context, Reason,
    fence::fenced,
    quote::{Prose, quoted},
};
use lapidary_toolkit::{index, reading};
use lapidary_vault::{
    DocumentKind, DocumentPart, DocumentText, File, VaultPath, View,
    links::{LinkFormat, linkpath_for},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{FACTS_BYTES, Output, output};

/// The text of an answer: some 6,000 tokens.
const MOST_TEXT: usize = 24 << 10;
/// Around the text of a page.
const FRAME_BYTES: usize = 160;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentFacts {
    // What its parts are: `page`, `slide`, `sheet`, `chapter` or `part`.
    unit: &'static str,
    total: u32,
    has_text: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    parts: Vec<ShownPart>,
    // Arguments for what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<NextPages>,
}

#[derive(Serialize, JsonSchema)]
struct ShownPart {
    number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct NextPages {
    pages: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<usize>,
}

/// What the caller asked for.
#[derive(Clone, Copy)]
pub(super) struct WantedPages<'i> {
    pub(super) pages: Option<&'i str>,
    pub(super) from: usize,
}

pub(super) fn show(
    context: &Context<'_>,
    view: &View,
    path: &VaultPath,
    file: &File,
    kind: DocumentKind,
    wanted: WantedPages<'_>,
) -> Result<Output, Reason> {
    let document = reading::document_text(context, view, path, file, kind)?;
    let (first, last) = match wanted.pages {
        Some(pages) => range(pages, document.total)?,
        None => (1, document.total.max(1)),
    };
    let link = match kind {
        DocumentKind::Pdf => {
            let files = index::files(context, view)?;
            Some(linkpath_for(files, path, path, LinkFormat::Shortest, LinkForm::Wiki))
        }
        // In no other kind does Obsidian open a page.
        _ => None,
    };
    // The text is sent twice, as a fact and for the model, and JSON makes it longer.
    let room = MOST_TEXT.min(context.budget.reply_bytes().saturating_sub(FACTS_BYTES) / 3);
    let (parts, next) = selected(&document, first, last, wanted.from, room, link.as_deref());
    let mut output = output(path, file, kind.media_type().to_owned());
    output.notice = notice(&document, first, parts.is_empty());
    output.document = Some(DocumentFacts {
        unit: kind.part_name(),
        total: document.total,
        has_text: document.has_text(),
        title: document.title.clone(),
        author: document.author.clone(),
        parts,
        next,
    });
    Ok(output)
}

fn notice(document: &DocumentText, first: u32, is_empty: bool) -> Option<String> {
    let last_read = document.parts.last().map_or(0, |part| part.number);
    let unit = document.kind.part_name();
    let said = if !document.has_text() {
        match document.kind {
            DocumentKind::Pdf => {
                "No text can be read from it: its pages are pictures, as scanners make them, or it is damaged. Ask the user for a version with text (OCR), or for a picture of the page.".to_owned()
            }
            _ => "It has no text.".to_owned(),
        }
    } else if is_empty && document.is_cut && first > last_read {
        format!("It has more text than is read: {unit} {last_read} is the last that can be shown.")
    } else if is_empty {
        "There is no text there.".to_owned()
    } else if document.is_cut {
        format!("It has more text than is read: what follows in {unit} {last_read} and after it is left out.")
    } else {
        String::new()
    };
    let unread = match document.unread {
        0 => String::new(),
        1 => "The text of 1 page could not be recognised.".to_owned(),
        pages => format!("The text of {pages} pages could not be recognised."),
    };
    let gap = if said.is_empty() || unread.is_empty() { "" } else { " " };
    let notice = format!("{said}{gap}{unread}");
    (!notice.is_empty()).then_some(notice)
}

/// The parts that fit, and where to go on.
fn selected(
    document: &DocumentText,
    first: u32,
    last: u32,
    from: usize,
    mut room: usize,
    link: Option<&str>,
) -> (Vec<ShownPart>, Option<NextPages>) {
    let mut shown: Vec<ShownPart> = Vec::new();
    let chosen = document.parts.iter().filter(|part| (first..=last).contains(&part.number));
    for DocumentPart { number, label, text } in chosen {
        // The offset is one of the first part that was asked for.
        let from = if *number == first { text.floor_char_boundary(from.min(text.len())) } else { 0 };
        let rest = &text[from..];
        let fits = room.saturating_sub(FRAME_BYTES);
        let is_whole = rest.len() <= fits;
        // A part that does not fit begins the next answer, unless it would fill that one too.
        if !is_whole && (rest.len() <= MOST_TEXT / 2 || fits < MOST_TEXT / 4) && !shown.is_empty() {
            return (shown, Some(next(*number, last, document.total, None)));
        }
        let end = if is_whole { rest.len() } else { cut(rest, fits.max(1)) };
        if end > 0 {
            shown.push(ShownPart {
                number: *number,
                label: label.clone(),
                link: link.map(|link| format!("[[{link}#page={number}]]")),
                text: rest[..end].to_owned(),
            });
        }
        if !is_whole {
            return (shown, Some(next(*number, last, document.total, Some(from + end))));
        }
        room = room.saturating_sub(end + FRAME_BYTES);
    }
    (shown, None)
}

fn next(number: u32, last: u32, total: u32, from: Option<usize>) -> NextPages {
    let pages = if last >= total { format!("{number}-") } else { format!("{number}-{last}") };
    NextPages { pages, from }
}

/// Where to cut a text, at the end of a line if there is one near; at least one letter.
fn cut(text: &str, most: usize) -> usize {
    let end = text.floor_char_boundary(most);
    if end == 0 {
        return text.chars().next().map_or(0, char::len_utf8);
    }
    text[..end].rfind('\n').map(|at| at + 1).filter(|at| *at > end / 2).unwrap_or(end)
}

/// `3`, `3-5` or `3-`.
fn range(pages: &str, total: u32) -> Result<(u32, u32), Reason> {
    let bad = |problem: Prose| Reason::bad_argument("attachment_read", "pages", problem);
    let form = || bad("must be a number or a range, like `3`, `3-5` or `3-`".into());
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| form());
    // People write either dash.
    let (first, last) = match pages.split_once(['-', '–']) {
        Some((first, "")) => (number(first)?, total),
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(pages)?, number(pages)?),
    };
    if first > last {
        return Err(bad("must have the first page before the last, like `3-5`".into()));
    }
    if first == 0 || first > total.max(1) {
        return Err(bad(Prose::ours(format_args!("must be within 1-{}", total.max(1)))));
    }
    Ok((first, last.min(total.max(1))))
}

impl DocumentFacts {
    /// What a model reads after the line about the file.
    pub(super) fn text(&self) -> String {
        let Self { unit, total, title, author, parts, next, .. } = self;
        let mut text = format!(", {total} {unit}{}", if *total == 1 { "" } else { "s" });
        if let Some(title) = title {
            text += &format!(", {}", quoted(title));
        }
        if let Some(author) = author {
            text += &format!(" by {}", quoted(author));
        }
        for ShownPart { number, label, link, text: shown } in parts {
            text += &format!("\n{unit} {number}");
            if let Some(label) = label {
                text += &format!(" {}", quoted(label));
            }
            if let Some(link) = link {
                text += &format!(" {}", quoted(link));
            }
            text += &format!("\n{}", fenced(shown));
        }
        match next {
            Some(NextPages { pages, from: Some(from) }) => text += &format!("\nMore: pages \"{pages}\", from {from}"),
            Some(NextPages { pages, from: None }) => text += &format!("\nMore: pages \"{pages}\""),
            None => {}
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(texts: &[(u32, usize)], total: u32) -> DocumentText {
        let part = |(number, bytes): &(u32, usize)| DocumentPart {
            number: *number,
            label: None,
            text: format!("{number}").repeat(*bytes),
        };
        DocumentText::of_parts(DocumentKind::Pdf, total, texts.iter().map(part).collect())
    }

    /// Every text is seen once, whatever the room, by following `next`.
    #[test]
    fn following_what_comes_next_shows_every_letter_once() {
        let document = document(&[(1, 100), (3, 9_000), (4, 70_000), (7, 30)], 8);
        for room in [200, 1_000, 10_000, MOST_TEXT] {
            let (mut pages, mut from, mut seen) = ("1-".to_owned(), 0, [0; 9]);
            for _ in 0..2_000 {
                let (first, last) = range(&pages, document.total).unwrap();
                let (shown, next) = selected(&document, first, last, from, room, None);
                assert!(!shown.is_empty());
                assert!(shown.iter().map(|part| part.text.len()).sum::<usize>() <= room.max(1));
                for part in &shown {
                    seen[part.number as usize] += part.text.len();
                }
                match next {
                    Some(next) => (pages, from) = (next.pages, next.from.unwrap_or_default()),
                    None => break,
                }
            }
            assert_eq!(seen, [0, 100, 0, 9_000, 70_000, 0, 0, 30, 0], "{room}");
        }
    }

    #[test]
    fn what_is_not_shown_is_explained() {
        let mut document = document(&[(1, 10), (2, 10)], 9);
        assert_eq!(notice(&document, 1, false), None);
        assert_eq!(notice(&document, 5, true).unwrap(), "There is no text there.");
        document.is_cut = true;
        assert!(notice(&document, 5, true).unwrap().contains("page 2 is the last that can be shown"));
        assert!(notice(&document, 1, false).unwrap().contains("in page 2 and after it"));
        let refusal = range("5-3", 9).unwrap_err();
        assert!(refusal.to_string().contains("the first page before the last"), "{refusal}");
    }

    #[test]
    fn pages_are_numbers_and_ranges() {
        assert_eq!(range("3", 9).unwrap(), (3, 3));
        assert_eq!(range(" 3 - 5", 9).unwrap(), (3, 5));
        assert_eq!(range("3-", 9).unwrap(), (3, 9));
        assert_eq!(range("8-20", 9).unwrap(), (8, 9));
        for wrong in ["", "0", "-3", "5-3", "10", "a", "1,2", "1-2-3", "99999999999"] {
            assert!(range(wrong, 9).is_err(), "{wrong}");
        }
    }
}
