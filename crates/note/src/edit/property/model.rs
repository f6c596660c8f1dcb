//! What an edit means: the same edit on the value tree, to compare the written YAML with.

use super::{PropertyEdit, PropertyError, PropertyPath, path::position};
use crate::Value;

/// The properties after the edit.
pub(super) fn edited(properties: &Value, edit: &PropertyEdit<'_>) -> Result<Value, PropertyError> {
    let mut after = properties.clone();
    match edit {
        PropertyEdit::Set { path, value } => set(&mut after, path, (*value).clone())?,
        PropertyEdit::Delete { path } => {
            remove(&mut after, path)?;
        }
        PropertyEdit::Append { path, value } => append(&mut after, path, value)?,
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

fn set(root: &mut Value, path: &PropertyPath, value: Value) -> Result<(), PropertyError> {
    let mut at = root;
    for segment in path.parent() {
        at = step(at, segment, path)?;
    }
    *step(at, path.last(), path)? = value;
    Ok(())
}

/// The place a segment leads to, made where there was none.
fn step<'v>(at: &'v mut Value, segment: &str, path: &PropertyPath) -> Result<&'v mut Value, PropertyError> {
    if *at == Value::Null {
        *at = Value::Map(Vec::new());
    }
    match at {
        Value::Map(entries) => {
            let known = entries.iter().position(|(name, _)| name == segment);
            let index = known.unwrap_or(entries.len());
            if known.is_none() {
                entries.push((segment.to_owned(), Value::Null));
            }
            Ok(&mut entries[index].1)
        }
        Value::List(items) => {
            let length = items.len();
            let index = position(segment).filter(|index| *index <= length);
            let index = index.ok_or_else(|| PropertyError::NoSuchItem { path: path.to_string(), length })?;
            if index == length {
                items.push(Value::Null);
            }
            Ok(&mut items[index])
        }
        _ => Err(PropertyError::NotAContainer { path: path.to_string() }),
    }
}

/// The container that a path leads into, if it is there.
fn parent<'v>(root: &'v mut Value, path: &PropertyPath) -> Result<&'v mut Value, PropertyError> {
    path.parent().iter().try_fold(root, |value, segment| {
        let next = match value {
            Value::Map(entries) => entries.iter_mut().find(|(name, _)| name == segment).map(|(_, value)| value),
            Value::List(items) => position(segment).and_then(|at| items.get_mut(at)),
            _ => None,
        };
        next.ok_or_else(|| PropertyError::Missing { path: path.to_string() })
    })
}

fn remove(root: &mut Value, path: &PropertyPath) -> Result<Value, PropertyError> {
    let missing = || PropertyError::Missing { path: path.to_string() };
    match parent(root, path)? {
        Value::Map(entries) => {
            let at = entries.iter().position(|(name, _)| name == path.last()).ok_or_else(missing)?;
            Ok(entries.remove(at).1)
        }
        Value::List(items) => {
            let at = position(path.last()).filter(|at| *at < items.len()).ok_or_else(missing)?;
            Ok(items.remove(at))
        }
        _ => Err(missing()),
    }
}

/// A list gets one more item; nothing or no property becomes a list.
fn append(root: &mut Value, path: &PropertyPath, value: &Value) -> Result<(), PropertyError> {
    let mut at = root;
    for segment in path.segments() {
        at = step(at, segment, path)?;
    }
    match at {
        Value::Null => *at = Value::List(vec![value.clone()]),
        Value::List(items) => items.push(value.clone()),
        _ => return Err(PropertyError::NotAList { path: path.to_string() }),
    }
    Ok(())
}

fn rename(root: &mut Value, from: &PropertyPath, to: &PropertyPath) -> Result<(), PropertyError> {
    let missing = || PropertyError::Missing { path: from.to_string() };
    match parent(root, from)? {
        Value::Map(entries) => {
            let at = entries.iter().position(|(name, _)| name == from.last()).ok_or_else(missing)?;
            if from.last() != to.last() && entries.iter().any(|(name, _)| name == to.last()) {
                return Err(PropertyError::Taken { path: to.to_string() });
            }
            entries[at].0 = to.last().to_owned();
            Ok(())
        }
        Value::List(_) => Err(PropertyError::NotAContainer { path: to.to_string() }),
        _ => Err(missing()),
    }
}

/// Equality of values; not-a-number equals itself, as it is written the same.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same(&a.1, &b.1))
        }
        _ => a == b,
    }
}
