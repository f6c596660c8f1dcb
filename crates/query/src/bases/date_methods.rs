//! Methods and fields of dates.

use jiff::tz::TimeZone;

use super::{
    base_date::{BaseDate, precise},
    base_value::BaseValue,
    call_arguments::CallArguments,
    calls::MethodAnswer,
    known_name::KnownFunction,
};

pub(super) fn call(date: BaseDate, function: KnownFunction, arguments: &CallArguments<'_>) -> MethodAnswer {
    let zone = &arguments.clock.zone;
    let answer = match function {
        KnownFunction::Date => {
            arguments.count(0, 0)?;
            date.day(zone).map_or(BaseValue::Null, BaseValue::Date)
        }
        KnownFunction::Time => {
            arguments.count(0, 0)?;
            BaseValue::text(date.civil(zone).strftime("%H:%M:%S").to_string())
        }
        KnownFunction::Format => {
            arguments.count(1, 1)?;
            BaseValue::text(date.format(&arguments.text(0, "format")?, zone))
        }
        KnownFunction::Relative => {
            arguments.count(0, 0)?;
            BaseValue::Date(BaseDate { is_relative: true, ..date })
        }
        _ => return Ok(None),
    };
    Ok(Some(answer))
}

pub(super) fn field(date: BaseDate, name: &str, zone: &TimeZone) -> Option<f64> {
    let civil = date.civil(zone);
    let is = |word: &str| name.eq_ignore_ascii_case(word);
    let number = match () {
        () if is("year") => i64::from(civil.year()),
        () if is("month") => i64::from(civil.month()),
        () if is("day") => i64::from(civil.day()),
        () if is("hour") => i64::from(civil.hour()),
        () if is("minute") => i64::from(civil.minute()),
        () if is("second") => i64::from(civil.second()),
        () if is("millisecond") => i64::from(civil.millisecond()),
        () if is("timestamp") => date.moment.as_millisecond(),
        () => return None,
    };
    Some(precise(number))
}
