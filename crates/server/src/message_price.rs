//! What a message takes in memory, known before it is parsed: a JSON value takes many times its own bytes.

use std::fmt;

use serde::{Deserialize, Deserializer, de::Visitor};
use serde_json::Value;

/// More values than any sensible call has.
const MOST_VALUES: usize = 50_000;
/// As deep as messages may be nested; the library reads no deeper ones.
pub(crate) const DEEPEST: usize = 127;
/// What a value takes beside its text, with the name that it may have.
const PER_VALUE: usize = 96;
/// Longer ids are not repeated.
const LONGEST_ID: usize = 200;
/// A message below this is priced without looking at it, as if it were nothing but values.
const UNREAD_BYTES: usize = 2 << 10;

/// What all messages that are not answered yet may take together.
pub(crate) const MOST_OPEN_BYTES: usize = 32 << 20;

/// The id of a request that is too large to be parsed, for its answer. Nothing else of it is kept.
pub(crate) fn message_id(bytes: &[u8]) -> Value {
    #[derive(Deserialize)]
    struct IdOnly {
        #[serde(default, deserialize_with = "short_id")]
        id: Value,
    }
    serde_json::from_slice::<IdOnly>(bytes).map(|message| message.id).unwrap_or_default()
}

/// A number or a string; everything else is skipped.
fn short_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    struct IdVisitor;
    // By hand, so that a long text or a nested value is never built just to be thrown away.
    impl<'de> Visitor<'de> for IdVisitor {
        type Value = Value;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an id")
        }

        fn visit_u64<E>(self, id: u64) -> Result<Value, E> {
            Ok(id.into())
        }

        fn visit_i64<E>(self, id: i64) -> Result<Value, E> {
            Ok(id.into())
        }

        fn visit_str<E>(self, id: &str) -> Result<Value, E> {
            Ok(if id.len() > LONGEST_ID { Value::Null } else { id.into() })
        }

        fn visit_unit<E>(self) -> Result<Value, E> {
            Ok(Value::Null)
        }
    }
    deserializer.deserialize_any(IdVisitor)
}

/// What a text of JSON is made of. Brackets and commas inside of strings do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageShape {
    pub(crate) depth: usize,
    pub(crate) values: usize,
}

impl MessageShape {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        // The whole message is one value even if it has neither brackets nor commas.
        let (mut depth, mut shape, mut in_string, mut escaped) = (0_usize, Self { depth: 0, values: 1 }, false, false);
        for byte in bytes {
            match (in_string, byte) {
                // The character after a backslash is part of the string, even if it is a quote.
                (true, _) if escaped => escaped = false,
                (true, b'\\') => escaped = true,
                (_, b'"') => in_string = !in_string,
                (false, b'[' | b'{') => {
                    depth += 1;
                    shape.values += 1;
                    shape.depth = shape.depth.max(depth);
                }
                // More closing brackets than opening ones are an error for the parser, not an underflow here.
                (false, b']' | b'}') => depth = depth.saturating_sub(1),
                // Commas count values of lists and members of objects alike.
                (false, b',') => shape.values += 1,
                _ => {}
            }
        }
        shape
    }
}

/// Why no message may be like this.
#[derive(Debug)]
pub(crate) struct MessageRefusal {
    pub(crate) code: i32,
    pub(crate) message: String,
}

/// The price of a message, or why it is not parsed at all.
pub(crate) fn message_price(bytes: &[u8]) -> Result<usize, MessageRefusal> {
    if bytes.len() < UNREAD_BYTES {
        return Ok(bytes.len().saturating_mul(PER_VALUE / 4));
    }
    let MessageShape { depth, values } = MessageShape::of(bytes);
    if depth > DEEPEST {
        return Err(MessageRefusal { code: -32700, message: "Parse error: the message is nested too deep".to_owned() });
    }
    if values > MOST_VALUES {
        return Err(MessageRefusal { code: -32600, message: format!("A message has at most {MOST_VALUES} values") });
    }
    Ok(bytes.len() + values * PER_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        let shape = |text: &str| MessageShape::of(text.as_bytes());
        assert_eq!(shape("7"), MessageShape { depth: 0, values: 1 });
        assert_eq!(shape(r#"{"a":[1,2,"x,[\"]"]}"#), MessageShape { depth: 2, values: 5 });
    }

    #[test]
    fn text_is_cheap_and_a_message_of_nothing_but_values_is_refused() {
        let text = format!("{{\"text\":\"{}\"}}", "a,[".repeat(1 << 20));
        assert!(message_price(text.as_bytes()).unwrap() < text.len() + 1000);
        let values = |count: usize| format!("[{}0]", "0,".repeat(count - 2));
        assert!(message_price(values(MOST_VALUES).as_bytes()).is_ok());
        assert!(message_price(values(MOST_VALUES + 1).as_bytes()).is_err());
    }

    #[test]
    fn the_id_of_a_message_that_is_not_parsed_is_found() {
        let many = format!("[{}0]", "0,".repeat(MOST_VALUES));
        for (text, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"params":{{"id":8,"a":{many}}}}}"#), Value::from(7)),
            (format!(r#"{{"params":{{"id":8,"a":{many}}},"id":"x"}}"#), Value::from("x")),
            (format!(r#"{{"id":{many}}}"#), Value::Null),
            (format!(r#"{{"params":{many}}}"#), Value::Null),
            (many, Value::Null),
        ] {
            assert_eq!(message_id(text.as_bytes()), id);
        }
    }
}
