//! `lapidary vaults`: prints the configured vaults.

use lapidary_vault::store::folder_exists;
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, screen::Screen, table::TableCell};
use crate::{assemble::AssembledServer, cli::ListArguments};

/// The vaults that would be served.
pub(super) fn run(
    listing: ListArguments,
    assembled: &AssembledServer,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let vaults = &assembled.vaults;
    if listing.json {
        let vaults: Vec<Value> = vaults
            .iter()
            .map(|vault| json!({ "name": vault.name, "path": vault.path, "there": folder_exists(&vault.path) }))
            .collect();
        screen.json(&json!({ "vaults": vaults }))?;
        return Ok(CommandOutcome::Well);
    }
    let rows: Vec<Vec<TableCell>> = vaults
        .iter()
        .map(|vault| {
            let state = if folder_exists(&vault.path) { "" } else { "not there" };
            let path = TableCell::from(vault.path.display().to_string()).path();
            vec![TableCell::from(&vault.name).name(), path, TableCell::from(state).warning()]
        })
        .collect();
    screen.table(&["vault", "folder", ""], &rows)?;
    Ok(CommandOutcome::Well)
}
