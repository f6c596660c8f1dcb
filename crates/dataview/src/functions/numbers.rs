//! Functions on numbers, and what folds a list into one value.

use std::cmp::Ordering;

use crate::{
    cell::Cell,
    compare::CellOrder,
    engine::{FieldError, FieldResult, QueryEngine},
    evaluate::call_lambda,
    operators::operate,
    syntax::FieldOperator,
};
use lapidary_query::{round_half_up, to_fixed};

use super::{Answered, FunctionName, answer};

pub(super) fn call<'v>(engine: &QueryEngine<'v>, function: FunctionName, arguments: &[Cell<'v>]) -> Answered<'v> {
    match function {
        FunctionName::Round => round(arguments),
        FunctionName::Trunc | FunctionName::Floor | FunctionName::Ceil => match arguments {
            [Cell::Number(number)] => answer(Cell::Number(match function {
                FunctionName::Trunc => number.trunc(),
                FunctionName::Floor => number.floor(),
                _ => number.ceil(),
            })),
            [Cell::Null] => answer(Cell::Null),
            _ => Ok(None),
        },
        FunctionName::Min | FunctionName::Max => extreme(engine, arguments, function == FunctionName::Max).map(Some),
        FunctionName::MinBy | FunctionName::MaxBy => extreme_by(engine, arguments, function == FunctionName::MaxBy),
        FunctionName::Sum | FunctionName::Product => match arguments {
            [Cell::List(list)] => {
                let operator = if function == FunctionName::Sum { FieldOperator::Add } else { FieldOperator::Multiply };
                fold(engine, &list.items, operator).map(Some)
            }
            [other] => answer(other.clone()),
            _ => Ok(None),
        },
        FunctionName::Average => match arguments {
            [Cell::List(list)] => {
                let sum = fold(engine, &list.items, FieldOperator::Add)?;
                // An empty list has no average, and null divided by a number would be an error.
                if sum.is_null() {
                    return answer(Cell::Null);
                }
                #[expect(clippy::cast_precision_loss, reason = "no list is so long")]
                let count = Cell::Number(list.items.len() as f64);
                operate(engine, FieldOperator::Divide, &sum, &count).map(Some)
            }
            [other] => answer(other.clone()),
            _ => Ok(None),
        },
        _ => reduce(engine, arguments),
    }
}

fn round<'v>(arguments: &[Cell<'v>]) -> Answered<'v> {
    match arguments {
        [Cell::Number(number)] | [Cell::Number(number), Cell::Null] => answer(Cell::Number(round_half_up(*number))),
        // Dataview does not round to tens.
        [Cell::Number(number), Cell::Number(digits)] if *digits <= 0.0 => answer(Cell::Number(round_half_up(*number))),
        [Cell::Number(number), Cell::Number(digits)] => {
            let digits = if digits.is_nan() { 0.0 } else { digits.trunc() };
            if digits > 100.0 {
                return FieldError::row("toFixed() digits argument must be between 0 and 100");
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be at most 100")]
            let text = to_fixed(*number, digits as usize);
            // Through the text, as Dataview does, because `toFixed` rounds by the exact digits.
            answer(Cell::Number(text.replace("Infinity", "inf").parse().unwrap_or(f64::NAN)))
        }
        [Cell::Null] | [Cell::Null, _] => answer(Cell::Null),
        _ => Ok(None),
    }
}

/// The least or the greatest of the arguments, or of one list. Nulls do not count; of equal values the least is the first
/// and the greatest the last.
fn extreme<'v>(engine: &QueryEngine<'v>, arguments: &[Cell<'v>], greatest: bool) -> FieldResult<'v> {
    if let [Cell::List(list)] = arguments {
        // A list of one list goes on, and so has to be bounded.
        return engine.calling(|| extreme(engine, &list.items, greatest));
    }
    let order = CellOrder::new(engine);
    let mut best: Option<Cell<'v>> = None;
    for next in arguments {
        engine.step()?;
        best = match best {
            None => Some(next.clone()),
            Some(best) if next.is_null() => Some(best),
            Some(best) if best.is_null() => Some(next.clone()),
            Some(best) => {
                let keeps = keeps_first(order.compare(&best, next)?, greatest);
                Some(if keeps { best } else { next.clone() })
            }
        };
    }
    Ok(best.unwrap_or(Cell::Null))
}

fn keeps_first(order: Ordering, greatest: bool) -> bool {
    if greatest { order.is_gt() } else { order.is_le() }
}

fn extreme_by<'v>(engine: &QueryEngine<'v>, arguments: &[Cell<'v>], greatest: bool) -> Answered<'v> {
    let (list, function) = match arguments {
        [Cell::List(list), Cell::Function(function)] => (list, function),
        [Cell::Null, Cell::Function(_)] => return answer(Cell::Null),
        _ => return Ok(None),
    };
    let order = CellOrder::new(engine);
    let mut best: Option<(Cell<'v>, &Cell<'v>)> = None;
    for item in &list.items {
        let key = call_lambda(engine, function, std::slice::from_ref(item))?;
        if key.is_null() {
            continue;
        }
        best = match best {
            Some((known, kept)) if keeps_first(order.compare(&known, &key)?, greatest) => Some((known, kept)),
            _ => Some((key, item)),
        };
    }
    // Where no element has a key, the first is as good as any.
    answer(best.map(|(_, item)| item).or(list.items.first()).cloned().unwrap_or(Cell::Null))
}

fn fold<'v>(engine: &QueryEngine<'v>, items: &[Cell<'v>], operator: FieldOperator) -> FieldResult<'v> {
    let Some((first, rest)) = items.split_first() else { return Ok(Cell::Null) };
    let mut value = first.clone();
    for item in rest {
        engine.step()?;
        value = operate(engine, operator, &value, item)?;
    }
    Ok(value)
}

fn reduce<'v>(engine: &QueryEngine<'v>, arguments: &[Cell<'v>]) -> Answered<'v> {
    match arguments {
        [Cell::List(list), Cell::Text(sign)] => {
            if list.items.is_empty() {
                return answer(Cell::Null);
            }
            let operator = match &**sign {
                "+" => FieldOperator::Add,
                "-" => FieldOperator::Subtract,
                "*" => FieldOperator::Multiply,
                "/" => FieldOperator::Divide,
                "&" => FieldOperator::And,
                "|" => FieldOperator::Or,
                // In Dataview's words.
                _ => return FieldError::row("reduce(array, op) supports '+', '-', '/', '*', '&', and '|'"),
            };
            fold(engine, &list.items, operator).map(Some)
        }
        [Cell::List(list), Cell::Function(function)] => {
            let Some((first, rest)) = list.items.split_first() else { return answer(Cell::Null) };
            let mut value = first.clone();
            // Dataview skips nulls, but not as the first value.
            for item in rest.iter().filter(|item| !item.is_null()) {
                value = call_lambda(engine, function, &[value, item.clone()])?;
            }
            answer(value)
        }
        // Whichever of the two is missing, there is nothing to reduce.
        [Cell::Null, _] | [_, Cell::Null] => answer(Cell::Null),
        _ => Ok(None),
    }
}
