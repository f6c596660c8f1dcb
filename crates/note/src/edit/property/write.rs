//! The edit on the text, by yaml-edit. Nothing here is trusted: the result is parsed and compared.

use std::str::FromStr as _;

use yaml_edit::{Document, Mapping, MappingEntry, Sequence, YamlNode};

use super::{
    PropertyEdit, PropertyPath,
    path::position,
    render::{self, ScalarStyle},
};
use crate::YamlValue;

/// The YAML after the edit, or `None` if yaml-edit cannot do it.
pub(super) fn edited(yaml: &str, before: &YamlValue, edit: &PropertyEdit<'_>, hint: ScalarStyle) -> Option<String> {
    let document = Document::from_str(yaml).ok()?;
    let root = YamlContainer::Map(document.as_mapping()?);
    match edit {
        PropertyEdit::Set { path, value } => match (find(&root, path.parent()), path.find(before), value) {
            // Item by item keeps comments and styles; the whole list would be written anew.
            (Some(parent), Some(YamlValue::List(old)), YamlValue::List(new)) if few_differ(old, new) => {
                let YamlNode::Sequence(list) = parent.get(path.last())? else { return None };
                align(&list, old, new)?;
            }
            _ => set(&root, path, value, hint)?,
        },
        PropertyEdit::Delete { path } => find(&root, path.parent())?.remove(path.last())?,
        PropertyEdit::Append { path, value } => append(&root, path, value)?,
        PropertyEdit::Move { from, to } if from.parent() == to.parent() => {
            let YamlContainer::Map(map) = find(&root, from.parent())? else { return None };
            let old = entry(&map, from.last())?.key_node()?;
            // Written like any other key, with quotes if it needs them.
            if !map.rename_key(old, node(&format!(" {}", render::key(to.last())))?) {
                return None;
            }
        }
        PropertyEdit::Move { from, to } => {
            let parent = find(&root, from.parent())?;
            let value = parent.get(from.last())?;
            // The maps on the way have to exist before something is put into them.
            if deepest(&root, to).1.len() > 1 {
                set(&root, to, &YamlValue::Null, ScalarStyle::None)?;
            }
            // Copied while it is in its old place: its indentation is measured there.
            find(&root, to.parent())?.set(to.last(), &value)?;
            parent.remove(from.last())?;
        }
    }
    Some(document.to_string())
}

#[derive(Clone)]
enum YamlContainer {
    Map(Mapping),
    List(Sequence),
}

impl YamlContainer {
    fn of(node: &YamlNode) -> Option<Self> {
        match node {
            YamlNode::Mapping(map) => Some(Self::Map(map.clone())),
            YamlNode::Sequence(list) => Some(Self::List(list.clone())),
            _ => None,
        }
    }

    fn get(&self, segment: &str) -> Option<YamlNode> {
        match self {
            Self::Map(map) => entry(map, segment)?.value_node(),
            Self::List(list) => list.get(position(segment)?),
        }
    }

    /// Whether its values are on one line.
    fn is_flow(&self) -> bool {
        match self {
            Self::Map(map) => map.is_flow_style(),
            Self::List(list) => list.is_flow_style(),
        }
    }

    /// A value in a form valid in here.
    fn node(&self, value: &YamlValue, hint: ScalarStyle) -> Option<YamlNode> {
        let on_one_line = match value {
            YamlValue::Text(_) => self.is_flow() && hint == ScalarStyle::None,
            YamlValue::List(_) | YamlValue::Map(_) => self.is_flow() || matches!(self, Self::List(_)),
            _ => self.is_flow(),
        };
        if on_one_line { node(&format!(" {}", render::flow(value))) } else { node(&render::after_colon(value, hint)) }
    }

    fn set(&self, segment: &str, value: &YamlNode) -> Option<()> {
        match self {
            Self::Map(map) => match entry(map, segment) {
                Some(entry) => entry.set_value(value, map.is_flow_style()),
                None => map.set(node(&format!(" {}", render::key(segment)))?, value),
            },
            Self::List(list) => {
                let at = position(segment)?;
                if at == list.len() {
                    list.push(value);
                } else if !list.set(at, value) {
                    return None;
                }
            }
        }
        Some(())
    }

    fn remove(&self, segment: &str) -> Option<()> {
        match self {
            Self::Map(map) => map.remove(entry(map, segment)?.key_node()?).map(|_| ()),
            Self::List(list) => list.remove(position(segment)?).map(|_| ()),
        }
    }
}

/// The entry whose name matches the segment, regardless of its type.
fn entry(map: &Mapping, segment: &str) -> Option<MappingEntry> {
    map.entries().find(|entry| match entry.key_node() {
        // A name may be written as a number or a date, and is a text all the same.
        Some(YamlNode::Scalar(scalar)) => scalar.as_string() == segment,
        _ => false,
    })
}

fn find(root: &YamlContainer, segments: &[String]) -> Option<YamlContainer> {
    let mut at = root.clone();
    for segment in segments {
        at = YamlContainer::of(&at.get(segment)?)?;
    }
    Some(at)
}

/// How far a path leads, and the rest of it.
fn deepest<'p>(root: &YamlContainer, path: &'p PropertyPath) -> (YamlContainer, Vec<&'p str>) {
    let segments: Vec<&str> = path.segments().collect();
    let mut at = root.clone();
    let mut used = 0;
    for segment in &segments[..segments.len() - 1] {
        let Some(next) = at.get(segment).as_ref().and_then(YamlContainer::of) else { break };
        at = next;
        used += 1;
    }
    (at, segments[used..].to_vec())
}

fn set(root: &YamlContainer, path: &PropertyPath, value: &YamlValue, hint: ScalarStyle) -> Option<()> {
    let (container, rest) = deepest(root, path);
    let (first, deeper) = rest.split_first()?;
    // Missing maps are written together with the value in them.
    let value =
        deeper.iter().rev().fold(value.clone(), |value, name| YamlValue::Map(vec![((*name).to_owned(), value)]));
    container.set(first, &container.node(&value, hint)?)
}

/// Whether item by item is worth it: each step costs the whole list, so large changes are written together.
fn few_differ(old: &[YamlValue], new: &[YamlValue]) -> bool {
    const FEW: usize = 16;
    let same = |(old, new): &(&YamlValue, &YamlValue)| old == new;
    let head = old.iter().zip(new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
    let differ = old.len().max(new.len()) - head - tail;
    !old.is_empty() && !new.is_empty() && differ <= FEW
}

/// Turns one list into another and touches only the items that differ.
fn align(list: &Sequence, old: &[YamlValue], items: &[YamlValue]) -> Option<()> {
    let same = |(old, new): &(&YamlValue, &YamlValue)| old == new;
    let head = old.iter().zip(items).take_while(same).count();
    let tail = old[head..].iter().rev().zip(items[head..].iter().rev()).take_while(same).count();
    let (old_end, new_end) = (old.len() - tail, items.len() - tail);
    for (at, value) in items.iter().enumerate().take(old_end.min(new_end)).skip(head) {
        list.set(at, item(list, value)?).then_some(())?;
    }
    // From the end, so that the positions of the others stay.
    for at in (new_end..old_end).rev() {
        list.remove(at)?;
    }
    for (at, value) in items.iter().enumerate().take(new_end).skip(old_end) {
        list.insert(at, item(list, value)?);
    }
    Some(())
}

fn append(root: &YamlContainer, path: &PropertyPath, value: &YamlValue) -> Option<()> {
    match find(root, path.parent()).and_then(|parent| parent.get(path.last())) {
        Some(YamlNode::Sequence(list)) => list.push(item(&list, value)?),
        _ => set(root, path, &YamlValue::List(vec![value.clone()]), ScalarStyle::None)?,
    }
    Some(())
}

fn item(list: &Sequence, value: &YamlValue) -> Option<YamlNode> {
    YamlContainer::List(list.clone()).node(value, ScalarStyle::None)
}

/// A node that is written as given.
fn node(after_colon: &str) -> Option<YamlNode> {
    Document::from_str(&format!("v:{after_colon}\n")).ok()?.as_mapping()?.get("v")
}
