//! Values as JavaScript itself puts them into a text.

use lapidary_query::number_text;

use super::{cell::Cell, links::link_text, text::widget_text};

/// What `` `${value}` `` gives.
pub(super) fn script_text(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => "null".to_owned(),
        Cell::Boolean(value) => value.to_string(),
        Cell::Number(number) => number_text(*number),
        Cell::Text(text) => text.to_string(),
        Cell::Date(date) => date.iso_text(),
        Cell::Duration(duration) => duration.to_string(),
        Cell::Link(link) => link_text(link),
        Cell::Widget(link) => widget_text(link),
        Cell::List(list) => {
            // `Array.prototype.join` writes nothing for null.
            let item = |item: &Cell<'_>| if item.is_null() { String::new() } else { script_text(item) };
            list.items.iter().map(item).collect::<Vec<_>>().join(",")
        }
        Cell::Object(_) | Cell::Record(_) | Cell::File(_) => "[object Object]".to_owned(),
        Cell::Function(_) => "<function>".to_owned(),
    }
}
