//! `lapidary vaults`: prints the configured vaults.

use std::io::Write;

use lapidary_tools::quote::one_line;
use lapidary_vault::store::folder_exists;
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, print_json, table};
use crate::{assemble::AssembledServer, cli::ListArguments};

/// The vaults that would be served.
pub(super) fn run(
    listing: ListArguments,
    assembled: &AssembledServer,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let vaults = &assembled.vaults;
    if listing.json {
        let vaults: Vec<Value> = vaults
            .iter()
            .map(|vault| json!({ "name": vault.name, "path": vault.path, "there": folder_exists(&vault.path) }))
            .collect();
        print_json(out, &json!({ "vaults": vaults }))?;
    } else {
        let rows: Vec<[String; 2]> = vaults
            .iter()
            .map(|vault| [one_line(&vault.name).into_owned(), one_line(&vault.path.display().to_string()).into_owned()])
            .collect();
        table::print(out, &rows)?;
    }
    Ok(CommandOutcome::Well)
}
