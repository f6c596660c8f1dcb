//! Maps of a document, and the parts that they name, in both forms of the API.

use lapidary_note::{Document, DocumentParts, InstructionScope, InstructionTarget, Note};
use lapidary_toolkit::properties;
use serde_json::{Map, Value, json};

/// The map of format 2: headings as a tree, and keys that address every part.
pub fn document_map(document: &Document, version: &str) -> Value {
    let note = document.note();
    let parts = DocumentParts::of(&note);
    // By parent, since the list of headings is flat.
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); note.headings.len()];
    let mut outermost = Vec::new();
    for (index, heading) in note.headings.iter().enumerate() {
        match heading.parent {
            Some(parent) => below[parent].push(index),
            None => outermost.push(index),
        }
    }
    json!({
        "headings": tree(&parts.headings, &below, &outermost),
        "blocks": parts.blocks,
        "frontmatterFields": fields(&note),
        "version": version,
    })
}

/// At most six levels deep.
fn tree(keys: &[String], below: &[Vec<usize>], headings: &[usize]) -> Value {
    headings.iter().map(|index| (keys[*index].clone(), tree(keys, below, &below[*index]))).collect::<Map<_, _>>().into()
}

/// The map of format 1: headings by their whole paths, each once.
pub fn legacy_map(document: &Document) -> Value {
    let note = document.note();
    let mut headings: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for heading in &note.headings {
        let path = note.heading_path(heading).join("::");
        // A path that occurs twice can only be addressed once in this format.
        if !path.is_empty() && seen.insert(path.clone()) {
            headings.push(path);
        }
    }
    let mut seen = std::collections::HashSet::new();
    // As with paths, only one of several equal ids can be addressed.
    let blocks: Vec<&str> = note.blocks.iter().map(|block| &*block.id).filter(|id| seen.insert(*id)).collect();
    json!({ "headings": headings, "blocks": blocks, "frontmatterFields": fields(&note) })
}

fn fields<'n>(note: &'n Note<'_>) -> Vec<&'n str> {
    note.readable_properties().iter().map(|property| &*property.key).collect()
}

/// A part of a document: text, or the value of a property. `None` if there is no such part.
pub fn section_of(document: &Document, target: &InstructionTarget, scope: InstructionScope) -> Option<Value> {
    let note = document.note();
    let parts = DocumentParts::of(&note);
    let with_marker = scope == InstructionScope::MarkerAndContent;
    match (target, scope) {
        (InstructionTarget::Heading(path), InstructionScope::Marker) => parts.section_name(path).map(Value::from),
        (InstructionTarget::Heading(path), _) => parts.section_text(path, with_marker).map(Value::from),
        (InstructionTarget::Block(key), InstructionScope::Marker) => {
            // A key of a block that occurs twice has a number behind this separator.
            let id = key.split('\u{1f}').next().unwrap_or(key);
            parts.block_text(key, false).map(|_| Value::from(id))
        }
        (InstructionTarget::Block(key), _) => parts.block_text(key, with_marker).map(Value::from),
        (InstructionTarget::Property(name), scope) => {
            let (_, value) = document.properties().ok()?.into_iter().find(|(known, _)| known == name)?;
            Some(match scope {
                InstructionScope::Marker => json!(name),
                InstructionScope::MarkerAndContent => json!({ name: properties::json(&value) }),
                InstructionScope::Content | InstructionScope::Parent => properties::json(&value),
            })
        }
    }
}

/// A part as format 1 gives it: exactly as written, and of equal headings the last.
pub fn legacy_part(document: &Document, target: &InstructionTarget) -> Option<Value> {
    let note = document.note();
    match target {
        InstructionTarget::Heading(path) => {
            let heading = note.headings.iter().rfind(|heading| note.heading_path(heading) == *path)?;
            Some(json!(note.text.get(heading.body..heading.section.end)?))
        }
        InstructionTarget::Block(id) => {
            let parts = DocumentParts::of(&note);
            let last = note.blocks.iter().rposition(|block| block.id == *id)?;
            parts.block_text(&parts.blocks[last], false).map(Value::from)
        }
        InstructionTarget::Property(_) => section_of(document, target, InstructionScope::Content),
    }
}
