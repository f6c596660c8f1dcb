//! Values as text, and as values that every language knows.

use indexmap::IndexMap;

use lapidary_query::{DurationUnit, LuxonDate, Object, Value, format_luxon, number_text};

use super::{
    cell::{Cell, ExternalLink, number_value},
    compare::object_entries,
    engine::{FieldError, QueryEngine},
    links::link_text,
};

/// No value is written as a longer text.
const LONGEST_TEXT: usize = 16 << 20;

/// What `string()`, `+` with a text, `join` and the output of lists make of a value.
pub(super) fn cell_text<'v>(engine: &QueryEngine<'v>, cell: &Cell<'v>) -> Result<String, FieldError> {
    let mut text = String::new();
    write_text(engine, cell, false, &mut text)?;
    Ok(text)
}

/// Lists inside of other values stand in brackets.
fn write_text<'v>(engine: &QueryEngine<'v>, cell: &Cell<'v>, nested: bool, out: &mut String) -> Result<(), FieldError> {
    engine.step()?;
    let before = out.len();
    match cell {
        Cell::Null => *out += &engine.context.dataview.null_text,
        Cell::Boolean(value) => *out += if *value { "true" } else { "false" },
        Cell::Number(number) => *out += &number_text(*number),
        Cell::Text(text) => *out += text,
        Cell::Date(date) => *out += &date_text(engine, date),
        Cell::Duration(duration) => {
            let normalised = duration.normalised();
            // Luxon refuses to write an amount that is not a number.
            if DurationUnit::ALL.into_iter().any(|unit| normalised.part(unit).is_nan()) {
                return FieldError::row("Invalid unit value NaN");
            }
            *out += &normalised.human_text();
        }
        Cell::Link(link) => *out += &link_text(link),
        Cell::Function(_) => *out += "<function>",
        Cell::Widget(link) => *out += &widget_text(link),
        Cell::List(list) => {
            out.push_str(if nested { "[" } else { "" });
            for (at, item) in list.items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write_text(engine, item, true, out)?;
            }
            out.push_str(if nested { "]" } else { "" });
            return Ok(());
        }
        Cell::Object(_) | Cell::Record(_) | Cell::File(_) => {
            *out += "{ ";
            for (at, (name, value)) in object_entries(engine, cell).iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                *out += name;
                *out += ": ";
                write_text(engine, value, true, out)?;
            }
            *out += " }";
            return Ok(());
        }
    }
    // Many short values make a long text too.
    if out.len() > LONGEST_TEXT {
        return FieldError::row(format!("the text of the value has more than {LONGEST_TEXT} bytes"));
    }
    // Values in a list were charged one by one.
    let written = out.len() - before;
    if written > 64 { engine.hold(written) } else { Ok(()) }
}

/// Without a time of day if it is midnight, thousandths of seconds aside.
pub(super) fn date_text(engine: &QueryEngine<'_>, date: &LuxonDate) -> String {
    let settings = &engine.context.dataview;
    let wall = date.wall();
    let midnight = (wall.hour, wall.minute, wall.second) == (0, 0, 0);
    format_luxon(date, if midnight { &settings.date_format } else { &settings.date_time_format })
}

pub(super) fn widget_text(link: &ExternalLink) -> String {
    format!("[{}]({})", link.display, link.url)
}

/// A value for an answer is not made larger than this: no answer has room for it.
const MAX_SHOWN_BYTES: usize = 4 << 20;
/// An entry of an object in memory beside its name and value.
const ENTRY_BYTES: usize = 96;

/// The value for an answer. Functions and external links become what they look like.
pub(super) fn cell_value<'v>(engine: &QueryEngine<'v>, cell: &Cell<'v>) -> Result<Value, FieldError> {
    ShownValue { engine, bytes: 0 }.value(cell)
}

/// A value for an answer that is being made.
struct ShownValue<'e, 'v> {
    engine: &'e QueryEngine<'v>,
    bytes: usize,
}

impl<'v> ShownValue<'_, 'v> {
    /// Counts memory before it is taken.
    fn hold(&mut self, bytes: usize) -> Result<(), FieldError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_SHOWN_BYTES {
            return FieldError::row(format!("the value has more than {MAX_SHOWN_BYTES} bytes"));
        }
        self.engine.hold(bytes)
    }

    fn value(&mut self, cell: &Cell<'v>) -> Result<Value, FieldError> {
        let engine = self.engine;
        engine.step()?;
        Ok(match cell {
            Cell::Null => Value::Null,
            Cell::Boolean(value) => Value::Boolean(*value),
            Cell::Number(number) => number_value(*number),
            Cell::Text(text) => {
                // Short texts are covered by the charge for their step.
                if text.len() > 64 {
                    self.hold(text.len())?;
                }
                Value::Text(text.to_string())
            }
            Cell::Date(date) => match date.to_value() {
                Some(date) => Value::Date(date),
                // A date that does not exist is shown as Luxon shows it.
                None => Value::Text(date_text(engine, date)),
            },
            Cell::Duration(duration) => Value::Duration(**duration),
            Cell::Link(link) => Value::Link((**link).clone()),
            Cell::Function(_) => Value::from("<function>"),
            Cell::Widget(link) => Value::Text(widget_text(link)),
            Cell::List(list) => {
                self.hold(list.items.len() * size_of::<Value>())?;
                Value::List(list.items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?)
            }
            Cell::Object(_) | Cell::Record(_) | Cell::File(_) => {
                let entries = object_entries(engine, cell);
                self.hold(entries.len() * (size_of::<Value>() + ENTRY_BYTES))?;
                let mut object: Object = IndexMap::with_capacity(entries.len());
                for (name, value) in entries {
                    object.insert(name.to_string(), self.value(&value)?);
                }
                Value::Object(object)
            }
        })
    }
}
