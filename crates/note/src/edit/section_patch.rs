//! One part of a note, by its name, gets more text or another one.

use super::{
    Blanks, EditError, Edited, PropertyEdit, PropertyPath, Section, SectionPart,
    merge::{Side, merged},
};
use crate::{Block, Document, Heading, HeadingMatch, Value, headings::HeadingName, quoted, text::plain_line_ends};

/// What may stand around a line that is compared with another.
const BLANKS: [char; 2] = [' ', '\t'];

/// The part of a note that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchTarget<'a> {
    /// `A::B`, or a run of it that ends in the heading.
    Heading(&'a str),
    /// With or without its caret.
    Block(&'a str),
    Property(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Replace,
    Add(Side),
}

/// What is put there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PatchContent<'a> {
    Text(&'a str),
    /// A value for a property, or the rows of a table.
    Value(&'a Value),
}

/// What becomes of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionPatch<'a> {
    pub operation: Operation,
    pub content: PatchContent<'a>,
    /// Make the part if it is not there.
    pub create: bool,
    /// Add text that stands there already.
    pub repeat: bool,
    /// Drop white space where the new text joins the old.
    pub trim: bool,
}

/// What a patch leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched {
    pub document: Document,
    /// The whole name of the part.
    pub target: String,
}

/// Of what a note has instead, a refusal lists so many.
const LISTED: usize = 50;

/// Why a part was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SectionPatchError {
    #[error("there is no such part")]
    Missing { available: Vec<String> },
    #[error("several headings are meant")]
    Ambiguous { candidates: Vec<String> },
    #[error("the text stands there already")]
    Preexists,
    /// The new text holds a heading that would end the section instead of standing in it.
    #[error("the heading {} would not stand in the section", quoted(.heading))]
    Outside { heading: String },
    #[error("only text can stand under a heading")]
    NotText,
    #[error("a block takes text, or the rows of a table: `[\"cell\", \"cell\"]` or a list of those")]
    NotRows,
    #[error("a value of this kind cannot be added to the one that is there")]
    NotMergeable,
    #[error(transparent)]
    Edit(#[from] EditError),
}

impl Document {
    /// Changes one part of a note and nothing else.
    pub fn patch_section(
        &self,
        target: PatchTarget<'_>,
        patch: &SectionPatch<'_>,
    ) -> Result<Patched, SectionPatchError> {
        match target {
            PatchTarget::Heading(name) => patch_heading(self, name, patch),
            PatchTarget::Block(id) => patch_block(self, id.trim_start_matches('^'), patch),
            PatchTarget::Property(name) => patch_property(self, name, patch),
        }
    }
}

fn patch_heading(document: &Document, name: &str, patch: &SectionPatch<'_>) -> Result<Patched, SectionPatchError> {
    let PatchContent::Text(content) = patch.content else { return Err(SectionPatchError::NotText) };
    let note = document.note();
    let path = |heading: &Heading| note.heading_path(heading).join("::");
    let heading = match note.find_heading(name) {
        HeadingMatch::One(heading) => heading,
        HeadingMatch::Several(several) => {
            let candidates = several.into_iter().take(LISTED).map(path).collect();
            return Err(SectionPatchError::Ambiguous { candidates });
        }
        HeadingMatch::None if patch.create => {
            let edited = document.append_heading(name, content)?;
            return Ok(Patched { document: edited.document, target: HeadingName::read(name, "::").text });
        }
        HeadingMatch::None => {
            let available = note.headings.iter().take(LISTED).map(path).collect();
            return Err(SectionPatchError::Missing { available });
        }
    };
    if patch.preexists(&note.text[heading.body..heading.section.end], false) {
        return Err(SectionPatchError::Preexists);
    }
    let blanks = if patch.trim { Blanks::Trimmed } else { Blanks::Kept };
    let section = Section { heading, part: SectionPart::Subtree, blanks };
    let edited = match patch.operation {
        Operation::Replace => document.replace_body(&section, content)?,
        Operation::Add(Side::Behind) => document.append_to_section(&section, content)?,
        Operation::Add(Side::Before) => document.prepend_to_section(&section, content)?,
    };
    if let Some(heading) = edited.heading_outside(heading) {
        return Err(SectionPatchError::Outside { heading });
    }
    Ok(Patched { document: edited.document, target: path(heading) })
}

fn patch_block(document: &Document, id: &str, patch: &SectionPatch<'_>) -> Result<Patched, SectionPatchError> {
    let note = document.note();
    let block = note.find_block(id);
    let edited = match (patch.content, block) {
        (_, None) if !patch.create => {
            let available = note.blocks.iter().take(LISTED).map(|block| block.id.clone()).collect();
            return Err(SectionPatchError::Missing { available });
        }
        (PatchContent::Text(content), None) => document.append_block(id, content)?,
        (PatchContent::Text(_), Some(block)) if patch.preexists(&note.text[block.span.clone()], true) => {
            return Err(SectionPatchError::Preexists);
        }
        (PatchContent::Text(content), Some(block)) => match patch.operation {
            Operation::Replace => document.replace_block(block, content)?,
            Operation::Add(Side::Behind) => document.append_to_block(block, content)?,
            Operation::Add(Side::Before) => document.prepend_to_block(block, content)?,
        },
        (PatchContent::Value(_), None) => return Err(SectionPatchError::NotRows),
        (PatchContent::Value(value), Some(block)) => edit_rows(document, block, value, patch.operation)?,
    };
    let target = block.map_or_else(|| id.to_owned(), |block| block.id.clone());
    Ok(Patched { document: edited.document, target })
}

fn edit_rows(
    document: &Document,
    block: &Block,
    value: &Value,
    operation: Operation,
) -> Result<Edited, SectionPatchError> {
    let rows = rows(value).ok_or(SectionPatchError::NotRows)?;
    Ok(match operation {
        Operation::Replace => document.replace_rows(block, &rows)?,
        Operation::Add(Side::Behind) => document.append_rows(block, &rows)?,
        Operation::Add(Side::Before) => document.prepend_rows(block, &rows)?,
    })
}

/// One row of cells, or several.
fn rows(value: &Value) -> Option<Vec<Vec<String>>> {
    let Value::List(items) = value else { return None };
    if items.iter().all(|item| matches!(item, Value::List(_))) {
        return items.iter().map(cells).collect();
    }
    Some(vec![cells(value)?])
}

fn cells(row: &Value) -> Option<Vec<String>> {
    let Value::List(cells) = row else { return None };
    cells
        .iter()
        .map(|cell| match cell {
            Value::Null => Some(String::new()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Integer(value) => Some(value.to_string()),
            Value::Float(value) => Some(value.to_string()),
            Value::Text(text) => Some(text.clone()),
            Value::List(_) | Value::Map(_) => None,
        })
        .collect()
}

fn patch_property(document: &Document, name: &str, patch: &SectionPatch<'_>) -> Result<Patched, SectionPatchError> {
    let properties = document.properties().map_err(|error| EditError::Property(error.into()))?;
    let given = match patch.content {
        PatchContent::Text(content) => &Value::Text(plain_line_ends(content).into_owned()),
        PatchContent::Value(value) => value,
    };
    let path = PropertyPath::name(name).among(&Value::Map(properties.clone()));
    let name = path.segments().next().unwrap_or(name);
    let old = properties.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let steps = match (old, patch.operation) {
        (None, _) if !patch.create => {
            return Err(SectionPatchError::Missing {
                available: properties.into_iter().map(|(name, _)| name).collect(),
            });
        }
        (None, _) | (_, Operation::Replace) => vec![(PropertyPath::name(name), Put::Set(given.clone()))],
        (Some(old), Operation::Add(side)) => added(name, old, given, side).ok_or(SectionPatchError::NotMergeable)?,
    };
    let edits: Vec<PropertyEdit<'_>> = steps
        .iter()
        .map(|(path, put)| match put {
            Put::Set(value) => PropertyEdit::Set { path, value },
            Put::Append(value) => PropertyEdit::Append { path, value },
        })
        .collect();
    let edited = document.edit_properties(&edits)?;
    Ok(Patched { document: edited.document, target: name.to_owned() })
}

enum Put {
    Set(Value),
    Append(Value),
}

/// How a value gets more in it. Items and entries that are added one by one leave those that are there as they are
/// written.
fn added(name: &str, old: &Value, given: &Value, side: Side) -> Option<Vec<(PropertyPath, Put)>> {
    let path = PropertyPath::name(name);
    let append = |value: &Value| (path.clone(), Put::Append(value.clone()));
    match (old, given, side) {
        (Value::List(_), Value::List(items), Side::Behind) => Some(items.iter().map(append).collect()),
        (Value::List(_), one, Side::Behind) if *one != Value::Null => Some(vec![append(one)]),
        (Value::Map(there), Value::Map(entries), _) if entries.iter().all(|(name, _)| !name.is_empty()) => {
            // What stands behind wins.
            let wins = |entry: &str| side == Side::Behind || !there.iter().any(|(known, _)| known == entry);
            let entries = entries.iter().filter(|(entry, _)| wins(entry));
            entries
                .map(|(entry, value)| {
                    let path = PropertyPath::of(vec![name.to_owned(), entry.clone()])?;
                    Some((path, Put::Set(value.clone())))
                })
                .collect()
        }
        _ => merged(old, given, side).map(|value| vec![(path, Put::Set(value))]),
    }
}

impl SectionPatch<'_> {
    /// Whether the text that is to be added stands there already as lines of its own, and that matters. In a block, text
    /// goes on in a line, so that whole words count.
    fn preexists(&self, part: &str, in_lines: bool) -> bool {
        let (Operation::Add(_), PatchContent::Text(content), false) = (self.operation, self.content, self.repeat)
        else {
            return false;
        };
        let content = plain_line_ends(content);
        let content = content.trim();
        let is_apart = |at: usize| {
            let (upper, lower) = (&part[..at], &part[at + content.len()..]);
            if in_lines {
                return !upper.ends_with(char::is_alphanumeric) && !lower.starts_with(char::is_alphanumeric);
            }
            let lower = lower.trim_start_matches(BLANKS);
            // The id of a block is none of its words.
            let id = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let lower = lower.strip_prefix('^').map_or(lower, |rest| rest.trim_start_matches(id));
            let (upper, lower) = (upper.trim_end_matches(BLANKS), lower.trim_start_matches(BLANKS));
            (upper.is_empty() || upper.ends_with('\n')) && (lower.is_empty() || lower.starts_with('\n'))
        };
        !content.is_empty() && part.match_indices(content).any(|(at, _)| is_apart(at))
    }
}

#[cfg(test)]
mod tests;
