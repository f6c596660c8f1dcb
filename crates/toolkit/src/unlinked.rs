//! Where notes name a note without a link to it.

use std::ops::Range;

use lapidary_note::{Note, shown_text};
use lapidary_operation::{Context, Reason};
use lapidary_query::{LetterCase, Pattern, PatternKind, PatternOptions};
use lapidary_vault::{VaultPath, VisibleFiles};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{backlinks::sentence_at, index, naming::title};

/// A place that names a note.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnlinkedMention {
    pub file: String,
    pub line: usize,
    /// The sentence around it, shortened.
    pub context: String,
}

/// More names of one note are not searched for.
const MOST_NAMES: usize = 16;
/// A single letter is in every text.
const SHORTEST_NAME: usize = 2;

/// The mentions of a note by its name or an alias, as words of their own and in any case, in path order. Links, code,
/// formulas, tags and properties are none.
pub fn find(
    context: &Context<'_>,
    files: &VisibleFiles,
    target: &VaultPath,
    aliases: &[String],
) -> Result<Vec<UnlinkedMention>, Reason> {
    let names = std::iter::once(title(target)).chain(aliases.iter().map(String::as_str));
    let names = names.filter(|name| name.chars().count() >= SHORTEST_NAME).take(MOST_NAMES);
    let patterns: Vec<Pattern> = names.filter_map(pattern).collect();
    let never = || false;
    let found = index::map_texts(context, files, |entry, bytes| {
        // Most notes have none of the names, and are not parsed.
        let is_other = entry.path() != target;
        let is_named = || patterns.iter().any(|pattern| pattern.lines(bytes, &never).next().is_some());
        (is_other && is_named()).then(|| in_note(entry.path(), &shown_text(bytes), &patterns))
    })?;
    Ok(found.into_iter().flatten().collect())
}

fn pattern(name: &str) -> Option<Pattern> {
    // Some scripts put no blanks between words.
    let is_unspaced =
        |c: char| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}');
    let whole_word = !name.chars().any(is_unspaced);
    let options = PatternOptions { kind: PatternKind::Literal, case: LetterCase::Insensitive, whole_word, nfc: true };
    Pattern::compile(name, &options).ok()
}

fn in_note(path: &VaultPath, text: &str, patterns: &[Pattern]) -> Vec<UnlinkedMention> {
    let note = Note::parse(text);
    let linked = note.links.iter().map(|link| link.span.clone());
    let spans = linked
        .chain(note.definitions.iter().map(|definition| definition.span.clone()))
        .chain(note.code.iter().map(|code| code.span.clone()))
        .chain(note.math.iter().map(|math| math.span.clone()))
        .chain(note.tags.iter().map(|tag| tag.span.clone()))
        .chain(note.frontmatter.iter().map(|block| block.span.clone()));
    let mut covered: Vec<Range<usize>> = spans.collect();
    covered.sort_by_key(|span| span.start);
    let never = || false;
    let mut found: Vec<UnlinkedMention> = Vec::new();
    for pattern in patterns {
        for line in pattern.lines(text.as_bytes(), &never) {
            let is_free = |at: &Range<usize>| {
                let at = line.span.start + at.start;
                // The last that begins before it may still be outdone by a longer one, so all up to it count.
                let before = covered.partition_point(|span| span.start <= at);
                !covered[..before].iter().rev().any(|span| span.end > at)
            };
            if let Some(place) = line.matches.iter().find(|at| is_free(at))
                && let Some(words) = text.get(line.span.clone())
                && let Some(context) = sentence_at(words, place.start, path.as_str())
                && found.iter().all(|known| known.line != line.number)
            {
                found.push(UnlinkedMention { file: path.to_string(), line: line.number, context });
            }
        }
    }
    found.sort_by_key(|mention| mention.line);
    found
}
