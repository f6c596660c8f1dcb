//! What becomes of arguments, and that a validator that is not ours agrees.

use proptest::prelude::*;

use super::*;

fn schema() -> Map<String, Value> {
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["target"],
        "properties": {
            "target": {
                "oneOf": [
                    { "type": "object", "additionalProperties": false, "required": ["type", "path"],
                      "properties": { "type": { "type": "string", "const": "path" }, "path": { "type": "string", "minLength": 1 } } },
                    { "type": "object", "additionalProperties": false, "required": ["type"],
                      "properties": { "type": { "type": "string", "const": "active" } } },
                ],
            },
            "dryRun": { "type": "boolean" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 10 },
            "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
            "format": { "type": "string", "enum": ["content", "full"] },
            "value": { "description": "anything" },
            "occurrence": { "anyOf": [{ "type": "string", "enum": ["unique", "all"] }, { "type": "integer", "minimum": 1 }] },
        },
    });
    match schema {
        Value::Object(schema) => schema,
        _ => unreachable!("it is written as an object"),
    }
}

fn check(arguments: Value) -> Result<CheckedArguments, Vec<(String, String, Option<String>)>> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    match check_arguments("t", &schema(), arguments) {
        Ok(checked) => Ok(checked),
        Err(Reason::InvalidArguments { problems, .. }) => Err(problems
            .into_iter()
            .map(|problem| (problem.at, problem.problem.to_string(), problem.nearest))
            .collect()),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn valid_arguments_pass_unchanged() {
    for arguments in [
        json!({ "target": { "type": "path", "path": "a.md" } }),
        json!({ "target": { "type": "active" }, "limit": 3, "tags": ["x"], "value": null, "occurrence": 2 }),
        json!({ "target": { "type": "path", "path": "{\"a\":1}" }, "occurrence": "all", "value": "[1]" }),
    ] {
        let checked = check(arguments.clone()).unwrap();
        assert_eq!(Value::Object(checked.arguments), arguments);
        assert!(checked.repairs.is_empty(), "{:?}", checked.repairs);
    }
}

#[test]
fn input_with_one_reading_is_repaired_and_reported() {
    let path = json!({ "type": "path", "path": "a.md" });
    for (given, meant) in [
        (json!({ "target": "a.md" }), json!({ "target": path })),
        (json!({ "target": "{\"type\":\"path\",\"path\":\"a.md\"}" }), json!({ "target": path })),
        (json!({ "target": path, "dry_run": true }), json!({ "target": path, "dryRun": true })),
        (json!({ "TARGET": path, "DryRun": "true" }), json!({ "target": path, "dryRun": true })),
        (json!({ "target": path, "limit": "3" }), json!({ "target": path, "limit": 3 })),
        (json!({ "target": path, "limit": "3.0" }), json!({ "target": path, "limit": 3 })),
        (json!({ "target": path, "tags": "x" }), json!({ "target": path, "tags": ["x"] })),
        (json!({ "target": path, "tags": "[\"x\",\"y\"]" }), json!({ "target": path, "tags": ["x", "y"] })),
    ] {
        let checked = check(given.clone()).unwrap_or_else(|problems| panic!("{given}: {problems:?}"));
        assert_eq!(Value::Object(checked.arguments), meant, "{given}");
        assert!(!checked.repairs.is_empty(), "{given}");
    }
}

#[test]
fn null_omits_an_optional_argument() {
    let checked = check(json!({ "target": { "type": "active" }, "limit": null, "dryRun": null })).unwrap();
    assert_eq!(Value::Object(checked.arguments), json!({ "target": { "type": "active" } }));
}

#[test]
fn invalid_arguments_are_refused_with_their_place() {
    let target = json!({ "type": "active" });
    for (given, at, problem, nearest) in [
        (json!({}), "target", "is required", None),
        (json!({ "target": null }), "target", "must be an object", None),
        (json!({ "target": target, "limits": 3 }), "limits", "is not an argument of this tool", Some("limit")),
        (json!({ "target": target, "zzz": 3 }), "zzz", "is not an argument of this tool", None),
        (json!({ "target": target, "limit": 0 }), "limit", "must be >= 1", None),
        (json!({ "target": target, "limit": 11 }), "limit", "must be <= 10", None),
        (json!({ "target": target, "limit": 1.5 }), "limit", "must be an integer", None),
        (json!({ "target": target, "limit": "many" }), "limit", "must be an integer", None),
        (json!({ "target": target, "dryRun": "perhaps" }), "dryRun", "must be a boolean", None),
        (json!({ "target": target, "tags": [] }), "tags", "must have at least 1 entry", None),
        (json!({ "target": target, "tags": ["a", 1] }), "tags[1]", "must be a string", None),
        (json!({ "target": target, "format": "ful" }), "format", "must be `content` or `full`", Some("full")),
        (json!({ "target": { "type": "path", "path": "" } }), "target.path", "must not be empty", None),
        (json!({ "target": target, "occurrence": 0 }), "occurrence", "must be >= 1", None),
        (
            json!({ "target": target, "DryRun": true, "dry-run": false }),
            "dry-run",
            "is not an argument of this tool",
            Some("dryRun"),
        ),
        (
            json!({ "target": target, "dryRun": true, "dry_run": true }),
            "dry_run",
            "is not an argument of this tool",
            Some("dryRun"),
        ),
        (json!({ "target": target, "format": 3 }), "format", "must be a string", None),
    ] {
        let problems = check(given.clone()).unwrap_err();
        let expected = (at.to_owned(), problem.to_owned(), nearest.map(str::to_owned));
        assert!(problems.contains(&expected), "{given}: {problems:?}");
    }
}

#[test]
fn a_misspelt_required_argument_is_one_problem_not_two() {
    assert_eq!(check(json!({ "targett": { "type": "active" } })).unwrap_err().len(), 1);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z\\[\\]{}\":0-9]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("(target|path|type|tags|limit|[a-z]{1,4})", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_input_panics_and_what_passes_passes_again(given in any_json()) {
        if let Value::Object(given) = given
            && let Ok(checked) = check_arguments("t", &schema(), given)
        {
            let again = check_arguments("t", &schema(), checked.arguments.clone()).unwrap();
            prop_assert_eq!(again.arguments, checked.arguments);
            prop_assert!(again.repairs.is_empty());
        }
    }
}

/// Arguments that are often nearly right: `any_json` alone hardly ever makes an object that fits.
fn likely_arguments() -> impl Strategy<Value = Map<String, Value>> {
    let target = prop_oneof![
        4 => Just(json!({ "type": "path", "path": "a.md" })),
        2 => Just(json!({ "type": "active" })),
        1 => Just(json!({ "type": "path", "path": "" })),
        1 => Just(json!({ "type": "active", "path": "a.md" })),
        1 => any_json(),
    ];
    let limit = prop_oneof![(0..12_i64).prop_map(Value::from), Just(json!(2.0)), Just(json!(2.5)), any_json()];
    let tags = prop_oneof![prop::collection::vec("[a-z]{0,3}", 0..3).prop_map(Value::from), any_json()];
    let word = |words: &'static [&'static str]| prop::sample::select(words).prop_map(Value::from);
    let format = prop_oneof![word(&["content", "full", "Full"]), any_json()];
    let occurrence = prop_oneof![word(&["unique", "all", "2"]), (0..3_i64).prop_map(Value::from), any_json()];
    let optional = |name: &'static str, value: BoxedStrategy<Value>| {
        prop::option::of(value).prop_map(move |value| value.map(|value| (name.to_owned(), value)))
    };
    let fields = (
        optional("target", target.boxed()),
        optional("limit", limit.boxed()),
        optional("tags", tags.boxed()),
        optional("format", format.boxed()),
        optional("occurrence", occurrence.boxed()),
        optional("dryRun", any::<bool>().prop_map(Value::from).boxed()),
    );
    fields.prop_map(|(a, b, c, d, e, f)| [a, b, c, d, e, f].into_iter().flatten().collect())
}

proptest! {
    #[test]
    fn a_json_schema_validator_accepts_the_same_arguments(given in likely_arguments()) {
        let validator = jsonschema::validator_for(&Value::Object(schema())).unwrap();
        let checked = check_arguments("t", &schema(), given.clone());
        let unrepaired = matches!(&checked, Ok(checked) if checked.repairs.is_empty());
        // Many clients send `null`, or `""` for a text, if they leave out an optional argument, which no schema has to know.
        let left_out = |name: &str, value: &Value| value.is_null() || (name == "format" && value == "");
        let whole = Value::Object(given.into_iter().filter(|(name, value)| !left_out(name, value)).collect());
        prop_assert_eq!(unrepaired, validator.is_valid(&whole), "{} {:?}", whole, checked);
        // What was repaired fits too.
        if let Ok(checked) = checked {
            prop_assert!(validator.is_valid(&Value::Object(checked.arguments)));
        }
    }
}
