//! TOML: a new entry is appended as a separate table; an existing one is edited in place.

use std::ops::Range;

use serde_json::{Map, Value, json};
use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value as TomlValue};

use crate::{
    ClientFileError,
    text_lines::{before_line_end, line_end, line_start, next_line, position},
};

pub(crate) fn parse(text: &str) -> Result<Value, ClientFileError> {
    Ok(table_value(tree(text)?.as_table()))
}

/// The text with a table at a path of two keys.
pub(crate) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, ClientFileError> {
    let ([parent, name], Value::Object(fields)) = (path, value) else { return Err(ClientFileError::Unsafe) };
    let document = tree(text)?;
    let above = document.get(parent);
    // Where `mcp_servers` is an inline table or made of dotted keys, a header of the same name would define it twice.
    let takes_header = match above {
        None => true,
        Some(Item::Table(table)) => !table.is_dotted(),
        Some(_) => false,
    };
    if takes_header && above.and_then(|above| above.get(name)).is_none() {
        // As text at the end, not through the library: the rest of the file cannot change then.
        return appended(text, &format!("[{parent}.{name}]"), fields);
    }
    let mut document = document.into_mut();
    let above = document.get_mut(parent).and_then(Item::as_table_like_mut);
    let above = above.ok_or_else(|| ClientFileError::NotATable { key: (*parent).to_owned() })?;
    match above.get_mut(name).and_then(Item::as_table_like_mut) {
        Some(entry) => update(entry, fields)?,
        None => {
            let mut entry = InlineTable::new();
            update(&mut entry, fields)?;
            drop(above.insert(name, Item::Value(TomlValue::InlineTable(entry))));
        }
    }
    written(text, &document)
}

/// The text without the table at a path of two keys.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, ClientFileError> {
    let [parent, name] = path else { return Err(ClientFileError::Unsafe) };
    let document = tree(text)?;
    let above = document.get(parent);
    match above.and_then(|above| above.get(name)) {
        Some(Item::Table(entry)) if !entry.is_dotted() => Ok(without_tables(text, entry)),
        _ => {
            let mut document = document.into_mut();
            if let Some(above) = document.get_mut(parent).and_then(Item::as_table_like_mut) {
                drop(above.remove(name));
            }
            written(text, &document)
        }
    }
}

fn tree(text: &str) -> Result<Document<String>, ClientFileError> {
    Document::parse(text.to_owned()).map_err(|error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        ClientFileError::Broken { line, column, problem: error.message().to_owned() }
    })
}

fn appended(text: &str, header: &str, fields: &Map<String, Value>) -> Result<String, ClientFileError> {
    let eol = line_end(text);
    let mut block = header.to_owned();
    for (key, value) in fields {
        block += &format!("{eol}{key} = {}", toml_value(value)?);
    }
    Ok(match text {
        "" => format!("{block}{eol}"),
        // Whether the file ends with a line end stays as it is.
        _ if text.ends_with('\n') => format!("{text}{eol}{block}{eol}"),
        _ => format!("{text}{eol}{eol}{block}"),
    })
}

fn update(entry: &mut dyn TableLike, fields: &Map<String, Value>) -> Result<(), ClientFileError> {
    // Collected first, since a table cannot change while it is walked.
    let stale: Vec<String> =
        entry.iter().map(|(key, _)| key.to_owned()).filter(|key| !fields.contains_key(key)).collect();
    for key in stale {
        drop(entry.remove(&key));
    }
    for (key, value) in fields {
        if entry.get(key).map(item_value).as_ref() == Some(value) {
            continue;
        }
        let mut new = toml_value(value)?;
        if let Some(old) = entry.get_mut(key).and_then(Item::as_value_mut) {
            // The blanks and the comment around a value are not part of it.
            *new.decor_mut() = old.decor().clone();
            *old = new;
        } else {
            drop(entry.insert(key, Item::Value(new)));
        }
    }
    Ok(())
}

/// The library writes `\n`; a file with `\r\n` gets them back.
fn written(text: &str, document: &DocumentMut) -> Result<String, ClientFileError> {
    let made = document.to_string();
    if !text.contains('\r') {
        return Ok(made);
    }
    // Which lines had which end is lost in the library, so a mixture could not be given back.
    if text.matches('\n').count() != text.matches("\r\n").count() {
        return Err(ClientFileError::Unsupported("the file mixes line ends; make them alike first"));
    }
    Ok(made.replace("\r\n", "\n").replace('\n', "\r\n"))
}

/// The text without a table, its subtables, and the blank line above.
fn without_tables(text: &str, entry: &Table) -> String {
    let mut ranges = Vec::new();
    collect(text, entry, &mut ranges);
    ranges.sort_by_key(|range: &Range<usize>| range.start);
    let mut kept = text.to_owned();
    let (ended, unended) = (text.len(), !text.ends_with('\n'));
    // From the end, so that the positions of the tables before stay true. Tables of others may be between ours and
    // stay.
    for (index, range) in ranges.iter().enumerate().rev() {
        let mut start = range.start;
        let above = before_line_end(text, start);
        let after_blank = start > 0 && (above == 0 || text[..above].ends_with('\n'));
        // The blank line that separated the entry from what is above; only one, and not those between its own tables.
        if index == 0 && after_blank {
            start = above;
        }
        if index == 0 && range.end == ended && unended {
            start = before_line_end(text, start);
        }
        kept.replace_range(start..range.end, "");
    }
    kept
}

/// The lines of a table and of those below it: from the header to the end of the last value.
fn collect(text: &str, table: &Table, ranges: &mut Vec<Range<usize>>) {
    let mut end = None;
    for (key, item) in table.iter() {
        match item {
            Item::Table(below) if !below.is_dotted() => collect(text, below, ranges),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|below| collect(text, below, ranges)),
            _ => {
                // Values that the library made of dotted keys have no position; their key has.
                let key = table.key(key).and_then(toml_edit::Key::span);
                end = end.max(item.span().or(key).map(|span| span.end));
            }
        }
    }
    if let Some(header) = table.span() {
        let start = line_start(text, header.start);
        let end = end.unwrap_or(header.start).max(header.start);
        ranges.push(start..next_line(text, end));
    }
}

fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => table_value(table),
        Item::ArrayOfTables(tables) => tables.iter().map(table_value).collect(),
    }
}

fn table_value(table: &Table) -> Value {
    table.iter().map(|(key, item)| (key.to_owned(), item_value(item))).collect()
}

fn json_value(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => Value::String(text.value().clone()),
        TomlValue::Integer(number) => json!(number.value()),
        // Also those that JSON lacks.
        TomlValue::Float(number) => json!({ "float": number.value().to_string() }),
        TomlValue::Boolean(literal) => json!(literal.value()),
        TomlValue::Datetime(moment) => json!({ "datetime": moment.value().to_string() }),
        TomlValue::Array(array) => array.iter().map(json_value).collect(),
        TomlValue::InlineTable(table) => table.iter().map(|(key, value)| (key.to_owned(), json_value(value))).collect(),
    }
}

fn toml_value(value: &Value) -> Result<TomlValue, ClientFileError> {
    Ok(match value {
        Value::String(text) => TomlValue::from(text.as_str()),
        Value::Bool(literal) => TomlValue::from(*literal),
        // Entries have whole numbers only, such as timeouts; a fraction would be a mistake of ours.
        Value::Number(number) => TomlValue::from(number.as_i64().ok_or(ClientFileError::Unsafe)?),
        Value::Array(elements) => {
            let elements = elements.iter().map(toml_value).collect::<Result<Vec<_>, _>>()?;
            TomlValue::Array(Array::from_iter(elements))
        }
        Value::Object(fields) => {
            let mut table = InlineTable::new();
            for (key, value) in fields {
                drop(table.insert(key.as_str(), toml_value(value)?));
            }
            TomlValue::InlineTable(table)
        }
        Value::Null => return Err(ClientFileError::Unsafe),
    })
}
