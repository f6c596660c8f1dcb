use unicode_normalization::UnicodeNormalization;

/// One spelling for all that some system takes for the same name: macOS and sync services store letters with accents
/// in two ways, and several systems do not tell case apart.
///
/// Some letters are the same as others only in capitals (`ß` and `ss`, `ſ` and `s`, `ς` and `σ`), so they go that way.
pub(crate) fn folded(text: &str) -> String {
    // Most paths need no tables.
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().flat_map(char::to_lowercase).flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect()
}

/// A path as rules compare it.
pub(super) struct FoldedPath(String);

/// As what a path is asked for. Its string does not tell, so a rule for folders closes a file of that name too: if the
/// answer depended on what is there, it would tell what is there.
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
