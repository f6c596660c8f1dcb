//! A line of a diff as markup: the changed words marked, and links to notes leading to them.

use std::{iter, ops::Range, time::Duration};

use lapidary_note::counted;
use similar::{DiffOp, TextDiff};

use crate::shown_text::{ShownText, push_marked};

/// The rest of a longer line is not shown.
const LONGEST_LINE: usize = 2_000;
/// Of a longer line, around each of its differences.
const SHORTEST_WINDOW: usize = 120;
// With the shortest windows this is two and a half times the longest line.
const MOST_WINDOWS: usize = 40;
/// Longer differing parts of lines are not compared by words.
const LONGEST_COMPARED: usize = 1 << 20;
/// Beyond this the comparison gets coarser instead of slower.
const PATIENCE: Duration = Duration::from_millis(100);

/// The address that a note's name leads to; empty if it leads nowhere.
pub(crate) type NoteAddress<'a> = &'a dyn Fn(&str) -> String;

/// A part of a line; a changed one has the tag that marks it.
pub(crate) struct LinePart<'t> {
    pub(crate) tag: Option<&'static str>,
    pub(crate) text: &'t str,
}

/// A line without marks, cut if it is too long.
pub(crate) fn plain_line(line: &str, address: NoteAddress<'_>) -> String {
    line_around(line, &[], address)
}

/// The same for a line that differs from the one beside it in these spans of bytes: what is left out never has a difference, unless
/// there are more than a page has room for.
pub(crate) fn line_around(line: &str, differs: &[Range<usize>], address: NoteAddress<'_>) -> String {
    let windows = windows(line, differs);
    let left_out = |part: &str| match part.chars().count() {
        0 => String::new(),
        count => format!("… ({} not shown)", counted(count, "character")),
    };
    let (mut parts, mut at) = (Vec::new(), 0);
    for window in windows {
        parts.push(left_out(&line[at..window.start]));
        parts.push(marked_line(&[LinePart { tag: None, text: &line[window.clone()] }], address));
        at = window.end;
    }
    parts.push(left_out(&line[at..]));
    // What is in a window is visible, so only differences past the last one are announced.
    if at < line.len() && differs.len() > MOST_WINDOWS {
        let more = counted(differs.len() - MOST_WINDOWS, "change");
        parts.push(format!("({more} among what is not shown)"));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// What is shown of a line: all of it if it is short, else its start or the neighbourhoods of its differences, in order and apart.
fn windows(line: &str, differs: &[Range<usize>]) -> Vec<Range<usize>> {
    let end_of =
        |start: usize, most: usize| line[start..].char_indices().nth(most).map_or(line.len(), |(at, _)| start + at);
    if end_of(0, LONGEST_LINE) == line.len() {
        return iter::once(0..line.len()).collect();
    }
    // One difference has the room of all.
    // The room is shared evenly, but a window that is too short shows no words around its difference.
    let most = (LONGEST_LINE / differs.len().max(1)).max(SHORTEST_WINDOW);
    let mut windows: Vec<Range<usize>> = Vec::new();
    for span in differs.iter().take(MOST_WINDOWS) {
        let from = line.floor_char_boundary(span.start.min(line.len()));
        // Some text before the difference shows where it is.
        let start = line[..from].char_indices().rev().nth(most / 4).map_or(0, |(at, _)| at);
        let end = end_of(start, most);
        // Windows that touch are joined, so that no character is shown twice.
        match windows.last_mut().filter(|before| start <= before.end) {
            Some(before) => before.end = before.end.max(end),
            None => windows.push(start..end),
        }
    }
    // A line that differs nowhere or was not compared: its start is all that can be shown of it.
    if windows.is_empty() {
        windows.push(0..end_of(0, LONGEST_LINE));
    }
    windows
}

/// Where two lines differ, in bytes of each: the places of both are in the same order. Found by words, or by what is common at both ends
/// if the lines are too long for that.
pub(crate) fn differences(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    differences_within(PATIENCE, old, new)
}

/// The same, with this much time for the comparison by words.
fn differences_within(patience: Duration, old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let common = |one: &mut dyn Iterator<Item = u8>, other: &mut dyn Iterator<Item = u8>| {
        one.zip(other).take_while(|(one, other)| one == other).count()
    };
    // The ends that both lines share are found in one pass, which leaves only the middle to the costly comparison.
    let before = common(&mut old.bytes(), &mut new.bytes());
    let rest = old.len().min(new.len()) - before;
    // The common end may not overlap the common start: in `aa` and `aaa` the same letters would count twice.
    let after = common(&mut old.bytes().rev(), &mut new.bytes().rev()).min(rest);
    // Bytes can agree in the middle of a character; both lines are cut at the same boundary before it.
    let start = old.floor_char_boundary(before).min(new.floor_char_boundary(before));
    let ends = (old.ceil_char_boundary(old.len() - after), new.ceil_char_boundary(new.len() - after));
    let (old_part, new_part) = (&old[start..ends.0.max(start)], &new[start..ends.1.max(start)]);
    if old_part.len().max(new_part.len()) > LONGEST_COMPARED {
        // The first and the last difference are known all the same.
        let both = |end: usize| vec![start..end.max(start), end.max(start)..end.max(start)];
        return (both(ends.0), both(ends.1));
    }
    let diff = TextDiff::configure().timeout(patience).diff_words(old_part, new_part);
    let (mut at, mut spans) = ((start, start), (Vec::new(), Vec::new()));
    for op in diff.ops() {
        let (_, old_words, new_words) = op.as_tag_tuple();
        let old_length: usize = old_words.filter_map(|word| diff.old_slice(word)).map(str::len).sum();
        let new_length: usize = new_words.filter_map(|word| diff.new_slice(word)).map(str::len).sum();
        if !matches!(op, DiffOp::Equal { .. }) {
            spans.0.push(at.0..at.0 + old_length);
            spans.1.push(at.1..at.1 + new_length);
        }
        at = (at.0 + old_length, at.1 + new_length);
    }
    spans
}

/// The parts of a line, with its links.
pub(crate) fn marked_line(parts: &[LinePart<'_>], address: NoteAddress<'_>) -> String {
    let line: String = parts.iter().map(|part| part.text).collect();
    let (mut html, mut at) = (String::with_capacity(line.len() + 16), 0);
    // Links are found in the whole line, because a change may begin in the middle of one.
    for NoteLink { span, name } in note_links(&line) {
        let address = address(&name);
        // In a file that is not a note, brackets do not make a link.
        if address.is_empty() {
            continue;
        }
        push_parts(&mut html, parts, at..span.start);
        // The address is made from the name of a note, which is text of others, so it is escaped like any.
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
    let length: usize = parts.iter().map(|part| part.text.len()).sum();
    // Counted over all parts: only blanks at the end of the whole line are invisible.
    let blanks: usize =
        parts.iter().rev().flat_map(|part| part.text.bytes().rev()).take_while(|byte| *byte == b' ').count();
    let ends = length - blanks;
    for LinePart { tag, text } in parts {
        let end = start + text.len();
        let (from, to) = (span.start.max(start), span.end.min(end));
        if from < to {
            let shown = ShownText::exact(&text[from - start..to - start], ends.saturating_sub(from));
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
        // None of these can be in a name that Obsidian links to.
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
        let around = long.len()..long.len() + 5;
        let html = line_around(&differs, std::slice::from_ref(&around), &address);
        assert!(html.starts_with("… (") && html.contains("é EVILé") && html.ends_with("not shown)"), "{html}");
    }

    #[test]
    fn what_cannot_be_seen_is_marked_and_passes_for_no_text() {
        assert_eq!(
            plain_line("a\tb \u{202e}c \\u202e  ", &address),
            "a<span class=\"odd\">→</span>\tb <span class=\"odd\">U+202E</span>c \\u202e\
             <span class=\"odd\">··</span>"
        );
        assert_eq!(plain_line("\u{1b}[31m", &address), "<span class=\"odd\">U+001B</span>[31m");
        // A joiner between emoji is part of what is seen.
        assert_eq!(plain_line("👩\u{200d}🔧 x", &address), "👩\u{200d}🔧 x");
        let parts = [LinePart { tag: None, text: "x " }, LinePart { tag: Some("ins"), text: " " }];
        assert_eq!(
            marked_line(&parts, &address),
            "x<span class=\"odd\">·</span><ins><span class=\"odd\">·</span></ins>"
        );
    }

    #[test]
    fn every_difference_of_a_long_line_is_shown_with_some_text_around() {
        let filler = "word ".repeat(2_000);
        let old = format!("{filler}first {filler}second {filler}third");
        let new = format!("{filler}1st {filler}2nd {filler}3");
        // However busy the machine is.
        let patience = Duration::from_secs(600);
        let (old_spans, new_spans) = differences_within(patience, &old, &new);
        let words = |line: &str, spans: &[Range<usize>]| {
            spans.iter().map(|span| line[span.clone()].trim().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words(&old, &old_spans), ["first", "second", "third"]);
        assert_eq!(words(&new, &new_spans), ["1st", "2nd", "3"]);
        let html = line_around(&new, &new_spans, &address);
        assert!(["word 1st word", "word 2nd word", "word 3"].iter().all(|part| html.contains(part)), "{html}");
        assert_eq!(html.matches("not shown").count(), 3, "{html}");
        assert!(html.len() < 3_000, "{}", html.len());
        // Parts that are too long for words: where they begin and where they end.
        let (one, other) = (" a".repeat(600_000), "b ".repeat(600_000) + "b");
        let html = line_around(&other, &differences(&one, &other).1, &address);
        assert!(html.starts_with("b b") && html.ends_with('b') && html.len() < 5_000, "{}", html.len());
        for (old, new) in [("", ""), ("ä", "ö"), ("aä", "a"), ("", "日本"), ("日本", "日木"), ("aaa", "aa")] {
            let (old_spans, new_spans) = differences(old, new);
            assert_eq!(old_spans.len(), new_spans.len());
            old_spans.iter().for_each(|span| assert!(old.get(span.clone()).is_some(), "{old} {new}"));
            new_spans.iter().for_each(|span| assert!(new.get(span.clone()).is_some(), "{old} {new}"));
        }
        let many: String = (0..50_000).map(|number| format!("w{number} ")).collect();
        let html = line_around(&many.replace("w", "v"), &differences(&many, &many.replace("w", "v")).1, &address);
        assert!(html.len() < 10_000, "{}", html.len());
        let all = ("word ".repeat(200) + "x ").repeat(60);
        let (_, spans) = differences_within(patience, &all, &all.replace('x', "y"));
        let html = line_around(&all.replace('x', "y"), &spans, &address);
        assert!(spans.len() == 60 && html.ends_with("(20 changes among what is not shown)"), "{}", spans.len());
    }
}
