//! Text of others as markup.

use std::fmt::{self, Display, Write};

use lapidary_note::{one_line, visible};

/// Each is many times longer than what it stands for.
const MOST_MARKS: usize = 100;

/// Text of notes, names and clients as HTML: escaped, with every character visible that would not be, or that would turn
/// the text around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownText(String);

impl ShownText {
    /// One line: a name, a path, a word.
    pub fn line(text: &str) -> Self {
        // Escaped last, together with what `one_line` writes in place of invisible characters.
        Self(escaped(&one_line(text)))
    }

    /// A sentence of ours on one line, with names of others between backticks, which they cannot contain. Those are set apart, so
    /// that none can pass for our own words.
    pub fn sentence(text: &str) -> Self {
        let line = one_line(text);
        let parts: Vec<&str> = line.split('`').collect();
        // The last part is never a name: without its second backtick it is not quoted.
        let is_name = |number: usize| number % 2 == 1 && number + 1 < parts.len();
        let mut html = String::with_capacity(text.len() + 32);
        for (number, part) in parts.iter().enumerate() {
            let shown = Self(escaped(part));
            if is_name(number) { push_marked(&mut html, "code", &shown) } else { html.push_str(&shown.0) }
        }
        Self(html)
    }

    /// A part of a line of which every character counts: what cannot be seen is set apart as a mark that no text can pass for, also blanks
    /// from a byte on.
    pub(crate) fn exact(text: &str, blanks_from: usize) -> Self {
        const END: &str = "</span>";
        let (mut html, mut run, mut marks) = (String::with_capacity(text.len() + 16), 0, 0);
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            let mark = match c {
                // Joiners depend on what is beside them.
                '\u{200c}' | '\u{200d}' => continue,
                '\t' => "→".to_owned(),
                ' ' if at >= blanks_from => "·".to_owned(),
                _ if one_line(&text[at..end]) == text[at..end] => continue,
                _ => format!("U+{:04X}", u32::from(c)),
            };
            html.push_str(&Self::line(&text[run..at]).0);
            // Several in a row are one mark.
            if run == at && html.ends_with(END) {
                html.truncate(html.len() - END.len());
            } else {
                marks += 1;
                html.push_str("<span class=\"odd\">");
            }
            html.push_str(&mark);
            html.push_str(END);
            // The tab itself follows its mark, so that columns stay aligned.
            if c == '\t' {
                html.push(c);
            }
            run = end;
            // Of a text made to be marked, the rest is shown as elsewhere.
            if marks == MOST_MARKS {
                break;
            }
        }
        html.push_str(&Self::line(&text[run..]).0);
        Self(html)
    }

    /// One line in pieces, of which some are marked.
    pub fn marked<'p>(pieces: impl IntoIterator<Item = (&'p str, bool)>) -> Self {
        let mut html = String::new();
        for (piece, is_marked) in pieces {
            let piece = Self::line(piece);
            if is_marked { push_marked(&mut html, "mark", &piece) } else { html.push_str(&piece.0) }
        }
        Self(html)
    }

    /// Text of several lines.
    pub fn block(text: &str) -> Self {
        Self(escaped(&visible(text)))
    }
}

impl Display for ShownText {
    // Templates write it with `|safe`: it is the one type that may be, because `escaped` has run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

/// Marks a part of a line.
pub(crate) fn push_marked(html: &mut String, tag: &str, part: &ShownText) {
    // Writing to a string cannot fail.
    write!(html, "<{tag}>{part}</{tag}>").unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup_or_hides() {
        let hostile = "<script>alert(1)</script>\" onerror='x' &amp; \u{202e}gpj.exe \u{1b}[31m \u{200b}";
        for shown in [ShownText::line(hostile), ShownText::block(hostile)] {
            let html = shown.to_string();
            assert!(!html.contains(['<', '>', '"', '\'', '\u{202e}', '\u{1b}', '\u{200b}']), "{html}");
            assert!(html.contains("&lt;script&gt;") && html.contains("&amp;amp;") && html.contains("202e"), "{html}");
        }
        let said = ShownText::sentence("`file_create` wants to change `<b>ok.md is safe.md` in `Notes`. Odd ` one");
        assert_eq!(
            said.to_string(),
            "<code>file_create</code> wants to change <code>&lt;b&gt;ok.md is safe.md</code> in <code>Notes</code>. Odd  one"
        );
        let marked = ShownText::marked([("a<", false), ("<b>", true), (" \u{202e}", false)]).to_string();
        assert!(marked.starts_with("a&lt;<mark>&lt;b&gt;</mark> ") && !marked.contains('\u{202e}'), "{marked}");
        assert_eq!(ShownText::block("a\n\tb").to_string(), "a\n\tb");
        assert!(!ShownText::line("a\nb").to_string().contains('\n'));
    }
}
