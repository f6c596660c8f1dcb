//! Versions: of the plugin, and of a file behind it.

use std::fmt;

/// The version of the plugin, which decides what it can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginVersion {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl PluginVersion {
    /// Numbers separated by dots; what is missing counts as 0, and what follows them (`-beta`) does not count.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // A pre-release has what its release has.
        let numbers = text.split(['-', '+']).next()?;
        let mut numbers = numbers.split('.').map(|number| number.trim().parse::<u32>());
        let major = numbers.next()?.ok()?;
        let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
        Some(Self { major, minor: next(), patch: next() })
    }

    // Compared field by field, in the order of the declaration.
    fn is_at_least(self, major: u32, minor: u32, patch: u32) -> bool {
        self >= Self { major, minor, patch }
    }

    /// Files can be moved in one step.
    pub fn moves_files(self) -> bool {
        self.is_at_least(4, 1, 0)
    }

    /// What is deleted goes to the trash that the app's settings name; earlier ones delete it.
    pub fn deletes_to_trash(self) -> bool {
        self.is_at_least(5, 0, 0)
    }

    /// Periodic notes are part of the plugin; later an extension has them.
    pub fn has_periodic_notes(self) -> bool {
        !self.is_at_least(5, 0, 2)
    }
}

impl fmt::Display for PluginVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The version of a file, as the other side names it; only useful in a condition of a later request to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVersion(String);

impl FileVersion {
    /// From an entity tag. A weak one says nothing about the bytes, so it is not a version.
    pub(crate) fn of_tag(tag: &str) -> Option<Self> {
        let opaque = tag.trim().strip_prefix('"')?.strip_suffix('"')?;
        // It goes back into a header, so nothing in it may end the quotes or the line.
        let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"';
        (!opaque.is_empty() && opaque.len() <= 200 && opaque.bytes().all(is_plain)).then(|| Self(opaque.to_owned()))
    }

    pub(crate) fn tag(&self) -> String {
        format!("\"{}\"", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_decides_what_can_be_done() {
        let parsed = |text: &str| PluginVersion::parse(text).unwrap();
        assert_eq!(parsed("5.1.0").to_string(), "5.1.0");
        assert_eq!(parsed("6").to_string(), "6.0.0");
        assert_eq!(parsed("5.1.0-beta.2").to_string(), "5.1.0");
        assert!(!parsed("4.0.9").moves_files() && parsed("4.1.0").moves_files());
        assert!(!parsed("4.1.7").deletes_to_trash() && parsed("5.0.0").deletes_to_trash());
        assert!(parsed("5.0.1").has_periodic_notes() && !parsed("5.0.2").has_periodic_notes());
        for text in ["", "x", "-1.0", "v5"] {
            assert_eq!(PluginVersion::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_strong_tags_are_versions() {
        assert_eq!(FileVersion::of_tag("\"abc\"").unwrap().tag(), "\"abc\"");
        for tag in ["W/\"abc\"", "abc", "\"\"", "\"a\"b\"", "\"a b\""] {
            assert_eq!(FileVersion::of_tag(tag), None, "{tag}");
        }
    }
}
