//! `lapidary tools`: prints the tools and their status.

use std::io::Write;

use lapidary_tools::CatalogueEntry;
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, screen::Screen, table::TableCell};
use crate::{assemble::AssembledServer, tool_standing};

/// All declared tools: listed, deferred, or off with the reason and how to enable them.
pub(super) fn run(
    as_json: bool,
    assembled: &AssembledServer,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let entries = assembled.executor.grant().profile.catalogue.entries();
    if as_json {
        let tools: Vec<Value> = entries.iter().map(one_as_json).collect();
        screen.json(&json!({ "tools": tools }))?;
    } else {
        let row = |entry: &CatalogueEntry| {
            let spec = &entry.spec;
            let (standing, how) = tool_standing::in_words(entry.standing);
            // What is on needs no reason, so the column has the title instead.
            let how = if how.is_empty() { spec.declaration.title.to_owned() } else { how.to_owned() };
            let is_off = standing == "off";
            let standing = TableCell::from(standing);
            vec![
                TableCell::from(spec.name()).name(),
                TableCell::from(spec.declaration.group.name()),
                TableCell::from(spec.effect.name()),
                if is_off { standing.warning() } else { standing },
                TableCell::from(how),
            ]
        };
        let rows: Vec<_> = entries.iter().map(row).collect();
        screen.table(&["tool", "group", "effect", "standing", ""], &rows)?;
        // A pipe gets the table alone.
        if screen.style.is_terminal {
            let legend = "listed: every client is sent it; deferred: assistants find it with find_tool; lapidary tools NAME shows one";
            let legend = screen.style.wrapped(legend, 0);
            write!(screen, "\n{}", screen.style.faint(&legend))?;
        }
    }
    Ok(CommandOutcome::Well)
}

fn one_as_json(entry: &CatalogueEntry) -> Value {
    let (standing, how) = tool_standing::in_words(entry.standing);
    json!({
        "name": entry.spec.name(),
        "title": entry.spec.declaration.title,
        "group": entry.spec.declaration.group.name(),
        "effect": entry.spec.effect.name(),
        "standing": standing,
        "why": how,
        "description": entry.spec.description(),
        "inputSchema": entry.spec.input(),
    })
}
