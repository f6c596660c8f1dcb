//! What a definition may say, and how templates are filled in.

use jiff::{Timestamp, tz::TimeZone};
use lapidary_query::QueryContext;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{RecipeFault, RecipeValues, TextLanguage};

const MEETING: &str = "description: Starts a meeting note.
parameters:
  title: text
  people:
    type: list
    default: []
steps:
  - id: found
    tool: query
    with:
      query: LIST FROM \"Meetings\"
  - id: made
    tool: note_create
    if: found.rows.length < 100
    with:
      path: \"Meetings/{{ title }}.md\"
      content: |
        # {{ title }}
        With {{ people.join(\", \") }}.
  - tool: obsidian_append_to_note
    for_each: found.rows
    if: item.open
    with:
      target: { type: path, path: \"{{ item.path }}\" }
      content: \"{{ number }}: [[{{ made.path }}]]\"
answer:
  made: \"{{ made.path }}\"
";

fn with_context<T>(work: impl FnOnce(&QueryContext<'_>) -> T) -> T {
    let now: Timestamp = "2026-11-18T10:00:00Z".parse().unwrap();
    let go_on = || true;
    work(&QueryContext::new(now, TimeZone::UTC, &go_on))
}

fn given(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn languages(pointer: &str, _: &dyn Fn(&str) -> Option<Value>) -> TextLanguage {
    if pointer == "/path" || pointer == "/target/path" { TextLanguage::Path } else { TextLanguage::Plain }
}

#[test]
fn a_recipe_is_filled_in_step_by_step() {
    let recipe = Recipe::parse(MEETING).unwrap();
    let mut values =
        recipe.begin(&given(&json!({ "title": "Roof", "people": ["Ada", "Bo"] })), &TimeZone::UTC).unwrap();
    with_context(|context| {
        let rows = json!([{ "path": "a.md", "open": true }, { "path": "b.md" }]);
        values.set("found", &json!({ "rows": rows })).unwrap();
        assert_eq!(values.items(&recipe.steps[1], &|_| false, context), Ok(None));
        assert_eq!(values.wants(&recipe.steps[1], context), Ok(true));
        let arguments = values.arguments(&recipe.steps[1].arguments, &languages, context).unwrap();
        let content = "# Roof\nWith Ada, Bo.\n";
        assert_eq!(Value::Object(arguments), json!({ "path": "Meetings/Roof.md", "content": content }));
        values.set("made", &json!({ "path": "Meetings/Roof.md" })).unwrap();
        let items = values.items(&recipe.steps[2], &|_| false, context).unwrap().unwrap();
        let wanted: Vec<bool> = (1..)
            .zip(&items)
            .map(|(number, item)| {
                values.turn_to(item, number);
                values.wants(&recipe.steps[2], context).unwrap()
            })
            .collect();
        assert_eq!(wanted, [true, false]);
        values.turn_to(&items[0], 1);
        let arguments = values.arguments(&recipe.steps[2].arguments, &languages, context).unwrap();
        assert_eq!(
            Value::Object(arguments),
            json!({ "target": { "type": "path", "path": "a.md" }, "content": "1: [[Meetings/Roof.md]]" })
        );
        let answer = values.filled_in(recipe.answer.as_ref().unwrap(), context);
        assert_eq!(answer, Ok(json!({ "made": "Meetings/Roof.md" })));
    });
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (definition, at, says) in [
        ("steps: []", "description", "is required"),
        ("description: x\nsteps: []", "steps", "1 to 20"),
        ("description: x\nstep: []", "step", "did you mean `steps`?"),
        ("description: x\nsteps:\n  - tool: query\n    wiht: {}", "steps[0].wiht", "`with`"),
        ("description: x\nsteps:\n  - with: {}", "steps[0].tool", "is required"),
        ("description: x\nparameters:\n  Title: text\nsteps:\n  - tool: q", "parameters.Title", "lower-case"),
        ("description: x\nparameters:\n  item: text\nsteps:\n  - tool: q", "parameters.item", "another name"),
        ("description: x\nparameters:\n  a: txt\nsteps:\n  - tool: q", "parameters.a.type", "`text` or"),
        (
            "description: x\nparameters:\n  a: {type: number, default: z}\nsteps:\n  - tool: q",
            "parameters.a.default",
            "number",
        ),
        ("description: x\nsteps:\n  - tool: q\n    with: {a: \"{{ b }}\"}", "steps[0].with.a", "neither a parameter"),
        ("description: x\nsteps:\n  - tool: q\n    with: {a: \"{{ item }}\"}", "steps[0].with.a", "for_each"),
        ("description: x\nsteps:\n  - tool: q\n    with: {a: [1, \"{{ x + }}\"]}", "steps[0].with.a[1]", "ends where"),
        ("description: x\nsteps:\n  - {id: a, tool: q}\n  - {id: a, tool: q}", "steps[1].id", "used twice"),
        ("description: x\nsteps:\n  - {id: a, tool: q, with: {b: \"{{ a }}\"}}", "steps[0].with.b", "earlier step"),
        ("description: [", "", "line"),
        ("just text", "", "must have"),
    ] {
        let problems = Recipe::parse(definition).err().unwrap_or_default();
        let found = problems.iter().any(|problem| problem.at == at && problem.problem.contains(says));
        assert!(found, "{definition}: {problems:?}");
    }
}

#[test]
fn arguments_fit_the_parameters() {
    let recipe = Recipe::parse(
        "description: x\nparameters:\n  t: text\n  n: {type: number, default: 3}\n  d: {type: date, default: null}\n  l: {type: list, default: []}\nsteps:\n  - tool: q\n",
    )
    .unwrap();
    for (arguments, wrong) in [
        (json!({ "t": "x" }), None),
        (json!({ "t": "x", "n": 1, "d": "2026-11-18", "l": ["a", 1] }), None),
        (json!({}), Some(("t", "is required"))),
        (json!({ "t": null }), Some(("t", "is required"))),
        (json!({ "t": 1 }), Some(("t", "must be a text"))),
        (json!({ "t": "x", "n": "1" }), Some(("n", "must be a number"))),
        (json!({ "t": "x", "d": "soon" }), Some(("d", "must be a date such as 2026-11-18"))),
        (json!({ "t": "x", "l": [{}] }), Some(("l", "must be a list of texts and numbers"))),
        (json!({ "t": "x", "m": 1 }), Some(("m", "is not a parameter of this recipe"))),
    ] {
        let faults = recipe.begin(&given(&arguments), &TimeZone::UTC).err().unwrap_or_default();
        let found = faults.first().map(|fault| (fault.name.as_str(), fault.problem));
        assert_eq!(found, wrong, "{arguments}");
    }
}

#[test]
fn a_value_cannot_leave_the_folder_that_the_recipe_names() {
    let recipe = Recipe::parse(MEETING).unwrap();
    for title in ["../Private/x", "a/b", "a\\b", "..", "x\0"] {
        let mut values = recipe.begin(&given(&json!({ "title": title })), &TimeZone::UTC).unwrap();
        with_context(|context| {
            values.set("found", &json!({})).unwrap();
            let filled = values.arguments(&recipe.steps[1].arguments, &languages, context);
            assert!(matches!(&filled, Err(RecipeFault::Unfit { .. })), "{title}: {filled:?}");
        });
    }
}

#[test]
fn more_items_than_allowed_and_too_large_results_end_a_run() {
    let recipe = Recipe::parse(
        "description: x\nsteps:\n  - {id: a, tool: q}\n  - {tool: q, for_each: a}\nanswer: \"{{ a }}\"\n",
    )
    .unwrap();
    with_context(|context| {
        let mut values = RecipeValues::default();
        values.set("a", &json!(vec![0; 201])).unwrap();
        assert_eq!(values.items(&recipe.steps[1], &|_| false, context), Err(RecipeFault::TooManyItems { count: 201 }));
        values.set("a", &json!("text")).unwrap();
        assert!(matches!(values.items(&recipe.steps[1], &|_| false, context), Err(RecipeFault::NotAList { .. })));
        assert_eq!(values.set("a", &json!("x".repeat(9 << 20))), Err(RecipeFault::TooLarge));
    });
}

#[test]
fn the_definition_is_the_only_recipe_block_of_a_note() {
    let block = |note: &str| recipe_block(note);
    assert_eq!(block("# Title\n\n```recipe\na: 1\n```\nmore\n"), Ok("a: 1\n".to_owned()));
    assert_eq!(block("````\n```recipe\na: 1\n```\n````\n"), Err("has no `recipe` block"));
    assert_eq!(block("~~~recipe\n```\n~~~\n"), Ok("```\n".to_owned()));
    assert_eq!(block("```recipe\na: 1\n"), Err("has a `recipe` block without an end"));
    assert!(block("```recipe\na: 1\n```\n```recipe\nb: 1\n```\n").is_err());
    assert!(block("text").is_err());
}

proptest! {
    /// Whatever a parameter holds, template syntax included, arrives as it is.
    #[test]
    fn the_text_of_a_parameter_is_never_read_as_a_template(title in "([{}a\"'\\\\ ]|\\{\\{|\\}\\}|people|item|today\\(\\)){0,12}") {
        let recipe = Recipe::parse("description: x\nparameters: {title: text}\nsteps:\n  - tool: q\n    with: {a: \"{{ title }}\", b: \"<{{ title }}>\", c: \"{{ title + title }}\"}\n").unwrap();
        let values = recipe.begin(&given(&json!({ "title": title })), &TimeZone::UTC).unwrap();
        let arguments = with_context(|context| values.arguments(&recipe.steps[0].arguments, &languages, context)).unwrap();
        prop_assert_eq!(Value::Object(arguments), json!({ "a": title, "b": format!("<{title}>"), "c": format!("{title}{title}") }));
    }

    /// No text makes the reader panic, or take its time.
    #[test]
    fn any_text_is_a_recipe_or_has_problems(text in "(description: x\n|steps:\n|  - tool: q\n|    with: |    for_each: |\\{\\{|\\}\\}|[a-z.()+\"\\[\\]: ]){0,40}") {
        if let Err(problems) = Recipe::parse(&text) {
            prop_assert!(!problems.is_empty() && problems.len() <= 10);
        }
    }
}
