//! Arguments worth trying: what callers know of the vault, and what they may guess.

use serde_json::{Map, Value, json};

use super::twins::{SOURCE, hidden, marker, visible};

/// Paths, as callers may write them.
pub(super) fn paths() -> Vec<String> {
    let mut paths: Vec<String> = visible().map(str::to_owned).collect();
    for (number, hidden) in hidden().into_iter().enumerate() {
        if number % 3 == 0 {
            paths.extend(hidden.path.rsplit_once('.').map(|(stem, _)| stem.to_owned()));
            paths.extend(hidden.path.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
        }
        paths.push(hidden.path);
    }
    paths.extend(
        ["Ignored/none.md", "Denied/none.md", "IGNORED/shadow-private.md", "./Ignored\\shadow-private.md"]
            .map(str::to_owned),
    );
    paths
        .extend(["Open/door.md", "Open/doors", "Open/doors/shadow-private.md", "Open/doors/new.md"].map(str::to_owned));
    paths.extend(["Open/gate/er", "Open/gate/none/new.md", "Open/past.md", "Open/Fixed/new.md"].map(str::to_owned));
    paths.extend([".lapidaryignore", ".obsidian/app.json", "Open", "Open/plan.md", "Plan"].map(str::to_owned));
    paths.sort();
    paths.dedup();
    paths.retain(|path| !path.is_empty());
    paths
}

/// Every text that is tried where a tool takes any text.
fn texts() -> Vec<String> {
    let mut texts = vec!["Open/Plan.md".to_owned()];
    texts.extend(paths());
    texts.push(SOURCE.to_owned());
    texts.extend(hidden().into_iter().step_by(3).map(|hidden| hidden.name));
    for what in ["alias", "tag", "key", "value", "head", "text", "link", "inline", "block"] {
        let whole = marker(what, 9);
        texts.push(whole[..whole.len() - 1].to_owned());
        texts.push(whole);
    }
    let guesses = [
        "zq",
        "lantern",
        "gem",
        "#gem",
        "status",
        "Agate",
        "shadow-private",
        "[[shadow-private]]",
        "*",
        "**/*",
        "**/*.md",
        ".*",
        ".",
        "^.*$",
        "zq.*x",
        "Ignored/**",
        "[Ii]gnored",
        "open",
        "one",
        "Plan",
        "tag:#gem",
        "file:zq",
        "/zq/",
        "path:Ignored",
        "TABLE file.path",
        "LIST FROM #gem",
        "LIST FROM [[shadow-private]] or outgoing([[Plan]]) or \"Ignored\"",
        "TABLE file.inlinks, file.outlinks, file.tags, file.lists, file.tasks, file.frontmatter, file.size, [[shadow-private]].file.name",
        "TABLE length(rows) GROUP BY file.folder",
        "TASK",
        "TABLE WITHOUT ID x FROM csv(\"Ignored/shadow-private.md\")",
        "filters: file.ext != \"\"\nformulas:\n  linked: file.backlinks\n  other: file(\"shadow-private\").path\nviews:\n  - type: table\n    name: All\n    order: [file.path, file.links, file.embeds, file.tags, file.properties, file.size, formula.linked, formula.other]\n    summaries:\n      file.path: Filled\n",
        "",
        " ",
        "a",
        "x\ny",
    ];
    texts.extend(guesses.map(str::to_owned));
    texts
}

/// Values that fit a schema: a typical one first, then others that differ from it in one place.
pub(super) fn fitting(schema: &Value) -> Vec<Value> {
    if let Some(only) = schema.get("const") {
        return vec![only.clone()];
    }
    if let Some(Value::Array(words)) = schema.get("enum") {
        return words.clone();
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(Value::Array(choices)) = schema.get(choice) {
            return choices.iter().flat_map(fitting).collect();
        }
    }
    match schema["type"].as_str().unwrap_or_default() {
        "boolean" => vec![json!(false), json!(true)],
        "integer" | "number" => numbers(schema),
        "string" => texts().into_iter().map(Value::from).collect(),
        "array" => {
            let items = fitting(&schema["items"]);
            let all = items.iter().take(100).cloned().collect::<Vec<_>>();
            items.into_iter().map(|item| json!([item])).chain([json!([]), json!(all)]).collect()
        }
        "object" => objects(schema),
        _ => vec![Value::Null],
    }
}

fn numbers(schema: &Value) -> Vec<Value> {
    let bound = |name: &str| schema[name].as_i64();
    let least = bound("minimum").unwrap_or(0);
    let mut numbers = vec![least, least + 1, 10, bound("maximum").unwrap_or(1000)];
    numbers.dedup();
    numbers.into_iter().map(Value::from).collect()
}

fn objects(schema: &Value) -> Vec<Value> {
    let Some(Value::Object(properties)) = schema.get("properties") else { return vec![json!({})] };
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let values: Vec<(&String, Vec<Value>)> = properties
        .iter()
        // The progress of a call within a millisecond is not comparable.
        .map(|(name, schema)| (name, if name == "deadlineMs" { vec![json!(0)] } else { fitting(schema) }))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    let usual: Map<String, Value> = values
        .iter()
        .filter(|(name, _)| required(name))
        .map(|(name, values)| ((*name).clone(), values[0].clone()))
        .collect();
    let mut objects = vec![Value::Object(usual.clone())];
    for (name, values) in &values {
        for value in values {
            let mut object = usual.clone();
            object.insert((*name).clone(), value.clone());
            objects.push(Value::Object(object));
        }
    }
    objects.extend(mixed(&values, &usual));
    objects
}

/// Some in which everything differs at once, always the same ones.
fn mixed(values: &[(&String, Vec<Value>)], usual: &Map<String, Value>) -> Vec<Value> {
    const MANY: usize = 40;
    let mut seed = 1_usize;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below.max(1)
    };
    let mut mix = || {
        let mut object = usual.clone();
        for (name, values) in values {
            if usual.contains_key(*name) || next(2) == 0 {
                object.insert((*name).clone(), values[next(values.len())].clone());
            }
        }
        Value::Object(object)
    };
    if values.len() < 2 { Vec::new() } else { (0..MANY).map(|_| mix()).collect() }
}

/// The same arguments with each of the paths in place of what looks like one.
pub(super) fn with_paths(arguments: &Value, known: &[&str]) -> Vec<Value> {
    let mut places = Vec::new();
    find_paths(arguments, known, String::new(), &mut places);
    let mut all = vec![arguments.clone()];
    for path in paths() {
        let put = |places: &[String]| {
            let mut arguments = arguments.clone();
            for place in places {
                if let Some(value) = arguments.pointer_mut(place) {
                    *value = json!(path);
                }
            }
            arguments
        };
        all.push(put(&places));
        if places.len() > 1 {
            all.extend(places.iter().map(|place| put(std::slice::from_ref(place))));
        }
    }
    all.dedup();
    all
}

fn find_paths(value: &Value, known: &[&str], at: String, places: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let named =
                |path: &&str| *path == text || path.rsplit('/').any(|name| name.trim_end_matches(".md") == text);
            if text.contains('/') || text.ends_with(".md") || known.iter().any(named) {
                places.push(at);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| find_paths(item, known, format!("{at}/{index}"), places));
        }
        Value::Object(map) => map.iter().for_each(|(name, value)| {
            find_paths(value, known, format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), places)
        }),
        _ => {}
    }
}
