//! Changes one named part of a note.

use super::{
    BlankLines, EditError, EditResult, PropertyEdit, PropertyPath, SectionEdit, SectionPart,
    merge::{InsertSide, merged},
};
use crate::{Block, Document, Heading, HeadingMatch, YamlValue, headings::HeadingName, quoted, text::plain_line_ends};

/// White space that is ignored when lines are compared.
const BLANKS: [char; 2] = [' ', '\t'];

/// The addressed part of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchTarget<'a> {
    /// `A::B`, or a run of it that ends in the heading.
    Heading(&'a str),
    /// The same, and which of several, counted from 1.
    NthHeading(&'a str, usize),
    /// With or without its caret.
    Block(&'a str),
    Property(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchOperation {
    Replace,
    Add(InsertSide),
}

/// The new content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PatchContent<'a> {
    Text(&'a str),
    /// A value for a property, or the rows of a table.
    Value(&'a YamlValue),
}

/// The change to a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionPatch<'a> {
    pub operation: PatchOperation,
    pub content: PatchContent<'a>,
    /// Create the part if it is missing.
    pub create: bool,
    /// Add text even if it is already there.
    pub repeat: bool,
    /// Drop white space where the new text joins the old.
    pub trim: bool,
}

/// The result of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchResult {
    pub document: Document,
    /// The full name of the part.
    pub target: String,
}

/// How many existing names a refusal lists.
const LISTED: usize = 50;

/// Why a part was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SectionPatchError {
    #[error("there is no such part")]
    Missing { available: Vec<String> },
    #[error("several headings match")]
    Ambiguous { candidates: Vec<String> },
    #[error("the text is already there")]
    Preexists,
    /// The new text has a heading that would end the section instead of being part of it.
    #[error("the heading {} would not be part of the section", quoted(.heading))]
    Outside { heading: String },
    #[error("a heading takes only text")]
    NotText,
    #[error("a block takes text, or the rows of a table: `[\"cell\", \"cell\"]` or a list of those")]
    NotRows,
    #[error("a value of this kind cannot be added to the existing one")]
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
    ) -> Result<PatchResult, SectionPatchError> {
        match target {
            PatchTarget::Heading(name) => patch_heading(self, name, None, patch),
            PatchTarget::NthHeading(name, occurrence) => patch_heading(self, name, Some(occurrence), patch),
            PatchTarget::Block(id) => patch_block(self, id.trim_start_matches('^'), patch),
            PatchTarget::Property(name) => patch_property(self, name, patch),
        }
    }
}

fn patch_heading(
    document: &Document,
    name: &str,
    occurrence: Option<usize>,
    patch: &SectionPatch<'_>,
) -> Result<PatchResult, SectionPatchError> {
    // Rows and values only make sense in tables and properties.
    let PatchContent::Text(content) = patch.content else { return Err(SectionPatchError::NotText) };
    let note = document.note();
    let path = |heading: &Heading| note.heading_path(heading).join("::");
    let heading = match note.find_nth_heading(name, occurrence) {
        HeadingMatch::One(heading) => heading,
        HeadingMatch::Several(several) => {
            let candidates = several.into_iter().take(LISTED).map(path).collect();
            return Err(SectionPatchError::Ambiguous { candidates });
        }
        HeadingMatch::None if patch.create => {
            let edited = document.append_heading(name, content)?;
            // As it was written into the note, without the path above it.
            return Ok(PatchResult { document: edited.document, target: HeadingName::read(name, "::").text });
        }
        HeadingMatch::None => {
            let available = note.headings.iter().take(LISTED).map(path).collect();
            return Err(SectionPatchError::Missing { available });
        }
    };
    // Checked before the edit, so that a repeated call is recognised and not applied twice.
    if patch.preexists(&note.text[heading.body..heading.section.end], false) {
        return Err(SectionPatchError::Preexists);
    }
    let blanks = if patch.trim { BlankLines::Trimmed } else { BlankLines::Kept };
    let section = SectionEdit { heading, part: SectionPart::Subtree, blanks };
    let edited = match patch.operation {
        PatchOperation::Replace => document.replace_body(&section, content)?,
        PatchOperation::Add(InsertSide::Behind) => document.append_to_section(&section, content)?,
        PatchOperation::Add(InsertSide::Before) => document.prepend_to_section(&section, content)?,
    };
    // A heading of a higher level in the content would end the section early.
    if let Some(heading) = edited.heading_outside(heading) {
        return Err(SectionPatchError::Outside { heading });
    }
    Ok(PatchResult { document: edited.document, target: path(heading) })
}

fn patch_block(document: &Document, id: &str, patch: &SectionPatch<'_>) -> Result<PatchResult, SectionPatchError> {
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
            PatchOperation::Replace => document.replace_block(block, content)?,
            PatchOperation::Add(InsertSide::Behind) => document.append_to_block(block, content)?,
            PatchOperation::Add(InsertSide::Before) => document.prepend_to_block(block, content)?,
        },
        (PatchContent::Value(_), None) => return Err(SectionPatchError::NotRows),
        (PatchContent::Value(value), Some(block)) => edit_rows(document, block, value, patch.operation)?,
    };
    // In the spelling of the note, which may differ in case from the caller's.
    let target = block.map_or_else(|| id.to_owned(), |block| block.id.clone());
    Ok(PatchResult { document: edited.document, target })
}

fn edit_rows(
    document: &Document,
    block: &Block,
    value: &YamlValue,
    operation: PatchOperation,
) -> Result<EditResult, SectionPatchError> {
    let rows = rows(value).ok_or(SectionPatchError::NotRows)?;
    Ok(match operation {
        PatchOperation::Replace => document.replace_rows(block, &rows)?,
        PatchOperation::Add(InsertSide::Behind) => document.append_rows(block, &rows)?,
        PatchOperation::Add(InsertSide::Before) => document.prepend_rows(block, &rows)?,
    })
}

/// One row of cells, or several.
fn rows(value: &YamlValue) -> Option<Vec<Vec<String>>> {
    let YamlValue::List(items) = value else { return None };
    // A list of lists is several rows; a list of plain values is one.
    if items.iter().all(|item| matches!(item, YamlValue::List(_))) {
        return items.iter().map(cells).collect();
    }
    Some(vec![cells(value)?])
}

fn cells(row: &YamlValue) -> Option<Vec<String>> {
    let YamlValue::List(cells) = row else { return None };
    cells
        .iter()
        .map(|cell| match cell {
            YamlValue::Null => Some(String::new()),
            YamlValue::Bool(value) => Some(value.to_string()),
            YamlValue::Integer(value) => Some(value.to_string()),
            YamlValue::Float(value) => Some(value.to_string()),
            YamlValue::Text(text) => Some(text.clone()),
            YamlValue::List(_) | YamlValue::Map(_) => None,
        })
        .collect()
}

fn patch_property(document: &Document, name: &str, patch: &SectionPatch<'_>) -> Result<PatchResult, SectionPatchError> {
    let properties = document.properties().map_err(|error| EditError::Property(error.into()))?;
    let given = match patch.content {
        PatchContent::Text(content) => &YamlValue::Text(plain_line_ends(content).into_owned()),
        PatchContent::Value(value) => value,
    };
    // Obsidian compares names regardless of case.
    let path = PropertyPath::name(name).among(&YamlValue::Map(properties.clone()));
    let name = path.segments().next().unwrap_or(name);
    let old = properties.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let steps = match (old, patch.operation) {
        (None, _) if !patch.create => {
            return Err(SectionPatchError::Missing {
                available: properties.into_iter().map(|(name, _)| name).collect(),
            });
        }
        // Also for a missing property that something is added to: the first value is the value.
        (None, _) | (_, PatchOperation::Replace) => vec![(PropertyPath::name(name), PropertyPut::Set(given.clone()))],
        (Some(old), PatchOperation::Add(side)) => {
            added(name, old, given, side).ok_or(SectionPatchError::NotMergeable)?
        }
    };
    let edits: Vec<PropertyEdit<'_>> = steps
        .iter()
        .map(|(path, put)| match put {
            PropertyPut::Set(value) => PropertyEdit::Set { path, value },
            PropertyPut::Append(value) => PropertyEdit::Append { path, value },
        })
        .collect();
    let edited = document.edit_properties(&edits)?;
    Ok(PatchResult { document: edited.document, target: name.to_owned() })
}

enum PropertyPut {
    Set(YamlValue),
    Append(YamlValue),
}

/// How a value gets more entries. Items and entries that are added one at a time leave the existing ones as written.
fn added(name: &str, old: &YamlValue, given: &YamlValue, side: InsertSide) -> Option<Vec<(PropertyPath, PropertyPut)>> {
    let path = PropertyPath::name(name);
    let append = |value: &YamlValue| (path.clone(), PropertyPut::Append(value.clone()));
    match (old, given, side) {
        (YamlValue::List(_), YamlValue::List(items), InsertSide::Behind) => Some(items.iter().map(append).collect()),
        (YamlValue::List(_), one, InsertSide::Behind) if *one != YamlValue::Null => Some(vec![append(one)]),
        (YamlValue::Map(there), YamlValue::Map(entries), _) if entries.iter().all(|(name, _)| !name.is_empty()) => {
            // The later value wins.
            let wins = |entry: &str| side == InsertSide::Behind || !there.iter().any(|(known, _)| known == entry);
            let entries = entries.iter().filter(|(entry, _)| wins(entry));
            entries
                .map(|(entry, value)| {
                    // By segments, so that a dot in a name is not taken for a path.
                    let path = PropertyPath::of(vec![name.to_owned(), entry.clone()])?;
                    Some((path, PropertyPut::Set(value.clone())))
                })
                .collect()
        }
        _ => merged(old, given, side).map(|value| vec![(path, PropertyPut::Set(value))]),
    }
}

impl SectionPatch<'_> {
    /// Whether the text to add is already there as separate lines, and that matters. In a block, text continues on a
    /// line, so whole words are compared.
    fn preexists(&self, part: &str, in_lines: bool) -> bool {
        let (PatchOperation::Add(_), PatchContent::Text(content), false) = (self.operation, self.content, self.repeat)
        else {
            return false;
        };
        let content = plain_line_ends(content);
        let content = content.trim();
        let is_apart = |at: usize| {
            let (upper, lower) = (&part[..at], &part[at + content.len()..]);
            if in_lines {
                // Part of a word is another word.
                return !upper.ends_with(char::is_alphanumeric) && !lower.starts_with(char::is_alphanumeric);
            }
            let lower = lower.trim_start_matches(BLANKS);
            // The id of a block is not one of its words.
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
