use std::io::Write;

use lapidary_tools::{Entry, Off, Standing};
use serde_json::{Value, json};

use super::{Done, Failure, print_json, table};
use crate::{assemble::Assembled, cli::Listing};

/// Everything that is declared: listed, deferred, or off with the reason and how to switch it on.
pub(super) fn run(listing: Listing, assembled: &Assembled, out: &mut dyn Write) -> Result<Done, Failure> {
    let entries = assembled.executor.grant().profile.catalogue.entries();
    if listing.json {
        let tools: Vec<Value> = entries.iter().map(as_json).collect();
        print_json(out, &json!({ "tools": tools }))?;
    } else {
        let row = |entry: &Entry| {
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
    Ok(Done::Well)
}

fn as_json(entry: &Entry) -> Value {
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

fn standing(standing: Standing) -> (&'static str, &'static str) {
    match standing {
        Standing::Listed => ("listed", ""),
        Standing::Deferred => ("deferred", ""),
        Standing::Off(Off::ReadOnly) => ("off", "read-only; start without --read-only and OBSIDIAN_READ_ONLY"),
        Standing::Off(Off::Excluded) => ("off", "excluded; take it out of --exclude-tools"),
        Standing::Off(Off::Profile) => ("off", "not in the profile; choose another with --profile"),
        Standing::Off(Off::Scope) => ("off", "not covered by the scopes of the token"),
        Standing::Off(Off::NotChosen) => ("off", "not chosen; add it to --tools, or add `default`"),
    }
}
