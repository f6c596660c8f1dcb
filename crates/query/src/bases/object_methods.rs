//! Methods of objects.

use super::{
    base_value::{BaseObject, BaseValue},
    call_arguments::CallArguments,
    calls::MethodAnswer,
    known_name::KnownFunction,
};

pub(super) fn call(entries: &BaseObject, function: KnownFunction, arguments: &CallArguments<'_>) -> MethodAnswer {
    let answer = match function {
        KnownFunction::Keys => {
            arguments.count(0, 0)?;
            BaseValue::list(entries.keys().map(|name| BaseValue::text(name.as_str())).collect())
        }
        KnownFunction::Values => {
            arguments.count(0, 0)?;
            BaseValue::list(entries.values().cloned().collect())
        }
        _ => return Ok(None),
    };
    Ok(Some(answer))
}
