//! Defaults, display, formats, hashes and what a link is made of.

use std::rc::Rc;

use crate::{
    cell::Cell,
    engine::{FieldError, QueryEngine},
    links::file_title,
    text::cell_text,
};
use lapidary_query::{LuxonDate, WallClock, format_duration, format_luxon};

use super::{Answered, FunctionName, answer, currency::currency_text, plain_text::plain_text};

pub(super) fn call<'v>(engine: &QueryEngine<'v>, function: FunctionName, arguments: &[Cell<'v>]) -> Answered<'v> {
    match function {
        FunctionName::Default | FunctionName::Ldefault => match arguments {
            [Cell::Null, instead] => answer(instead.clone()),
            // `default` goes through lists, `ldefault` does not: that is decided before this is called.
            [value, _] => answer(value.clone()),
            _ => Ok(None),
        },
        FunctionName::Display => match arguments {
            [value] => display(engine, value).map(|text| Some(Cell::text(text))),
            _ => Ok(None),
        },
        FunctionName::Choice => match arguments {
            [condition, yes, no] => answer(if condition.is_truthy() { yes.clone() } else { no.clone() }),
            _ => Ok(None),
        },
        FunctionName::StripTime => match arguments {
            [Cell::Date(date)] => {
                let WallClock { year, month, day, .. } = date.wall();
                // An invalid date has no day to keep.
                if !date.is_valid() {
                    return answer(arguments[0].clone());
                }
                let midnight = WallClock::midnight(year, month, day);
                // In the local zone, whichever the date had.
                answer(Cell::date(LuxonDate::on_wall(midnight, engine.zone.clone(), engine.now.offset())))
            }
            [Cell::Null] => answer(Cell::Null),
            _ => Ok(None),
        },
        FunctionName::DateFormat => match arguments {
            [Cell::Date(date), Cell::Text(format)] => engine.text(format_luxon(date, format)).map(Some),
            [Cell::Null, Cell::Text(_)] => answer(Cell::Null),
            _ => Ok(None),
        },
        FunctionName::DurationFormat => match arguments {
            [Cell::Duration(duration), Cell::Text(format)] => engine.text(format_duration(duration, format)).map(Some),
            [Cell::Null, Cell::Text(_)] => answer(Cell::Null),
            _ => Ok(None),
        },
        FunctionName::CurrencyFormat => match arguments {
            [Cell::Number(amount)] => currency(*amount, "USD"),
            [Cell::Number(amount), Cell::Text(code)] => currency(*amount, code),
            [Cell::Null] | [Cell::Null, Cell::Text(_)] => answer(Cell::Null),
            _ => Ok(None),
        },
        FunctionName::LocalTime => match arguments {
            [Cell::Date(date)] => answer(Cell::date(date.in_zone(engine.zone.clone()))),
            [Cell::Null] => answer(Cell::Null),
            _ => Ok(None),
        },
        FunctionName::Hash => match arguments {
            [Cell::Text(seed), Cell::Number(variant)] => answer(Cell::Number(hash(seed, *variant))),
            [Cell::Text(seed), Cell::Text(text)] => answer(Cell::Number(hash(&format!("{seed}{text}"), 0.0))),
            [Cell::Text(seed), Cell::Text(text), Cell::Number(variant)] => {
                answer(Cell::Number(hash(&format!("{seed}{text}"), *variant)))
            }
            _ => Ok(None),
        },
        _ => meta(arguments),
    }
}

fn currency<'v>(amount: f64, code: &str) -> Answered<'v> {
    match currency_text(amount, code) {
        Some(text) => answer(Cell::text(text)),
        None => FieldError::row(format!("Invalid currency code : {code}")),
    }
}

fn display<'v>(engine: &QueryEngine<'v>, value: &Cell<'v>) -> Result<String, FieldError> {
    match value {
        Cell::Null => Ok(String::new()),
        Cell::List(list) => {
            let parts: Result<Vec<String>, _> = list.items.iter().map(|item| display(engine, item)).collect();
            let text = parts?.join(", ");
            engine.hold(text.len())?;
            Ok(text)
        }
        Cell::Text(text) => plain_text(engine, text),
        Cell::Link(link) => match link.display.as_deref().filter(|display| !display.is_empty()) {
            Some(display) => plain_text(engine, display),
            // As Dataview shows a link without display: the title and the place, without the mark of a block.
            None => {
                let mark = if link.embed { "!" } else { "" };
                let subpath = link.subpath.as_deref();
                let place = subpath.map(|subpath| format!(" > {}", subpath.trim_start_matches('^')));
                Ok(format!("{mark}{}{}", file_title(&link.path), place.unwrap_or_default()))
            }
        },
        other => cell_text(engine, other),
    }
}

/// The hash called cyrb53, over UTF-16 units.
fn hash(text: &str, variant: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bits as JavaScript takes them")]
    let variant = if variant.is_finite() { variant.trunc().rem_euclid(4_294_967_296.0) as u32 } else { 0 };
    let mut first = 0xdead_beef_u32 ^ variant;
    let mut second = 0x41c6_ce57_u32 ^ variant;
    for unit in text.encode_utf16() {
        // `Math.imul` keeps the low 32 bits, like `wrapping_mul`.
        first = (first ^ u32::from(unit)).wrapping_mul(2_654_435_761);
        second = (second ^ u32::from(unit)).wrapping_mul(1_597_334_677);
    }
    first = (first ^ (first >> 16)).wrapping_mul(2_246_822_507) ^ (second ^ (second >> 13)).wrapping_mul(3_266_489_909);
    second =
        (second ^ (second >> 16)).wrapping_mul(2_246_822_507) ^ (first ^ (first >> 13)).wrapping_mul(3_266_489_909);
    // 53 bits, which a float holds exactly.
    4_294_967_296.0 * f64::from(second & 0x1f_ffff) + f64::from(first)
}

fn meta<'v>(arguments: &[Cell<'v>]) -> Answered<'v> {
    let [Cell::Link(link)] = arguments else { return Ok(None) };
    let (kind, subpath) = match link.subpath.as_deref() {
        None => ("file", Cell::Null),
        Some(subpath) => match subpath.strip_prefix('^') {
            Some(block) => ("block", Cell::text(block)),
            None => ("header", Cell::text(subpath)),
        },
    };
    let entries: [(Rc<str>, Cell<'v>); 5] = [
        ("display".into(), link.display.as_deref().map_or(Cell::Null, Cell::text)),
        ("embed".into(), Cell::Boolean(link.embed)),
        ("path".into(), Cell::text(link.path.as_str())),
        ("subpath".into(), subpath),
        ("type".into(), Cell::text(kind)),
    ];
    answer(Cell::object(entries.into_iter().collect()))
}
