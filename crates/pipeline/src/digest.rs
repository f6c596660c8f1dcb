use lapidary_note::ContentHash;
use serde_json::{Map, Value};

/// The same for the same arguments, in whatever order their keys come.
pub(crate) fn digest(arguments: &Map<String, Value>) -> ContentHash {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => Value::Object(sorted_map(map)),
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    fn sorted_map(map: &Map<String, Value>) -> Map<String, Value> {
        let mut keys: Vec<&String> = map.keys().collect();
        keys.sort();
        keys.into_iter().map(|key| (key.clone(), sorted(&map[key]))).collect()
    }
    ContentHash::of(Value::Object(sorted_map(arguments)).to_string().as_bytes())
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
    }
}
