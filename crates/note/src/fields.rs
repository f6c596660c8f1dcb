//! Inline fields of the Dataview plugin.

use std::ops::Range;

/// A value in the text, as the Dataview plugin reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineField {
    /// With the brackets, or from the key to the end of the line.
    pub span: Range<usize>,
    pub key: Range<usize>,
    /// Without the spaces around it; may be empty.
    pub value: Range<usize>,
    pub form: FieldForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldForm {
    /// `key:: value` as a whole line of a paragraph or list item.
    Line,
    /// `[key:: value]`
    Square,
    /// `(key:: value)`
    Round,
}

/// The key before the `::` of a line. Dataview allows marks before it (`**key**:: value`), and accepts letters, digits,
/// emoji, spaces, `_`, `/` and `-`.
pub(crate) fn line_key(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let written = &text[span.clone()];
    let start = written.find(|c: char| c.is_alphanumeric() || c == '_' || !c.is_ascii())?;
    // `_key_` is a key in italics: Dataview drops the marks at the end, and shows the leading ones as part of the name
    // only because its pattern counts `_` as a letter. They are never intended.
    let start = start + written[start..].len() - written[start..].trim_start_matches('_').len();
    let end = written.trim_end_matches(['_', '*', '~', '`']).trim_end().len();
    let key = written.get(start..end).filter(|key| !key.is_empty())?;
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '-' | ' ' | '\t') || !c.is_ascii();
    key.chars().all(allowed).then(|| span.start + start..span.start + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_line_is_parsed_like_dataview() {
        for (line, key) in [
            ("status", Some("status")),
            ("Due date ", Some("Due date")),
            ("**bold key**", Some("bold key")),
            ("_k_", Some("k")),
            ("- 🎉 größe", Some("🎉 größe")),
            ("a.b", None),
            ("C++ x", None),
            ("", None),
            ("***", None),
            ("___", None),
        ] {
            assert_eq!(line_key(line, 0..line.len()).map(|key| &line[key]), key, "{line:?}");
        }
    }
}
