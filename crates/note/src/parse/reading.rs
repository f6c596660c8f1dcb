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
        // Any character that starts no block.
        bytes[at] = b'.';
    }
    // Only ASCII characters were replaced, by ASCII, so this is still text.
    String::from_utf8(bytes).map_or(body, Cow::Owned)
}

/// Places of characters that must not start a block.
fn stops(body: &str) -> Vec<usize> {
    let mut stops = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let end = line_end(body, at);
        count_steps(end - at + 1);
        let line = &body[at..end];
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        // Further in, it is code.
        if indent < 4 && words.starts_with(['=', '-']) && is_no_underline(line) {
            stops.push(at + indent);
        }
        at = end + 1;
    }
    stops
}

/// An underline to the parser but not to Obsidian: it is surrounded by blanks. Three hyphens are a rule to both.
fn is_no_underline(line: &str) -> bool {
    let marks = line.trim_matches([' ', '\t']);
    marks.len() < line.len() && (marks == "--" || marks.bytes().all(|byte| byte == b'='))
}
