//! How links must change when files move.

use lapidary_note::LinkForm;

use super::{
    FileNames, LinkFormat,
    fold::{folded_name, plain, without_note_ending},
    linkpath_for, resolve,
};
use crate::VaultPath;

/// Files that get other paths, all at once, as seen from the links of the vault.
pub struct FileMoves<'a, Before, After> {
    pub before: &'a Before,
    pub after: &'a After,
    /// The new path of a file; its old one if it stays.
    pub moved_to: &'a dyn Fn(&VaultPath) -> VaultPath,
    /// The format of a changed link, whatever its format was before.
    pub format: LinkFormat,
}

/// The parts of a link that a move may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenLink<'l> {
    pub form: LinkForm,
    /// What `Link::target` returns.
    pub linkpath: &'l str,
    /// The text to show, as written in the note.
    pub alias: Option<&'l str>,
}

/// The new text of a link; its form, subpath and everything else are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewrittenLink {
    /// Not encoded, see [`linkpath_for`].
    pub linkpath: String,
    /// `None` if unchanged: an alias is only updated if it was the name of the file.
    pub alias: Option<String>,
}

impl<Before: FileNames, After: FileNames> FileMoves<'_, Before, After> {
    /// How a link in `source`, by its old path, must change to lead to the same file as before. `None` if it still
    /// does, as a link within its own note always does, if it led nowhere, or if its target is gone.
    ///
    /// Every link of the vault is affected, not only those to and in the moved files: a file that gets a new name may
    /// take over links of another that already has it.
    pub fn rewrite(&self, link: WrittenLink<'_>, source: &VaultPath) -> Option<RewrittenLink> {
        let target = resolve(self.before, link.linkpath, source)?;
        let (new_target, new_source) = ((self.moved_to)(target), (self.moved_to)(source));
        // A target that the same change deletes has no path to write; its links break as they do in Obsidian.
        let remains = self.after.named(&folded_name(new_target.name())).any(|file| *file == new_target);
        if !remains || resolve(self.after, link.linkpath, &new_source) == Some(&new_target) {
            return None;
        }
        Some(RewrittenLink {
            linkpath: linkpath_for(self.after, &new_target, &new_source, self.format, link.form),
            alias: link.alias.and_then(|alias| followed(alias, target, &new_target)),
        })
    }
}

/// The new name for an alias that is the old one, with or without its extension. Any difference, even in case, means
/// that it was chosen by the author.
fn followed(alias: &str, old: &VaultPath, new: &VaultPath) -> Option<String> {
    let (alias, old, new) = (plain(alias), plain(old.name()), plain(new.name()));
    let followed = if alias == old {
        new
    } else if alias == title(&old) {
        title(&new).to_owned().into()
    } else {
        return None;
    };
    (followed != alias).then(|| followed.into_owned())
}

/// The name of a file as a reader sees it.
fn title(name: &str) -> &str {
    let ended = || name.rsplit_once('.').map(|(title, _)| title).filter(|title| !title.is_empty());
    without_note_ending(name).or_else(ended).unwrap_or(name)
}
