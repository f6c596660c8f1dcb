//! Texts that the app sends, within limits: names of commands, and what Omnisearch found.

use lapidary_tools::{AppCommand, OmnisearchHit, OmnisearchMatch};

/// Longer names are not names.
const MOST_NAME_CHARS: usize = 200;
const MOST_EXCERPT_CHARS: usize = 2_000;
const MOST_WORDS: usize = 50;

/// A command with a name that can be shown.
pub(super) fn command(command: lapidary_plugin::AppCommand) -> Option<AppCommand> {
    let lapidary_plugin::AppCommand { id, name } = command;
    let is_name =
        // Control characters in a name could forge lines in a list that a model or a terminal reads.
        |text: &str| !text.is_empty() && text.chars().count() <= MOST_NAME_CHARS && !text.chars().any(char::is_control);
    (is_name(&id) && is_name(&name)).then_some(AppCommand { id, name })
}

/// What Omnisearch found.
pub(super) fn hit(hit: lapidary_plugin::OmnisearchHit) -> Option<OmnisearchHit> {
    let spot = |found: lapidary_plugin::OmnisearchMatch| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in a note, and it saturates"
        )]
        let offset = found.offset as u64;
        OmnisearchMatch { text: clipped(found.text, MOST_NAME_CHARS), offset }
    };
    // A score that is not a number cannot be ranked, and JSON has no way to send it.
    hit.score.is_finite().then(|| OmnisearchHit {
        path: hit.path,
        score: hit.score,
        // Limits for each part, since the excerpt of one hit may be a whole note.
        found_words: hit.found_words.into_iter().take(MOST_WORDS).map(|word| clipped(word, MOST_NAME_CHARS)).collect(),
        matches: hit.matches.into_iter().take(MOST_WORDS).map(spot).collect(),
        excerpt: clipped(text_of(&hit.excerpt), MOST_EXCERPT_CHARS),
    })
}

fn clipped(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
    }
    text
}

/// The text of an excerpt, which is HTML: lines end with `<br>`, what was found is marked.
fn text_of(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = if rest.starts_with('<') { tag(rest, &mut text) } else { entity(rest, &mut text) };
        rest = &rest[taken..];
    }
    text.push_str(rest);
    text
}

/// A tag, or a `<` that begins none; how many bytes it has.
fn tag(rest: &str, text: &mut String) -> usize {
    // Only the tags that Omnisearch writes. All others are text of the note and stay as they are.
    for known in ["<br>", "<br/>", "<br />"] {
        if rest.starts_with(known) {
            text.push('\n');
            return known.len();
        }
    }
    let marks = ["<mark>", "</mark>", "<strong>", "</strong>"];
    if let Some(mark) = marks.into_iter().find(|mark| rest.starts_with(mark)) {
        return mark.len();
    }
    // `<mark class="…">`
    if rest.starts_with("<mark ")
        && let Some(end) = rest.find('>')
    {
        return end + 1;
    }
    text.push('<');
    1
}

/// A character in its escaped form, or an `&` that begins none; how many bytes it has.
fn entity(rest: &str, text: &mut String) -> usize {
    // Longer than any name below; without a limit each `&` would search the rest of the text.
    const LONGEST: usize = 12;
    let end = rest.bytes().take(LONGEST).position(|byte| byte == b';');
    let name = end.map(|end| &rest[1..end]);
    let number = |digits: &str, base| u32::from_str_radix(digits, base).ok().and_then(char::from_u32);
    let meant = match name {
        Some("amp") => Some('&'),
        Some("lt") => Some('<'),
        Some("gt") => Some('>'),
        Some("quot") => Some('"'),
        Some("apos") => Some('\''),
        Some("nbsp") => Some(' '),
        Some(name) => name.strip_prefix('#').and_then(|digits| match digits.strip_prefix(['x', 'X']) {
            Some(digits) => number(digits, 16),
            None => number(digits, 10),
        }),
        None => None,
    };
    // Not an entity that is known: the `&` is text, and what follows it is looked at again.
    match (meant, end) {
        (Some(meant), Some(end)) => {
            text.push(meant);
            end + 1
        }
        _ => {
            text.push('&');
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_read_as_text() {
        for (html, text) in [
            ("a<br>b<br />c", "a\nb\nc"),
            ("the <mark class=\"x\">slate</mark> roof", "the slate roof"),
            ("1 &lt; 2 &amp;&amp; 3 &#x27;x&#39; &quot;", "1 < 2 && 3 'x' \""),
            ("&amp;lt;", "&lt;"),
            ("a < b & c &unknown; &#xZZ; <", "a < b & c &unknown; &#xZZ; <"),
            ("ä&", "ä&"),
            ("", ""),
        ] {
            assert_eq!(text_of(html), text, "{html}");
        }
    }

    #[test]
    fn what_is_no_name_is_no_command() {
        let made = |id: &str, name: &str| {
            command(lapidary_plugin::AppCommand { id: id.to_owned(), name: name.to_owned() }).is_some()
        };
        assert!(made("a:b", "Name"));
        assert!(!made("", "Name") && !made("a", "") && !made("a\nb", "Name") && !made("a", &"x".repeat(201)));
    }
}
