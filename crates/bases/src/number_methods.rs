//! Methods of numbers.

use super::{
    base_value::BaseValue, call_arguments::CallArguments, calls::MethodAnswer, fault::BaseFault,
    known_name::KnownFunction,
};
use lapidary_query::{round_half_up, to_fixed};

pub(super) fn call(number: f64, function: KnownFunction, arguments: &CallArguments<'_>) -> MethodAnswer {
    let answer = match function {
        KnownFunction::Abs => {
            arguments.count(0, 0)?;
            BaseValue::Number(number.abs())
        }
        KnownFunction::Ceil => {
            arguments.count(0, 0)?;
            BaseValue::Number(number.ceil())
        }
        KnownFunction::Floor => {
            arguments.count(0, 0)?;
            BaseValue::Number(number.floor())
        }
        KnownFunction::Round => {
            arguments.count(0, 1)?;
            BaseValue::Number(rounded(number, arguments.optional_number(0, "digits")?.unwrap_or(0.0)))
        }
        KnownFunction::ToFixed => {
            arguments.count(1, 1)?;
            let digits = arguments.number(0, "precision")?;
            // In the words of JavaScript.
            if !(0.0..=100.0).contains(&digits) {
                return Err(BaseFault::error("toFixed() digits argument must be between 0 and 100"));
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be small")]
            let digits = digits as usize;
            BaseValue::text(to_fixed(number, digits))
        }
        _ => return Ok(None),
    };
    Ok(Some(answer))
}

/// Halves go up. Negative digits round to tens and hundreds.
pub(super) fn rounded(number: f64, digits: f64) -> f64 {
    let digits = digits.trunc();
    if digits == 0.0 || !number.is_finite() {
        return round_half_up(number);
    }
    // Larger powers are infinite.
    let factor = 10_f64.powf(digits.clamp(-308.0, 308.0));
    let scaled = number * factor;
    // So large a number has no digits behind the point.
    if scaled.is_finite() { round_half_up(scaled) / factor } else { number }
}
