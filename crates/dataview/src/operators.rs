//! What operators do, by the types of both sides.

use std::{cmp::Ordering, rc::Rc};

use indexmap::IndexMap;

use lapidary_query::{DurationUnit, DurationValue};

use super::{
    cell::Cell,
    compare::{CellOrder, object_entries},
    engine::{FieldError, FieldResult, QueryEngine},
    syntax::FieldOperator,
    text::cell_text,
};

pub(super) fn operate<'v>(
    engine: &QueryEngine<'v>,
    operator: FieldOperator,
    left: &Cell<'v>,
    right: &Cell<'v>,
) -> FieldResult<'v> {
    let compared = |accepts: fn(Ordering) -> bool| {
        CellOrder::new(engine).compare(left, right).map(|order| Cell::Boolean(accepts(order)))
    };
    match operator {
        FieldOperator::Equal => compared(Ordering::is_eq),
        FieldOperator::NotEqual => compared(Ordering::is_ne),
        FieldOperator::Less => compared(Ordering::is_lt),
        FieldOperator::LessOrEqual => compared(Ordering::is_le),
        FieldOperator::Greater => compared(Ordering::is_gt),
        FieldOperator::GreaterOrEqual => compared(Ordering::is_ge),
        FieldOperator::And => Ok(Cell::Boolean(left.is_truthy() && right.is_truthy())),
        FieldOperator::Or => Ok(Cell::Boolean(left.is_truthy() || right.is_truthy())),
        FieldOperator::Add => add(engine, left, right),
        FieldOperator::Subtract => subtract(left, right),
        FieldOperator::Multiply => multiply(engine, left, right),
        FieldOperator::Divide => match (left, right) {
            (Cell::Number(left), Cell::Number(right)) => Ok(Cell::Number(left / right)),
            (Cell::Duration(left), Cell::Number(right)) => scaled(left, |amount| amount / right),
            // Null with null is null for all arithmetic; null with a number is an error.
            (Cell::Null, Cell::Null) => Ok(Cell::Null),
            _ => refused(operator, left, right),
        },
        FieldOperator::Remainder => match (left, right) {
            (Cell::Number(left), Cell::Number(right)) => Ok(Cell::Number(left % right)),
            (Cell::Null, Cell::Null) => Ok(Cell::Null),
            _ => refused(operator, left, right),
        },
    }
}

fn refused<'v>(operator: FieldOperator, left: &Cell<'v>, right: &Cell<'v>) -> FieldResult<'v> {
    let (left, right) = (left.kind().name(), right.kind().name());
    FieldError::row(format!("No implementation found for '{left} {} {right}'", operator.sign()))
}

fn add<'v>(engine: &QueryEngine<'v>, left: &Cell<'v>, right: &Cell<'v>) -> FieldResult<'v> {
    match (left, right) {
        (Cell::Number(left), Cell::Number(right)) => Ok(Cell::Number(left + right)),
        // A text takes anything, also null, and is checked before the other types.
        (Cell::Text(text), other) => {
            // The text may be long, so it is paid for before both are joined.
            let other = cell_text(engine, other)?;
            engine.hold(text.len() + other.len())?;
            Ok(Cell::text(format!("{text}{other}")))
        }
        (other, Cell::Text(text)) => {
            let other = cell_text(engine, other)?;
            engine.hold(text.len() + other.len())?;
            Ok(Cell::text(format!("{other}{text}")))
        }
        (Cell::Date(date), Cell::Duration(duration)) | (Cell::Duration(duration), Cell::Date(date)) => {
            Ok(Cell::date(date.plus(duration)))
        }
        (Cell::Duration(left), Cell::Duration(right)) => Ok(Cell::duration(left.plus(right).normalised())),
        (Cell::List(left), Cell::List(right)) => {
            engine.steps(left.items.len() + right.items.len())?;
            engine.list(left.items.iter().chain(&right.items).cloned().collect())
        }
        // A note without the date gives null rather than an error for its row.
        (Cell::Null, Cell::Null | Cell::Date(_)) | (Cell::Date(_), Cell::Null) => Ok(Cell::Null),
        (Cell::Object(_) | Cell::Record(_) | Cell::File(_), Cell::Object(_) | Cell::Record(_) | Cell::File(_)) => {
            // In order, so that the result has the names of the left side first.
            let mut entries: IndexMap<Rc<str>, Cell<'v>> = object_entries(engine, left).into_iter().collect();
            // Entries of the right side replace those of the left.
            entries.extend(object_entries(engine, right));
            engine.steps(entries.len())?;
            engine.object(entries)
        }
        _ => refused(FieldOperator::Add, left, right),
    }
}

fn subtract<'v>(left: &Cell<'v>, right: &Cell<'v>) -> FieldResult<'v> {
    match (left, right) {
        (Cell::Number(left), Cell::Number(right)) => Ok(Cell::Number(left - right)),
        // Dataview normalises every length of time that it calculates.
        (Cell::Date(left), Cell::Date(right)) => Ok(Cell::duration(left.difference(right).normalised())),
        (Cell::Date(date), Cell::Duration(duration)) => Ok(Cell::date(date.minus(duration))),
        (Cell::Duration(left), Cell::Duration(right)) => Ok(Cell::duration(left.plus(&right.negated()).normalised())),
        (Cell::Null, Cell::Null | Cell::Date(_)) | (Cell::Date(_), Cell::Null) => Ok(Cell::Null),
        _ => refused(FieldOperator::Subtract, left, right),
    }
}

fn multiply<'v>(engine: &QueryEngine<'v>, left: &Cell<'v>, right: &Cell<'v>) -> FieldResult<'v> {
    match (left, right) {
        (Cell::Number(left), Cell::Number(right)) => Ok(Cell::Number(left * right)),
        (Cell::Text(text), Cell::Number(times)) | (Cell::Number(times), Cell::Text(text)) => {
            repeated(engine, text, *times)
        }
        (Cell::Duration(duration), Cell::Number(number)) | (Cell::Number(number), Cell::Duration(duration)) => {
            scaled(duration, |amount| amount * number)
        }
        (Cell::Null, Cell::Null) => Ok(Cell::Null),
        _ => refused(FieldOperator::Multiply, left, right),
    }
}

/// Every amount of a length of time changed. Luxon refuses an amount that is not a number.
fn scaled<'v>(duration: &DurationValue, change: impl Fn(f64) -> f64) -> FieldResult<'v> {
    // Units that are not there stay so: 0 times infinity would be NaN.
    let scaled = duration.map(|amount| if amount == 0.0 { 0.0 } else { change(amount) });
    if DurationUnit::ALL.into_iter().any(|unit| scaled.part(unit).is_nan()) {
        return FieldError::row("Invalid unit value NaN");
    }
    Ok(Cell::duration(scaled.normalised()))
}

fn repeated<'v>(engine: &QueryEngine<'v>, text: &str, times: f64) -> FieldResult<'v> {
    // In the words of JavaScript's `repeat`.
    if times.is_infinite() && times > 0.0 {
        return FieldError::row("Invalid count value: Infinity");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut as JavaScript does")]
    let times = times as usize;
    // Before the text is made.
    engine.hold(text.len().saturating_mul(times))?;
    Ok(Cell::text(text.repeat(times)))
}
