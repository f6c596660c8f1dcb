//! Words in notes and in their names.

use std::{cmp::Reverse, ops::Range};

use lapidary_note::shown_text;
use lapidary_operation::{Context, ReadTool, Reason, quote::Prose};
use lapidary_query::{SimpleMatches, SimpleQuery};
use lapidary_toolkit::{cursor::PageCursor, index, naming, page::ListPage, query_text::check_length};
use lapidary_vault::{VaultPath, View};

use super::{
    Input, ObsidianSearchNotes,
    hits::{HitMatch, MatchPlace, SearchHit, USUAL_MATCHES},
};

/// A note that contains all words.
struct TextNote {
    path: VaultPath,
    in_name: bool,
    matches: usize,
}

/// How many notes there are, and those of one page: name matches first, then the most matches.
pub(super) fn search(
    context: &Context<'_>,
    view: &View,
    query: &str,
    input: &Input,
    cursor: PageCursor,
) -> Result<(usize, Vec<SearchHit>), Reason> {
    // Every word is compiled, and searched in every note.
    check_length(ObsidianSearchNotes::DECLARATION.name, query)?;
    let query = SimpleQuery::parse(query)
        .map_err(|error| Reason::bad_argument(ObsidianSearchNotes::DECLARATION.name, "query", Prose::ours(error)))?;
    let go_on = || context.cancel.check().is_ok();
    let prefix = input.path_prefix.as_deref().unwrap_or_default();
    let files = index::files_to_search(context, view)?;
    let look = |path: &VaultPath, text: &str| query.find(naming::title(path), text, &|| !go_on());
    let mut found = index::map_texts(context, files, |entry, bytes| {
        let path = entry.path();
        // The prefix first, as it is cheaper than the text.
        let matches = path.as_str().starts_with(prefix).then(|| look(path, &shown_text(bytes)))??;
        let SimpleMatches { in_name, in_text } = matches;
        Some(TextNote { path: path.clone(), in_name: !in_name.is_empty(), matches: in_name.len() + in_text.len() })
    })?;
    context.check()?;
    // By path at the end, so that pages do not overlap.
    found.sort_by(|a, b| (!a.in_name, Reverse(a.matches), &a.path).cmp(&(!b.in_name, Reverse(b.matches), &b.path)));
    let page = ListPage::of(found, cursor.offset, cursor.limit);
    let mut hits = Vec::with_capacity(page.items.len());
    // Only the notes of this page are read again for their context; keeping all texts would take too much memory.
    for found in &page.items {
        context.check()?;
        // It existed a moment ago; if it no longer does, the hit has nothing to show.
        let file = view.read(&found.path).ok();
        let text = shown_text(file.as_ref().map_or(&[][..], |file| file.bytes()));
        let matches = look(&found.path, &text).unwrap_or_default();
        hits.push(hit(&found.path, &text, &matches, input));
    }
    Ok((page.total, hits))
}

fn hit(path: &VaultPath, text: &str, matches: &SimpleMatches, input: &Input) -> SearchHit {
    let total = matches.in_name.len() + matches.in_text.len();
    let name = naming::title(path);
    let in_name = matches.in_name.iter().map(|span| shown(name, span, input.context_length, Some("filename")));
    let in_text = matches.in_text.iter().map(|span| shown(text, span, input.context_length, None));
    let shown: Vec<HitMatch> =
        in_name.chain(in_text).take(input.max_matches_per_hit.unwrap_or(USUAL_MATCHES)).collect();
    let truncated = shown.len() < total;
    SearchHit::Text { filename: path.to_string(), matches: shown, total_matches: truncated.then_some(total), truncated }
}

/// A match with some characters on either side.
fn shown(text: &str, span: &Range<usize>, around: usize, source: Option<&'static str>) -> HitMatch {
    let before = text[..span.start].char_indices().rev().take(around).last().map_or(span.start, |(at, _)| at);
    let after = text[span.end..].char_indices().nth(around).map_or(text.len(), |(at, _)| span.end + at);
    // The format counts as JavaScript does.
    let units = |part: &str| part.encode_utf16().count();
    let (start, context_start) = (units(&text[..span.start]), units(&text[before..span.start]));
    let length = units(&text[span.clone()]);
    let place = MatchPlace { start, end: start + length, context_start, context_end: context_start + length, source };
    HitMatch { context: text[before..after].to_owned(), r#match: place }
}
