//! The value of an expression in a row. Both sides of an operator and all arguments are evaluated before anything is
//! done with them, so that an error in either counts.

use std::rc::Rc;

use indexmap::IndexMap;

use lapidary_query::{DurationUnit, LuxonDate, utf16_slice};

use super::{
    bound::{BoundField, BoundPostfix, ChainLink},
    cell::{Cell, CellFunction},
    engine::{FieldError, FieldResult, QueryEngine},
    file_fields::{FileField, file_value},
    functions::{FunctionName, call_function},
    operators::operate,
    record::RecordData,
    syntax::FieldOperator,
};

/// What names mean where an expression is evaluated.
#[derive(Clone, Copy)]
pub(super) struct FieldScope<'s, 'v> {
    pub(super) row: Option<&'s Rc<RecordData<'v>>>,
    pub(super) names: &'s [Rc<str>],
    pub(super) parameters: &'s [Option<Cell<'v>>],
}

impl<'s, 'v> FieldScope<'s, 'v> {
    /// Of a row, outside of all lambdas.
    pub(super) fn of_row(row: Option<&'s Rc<RecordData<'v>>>) -> Self {
        Self { row, names: &[], parameters: &[] }
    }

    fn variable(&self, engine: &QueryEngine<'v>, name: &str) -> Cell<'v> {
        // A field of the row wins over the global, so that a note may have a field called `this`.
        match self.row.and_then(|row| row.get(engine, name)) {
            Some(value) => value,
            None if name == "this" => engine.this(),
            None => Cell::Null,
        }
    }

    /// A parameter that was given, the innermost of this name.
    fn given(&self, name: &str) -> Option<Cell<'v>> {
        let both = self.names.iter().zip(self.parameters).rev();
        // A lambda within another may reuse the name of a parameter.
        both.filter(|(known, _)| ***known == *name).find_map(|(_, value)| value.clone())
    }
}

pub(super) fn evaluate<'v>(
    engine: &QueryEngine<'v>,
    field: &BoundField<'v>,
    scope: FieldScope<'_, 'v>,
) -> FieldResult<'v> {
    // Every node of an expression is charged here, so that no query runs unpaid.
    engine.step()?;
    let all = |fields: &[BoundField<'v>]| -> Result<Vec<Cell<'v>>, FieldError> {
        fields.iter().map(|field| evaluate(engine, field, scope)).collect()
    };
    match field {
        BoundField::Constant(value) => Ok(value.clone()),
        BoundField::Variable(name) => Ok(scope.variable(engine, name)),
        BoundField::Parameter(at, name) => match scope.parameters.get(*at) {
            Some(Some(value)) => Ok(value.clone()),
            // The call passed too few arguments, and Dataview then looks the name up as any other.
            _ => Ok(scope.given(name).unwrap_or_else(|| scope.variable(engine, name))),
        },
        BoundField::File(field) => match scope.row.map(|row| (row, row.file_page())) {
            Some((_, Some(page))) => Ok(file_value(engine, page, *field).unwrap_or(Cell::Null)),
            Some((row, None)) => {
                // The row is a group or a line of a table, or has another `file` put over its own.
                let file = row.get(engine, "file").unwrap_or(Cell::Null);
                let name = FileField::ALL.iter().find(|(_, known)| known == field).map_or("", |(name, _)| name);
                index(engine, &file, &Cell::text(name))
            }
            None => Ok(Cell::Null),
        },
        BoundField::Not(inner) => Ok(Cell::Boolean(!evaluate(engine, inner, scope)?.is_truthy())),
        BoundField::Chain(first, more) => {
            let mut value = evaluate(engine, first, scope)?;
            for ChainLink { operator, operand, is_safe } in more {
                // Both sides count, because either may give an error; not if that is known.
                let decided = match operator {
                    FieldOperator::And => !value.is_truthy(),
                    FieldOperator::Or => value.is_truthy(),
                    _ => false,
                };
                if decided && *is_safe {
                    value = Cell::Boolean(*operator == FieldOperator::Or);
                    continue;
                }
                let operand = evaluate(engine, operand, scope)?;
                value = operate(engine, *operator, &value, &operand)?;
            }
            Ok(value)
        }
        BoundField::List(items) => engine.list(all(items)?),
        BoundField::Object(entries) => {
            let mut object = IndexMap::with_capacity(entries.len());
            for (name, field) in entries {
                object.insert(Rc::clone(name), evaluate(engine, field, scope)?);
            }
            engine.object(object)
        }
        BoundField::Lambda(lambda) => {
            // A lambda may be called after the one around it has returned.
            let captured = scope.parameters.to_vec();
            // What is captured may itself have captures, and the depth of values bounds everything that walks them.
            let depth = engine.deeper(captured.iter().flatten())?;
            let row = scope.row.cloned();
            Ok(Cell::Function(Rc::new(CellFunction { lambda: Rc::clone(lambda), row, captured, depth })))
        }
        BoundField::Call(function, arguments) => {
            let arguments = all(arguments)?;
            match function {
                Ok(function) => call_function(engine, *function, &arguments),
                // Only now: the arguments may fail first, and that error is the one to report.
                Err(name) => FieldError::row(format!("Unrecognized function name '{name}'")),
            }
        }
        BoundField::RowIndex(name) => row_index(engine, &evaluate(engine, name, scope)?, scope),
        BoundField::Postfix(first, steps) => postfix(engine, first, steps, scope),
    }
}

/// Steps up to a call are taken together: their indexes are worked out before the value, the last one first, and one that
/// is null ends it, so that an error in the value does not matter then.
fn postfix<'v>(
    engine: &QueryEngine<'v>,
    first: &BoundField<'v>,
    steps: &[BoundPostfix<'v>],
    scope: FieldScope<'_, 'v>,
) -> FieldResult<'v> {
    let mut called: Option<Cell<'v>> = None;
    // Everything up to a call is one part, as the result of the call is the value that the next part indexes.
    for part in steps.split_inclusive(|step| matches!(step, BoundPostfix::Call(_))) {
        let (names, call) = match part.split_last() {
            Some((BoundPostfix::Call(arguments), names)) => (names, Some(arguments)),
            _ => (part, None),
        };
        let mut value = indexed(engine, first, called.take(), names, scope)?;
        if let Some(arguments) = call {
            let arguments: Vec<Cell<'v>> =
                arguments.iter().map(|field| evaluate(engine, field, scope)).collect::<Result<_, _>>()?;
            value = call_value(engine, &value, &arguments)?;
        }
        called = Some(value);
    }
    called.map_or_else(|| evaluate(engine, first, scope), Ok)
}

/// A value with names and indexes behind it. The value is what was called before, or else the first of all.
fn indexed<'v>(
    engine: &QueryEngine<'v>,
    first: &BoundField<'v>,
    called: Option<Cell<'v>>,
    names: &[BoundPostfix<'v>],
    scope: FieldScope<'_, 'v>,
) -> FieldResult<'v> {
    let mut indexes = Vec::with_capacity(names.len());
    // Before the value, as in Dataview: one that is null decides without it.
    for step in names.iter().rev() {
        let name = match step {
            BoundPostfix::Name(name) => Cell::Text(Rc::clone(name)),
            BoundPostfix::Index(field) => evaluate(engine, field, scope)?,
            BoundPostfix::Call(_) => Cell::Null,
        };
        if name.is_null() {
            return Ok(Cell::Null);
        }
        indexes.push(name);
    }
    let mut value = match called {
        Some(value) => value,
        None => evaluate(engine, first, scope)?,
    };
    for name in indexes.iter().rev() {
        engine.step()?;
        value = index(engine, &value, name)?;
    }
    Ok(value)
}

fn call_value<'v>(engine: &QueryEngine<'v>, value: &Cell<'v>, arguments: &[Cell<'v>]) -> FieldResult<'v> {
    match value {
        Cell::Function(function) => call_lambda(engine, function, arguments),
        // A function can be called through its name in a text, as in Dataview.
        Cell::Text(name) => match FunctionName::of(name) {
            Some(function) => call_function(engine, function, arguments),
            None => FieldError::row(format!("Unrecognized function name '{name}'")),
        },
        other => FieldError::row(format!("Cannot call type '{}' as a function", other.kind().name())),
    }
}

/// Arguments that are missing are looked up like other names, those that are too many are left out.
pub(super) fn call_lambda<'v>(
    engine: &QueryEngine<'v>,
    function: &CellFunction<'v>,
    arguments: &[Cell<'v>],
) -> FieldResult<'v> {
    engine.calling(|| {
        let mut parameters = function.captured.clone();
        // A missing argument stays missing and is looked up later, unlike a null that was given.
        parameters.extend((0..function.lambda.parameters).map(|at| arguments.get(at).cloned()));
        let scope = FieldScope { row: function.row.as_ref(), names: &function.lambda.names, parameters: &parameters };
        evaluate(engine, &function.lambda.body, scope)
    })
}

/// `row.x`: parameters, fields of the row, then globals.
fn row_index<'v>(engine: &QueryEngine<'v>, name: &Cell<'v>, scope: FieldScope<'_, 'v>) -> FieldResult<'v> {
    match name {
        Cell::Null => Ok(Cell::Null),
        Cell::Text(name) => Ok(scope.given(name).unwrap_or_else(|| scope.variable(engine, name))),
        Cell::Number(_) => FieldError::row("can only index into objects with strings (a.b or a[\"b\"])"),
        _ => FieldError::row("Can only index with a string or number"),
    }
}

/// `value[name]`
pub(super) fn index<'v>(engine: &QueryEngine<'v>, value: &Cell<'v>, name: &Cell<'v>) -> FieldResult<'v> {
    match name {
        Cell::Null => return Ok(Cell::Null),
        Cell::Text(_) | Cell::Number(_) => {}
        _ => return FieldError::row("Can only index with a string or number"),
    }
    match (value, name) {
        (Cell::Object(object), Cell::Text(name)) => Ok(object.entries.get(name).cloned().unwrap_or(Cell::Null)),
        (Cell::Record(record), Cell::Text(name)) => Ok(record.get(engine, name).unwrap_or(Cell::Null)),
        (Cell::File(page), Cell::Text(name)) => {
            let field = FileField::of(name).and_then(|field| file_value(engine, page, field));
            Ok(field.unwrap_or(Cell::Null))
        }
        (Cell::Object(_) | Cell::Record(_) | Cell::File(_), _) => {
            FieldError::row("can only index into objects with strings (a.b or a[\"b\"])")
        }
        (Cell::Link(link), Cell::Text(name)) => {
            // A link to nothing has null for every name.
            let Some(page) = engine.linked_page(link) else { return Ok(Cell::Null) };
            Ok(RecordData::page(page).get(engine, name).unwrap_or(Cell::Null))
        }
        (Cell::Link(_), _) => FieldError::row("can only index into links with strings (a.b or a[\"b\"])"),
        (Cell::List(list), Cell::Number(at)) => {
            Ok(place(*at).and_then(|at| list.items.get(at)).cloned().unwrap_or(Cell::Null))
        }
        (Cell::List(list), _) => {
            let mut found = Vec::with_capacity(list.items.len());
            for item in &list.items {
                engine.step()?;
                match index(engine, item, name) {
                    Ok(value) => found.push(value),
                    // As in Dataview: elements that cannot be indexed are left out.
                    Err(FieldError::Row(_)) => {}
                    Err(halt) => return Err(halt),
                }
            }
            engine.list(found)
        }
        (Cell::Text(text), Cell::Number(at)) => {
            // A single unit, which may be half of a letter and is then replaced.
            let unit = place(*at).map(|at| utf16_slice(text, at, at + 1)).filter(|unit| !unit.is_empty());
            Ok(unit.map_or(Cell::Null, Cell::text))
        }
        (Cell::Text(_), _) => FieldError::row("string indexing requires a numeric index (string[index])"),
        (Cell::Date(date), Cell::Text(name)) => Ok(date_part(date, name)),
        (Cell::Date(_), _) => FieldError::row("date indexing requires a string representing the unit"),
        (Cell::Duration(duration), Cell::Text(name)) => {
            Ok(duration_unit(name).map_or(Cell::Null, |unit| Cell::Number(duration.in_unit(unit))))
        }
        (Cell::Duration(_), _) => FieldError::row("duration indexing requires a string representing the unit"),
        _ => Ok(Cell::Null),
    }
}

/// A whole number from 0 on.
fn place(number: f64) -> Option<usize> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a small whole number")]
    (number >= 0.0 && number.fract() == 0.0 && number < 1e15).then_some(number as usize)
}

fn date_part<'v>(date: &LuxonDate, name: &str) -> Cell<'v> {
    let wall = date.wall();
    let part = match name {
        "year" => wall.year,
        "month" => wall.month,
        "weekyear" => date.iso_week().1,
        // Dataview's own idea of a week in a month; `weekyear` gives the ISO week.
        "week" => wall.day / 7 + 1,
        "weekday" => date.weekday(),
        "day" => wall.day,
        "hour" => wall.hour,
        "minute" => wall.minute,
        "second" => wall.second,
        "millisecond" => wall.millisecond,
        // An unknown unit is null and not an error.
        _ => return Cell::Null,
    };
    #[expect(clippy::cast_precision_loss, reason = "parts of dates are small")]
    Cell::Number(if date.is_valid() { part as f64 } else { f64::NAN })
}

fn duration_unit(name: &str) -> Option<DurationUnit> {
    Some(match name {
        "year" | "years" => DurationUnit::Years,
        "month" | "months" => DurationUnit::Months,
        "weeks" => DurationUnit::Weeks,
        "day" | "days" => DurationUnit::Days,
        "hour" | "hours" => DurationUnit::Hours,
        "minute" | "minutes" => DurationUnit::Minutes,
        "second" | "seconds" => DurationUnit::Seconds,
        "millisecond" | "milliseconds" => DurationUnit::Milliseconds,
        _ => return None,
    })
}
