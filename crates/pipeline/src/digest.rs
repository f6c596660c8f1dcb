//! A digest of JSON that does not depend on key order.

use lapidary_note::ContentHash;
use serde_json::{Map, Value};

/// The same for the same arguments, in any key order.
pub(crate) fn digest(arguments: &Map<String, Value>) -> ContentHash {
    let mut text = String::new();
    put_map(&mut text, arguments);
    ContentHash::of(text.as_bytes())
}

/// Writes JSON without blanks, with sorted keys.
fn put(text: &mut String, value: &Value) {
    match value {
        Value::Object(map) => put_map(text, map),
        Value::Array(items) => {
            text.push('[');
            put_list(text, items, put);
            text.push(']');
        }
        other => *text += &other.to_string(),
    }
}

fn put_map(text: &mut String, map: &Map<String, Value>) {
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    // Maps keep the order in which the client sent the keys.
    entries.sort_by_key(|(key, _)| *key);
    text.push('{');
    put_list(text, entries, |text, (key, value)| {
        // Written as a key, with the necessary escapes.
        put(text, &Value::String(key.clone()));
        text.push(':');
        put(text, value);
    });
    text.push('}');
}

fn put_list<T>(text: &mut String, items: impl IntoIterator<Item = T>, put: impl Fn(&mut String, T)) {
    for (number, item) in items.into_iter().enumerate() {
        if number > 0 {
            text.push(',');
        }
        put(text, item);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_count_and_everything_else_does() {
        let of = |value: Value| digest(value.as_object().unwrap());
        assert_eq!(
            of(json!({ "a": [1, { "x": 1, "y": 2 }], "b": 2 })),
            of(json!({ "b": 2, "a": [1, { "y": 2, "x": 1 }] }))
        );
        assert_ne!(of(json!({ "a": [1, 2] })), of(json!({ "a": [2, 1] })));
        assert_ne!(of(json!({ "a": "1" })), of(json!({ "a": 1 })));
        let text = "{\"a\":[1.5,null,{}],\"b \\\"\":{\"x\":\"\\n\",\"y\":[]}}";
        let value = json!({ "b \"": { "y": [], "x": "\n" }, "a": [1.5, null, {}] });
        assert_eq!(of(value), ContentHash::of(text.as_bytes()), "logs of older versions have the same");
    }
}
