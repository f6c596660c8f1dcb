//! The structured part of a reply, as serialised JSON.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{JsonTextError, Reason, json_text};

/// The facts of a reply: a JSON object, kept as the text that is sent. Most are never inspected, so they are not parsed
/// into a tree of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyFacts(String);

impl ReplyFacts {
    /// The output of a tool.
    pub(crate) fn of(output: &impl Serialize) -> Result<Self, Reason> {
        match serialised(output) {
            // Clients validate `structuredContent` as an object; an array would be refused there.
            Ok(json) if json.starts_with('{') => Ok(Self(json)),
            Ok(_) => Err(bug!("the output of a tool is not a JSON object")),
            Err(error) => Err(bug!("the output of a tool cannot be written as JSON: {error}")),
        }
    }

    pub fn as_json(&self) -> &str {
        &self.0
    }

    pub fn into_json(self) -> String {
        self.0
    }

    /// Parses them, for code that inspects them.
    pub fn to_map(&self) -> Map<String, Value> {
        // It was an object when it was serialised.
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// Sets a fact, replacing it in place or adding it at the end.
    pub fn insert(&mut self, name: &str, value: impl Into<Value>) {
        let (name, value) = (Value::from(name).to_string(), value.into());
        // Parsing and serialising again is only worth it if the key may exist; a notice usually is new.
        if self.may_have(&name) {
            let mut facts = self.to_map();
            facts.insert(name.trim_matches('"').to_owned(), value);
            *self = facts.into();
            return;
        }
        // The closing brace, which is always the last byte.
        self.0.pop();
        let comma = if self.0.len() > 1 { "," } else { "" };
        self.0 += &format!("{comma}{name}:{value}}}");
    }

    /// Replaces a hash by another wherever it occurs. Neither has a character that JSON would escape.
    pub(crate) fn replace(&mut self, hash: &str, other: &str) {
        self.0 = self.0.replace(hash, other);
    }

    /// The text of a fact, if it exists and is a string.
    pub fn text(&self, name: &str) -> Option<String> {
        if !self.may_have(&Value::from(name).to_string()) {
            return None;
        }
        self.to_map().get(name)?.as_str().map(str::to_owned)
    }

    /// Whether a name, as written in JSON, is the key of a fact or of something inside one. In strings, quotes are
    /// escaped.
    fn may_have(&self, name: &str) -> bool {
        memchr::memmem::find(self.0.as_bytes(), format!("{name}:").as_bytes()).is_some()
    }
}

impl From<Map<String, Value>> for ReplyFacts {
    fn from(facts: Map<String, Value>) -> Self {
        // Keys of a map are strings, and nothing else can fail.
        Self(serialised(&facts).unwrap_or_else(|_| "{}".to_owned()))
    }
}

/// The one place where the facts of a reply become text.
fn serialised(facts: &impl Serialize) -> Result<String, JsonTextError> {
    #[cfg(test)]
    tests::SERIALISED.set(tests::SERIALISED.get() + 1);
    json_text(facts)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;

    thread_local! {
        /// How many times facts were serialised on this thread.
        pub(crate) static SERIALISED: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn a_fact_is_set_in_its_place_or_at_the_end_as_in_a_map() {
        for facts in [
            json!({}),
            json!({ "a": 1 }),
            json!({ "notice": "old", "b": [1] }),
            json!({ "a": { "notice": "inner" } }),
            json!({ "text": "\"notice\": \\\"notice\":", "c": null }),
        ] {
            let Value::Object(mut map) = facts else { panic!("an object") };
            let mut facts = ReplyFacts::of(&map).unwrap();
            assert_eq!(facts.text("notice"), map.get("notice").and_then(Value::as_str).map(str::to_owned));
            facts.insert("notice", "new \"one\"");
            map.insert("notice".to_owned(), json!("new \"one\""));
            assert_eq!(facts.as_json(), serde_json::to_string(&map).unwrap());
            assert_eq!(facts.to_map(), map);
        }
    }

    #[test]
    fn only_an_object_can_be_the_output_of_a_tool() {
        assert!(ReplyFacts::of(&json!([1])).is_err());
        assert!(ReplyFacts::of(&json!("{")).is_err());
    }
}
