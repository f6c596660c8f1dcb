//! Which files link to a file, and in what words.

use std::ops::Range;

use lapidary_operation::{Context, Reason};
use lapidary_vault::{Backlink as FoundLink, VaultPath, VisibleFiles};
use schemars::JsonSchema;
use serde::Serialize;

use crate::link::{LinkWord, OutLink, canvas_links};

// A link to a file from another. Not a doc comment, because that would be in the schema of a tool.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BackLink {
    pub file: String,
    pub line: usize,
    pub kind: LinkWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The heading or block that it points to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subpath: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The sentence around it, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

/// The room for the name of a file and the words around a link, and the minimum for the words if the name is long.
const LINE_BYTES: usize = 105;
const LEAST_WORDS: usize = 30;

/// The links to a file from notes and canvases, in path order. Links on canvases already have their words.
pub fn find(context: &Context<'_>, files: &VisibleFiles, target: &VaultPath) -> Result<Vec<BackLink>, Reason> {
    let go_on = || context.cancel.check().is_ok();
    let refused = |error| Reason::from_index(&error, context.cancel);
    let mut found: Vec<BackLink> = Vec::new();
    for backlink in files.find_backlinks(target, &go_on).map_err(refused)? {
        found.push(BackLink::from(backlink));
    }
    for (source, text) in files.canvases_mentioning(target, &go_on).map_err(refused)? {
        for card in canvas_links(&text, &source, files) {
            if card.link.path.as_deref() == Some(target.as_str()) {
                let words = words(&card.line, &card.link, source.as_str());
                found.push(backlink_of(&source, card.link, words));
            }
        }
    }
    // Stable, so the links of one file stay in their order.
    found.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

impl From<FoundLink<'_>> for BackLink {
    fn from(FoundLink { source, link }: FoundLink<'_>) -> Self {
        Self {
            file: source.to_string(),
            line: link.line,
            kind: LinkWord::of(link.kind, link.embed, link.subpath),
            alias: link.alias.map(str::to_owned),
            subpath: link.subpath.map(str::to_owned),
            property: link.property.map(str::to_owned),
            context: None,
        }
    }
}

fn backlink_of(source: &VaultPath, link: OutLink, context: Option<String>) -> BackLink {
    let subpath = match (link.heading, link.block_id) {
        (Some(heading), _) => Some(format!("#{heading}")),
        (None, Some(id)) => Some(format!("#^{id}")),
        (None, None) => None,
    };
    let alias = link.alias.or(link.text);
    BackLink {
        file: source.to_string(),
        line: link.line,
        kind: link.kind,
        alias,
        subpath,
        property: link.property,
        context,
    }
}

fn words(line: &str, link: &OutLink, file: &str) -> Option<String> {
    let named = [link.alias.as_deref(), link.text.as_deref(), Some(link.target.as_str())];
    shortened(line, &named.into_iter().flatten().collect::<Vec<_>>(), file)
}

/// Adds the sentence around each link.
pub fn put_sentences(files: &VisibleFiles, target: &VaultPath, backlinks: &mut [BackLink]) {
    let stem = target.name().rsplit_once('.').map_or(target.name(), |(stem, _)| stem);
    // Links of one note follow each other, so one text is kept at a time.
    let mut at_hand: Option<(String, Option<String>)> = None;
    for backlink in &mut *backlinks {
        if backlink.context.is_some() || backlink.file.ends_with(".canvas") {
            continue;
        }
        if at_hand.as_ref().is_none_or(|(file, _)| *file != backlink.file) {
            let text = VaultPath::parse(&backlink.file).ok().and_then(|path| files.shown_text(&path));
            at_hand = Some((backlink.file.clone(), text));
        }
        let text = at_hand.as_ref().and_then(|(_, text)| text.as_deref()).unwrap_or_default();
        let line = text.lines().nth(backlink.line.saturating_sub(1)).unwrap_or_default();
        let named: Vec<&str> = backlink.alias.as_deref().into_iter().chain([stem]).collect();
        backlink.context = shortened(line, &named, &backlink.file).filter(|words| !is_one_embed(words));
    }
    // A sentence with two links is said once.
    for at in (1..backlinks.len()).rev() {
        let (one, next) = (&backlinks[at - 1], &backlinks[at]);
        if (&one.file, one.line, &one.context) == (&next.file, next.line, &next.context) {
            backlinks[at].context = None;
        }
    }
}

/// Whether the words are an embed alone: that says nothing new.
fn is_one_embed(words: &str) -> bool {
    let inner = words.strip_prefix("![[").and_then(|rest| rest.strip_suffix("]]"));
    inner.is_some_and(|inner| !inner.contains("]]"))
}

/// The sentence of a line that contains one of these names, or as much as fits.
fn shortened(line: &str, named: &[&str], file: &str) -> Option<String> {
    let line = unmarked(line);
    let lower = line.to_lowercase();
    let places = |name: &&str| {
        let places: Vec<usize> = lower.match_indices(&name.to_lowercase()).map(|(at, _)| at).collect();
        places.iter().copied().find(|at| is_in_link(&lower[..*at])).or_else(|| places.first().copied())
    };
    // Lower case may have another length in bytes, and the places would not fit.
    let found = named.iter().find_map(places).filter(|_| lower.len() == line.len());
    words_around(line, found.unwrap_or_default(), file)
}

/// A line without the marks of lists, quotes and tasks, which say nothing about a link.
fn unmarked(line: &str) -> &str {
    let line =
        line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '+' | '>' | '#')).trim_end();
    line.strip_prefix("[ ] ").or_else(|| line.strip_prefix("[x] ")).unwrap_or(line)
}

/// The sentence at a place of a line, or as much as fits.
pub(crate) fn sentence_at(line: &str, at: usize, file: &str) -> Option<String> {
    let text = unmarked(line);
    let skipped = line.find(text).unwrap_or_default();
    words_around(text, at.saturating_sub(skipped), file)
}

fn words_around(line: &str, at: usize, file: &str) -> Option<String> {
    let at = line.floor_char_boundary(at);
    let room = LINE_BYTES.saturating_sub(file.len()).max(LEAST_WORDS);
    let sentence = sentence(line, at);
    // A third before the link, as what follows it usually says more.
    let start = if sentence.len() <= room { sentence.start } else { sentence.start.max(at.saturating_sub(room / 3)) };
    let start = line.floor_char_boundary(start);
    let end = line.floor_char_boundary(sentence.end.min(start + room));
    let words = line[start..end].trim();
    let (before, after) = (if start > sentence.start { "…" } else { "" }, if end < sentence.end { "…" } else { "" });
    (!words.is_empty()).then(|| format!("{before}{words}{after}"))
}

/// Whether a line cut at this point ends inside a link: the name may also occur in the words before it.
fn is_in_link(before: &str) -> bool {
    match before.rfind("[[") {
        Some(open) if before.rfind("]]").is_none_or(|close| close < open) => true,
        _ => before.ends_with(['(', '<', '/', '[']),
    }
}

/// The sentence around a place in a line.
fn sentence(line: &str, at: usize) -> Range<usize> {
    let ends = |(place, c): (usize, char)| {
        let after = place + c.len_utf8();
        let ends = match c {
            // A point within a number, a name or an address ends nothing.
            '.' | '!' | '?' => line[after..].starts_with(' '),
            '。' | '！' | '？' => true,
            _ => false,
        };
        ends.then_some(after)
    };
    let start = line[..at].char_indices().filter_map(ends).next_back().unwrap_or(0);
    let end = line[at..].char_indices().find_map(|(place, c)| ends((at + place, c))).unwrap_or(line.len());
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_shown_in_its_sentence_within_the_room_there_is() {
        let shown = |line: &str| shortened(line, &["Plan"], "a.md").unwrap();
        assert_eq!(shown("- [ ] Cut it. See [[Plan]] for that! Then rest."), "See [[Plan]] for that!");
        assert_eq!(shown("石を切る。[[plan]]を見る。休む。"), "[[plan]]を見る。");
        let long = shown(&format!("{} [[Plan]] {}", "before ".repeat(40), "after ".repeat(40)));
        assert!(
            long.len() < 115 && long.contains("[[Plan]]") && long.starts_with('…') && long.ends_with('…'),
            "{long}"
        );
        let twice = shown(&format!("The plan {} is [[Plan]]", "of old ".repeat(30)));
        assert!(twice.ends_with("is [[Plan]]"), "the link and not the word: {twice}");
        assert_eq!(shortened("", &["Plan"], "a.md"), None);
    }
}
