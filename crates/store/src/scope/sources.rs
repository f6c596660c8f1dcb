//! Sources: notes that may be created, and after that stay as they are.

use lapidary_note::{Document, YamlValue};

use super::{
    PathPrefix, Scope,
    fold::{FoldedPath, folded},
};
use crate::{File, VaultPath};

/// Which notes are sources.
#[derive(Clone, Debug, Default)]
pub struct SourceRules {
    /// Everything in these folders.
    pub paths: Vec<PathPrefix>,
    /// Notes that say so themselves, wherever they are.
    pub marks: Vec<SourceMark>,
}

/// How a note says that it is a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceMark {
    /// By a tag or one below it, in any case.
    Tag(String),
    /// By the value of a property, both in any case; an item of a list counts.
    Property { name: String, value: String },
}

impl SourceMark {
    /// As the owner writes it: `#tag` or `property=value`.
    pub fn written(&self) -> String {
        match self {
            Self::Tag(tag) => format!("#{tag}"),
            Self::Property { name, value } => format!("{name}={value}"),
        }
    }

    pub fn parse(written: &str) -> Option<Self> {
        let filled = |text: &str| Some(folded(text.trim())).filter(|text| !text.is_empty());
        match written.trim().strip_prefix('#') {
            Some(tag) => filled(tag.trim_end_matches('/')).map(Self::Tag),
            None => {
                let (name, value) = written.split_once('=')?;
                Some(Self::Property { name: filled(name)?, value: filled(value)? })
            }
        }
    }

    fn is_on(&self, document: &Document) -> bool {
        match self {
            Self::Tag(wanted) => {
                let is_wanted = |tag: &str| {
                    let tag = folded(tag);
                    tag.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                let note = document.note();
                note.tags.iter().any(|tag| is_wanted(&note.text[tag.name()]))
                    || note.property_tags().iter().any(|tag| is_wanted(&tag.name))
            }
            Self::Property { name, value } => {
                let properties = document.properties().unwrap_or_default();
                properties.iter().any(|(key, found)| folded(key) == *name && says(found, value))
            }
        }
    }
}

/// Whether a property has this value, alone or in a list.
fn says(found: &YamlValue, wanted: &str) -> bool {
    match found {
        YamlValue::Text(text) => folded(text.trim()) == wanted,
        YamlValue::Bool(value) => value.to_string() == wanted,
        YamlValue::Integer(number) => number.to_string() == wanted,
        YamlValue::List(items) => items.iter().any(|item| !matches!(item, YamlValue::List(_)) && says(item, wanted)),
        _ => false,
    }
}

impl Scope {
    /// Whether some notes are sources by what they say, so that their content decides.
    pub fn has_marked_sources(&self) -> bool {
        self.policies().any(|policy| !policy.sources.marks.is_empty())
    }

    /// Whether a file that exists is a source, by its path or by its content. One whose content or properties cannot be
    /// read counts as a source where a mark could be in it.
    pub fn is_source(&self, path: &VaultPath, content: Option<&File>) -> bool {
        let folded = FoldedPath::new(path.as_str());
        if self.is_in_sources(&folded) || self.inner.iter().any(|inner| inner.is_source(path, &folded, content)) {
            return true;
        }
        if !self.has_marked_sources() || !path.is_note() {
            return false;
        }
        let Some(content) = content else { return true };
        // What cannot be read may say so: a slip in its properties must not open a note.
        let Ok(document) = Document::open(content.content.clone()) else { return true };
        document.properties().is_err()
            || self.policies().flat_map(|policy| &policy.sources.marks).any(|mark| mark.is_on(&document))
    }

    /// Whether everything at a path is a source.
    fn is_in_sources(&self, folded: &FoldedPath) -> bool {
        self.source_paths().any(|prefix| prefix.covers_folded(folded.as_str()))
    }

    /// Whether a folder is in a folder of sources, or has one in it.
    pub fn touches_sources(&self, folder: &VaultPath) -> bool {
        let folded = FoldedPath::new(folder.as_str());
        self.is_in_sources(&folded)
            || self.source_paths().any(|prefix| prefix.is_within(folder))
            || self.inner.iter().any(|inner| inner.touches_sources(folder, &folded))
    }

    fn source_paths(&self) -> impl Iterator<Item = &PathPrefix> {
        self.policies().flat_map(|policy| &policy.sources.paths)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Policy, *};

    fn file(text: &str) -> File {
        File { content: text.to_owned().into(), modified: None, created: None }
    }

    #[test]
    fn folders_tags_and_properties_make_sources() {
        let sources = SourceRules {
            paths: vec![PathPrefix::parse("Sources").unwrap()],
            marks: ["#source", "Status=Final"].map(|mark| SourceMark::parse(mark).unwrap()).to_vec(),
        };
        let scope = Scope::from(Policy { sources, ..Policy::default() });
        for (path, text, expected) in [
            ("sources/a.md", "", true),
            ("Sources2/a.md", "", false),
            ("a.md", "text #Source\n", true),
            ("a.md", "text #source/web\n", true),
            ("a.md", "text #sources `#source`\n", false),
            ("a.md", "---\ntags: [x, source]\n---\n", true),
            ("a.md", "---\nstatus: final\n---\n", true),
            ("a.md", "---\nSTATUS: [draft, FINAL]\n---\n", true),
            ("a.md", "---\nstatus: finally\n---\nstatus: final\n", false),
            // They cannot be read, so they may say anything.
            ("a.md", "---\nstatus: [\n---\n", true),
            ("a.md", "---\nstatus: final\nnote: a: b\n---\n", true),
            ("a.md", "---\ntags: source\nx: \"\n---\n", true),
            ("a.png", "---\nstatus: [\n---\n", false),
            ("a.png", "#source", false),
        ] {
            let path = VaultPath::parse(path).unwrap();
            assert_eq!(scope.is_source(&path, Some(&file(text))), expected, "{path} {text:?}");
        }
        let binary = File { content: b"---\nstatus: final\n---\n\xff".to_vec().into(), modified: None, created: None };
        assert!(scope.is_source(&VaultPath::parse("a.md").unwrap(), Some(&binary)));
        let unread = VaultPath::parse("large.md").unwrap();
        assert!(scope.is_source(&unread, None), "its content is not known");
        assert!(!Scope::default().is_source(&unread, None));
        let folder = |path: &str| VaultPath::parse(path).unwrap();
        assert!(scope.touches_sources(&folder("Sources/Web")) && scope.touches_sources(&folder("SOURCES")));
        assert!(!scope.touches_sources(&folder("Other")));
    }

    #[test]
    fn a_mark_is_a_tag_or_a_value() {
        for written in ["", "#", "x", "=x", "x=", "# "] {
            assert_eq!(SourceMark::parse(written), None, "{written:?}");
        }
    }
}
