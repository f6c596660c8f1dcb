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

/// No tags, if a text from `body` on cannot have any, so that it need not be parsed to know that: `#` is not followed by a
/// name anywhere, as in headings. `None` if there may be some.
pub(crate) fn plain_tags(text: &str, body: usize) -> Option<Vec<Tag>> {
    let shown = &text[body..];
    // What else is around a candidate, such as code or a link, is for the parse to say.
    let may_be_tag = |at: usize| tag_length(&shown[at + 1..]) > 0;
    let has_none = !memchr::memchr_iter(b'#', shown.as_bytes()).any(may_be_tag);
    has_none.then(Vec::new)
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
    use proptest::prelude::*;

    use super::*;
    use crate::Note;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn tags_of_plain_texts_are_those_that_parsing_finds(parts in proptest::collection::vec(0..PARTS.len(), 0..14)) {
            let text: String = parts.into_iter().map(|part| PARTS[part]).collect();
            prop_assert_eq!(&Note::tagged(&text).tags, &Note::parse(&text).tags, "{:?}", text);
        }
    }

    const PARTS: [&str; 52] = [
        "#a",
        " #b",
        "#c_d",
        " #é",
        "#1",
        "#",
        "# ",
        "## ",
        " ",
        "\n",
        "\n\n",
        "\n \n",
        "- ",
        "1. ",
        "> ",
        ">",
        "`",
        "```\n",
        "~~~\n",
        "[",
        "]",
        "[[",
        "]]",
        "](x)",
        "[[N#H]]",
        "[ ] ",
        "[^1]: ",
        "$",
        "$$",
        "%%",
        "<b>",
        "<!--",
        "-->",
        "\\",
        "    ",
        "\t",
        "_",
        "*",
        "**",
        "==",
        "=",
        "a",
        "b ",
        "|",
        "|-|\n",
        "&#x41;",
        "http://x.y",
        "k:: ",
        " ^id",
        "---\n",
        "~~",
        "a@b.c",
    ];

    #[test]
    fn plain_texts_need_no_parsing() {
        let names = |text: &str| {
            let tags = plain_tags(text, 0)?;
            Some(tags.into_iter().map(|tag| text[tag.name()].to_owned()).collect::<Vec<_>>().join(" "))
        };
        for (text, found) in [
            ("# Heading\n\n## Another\n\nIssue #12.\n", Some("")),
            ("See [[Roof#Slates]] and [[Roof#Slates|slates]].\n", None),
            ("[[Roof]] `c`\n\n- a #tag\n- b #石/x *c* #d.\n", None),
            ("**#bold**\n", None),
            ("#a_b\n", None),
            ("a [[Roof]] #tag\n", None),
            ("```\n\n#a\n\n```\n", None),
            ("[[Roof #x]]\n", None),
            ("\\[[Roof#x]]\n", None),
            ("a@b.de#c\n", None),
        ] {
            assert_eq!(names(text).as_deref(), found, "{text:?}");
        }
    }

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
