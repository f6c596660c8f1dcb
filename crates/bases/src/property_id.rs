//! Ids of properties: `file.name`, `note.status`, `status`, `formula.Total price`. They are not expressions.

use super::{
    base_value::BaseValue,
    formula::{FormulaNames, FormulaNode},
    known_name::FileField,
};

/// A property that is shown, sorted or grouped by.
#[derive(Debug)]
pub(super) struct PropertyId {
    /// As it was written.
    pub(super) text: String,
    pub(super) node: FormulaNode,
    kind: PropertyKind,
    /// Without its prefix.
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PropertyKind {
    Note,
    File,
    Formula,
}

impl PropertyId {
    /// What is before the first point decides; without a known prefix it is a property of the note.
    pub(super) fn parse(text: &str, names: &mut FormulaNames) -> Self {
        let (kind, name) = split(text);
        let node = match kind {
            PropertyKind::Note => FormulaNode::Property(names.property(name)),
            PropertyKind::Formula => FormulaNode::FormulaOf(names.formula(name)),
            PropertyKind::File => {
                // A file has no such field: its value is nothing, and a problem is listed elsewhere.
                FileField::find(name).map_or(FormulaNode::Literal(BaseValue::Null), FormulaNode::FileField)
            }
        };
        Self { text: text.to_owned(), node, kind, name: name.to_owned() }
    }

    /// What a column is called if nothing else is said.
    pub(super) fn label(&self) -> String {
        match self.kind {
            PropertyKind::File => FileField::label(&self.name).map_or_else(|| self.text.clone(), str::to_owned),
            _ => self.name.clone(),
        }
    }

    /// Equal for all spellings of one property.
    pub(super) fn canonical(&self) -> String {
        canonical(&self.text)
    }

    /// The name of a field that files do not have.
    pub(super) fn unknown_field(&self) -> Option<&str> {
        (self.kind == PropertyKind::File && FileField::find(&self.name).is_none()).then_some(self.name.as_str())
    }

    /// The name of a formula, if it is one.
    pub(super) fn formula(&self) -> Option<&str> {
        (self.kind == PropertyKind::Formula).then_some(self.name.as_str())
    }
}

fn split(text: &str) -> (PropertyKind, &str) {
    // Only the first point separates; a name may have others.
    match text.split_once('.') {
        Some((prefix, name)) if prefix.eq_ignore_ascii_case("note") => (PropertyKind::Note, name),
        Some((prefix, name)) if prefix.eq_ignore_ascii_case("file") => (PropertyKind::File, name),
        Some((prefix, name)) if prefix.eq_ignore_ascii_case("formula") => (PropertyKind::Formula, name),
        _ => (PropertyKind::Note, text),
    }
}

pub(super) fn canonical(text: &str) -> String {
    let (kind, name) = split(text);
    let prefix = match kind {
        PropertyKind::Note => "note",
        PropertyKind::File => "file",
        PropertyKind::Formula => "formula",
    };
    // Names are compared without case, prefixes are ours.
    format!("{prefix}.{}", name.to_lowercase())
}
