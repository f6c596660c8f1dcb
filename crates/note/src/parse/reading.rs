//! Where Obsidian sees different blocks than the Markdown parser, the parser is given different characters.

use std::borrow::Cow;

use crate::{count_steps, span::line_end};

/// The body in which the parser finds the same blocks as Obsidian. Every character stays in its place.
pub(super) fn read_as_obsidian(body: Cow<'_, str>) -> Cow<'_, str> {
    let stops = stops(&body);
    if stops.is_empty() {
        return body;
    }
    let mut bytes = body.as_bytes().to_vec();
    for at in stops {
        bytes[at] = b'.';
    }
    // Only ASCII characters were replaced, by ASCII, so this is still text.
    String::from_utf8(bytes).map_or(body, Cow::Owned)
}

/// Places of characters that must not start a block.
fn stops(body: &str) -> Vec<usize> {
    let mut stops = Vec::new();
    let (mut at, mut after_blank) = (0, true);
    while at < body.len() {
        let end = line_end(body, at);
        count_steps(end - at + 1);
        let line = &body[at..end];
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        if indent < 4 {
            if words.starts_with(['=', '-']) && is_no_underline(line) {
                stops.push(at + indent);
            } else if after_blank && is_whole_html(words) && body.get(end + 1..).is_some_and(is_underlined) {
                // Underlined text is a heading before it is HTML.
                stops.push(at + indent);
            }
        }
        after_blank = line.trim_matches([' ', '\t']).is_empty();
        at = end + 1;
    }
    stops
}

/// An underline to the parser but not to Obsidian: it is surrounded by blanks. Three hyphens are a rule to both.
fn is_no_underline(line: &str) -> bool {
    let marks = line.trim_matches([' ', '\t']);
    marks.len() < line.len() && (marks == "--" || marks.bytes().all(|byte| byte == b'='))
}

/// HTML that ends on its line. An unclosed one would hide the following text wherever the note is shown.
fn is_whole_html(line: &str) -> bool {
    line.starts_with('<') && line.contains(if line.starts_with("<!--") { "-->" } else { ">" })
}

/// Whether the first line is an underline.
fn is_underlined(rest: &str) -> bool {
    let line = &rest[..line_end(rest, 0)];
    !line.is_empty() && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}
