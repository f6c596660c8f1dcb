//! Instructions about a property.

use super::{InstructionError, InstructionOperation, InstructionPayload, InstructionScope, PatchInstruction};
use crate::{
    Document, YamlValue,
    edit::{EditError, InsertSide, PropertyEdit, PropertyPath, merge::merged},
};

pub(super) fn edited(
    document: &Document,
    path: &PropertyPath,
    instruction: &PatchInstruction,
) -> Result<Document, InstructionError> {
    let properties = document.properties().map_err(|error| EditError::Property(error.into()))?;
    let name = path.segments().next().unwrap_or_default();
    let old = properties.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let is_known = |wanted: &str| properties.iter().any(|(known, _)| known == wanted);
    let (operation, scope) = (instruction.operation, instruction.scope);
    // Only these operations say what the value of a new property would be.
    let makes = scope == InstructionScope::Content && operation != InstructionOperation::Delete
        || scope == InstructionScope::MarkerAndContent && operation == InstructionOperation::Replace;
    if old.is_none() && !(instruction.create && makes) {
        return Err(InstructionError::TargetMissing);
    }
    let null = YamlValue::Null;
    let edit = match (operation, scope, &instruction.payload) {
        (InstructionOperation::Delete, InstructionScope::Content, _) => PropertyEdit::Set { path, value: &null },
        (InstructionOperation::Delete, ..) => PropertyEdit::Delete { path },
        (_, InstructionScope::Marker, InstructionPayload::Text(to)) => {
            // A name that stays the same is a success, not a conflict.
            if to == name {
                return Ok(document.clone());
            }
            if is_known(to) {
                return Err(InstructionError::NameTaken);
            }
            let to = PropertyPath::name(to);
            return applied(document, &[PropertyEdit::Move { from: path, to: &to }]);
        }
        (InstructionOperation::Replace, _, InstructionPayload::Value(value)) => PropertyEdit::Set { path, value },
        (operation, InstructionScope::Content, InstructionPayload::Value(value)) => {
            let side = side(operation);
            let value = match old {
                None => value.clone(),
                Some(old) => joined(old, value, side)?,
            };
            return applied(document, &[PropertyEdit::Set { path, value: &value }]);
        }
        // More properties beside this one.
        (_, InstructionScope::MarkerAndContent, InstructionPayload::Value(YamlValue::Map(entries))) => {
            if entries.iter().any(|(new, _)| is_known(new)) {
                return Err(InstructionError::NameTaken);
            }
            let entries: Vec<(PropertyPath, &YamlValue)> =
                entries.iter().map(|(name, value)| (PropertyPath::name(name), value)).collect();
            let edits: Vec<PropertyEdit<'_>> =
                entries.iter().map(|(path, value)| PropertyEdit::Set { path, value }).collect();
            return applied(document, &edits);
        }
        _ => return Err(InstructionError::NotMergeable),
    };
    applied(document, &[edit])
}

fn applied(document: &Document, edits: &[PropertyEdit<'_>]) -> Result<Document, InstructionError> {
    Ok(document.edit_properties(edits)?.document)
}

fn side(operation: InstructionOperation) -> InsertSide {
    if operation == InstructionOperation::Prepend { InsertSide::Before } else { InsertSide::Behind }
}

/// Two values of one kind as one.
fn joined(old: &YamlValue, new: &YamlValue, side: InsertSide) -> Result<YamlValue, InstructionError> {
    let alike = matches!(
        (old, new),
        (YamlValue::List(_), YamlValue::List(_))
            | (YamlValue::Map(_), YamlValue::Map(_))
            // A number cannot be appended to a list without guessing what was meant.
            | (YamlValue::Text(_), YamlValue::Text(_))
    );
    merged(old, new, side).filter(|_| alike).ok_or(InstructionError::NotMergeable)
}
