//! A note as HTML that is safe to show: its text becomes neither markup nor an address that runs something.

use std::fmt::{self, Write};

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html::write_html_fmt};

use crate::{Document, count_steps};

/// Addresses that lead somewhere and run nothing.
const SCHEMES: &[&str] = &["http", "https", "mailto", "obsidian", "tel"];

/// The HTML would be longer than is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the note is too long to be shown as HTML")]
pub struct HtmlTooLong;

impl Document {
    /// The text without its frontmatter. Wikilinks are links of the class `internal-link`, as in Obsidian; HTML in the note is shown
    /// as the text that it is.
    pub fn to_html(&self, longest: usize) -> Result<String, HtmlTooLong> {
        let start = self.frontmatter().map_or(0, |frontmatter| frontmatter.span.end);
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_WIKILINKS;
        let events = Parser::new_ext(&self.shown()[start..], options).inspect(|_| count_steps(1)).map(safe);
        let mut html = LimitedText { text: String::new(), longest };
        write_html_fmt(&mut html, events).map_err(|fmt::Error| HtmlTooLong)?;
        Ok(html.text)
    }
}

/// A part of a note, without anything that could be more than text, a link or a picture.
fn safe(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        // The lines in between are text, and a paragraph keeps them together.
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Link { link_type: LinkType::WikiLink { .. }, dest_url, .. }) => {
            // Also in the address: a quote would end the attribute.
            let address = escaped(&safe_address(dest_url));
            Event::Html(format!("<a data-href=\"{address}\" href=\"{address}\" class=\"internal-link\">").into())
        }
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: safe_address(dest_url), title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Image { link_type, dest_url: safe_address(dest_url), title, id })
        }
        other => other,
    }
}

fn safe_address(address: CowStr<'_>) -> CowStr<'_> {
    // Kept as a link that leads nowhere, so that the note looks as it is.
    if has_safe_scheme(&address) { address } else { CowStr::Borrowed("#") }
}

/// Browsers drop control characters and blanks, so these do not count, wherever they are.
fn has_safe_scheme(address: &str) -> bool {
    // A colon behind any of the others belongs to a path, and not to a scheme.
    let scheme = address.find([':', '/', '?', '#']).filter(|at| address[*at..].starts_with(':'));
    let Some(at) = scheme else { return true };
    let scheme: String = address[..at].chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect();
    SCHEMES.iter().any(|safe| scheme.eq_ignore_ascii_case(safe))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Text that may grow to a length.
struct LimitedText {
    text: String,
    longest: usize,
}

impl Write for LimitedText {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        // Before it is added, so that the text never grows beyond its limit.
        if part.len() > self.longest - self.text.len() {
            return Err(fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileContent;

    fn html(text: &str) -> String {
        Document::open(FileContent::from(text.as_bytes().to_vec())).unwrap().to_html(1 << 20).unwrap()
    }

    #[test]
    fn a_note_is_shown_as_html_without_its_frontmatter() {
        assert_eq!(
            html("---\na: 1\n---\n# One\n\n- [x] done **now** [[Other note|it]]\n"),
            "<h1>One</h1>\n<ul>\n<li><input disabled=\"\" type=\"checkbox\" checked=\"\"/>\ndone <strong>now</strong> \
             <a data-href=\"Other note\" href=\"Other note\" class=\"internal-link\">it</a></li>\n</ul>\n"
        );
        assert_eq!(
            html("[a](https://example.com) ~~b~~"),
            "<p><a href=\"https://example.com\">a</a> <del>b</del></p>\n"
        );
    }

    #[test]
    fn nothing_in_a_note_becomes_markup_or_runs() {
        for hostile in [
            "<script>alert(1)</script>",
            "text <img src=x onerror=alert(1)> text",
            "<div\nonclick='x'>\n\n</div>",
            "[x](javascript:alert(1))",
            "[x](<java\tscript:alert(1)>)",
            "[x](JaVaScRiPt&colon;alert(1))",
            "![x](data:text/html,<script>1</script>)",
            "<javascript:alert(1)>",
            "[[javascript:alert(1)|x]]",
            "[[a\"onmouseover=\"alert(1)|x]]",
            "![[vbscript:x]]",
            "[x]: javascript:alert(1)\n\n[x]",
            "`<script>`",
            "```<script>\n</code><script>\n```",
            "[x](y \"<script>\")",
            "| <script> |\n|---|\n| <b onload=x> |\n",
            "[^<script>]\n\n[^<script>]: \"><img src=x onerror=y>",
        ] {
            let html = html(hostile);
            for sign in [
                "<script",
                "<img src=x",
                "<img src=\"x\" on",
                "<b ",
                "<div o",
                "<div\n",
                "=\"javascript",
                "=\"data:",
                "src=\"vbscript",
                "href=\"vbscript",
                "\" onm",
                "\"onm",
            ] {
                assert!(!html.to_lowercase().contains(sign), "{hostile}: {html}");
            }
            assert!(!html.contains("href=\"java"), "{hostile}: {html}");
        }
    }

    #[test]
    fn the_length_is_limited() {
        let wide = format!("|{}\n|{}\n{}", "a|".repeat(2_000), "-|".repeat(2_000), "|b|\n".repeat(2_000));
        let document = Document::open(FileContent::from(wide.into_bytes())).unwrap();
        assert_eq!(document.to_html(100_000), Err(HtmlTooLong));
        assert_eq!(html(&"> ".repeat(5_000)).len() % 2, 0);
    }
}
