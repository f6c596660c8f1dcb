//! The edit of a file's text, the same for every format: parse, change, parse again, compare.

use serde_json::{Map, Value};

use crate::{SERVER_NAME, json_text, toml_text, yaml_text};

/// How a client writes its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    Json,
    /// With comments and trailing commas.
    JsonWithComments,
    Toml,
    Yaml,
}

/// Why a file is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientFileError {
    #[error("line {line}, column {column}: {problem}")]
    Broken { line: usize, column: usize, problem: String },
    #[error("`{key}` is not a table of servers")]
    NotATable { key: String },
    #[error("`{key}` is there twice, and clients differ in which one they read")]
    Twice { key: String },
    #[error("{0}")]
    Unsupported(&'static str),
    #[error("the edit would change more than the entry of Lapidary")]
    Unsafe,
    #[error("this client takes no address; it can only start a program")]
    NoAddress,
}

const BOM: &str = "\u{feff}";

/// The value of a text, in the terms of JSON. An empty text is an empty table.
pub(crate) fn parse(format: FileFormat, text: &str) -> Result<Value, ClientFileError> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    match format {
        FileFormat::Json => json_text::parse(text, false),
        FileFormat::JsonWithComments => json_text::parse(text, true),
        FileFormat::Toml => toml_text::parse(text),
        FileFormat::Yaml => yaml_text::parse(text),
    }
}

pub(crate) fn entry(format: FileFormat, text: &str, keys: &[&str]) -> Result<Option<Value>, ClientFileError> {
    let whole = parse(format, text)?;
    Ok(servers(&whole, keys)?.and_then(|servers| servers.get(SERVER_NAME)).cloned())
}

/// The text with the entry. Fields of an existing entry that are not in the new one stay, unless they are `stale`.
pub(crate) fn with_entry(
    format: FileFormat,
    text: &str,
    keys: &[&str],
    wanted: &Map<String, Value>,
    stale: &[&str],
) -> Result<String, ClientFileError> {
    let before = parse(format, text)?;
    // The user may have added variables or a timeout to the entry. They stay; only what we name is ours.
    let there = servers(&before, keys)?.and_then(|servers| servers.get(SERVER_NAME));
    let merged = match there.and_then(Value::as_object) {
        Some(there) => {
            // A `type` of the user stays, unless it says the opposite of the new fields.
            let switches = there.keys().any(|key| stale.contains(&key.as_str()));
            let goes = |key: &str| stale.contains(&key) || (switches && key == "type");
            let mut merged: Map<String, Value> = there.iter().filter(|(key, _)| !goes(key)).map(owned).collect();
            merged.extend(wanted.iter().map(owned));
            merged
        }
        None => wanted.clone(),
    };
    let merged = Value::Object(merged);
    // Nothing is rewritten then, not even in another style: a second `install` leaves the file byte for byte.
    if there == Some(&merged) {
        return Ok(text.to_owned());
    }
    let path: Vec<&str> = keys.iter().copied().chain([SERVER_NAME]).collect();
    edited(format, text, &before, &path, Some(&merged))
}

/// The text without the entry; the same text if it has none.
pub(crate) fn without_entry(format: FileFormat, text: &str, keys: &[&str]) -> Result<String, ClientFileError> {
    let before = parse(format, text)?;
    if servers(&before, keys)?.is_none_or(|servers| !servers.contains_key(SERVER_NAME)) {
        return Ok(text.to_owned());
    }
    let path: Vec<&str> = keys.iter().copied().chain([SERVER_NAME]).collect();
    edited(format, text, &before, &path, None)
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

fn servers<'a>(whole: &'a Value, keys: &[&str]) -> Result<Option<&'a Map<String, Value>>, ClientFileError> {
    let mut at = whole;
    for key in keys {
        match at.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(below) if below.is_object() => at = below,
            Some(_) => return Err(ClientFileError::NotATable { key: (*key).to_owned() }),
        }
    }
    Ok(at.as_object())
}

/// Nothing here is trusted: the result is parsed, and everything except the entry must be as it was.
fn edited(
    format: FileFormat,
    text: &str,
    before: &Value,
    path: &[&str],
    entry: Option<&Value>,
) -> Result<String, ClientFileError> {
    // Taken off and put back: a parser need not know it, and no byte outside of the entry changes.
    let (mark, body) = text.strip_prefix(BOM).map_or(("", text), |body| (BOM, body));
    let changed = match (format, entry) {
        (FileFormat::Json, Some(entry)) => json_text::set(body, false, path, entry),
        (FileFormat::JsonWithComments, Some(entry)) => json_text::set(body, true, path, entry),
        (FileFormat::Toml, Some(entry)) => toml_text::set(body, path, entry),
        (FileFormat::Yaml, Some(entry)) => yaml_text::set(body, path, entry),
        (FileFormat::Json, None) => json_text::remove(body, false, path),
        (FileFormat::JsonWithComments, None) => json_text::remove(body, true, path),
        (FileFormat::Toml, None) => toml_text::remove(body, path),
        (FileFormat::Yaml, None) => yaml_text::remove(body, path),
    }?;
    // The text that comes out is judged like one of a stranger. A bug in an editor of text then costs a refusal, not
    // the settings of other servers.
    let after = parse(format, &changed).map_err(|_| ClientFileError::Unsafe)?;
    let rest = |whole: &Value| {
        let mut whole = whole.clone();
        take(&mut whole, path);
        whole
    };
    let mut left = after.clone();
    if rest(before) != rest(&after) || take(&mut left, path).as_ref() != entry {
        return Err(ClientFileError::Unsafe);
    }
    Ok(format!("{mark}{changed}"))
}

/// Takes out the value at a path, and the tables above it that are empty then: an edit may make or leave them.
fn take(whole: &mut Value, path: &[&str]) -> Option<Value> {
    let (first, rest) = path.split_first()?;
    let table = whole.as_object_mut()?;
    if rest.is_empty() {
        return table.shift_remove(*first);
    }
    let taken = table.get_mut(*first).and_then(|below| take(below, rest));
    let empty = |below: &Value| below.is_null() || below.as_object().is_some_and(Map::is_empty);
    if table.get(*first).is_some_and(empty) {
        table.shift_remove(*first);
    }
    taken
}
