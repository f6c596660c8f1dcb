//! Functions on lists, objects, and texts as containers.

use std::{cmp::Ordering, rc::Rc};

use indexmap::IndexMap;

use crate::{
    cell::{Cell, CellFunction},
    compare::{CellOrder, object_entries, stable_sort},
    engine::{FieldError, FieldResult, QueryEngine},
    evaluate::{call_lambda, index},
    text::cell_text,
};
use lapidary_query::utf16_length;

use super::{Answered, FunctionName, answer};

pub(super) fn call<'v>(engine: &QueryEngine<'v>, function: FunctionName, arguments: &[Cell<'v>]) -> Answered<'v> {
    match function {
        FunctionName::Contains | FunctionName::Icontains => match arguments {
            [container, wanted] => {
                let ignores_case = function == FunctionName::Icontains;
                contains(engine, container, wanted, ignores_case).map(|found| Some(Cell::Boolean(found)))
            }
            _ => Ok(None),
        },
        FunctionName::Econtains => match arguments {
            [Cell::List(list), wanted] => {
                for item in &list.items {
                    if equals(engine, wanted, item)? {
                        return answer(Cell::Boolean(true));
                    }
                }
                answer(Cell::Boolean(false))
            }
            // Only lists are compared exactly; everything else is as in `contains`.
            [container, wanted] => contains(engine, container, wanted, false).map(|found| Some(Cell::Boolean(found))),
            _ => Ok(None),
        },
        FunctionName::Extract => match arguments.split_first() {
            Some((object, names)) => extract(engine, object, names).map(Some),
            // Dataview returns these words instead of failing with them.
            None => answer(Cell::text("extract(object, key1, ...) requires at least 1 argument")),
        },
        FunctionName::Sort => match arguments {
            [Cell::List(list)] => sort(engine, &list.items, None).map(Some),
            [Cell::List(list), Cell::Function(function)] => sort(engine, &list.items, Some(function)).map(Some),
            [other] => answer(other.clone()),
            _ => Ok(None),
        },
        FunctionName::Reverse => match arguments {
            [Cell::List(list)] => engine.list(list.items.iter().rev().cloned().collect()).map(Some),
            [Cell::Text(text)] => answer(Cell::text(reversed(text))),
            [other] => answer(other.clone()),
            _ => Ok(None),
        },
        FunctionName::Length => {
            let length = match arguments {
                [Cell::List(list)] => list.items.len(),
                [Cell::Object(object)] => object.entries.len(),
                [object @ (Cell::Record(_) | Cell::File(_))] => object_entries(engine, object).len(),
                // In JavaScript's units, of which an emoji has two.
                [Cell::Text(text)] => utf16_length(text),
                [Cell::Null] => 0,
                _ => return Ok(None),
            };
            #[expect(clippy::cast_precision_loss, reason = "nothing that is counted is so large")]
            answer(Cell::Number(length as f64))
        }
        FunctionName::NonNull => {
            let items = match arguments {
                // One list counts as its elements, anything else as the arguments themselves.
                [Cell::List(list)] => &list.items,
                others => others,
            };
            engine.list(items.iter().filter(|item| !item.is_null()).cloned().collect()).map(Some)
        }
        FunctionName::FirstValue => match arguments {
            [Cell::List(list)] => answer(list.items.iter().find(|item| !item.is_null()).cloned().unwrap_or(Cell::Null)),
            [Cell::Null] => answer(Cell::Null),
            _ => Ok(None),
        },
        // All are true if none is false.
        FunctionName::All => {
            let (items, by) = asked(arguments);
            any(engine, items, by, false).map(|found| Some(Cell::Boolean(!found)))
        }
        FunctionName::Any | FunctionName::None => {
            let (items, by) = asked(arguments);
            let wanted = function == FunctionName::Any;
            any(engine, items, by, true).map(|found| Some(Cell::Boolean(found == wanted)))
        }
        FunctionName::Join => join(engine, arguments),
        FunctionName::Filter | FunctionName::Map => match arguments {
            [Cell::List(list), Cell::Function(by)] => {
                let mut found = Vec::new();
                for item in &list.items {
                    let value = call_lambda(engine, by, std::slice::from_ref(item))?;
                    if function == FunctionName::Map {
                        found.push(value);
                    } else if value.is_truthy() {
                        found.push(item.clone());
                    }
                }
                engine.list(found).map(Some)
            }
            [Cell::Null, _] => answer(Cell::Null),
            _ => Ok(None),
        },
        FunctionName::Flat => match arguments {
            [Cell::List(list)] => flat(engine, &list.items, 1).map(Some),
            [Cell::List(list), Cell::Number(depth)] =>
            {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "no list is deeper")]
                flat(engine, &list.items, depth.clamp(0.0, 1000.0) as usize).map(Some)
            }
            [Cell::Null] => answer(Cell::Null),
            _ => Ok(None),
        },
        FunctionName::Slice => match arguments {
            [list @ Cell::List(_)] => answer(list.clone()),
            [Cell::List(list), Cell::Number(start)] => slice(engine, &list.items, *start, f64::INFINITY).map(Some),
            [Cell::List(list), Cell::Number(start), Cell::Number(end)] => {
                slice(engine, &list.items, *start, *end).map(Some)
            }
            [Cell::Null] => answer(Cell::Null),
            _ => Ok(None),
        },
        _ => match arguments {
            [Cell::List(list)] => unique(engine, &list.items).map(Some),
            [Cell::Null] => answer(Cell::Null),
            _ => Ok(None),
        },
    }
}

fn equals<'v>(engine: &QueryEngine<'v>, left: &Cell<'v>, right: &Cell<'v>) -> Result<bool, FieldError> {
    engine.step()?;
    Ok(CellOrder::new(engine).compare(left, right)?.is_eq())
}

/// A list contains what one of its elements contains.
fn contains<'v>(
    engine: &QueryEngine<'v>,
    container: &Cell<'v>,
    wanted: &Cell<'v>,
    ignores_case: bool,
) -> Result<bool, FieldError> {
    engine.step()?;
    match (container, wanted) {
        (Cell::List(list), _) => {
            for item in &list.items {
                if contains(engine, item, wanted, ignores_case)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (Cell::Text(text), Cell::Text(wanted)) => {
            // A search in a long text costs more than one step.
            engine.steps(1 + text.len() / 256)?;
            Ok(if ignores_case {
                text.to_lowercase().contains(&wanted.to_lowercase())
            } else {
                text.contains(&**wanted)
            })
        }
        (Cell::Object(object), Cell::Text(name)) => Ok(object.entries.contains_key(name)),
        (object @ (Cell::Record(_) | Cell::File(_)), Cell::Text(name)) => {
            Ok(object_entries(engine, object).iter().any(|(known, _)| known == name))
        }
        // Any other value contains what it equals, as in Dataview.
        _ => equals(engine, container, wanted),
    }
}

fn extract<'v>(engine: &QueryEngine<'v>, object: &Cell<'v>, names: &[Cell<'v>]) -> FieldResult<'v> {
    if let Cell::List(list) = object {
        let items: Result<Vec<_>, _> = list.items.iter().map(|item| extract(engine, item, names)).collect();
        // A list of objects gives a list of what each has.
        return engine.list(items?);
    }
    let mut found: IndexMap<Rc<str>, Cell<'v>> = IndexMap::new();
    for name in names {
        let Cell::Text(key) = name else {
            return FieldError::row("extract(object, key1, ...) must be called with string keys");
        };
        found.insert(Rc::clone(key), index(engine, object, name)?);
    }
    engine.object(found)
}

fn sort<'v>(engine: &QueryEngine<'v>, items: &[Cell<'v>], by: Option<&CellFunction<'v>>) -> FieldResult<'v> {
    if items.len() < 2 {
        // Nothing to compare, so a key that fails is not asked for.
        return engine.list(items.to_vec());
    }
    let mut keyed = Vec::with_capacity(items.len());
    for item in items {
        let key = match by {
            Some(function) => call_lambda(engine, function, std::slice::from_ref(item))?,
            None => item.clone(),
        };
        keyed.push((key, item));
    }
    let order = CellOrder::new(engine);
    // Equal elements keep their order, as they do in JavaScript.
    let sorted = stable_sort(keyed, &mut |(left, _), (right, _)| order.compare(left, right))?;
    engine.list(sorted.into_iter().map(|(_, item)| item.clone()).collect())
}

/// By code units; halves of pairs that come apart are lost.
fn reversed(text: &str) -> String {
    if text.is_ascii() {
        // Without pairs of units, letters and units are the same.
        return text.chars().rev().collect();
    }
    let mut units: Vec<u16> = text.encode_utf16().collect();
    units.reverse();
    String::from_utf16_lossy(&units)
}

type AskedItems<'a, 'v> = (&'a [Cell<'v>], Option<&'a CellFunction<'v>>);

/// One list, a list and a lambda, or the arguments themselves.
fn asked<'a, 'v>(arguments: &'a [Cell<'v>]) -> AskedItems<'a, 'v> {
    match arguments {
        [Cell::List(list)] => (&list.items, None),
        [Cell::List(list), Cell::Function(function)] => (&list.items, Some(function)),
        others => (others, None),
    }
}

/// Whether one of the values is true, or is not.
fn any<'v>(
    engine: &QueryEngine<'v>,
    items: &[Cell<'v>],
    by: Option<&CellFunction<'v>>,
    wanted: bool,
) -> Result<bool, FieldError> {
    for item in items {
        engine.step()?;
        let found = match by {
            Some(function) => call_lambda(engine, function, std::slice::from_ref(item))?.is_truthy(),
            None => item.is_truthy(),
        };
        if found == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

fn join<'v>(engine: &QueryEngine<'v>, arguments: &[Cell<'v>]) -> Answered<'v> {
    let (items, separator) = match arguments {
        [Cell::List(list)] | [Cell::List(list), Cell::Null] => (&list.items, ", "),
        [Cell::List(list), Cell::Text(separator)] => (&list.items, &**separator),
        // A value that is not a list is only turned into text, whatever the separator.
        [other] | [other, Cell::Text(_)] => return cell_text(engine, other).map(|text| Some(Cell::text(text))),
        _ => return Ok(None),
    };
    let mut text = String::new();
    for (at, item) in items.iter().enumerate() {
        let next = cell_text(engine, item)?;
        // Before it is added: a long list of long texts must fail while it is still small.
        engine.hold(next.len() + separator.len())?;
        if at > 0 {
            text += separator;
        }
        text += &next;
    }
    answer(Cell::text(text))
}

fn flat<'v>(engine: &QueryEngine<'v>, items: &[Cell<'v>], depth: usize) -> FieldResult<'v> {
    fn put<'v>(
        engine: &QueryEngine<'v>,
        items: &[Cell<'v>],
        depth: usize,
        found: &mut Vec<Cell<'v>>,
    ) -> Result<(), FieldError> {
        for item in items {
            engine.step()?;
            match item {
                Cell::List(list) if depth > 0 => put(engine, &list.items, depth - 1, found)?,
                _ => found.push(item.clone()),
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    put(engine, items, depth, &mut found)?;
    engine.list(found)
}

/// Where a place lies that may be counted from the end.
pub(crate) fn slice_place(place: f64, length: usize) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "no list is so long")]
    let length = length as f64;
    // As `Array.prototype.slice` does.
    let place = if place.is_nan() { 0.0 } else { place.trunc() };
    let place = if place < 0.0 { (length + place).max(0.0) } else { place.min(length) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lies within the list")]
    let place = place as usize;
    place
}

fn slice<'v>(engine: &QueryEngine<'v>, items: &[Cell<'v>], start: f64, end: f64) -> FieldResult<'v> {
    let (start, end) = (slice_place(start, items.len()), slice_place(end, items.len()));
    engine.list(items.get(start..end).unwrap_or_default().to_vec())
}

/// Sorted, the first of equal values; links are compared as they are written.
fn unique<'v>(engine: &QueryEngine<'v>, items: &[Cell<'v>]) -> FieldResult<'v> {
    let order = CellOrder::without_links(engine);
    let sorted = stable_sort(items.iter().collect(), &mut |left, right| order.compare(left, right))?;
    let mut found: Vec<Cell<'v>> = Vec::new();
    let mut before: Option<&Cell<'v>> = None;
    for item in sorted {
        let same = match before {
            Some(before) => order.compare(item, before)? == Ordering::Equal,
            None => false,
        };
        if !same {
            found.push(item.clone());
        }
        // Compared with its neighbour, also if that one was left out: the order may contradict itself.
        before = Some(item);
    }
    engine.list(found)
}
