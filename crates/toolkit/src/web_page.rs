//! A web page as Markdown. Nothing is fetched: pictures become links, so that opening the note tells no server about it.

mod page_text;

use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};
use lapidary_note::count_steps;

use self::page_text::PageText;
pub(crate) use self::page_text::absolute_address;

/// What a page says, and what it says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebPage {
    pub markdown: String,
    pub title: Option<String>,
    pub author: Option<String>,
    pub published: Option<String>,
    pub url: Option<String>,
    /// The addresses of its pictures, if they were asked for. Each is a link in the text.
    pub pictures: Vec<String>,
    /// Whether scripts could make more of it.
    pub has_scripts: bool,
}

/// Elements that are not part of what a page says.
const SKIPPED: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "nav", "footer", "aside", "form", "button", "select", "iframe",
    "object", "canvas", "video", "audio", "dialog",
];
/// Elements of which at most one level is what a page is about.
const MAIN: &[&str] = &["article", "main"];

impl WebPage {
    /// `base` is the address of the page, for links that are relative to it.
    pub fn read(html: &str, base: Option<&str>) -> Self {
        Self::read_with(html, base, false)
    }

    /// The same, with a link for every picture, also for those without words.
    pub fn read_with_pictures(html: &str, base: Option<&str>) -> Self {
        Self::read_with(html, base, true)
    }

    fn read_with(html: &str, base: Option<&str>, with_pictures: bool) -> Self {
        let mut page = Self::default();
        let tokens = page.tokens(html);
        page.has_scripts = tokens.iter().any(|token| matches!(token, Token::StartTag(tag) if is(&tag.name, "script")));
        let base = base.or(page.url.as_deref()).map(str::to_owned);
        // A page that is badly closed may have everything in an element that is skipped; better all of it than nothing.
        for choice in [PageChoice::Main, PageChoice::Body, PageChoice::All] {
            (page.markdown, page.pictures) = choice.markdown(&tokens, base.as_deref(), with_pictures);
            if !page.markdown.is_empty() {
                break;
            }
        }
        page
    }

    /// The tokens of a page. What its head says about it is kept.
    fn tokens(&mut self, html: &str) -> Vec<Token<()>> {
        let mut emitter = DefaultEmitter::default();
        // Scripts and styles end at their end tags, not at what looks like one of their elements.
        emitter.naively_switch_states(true);
        let mut tokens = Vec::new();
        let (mut in_title, mut title) = (false, String::new());
        let mut social_title = None;
        for token in Tokenizer::new_with_emitter(html, emitter) {
            count_steps(16);
            let Ok(token) = token;
            match &token {
                Token::StartTag(tag) if is(&tag.name, "title") && title.is_empty() => in_title = true,
                Token::EndTag(tag) if is(&tag.name, "title") => in_title = false,
                Token::String(text) if in_title => title += &text_of(text),
                Token::StartTag(tag) if is(&tag.name, "meta") => {
                    let name = attribute(tag, "property").or_else(|| attribute(tag, "name")).unwrap_or_default();
                    let content = attribute(tag, "content").map(|content| one_line(&content));
                    let content = content.filter(|content| !content.is_empty());
                    let slot = match &*name.to_ascii_lowercase() {
                        "og:title" => &mut social_title,
                        "author" | "dc.creator" => &mut self.author,
                        "article:published_time" | "date" => &mut self.published,
                        "og:url" => &mut self.url,
                        _ => continue,
                    };
                    *slot = slot.take().or(content);
                }
                Token::StartTag(tag) if is(&tag.name, "link") => {
                    let is_own = attribute(tag, "rel").is_some_and(|rel| rel.eq_ignore_ascii_case("canonical"));
                    // The canonical address wins over the one for social networks.
                    self.url = attribute(tag, "href").filter(|_| is_own).or(self.url.take());
                }
                Token::StartTag(_) | Token::EndTag(_) | Token::String(_) if !in_title => tokens.push(token),
                _ => {}
            }
        }
        let title = one_line(&title);
        // The social title usually lacks the name of the site.
        self.title = social_title.or((!title.is_empty()).then_some(title));
        let is_address = |url: &String| url.starts_with("https://") || url.starts_with("http://");
        self.url = self.url.take().filter(is_address);
        tokens
    }
}

/// Which part of a page is wanted.
#[derive(Clone, Copy, PartialEq)]
enum PageChoice {
    /// The article, where the page marks it.
    Main,
    Body,
    All,
}

impl PageChoice {
    fn markdown(self, tokens: &[Token<()>], base: Option<&str>, with_pictures: bool) -> (String, Vec<String>) {
        let mut text = PageText::new(base, with_pictures);
        let mut skipped: Option<(&str, usize)> = None;
        let mut main = 0_usize;
        for token in tokens {
            count_steps(16);
            let (name, is_start) = match token {
                Token::StartTag(tag) => (name_of(&tag.name), true),
                Token::EndTag(tag) => (name_of(&tag.name), false),
                _ => ("", false),
            };
            if let Some((element, depth)) = &mut skipped {
                if name == *element {
                    *depth = if is_start { *depth + 1 } else { *depth - 1 };
                }
                // An element that is never closed ends with the body at the latest.
                if *depth == 0 || (matches!(name, "body" | "html") && !is_start) {
                    skipped = None;
                }
                continue;
            }
            let is_skipped = match self {
                // What is said to readers without scripts is not what the page says.
                Self::All => matches!(name, "script" | "style" | "template" | "noscript"),
                Self::Main | Self::Body => SKIPPED.contains(&name),
            };
            if is_start && is_skipped && !matches!(token, Token::StartTag(tag) if tag.self_closing) {
                skipped = Some((name, 1));
                continue;
            }
            if MAIN.contains(&name) {
                main = if is_start { main + 1 } else { main.saturating_sub(1) };
            }
            if self == Self::Main && main == 0 {
                text.end_block();
                continue;
            }
            match token {
                Token::StartTag(tag) => text.open(name, tag),
                Token::EndTag(_) => text.close(name),
                Token::String(words) => text.add(&text_of(words)),
                _ => {}
            }
        }
        text.finish()
    }
}

fn name_of(name: &HtmlString) -> &str {
    std::str::from_utf8(name).unwrap_or_default()
}

fn is(name: &HtmlString, other: &str) -> bool {
    name_of(name) == other
}

fn text_of(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    tag.attributes.get(name.as_bytes()).map(|value| text_of(value))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use lapidary_note::Note;
    use proptest::prelude::*;

    use super::*;

    fn markdown(html: &str) -> String {
        WebPage::read(html, Some("https://a.example/dir/page.html")).markdown
    }

    #[test]
    fn a_page_becomes_markdown() {
        for (html, expected) in [
            ("<p>One <b>two</b> <i>three</i><p>four", "One **two** *three*\n\nfour\n"),
            ("<h2>Head <em>on</em></h2>text", "## Head *on*\n\ntext\n"),
            ("<p>a<br>b</p>", "a  \nb\n"),
            ("<ul><li>a<li>b<ul><li>c</ul></ul><p>d", "- a\n- b\n  - c\n\nd\n"),
            ("<ol start=3><li><p>a</p><p>b</p></li><li>c</li></ol>", "3. a\n\n   b\n4. c\n"),
            ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b\n"),
            ("<blockquote><ul><li>a</li></ul></blockquote>", "> - a\n"),
            ("<p>a</p><blockquote>b<blockquote>c</blockquote></blockquote>d", "a\n\n> b\n>\n> > c\n\nd\n"),
            ("<ul><li>a</li></ul><blockquote>b</blockquote>", "- a\n\n> b\n"),
            ("<pre><code class='language-rust'>fn a() {\n  b\n}\n</code></pre>", "```rust\nfn a() {\n  b\n}\n```\n"),
            ("<p>run <code>a `b`</code></p>", "run ``a `b` ``\n"),
            ("<p><a href='/x y'>link</a> <a href='#top'>here</a>", "[link](https://a.example/x%20y) here\n"),
            ("<a href='b.html'>b</a> <a href='javascript:x()'>no</a>", "[b](https://a.example/dir/b.html) no\n"),
            ("<img src='p.png' alt='A stone'>", "[Picture: A stone](https://a.example/dir/p.png)\n"),
            (
                "<table><tr><th>a<th>b|c<tr><td>1<td><p>2</p><p>3</p></table>",
                "| a | b\\|c |\n| --- | --- |\n| 1 | 2 3 |\n",
            ),
            ("<table><tr><td>layout</td></tr></table>", "layout\n"),
            ("<hr>a", "***\n\na\n"),
            ("<hr><p>tags: x<hr>a", "***\n\ntags: x\n\n***\n\na\n"),
            (
                "<table><tr><td>a<tr><td>b<td>c<td>d<tr><td>e",
                "| a |  |  |\n| --- | --- | --- |\n| b | c | d |\n| e |\n",
            ),
            ("a<script>if (a<b) { x = '</p>' }</script>b", "ab\n"),
            ("<nav>menu</nav><main><p>said</p></main><footer>f</footer>", "said\n"),
            ("<header>Site</header><article><h1>T</h1>x</article>y", "# T\n\nx\n"),
            ("<nav>never closed <p>all", "never closed\n\nall\n"),
            ("&lt;b&gt; &amp;amp; 1*2 #tag [x] $5 a_b", "\\<b> \\&amp; 1\\*2 \\#tag \\[x\\] \\$5 a_b\n"),
            ("<p># no</p><p>- no</p><p>1. no</p><p>&gt; no</p>", "\\# no\n\n\\- no\n\n1\\. no\n\n\\> no\n"),
            ("", ""),
        ] {
            assert_eq!(markdown(html), expected, "{html}");
        }
    }

    #[test]
    fn a_page_says_what_it_is() {
        let page = WebPage::read(
            "<title>Slate \n roofs</title><meta name=author content='Ada &amp; Co'>\
             <link rel=canonical href=https://a.example/slate>\
             <meta property='article:published_time' content=2026-01-02T03:04:05Z><p>x",
            None,
        );
        let expected = WebPage {
            markdown: "x\n".to_owned(),
            title: Some("Slate roofs".to_owned()),
            author: Some("Ada & Co".to_owned()),
            published: Some("2026-01-02T03:04:05Z".to_owned()),
            url: Some("https://a.example/slate".to_owned()),
            pictures: Vec::new(),
            has_scripts: false,
        };
        assert_eq!(page, expected);
    }

    #[test]
    fn deep_nesting_ends() {
        for element in ["blockquote", "ul><li", "div", "b", "a href=x", "table><tr><td"] {
            let deep = format!("{}text", format!("<{element}>").repeat(20_000));
            let text = markdown(&deep);
            assert!(text.contains("text") && text.len() < 200_000, "{element}: {}", text.len());
        }
    }

    proptest! {
        #[test]
        fn text_stays_text(words in "[ -~]{0,40}") {
            let html = words.replace('&', "&amp;").replace('<', "&lt;");
            let text = markdown(&format!("<p>{html}</p>"));
            let note = Note::parse(&text);
            prop_assert!(note.tags.is_empty() && note.links.iter().all(|link| text[link.span.clone()].starts_with("http"))
                && note.headings.is_empty() && note.items.is_empty() && note.blocks.is_empty() && note.frontmatter.is_none(),
                "{}", text);
        }

        #[test]
        fn every_soup_is_read(html in "(<[a-z/]{1,10}[ =\"a-z]{0,8}>|[ -~]|&[a-z]{1,5};|\n){0,60}") {
            drop(markdown(&html));
        }
    }
}
