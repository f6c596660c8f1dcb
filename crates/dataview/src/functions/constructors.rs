//! Functions that make values: objects, lists, dates, numbers, texts, links.

use std::rc::Rc;

use indexmap::IndexMap;

use crate::{
    cell::{Cell, ExternalLink},
    engine::{FieldError, QueryEngine},
    file_fields::file_day,
    links::file_link,
    parser::{parsed_date, parsed_duration},
    text::cell_text,
};
use lapidary_query::{LinkValue, LuxonDate, LuxonParseError, literal, parse_luxon};

use super::{Answered, FunctionName, answer};

pub(super) fn call<'v>(engine: &QueryEngine<'v>, function: FunctionName, arguments: &[Cell<'v>]) -> Answered<'v> {
    match function {
        FunctionName::Object => object(engine, arguments),
        FunctionName::List | FunctionName::Array => engine.list(arguments.to_vec()).map(Some),
        FunctionName::Date => date(engine, arguments),
        FunctionName::Dur => match arguments {
            // A text that is not a duration gives null and not an error.
            [Cell::Text(text)] => answer(parsed_duration(text.trim()).map_or(Cell::Null, Cell::duration)),
            [same @ (Cell::Duration(_) | Cell::Null)] => answer(same.clone()),
            _ => Ok(None),
        },
        FunctionName::Number => match arguments {
            [same @ (Cell::Number(_) | Cell::Null)] => answer(same.clone()),
            // The first number in the text, wherever it is.
            [Cell::Text(text)] => answer(first_number(text).map_or(Cell::Null, Cell::Number)),
            _ => Ok(None),
        },
        FunctionName::String => match arguments {
            [value] => cell_text(engine, value).map(|text| Some(Cell::text(text))),
            _ => Ok(None),
        },
        FunctionName::Link => link(engine, arguments),
        FunctionName::Embed => match arguments {
            [Cell::Link(link)] => answer(embedded(link, true)),
            [Cell::Link(link), Cell::Boolean(embed)] => answer(embedded(link, *embed)),
            // Whichever of the two is missing.
            [Cell::Null] | [Cell::Null, _] | [_, Cell::Null] => answer(Cell::Null),
            _ => Ok(None),
        },
        FunctionName::Elink => match arguments {
            [Cell::Text(url), Cell::Text(display)] => answer(external(url, display)),
            [Cell::Text(url), Cell::Null] | [Cell::Text(url)] => answer(external(url, url)),
            [Cell::Null] | [Cell::Null, _] => answer(Cell::Null),
            _ => Ok(None),
        },
        _ => match arguments {
            [value] => answer(Cell::text(value.kind().name())),
            _ => Ok(None),
        },
    }
}

fn object<'v>(engine: &QueryEngine<'v>, arguments: &[Cell<'v>]) -> Answered<'v> {
    if !arguments.len().is_multiple_of(2) {
        return FieldError::row("object() requires an even number of arguments");
    }
    let mut entries: IndexMap<Rc<str>, Cell<'v>> = IndexMap::new();
    for pair in arguments.chunks_exact(2) {
        let Cell::Text(name) = &pair[0] else {
            return FieldError::row("keys should be of type string for object(key1, value1, ...)");
        };
        entries.insert(Rc::clone(name), pair[1].clone());
    }
    engine.object(entries).map(Some)
}

fn date<'v>(engine: &QueryEngine<'v>, arguments: &[Cell<'v>]) -> Answered<'v> {
    let read = |text: &str, shorthands: bool| parsed_date(text, shorthands).map(|literal| engine.literal(&literal));
    match arguments {
        [Cell::Text(text)] => answer(read(text, true).unwrap_or(Cell::Null)),
        [same @ (Cell::Date(_) | Cell::Null)] => answer(same.clone()),
        [Cell::Link(link)] => {
            let display = link.display.as_deref().filter(|display| !display.is_empty());
            // In Dataview's order: the display text, the path, then the day of the linked page.
            let written = display.and_then(|display| read(display, false)).or_else(|| read(&link.path, false));
            let day = || file_day(engine, &*engine.linked_page(link)?);
            answer(written.or_else(day).unwrap_or(Cell::Null))
        }
        [Cell::Text(text), Cell::Text(format)] => by_format(engine, text, format),
        [Cell::Null, Cell::Text(_)] => answer(Cell::Null),
        _ => Ok(None),
    }
}

fn by_format<'v>(engine: &QueryEngine<'v>, text: &str, format: &str) -> Answered<'v> {
    // Luxon has these tokens for writing only; Dataview reads them itself.
    if matches!(format, "x" | "X") {
        // The braces are in the original's message too.
        let Some(number) = first_number(text) else {
            return FieldError::row("Not a number for format( (${ f }): ${ d }");
        };
        let milliseconds = number.trunc() * if format == "X" { 1000.0 } else { 1.0 };
        return answer(Cell::date(LuxonDate::at(milliseconds, engine.zone.clone())));
    }
    // The format is compiled into an expression.
    engine.steps(64)?;
    match parse_luxon(text, format, &engine.now, &engine.zone) {
        Ok(date) => answer(Cell::date(date)),
        Err(LuxonParseError::Unfit) => {
            FieldError::row(format!("Can't handle format ({format}) on date string ({text})"))
        }
        Err(LuxonParseError::Conflict(words)) => FieldError::row(words),
    }
}

/// The first digits in a text, with a sign before and a fraction behind them.
pub(super) fn first_number(text: &str) -> Option<f64> {
    let digit = text.find(|c: char| c.is_ascii_digit())?;
    let start = if text[..digit].ends_with('-') { digit - 1 } else { digit };
    literal::number(&text[start..]).map(|(number, _)| number)
}

fn link<'v>(engine: &QueryEngine<'v>, arguments: &[Cell<'v>]) -> Answered<'v> {
    let to = |path: &str| file_link(&engine.normalised_path(path));
    match arguments {
        [Cell::Text(path)] => answer(Cell::link(to(path))),
        [same @ (Cell::Link(_) | Cell::Null)] => answer(same.clone()),
        [Cell::Text(path), Cell::Text(display)] => {
            answer(Cell::link(LinkValue { display: Some(display.to_string()), ..to(path) }))
        }
        [Cell::Text(path), Cell::Text(display), Cell::Boolean(embed)] => {
            answer(Cell::link(LinkValue { display: Some(display.to_string()), embed: *embed, ..to(path) }))
        }
        [Cell::Link(link), Cell::Text(display)] => {
            answer(Cell::link(LinkValue { display: Some(display.to_string()), ..(**link).clone() }))
        }
        [Cell::Null, _] => answer(Cell::Null),
        [target, Cell::Null] => {
            // Without a display it is the same as one argument.
            super::call_function(engine, FunctionName::Link, std::slice::from_ref(target)).map(Some)
        }
        _ => Ok(None),
    }
}

fn embedded<'v>(link: &LinkValue, embed: bool) -> Cell<'v> {
    Cell::link(LinkValue { embed, ..link.clone() })
}

fn external<'v>(url: &Rc<str>, display: &Rc<str>) -> Cell<'v> {
    Cell::Widget(Rc::new(ExternalLink { url: Rc::clone(url), display: Rc::clone(display) }))
}
