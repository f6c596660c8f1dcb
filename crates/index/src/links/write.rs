//! Writes the link to a file in the format of the vault.

use lapidary_note::LinkForm;

use super::{
    FileNames,
    fold::{plain, without_note_ending},
    resolve::{find, folder_of, resolve},
};
use crate::VaultPath;

/// Obsidian's setting `newLinkFormat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkFormat {
    /// The name alone if it is unambiguous, otherwise the full path.
    #[default]
    Shortest,
    /// The path relative to the folder of the note with the link.
    Relative,
    /// The whole path from the root of the vault.
    Absolute,
}

impl LinkFormat {
    pub fn parse(setting: &str) -> Option<Self> {
        match setting {
            "shortest" => Some(Self::Shortest),
            "relative" => Some(Self::Relative),
            "absolute" => Some(Self::Absolute),
            _ => None,
        }
    }
}

/// What Obsidian would write into a link in `source` to name `target`: without `.md` in a wikilink, with it in a
/// Markdown link, not yet encoded (that depends on the surrounding text, see `lapidary_note::Retarget`).
///
/// Obsidian's own links sometimes lead elsewhere: a bare relative name to a file in the root, a note's name to a file
/// without an extension. In such cases this one is more specific, up to the full path. A target that no link can reach
/// (a name with a `#`, a file that `names` does not have) gets its full path.
///
/// A link from a note to a place within itself (`[[#H]]`) needs no path, and no call.
pub fn linkpath_for(
    names: &impl FileNames,
    target: &VaultPath,
    source: &VaultPath,
    format: LinkFormat,
    form: LinkForm,
) -> String {
    let whole = plain(target.as_str());
    let name = whole.rsplit('/').next().unwrap_or(&whole);
    let unique = |text: &str| find(names, text, source).is_some_and(|found| found.only);
    if format == LinkFormat::Shortest
        && let Some(text) = spellings(name, form).find(|text| leads(names, text, target, source, form) && unique(text))
    {
        return text.to_owned();
    }
    let relative = relative(target, source);
    // Obsidian takes a bare relative path for the end of a path; with a leading dot it is unambiguous.
    let dotted = if relative.starts_with("../") { relative.clone() } else { format!("./{relative}") };
    let rooted = format!("/{target}");
    let preferred: &[&str] = if format == LinkFormat::Relative { &[&relative, &dotted] } else { &[] };
    // A leading blank of the path is lost unless a slash precedes it; two files may differ only in the encoding of
    // their letters on disk; and a folder with a `#` must not be named.
    let fallbacks = [&*whole, &rooted, name, &dotted];
    let mut texts = preferred.iter().copied().chain(fallbacks).flat_map(|path| spellings(path, form));
    let works = texts.find(|text| leads(names, text, target, source, form));
    works.or_else(|| spellings(&whole, form).next()).unwrap_or(&whole).to_owned()
}

/// The path in the usual format, then in full.
fn spellings(path: &str, form: LinkForm) -> impl Iterator<Item = &str> {
    without_note_ending(path).filter(|_| form == LinkForm::Wiki).into_iter().chain([path])
}

/// Whether a link with this text is a link and leads to the target.
fn leads(names: &impl FileNames, text: &str, target: &VaultPath, source: &VaultPath, form: LinkForm) -> bool {
    let is_relative = text.starts_with("./") || text.starts_with("../");
    let is_address = form == LinkForm::Markdown && text.contains(':') && !is_relative;
    // Surrounding blanks are ignored.
    let is_read = !text.contains('#') && text.trim() == text && !is_address;
    is_read && resolve(names, text, source) == Some(target)
}

/// The way from the folder of the source, without `./`.
fn relative(target: &VaultPath, source: &VaultPath) -> String {
    let source_folder = folder_of(source.as_str()).split('/').filter(|name| !name.is_empty());
    let target_folder = folder_of(target.as_str()).split('/').filter(|name| !name.is_empty());
    let common = source_folder.clone().zip(target_folder).take_while(|(one, other)| one == other).count();
    let mut way: Vec<&str> = source_folder.skip(common).map(|_| "..").collect();
    way.extend(target.names().skip(common));
    plain(&way.join("/")).into_owned()
}
