//! The few tags of HTML that people write in notes; of all others, their text stays.

/// A part of some HTML.
pub(super) enum HtmlPiece {
    Text(String),
    Break,
    Style(HtmlStyle, bool),
}

#[derive(Clone, Copy)]
pub(super) enum HtmlStyle {
    Bold,
    Italic,
    Strike,
    Underline,
    Highlight,
    Code,
    Raised,
    Lowered,
}

/// Its pieces, in order. Comments, scripts and unknown tags are left out.
pub(super) fn pieces(html: &str) -> Vec<HtmlPiece> {
    let mut pieces = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        text(&mut pieces, &rest[..start]);
        rest = &rest[start..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        // Without an end it is not a tag, but a sign in the text.
        let Some(end) = rest.find('>') else {
            text(&mut pieces, rest);
            return pieces;
        };
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        let is_end = tag.starts_with('/');
        let name = tag.trim_start_matches('/').trim_end_matches('/');
        let name = name.split(|letter: char| letter.is_whitespace()).next().unwrap_or_default().to_ascii_lowercase();
        let style = match &*name {
            "b" | "strong" => Some(HtmlStyle::Bold),
            "i" | "em" => Some(HtmlStyle::Italic),
            "s" | "del" | "strike" => Some(HtmlStyle::Strike),
            "u" | "ins" => Some(HtmlStyle::Underline),
            "mark" => Some(HtmlStyle::Highlight),
            "code" | "kbd" => Some(HtmlStyle::Code),
            "sup" => Some(HtmlStyle::Raised),
            "sub" => Some(HtmlStyle::Lowered),
            _ => None,
        };
        match &*name {
            _ if style.is_some() => pieces.extend(style.map(|style| HtmlPiece::Style(style, !is_end))),
            "br" => pieces.push(HtmlPiece::Break),
            // Each on its own line, as it would be shown.
            "p" | "div" | "li" | "tr" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "summary" if is_end => {
                pieces.push(HtmlPiece::Break);
            }
            "script" | "style" if !is_end => {
                let close = format!("</{name}");
                // Searched without a copy in lower case, which could have other lengths.
                let end = rest.char_indices().map(|(at, _)| at).find(|at| {
                    rest.as_bytes()[*at..]
                        .get(..close.len())
                        .is_some_and(|part| part.eq_ignore_ascii_case(close.as_bytes()))
                });
                rest = end.map_or("", |end| &rest[end..]);
            }
            _ => {}
        }
    }
    text(&mut pieces, rest);
    pieces
}

fn text(pieces: &mut Vec<HtmlPiece>, text: &str) {
    // Line ends are blanks in HTML.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !words.is_empty() {
        let before = if text.starts_with([' ', '\n']) && !pieces.is_empty() { " " } else { "" };
        let after = if text.ends_with([' ', '\n']) { " " } else { "" };
        let words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&quot;", "\"");
        // Last, so that nothing is decoded twice.
        pieces.push(HtmlPiece::Text(format!("{before}{}{after}", words.replace("&amp;", "&"))));
    }
}
