//! An instruction of markdown-patch 2.0, from JSON.

use lapidary_note::{
    DestinationPlace, InstructionOperation, InstructionPayload, InstructionScope, InstructionTarget, PatchInstruction,
    SectionDestination,
};
use lapidary_toolkit::properties;
use serde_json::{Map, Value};

/// Reads an instruction, or says what is wrong with it, with the field first.
pub fn parse_instruction(given: &Map<String, Value>) -> Result<PatchInstruction, String> {
    let kind = word(given, "targetType")?.ok_or("targetType: is required")?;
    let target = target(kind, given.get("target"))?;
    let operation = match word(given, "operation")?.ok_or("operation: is required")? {
        "replace" => InstructionOperation::Replace,
        "prepend" => InstructionOperation::Prepend,
        "append" => InstructionOperation::Append,
        "delete" => InstructionOperation::Delete,
        _ => return Err("operation: must be replace, prepend, append or delete".to_owned()),
    };
    let scope = match word(given, "scope")?.unwrap_or("content") {
        "content" => InstructionScope::Content,
        "marker" => InstructionScope::Marker,
        "markerAndContent" => InstructionScope::MarkerAndContent,
        "parent" => InstructionScope::Parent,
        _ => return Err("scope: must be content, marker, markerAndContent or parent".to_owned()),
    };
    // Before the payload: which fields are allowed depends on target, operation and scope.
    let within = within(given, &target, scope)?;
    check_cell(&target, operation, scope)?;
    let payload = payload(given, &target, operation, scope)?;
    Ok(PatchInstruction {
        target,
        operation,
        scope,
        payload,
        within,
        create: flag(given, "createTargetIfMissing")?,
        once: flag(given, "rejectIfContentPreexists")?,
    })
}

fn word<'g>(given: &'g Map<String, Value>, name: &str) -> Result<Option<&'g str>, String> {
    match given.get(name) {
        None => Ok(None),
        Some(Value::String(word)) => Ok(Some(word)),
        Some(_) => Err(format!("{name}: must be a string")),
    }
}

fn flag(given: &Map<String, Value>, name: &str) -> Result<bool, String> {
    match given.get(name) {
        None => Ok(false),
        Some(Value::Bool(set)) => Ok(*set),
        Some(_) => Err(format!("{name}: must be true or false")),
    }
}

fn target(kind: &str, given: Option<&Value>) -> Result<InstructionTarget, String> {
    match (kind, given) {
        // Unlike `null`, a target that is missing is a mistake.
        ("heading", None) => Err("target: is required".to_owned()),
        ("heading", Some(given)) => {
            let path = address(given).ok_or("target: must be a list of heading texts, or null for the document")?;
            Ok(InstructionTarget::Heading(path))
        }
        ("block", Some(Value::String(id))) => {
            let is_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            // A key from a document map may have a number behind a separator.
            let plain = id.split('\u{1f}').next().unwrap_or_default();
            match !plain.is_empty() && plain.chars().all(is_id) {
                true => Ok(InstructionTarget::Block(id.clone())),
                false => Err("target: a block id has only letters, digits, hyphens and underscores".to_owned()),
            }
        }
        ("frontmatter", Some(Value::String(name))) => Ok(InstructionTarget::Property(name.clone())),
        ("block" | "frontmatter", _) => Err(format!("target: must be a string for a {kind} target")),
        _ => Err("targetType: must be heading, block or frontmatter".to_owned()),
    }
}

/// The address of a heading.
fn address(given: &Value) -> Option<Vec<String>> {
    match given {
        // `null` is the document itself.
        Value::Null => Some(Vec::new()),
        Value::Array(names) => names.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

fn within(
    given: &Map<String, Value>,
    target: &InstructionTarget,
    scope: InstructionScope,
) -> Result<Option<i64>, String> {
    let Some(given) = given.get("within") else { return Ok(None) };
    let index = given.as_i64().ok_or("within: must be an integer")?;
    // Only there does a section have blocks to choose from.
    let fits = matches!(scope, InstructionScope::Content | InstructionScope::MarkerAndContent);
    match (target, fits) {
        (InstructionTarget::Heading(_), true) => Ok(Some(index)),
        _ => Err("within: addresses a block of a section, in scope content or markerAndContent".to_owned()),
    }
}

fn kind_of(target: &InstructionTarget) -> &'static str {
    match target {
        InstructionTarget::Heading(_) => "heading",
        InstructionTarget::Block(_) => "block",
        InstructionTarget::Property(_) => "frontmatter",
    }
}

/// Which operations a scope of a part has.
fn check_cell(
    target: &InstructionTarget,
    operation: InstructionOperation,
    scope: InstructionScope,
) -> Result<(), String> {
    let is_heading = matches!(target, InstructionTarget::Heading(_));
    let is_block = matches!(target, InstructionTarget::Block(_));
    let is_valid = match scope {
        InstructionScope::Content | InstructionScope::MarkerAndContent => true,
        // A marker is text, and adding to an id or a name makes no sense.
        InstructionScope::Marker => {
            is_heading
                || operation == InstructionOperation::Replace
                || (is_block && operation == InstructionOperation::Delete)
        }
        // Replacing the parent of a section moves it; nothing else has a parent.
        InstructionScope::Parent => is_heading && operation == InstructionOperation::Replace,
    };
    match is_valid {
        true => Ok(()),
        false => {
            Err(format!("operation: this operation does not exist for this scope of a {} target", kind_of(target)))
        }
    }
}

fn payload(
    given: &Map<String, Value>,
    target: &InstructionTarget,
    operation: InstructionOperation,
    scope: InstructionScope,
) -> Result<InstructionPayload, String> {
    let is_block = matches!(target, InstructionTarget::Block(_));
    let is_property = matches!(target, InstructionTarget::Property(_));
    // Which field carries the payload follows from the rest, so a wrong one is named as a mistake.
    let expected: &[&str] = match (operation, scope) {
        (InstructionOperation::Delete, _) => &[],
        (_, InstructionScope::Parent) => &["destination"],
        (_, InstructionScope::Marker) => &["content"],
        _ if is_property => &["value"],
        (_, InstructionScope::Content) if is_block => &["content", "value"],
        _ => &["content"],
    };
    let present: Vec<&str> =
        ["content", "value", "destination"].into_iter().filter(|carrier| given.contains_key(*carrier)).collect();
    let wanted = || expected.iter().map(|carrier| format!("`{carrier}`")).collect::<Vec<_>>().join(" or ");
    match present.as_slice() {
        [] if expected.is_empty() => Ok(InstructionPayload::Nothing),
        [extra, ..] if expected.is_empty() => Err(format!("{extra}: a delete carries no payload")),
        [] => Err(format!("{}: this instruction needs {}", expected[0], wanted())),
        [carrier] if expected.contains(carrier) => carried(carrier, &given[*carrier], target, scope),
        [other] => Err(format!("{other}: this instruction carries its payload in {}", wanted())),
        // Two payloads contradict each other, whatever they say.
        [first, ..] => Err(format!("{first}: an instruction has exactly one of `content`, `value` and `destination`")),
    }
}

fn carried(
    carrier: &str,
    given: &Value,
    target: &InstructionTarget,
    scope: InstructionScope,
) -> Result<InstructionPayload, String> {
    match (carrier, given) {
        ("content", Value::String(text)) => match (target, scope) {
            (InstructionTarget::Heading(_), InstructionScope::Marker) if text.contains(['\n', '\r']) => {
                Err("content: the name of a heading is one line".to_owned())
            }
            _ => Ok(InstructionPayload::Text(text.clone())),
        },
        ("content", _) => Err("content: must be a string".to_owned()),
        ("value", given) if matches!(target, InstructionTarget::Block(_)) => rows(given)
            .map(InstructionPayload::Rows)
            .ok_or_else(|| "value: must be rows of a table, each a list of strings".to_owned()),
        ("value", given) => Ok(InstructionPayload::Value(properties::value(given))),
        (_, given) => destination(given).map(InstructionPayload::Destination),
    }
}

fn rows(given: &Value) -> Option<Vec<Vec<String>>> {
    let cells = |row: &Value| row.as_array()?.iter().map(|cell| cell.as_str().map(str::to_owned)).collect();
    given.as_array()?.iter().map(cells).collect()
}

fn destination(given: &Value) -> Result<SectionDestination, String> {
    const FORM: &str = "destination: must be { parent, place }, with place first, last, { before } or { after }";
    let parent = given.get("parent").and_then(address).ok_or(FORM)?;
    // `place` is a word, or an object with one of two keys.
    let beside = |name: &str| given["place"].get(name).and_then(address);
    // Both keys at once contradict each other.
    let place = match (given["place"].as_str(), beside("before"), beside("after")) {
        (Some("first"), ..) => DestinationPlace::First,
        (Some("last"), ..) => DestinationPlace::Last,
        (None, Some(path), None) => DestinationPlace::Before(path),
        (None, None, Some(path)) => DestinationPlace::After(path),
        _ => return Err(FORM.to_owned()),
    };
    Ok(SectionDestination { parent, place })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_field() {
        for (given, field) in [
            (json!({}), "targetType"),
            (json!({ "targetType": "paragraph", "target": "x", "operation": "replace" }), "targetType"),
            (json!({ "targetType": "heading", "target": "A", "operation": "replace", "content": "x" }), "target"),
            (json!({ "targetType": "block", "target": "a b", "operation": "replace", "content": "x" }), "target"),
            (json!({ "targetType": "heading", "target": ["A"], "operation": "rename", "content": "x" }), "operation"),
            (json!({ "targetType": "heading", "target": ["A"], "operation": "replace", "scope": "x" }), "scope"),
            (json!({ "targetType": "heading", "target": ["A"], "operation": "replace" }), "content"),
            (json!({ "targetType": "frontmatter", "target": "a", "operation": "replace", "content": "x" }), "content"),
            (json!({ "targetType": "heading", "target": ["A"], "operation": "replace", "value": 1 }), "value"),
            (json!({ "targetType": "block", "target": "a", "operation": "append", "value": ["x"] }), "value"),
            (
                json!({ "targetType": "block", "target": "a", "operation": "append", "scope": "marker", "content": "x" }),
                "operation",
            ),
            (
                json!({ "targetType": "block", "target": "a", "operation": "replace", "scope": "parent", "destination": {} }),
                "operation",
            ),
            (json!({ "targetType": "heading", "target": ["A"], "operation": "delete", "content": "x" }), "content"),
            (
                json!({ "targetType": "heading", "target": ["A"], "operation": "replace", "scope": "parent", "destination": { "parent": null, "place": "middle" } }),
                "destination",
            ),
            (
                json!({ "targetType": "heading", "target": ["A"], "operation": "append", "content": "x", "value": 1 }),
                "content",
            ),
            (
                json!({ "targetType": "heading", "target": ["A"], "operation": "append", "content": "x", "within": "1" }),
                "within",
            ),
            (
                json!({ "targetType": "heading", "target": ["A"], "operation": "replace", "scope": "marker", "content": "a\nb" }),
                "content",
            ),
        ] {
            let Value::Object(object) = &given else { panic!("not an object") };
            let problem = parse_instruction(object).unwrap_err();
            assert!(problem.starts_with(&format!("{field}: ")), "{given}: {problem}");
        }
    }

    #[test]
    fn a_whole_instruction_is_read() {
        let given = json!({
            "targetType": "heading", "target": null, "operation": "append", "content": "x",
            "within": -1, "createTargetIfMissing": true, "rejectIfContentPreexists": true, "ifMatch": "abc",
        });
        let Value::Object(object) = &given else { panic!("not an object") };
        let read = parse_instruction(object).unwrap();
        assert_eq!(read.target, InstructionTarget::Heading(Vec::new()));
        assert_eq!((read.within, read.create, read.once), (Some(-1), true, true));
        assert_eq!(read.scope, InstructionScope::Content);
    }
}
