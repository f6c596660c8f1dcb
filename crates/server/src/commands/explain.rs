//! `lapidary explain`: what a reason for refusal means.

mod owner_steps;

use std::io::Write;

use lapidary_query::nearest;
use lapidary_tools::{ReasonKind, TOOLS, quote::quoted};
use serde_json::{Value, json};

use owner_steps::owner_step;

use super::{CommandFailure, CommandOutcome, screen::Screen, table::TableCell};

/// One reason, or all of them as a table.
pub(super) fn run(
    reason: Option<&str>,
    as_json: bool,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let Some(reason) = reason else { return all(as_json, screen) };
    let known = || ReasonKind::ALL.iter().map(|kind| kind.wire_code());
    let wanted = reason.trim();
    // In any case, because people copy codes from logs where they are in capitals.
    let Some(kind) = ReasonKind::ALL.iter().find(|kind| kind.wire_code().id.eq_ignore_ascii_case(wanted)) else {
        let near = nearest(wanted, known().map(|code| code.id));
        let hint = near
            .map_or_else(|| "`lapidary explain` lists them all".to_owned(), |near| format!("did you mean `{near}`?"));
        return Err(CommandFailure::Refused(format!("there is no reason {}; {hint}", quoted(wanted))));
    };
    if as_json {
        screen.json(&as_value(*kind))?;
        return Ok(CommandOutcome::Well);
    }
    let (code, style) = (kind.wire_code(), screen.style);
    writeln!(screen, "{}", style.strong(code.id))?;
    write!(screen, "{}", style.wrapped(&code.when.replace('`', ""), 0))?;
    let step = owner_step(*kind).replace('`', "'");
    write!(screen, "\n{}", style.wrapped(&format!("What you can do: {step}"), 0))?;
    writeln!(screen, "\nCode {}, or {} from the file tools.", code.number, code.code)?;
    let specs = TOOLS.iter().map(|tool| tool.spec()).filter(|spec| spec.reasons().contains(kind));
    let tools: Vec<&str> = specs.map(|spec| spec.name()).collect();
    // Reasons that every tool has are not worth a list of all tools.
    if tools.len() == TOOLS.len() {
        writeln!(screen, "Any tool can be refused with it.")?;
    } else if !tools.is_empty() {
        write!(screen, "{}", style.wrapped(&format!("Tools: {}.", tools.join(", ")), 0))?;
    }
    Ok(CommandOutcome::Well)
}

fn all(as_json: bool, screen: &mut Screen<'_>) -> Result<CommandOutcome, CommandFailure> {
    if as_json {
        let reasons: Vec<Value> = ReasonKind::ALL.iter().map(|kind| as_value(*kind)).collect();
        screen.json(&json!({ "reasons": reasons }))?;
        return Ok(CommandOutcome::Well);
    }
    let row = |kind: &ReasonKind| {
        let code = kind.wire_code();
        vec![TableCell::from(code.id).name(), TableCell::from(code.when.replace('`', ""))]
    };
    let rows: Vec<Vec<TableCell>> = ReasonKind::ALL.iter().map(row).collect();
    screen.table(&["reason", "when"], &rows)?;
    Ok(CommandOutcome::Well)
}

fn as_value(kind: ReasonKind) -> Value {
    let code = kind.wire_code();
    json!({ "reason": code.id, "when": code.when, "ownerStep": owner_step(kind), "number": code.number, "code": code.code })
}
