//! Paths inside a vault, which exist only parsed.

use std::{borrow::Borrow, fmt, sync::Arc};

/// A path inside the vault: relative, `/`-separated, without `.` or `..`. The only way to get one is to parse it, so
/// every value is a path that cannot leave the vault by its spelling.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VaultPath(Arc<str>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("the path leaves the vault")]
    Escapes,
    #[error("the path has a control character")]
    ControlCharacter,
    #[error("the path or one of its names is too long")]
    TooLong,
}

impl VaultPath {
    const MAX_BYTES: usize = 4096;
    /// The limit of common file systems for one name.
    const MAX_NAME_BYTES: usize = 255;

    /// Accepts the forms that people and models send: backslashes, a leading slash (the vault is the root), doubled
    /// slashes and `./`. Anything that could mean a place outside is refused.
    pub fn parse(given: &str) -> Result<Self, PathError> {
        if given.len() > Self::MAX_BYTES {
            return Err(PathError::TooLong);
        }
        // Most are plain, and a call parses several.
        let is_plain = given.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if !is_plain && given.chars().any(char::is_control) {
            return Err(PathError::ControlCharacter);
        }
        let mut names = Vec::new();
        for name in given.split(['/', '\\']) {
            match name {
                "" | "." => {}
                // Not resolved: with links in the vault, `a/..` need not be the vault.
                ".." => return Err(PathError::Escapes),
                _ if name.len() > Self::MAX_NAME_BYTES => return Err(PathError::TooLong),
                _ => names.push(name),
            }
        }
        match &names[..] {
            [] => Err(PathError::Empty),
            // `C:` in a path with other names would be taken for a drive by Windows.
            [drive, ..] if is_drive(drive) => Err(PathError::Escapes),
            [name] => Ok(Self((*name).into())),
            names => Ok(Self(names.join("/").into())),
        }
    }

    /// The path with exactly this spelling. A name on disk that would be parsed differently (`a\b`, `C:x`) has none.
    pub fn spelt(path: &str) -> Option<Self> {
        Self::parse(path).ok().filter(|parsed| parsed.as_str() == path)
    }

    /// The entry of exactly this name in a folder; `None` is the vault root.
    pub(crate) fn spelt_in(folder: Option<&Self>, name: &str) -> Option<Self> {
        let Some(folder) = folder else { return Self::spelt(name) };
        let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'\\') || byte == b' ';
        let path = format!("{folder}/{name}");
        let fits = name.len() <= Self::MAX_NAME_BYTES && path.len() <= Self::MAX_BYTES;
        // Most names are plain, and a walk builds a path for every one of them.
        if fits && name.bytes().all(plain) && !matches!(name, "" | "." | "..") {
            return Some(Self(path.into()));
        }
        Self::spelt(&path)
    }

    /// Whether it is this folder or something in it.
    pub fn is_within(&self, folder: &Self) -> bool {
        self.0.strip_prefix(&*folder.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Only these have links, tags and so on in Obsidian, whatever the case of the extension.
    pub fn is_note(&self) -> bool {
        let name = self.name();
        // Asked about every file of a vault, so without making a copy.
        name.len() > 3 && name.is_char_boundary(name.len() - 3) && name[name.len() - 3..].eq_ignore_ascii_case(".md")
    }

    /// Whether it has searchable text.
    pub fn is_searched(&self) -> bool {
        self.is_note() || self.is_canvas()
    }

    /// A board with cards, some of which show files or have text with links.
    pub fn is_canvas(&self) -> bool {
        self.name().to_ascii_lowercase().ends_with(".canvas")
    }

    /// A saved query with its views.
    pub fn is_base(&self) -> bool {
        self.name().to_ascii_lowercase().ends_with(".base")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// The last name.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The folder it is in; `None` for the vault itself.
    pub fn folder(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(folder, _)| Self(folder.into()))
    }

    /// The entry of this name in the same folder.
    pub fn sibling(&self, name: &str) -> Result<Self, PathError> {
        match self.folder() {
            Some(folder) => Self::parse(&format!("{folder}/{name}")),
            None => Self::parse(name),
        }
    }

    /// Whether every system accepts its file name. Vaults are synced: names that Windows or Android refuse get lost.
    pub fn has_portable_name(&self) -> bool {
        let name = self.name();
        // Windows ignores the ending: `con.md` is the console.
        let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
        let device = matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL")
            || ["COM", "LPT"]
                .iter()
                .any(|port| stem.strip_prefix(port).is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9'])));
        !device
            && !self.has_short_name()
            && !name.ends_with(['.', ' '])
            && !name.contains(['*', '"', '<', '>', ':', '|', '?'])
    }

    /// Whether its file name has the form of Windows short names (`NOTEBO~1.MD`), which there may be the second name of
    /// another file.
    fn has_short_name(&self) -> bool {
        let (stem, ending) = self.name().rsplit_once('.').unwrap_or((self.name(), ""));
        let is_number = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let numbered = stem.rsplit_once('~').is_some_and(|(before, number)| !before.is_empty() && is_number(number));
        numbered && stem.chars().count() <= 8 && ending.chars().count() <= 3
    }

    /// Obsidian neither shows nor indexes names that start with a dot; settings and history are stored there.
    pub fn is_hidden(&self) -> bool {
        self.names().any(|name| name.starts_with('.'))
    }
}

/// `C:` and the like. On Windows also `C:x`, which would refer to that drive; elsewhere it is a name.
fn is_drive(name: &str) -> bool {
    let is_whole = cfg!(windows) || name.len() == 2;
    is_whole && matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

impl Borrow<str> for VaultPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for VaultPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for VaultPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn different_spellings_become_one_path() {
        for (given, expected) in [
            ("a.md", "a.md"),
            ("/a.md", "a.md"),
            ("./a/./b.md", "a/b.md"),
            ("a//b/", "a/b"),
            ("a\\b.md", "a/b.md"),
            ("Ä/石 note.md", "Ä/石 note.md"),
            ("a..b.md", "a..b.md"),
            ("...", "..."),
            ("12:30 talk.md", "12:30 talk.md"),
        ] {
            assert_eq!(VaultPath::parse(given).unwrap().as_str(), expected, "{given}");
        }
    }

    #[test]
    fn paths_that_could_leave_the_vault_are_refused() {
        for (given, error) in [
            ("", PathError::Empty),
            ("/", PathError::Empty),
            ("./", PathError::Empty),
            ("..", PathError::Escapes),
            ("a/../../b", PathError::Escapes),
            ("a\\..\\b", PathError::Escapes),
            ("C:\\x", PathError::Escapes),
            ("c:/x", PathError::Escapes),
            ("a\0b", PathError::ControlCharacter),
            ("a\nb", PathError::ControlCharacter),
        ] {
            assert_eq!(VaultPath::parse(given), Err(error), "{given:?}");
        }
        assert_eq!(VaultPath::parse(&"x".repeat(256)), Err(PathError::TooLong));
        assert_eq!(VaultPath::parse(&"x/".repeat(4000)), Err(PathError::TooLong));
    }

    #[test]
    fn names_that_some_system_refuses_are_not_portable() {
        for (name, portable) in [
            ("a.md", true),
            ("Größe – 石 (1) [x] #2.md", true),
            ("CONTENTS.md", true),
            ("COM10.md", true),
            ("12:30 talk.md", false),
            ("what?.md", false),
            ("a|b.md", false),
            ("\"x\".md", false),
            ("end.", false),
            ("end ", false),
            ("con.md", false),
            ("Lpt1", false),
            ("NUL .txt", false),
            ("NOTEBO~1.MD", false),
            ("OBSIDI~1", false),
            ("a~12.md", false),
            ("~1.md", true),
            ("a~b.md", true),
            ("about ~100 notes.md", true),
        ] {
            assert_eq!(VaultPath::parse(&format!("12:30/{name}")).unwrap().has_portable_name(), portable, "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_name_in_a_folder_is_what_it_would_be_parsed_to(name in "[a./\\\\: \u{0}-\u{7f}é石]{0,12}") {
            let folder = VaultPath::parse("a/b").unwrap();
            prop_assert_eq!(VaultPath::spelt_in(Some(&folder), &name), VaultPath::spelt(&format!("a/b/{name}")));
        }

        #[test]
        fn no_spelling_yields_a_path_outside(given in "[a./\\\\: \u{0}-\u{7f}é石]{0,40}") {
            if let Ok(path) = VaultPath::parse(&given) {
                prop_assert!(!path.as_str().starts_with('/'));
                prop_assert!(path.names().all(|name| !matches!(name, "" | "." | "..")));
                prop_assert!(!path.as_str().contains(['\\', '\0']));
                prop_assert_eq!(VaultPath::parse(path.as_str()), Ok(path.clone()));
            }
        }
    }
}
