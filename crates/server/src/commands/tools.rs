//! `lapidary tools`: prints the tools and their status.

use std::io::Write;

use lapidary_tools::CatalogueEntry;
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, print_json, table};
use crate::{assemble::AssembledServer, tool_standing};

/// All declared tools: listed, deferred, or off with the reason and how to enable them.
pub(super) fn run(
    as_json: bool,
    assembled: &AssembledServer,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let entries = assembled.executor.grant().profile.catalogue.entries();
    if as_json {
        let tools: Vec<Value> = entries.iter().map(one_as_json).collect();
        print_json(out, &json!({ "tools": tools }))?;
    } else {
        let row = |entry: &CatalogueEntry| {
            let spec = &entry.spec;
            let (standing, how) = tool_standing::in_words(entry.standing);
            let how = if how.is_empty() { spec.declaration.title.to_owned() } else { how.to_owned() };
            [
                spec.name().to_owned(),
                spec.declaration.group.name().to_owned(),
                spec.effect.name().to_owned(),
                standing.to_owned(),
                how,
            ]
        };
        table::print(out, &entries.iter().map(row).collect::<Vec<_>>())?;
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
