//! A note in which a mark stands for everything that the Markdown parser does not know or reads in another way than Obsidian.

use std::ops::Range;

use lapidary_note::{EmbedSize, FootnoteKind, Link, LinkKind, Note};

/// What a mark stands for.
pub(super) enum InsertedMark {
    Text(String),
    /// The box of a task, and whether it is done.
    Task(bool),
    Formula {
        text: String,
        stands_alone: bool,
    },
    Footnote(String),
    Embed(EmbedMark),
}

pub(super) struct EmbedMark {
    /// As it is in the note.
    pub(super) written: String,
    /// What a reader sees if there is nothing in its place.
    pub(super) shown: String,
    pub(super) target: String,
    pub(super) place: Option<String>,
    pub(super) alt: String,
    pub(super) size: Option<EmbedSize>,
}

pub(super) struct MarkedText {
    /// The body without properties, comments and block ids.
    pub(super) text: String,
    marks: Vec<InsertedMark>,
}

/// Around the number of a mark. Unicode reserves them for use within a program; of a note they are left out.
const OPEN: char = '\u{fdd0}';
const CLOSE: char = '\u{fdd1}';

impl MarkedText {
    pub(super) fn of(note: &Note<'_>) -> Self {
        let text = note.text;
        let start = note.frontmatter.as_ref().map_or(0, |block| block.span.end);
        // What is replaced, and by which mark; by nothing for a part that is left out.
        let mut edits: Vec<(Range<usize>, Option<InsertedMark>)> = Vec::new();
        // Obsidian shows neither comments nor the ids of blocks.
        edits.extend(note.comments.iter().map(|comment| (comment.span.clone(), None)));
        edits.extend(note.blocks.iter().map(|block| (block.marker.clone(), None)));
        // A note that has these characters could otherwise name marks that are not its own.
        edits.extend(text.match_indices([OPEN, CLOSE]).map(|(at, mark)| (at..at + mark.len(), None)));
        for math in &note.math {
            // The parser would take signs in a formula for emphasis or escapes.
            let formula = unquoted(&text[math.content.clone()]);
            edits.push((math.span.clone(), Some(InsertedMark::Formula { text: formula, stands_alone: math.display })));
        }
        for task in &note.tasks {
            edits.push((task.checkbox.clone(), Some(InsertedMark::Task(task.is_completed()))));
        }
        for footnote in note.footnotes.iter().filter(|footnote| footnote.kind == FootnoteKind::Inline) {
            // `^[text]` is Obsidian's; the parser only knows footnotes with labels.
            let content = footnote.content.clone().map_or("", |content| &text[content]);
            edits.push((footnote.span.clone(), Some(InsertedMark::Footnote(content.to_owned()))));
        }
        edits.extend(note.links.iter().filter_map(|link| Some((link.span.clone(), Some(link_mark(note, link)?)))));
        // Whatever begins first has everything in it; a comment has no formula.
        edits.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        let mut marked = Self { text: String::with_capacity(text.len()), marks: Vec::new() };
        let mut at = start;
        for (span, mark) in edits {
            // Inside of what was replaced before, or in the properties.
            if span.start < at || span.end > text.len() {
                continue;
            }
            marked.text.push_str(&text[at..span.start]);
            if let Some(mark) = mark {
                marked.text.push_str(&format!("{OPEN}{}{CLOSE}", marked.marks.len()));
                marked.marks.push(mark);
            } else if marked.text.ends_with(' ') && text[span.end..].starts_with(['\n', ' ']) {
                // The blank in front of a block id belongs to it.
                marked.text.pop();
            }
            at = span.end;
        }
        marked.text.push_str(&text[at.min(text.len())..]);
        marked
    }

    /// A text of the parser, with the marks in it.
    pub(super) fn pieces<'m, 't>(&'m self, text: &'t str) -> impl Iterator<Item = Result<&'t str, &'m InsertedMark>> {
        let mut rest = text;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let Some(start) = rest.find(OPEN) else { return Some(Ok(std::mem::take(&mut rest))) };
            if start > 0 {
                let (before, mark) = rest.split_at(start);
                rest = mark;
                return Some(Ok(before));
            }
            let inner = &rest[OPEN.len_utf8()..];
            let (number, behind) = inner.split_once(CLOSE).unwrap_or((inner, ""));
            rest = behind;
            // A number that was cut by the parser shows nothing.
            Some(number.parse().ok().and_then(|number: usize| self.marks.get(number)).map_or(Ok(""), Err))
        })
    }
}

/// Links that the parser does not read: those in double brackets, and everything that is shown in place.
fn link_mark(note: &Note<'_>, link: &Link) -> Option<InsertedMark> {
    let text = note.text;
    // Of a link by reference, the definition has the address.
    let followed = note.definition_of(link).map(|definition| definition.followed_by(link));
    let link = followed.as_ref().unwrap_or(link);
    if !link.embed {
        return (link.kind == LinkKind::Wiki).then(|| InsertedMark::Text(shown(text, link)));
    }
    // A picture of the web is a link to it.
    if !link.internal {
        return None;
    }
    let alias = link.alias.clone().map_or("", |alias| text[alias].trim());
    Some(InsertedMark::Embed(EmbedMark {
        written: text[link.span.clone()].to_owned(),
        shown: shown(text, link),
        target: link.target(text).into_owned(),
        place: link.decoded_subpath(text).map(|place| place.into_owned()),
        alt: alias.to_owned(),
        size: link.size.clone(),
    }))
}

/// What the app shows for a link.
fn shown(text: &str, link: &Link) -> String {
    // As Obsidian shows it: the alias, or else the path and the headings with `>` between them.
    if let Some(alias) = link.alias.clone().map(|alias| text[alias].trim()).filter(|alias| !alias.is_empty()) {
        return alias.to_owned();
    }
    let target = link.target(text);
    let place = link.decoded_subpath(text).unwrap_or_default();
    let parts = place.split('#').map(str::trim).filter(|part| !part.is_empty());
    let parts = std::iter::once(target.trim()).filter(|target| !target.is_empty()).chain(parts);
    parts.collect::<Vec<_>>().join(" > ")
}

/// The lines of a formula without the marks of a quote around it.
fn unquoted(content: &str) -> String {
    let line = |line: &str| line.trim().trim_start_matches(['>', ' ']).to_owned();
    match content.contains('\n') {
        true => content.lines().map(line).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"),
        false => content.trim().to_owned(),
    }
}
