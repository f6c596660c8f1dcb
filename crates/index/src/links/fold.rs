//! Folded names, by which links find their targets.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// One spelling for all names that Obsidian treats as the same: NFC, plain spaces, lower case.
///
/// Each letter is folded without regard to its neighbours, so that a name folds alike with and without `.md`: by the
/// rules of Greek a `Σ` is another letter at the end of a word.
pub fn folded_name(name: &str) -> Cow<'_, str> {
    if !name.is_ascii() {
        let lower = name.chars().map(plain_space).flat_map(char::to_lowercase);
        return Cow::Owned(lower.map(|c| if c == 'ς' { 'σ' } else { c }).nfc().collect());
    }
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    }
}

/// A path as Obsidian shows and writes it, in any form on disk: NFC and plain spaces.
pub(super) fn plain(path: &str) -> Cow<'_, str> {
    match path.is_ascii() {
        true => Cow::Borrowed(path),
        false => Cow::Owned(path.nfc().map(plain_space).collect()),
    }
}

/// Obsidian has no name with a non-breaking space.
fn plain_space(c: char) -> char {
    if matches!(c, '\u{a0}' | '\u{202f}') { ' ' } else { c }
}

/// The folded last names under which the target of a link may be found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LinkKeys(String);

/// The names to look up a link's target by; a link within its own note (`[[#H]]`) and one that ends in `/` have none.
pub fn keys(linkpath: &str) -> Option<LinkKeys> {
    let name = linkpath.rsplit('/').next().filter(|name| !name.is_empty())?;
    Some(LinkKeys(folded_name(name).into_owned() + NOTE_ENDING))
}

impl LinkKeys {
    /// Looked up first. An index of mentions needs no other: a note is mentioned under its name with and without the
    /// extension.
    pub fn as_written(&self) -> &str {
        self.0.strip_suffix(NOTE_ENDING).unwrap_or(&self.0)
    }

    /// Looked up if no file at all has the name as written.
    pub fn as_note(&self) -> &str {
        &self.0
    }
}

/// The one extension that a link may omit.
pub(super) const NOTE_ENDING: &str = ".md";

/// A path without the extension of a note, in any case; `None` if it is not a note.
pub(super) fn without_note_ending(path: &str) -> Option<&str> {
    let (front, ending) = path.split_at_checked(path.len().checked_sub(NOTE_ENDING.len())?)?;
    // A name that is just `.md` has no extension.
    let is_note = ending.eq_ignore_ascii_case(NOTE_ENDING) && !front.is_empty() && !front.ends_with('/');
    is_note.then_some(front)
}
