use lapidary_note::ContentHash;
use serde_json::Value;

/// The same for the same JSON, in whatever order its keys come.
pub(crate) fn digest(value: &Value) -> ContentHash {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort();
                Value::Object(keys.into_iter().map(|key| (key.clone(), sorted(&map[key]))).collect())
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    ContentHash::of(sorted(value).to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_count_and_everything_else_does() {
        assert_eq!(
            digest(&json!({ "a": [1, { "x": 1, "y": 2 }], "b": 2 })),
            digest(&json!({ "b": 2, "a": [1, { "y": 2, "x": 1 }] }))
        );
        assert_ne!(digest(&json!([1, 2])), digest(&json!([2, 1])));
        assert_ne!(digest(&json!({ "a": "1" })), digest(&json!({ "a": 1 })));
    }
}
