//! `+ - * / %`: the first rule that fits the two values decides.

use std::sync::Arc;

use super::{
    base_duration::BaseDuration, base_value::BaseValue, fault::BaseFault, formula::BinaryOperator, text_form::TextClock,
};

/// More than this is not made by one operator.
pub(super) const MAX_TEXT: usize = 4 << 20;

pub(super) fn calculate(
    operator: BinaryOperator,
    a: &BaseValue,
    b: &BaseValue,
    clock: &TextClock,
) -> Result<BaseValue, BaseFault> {
    use BaseValue::{Date, Duration, List, Number};
    use BinaryOperator::{Add, Divide, Multiply, Remainder, Subtract};
    let invalid = || BaseFault::error(format!("Invalid operator between {} and {}", a.type_name(), b.type_name()));
    let duration = |duration: BaseDuration| BaseValue::Duration(Arc::new(duration));
    match (operator, a, b) {
        (_, Number(a), Number(b)) => Ok(Number(match operator {
            Add => a + b,
            Subtract => a - b,
            Multiply => a * b,
            Divide => a / b,
            _ => a % b,
        })),
        (Subtract, Date(a), Date(b)) => {
            Ok(duration(BaseDuration::of_milliseconds(a.milliseconds() - b.milliseconds())))
        }
        (Add | Subtract, Date(date), Duration(added)) => shifted(*date, added, operator, clock),
        // `date + "1d"`: a text beside a date is a duration, and never joined.
        (Add | Subtract, Date(date), text) if text.is_textual() => match BaseDuration::parse(&clock.text(text)) {
            Some(added) => shifted(*date, &added, operator, clock),
            None => Err(invalid()),
        },
        (Add, Duration(a), Duration(b)) => Ok(duration(a.plus(**b, 1.0))),
        (Subtract, Duration(a), Duration(b)) => Ok(duration(a.plus(**b, -1.0))),
        (Multiply, Duration(a), Number(by)) => Ok(duration(a.scaled(*by))),
        (Divide, Duration(a), Number(by)) => Ok(duration(a.divided(*by))),
        (Add, List(a), List(b)) => Ok(BaseValue::list(a.iter().chain(b.iter()).cloned().collect())),
        (Add, a, b) if a.is_textual() || b.is_textual() => {
            let (a, b) = (clock.text(a), clock.text(b));
            // Before the text is made: a formula that doubles it would fill memory in a few steps.
            if a.len() + b.len() > MAX_TEXT {
                return Err(BaseFault::error("The text is too long"));
            }
            let mut joined = String::with_capacity(a.len() + b.len());
            joined += &a;
            joined += &b;
            Ok(BaseValue::text(joined))
        }
        // After texts, as null joined with a text is the text.
        (_, BaseValue::Null, _) | (_, _, BaseValue::Null) => Ok(BaseValue::Null),
        (Add | Subtract | Multiply | Divide | Remainder, ..) => Err(invalid()),
        _ => Err(invalid()),
    }
}

fn shifted(
    date: super::base_date::BaseDate,
    added: &BaseDuration,
    operator: BinaryOperator,
    clock: &TextClock,
) -> Result<BaseValue, BaseFault> {
    let sign = if operator == BinaryOperator::Subtract { -1.0 } else { 1.0 };
    let shifted = date.plus(added, sign, &clock.zone);
    shifted.map(BaseValue::Date).ok_or_else(|| BaseFault::error("The date is out of range"))
}
