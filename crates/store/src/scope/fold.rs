//! Folded paths, by which rules are compared.

use unicode_normalization::UnicodeNormalization;

/// One spelling for all names that some system treats as the same: macOS and sync services store accented letters in
/// two ways, and several systems ignore case.
///
/// Some letters are equal to others only in upper case (`ß` and `ss`, `ſ` and `s`, `ς` and `σ`), so folding goes
/// through upper case.
pub(crate) fn folded(text: &str) -> String {
    // Most paths need no tables.
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // The last `nfc` is needed because changing case can take a composed letter apart.
    text.nfc().flat_map(char::to_lowercase).flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect()
}

/// A path as rules compare it.
pub(super) struct FoldedPath(String);

/// What a path is checked as. Its string does not say, so a rule for folders also closes a file of that name: if the
/// answer depended on the disk, it would reveal what exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PathWanted {
    Folder,
    Anything,
}

impl FoldedPath {
    pub(super) fn new(path: &str) -> Self {
        Self(folded(path))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The folders on the way to it, the outermost first.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        folders_of(&self.0)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

/// The folders on the way to a path, the outermost first.
pub(super) fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}
