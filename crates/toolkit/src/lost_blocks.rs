//! Block ids that a change loses. The executor asks once for every change, whichever tool planned it.

use std::collections::BTreeSet;

use lapidary_note::{LinkPlace, Note, shown_text};
use lapidary_operation::{
    Context, Reason,
    quote::{quoted, quoted_path},
};
use lapidary_vault::{Change, ChangeSet, VaultPath, View};

use crate::link::{canvas_links, out_links};

/// How many ids a notice names.
const NAMED_IDS: usize = 5;

/// An id that named a block before a change and names none after it.
struct LostId<'c> {
    path: &'c VaultPath,
    id: String,
    /// How many links still lead to it.
    links: usize,
}

/// The notice about ids that no longer name a block, although links lead to them or they are still in the text: text
/// that follows an id takes it from its block. An id that is removed with its block, and that no link uses, is not
/// worth a word.
pub fn notice(context: &Context<'_>, view: &View, changes: &ChangeSet) -> Result<Option<String>, Reason> {
    let mut lost: Vec<LostId<'_>> = Vec::new();
    // Made for the first lost id: there is rarely one, and it may have to wait for the index.
    let mut planned: Option<View> = None;
    for change in &changes.changes {
        // Only a write can lose an id: a note that is moved or deleted keeps or loses all of them.
        let Change::Write { path, before, content, .. } = change else { continue };
        // Most notes have no caret at all.
        if !path.is_note() || !before.content.bytes().contains(&b'^') {
            continue;
        }
        let before = shown_text(before.content.bytes());
        if !before.lines().any(may_end_with_id) {
            continue;
        }
        context.check()?;
        let after = shown_text(content.bytes());
        let after = Note::parse(&after);
        // Ids are compared without case, as Obsidian does.
        let ids: BTreeSet<String> =
            Note::parse(&before).blocks.iter().map(|block| block.id.to_ascii_lowercase()).collect();
        for id in ids.into_iter().filter(|id| after.find_block(id).is_none()) {
            // With the change in it: links that the same change removes no longer count.
            let planned = planned.get_or_insert_with(|| view.with(changes));
            let links = links_to(context, planned, path, &after, &id)?;
            let stays_in_text = || after.text.lines().any(|line| contains_marker(line, &id));
            if links > 0 || stays_in_text() {
                lost.push(LostId { path, id, links });
            }
        }
    }
    Ok(told(&lost, changes.changes.len() > 1))
}

fn told(lost: &[LostId<'_>], several_files: bool) -> Option<String> {
    let shown = |LostId { path, id, links }: &LostId<'_>| {
        let file = if several_files { format!(" in {}", quoted_path(path)) } else { String::new() };
        let links = match links {
            0 => String::new(),
            1 => " (1 link leads to it)".to_owned(),
            links => format!(" ({links} links lead to it)"),
        };
        format!("{}{file}{links}", quoted(&format!("^{id}")))
    };
    match lost {
        [] => None,
        [only] => Some(format!("No longer the id of a block: {}.", shown(only))),
        several => {
            let names: Vec<String> = several.iter().take(NAMED_IDS).map(shown).collect();
            let more = several.len().saturating_sub(NAMED_IDS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Some(format!("No longer ids of blocks: {}{more}.", names.join(", ")))
        }
    }
}

/// A quick check that spares most notes the parse.
fn may_end_with_id(line: &str) -> bool {
    let line = line.trim_end();
    // An id is at the end of its line.
    let before = line.trim_end_matches(is_of_id);
    before.len() < line.len() && before.ends_with('^')
}

fn is_of_id(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

/// Whether a line has `^id` as a word. In a link to it, a `#` is before the caret.
fn contains_marker(line: &str, id: &str) -> bool {
    let line = line.to_ascii_lowercase();
    line.match_indices(&format!("^{id}")).any(|(at, marker)| {
        !line[at + marker.len()..].starts_with(is_of_id) && line[..at].chars().next_back().is_none_or(|c| c != '#')
    })
}

/// How many links lead to an id after the change: in the note itself, other notes and canvases.
fn links_to(
    context: &Context<'_>,
    planned: &View,
    path: &VaultPath,
    note: &Note<'_>,
    id: &str,
) -> Result<usize, Reason> {
    let go_on = || context.cancel.check().is_ok();
    let refused = |error| Reason::from_index(&error, context.cancel);
    let files = planned.files(&go_on).map_err(refused)?;
    let names_block = |named: Option<&str>| named.is_some_and(|named| named.eq_ignore_ascii_case(id));
    // Backlinks are those of other notes.
    let own = out_links(note, path, files);
    let own = own.iter().filter(|link| link.path.as_deref() == Some(path.as_str()));
    let mut links = own.filter(|link| names_block(link.block_id.as_deref())).count();
    for backlink in files.find_backlinks(path, &go_on).map_err(refused)? {
        let place = backlink.link.subpath.map(LinkPlace::of);
        links += usize::from(matches!(place, Some(LinkPlace::Block(named)) if names_block(Some(named))));
    }
    for (source, text) in files.canvases_mentioning(path, &go_on).map_err(refused)? {
        let cards = canvas_links(&text, &source, files);
        let here = cards.iter().filter(|card| card.link.path.as_deref() == Some(path.as_str()));
        links += here.filter(|card| names_block(card.link.block_id.as_deref())).count();
    }
    Ok(links)
}
