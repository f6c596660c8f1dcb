//! Finds the file that a link leads to, as Obsidian does.

use std::borrow::Cow;

use super::{
    FileNames,
    fold::{folded_name, keys, plain, without_note_ending},
};
use crate::VaultPath;

/// The file that a link in `source` leads to, as found by Obsidian's `getFirstLinkpathDest`; `linkpath` is the result
/// of `Link::target`. Case is ignored, aliases of notes do not count.
///
/// The answer depends only on the folder of the source, unless the path is empty.
pub fn resolve<'n>(names: &'n impl FileNames, linkpath: &str, source: &'n VaultPath) -> Option<&'n VaultPath> {
    if linkpath.is_empty() {
        return Some(source);
    }
    Some(find(names, linkpath, source)?.path)
}

pub(super) struct ResolvedFile<'n> {
    pub(super) path: &'n VaultPath,
    /// No other file is possible.
    pub(super) only: bool,
}

pub(super) fn find<'n>(names: &'n impl FileNames, linkpath: &str, source: &VaultPath) -> Option<ResolvedFile<'n>> {
    let keys = keys(linkpath)?;
    let wanted = LinkQuery::parse(linkpath, source)?;
    let mut as_written = names.named(keys.as_written()).peekable();
    // A file with the exact name, anywhere, takes the link from all notes of that name.
    match as_written.peek() {
        Some(_) => wanted.best(as_written, VaultPath::as_str, source),
        None => wanted.best(names.named(keys.as_note()), unended, source),
    }
}

fn unended(path: &VaultPath) -> &str {
    without_note_ending(path.as_str()).unwrap_or(path.as_str())
}

/// What a link path looks for.
struct LinkQuery<'l> {
    /// From the vault root if `anchored`, otherwise the end of a path.
    path: Cow<'l, str>,
    anchored: bool,
}

/// How well a file matches; the least is the best.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum LinkRank<'n> {
    /// The exact path wins, even over a file next to the source.
    Exact { spelling: LinkSpelling, path: &'n VaultPath },
    /// Files under the source's folder come before all others, then the shortest path wins.
    Ending { outside: bool, length: usize, spelling: LinkSpelling, path: &'n VaultPath },
}

/// Where Obsidian's own choice is unknown (paths of the same length, paths that differ only in case), the file that is
/// spelt like the link wins, then the first in path order: that leaves every file reachable by some link, and the
/// answer does not depend on the order in which a disk lists its files.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum LinkSpelling {
    AsWritten,
    Other,
}

#[derive(PartialEq)]
enum PathFit {
    Whole,
    End,
}

impl<'l> LinkQuery<'l> {
    /// `None` for a path that leaves the vault.
    fn parse(linkpath: &'l str, source: &VaultPath) -> Option<Self> {
        // These are the only forms that Obsidian takes relative to the note.
        if linkpath.starts_with("./") || linkpath.starts_with("../") {
            return Some(Self { path: Cow::Owned(joined(folder_of(source.as_str()), linkpath)?), anchored: true });
        }
        Some(match linkpath.strip_prefix('/') {
            Some(path) => Self { path: Cow::Borrowed(path), anchored: true },
            None => Self { path: Cow::Borrowed(linkpath), anchored: false },
        })
    }

    fn best<'n>(
        &self,
        candidates: impl Iterator<Item = &'n VaultPath>,
        linkable: fn(&VaultPath) -> &str,
        source: &VaultPath,
    ) -> Option<ResolvedFile<'n>> {
        let wanted_folder = folded_name(folder_of(&self.path));
        let source_folder = folder_of(source.as_str());
        let mut best: Option<LinkRank<'n>> = None;
        let mut only = true;
        for path in candidates {
            // The last names are already equal.
            let Some(fit) = fit(folder_of(path.as_str()), &wanted_folder) else { continue };
            if self.anchored && fit != PathFit::Whole {
                continue;
            }
            let spelled = linkable(path).ends_with(&*self.path);
            let spelling = if spelled { LinkSpelling::AsWritten } else { LinkSpelling::Other };
            let rank = match fit {
                PathFit::Whole => LinkRank::Exact { spelling, path },
                PathFit::End => {
                    LinkRank::Ending { outside: !is_in(path, source_folder), length: length(path), spelling, path }
                }
            };
            // The second candidate is enough to know that a shorter name would be ambiguous.
            only &= best.is_none();
            if best.as_ref().is_none_or(|best| rank < *best) {
                best = Some(rank);
            }
        }
        let (LinkRank::Exact { path, .. } | LinkRank::Ending { path, .. }) = best?;
        Some(ResolvedFile { path, only })
    }
}

/// Whether a folder is the wanted one or ends in it. Only whole names count: whether Obsidian lets `eta/R` reach
/// `beta/R.md` is unknown, and it would not be useful.
fn fit(folder: &str, wanted: &str) -> Option<PathFit> {
    // For a common name this runs for each file, so it avoids copies.
    let folder = if folder.is_ascii() { Cow::Borrowed(folder) } else { folded_name(folder) };
    let (front, end) = folder.as_bytes().split_at_checked(folder.len().checked_sub(wanted.len())?)?;
    match front {
        _ if !end.eq_ignore_ascii_case(wanted.as_bytes()) => None,
        [] => Some(PathFit::Whole),
        [.., b'/'] => Some(PathFit::End),
        _ => wanted.is_empty().then_some(PathFit::End),
    }
}

/// A relative link path as a path from the root; `None` above it.
fn joined(folder: &str, linkpath: &str) -> Option<String> {
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in linkpath.split('/') {
        match name {
            "" | "." => {}
            // Above the root there is nothing: the link leads nowhere.
            ".." => drop(names.pop()?),
            _ => names.push(name),
        }
    }
    Some(names.join("/"))
}

/// Empty for the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// In the folder or in a folder under it; everything is in the root.
fn is_in(path: &VaultPath, folder: &str) -> bool {
    folder.is_empty() || path.as_str().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Counted like JavaScript counts Obsidian's path.
fn length(path: &VaultPath) -> usize {
    match path.as_str().is_ascii() {
        true => path.as_str().len(),
        false => plain(path.as_str()).encode_utf16().count(),
    }
}
