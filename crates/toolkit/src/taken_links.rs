//! Links that a new file takes over from another of its name. The executor asks once for every change, whichever tool
//! planned it.

use std::collections::BTreeMap;

use lapidary_note::counted;
use lapidary_operation::{Context, Reason, quote::quoted_path};
use lapidary_vault::{Change, ChangeSet, VaultPath, View};

use crate::index;

/// How many new files are compared with their namesakes. Importing a whole folder is not an accident of a name.
const MOST_COMPARED: usize = 50;
/// How many files a notice names.
const NAMED_FILES: usize = 3;

/// The notice about links in notes that the caller may see, which lead to another file once the new ones are there.
pub fn notice(context: &Context<'_>, view: &View, changes: &ChangeSet) -> Result<Option<String>, Reason> {
    let created = changes.changes.iter().filter_map(|change| match change {
        Change::Create { path, .. } => Some(path),
        _ => None,
    });
    // Nearly every new name is new: then nothing is read.
    let mut namesakes = Vec::new();
    for path in created {
        if index::files(context, view)?.meant_by(path.name()).iter().any(|other| *other != path) {
            namesakes.push(path);
        }
        if namesakes.len() == MOST_COMPARED {
            break;
        }
    }
    if namesakes.is_empty() {
        return Ok(None);
    }
    let planned = view.with(changes);
    let (now, ahead) = (index::files(context, view)?, index::files(context, &planned)?);
    let go_on = || context.cancel.check().is_ok();
    let mut taken: BTreeMap<(&VaultPath, &VaultPath), usize> = BTreeMap::new();
    for path in namesakes {
        let links = ahead.find_backlinks(path, &go_on);
        for link in links.map_err(|error| Reason::from_index(&error, context.cancel))? {
            // A link of a note that is new as well led nowhere before.
            let Some(source) = now.get(link.source) else { continue };
            let led = now.resolve(link.link.target, source.path());
            if let Some(other) = led.filter(|other| *other != path && ahead.get(other).is_some()) {
                *taken.entry((path, other)).or_default() += 1;
            }
        }
    }
    Ok(told(&taken))
}

fn told(taken: &BTreeMap<(&VaultPath, &VaultPath), usize>) -> Option<String> {
    if taken.is_empty() {
        return None;
    }
    let shown = |((path, other), links): (&(&VaultPath, &VaultPath), &usize)| {
        format!("{} takes over {} from {}", quoted_path(path), counted(*links, "link"), quoted_path(other))
    };
    let files: Vec<String> = taken.iter().take(NAMED_FILES).map(shown).collect();
    let more = taken.len().saturating_sub(NAMED_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{}{more}, as both have one name; another name avoids that.", files.join("; ")))
}
