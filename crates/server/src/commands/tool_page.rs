//! `lapidary tools NAME`: one tool, its arguments and examples to copy.

use std::io::Write;

use lapidary_query::nearest;
use lapidary_tools::{ExampleResult, TOOLS, quote::quoted};
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, command_hint::quoted_word, screen::Screen};

/// More examples do not fit a screen; the reference has all.
const MOST_EXAMPLES: usize = 3;

pub(super) fn run(name: &str, as_json: bool, screen: &mut Screen<'_>) -> Result<CommandOutcome, CommandFailure> {
    // By both names, as in calls.
    let Some(tool) = TOOLS.iter().find(|tool| {
        let declaration = tool.spec().declaration;
        declaration.name == name || declaration.dotted == Some(name)
    }) else {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.spec().name()).collect();
        let hint = nearest(name, names)
            .map_or_else(|| "`lapidary tools` lists them".to_owned(), |near| format!("did you mean `{near}`?"));
        return Err(CommandFailure::Refused(format!("there is no tool {}; {hint}", quoted(name))));
    };
    let spec = tool.spec();
    let declaration = &spec.declaration;
    let reasons: Vec<&str> = spec.reasons().iter().map(|kind| kind.wire_code().id).collect();
    if as_json {
        screen.json(
            &json!({
                "name": spec.name(), "title": declaration.title, "group": declaration.group.name(), "effect": spec.effect.name(),
                "description": spec.description(), "inputSchema": spec.input(), "outputSchema": spec.output(), "reasons": reasons,
            }),
        )?;
        return Ok(CommandOutcome::Well);
    }
    let style = screen.style;
    let shown = if declaration.listed { "listed" } else { "deferred" };
    let (group, effect) = (declaration.group.name(), spec.effect.name());
    writeln!(screen, "{}: {}", style.strong(spec.name()), declaration.title)?;
    // A separate line: with a long name and title it would not fit the terminal.
    writeln!(screen, "Group {group}, effect {effect}, {shown}.\n")?;
    write!(screen, "{}", style.wrapped(&plain(spec.description()), 0))?;
    let required = spec.input().get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let arguments = spec.input().get("properties").and_then(Value::as_object);
    if arguments.is_some_and(|arguments| !arguments.is_empty()) {
        writeln!(screen, "\n{}", style.strong("Arguments"))?;
    }
    for (argument, schema) in arguments.into_iter().flatten() {
        let mark = if required.iter().any(|name| name == argument.as_str()) { ", required" } else { "" };
        write!(screen, "{}", style.wrapped(&format!("{argument}: {}{mark}", kind_of(schema)), 2))?;
        if let Some(description) = schema.get("description").and_then(Value::as_str) {
            write!(screen, "{}", style.wrapped(&plain(description), 6))?;
        }
    }
    // Refusals are listed by name below; an example is for copying.
    let examples =
        tool.examples().into_iter().filter(|example| !matches!(example.gives.last(), ExampleResult::Refusal(_)));
    for (index, example) in examples.take(MOST_EXAMPLES).enumerate() {
        if index == 0 {
            writeln!(screen, "\n{}", style.strong("Examples"))?;
        }
        writeln!(screen, "  # {}", plain(example.says))?;
        writeln!(screen, "  lapidary call {} {}", spec.name(), quoted_word(&example.input.to_string()))?;
    }
    writeln!(screen, "\n{}", style.strong("Refusals (`lapidary explain REASON`)").replace('`', ""))?;
    write!(screen, "{}", style.wrapped(&reasons.join(", "), 2))?;
    Ok(CommandOutcome::Well)
}

/// Descriptions are written for models; a terminal shows no Markdown.
fn plain(text: &str) -> String {
    text.replace("**", "").replace('`', "")
}

fn kind_of(schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ");
    }
    // A choice of schemas is shown as its kinds; `null` only means that the argument may be left out.
    if let Some(choices) = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
        let mut kinds: Vec<String> = choices.iter().map(kind_of).filter(|kind| kind != "null").collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    match (schema.get("const"), schema.get("type")) {
        (Some(value), _) => value.to_string(),
        (None, Some(Value::String(kind))) if kind == "array" => {
            format!("list of {}", schema.get("items").map_or_else(|| "any".to_owned(), kind_of))
        }
        (None, Some(Value::String(kind))) => kind.clone(),
        (None, Some(Value::Array(kinds))) => {
            kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn page(name: &str, width: usize) -> String {
        let mut out = Vec::new();
        assert!(matches!(run(name, false, &mut Screen::for_test(&mut out, width)), Ok(CommandOutcome::Well)));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_tool_has_a_page_that_fits_and_is_no_markdown() {
        for tool in TOOLS {
            for width in [80, 120] {
                let page = page(tool.spec().name(), width);
                assert!(page.contains("\nRefusals (lapidary explain REASON)\n"), "{page}");
                let prose =
                    page.lines().filter(|line| !line.starts_with("  lapidary call") && !line.starts_with("  # "));
                for line in prose {
                    // A single word may be longer than a line.
                    assert!(line.width() <= width || !line.trim().contains(' '), "{line}");
                    assert!(!line.contains('`'), "{line}");
                }
            }
        }
    }

    #[test]
    fn a_tool_is_found_by_its_dotted_name_too() {
        assert!(page("file.read", 80).starts_with("file_read: "));
    }
}
