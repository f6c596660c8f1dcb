use std::{collections::HashSet, fmt::Write as _, ops::Range};

use super::{Change, EditError, Edited, PropertyEdit, PropertyError, PropertyPath, apply, edit_property, preview};
use crate::{Frontmatter, Link, LinkDefinition, LinkKind, Note, Text, Value};

/// How a link writes what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkForm {
    /// `[[path#subpath|alias]]`, embedded or not.
    Wiki,
    /// `[alias](path#subpath)`, or the definition of a reference link.
    Markdown,
}

/// A link that shall lead to another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retarget<'a> {
    pub form: LinkForm,
    /// Path and subpath; of a Markdown link with the `<>` around them.
    pub destination: Range<usize>,
    /// What names the file, within `destination`.
    pub path: Range<usize>,
    /// The new path as a file has it, not encoded.
    pub target: &'a str,
}

impl<'a> Retarget<'a> {
    /// Nothing for a link that names no file itself: an address, or a reference to a definition.
    pub fn link(link: &Link, target: &'a str) -> Option<Self> {
        let form = match link.kind {
            LinkKind::Wiki => LinkForm::Wiki,
            LinkKind::Markdown => LinkForm::Markdown,
            LinkKind::Reference | LinkKind::Url => return None,
        };
        Some(Self { form, destination: link.destination.clone(), path: link.path.clone(), target })
    }

    pub fn definition(definition: &LinkDefinition, target: &'a str) -> Self {
        let (destination, path) = (definition.destination.clone(), definition.path.clone());
        Self { form: LinkForm::Markdown, destination, path, target }
    }
}

/// Lets links lead to other files. Alias, subpath, size, title and the kind of link stay; links are in order.
pub fn retarget_links(file: &[u8], text: &Text<'_>, links: &[Retarget<'_>]) -> Result<Edited, EditError> {
    let shown = text.shown();
    let changes: Vec<Change> = links.iter().map(|link| change(shown, link)).collect::<Result<_, _>>()?;
    let Some(edited) = preview(shown, &changes) else { return apply(file, text, &changes) };
    let (before, after) = (Note::parse(shown), Note::parse(&edited));
    let paths = after.links.iter().map(|link| &link.path).chain(after.definitions.iter().map(|found| &found.path));
    let paths: HashSet<&Range<usize>> = paths.collect();
    let kept = before.links.len() == after.links.len() && before.definitions.len() == after.definitions.len();
    let mut shift = 0_usize;
    for (link, change) in links.iter().zip(&changes) {
        // Brackets that the destination did not have before are written together with what stands around the path.
        let bracketed = link.form == LinkForm::Markdown && change.text.starts_with('<');
        let (start, around) = if bracketed { (1, 2 + link.destination.len() - link.path.len()) } else { (0, 0) };
        let start = change.span.start.wrapping_add(shift).wrapping_add(start);
        shift = shift.wrapping_add(change.text.len()).wrapping_sub(change.span.len());
        if !kept || !paths.contains(&(start..start + change.text.len() - around)) {
            return Err(EditError::LinkLost { target: link.target.to_owned() });
        }
    }
    apply(file, text, &changes)
}

/// Lets a link in a property lead to another file; its spans are those of the value at `path`.
pub fn retarget_property_link(
    file: &[u8],
    text: &Text<'_>,
    path: &PropertyPath,
    link: &Retarget<'_>,
) -> Result<Edited, EditError> {
    let shown = text.shown();
    let missing = || PropertyError::Missing { path: path.to_string() };
    let properties = Frontmatter::find(shown).and_then(|block| block.properties(shown).ok()).ok_or_else(missing)?;
    let properties = Value::Map(properties);
    let Some(Value::Text(value)) = path.find(&properties) else { return Err(missing().into()) };
    let change = change(value, link)?;
    let outside = || EditError::OutsideText { span: link.path.clone(), length: value.len() };
    let value = Value::Text(preview(value, &[change]).ok_or_else(outside)?);
    edit_property(file, text, &PropertyEdit::Set { path, value: &value })
}

fn change(text: &str, link: &Retarget<'_>) -> Result<Change, EditError> {
    let bad = || EditError::BadLinkTarget { target: link.target.to_owned() };
    let outside = || EditError::OutsideText { span: link.destination.clone(), length: text.len() };
    let target = link.target;
    if target.is_empty() || target.trim() != target || target.contains(['\n', '\r']) {
        return Err(bad());
    }
    match link.form {
        LinkForm::Wiki if target.contains(['[', ']', '|', '#', '^', '\\']) => Err(bad()),
        LinkForm::Wiki => Ok(Change::new(link.path.clone(), target)),
        // `%23` is not decoded, and what holds a colon is an address.
        LinkForm::Markdown if target.contains(['#', ':']) => Err(bad()),
        LinkForm::Markdown => {
            let destination = text.get(link.destination.clone()).ok_or_else(outside)?;
            let inside = link.destination.start <= link.path.start && link.path.end <= link.destination.end;
            if !inside {
                return Err(outside());
            }
            if destination.starts_with('<') {
                return Ok(Change::new(link.path.clone(), encoded(target, Within::Brackets)));
            }
            let path = encoded(target, Within::Parentheses);
            let rest = text.get(link.path.end..link.destination.end).ok_or_else(outside)?;
            if is_balanced(&format!("{path}{rest}")) {
                return Ok(Change::new(link.path.clone(), path));
            }
            // A parenthesis without its partner would end the link.
            let lead = text.get(link.destination.start..link.path.start).ok_or_else(outside)?;
            let path = encoded(target, Within::Brackets);
            Ok(Change::new(link.destination.clone(), format!("<{lead}{path}{rest}>")))
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Within {
    /// `(…)`: no space may stand there.
    Parentheses,
    /// `(<…>)`
    Brackets,
}

/// The path as Obsidian writes it: only what would end or change the link is encoded. Obsidian leaves `%` alone too,
/// and its link to such a file is broken; ours is not.
fn encoded(path: &str, within: Within) -> String {
    let mut written = String::with_capacity(path.len());
    for (at, c) in path.char_indices() {
        let escape = match c {
            ' ' => within == Within::Parentheses,
            '\\' | '|' => true,
            '<' | '>' => within == Within::Brackets || at == 0,
            // Left alone it would be read as an escape, or make the whole path unreadable.
            '%' => true,
            c => c.is_ascii_control(),
        };
        if escape {
            // Writing into a `String` cannot fail.
            write!(written, "%{:02X}", u32::from(c)).unwrap_or_default();
        } else {
            written.push(c);
        }
    }
    written
}

fn is_balanced(destination: &str) -> bool {
    let mut open = 0_usize;
    for c in destination.chars() {
        match c {
            '(' => open += 1,
            ')' => match open.checked_sub(1) {
                Some(left) => open = left,
                None => return false,
            },
            _ => {}
        }
    }
    // Parsers give up on deeper nesting.
    open == 0 && destination.matches('(').count() < 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::variants::{check, refuse};

    /// The first link or definition.
    fn first<'a>(shown: &str, target: &'a str) -> Retarget<'a> {
        let note = Note::parse(shown);
        let link = note.links.first().and_then(|link| Retarget::link(link, target));
        link.unwrap_or_else(|| Retarget::definition(&note.definitions[0], target))
    }

    #[test]
    fn a_wikilink_keeps_everything_but_its_target() {
        for (before, target, after) in [
            ("a [[Old]] b\n", "New", "a [[New]] b\n"),
            ("[[Old#H#S|al]]\n", "dir/New", "[[dir/New#H#S|al]]\n"),
            ("![[Old.png|100x20]]\n", "New (1).png", "![[New (1).png|100x20]]\n"),
            ("| [[Old\\|al]] |\n", "New", "| [[New\\|al]] |\n"),
            ("[[Old#^id]]\n", "größe 石", "[[größe 石#^id]]\n"),
            ("[[#H]]\n", "New", "[[New#H]]\n"),
        ] {
            check(before, after, |file, text| retarget_links(file, text, &[first(text.shown(), target)]));
        }
        for bad in ["", " ", "a|b", "a]b", "a#b", "a^b", "a\nb", " a"] {
            refuse("[[Old]]\n", &EditError::BadLinkTarget { target: bad.to_owned() }, |file, text| {
                retarget_links(file, text, &[first(text.shown(), bad)])
            });
        }
    }

    #[test]
    fn a_markdown_link_gets_the_encoding_it_needs() {
        for (before, target, after) in [
            ("[x](Old.md)\n", "New.md", "[x](New.md)\n"),
            ("[x](Old.md#H%20I \"t\")\n", "A b.md", "[x](A%20b.md#H%20I \"t\")\n"),
            ("[x](Old.md)\n", "We!rd (name) [x].md", "[x](We!rd%20(name)%20[x].md)\n"),
            ("[x](Old.md)\n", "a(b.md", "[x](<a(b.md>)\n"),
            ("[x](Old.md#H)\n", "a )b.md", "[x](<a )b.md#H>)\n"),
            ("[x](<Old one.md#H>)\n", "A b.md", "[x](<A b.md#H>)\n"),
            ("[x](<Old.md>)\n", "a>b.md", "[x](<a%3Eb.md>)\n"),
            ("[x](Old.md)\n", "<b.md", "[x](%3Cb.md)\n"),
            ("[x](Old.md)\n", "50%25.md", "[x](50%2525.md)\n"),
            ("[x](Old.md)\n", "50% é.md", "[x](50%25%20é.md)\n"),
            ("[x](Old.md)\n", "a|b\\c.md", "[x](a%7Cb%5Cc.md)\n"),
            ("[r]: Old.md 'T'\n", "A b.md", "[r]: A%20b.md 'T'\n"),
            ("![](Old.png)\n", "New.png", "![](New.png)\n"),
        ] {
            check(before, after, |file, text| retarget_links(file, text, &[first(text.shown(), target)]));
        }
    }

    #[test]
    fn several_links_change_at_once() {
        check("[[Old]] [[Old|x]]\n", "[[New]] [[New|x]]\n", |file, text| {
            let one =
                |path: Range<usize>| Retarget { form: LinkForm::Wiki, destination: path.clone(), path, target: "New" };
            retarget_links(file, text, &[one(2..5), one(10..13)])
        });
    }

    #[test]
    fn a_link_in_a_property_keeps_its_quotes() {
        for (before, at, target, after) in [
            ("up: \"[[Old|x]]\" # c\n", "up", "New", "up: \"[[New|x]]\" # c\n"),
            ("up: '[[Old]]'\n", "up", "It's", "up: '[[It''s]]'\n"),
            ("up:\n- \"[[Old]]\"\n- b\n", "up.0", "New", "up:\n- \"[[New]]\"\n- b\n"),
            ("up: [\"[[Old]]\", b]\n", "up.0", "\"q\"", "up: [\"[[\\\"q\\\"]]\", b]\n"),
        ] {
            let (before, after) = (format!("---\n{before}---\nbody\n"), format!("---\n{after}---\nbody\n"));
            let link = Retarget { form: LinkForm::Wiki, destination: 2..5, path: 2..5, target };
            let path = PropertyPath::parse(at).unwrap();
            check(&before, &after, |file, text| retarget_property_link(file, text, &path, &link));
        }
    }
}
