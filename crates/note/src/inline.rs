use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd, TextMergeWithOffset};

use crate::{
    Value,
    headings::{body_start, options},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    Wiki,
    Markdown,
}

/// A link that stays inside the vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub kind: LinkKind,
    /// The file it names, without heading, block or shown text.
    pub target: String,
}

/// The links of a note to other files, in order; links within the note and to the web are not among them.
pub fn links(text: &str) -> Vec<Link> {
    let start = body_start(text);
    let link = |event| match event {
        Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) => {
            let kind = match link_type {
                LinkType::WikiLink { .. } => LinkKind::Wiki,
                LinkType::Inline => LinkKind::Markdown,
                _ => return None,
            };
            internal(kind, &dest_url)
        }
        _ => None,
    };
    Parser::new_ext(&text[start..], options()).filter_map(link).collect()
}

fn internal(kind: LinkKind, destination: &str) -> Option<Link> {
    let path = destination.split('#').next().unwrap_or_default().trim();
    // In a table the pipe before the shown text is written `\|`.
    let target = path.strip_suffix('\\').unwrap_or(path).trim_end();
    let outside = kind == LinkKind::Markdown && target.contains(':');
    (!target.is_empty() && !outside).then(|| Link { kind, target: target.to_owned() })
}

/// The tags of a note without `#`, those of its properties first, each spelling once.
pub fn tags(text: &str, properties: &[(String, Value)]) -> Vec<String> {
    let mut found: Vec<String> = property_tags(properties);
    found.extend(inline_tags(text));
    let mut seen = std::collections::HashSet::new();
    found.retain(|tag| seen.insert(tag.clone()));
    found
}

fn property_tags(properties: &[(String, Value)]) -> Vec<String> {
    let Some((_, value)) = properties.iter().find(|(name, _)| name.eq_ignore_ascii_case("tags")) else {
        return Vec::new();
    };
    let items = match value {
        Value::List(items) => &items[..],
        single => std::slice::from_ref(single),
    };
    let tag = |item: &Value| match item {
        Value::Text(text) => Some(text.trim().trim_start_matches('#').to_owned()),
        _ => None,
    };
    items.iter().filter_map(tag).filter(|tag| !tag.is_empty() && !tag.contains(char::is_whitespace)).collect()
}

fn inline_tags(text: &str) -> Vec<String> {
    let start = body_start(text);
    let body = &text[start..];
    let mut found = Vec::new();
    let mut closed = false;
    for (event, range) in TextMergeWithOffset::new(Parser::new_ext(body, options()).into_offset_iter()) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Link { link_type: LinkType::WikiLink { .. }, .. }) => closed = true,
            Event::End(TagEnd::CodeBlock | TagEnd::Link) => closed = false,
            Event::Text(_) if !closed => {
                let escaped = body[..range.start].ends_with('\\');
                found.extend(tags_of_run(&body[range], escaped));
            }
            _ => {}
        }
    }
    found
}

fn tags_of_run(run: &str, escaped: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut may_start = !escaped;
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        if first == '#' && may_start {
            let tag: &str = &rest[1..];
            let length = tag.find(ends_tag).unwrap_or(tag.len());
            let name = &tag[..length];
            rest = &tag[length..];
            // A tag ends a token, so another may follow at once.
            may_start = length > 0;
            if !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit()) {
                found.push(name.to_owned());
            }
        } else {
            may_start = first.is_whitespace();
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

fn ends_tag(c: char) -> bool {
    c.is_whitespace()
        || "'!\"#$%&()*+,.:;<=>?@^`{|}~[]\\".contains(c)
        || ('\u{2000}'..='\u{206f}').contains(&c)
        || ('\u{2e00}'..='\u{2e7f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_follow_the_grammar_of_obsidian() {
        for (text, expected) in [
            ("#a and #b/c\n", vec!["a", "b/c"]),
            ("text#a (#a) \"#a\" x,#a http://x/#a\n", vec![]),
            ("**#a** _#b_ [#c](x) `#no` <b>#d</b>\n", vec!["a", "b", "c", "d"]),
            ("#a#b #c. #d,\n", vec!["a", "b", "c", "d"]),
            ("#12 #1a #größe #石 #🎉\n", vec!["1a", "größe", "石", "🎉"]),
            ("##a \\#a # a\n", vec![]),
            ("## Title #a\n- #b\n> #c\n", vec!["a", "b", "c"]),
            ("```\n#no\n```\n\n    #no\n\n[[x #no]] $#no$\n", vec![]),
            ("a_b#no\n", vec![]),
        ] {
            assert_eq!(tags(text, &[]), expected, "{text:?}");
        }
    }

    #[test]
    fn property_tags_come_first_and_once() {
        let text = |value: &str| Value::Text(value.into());
        let list = Value::List(vec![text("x"), text("#y"), Value::Integer(4), text("a b"), text("x")]);
        assert_eq!(tags("#y #z\n", &[("Tags".into(), list)]), ["x", "y", "z"]);
        assert_eq!(tags("", &[("tags".into(), text("solo"))]), ["solo"]);
    }

    #[test]
    fn links_to_other_files_are_listed_in_order() {
        let text = "[[a|b]] ![[c.png|300]] [t](d%20e.md \"x\") ![](f.png) [g](<h i.md>) [[#here]] [w](https://x.y) [m](mailto:a@b)\n\
                    `[[no]]` [[j#k]]\n\n| x |\n| - |\n| [[t\\|u]] |\n";
        let found: Vec<String> = links(text).into_iter().map(|link| link.target).collect();
        assert_eq!(found, ["a", "c.png", "d%20e.md", "f.png", "h i.md", "j", "t"]);
    }
}
