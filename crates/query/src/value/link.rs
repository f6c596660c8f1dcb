//! Links as values.

use std::fmt;

/// A link as written; a row resolves it (`Row::resolve`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkValue {
    pub path: String,
    /// A heading, or a block with its `^`; without the first `#`.
    pub subpath: Option<String>,
    pub display: Option<String>,
    pub embed: bool,
}

impl LinkValue {
    /// The text between the brackets of a wikilink. The first unescaped bar starts the display text.
    pub fn parse(inner: &str, embed: bool) -> Self {
        let mut escaped = false;
        let bar = inner.char_indices().find_map(|(at, c)| {
            let found = c == '|' && !escaped;
            escaped = c == '\\' && !escaped;
            found.then_some(at)
        });
        let (target, display) = match bar {
            Some(at) => (&inner[..at], Some(inner[at + 1..].to_owned())),
            None => (inner, None),
        };
        // In a table the bar is escaped, and means the same.
        let target = target.replace("\\|", "|");
        let (path, subpath) = match target.split_once('#') {
            Some((path, subpath)) => (path.to_owned(), Some(subpath.to_owned())),
            None => (target, None),
        };
        Self { path, subpath, display, embed }
    }
}

/// The wikilink.
impl fmt::Display for LinkValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Or the bar would begin the display text when the link is read again.
        let escape = |text: &str| text.replace('|', "\\|");
        write!(f, "{}[[{}", if self.embed { "!" } else { "" }, escape(&self.path))?;
        if let Some(subpath) = &self.subpath {
            write!(f, "#{}", escape(subpath))?;
        }
        if let Some(display) = &self.display {
            write!(f, "|{display}")?;
        }
        f.write_str("]]")
    }
}
