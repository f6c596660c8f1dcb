//! The meaning of an edit: the same edit on the value tree, to compare the written YAML with.

use super::{PropertyEdit, PropertyError, PropertyPath, path::position};
use crate::YamlValue;

/// The properties after the edit.
pub(super) fn edited(properties: &YamlValue, edit: &PropertyEdit<'_>) -> Result<YamlValue, PropertyError> {
    let mut after = properties.clone();
    match edit {
        PropertyEdit::Set { path, value } => set(&mut after, path, (*value).clone())?,
        PropertyEdit::Delete { path } => {
            remove(&mut after, path)?;
        }
        PropertyEdit::Append { path, value } => append(&mut after, path, value)?,
        // A rename keeps the place among its siblings; a move to another parent cannot.
        PropertyEdit::Move { from, to } if from.parent() == to.parent() => rename(&mut after, from, to)?,
        PropertyEdit::Move { from, to } => {
            if to.find(&after).is_some() {
                return Err(PropertyError::Taken { path: to.to_string() });
            }
            let value = remove(&mut after, from)?;
            set(&mut after, to, value)?;
        }
    }
    Ok(after)
}

fn set(root: &mut YamlValue, path: &PropertyPath, value: YamlValue) -> Result<(), PropertyError> {
    let mut at = root;
    for segment in path.parent() {
        at = step(at, segment, path)?;
    }
    *step(at, path.last(), path)? = value;
    Ok(())
}

/// The place a segment leads to, created if missing.
fn step<'v>(at: &'v mut YamlValue, segment: &str, path: &PropertyPath) -> Result<&'v mut YamlValue, PropertyError> {
    // An empty value becomes the container that the path needs.
    if *at == YamlValue::Null {
        *at = YamlValue::Map(Vec::new());
    }
    match at {
        YamlValue::Map(entries) => {
            let known = entries.iter().position(|(name, _)| name == segment);
            let index = known.unwrap_or(entries.len());
            if known.is_none() {
                entries.push((segment.to_owned(), YamlValue::Null));
            }
            Ok(&mut entries[index].1)
        }
        YamlValue::List(items) => {
            // One past the end adds an item.
            let length = items.len();
            let index = position(segment).filter(|index| *index <= length);
            let index = index.ok_or_else(|| PropertyError::NoSuchItem { path: path.to_string(), length })?;
            if index == length {
                items.push(YamlValue::Null);
            }
            Ok(&mut items[index])
        }
        _ => Err(PropertyError::NotAContainer { path: path.to_string() }),
    }
}

/// The container that a path leads into, if it exists.
fn parent<'v>(root: &'v mut YamlValue, path: &PropertyPath) -> Result<&'v mut YamlValue, PropertyError> {
    path.parent().iter().try_fold(root, |value, segment| {
        let next = match value {
            YamlValue::Map(entries) => entries.iter_mut().find(|(name, _)| name == segment).map(|(_, value)| value),
            YamlValue::List(items) => position(segment).and_then(|at| items.get_mut(at)),
            _ => None,
        };
        next.ok_or_else(|| PropertyError::Missing { path: path.to_string() })
    })
}

fn remove(root: &mut YamlValue, path: &PropertyPath) -> Result<YamlValue, PropertyError> {
    let missing = || PropertyError::Missing { path: path.to_string() };
    match parent(root, path)? {
        YamlValue::Map(entries) => {
            let at = entries.iter().position(|(name, _)| name == path.last()).ok_or_else(missing)?;
            Ok(entries.remove(at).1)
        }
        YamlValue::List(items) => {
            let at = position(path.last()).filter(|at| *at < items.len()).ok_or_else(missing)?;
            Ok(items.remove(at))
        }
        _ => Err(missing()),
    }
}

/// A list gets one more item; a null or missing property becomes a list.
fn append(root: &mut YamlValue, path: &PropertyPath, value: &YamlValue) -> Result<(), PropertyError> {
    let mut at = root;
    for segment in path.segments() {
        at = step(at, segment, path)?;
    }
    match at {
        YamlValue::Null => *at = YamlValue::List(vec![value.clone()]),
        YamlValue::List(items) => items.push(value.clone()),
        _ => return Err(PropertyError::NotAList { path: path.to_string() }),
    }
    Ok(())
}

fn rename(root: &mut YamlValue, from: &PropertyPath, to: &PropertyPath) -> Result<(), PropertyError> {
    let missing = || PropertyError::Missing { path: from.to_string() };
    match parent(root, from)? {
        YamlValue::Map(entries) => {
            let at = entries.iter().position(|(name, _)| name == from.last()).ok_or_else(missing)?;
            // Renaming to another case of the same name is allowed.
            if from.last() != to.last() && entries.iter().any(|(name, _)| name == to.last()) {
                return Err(PropertyError::Taken { path: to.to_string() });
            }
            entries[at].0 = to.last().to_owned();
            Ok(())
        }
        YamlValue::List(_) => Err(PropertyError::NotAContainer { path: to.to_string() }),
        _ => Err(missing()),
    }
}

/// Equality of values; NaN equals itself, as it is written the same.
pub(super) fn same(a: &YamlValue, b: &YamlValue) -> bool {
    match (a, b) {
        (YamlValue::Float(a), YamlValue::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
        (YamlValue::List(a), YamlValue::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (YamlValue::Map(a), YamlValue::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same(&a.1, &b.1))
        }
        _ => a == b,
    }
}
