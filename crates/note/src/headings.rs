use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::Frontmatter;

/// A heading and what stands under it. Spans are offsets in the shown text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub level: u8,
    /// As written, without the `#` marks or the underline.
    pub text: String,
    /// The texts of the headings above it and its own.
    pub path: Vec<String>,
    /// From the heading line to the next heading of the same or a higher level.
    pub section: Range<usize>,
}

pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_WIKILINKS
}

/// Where the body begins: after the properties, if there are any.
pub(crate) fn body_start(text: &str) -> usize {
    Frontmatter::find(text).map_or(0, |block| block.span.end)
}

/// The headings of a note in order. Like Obsidian's outline, only those that stand in no quote and no list.
pub fn headings(text: &str) -> Vec<Heading> {
    let start = body_start(text);
    let mut found: Vec<Heading> = Vec::new();
    let mut containers = 0_usize;
    let mut inline: Option<Range<usize>> = None;
    let mut open: Option<(u8, usize)> = None;
    for (event, range) in Parser::new_ext(&text[start..], options()).into_offset_iter() {
        let range = start + range.start..start + range.end;
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::FootnoteDefinition(_)) => containers += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition) => containers -= 1,
            Event::Start(Tag::Heading { level, .. }) if containers == 0 => {
                open = Some((level as u8, range.start));
                inline = None;
            }
            Event::End(TagEnd::Heading(_)) if containers == 0 => {
                if let Some((level, at)) = open.take() {
                    let written = inline.take().map_or("", |span| text[span].trim());
                    found.push(Heading { level, text: written.to_owned(), path: Vec::new(), section: at..text.len() });
                }
            }
            _ if open.is_some() => {
                let from = inline.as_ref().map_or(range.start, |span| span.start.min(range.start));
                let to = inline.as_ref().map_or(range.end, |span| span.end.max(range.end));
                inline = Some(from..to);
            }
            _ => {}
        }
    }
    nest(&mut found);
    found
}

/// Fills in what follows from the order of the headings: their paths and where their sections end.
fn nest(headings: &mut [Heading]) {
    let mut above: Vec<usize> = Vec::new();
    for index in 0..headings.len() {
        let (level, start) = (headings[index].level, headings[index].section.start);
        while let Some(last) = above.last().copied().filter(|last| headings[*last].level >= level) {
            headings[last].section.end = start;
            above.pop();
        }
        above.push(index);
        headings[index].path = above.iter().map(|at| headings[*at].text.clone()).collect();
    }
}

/// What a caller's name for a heading leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum HeadingMatch<'a> {
    None,
    One(&'a Heading),
    /// Several match, the first of them first.
    Several(Vec<&'a Heading>),
}

/// Finds a heading by its whole path (`A::B`), else by a run of its path that ends in it, which a bare
/// heading text is the shortest form of.
pub fn find_heading<'a>(headings: &'a [Heading], name: &str) -> HeadingMatch<'a> {
    let whole = |heading: &&Heading| heading.path.join("::") == name;
    let ending = |heading: &&Heading| {
        let path = heading.path.join("::");
        path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
    };
    let mut matches: Vec<&Heading> = headings.iter().filter(whole).collect();
    if matches.is_empty() {
        matches = headings.iter().filter(ending).collect();
    }
    match matches[..] {
        [] => HeadingMatch::None,
        [one] => HeadingMatch::One(one),
        _ => HeadingMatch::Several(matches),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        headings(text).iter().map(|heading| heading.path.join("::")).collect()
    }

    #[test]
    fn only_real_headings_count() {
        for (text, expected) in [
            ("# A\n## B ##\n# C\n", vec!["A", "A::B", "C"]),
            ("A\n===\nB\n---\n", vec!["A", "A::B"]),
            ("```\n# no\n```\n# yes\n", vec!["yes"]),
            ("~~~\n# no\n~~~\n<!--\n# no\n-->\n    # no\n# yes\n", vec!["yes"]),
            ("> # no\n\n- # no\n\n# yes\n", vec!["yes"]),
            ("---\nx: '# no'\n---\n# yes\n", vec!["yes"]),
            ("#no\n####### no\n#\n", vec![""]),
            ("# **Bold** `c` [[x|y]] ^id\n", vec!["**Bold** `c` [[x|y]] ^id"]),
            ("### Deep\n# Top\n## Two\n#### Four\n", vec!["Deep", "Top", "Top::Two", "Top::Two::Four"]),
        ] {
            assert_eq!(paths(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_section_runs_to_the_next_heading_of_its_level() {
        let text = "---\na: 1\n---\nintro\n# A\none\n## B\ntwo\n# C\nthree";
        let sections: Vec<&str> = headings(text).iter().map(|heading| &text[heading.section.clone()]).collect();
        assert_eq!(sections, ["# A\none\n## B\ntwo\n", "## B\ntwo\n", "# C\nthree"]);
    }

    #[test]
    fn a_name_finds_the_whole_path_first_then_an_ending() {
        let all = headings("# A\n## Log\n# B\n## Log\n# Log\n# A::B\n");
        let name = |name: &str| match find_heading(&all, name) {
            HeadingMatch::None => "none".to_owned(),
            HeadingMatch::One(heading) => heading.path.join("::"),
            HeadingMatch::Several(several) => several.len().to_string(),
        };
        for (given, found) in
            [("Log", "Log"), ("A::Log", "A::Log"), ("A", "A"), ("A::B", "A::B"), ("log", "none"), ("og", "none")]
        {
            assert_eq!(name(given), found, "{given}");
        }
        let twice = headings("# A\n## Log\n## Log\n");
        assert!(matches!(find_heading(&twice, "A::Log"), HeadingMatch::Several(several) if several.len() == 2));
    }
}
