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
    /// The name alone if no other file could be meant, else the whole path.
    #[default]
    Shortest,
    /// The way from the folder of the note that holds the link.
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
/// Markdown link, not yet encoded (which is for whoever knows what stands around it, see `lapidary_note::Retarget`).
///
/// Obsidian's own links sometimes lead elsewhere: a bare relative name to a file in the root, a note's name to a file
/// without an ending. Where they would, this one says more, the whole path at most. What no link can lead to (a name
/// with a `#`, a file that `names` does not have) gets its whole path.
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
    // In a bare relative path Obsidian sees the end of a path; with a dot in front it cannot be anything else.
    let dotted = if relative.starts_with("../") { relative.clone() } else { format!("./{relative}") };
    let rooted = format!("/{target}");
    let preferred: &[&str] = if format == LinkFormat::Relative { &[&relative, &dotted] } else { &[] };
    // A blank in front of the path is lost unless a slash stands before it; two files may differ in nothing but the
    // way their letters are stored on disk; and a folder with a `#` must not be named.
    let fallbacks = [&*whole, &rooted, name, &dotted];
    let mut texts = preferred.iter().copied().chain(fallbacks).flat_map(|path| spellings(path, form));
    let works = texts.find(|text| leads(names, text, target, source, form));
    works.or_else(|| spellings(&whole, form).next()).unwrap_or(&whole).to_owned()
}

/// The path as the form usually has it, then in full.
fn spellings(path: &str, form: LinkForm) -> impl Iterator<Item = &str> {
    without_note_ending(path).filter(|_| form == LinkForm::Wiki).into_iter().chain([path])
}

/// Whether a link that says so is a link and leads to the target.
fn leads(names: &impl FileNames, text: &str, target: &VaultPath, source: &VaultPath, form: LinkForm) -> bool {
    let is_relative = text.starts_with("./") || text.starts_with("../");
    let is_address = form == LinkForm::Markdown && text.contains(':') && !is_relative;
    // Blanks around a path are not read.
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
