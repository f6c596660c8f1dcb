//! Tags in the text and in properties.

use std::ops::Range;

/// A `#tag` in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Including the `#`.
    pub span: Range<usize>,
}

impl Tag {
    /// The name without the `#`.
    pub fn name(&self) -> Range<usize> {
        self.span.start + 1..self.span.end
    }
}

/// A tag of the properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyTag {
    /// Without a leading `#`.
    pub name: String,
    /// Its YAML value, including quotes.
    pub span: Range<usize>,
}

/// How many bytes of `rest`, which follows a `#`, belong to the tag; 0 if there is no tag. Digits alone are a number.
pub(crate) fn tag_length(rest: &str) -> usize {
    let length = name_length(rest);
    if rest.as_bytes()[..length].iter().all(u8::is_ascii_digit) { 0 } else { length }
}

fn name_length(rest: &str) -> usize {
    for (at, byte) in rest.bytes().enumerate() {
        if !byte.is_ascii() {
            return at + rest[at..].find(ends_tag).unwrap_or(rest.len() - at);
        }
        if ends_tag(char::from(byte)) {
            return at;
        }
    }
    rest.len()
}

fn ends_tag(c: char) -> bool {
    is_space(c)
        || matches!(c, '!'..=',' | '.' | ':'..='@' | '[' | '\\' | ']' | '^' | '`' | '{'..='~')
        || ('\u{2000}'..='\u{206f}').contains(&c)
        || ('\u{2e00}'..='\u{2e7f}').contains(&c)
}

/// Whitespace as in JavaScript's patterns, which Obsidian uses to parse tags and links.
pub(crate) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_ends_where_obsidian_ends_it() {
        for (rest, name) in [
            ("a b", "a"),
            ("a/b-c_d", "a/b-c_d"),
            ("a/", "a/"),
            ("/x", "/x"),
            ("12", ""),
            ("12/3", "12/3"),
            ("1a", "1a"),
            ("größe.", "größe"),
            ("石、庭", "石、庭"),
            ("«x»", "«x»"),
            ("a—b", "a"),
            ("a…", "a"),
            ("it’s", "it"),
            ("it's", "it"),
            ("👩\u{200d}🔬", "👩"),
            ("❤\u{fe0f}x", "❤\u{fe0f}x"),
            ("a\u{a0}b", "a"),
            ("a\u{2e3a}", "a"),
            ("a#b", "a"),
            ("", ""),
            (" a", ""),
        ] {
            assert_eq!(&rest[..tag_length(rest)], name, "{rest:?}");
        }
        for end in "'!\"#$%&()*+,.:;<=>?@^`{|}~[]\\".chars() {
            assert_eq!(tag_length(&format!("a{end}b")), 1, "{end}");
        }
    }
}
