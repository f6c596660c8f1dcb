//! Arguments generated from the schema of a tool: of the right shape, so that they reach the tool, and of the worst
//! content.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::chance::Chance;

pub(super) struct Arguments<'a> {
    pub(super) chance: Chance,
    pub(super) size: usize,
    pub(super) paths: &'a [String],
    /// The hash of each, without which some tools refuse at once.
    pub(super) hashes: &'a BTreeMap<String, String>,
    /// Other tools, for those that call them.
    pub(super) tools: &'a [&'a str],
}

/// Below the limit of a message.
const MOST_MESSAGE: usize = 16 << 20;
/// Names of arguments that are file paths, at any depth of a schema.
const PATHS: [&str; 9] = ["file", "path", "from", "to", "target", "files", "notes", "directory", "folder"];

impl Arguments<'_> {
    /// An object that fits the schema of a tool.
    pub(super) fn of(&mut self, schema: &Value) -> Value {
        self.value(schema, schema, "", 0)
    }

    /// A request other than a tool call: resources, prompts, completions, lists.
    pub(super) fn request(&mut self) -> (&'static str, Value) {
        let uri = |given: &mut Self| {
            let path = given.text("path");
            let encoded: String = path.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let forms = [
                format!("obsidian://vault/{path}"),
                format!("obsidian://vault/{encoded}"),
                format!("obsidian://vault/{path}?vault={path}"),
                format!("obsidian://{path}"),
                path,
                "obsidian://tags".to_owned(),
                "obsidian://status".to_owned(),
            ];
            given.chance.pick(&forms).clone()
        };
        let prompts = ["Notes/slots", "Notes/many slots", "Notes/open", "Notes/quotes", "Notes/none"];
        match self.chance.below(8) {
            0 | 1 => ("resources/read", json!({ "uri": uri(self) })),
            2 => {
                let method =
                    *self.chance.pick(&["resources/list", "prompts/list", "tools/list", "resources/templates/list"]);
                (method, if self.chance.one_in(2) { json!({}) } else { json!({ "cursor": self.text("") }) })
            }
            3 | 4 => {
                let name = if self.chance.one_in(5) { self.text("") } else { (*self.chance.pick(&prompts)).to_owned() };
                let count = if self.chance.one_in(3) { self.size / 10 } else { 2 };
                let text = self.text("");
                // JSON may write two bytes for one, and a message beyond the limit of the wire is refused without its id.
                let count = count.min(MOST_MESSAGE / (2 * text.len() + 16));
                let arguments: Map<String, Value> =
                    (0..count).map(|at| (at.to_string(), json!(text))).chain([("a".to_owned(), json!(text))]).collect();
                ("prompts/get", json!({ "name": name, "arguments": arguments }))
            }
            _ => {
                let reference = match self.chance.below(3) {
                    0 => json!({ "type": "ref/resource", "uri": "obsidian://vault/{+path}" }),
                    1 => json!({ "type": "ref/resource", "uri": uri(self) }),
                    _ => json!({ "type": "ref/prompt", "name": self.chance.pick(&prompts) }),
                };
                let name = if self.chance.one_in(2) { "path".to_owned() } else { self.text("") };
                let argument = json!({ "name": name, "value": self.text("path") });
                ("completion/complete", json!({ "ref": reference, "argument": argument }))
            }
        }
    }

    fn value(&mut self, root: &Value, schema: &Value, name: &str, depth: usize) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let pointed = root.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null);
            return self.value(root, pointed, name, depth + 1);
        }
        if depth > 8 {
            return Value::Null;
        }
        // Now and then none of the required arguments.
        if self.chance.one_in(40) {
            return self.anything();
        }
        for several in ["anyOf", "oneOf"] {
            if let Some(choices) = schema[several].as_array().filter(|choices| !choices.is_empty()) {
                let choice = self.chance.pick(choices).clone();
                return self.value(root, &choice, name, depth + 1);
            }
        }
        if let Some(words) = schema["enum"].as_array() {
            return self.chance.pick(words).clone();
        }
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => self.chance.pick(kinds).clone(),
            kind => kind.clone(),
        };
        match kind.as_str() {
            Some("object") => self.object(root, schema, depth),
            Some("array") => {
                let most = if self.chance.one_in(6) { self.size / 20 } else { 3 };
                let count = self.chance.below(most) + 1;
                let item = &schema["items"];
                if count > 3 {
                    // Many of one kind are built from a few, or building them would take longer than the call.
                    let few: Vec<Value> = (0..3).map(|_| self.value(root, item, name, depth + 1)).collect();
                    let small = |value: &&Value| value.to_string().len() < 200;
                    let few: Vec<&Value> = few.iter().filter(small).collect();
                    return (0..count)
                        .map(|at| few.get(at % few.len().max(1)).map_or(json!("x"), |value| (*value).clone()))
                        .collect();
                }
                (0..count).map(|_| self.value(root, item, name, depth + 1)).collect()
            }
            Some("integer" | "number") => self.number(),
            Some("boolean") => json!(self.chance.one_in(2)),
            Some("null") => Value::Null,
            Some("string") => json!(self.text(name)),
            _ => self.anything(),
        }
    }

    fn object(&mut self, root: &Value, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let wanted = required.contains(&name.as_str());
            // A guessed hash would only be refused.
            if name.contains("ash") || name == "proposal_token" || name == "vault" {
                continue;
            }
            if wanted || self.chance.one_in(3) {
                let value = match name.as_str() {
                    "tool" | "name" if !self.tools.is_empty() => json!(self.chance.pick(self.tools)),
                    _ => self.value(root, property, name, depth + 1),
                };
                object.insert(name.clone(), value);
            }
        }
        let known = object.get("file").and_then(Value::as_str).and_then(|file| self.hashes.get(file));
        if let Some(hash) = known.filter(|_| schema["properties"]["expected_content_hash"].is_object()) {
            object.insert("expected_content_hash".to_owned(), json!(hash));
        }
        if object.is_empty() && schema["properties"].is_null() {
            for _ in 0..self.chance.below(3) {
                let (name, value) = (self.text(""), self.anything());
                object.insert(name.chars().take(100).collect(), value);
            }
        }
        Value::Object(object)
    }

    fn number(&mut self) -> Value {
        let numbers = [
            json!(0),
            json!(1),
            json!(2),
            json!(-1),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(1e308),
            json!(0.5),
            json!(1_000_000),
        ];
        self.chance.pick(&numbers).clone()
    }

    /// A value that no schema expects: deep, wide, or odd.
    fn anything(&mut self) -> Value {
        match self.chance.below(6) {
            0 => {
                let mut deep = json!("x");
                for level in 0..100 {
                    deep = if level % 2 == 0 { json!([deep]) } else { json!({ "a": deep }) };
                }
                deep
            }
            1 => json!(vec!["x"; self.size / 10]),
            2 => Value::Object((0..self.size / 10).map(|at| (format!("k{at}"), json!(at))).collect()),
            3 => self.number(),
            4 => json!(self.text("")),
            _ => json!({ "and": vec![json!({ "in": ["x", { "var": "content" }] }); 50] }),
        }
    }

    fn text(&mut self, name: &str) -> String {
        if PATHS.contains(&name) && !self.chance.one_in(10) {
            return self.chance.pick(self.paths).clone();
        }
        let size = self.size;
        let texts: [&dyn Fn() -> String; 34] = [
            &|| "a".into(),
            &|| "H".into(),
            &|| "h 1".into(),
            &|| "plain".into(),
            &|| "needle".into(),
            &|| "id".into(),
            &|| "same".into(),
            &|| "t".into(),
            &|| "status".into(),
            &|| "new words".into(),
            &|| "- [ ] x".into(),
            &|| String::new(),
            &|| " ".into(),
            &|| "\n".into(),
            &|| "a".repeat(size * 5),
            &|| "a\n".repeat(size),
            &|| "# a\n".repeat(size / 2),
            &|| vec!["a"; size].join("."),
            &|| vec!["a"; size].join("/"),
            &|| vec!["a"; size].join("::"),
            &|| "(a+)+$".into(),
            &|| "(?=a)(a|aa)+$".into(),
            &|| "(".repeat(size.min(3000)),
            &|| "a{1000}{1000}".into(),
            &|| format!("({})*", vec!["a"; 300].join("|")),
            &|| ".*".into(),
            &|| "$&".repeat(500),
            &|| "**/*".into(),
            &|| "{a,b}".repeat(50),
            &|| "\u{202e}\u{0}\u{301}石".into(),
            &|| "\u{301}".repeat(size),
            &|| format!("{}x{}", "[".repeat(size.min(20_000)), "]".repeat(size.min(20_000))),
            &|| "tag:a -path:\"b\" (a OR ".repeat(30),
            &|| "../".repeat(200),
        ];
        let text = self.chance.pick(&texts);
        text()
    }
}
