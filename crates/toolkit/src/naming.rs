//! Which file a caller refers to. People and models give the name of a note, an alias or a link as often as a path;
//! tools that read or edit an existing file resolve it here, if it is unambiguous. Tools that create, move or delete a
//! file require its path.

use std::sync::Arc;

use lapidary_operation::{Context, Reason, quote::quoted_path};
use lapidary_query::nearest_several;
use lapidary_vault::{
    File, ReadError, VaultPath, View, VisibleFiles,
    links::folded_name,
    store::{EntryKind, FolderEntry, StoreError},
};

use crate::{index, reading};

/// A requested file.
pub struct NamedFile {
    pub path: VaultPath,
    pub file: Arc<File>,
    /// The requested name, if it is not the path.
    pub requested: Option<VaultPath>,
}

impl NamedFile {
    /// The notice for a caller that did not use the path.
    pub fn notice(&self) -> Option<String> {
        let requested = self.requested.as_ref()?;
        Some(format!("{} was found as {}.", quoted_path(requested), quoted_path(&self.path)))
    }
}

/// The name of a note as people say it.
pub fn title(path: &VaultPath) -> &str {
    path.name().rsplit_once('.').map_or(path.name(), |(stem, _)| stem)
}

/// The file at this path, or the only one with this name. An existing path costs no more than its reading; everything
/// else uses the index.
pub fn find(context: &Context<'_>, view: &View, given: &str) -> Result<NamedFile, Reason> {
    let name = GivenName::parse(given)?;
    let refused = if name.is_link {
        Reason::NoteMissing { path: name.path.clone(), suggestions: Vec::new() }
    } else {
        // An existing path wins over every name, and needs no index.
        match reading::read_exactly(view, &name.path) {
            Ok(file) => return Ok(NamedFile { path: name.path, file, requested: None }),
            Err(reason) => reason,
        }
    };
    match refused {
        Reason::NoteMissing { .. } | Reason::PathIsDirectory { .. } => {}
        // A name is not a path that could be closed.
        // A caller outside of its folders may still use the name of a note inside them.
        Reason::PathForbidden { .. } if name.is_bare() => {}
        _ => return Err(refused),
    }
    let mut meant = name.meant(context, view)?;
    match meant.len() {
        0 => Err(match refused {
            Reason::NoteMissing { .. } => missing(context, view, &name.path)?,
            refused => refused,
        }),
        1 => {
            let path = meant.swap_remove(0);
            let file = reading::read_exactly(view, &path)?;
            Ok(NamedFile { file, requested: Some(name.path), path })
        }
        _ => Err(Reason::AmbiguousPath { path: name.path, matches: clip(meant) }),
    }
}

/// The caller's text that names a file.
struct GivenName {
    path: VaultPath,
    /// It came as `[[…]]`.
    is_link: bool,
}

impl GivenName {
    fn parse(given: &str) -> Result<Self, Reason> {
        let trimmed = given.trim();
        // As it is written in a note, also as an embed.
        let inner = trimmed.trim_start_matches('!').strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
        let Some(inner) = inner else { return Ok(Self { path: reading::parse_path(given)?, is_link: false }) };
        // Alias and heading do not identify the file. In a table, the pipe is escaped.
        let target = inner.split('|').next().unwrap_or_default();
        let target = target.strip_suffix('\\').unwrap_or(target);
        let target = target.split('#').next().unwrap_or_default();
        Ok(Self { path: reading::parse_path(target.trim())?, is_link: true })
    }

    /// Whether it can only be the name or an alias of a note.
    fn is_bare(&self) -> bool {
        is_bare_name(self.path.as_str())
    }

    /// All matching files, in path order.
    fn meant(&self, context: &Context<'_>, view: &View) -> Result<Vec<VaultPath>, Reason> {
        // Without a scan of the vault: most names are paths without `.md`.
        if !self.path.is_note()
            && let Ok(with_ending) = VaultPath::parse(&format!("{}.md", self.path))
            && view.shows(&with_ending)
            && let Ok(Some(_)) = reading::read_if_there(view, &with_ending)
        {
            return Ok(vec![with_ending]);
        }
        let files = index::files(context, view)?;
        let named: Vec<VaultPath> = files.meant_by(self.path.as_str()).into_iter().cloned().collect();
        // A path with folders or an extension is not an alias.
        if !named.is_empty() || !(self.is_link || self.is_bare()) {
            return Ok(named);
        }
        let alias = folded_name(self.path.as_str());
        let mut known = Vec::new();
        for (entry, digest) in index::notes(context, view)?.notes() {
            if digest.aliases().any(|name| folded_name(name) == alias) {
                known.push(entry.path().clone());
            }
        }
        Ok(known)
    }
}

/// Whether a text names a note without being a path: a name without folder and extension, or a link.
pub fn is_bare_name(given: &str) -> bool {
    given.trim_start_matches(['!', ' ']).starts_with("[[") || !given.contains(['/', '\\', '.'])
}

/// The refusal for a missing path, with the likely candidates: files of that name elsewhere, then those with a similar
/// name.
pub fn missing(context: &Context<'_>, view: &View, path: &VaultPath) -> Result<Reason, Reason> {
    let files = index::files(context, view)?;
    Ok(Reason::NoteMissing { path: path.clone(), suggestions: suggestions(files, path) })
}

/// More would not be read.
const MOST_SUGGESTIONS: usize = 5;

fn clip(mut paths: Vec<VaultPath>) -> Vec<VaultPath> {
    const MOST: usize = 20;
    paths.truncate(MOST);
    paths
}

pub(crate) fn suggestions(files: &VisibleFiles, path: &VaultPath) -> Vec<VaultPath> {
    let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
    let wanted = folded_name(&stem(path.name())).into_owned();
    let (mut same, mut others): (Vec<&VaultPath>, Vec<(String, &VaultPath)>) = (Vec::new(), Vec::new());
    for entry in files.iter() {
        let own = folded_name(&stem(entry.path().name())).into_owned();
        if own == wanted { same.push(entry.path()) } else { others.push((own, entry.path())) }
    }
    // Files in the same folder first: the folder was right.
    same.sort_by_key(|found| found.folder() != path.folder());
    let near = nearest_several(&wanted, others.iter().map(|(name, _)| name.as_str()), MOST_SUGGESTIONS);
    let near = near.into_iter().flat_map(|name| others.iter().filter(move |(own, _)| own == name));
    let mut found: Vec<VaultPath> = Vec::new();
    for path in same.into_iter().chain(near.map(|(_, path)| *path)) {
        if found.len() < MOST_SUGGESTIONS && !found.contains(path) {
            found.push(path.clone());
        }
    }
    found
}

/// Refuses a new path that differs from an existing one only in case or Unicode form, including its folders: on other
/// systems the two are the same. `instead_of` is the file that gets this path and does not block it.
///
/// Asks the index by name and lists no folder, so its cost does not reveal how much is hidden there.
pub fn check_new(
    context: &Context<'_>,
    view: &View,
    path: &VaultPath,
    instead_of: Option<&VaultPath>,
) -> Result<(), Reason> {
    let go_on = || context.cancel.check().is_ok();
    let mut parts: Vec<VaultPath> = std::iter::successors(Some(path.clone()), VaultPath::folder).collect();
    // From the outermost folder inwards: below a folder that is new, nothing can collide.
    while let Some(part) = parts.pop() {
        let found = view.named_like(&part, &go_on).map_err(|error| Reason::from_index(&error, context.cancel))?;
        // Exactly this name is there; what is below it is compared next.
        if found.iter().any(|entry| entry.path == part) {
            continue;
        }
        // The file that moves here is not in its own way.
        let moves = |twin: &VaultPath| instead_of.is_some_and(|moved| moved == twin || moved.is_within(twin));
        let twin = found.into_iter().find(|twin| !moves(&twin.path));
        // A missing folder is empty.
        return twin.map_or(Ok(()), |FolderEntry { path: twin, kind }| {
            let rest = &path.as_str()[part.as_str().len()..];
            let existing = VaultPath::parse(&format!("{twin}{rest}")).unwrap_or(twin.clone());
            Err(Reason::NameTaken { path: path.clone(), existing, twin, is_folder: kind == EntryKind::Folder })
        });
    }
    Ok(())
}

/// Whether only programs read a file of this name: files that Obsidian shows have an extension.
pub fn lacks_ending(path: &VaultPath) -> bool {
    !path.name().trim_start_matches('.').contains('.')
}

/// The file at an exact path, for calls that delete or move it. If it is missing, the answer names what a reader would
/// have found.
pub fn read_exact_path(context: &Context<'_>, view: &View, path: &VaultPath) -> Result<Arc<File>, Reason> {
    match view.read(path) {
        Err(ReadError::Store(StoreError::Missing)) => Err(missing(context, view, path)?),
        _ => reading::read_exactly(view, path),
    }
}
