//! Quote marks and callout titles.

use super::marker::BlockMarker;

/// The quote with another content. The title line of a callout stays if the content comes without quote marks.
pub(super) fn replaced(old: &str, content: &str, marker: &BlockMarker<'_>) -> String {
    let first = old[..old.len() - marker.tail.len() - marker.rest.len()].lines().next().unwrap_or_default();
    let (prefix, title) = split(first);
    let given_marks = content.trim_start_matches(' ').starts_with('>');
    let mut new = String::with_capacity(content.len() + old.len());
    let mut line_up = |line: &str| {
        if !new.is_empty() {
            new.push('\n');
        }
        new += if line.is_empty() { prefix.trim_end() } else { prefix };
        new += line;
    };
    if !given_marks && is_title(title) && !is_title(content) {
        line_up(title);
    }
    for line in content.split('\n') {
        line_up(if given_marks { split(line).1 } else { line });
    }
    new + marker.tail + marker.rest
}

/// The quote mark of a line with the space after it, and what it quotes.
pub(super) fn split(line: &str) -> (&str, &str) {
    let rest = line.trim_start_matches(' ');
    let rest = rest.strip_prefix('>').map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest));
    line.split_at(line.len() - rest.len())
}

/// Whether the start of a quote makes it a callout.
pub(super) fn is_title(words: &str) -> bool {
    words.starts_with("[!")
}
