//! The text of a page of strangers as it goes into a note: every word of it can be read, and nothing of it is a property, an embed,
//! a link into the vault, a tag, a query or a placeholder there.

use std::ops::Range;

use lapidary_note::{CodeKind, Frontmatter, LinkKind, Note, count_steps};

use crate::web_page::absolute_address;

/// Escaping one thing can make another of what is behind it; two rounds are enough for all that is known.
const MOST_ROUNDS: usize = 4;

/// What a page was before it was Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOrigin {
    /// Its pictures and links are written by us.
    Html,
    /// It is as strangers wrote it.
    Markdown,
}

/// The same text, of which nothing is live in a note. `base` is the address of the page.
pub fn as_text(text: &str, origin: PageOrigin, base: Option<&str>) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut text = without_properties(text);
    if origin == PageOrigin::Markdown {
        text = with_addresses(&text, base);
    }
    for _ in 0..MOST_ROUNDS {
        let next = escaped(&text, origin);
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Properties at the start are shown as what they are, and set nothing.
fn without_properties(text: String) -> String {
    match Frontmatter::find(&text) {
        Some(block) => {
            let yaml = &text[block.yaml.clone()];
            let longest = yaml.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
            // Longer than any run of backticks in it.
            let fence = "`".repeat(longest.max(2) + 1);
            let end = if yaml.is_empty() || yaml.ends_with('\n') { "" } else { "\n" };
            format!("{fence}yaml\n{yaml}{end}{fence}\n{}", &text[block.span.end..])
        }
        None if text.starts_with("---") => format!("\\{text}"),
        None => text,
    }
}

/// Links to other pages with their whole addresses. Without these, they would lead to files of the vault.
fn with_addresses(text: &str, base: Option<&str>) -> String {
    let note = Note::parse(text);
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let inline = note.links.iter().filter(|link| link.kind == LinkKind::Markdown && link.internal);
    for link in inline.filter(|link| !link.path.is_empty()) {
        let written = text[link.destination.clone()].trim_matches(['<', '>']);
        // One that cannot be completed leads nowhere.
        let address = absolute_address(base, written).unwrap_or_else(|| "#".to_owned());
        edits.push((link.destination.clone(), address));
    }
    let is_whole = |written: &str| {
        let begins = |scheme: &str| written.get(..scheme.len()).is_some_and(|found| found.eq_ignore_ascii_case(scheme));
        ["http://", "https://", "mailto:"].iter().any(|scheme| begins(scheme))
    };
    // Addresses of programs, such as `obsidian://`, do something when they are clicked.
    for link in note.links.iter().filter(|link| !link.internal) {
        let written = text[link.destination.clone()].trim_matches(['<', '>']);
        match (link.kind, written.find(':')) {
            _ if is_whole(written) => {}
            (LinkKind::Markdown, _) => edits.push((link.destination.clone(), "#".to_owned())),
            (LinkKind::Url, Some(colon)) => {
                let start = link.destination.start + text[link.destination.clone()].find(written).unwrap_or_default();
                edits.extend((link.span.start < start).then(|| before(link.span.start)));
                edits.push(before(start + colon));
            }
            _ => {}
        }
    }
    for definition in &note.definitions {
        let written = text[definition.destination.clone()].trim_matches(['<', '>']);
        if !is_whole(written) && !written.starts_with('#') {
            let address = absolute_address(base, written).unwrap_or_else(|| "#".to_owned());
            edits.push((definition.destination.clone(), address));
        }
    }
    edited(text, edits)
}

/// One round of escaping, outside of code but for code that is a query.
fn escaped(text: &str, origin: PageOrigin) -> String {
    let note = Note::parse(text);
    let mut edits: Vec<(Range<usize>, String)> = note.tags.iter().map(|tag| before(tag.span.start)).collect();
    for code in &note.code {
        let content = &text[code.content.clone()];
        // As JavaScript trims it.
        let query = content.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}');
        // A query of Dataview begins with `=`; a comparison or an arrow is none.
        let is_query =
            query.strip_prefix('=').is_some_and(|rest| !rest.trim().is_empty() && !rest.starts_with(['=', '>']));
        if code.kind == CodeKind::Span && is_query {
            edits.push(before(code.content.end - query.len()));
        }
    }
    // Most signs do not mark up anything in an address, which has to stay what it is.
    let links = note.links.iter().filter(|link| !link.internal && link.kind != LinkKind::Reference);
    let addresses = links.map(|link| match link.kind {
        LinkKind::Url => link.span.clone(),
        _ => link.destination.clone(),
    });
    let mut addresses = addresses.peekable();
    let mut kept = note.code.iter().map(|code| code.span.clone()).peekable();
    let begins_tag = |next: u8| next.is_ascii_alphabetic() || b"/!?".contains(&next);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        count_steps(1);
        while kept.next_if(|span| span.end <= at).is_some() {}
        if let Some(span) = kept.peek().filter(|span| span.start <= at) {
            at = span.end;
            continue;
        }
        while addresses.next_if(|span| span.end <= at).is_some() {}
        let in_address = addresses.peek().is_some_and(|span| span.start <= at);
        let (last, next) = (at.checked_sub(1).map(|last| bytes[last]), bytes.get(at + 1).copied());
        match bytes[at] {
            // `[[`, `{{`, `::` and `%%` mean something as pairs alone.
            byte @ (b'[' | b'{') if last == Some(byte) && !is_escaped(bytes, at) => edits.push(before(at)),
            _ if in_address => {}
            byte @ (b':' | b'%') if last == Some(byte) && !is_escaped(bytes, at) => edits.push(before(at)),
            b'!' if next == Some(b'[') && !is_escaped(bytes, at) => match (origin, bytes.get(at + 2)) {
                // A picture is a link, so that looking at the note tells no host about it.
                (PageOrigin::Markdown, Some(third)) if *third != b'[' => {
                    let words = if *third == b']' { "[Picture" } else { "[Picture: " };
                    edits.push((at..at + 2, words.to_owned()));
                }
                _ => edits.push(before(at)),
            },
            b'<' if next.is_some_and(begins_tag) && !is_escaped(bytes, at) => edits.push(before(at)),
            _ => {}
        }
        at += 1;
    }
    edited(text, edits)
}

fn before(at: usize) -> (Range<usize>, String) {
    (at..at, "\\".to_owned())
}

/// Whether a sign is behind an odd number of backslashes.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    edits.dedup();
    let (mut done, mut at) = (String::with_capacity(text.len() + edits.len()), 0);
    for (span, new) in edits {
        // Of two that overlap, the first; the other is found in the next round.
        if span.start < at {
            continue;
        }
        done += &text[at..span.start];
        done += &new;
        at = span.end;
    }
    done + &text[at..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASE: Option<&str> = Some("https://a.example/dir/page.md");

    fn of_markdown(text: &str) -> String {
        as_text(text, PageOrigin::Markdown, BASE)
    }

    #[test]
    fn nothing_of_a_page_is_live_in_a_note() {
        for (text, expected) in [
            ("---\ntags: [a]\n---\nx\n", "```yaml\ntags: [a]\n```\nx\n"),
            ("\u{feff}---\r\nk: ```\r\n---\r\nx\r\n", "````yaml\nk: ```\n````\nx\n"),
            ("---\nnever closed\n", "\\---\nnever closed\n"),
            ("![[Private note]] [[a|b]]", "\\![\\[Private note]] [\\[a|b]]"),
            ("\\[[x]] [[[y]]]", "\\[\\[x]] [\\[\\[y]]]"),
            (
                "![a](p.png) ![](https://b.example/x.png)",
                "[Picture: a](https://a.example/dir/p.png) [Picture](https://b.example/x.png)",
            ),
            ("[a](Other.md#part) [b](#here)", "[a](https://a.example/dir/Other.md#part) [b](#here)"),
            ("[a][r]\n\n[r]: other.md\n", "[a][r]\n\n[r]: https://a.example/dir/other.md\n"),
            ("{{title}} {% x %}", "{\\{title}} {% x %}"),
            ("key:: value [k:: v] std::vec", "key:\\: value [k:\\: v] std:\\:vec"),
            ("`= this.file.name` `=> x` `a == b` `==`", "`\\= this.file.name` `=> x` `a == b` `==`"),
            ("`\u{feff}= this.b`", "`\u{feff}\\= this.b`"),
            (
                "[o](obsidian://open?file=x) [j](JavaScript:alert(1)) [m](mailto:a@b.example)",
                "[o](#) [j](#) [m](mailto:a@b.example)",
            ),
            ("<obsidian://open?file=x> <https://a.example/>", "\\<obsidian\\://open?file=x> <https://a.example/>"),
            ("a #tag # b", "a \\#tag # b"),
            ("<img src=x> <https://a.example/> a < b", "\\<img src=x> <https://a.example/> a < b"),
            ("%%hidden%%", "%\\%hidden%\\%"),
            ("`[[x]] {{y}}`\n\n```toml\n[[bin]]\na:: b\n```\n", "`[[x]] {{y}}`\n\n```toml\n[[bin]]\na:: b\n```\n"),
            ("# Head\n\n- **b** [l](https://a.example/)\n", "# Head\n\n- **b** [l](https://a.example/)\n"),
        ] {
            assert_eq!(of_markdown(text), expected, "{text}");
        }
        assert_eq!(
            as_text("Wow![x](https://a.example/x.png)", PageOrigin::Html, BASE),
            "Wow\\![x](https://a.example/x.png)"
        );
    }

    proptest! {
        #[test]
        fn no_page_sets_or_embeds_anything(text in "(---\n|!?\\[\\[|\\]\\]?|\\(|\\)|`{1,3}|<[a-z]?|%%|::|#a|\\{\\{|\\\\|[a-z:= ]|\n|> |- ){0,40}") {
            let shown = of_markdown(&text);
            let note = Note::parse(&shown);
            prop_assert!(note.frontmatter.is_none() && note.tags.is_empty() && note.fields.is_empty(), "{:?} {}", text, shown);
            let is_harmless = |link: &lapidary_note::Link| !link.embed && link.kind != LinkKind::Wiki;
            prop_assert!(note.links.iter().all(is_harmless), "{:?} {}", text, shown);
        }
    }
}
