//! Retargets links to other files.

use std::{fmt::Write as _, ops::Range};

use super::{
    EditError, EditResult, PropertyEdit, PropertyError, PropertyPath, TextChange, outline::same_frame, preview,
};
use crate::{Document, Link, LinkDefinition, LinkKind, Note, YamlValue};

mod kept;
mod relocate;

use kept::LinkGoal;
pub use relocate::LinkRelocation;

/// How a link writes its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkForm {
    /// `[[path#subpath|alias]]`, embedded or not.
    Wiki,
    /// `[alias](path#subpath)`, or the definition of a reference link.
    Markdown,
}

/// A link and the file that it should lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRetarget<'a> {
    pub form: LinkForm,
    /// Path and subpath; of a Markdown link with the `<>` around them.
    pub destination: Range<usize>,
    /// The part that names the file, within `destination`.
    pub path: Range<usize>,
    /// The new path of the file, not encoded.
    pub target: &'a str,
    /// Other words to show, and the span of the current ones.
    pub alias: Option<(Range<usize>, &'a str)>,
}

impl<'a> LinkRetarget<'a> {
    /// `None` for a link that names no file itself: an address, or a reference to a definition.
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
        // These would end the alias, or begin something else in it.
        let plain = |alias: &&str| !alias.is_empty() && !alias.contains(['[', ']', '|', '\\', '\n', '\r', '`', '<']);
        Self { alias: link.alias.clone().zip(alias.filter(plain)), ..self }
    }
}

impl Document {
    /// Retargets links to other files. Alias, subpath, size, title and the kind of link stay; links are in order.
    pub fn retarget_links(&self, links: &[LinkRetarget<'_>]) -> Result<EditResult, EditError> {
        let changes = in_order(self.gathered(changes(self.shown(), links))?);
        self.write_links(changes, links, |link| link.target.to_owned())
    }

    /// Retargets a link in a property to another file; its spans are those of the value at `path`, which is nothing but
    /// this link.
    pub fn retarget_property_link(
        &self,
        path: &PropertyPath,
        link: &LinkRetarget<'_>,
    ) -> Result<EditResult, EditError> {
        let lost = EditError::LinkLost { target: link.target.to_owned() };
        self.edit_property_link(path, link, &lost, |value| {
            Ok(in_order(changes(value, std::slice::from_ref(link)).collect::<Result<_, _>>()?))
        })
    }

    /// Makes the changes if the links are as intended, and all others and the blocks around them are unchanged.
    fn write_links<A: LinkGoal>(
        &self,
        changes: Vec<TextChange>,
        links: &[A],
        name: impl Fn(&A) -> String,
    ) -> Result<EditResult, EditError> {
        if changes.is_empty() {
            return Ok(self.unchanged());
        }
        let draft = self.draft(changes)?;
        let (before, after) = (self.note(), draft.note());
        match kept::lost(&before, &after, links) {
            // The links are right, and nothing around them is read differently.
            None if same_frame(&before, &after) => draft.finish(),
            lost => Err(EditError::LinkLost { target: lost.or(links.first()).map(name).unwrap_or_default() }),
        }
    }

    /// Makes a change in a property that is nothing but a link, if that link then is as intended, and no other link
    /// changed.
    fn edit_property_link(
        &self,
        path: &PropertyPath,
        aim: &impl LinkGoal,
        lost: &EditError,
        changes: impl Fn(&str) -> Result<Vec<TextChange>, EditError>,
    ) -> Result<EditResult, EditError> {
        let missing = || PropertyError::Missing { path: path.to_string() };
        self.frontmatter().ok_or_else(missing)?;
        let properties = YamlValue::Map(self.properties().map_err(PropertyError::from)?);
        let Some(YamlValue::Text(value)) = path.find(&properties) else { return Err(missing().into()) };
        let changes = changes(value)?;
        let span = || changes.first().map_or(0..0, |change| change.span.clone());
        let outside = || EditError::OutsideText { span: span(), length: value.len() };
        let value = YamlValue::Text(preview(value, &changes).ok_or_else(outside)?);
        let edited = self.edit_property(&PropertyEdit::Set { path, value: &value })?;
        let kept = kept::keeps_property_links(&self.note(), &edited.document.note(), path, aim);
        if kept { Ok(edited) } else { Err(lost.clone()) }
    }
}

fn changes(text: &str, links: &[LinkRetarget<'_>]) -> impl Iterator<Item = Result<TextChange, EditError>> {
    let aliases = links.iter().filter_map(|link| link.alias.clone());
    links
        .iter()
        .map(move |link| change(text, link))
        .chain(aliases.map(|(span, alias)| Ok(TextChange::new(span, alias))))
}

fn in_order(mut changes: Vec<TextChange>) -> Vec<TextChange> {
    changes.sort_by_key(|change| change.span.start);
    changes
}

fn change(text: &str, link: &LinkRetarget<'_>) -> Result<TextChange, EditError> {
    let bad = || EditError::BadLinkTarget { target: link.target.to_owned() };
    let outside = || EditError::OutsideText { span: link.destination.clone(), length: text.len() };
    let target = link.target;
    // Blanks at the ends are not part of a link's target when it is read.
    if target.is_empty() || target.trim() != target || target.contains(['\n', '\r']) {
        return Err(bad());
    }
    match link.form {
        LinkForm::Wiki if target.contains(['[', ']', '|', '#', '^', '\\']) => Err(bad()),
        LinkForm::Wiki => Ok(TextChange::new(link.path.clone(), target)),
        // `%23` is not decoded, and anything with a colon is an address.
        LinkForm::Markdown if target.contains(['#', ':']) => Err(bad()),
        LinkForm::Markdown => in_destination(text, &link.destination, &link.path, target).ok_or_else(outside),
    }
}

impl LinkForm {
    /// A new link to a path (not encoded) that stays a link wherever it is put; a Markdown link shows these words. `None`
    /// where this form cannot name the path: a wiki link has no escapes.
    pub fn written(self, target: &str, words: &str) -> Option<String> {
        let (before, after) = match self {
            // A comment or code that begins in a name would swallow what follows it.
            Self::Wiki if target.contains('`') || target.contains("%%") => return None,
            Self::Wiki => ("[[".to_owned(), "]]"),
            Self::Markdown => (format!("[{}](", literal_words(words)), ")"),
        };
        let (text, path) = (format!("{before}x{after}"), before.len()..before.len() + 1);
        let link = LinkRetarget { form: self, destination: path.clone(), path, target, alias: None };
        // Only Markdown gets here with one.
        let destination = change(&text, &link).ok()?.text.replace('`', "%60");
        let text = format!("{before}{destination}{after}");
        // Judged as it will be read.
        let note = Note::parse(&text);
        let is_it = |link: &Link| link.span == (0..text.len()) && link.target(&text) == target;
        matches!(&note.links[..], [link] if is_it(link)).then(|| text.clone())
    }
}

/// Words on one line that are read as they are written: no link, tag, comment, code, block id or HTML begins in them.
pub fn literal_words(words: &str) -> String {
    let (mut written, mut before) = (String::with_capacity(words.len()), ' ');
    let mut rest = words.chars().peekable();
    while let Some(c) = rest.next() {
        let escape = match c {
            '\\' | '`' | '[' | ']' | '|' => true,
            '<' => rest.peek().is_some_and(|next| !next.is_whitespace()),
            // Only at the start of a word do these mean something.
            '#' | '^' => before.is_whitespace(),
            // Only doubled.
            '%' | '=' | '~' => before == c,
            _ => false,
        };
        if escape {
            written.push('\\');
        }
        // A break would end the line, and what follows would be read as Markdown again.
        written.push(if c.is_control() { ' ' } else { c });
        before = c;
    }
    written
}

/// New text for part of a Markdown destination, encoded as necessary.
fn in_destination(text: &str, destination: &Range<usize>, part: &Range<usize>, new: &str) -> Option<TextChange> {
    let written = text.get(destination.clone())?;
    if destination.start > part.start || part.end > destination.end {
        return None;
    }
    if written.starts_with('<') {
        return Some(TextChange::new(part.clone(), encoded(new, LinkDelimiter::Brackets)));
    }
    // Without brackets, parentheses in the rest of the destination count as well.
    let (lead, rest) = (text.get(destination.start..part.start)?, text.get(part.end..destination.end)?);
    let encoded_part = encoded(new, LinkDelimiter::Parentheses);
    if is_balanced(&format!("{lead}{encoded_part}{rest}")) {
        return Some(TextChange::new(part.clone(), encoded_part));
    }
    // An unbalanced parenthesis would end the link.
    Some(TextChange::new(destination.clone(), format!("<{lead}{}{rest}>", encoded(new, LinkDelimiter::Brackets))))
}

#[derive(Clone, Copy, PartialEq)]
enum LinkDelimiter {
    /// `(…)`: no spaces allowed.
    Parentheses,
    /// `(<…>)`
    Brackets,
}

/// The path as Obsidian writes it: only characters that would end or change the link are encoded. Obsidian leaves `%`
/// unencoded too, and its link to such a file is broken; ours is not.
fn encoded(path: &str, within: LinkDelimiter) -> String {
    let mut written = String::with_capacity(path.len());
    for (at, c) in path.char_indices() {
        let escape = match c {
            ' ' => within == LinkDelimiter::Parentheses,
            '\\' | '|' => true,
            '<' | '>' => within == LinkDelimiter::Brackets || at == 0,
            // Unencoded it would be read as an escape, or make the whole path unreadable.
            '%' => true,
            c => c.is_ascii_control(),
        };
        if escape {
            // Writing to a `String` cannot fail.
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
