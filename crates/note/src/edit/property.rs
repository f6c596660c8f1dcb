//! Edits of properties that keep the rest of the YAML as written.

use std::ops::Range;

use super::{EditError, EditResult, TextChange, lines::whole_lines, shared_ends};
use crate::{
    Document, Frontmatter, FrontmatterError, YamlValue, quoted,
    yaml::{self, YamlDocument, YamlError, YamlProblem},
};

mod model;
mod path;
mod render;
mod target;
mod write;

pub use path::PropertyPath;
use render::ScalarStyle;
use target::addressed;

/// Why an edit of properties was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PropertyError {
    #[error("line {line}: {problem}")]
    Yaml { line: usize, problem: String },
    #[error("the properties are not a list of `name: value`")]
    NotAMap,
    #[error("the property {} occurs twice", quoted(.name))]
    Duplicate { name: String },
    #[error("{} is written with an anchor that is used elsewhere, or with an alias", quoted(.path))]
    Anchored { path: String },
    #[error("{} is not a path of property names", quoted(.path))]
    BadPath { path: String },
    /// It could not be read back.
    #[error("properties are nested at most {limit} deep")]
    TooDeep { limit: usize },
    #[error("there is no property {}", quoted(.path))]
    Missing { path: String },
    #[error("there is already a property {}", quoted(.path))]
    Taken { path: String },
    #[error("{} leads into a value that is neither a map nor a list", quoted(.path))]
    NotAContainer { path: String },
    #[error("{} is not a list", quoted(.path))]
    NotAList { path: String },
    #[error("{} is beyond the end of a list of {length} items", quoted(.path))]
    NoSuchItem { path: String, length: usize },
    /// The written YAML would not have the intended value, or would lose something else.
    #[error("{} cannot be changed without touching something else", quoted(.path))]
    Unsafe { path: String },
}

impl From<YamlError> for PropertyError {
    fn from(error: YamlError) -> Self {
        match error.problem {
            YamlProblem::Repeated { name } => Self::Duplicate { name },
            // The opening fence is line 1 of the note.
            YamlProblem::Other(problem) => Self::Yaml { line: error.line + 1, problem },
        }
    }
}

impl From<FrontmatterError> for PropertyError {
    fn from(error: FrontmatterError) -> Self {
        match error {
            FrontmatterError::Yaml { line, problem } => Self::Yaml { line, problem },
            FrontmatterError::NotAMap => Self::NotAMap,
        }
    }
}

/// One change of the properties.
#[derive(Clone, Copy, Debug)]
pub enum PropertyEdit<'a> {
    /// Missing maps on the way are created.
    Set {
        path: &'a PropertyPath,
        value: &'a YamlValue,
    },
    Delete {
        path: &'a PropertyPath,
    },
    /// Adds an item to a list; a property that is missing or empty becomes a list.
    Append {
        path: &'a PropertyPath,
        value: &'a YamlValue,
    },
    /// Moves a value to another path; within one map only the name changes and the position stays.
    Move {
        from: &'a PropertyPath,
        to: &'a PropertyPath,
    },
}

impl PropertyEdit<'_> {
    /// The same at another place.
    fn at<'b>(&'b self, path: &'b PropertyPath) -> PropertyEdit<'b> {
        match *self {
            Self::Set { value, .. } => PropertyEdit::Set { path, value },
            Self::Delete { .. } => PropertyEdit::Delete { path },
            Self::Append { value, .. } => PropertyEdit::Append { path, value },
            Self::Move { to, .. } => PropertyEdit::Move { from: path, to },
        }
    }

    /// Whether it can be parsed back.
    fn is_flat_enough(&self) -> bool {
        let depth = match self {
            Self::Set { path, value } => path.depth() + value.depth(),
            Self::Append { path, value } => path.depth() + 1 + value.depth(),
            Self::Move { to, .. } => to.depth(),
            Self::Delete { .. } => 0,
        };
        depth <= yaml::MAX_DEPTH
    }

    /// The place that changes.
    fn path(&self) -> &PropertyPath {
        match self {
            Self::Set { path, .. } | Self::Delete { path } | Self::Append { path, .. } => path,
            Self::Move { from, .. } => from,
        }
    }
}

impl Document {
    /// Changes one property and leaves all others as written: comments, order, quotes, line endings.
    ///
    /// A note without properties gets a block for the first, and loses it with the last. The new YAML is parsed: if it
    /// has anything other than the old values with this one change, the edit is refused.
    pub fn edit_property(&self, edit: &PropertyEdit<'_>) -> Result<EditResult, EditError> {
        self.edit_properties(std::slice::from_ref(edit))
    }

    /// Makes several changes, each on the result of the one before; all or none.
    pub fn edit_properties(&self, edits: &[PropertyEdit<'_>]) -> Result<EditResult, EditError> {
        if !edits.iter().all(PropertyEdit::is_flat_enough) {
            // Deeper YAML could be written and never read again.
            return Err(PropertyError::TooDeep { limit: yaml::MAX_DEPTH }.into());
        }
        let shown = self.shown();
        let block = self.frontmatter();
        let mut yaml = block.as_ref().map(|block| shown[block.yaml.clone()].to_owned());
        for edit in edits {
            yaml = edited_yaml(&yaml.unwrap_or_default(), edit)?;
        }
        let change = match (block, &yaml) {
            (None, None) => return Ok(self.unchanged()),
            (None, Some(yaml)) => TextChange::new(0..0, format!("---\n{yaml}---\n")),
            (Some(block), Some(yaml)) => TextChange::new(block.yaml, yaml.clone()),
            // If the body itself looks like properties, an empty block keeps it a body.
            (Some(block), None) if Frontmatter::find(&shown[block.span.end..]).is_some() => {
                TextChange::new(block.yaml, "\n")
            }
            (Some(block), None) => TextChange::new(block.span, ""),
        };
        let draft = self.draft(vec![change])?;
        let found = Frontmatter::find(draft.shown()).map(|block| &draft.shown()[block.yaml]);
        // Read back as a whole: a value may contain a line that looks like the end of the block.
        if yaml.is_some() && found != yaml.as_deref() {
            let path = edits.last().map(|edit| edit.path().to_string()).unwrap_or_default();
            return Err(PropertyError::Unsafe { path }.into());
        }
        draft.finish()
    }
}

/// The same edit of a YAML file that is not a note, such as a base: every byte that need not change stays. Lines in
/// errors are counted as in a note, with the fence as the first.
pub fn edit_yaml(yaml: &str, edit: &PropertyEdit<'_>) -> Result<String, PropertyError> {
    if !edit.is_flat_enough() {
        return Err(PropertyError::TooDeep { limit: yaml::MAX_DEPTH });
    }
    Ok(edited_yaml(yaml, edit)?.unwrap_or_default())
}

/// A map as separate YAML, on lines that start with this many spaces.
pub fn block_yaml(entries: &[(String, YamlValue)], indent: usize) -> String {
    render::block(entries, indent)
}

/// The YAML after the edit; `None` if no property and no comment is left.
fn edited_yaml(old: &str, edit: &PropertyEdit<'_>) -> Result<Option<String>, PropertyError> {
    let document = yaml::document(old)?;
    let before = map(&document).ok_or(PropertyError::NotAMap)?;
    // As the note spells it, so that an edit finds the property in any case.
    let path = edit.path().among(&before);
    let edit = &edit.at(&path);
    let after = model::edited(&before, edit)?;
    let target = addressed(old, &document, edit)?;
    let unsafe_edit = || PropertyError::Unsafe { path: edit.path().to_string() };
    let nothing_left = matches!(&after, YamlValue::Map(entries) if entries.is_empty());
    // A moved value is not lost, and neither is its comment.
    let gone = if matches!(edit, PropertyEdit::Move { .. }) { 0..0 } else { target.span.clone() };
    let is_right = |new: &String| {
        yaml::document(new).is_ok_and(|read| {
            map(&read).is_some_and(|read| model::same(&read, &after))
                && target.is_all_that_changed(old, new)
                && keeps_comments((old, &document), &gone, (new, &read))
        })
    };

    let new = match (&document.root, edit) {
        // Nothing to change: not a byte is touched, whatever the style.
        (Some(_), _) if model::same(&before, &after) => Some(old.to_owned()),
        (Some(_), PropertyEdit::Delete { .. }) => Some(without_lines(old, &target.span)).filter(is_right),
        // Only comments and blank lines so far.
        (None, _) => Some(format!("{old}{}", first_properties(&after))),
        (Some(_), _) => None,
    };
    let new = new.or_else(|| {
        write::edited(old, &before, edit, target.hint).map(|new| target.with_blank_lines(old, tidy(old, new)))
    });
    // Everything that was written is checked by reading it again, however it was made.
    match (new.filter(is_right), edit) {
        (Some(new), _) if nothing_left && new.trim().is_empty() => Ok(None),
        (Some(new), _) => Ok(Some(new)),
        (None, PropertyEdit::Move { from, to }) => {
            // The value does not fit there as written. Rewritten it may, if no comment is lost. A comment after the
            // value is on its line, and would be lost as well.
            let lines = whole_lines(old, target.span.clone());
            let has_comments = document.comments.iter().any(|comment| lines.contains(&comment.start));
            let value = from.find(&before).filter(|_| !has_comments).ok_or_else(unsafe_edit)?;
            // As two edits, each checked like any other.
            let without = edited_yaml(old, &PropertyEdit::Delete { path: from })?.unwrap_or_default();
            edited_yaml(&without, &PropertyEdit::Set { path: to, value })
        }
        (None, _) => Err(unsafe_edit()),
    }
}

/// The YAML without a property that has its lines to itself. yaml-edit would remove a blank line with it.
fn without_lines(old: &str, property: &Range<usize>) -> String {
    let lines = whole_lines(old, property.clone());
    format!("{}{}", &old[..lines.start], &old[lines.end..])
}

fn first_properties(properties: &YamlValue) -> String {
    let YamlValue::Map(entries) = properties else { return String::new() };
    let line = |(name, value): &(String, YamlValue)| {
        format!("{}:{}\n", render::key(name), render::after_colon(value, ScalarStyle::None))
    };
    entries.iter().map(line).collect()
}

/// The new YAML as it goes into the note: its last line is ended, and a name without a value has no trailing space.
fn tidy(old: &str, mut new: String) -> String {
    if !new.ends_with('\n') {
        new.push('\n');
    }
    // Only changed lines are tidied; others keep the blanks that they have.
    let (prefix, suffix) = shared_ends(old, &new);
    let changed = whole_lines(&new, prefix..new.len() - suffix);
    let lines: String = new[changed.clone()]
        .split_inclusive('\n')
        .map(|line| match line.strip_suffix(": \n") {
            Some(name) => format!("{name}:\n"),
            None => line.to_owned(),
        })
        .collect();
    new.replace_range(changed, &lines);
    new
}

/// The properties of a document; an empty one has none.
fn map(document: &YamlDocument) -> Option<YamlValue> {
    match document.to_value() {
        YamlValue::Null => Some(YamlValue::Map(Vec::new())),
        map @ YamlValue::Map(_) => Some(map),
        _ => None,
    }
}

/// Whether every comment outside the addressed lines is still there, in order.
fn keeps_comments(
    (old, before): (&str, &YamlDocument),
    addressed: &Range<usize>,
    (new, after): (&str, &YamlDocument),
) -> bool {
    let lines = if addressed.is_empty() { 0..0 } else { whole_lines(old, addressed.clone()) };
    let mut left = after.comments.iter().map(|span| &new[span.clone()]);
    let mut others = before.comments.iter().filter(|span| !lines.contains(&span.start)).map(|span| &old[span.clone()]);
    // In order: a comment that moved to another place would belong to something else.
    others.all(|comment| left.any(|kept| kept == comment))
}

#[cfg(test)]
mod tests;
