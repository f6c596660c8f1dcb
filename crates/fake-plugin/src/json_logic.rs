//! JsonLogic, as far as a client of the plugin uses it.

use serde_json::Value;

/// The value of a rule for a note; `None` for an operator that is not known.
pub(crate) fn evaluate(rule: &Value, note: &Value) -> Option<Value> {
    let Value::Object(rule) = rule else { return Some(rule.clone()) };
    let (operator, arguments) = rule.iter().next()?;
    let arguments = match arguments {
        Value::Array(arguments) => arguments.as_slice(),
        // An operator with one argument may be written without the list.
        one => std::slice::from_ref(one),
    };
    // A missing argument is null, as in JavaScript.
    let at = |number: usize| arguments.get(number).map_or(Some(Value::Null), |rule| evaluate(rule, note));
    match operator.as_str() {
        "var" => {
            let pointer = format!("/{}", arguments.first()?.as_str()?.replace('.', "/"));
            Some(note.pointer(&pointer).cloned().unwrap_or(Value::Null))
        }
        "==" | "===" => Some(Value::Bool(at(0)? == at(1)?)),
        ">" => Some(Value::Bool(at(0)?.as_f64() > at(1)?.as_f64())),
        "if" => at(if is_truthy(&at(0)?) { 1 } else { 2 }),
        "and" => {
            let mut last = Value::Null;
            for rule in arguments {
                // The last value is the result, not only whether it is true.
                last = evaluate(rule, note)?;
                if !is_truthy(&last) {
                    break;
                }
            }
            Some(last)
        }
        _ => None,
    }
}

/// What is not truthy is not in the answer.
pub(crate) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}
