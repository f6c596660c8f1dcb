//! `lapidary tools`: prints the tools and their status.

use std::io::Write;

use lapidary_tools::{CatalogueEntry, OffReason, ToolStanding};
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, print_json, table};
use crate::{assemble::AssembledServer, cli::ListArguments};

/// All declared tools: listed, deferred, or off with the reason and how to enable them.
pub(super) fn run(
    listing: ListArguments,
    assembled: &AssembledServer,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let entries = assembled.executor.grant().profile.catalogue.entries();
    if listing.json {
        let tools: Vec<Value> = entries.iter().map(as_json).collect();
        print_json(out, &json!({ "tools": tools }))?;
    } else {
        let row = |entry: &CatalogueEntry| {
            let spec = &entry.spec;
            let (standing, how) = standing(entry.standing);
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

fn as_json(entry: &CatalogueEntry) -> Value {
    let (standing, how) = standing(entry.standing);
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

fn standing(standing: ToolStanding) -> (&'static str, &'static str) {
    match standing {
        ToolStanding::Listed => ("listed", ""),
        ToolStanding::Deferred => ("deferred", ""),
        ToolStanding::Off(OffReason::ReadOnly) => {
            ("off", "read-only; start without --read-only and OBSIDIAN_READ_ONLY")
        }
        ToolStanding::Off(OffReason::Excluded) => ("off", "excluded; remove it from --exclude-tools"),
        ToolStanding::Off(OffReason::Profile) => ("off", "not in the profile; choose another with --profile"),
        ToolStanding::Off(OffReason::Scope) => ("off", "not covered by the scopes of the token"),
        ToolStanding::Off(OffReason::NotChosen) => ("off", "not chosen; add it to --tools, or add `default`"),
    }
}
