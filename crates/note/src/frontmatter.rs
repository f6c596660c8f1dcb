//! Finds the block of properties at the top of a note.

use std::ops::Range;

use crate::{YamlValue, properties};

/// The properties at the top of a note, found by Obsidian's rule: the very first line is `---`, and a later line starts
/// with `---`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frontmatter {
    /// The YAML between the fences.
    pub yaml: Range<usize>,
    /// Including both fences; the body follows.
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontmatterError {
    #[error("line {line}: {problem}")]
    Yaml { line: usize, problem: String },
    #[error("the properties are not a list of `name: value`")]
    NotAMap,
}

impl Frontmatter {
    /// Expects shown text: no byte order mark, `\n` line endings.
    pub fn find(text: &str) -> Option<Self> {
        let opener = text.split_inclusive('\n').next()?;
        let blank_rest = opener.strip_prefix("---")?.strip_suffix('\n')?;
        if !blank_rest.trim_matches([' ', '\t']).is_empty() {
            return None;
        }
        let start = opener.len();
        let mut at = start;
        for line in text[start..].split_inclusive('\n') {
            if let Some(rest) = line.strip_prefix("---") {
                // `---` directly below `---` is two rules, not an empty block.
                let end = if rest.trim().is_empty() { at + line.len() } else { at + 3 };
                return (at > start).then_some(Self { yaml: start..at, span: 0..end });
            }
            at += line.len();
        }
        None
    }

    /// The properties in document order; an empty block has none.
    pub fn properties(&self, text: &str) -> Result<Vec<(String, YamlValue)>, FrontmatterError> {
        let entries = properties::read(text, self.yaml.clone())?;
        Ok(entries.into_iter().map(|entry| (entry.key, entry.value.to_value())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_found_where_obsidian_finds_one() {
        for (text, yaml) in [
            ("---\na: 1\n---\nbody", Some("a: 1\n")),
            ("---  \na: 1\n---", Some("a: 1\n")),
            ("---\n\n---\n", Some("\n")),
            ("---\n---\n", None),
            ("---\na: 1\n----\nbody", Some("a: 1\n")),
            ("---\na: 1\n ---\nb: 2\n", None),
            ("----\na: 1\n---\n", None),
            ("--- yaml\na: 1\n---\n", None),
            ("\n---\na: 1\n---\n", None),
            ("---", None),
            ("", None),
        ] {
            let found = Frontmatter::find(text);
            assert_eq!(found.map(|block| &text[block.yaml]), yaml, "{text:?}");
        }
    }

    #[test]
    fn properties_come_in_order_or_say_what_is_wrong() {
        let read = |text: &str| Frontmatter::find(text).unwrap().properties(text);
        assert_eq!(
            read("---\nb: x\na: true\n---\n"),
            Ok(vec![("b".into(), YamlValue::Text("x".into())), ("a".into(), YamlValue::Bool(true))])
        );
        assert_eq!(read("---\n\n---\n"), Ok(vec![]));
        assert_eq!(read("---\n- a\n---\n"), Err(FrontmatterError::NotAMap));
        assert!(matches!(read("---\na: b: c\n---\n"), Err(FrontmatterError::Yaml { line: 2, .. })));
        assert!(matches!(read("---\na:\n  \tb: 1\n---\n"), Err(FrontmatterError::Yaml { line: 3, .. })));
    }
}
