//! A line of a diff as markup: the changed words marked, and links to notes leading to them.

use std::ops::Range;

use lapidary_note::counted;

use crate::shown_text::{ShownText, push_marked};

/// The rest of a longer line is not shown.
const LONGEST_LINE: usize = 2_000;

/// The address that a note's name leads to; empty if it leads nowhere.
pub(crate) type NoteAddress<'a> = &'a dyn Fn(&str) -> String;

/// A part of a line; a changed one has the tag that marks it.
pub(crate) struct LinePart<'t> {
    pub(crate) tag: Option<&'static str>,
    pub(crate) text: &'t str,
}

/// A line without marks, cut if it is too long.
pub(crate) fn plain_line(line: &str, address: NoteAddress<'_>) -> String {
    line_around(line, 0, address)
}

/// The same for a line that differs from the one beside it from a byte on: what is cut off never has the first difference.
pub(crate) fn line_around(line: &str, differs: usize, address: NoteAddress<'_>) -> String {
    let differs = line.floor_char_boundary(differs);
    let is_long = line.char_indices().nth(LONGEST_LINE).is_some();
    // Some text before the difference shows where it is.
    let before = line[..differs].char_indices().rev().nth(LONGEST_LINE / 4).map(|(at, _)| at);
    let start = before.filter(|_| is_long).unwrap_or_default();
    let end = line[start..].char_indices().nth(LONGEST_LINE).map_or(line.len(), |(at, _)| start + at);
    let left_out = |part: &str| match part.chars().count() {
        0 => String::new(),
        count => format!("… ({} not shown)", counted(count, "character")),
    };
    let (head, tail) = (left_out(&line[..start]), left_out(&line[end..]));
    let html = marked_line(&[LinePart { tag: None, text: &line[start..end] }], address);
    [head, html, tail].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The parts of a line, with its links.
pub(crate) fn marked_line(parts: &[LinePart<'_>], address: NoteAddress<'_>) -> String {
    let line: String = parts.iter().map(|part| part.text).collect();
    let (mut html, mut at) = (String::with_capacity(line.len() + 16), 0);
    for NoteLink { span, name } in note_links(&line) {
        let address = address(&name);
        // In a file that is not a note, brackets do not make a link.
        if address.is_empty() {
            continue;
        }
        push_parts(&mut html, parts, at..span.start);
        html.push_str(&format!("<a href=\"{}\">", ShownText::line(&address)));
        push_parts(&mut html, parts, span.clone());
        html.push_str("</a>");
        at = span.end;
    }
    push_parts(&mut html, parts, at..line.len());
    html
}

/// What of the parts is in this span of the line.
fn push_parts(html: &mut String, parts: &[LinePart<'_>], span: Range<usize>) {
    let mut start = 0;
    for LinePart { tag, text } in parts {
        let end = start + text.len();
        let (from, to) = (span.start.max(start), span.end.min(end));
        if from < to {
            let shown = ShownText::line(&text[from - start..to - start]);
            match tag {
                Some(tag) => push_marked(html, tag, &shown),
                None => html.push_str(&shown.to_string()),
            }
        }
        start = end;
    }
}

struct NoteLink {
    span: Range<usize>,
    name: String,
}

/// `[[Name#Heading|words]]`. Other links may lead out of the vault, and stay text.
fn note_links(line: &str) -> Vec<NoteLink> {
    let (mut links, mut from) = (Vec::new(), 0);
    while let Some(open) = line[from..].find("[[").map(|at| from + at) {
        let Some(length) = line[open..].find("]]") else { break };
        let end = open + length + 2;
        let inside = &line[open + 2..end - 2];
        let name = inside.split(['|', '#', '^']).next().unwrap_or_default().trim();
        // The innermost brackets are the link.
        if let Some(inner) = inside.rfind("[[") {
            from = open + 2 + inner;
            continue;
        }
        if !name.is_empty() {
            links.push(NoteLink { span: open..end, name: name.to_owned() });
        }
        from = end;
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(name: &str) -> String {
        format!("obsidian:{name}")
    }

    #[test]
    fn links_to_notes_lead_there_also_where_words_of_them_changed() {
        let parts = [
            LinePart { tag: None, text: "see [[My " },
            LinePart { tag: Some("ins"), text: "New" },
            LinePart { tag: None, text: " Note#Part|it]] & [[#here]] [[a]][[b" },
        ];
        assert_eq!(
            marked_line(&parts, &address),
            "see <a href=\"obsidian:My New Note\">[[My <ins>New</ins> Note#Part|it]]</a> &amp; [[#here]] \
             <a href=\"obsidian:a\">[[a]]</a>[[b"
        );
        assert_eq!(plain_line("[[approval.rules]]", &|_| String::new()), "[[approval.rules]]");
        assert_eq!(plain_line("x [[[[a]] y", &address), "x [[<a href=\"obsidian:a\">[[a]]</a> y");
        assert_eq!(plain_line("[x](https://example.com) ]] [[", &address), "[x](https://example.com) ]] [[");
    }

    #[test]
    fn a_link_is_never_more_than_a_link() {
        let hostile = "[[a\"><script>alert(1)</script>]] [[javascript:alert(1)]]";
        let html = plain_line(hostile, &|name| name.to_owned());
        assert!(!html.contains("<script") && !html.contains("\"><"), "{html}");
        let long = "é".repeat(3_000);
        assert!(plain_line(&long, &address).ends_with("é … (1000 characters not shown)"));
        let differs = format!("{long} EVIL{long}");
        let html = line_around(&differs, long.len(), &address);
        assert!(html.starts_with("… (") && html.contains("é EVILé") && html.ends_with("not shown)"), "{html}");
    }
}
