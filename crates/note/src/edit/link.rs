use std::{fmt::Write as _, ops::Range};

use super::{Change, EditError, Edited, PropertyEdit, PropertyError, PropertyPath, outline::same_frame, preview};
use crate::{Document, Link, LinkDefinition, LinkKind, Value};

mod kept;
mod relocate;

use kept::Aim;
pub use relocate::Relocate;

/// How a link writes what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Other words to show, and where those to show now stand.
    pub alias: Option<(Range<usize>, &'a str)>,
}

impl<'a> Retarget<'a> {
    /// Nothing for a link that names no file itself: an address, or a reference to a definition.
    pub fn link(link: &Link, target: &'a str) -> Option<Self> {
        let form = match link.kind {
            LinkKind::Wiki => LinkForm::Wiki,
            LinkKind::Markdown => LinkForm::Markdown,
            LinkKind::Reference | LinkKind::Url => return None,
        };
        Some(Self { form, destination: link.destination.clone(), path: link.path.clone(), target, alias: None })
    }

    pub fn definition(definition: &LinkDefinition, target: &'a str) -> Self {
        let (destination, path) = (definition.destination.clone(), definition.path.clone());
        Self { form: LinkForm::Markdown, destination, path, target, alias: None }
    }

    /// With other words to show as well, if the link has words that can be replaced by these.
    #[must_use]
    pub fn with_alias(self, link: &Link, alias: Option<&'a str>) -> Self {
        let plain = |alias: &&str| !alias.is_empty() && !alias.contains(['[', ']', '|', '\\', '\n', '\r', '`', '<']);
        Self { alias: link.alias.clone().zip(alias.filter(plain)), ..self }
    }
}

impl Document {
    /// Lets links lead to other files. Alias, subpath, size, title and the kind of link stay; links are in order.
    pub fn retarget_links(&self, links: &[Retarget<'_>]) -> Result<Edited, EditError> {
        let changes = in_order(self.gathered(changes(self.shown(), links))?);
        self.write_links(changes, links, |link| link.target.to_owned())
    }

    /// Lets a link in a property lead to another file; its spans are those of the value at `path`, which is nothing but
    /// this link.
    pub fn retarget_property_link(&self, path: &PropertyPath, link: &Retarget<'_>) -> Result<Edited, EditError> {
        let lost = EditError::LinkLost { target: link.target.to_owned() };
        self.edit_property_link(path, link, &lost, |value| {
            Ok(in_order(changes(value, std::slice::from_ref(link)).collect::<Result<_, _>>()?))
        })
    }

    /// Makes the changes if the links are what they should be, and all others and the blocks around them as before.
    fn write_links<A: Aim>(
        &self,
        changes: Vec<Change>,
        links: &[A],
        name: impl Fn(&A) -> String,
    ) -> Result<Edited, EditError> {
        if changes.is_empty() {
            return Ok(self.unchanged());
        }
        let draft = self.draft(changes)?;
        let (before, after) = (self.note(), draft.note());
        match kept::lost(&before, &after, links) {
            None if same_frame(&before, &after) => draft.finish(),
            lost => Err(EditError::LinkLost { target: lost.or(links.first()).map(name).unwrap_or_default() }),
        }
    }

    /// Makes a change in a property that is nothing but a link, if that link then is what it should be, and no other
    /// link changed.
    fn edit_property_link(
        &self,
        path: &PropertyPath,
        aim: &impl Aim,
        lost: &EditError,
        changes: impl Fn(&str) -> Result<Vec<Change>, EditError>,
    ) -> Result<Edited, EditError> {
        let missing = || PropertyError::Missing { path: path.to_string() };
        self.frontmatter().ok_or_else(missing)?;
        let properties = Value::Map(self.properties().map_err(PropertyError::from)?);
        let Some(Value::Text(value)) = path.find(&properties) else { return Err(missing().into()) };
        let changes = changes(value)?;
        let span = || changes.first().map_or(0..0, |change| change.span.clone());
        let outside = || EditError::OutsideText { span: span(), length: value.len() };
        let value = Value::Text(preview(value, &changes).ok_or_else(outside)?);
        let edited = self.edit_property(&PropertyEdit::Set { path, value: &value })?;
        let kept = kept::keeps_property_links(&self.note(), &edited.document.note(), path, aim);
        if kept { Ok(edited) } else { Err(lost.clone()) }
    }
}

fn changes(text: &str, links: &[Retarget<'_>]) -> impl Iterator<Item = Result<Change, EditError>> {
    let aliases = links.iter().filter_map(|link| link.alias.clone());
    links.iter().map(move |link| change(text, link)).chain(aliases.map(|(span, alias)| Ok(Change::new(span, alias))))
}

fn in_order(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_by_key(|change| change.span.start);
    changes
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
        LinkForm::Markdown => in_destination(text, &link.destination, &link.path, target).ok_or_else(outside),
    }
}

/// New text for a part of a Markdown destination, encoded as it must be there.
fn in_destination(text: &str, destination: &Range<usize>, part: &Range<usize>, new: &str) -> Option<Change> {
    let written = text.get(destination.clone())?;
    if destination.start > part.start || part.end > destination.end {
        return None;
    }
    if written.starts_with('<') {
        return Some(Change::new(part.clone(), encoded(new, Within::Brackets)));
    }
    let (lead, rest) = (text.get(destination.start..part.start)?, text.get(part.end..destination.end)?);
    let encoded_part = encoded(new, Within::Parentheses);
    if is_balanced(&format!("{lead}{encoded_part}{rest}")) {
        return Some(Change::new(part.clone(), encoded_part));
    }
    // A parenthesis without its partner would end the link.
    Some(Change::new(destination.clone(), format!("<{lead}{}{rest}>", encoded(new, Within::Brackets))))
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
mod tests;
