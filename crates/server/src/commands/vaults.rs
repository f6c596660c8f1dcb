//! `lapidary vaults`: prints the configured vaults.

use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, screen::Screen, table::TableCell};
use crate::{assemble::AssembledServer, cli::ListArguments, remote_vault::is_there};

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
            .map(|vault| json!({ "name": vault.name, "path": vault.path, "there": is_there(vault) }))
            .collect();
        screen.json(&json!({ "vaults": vaults }))?;
        return Ok(CommandOutcome::Well);
    }
    let rows: Vec<Vec<TableCell>> = vaults
        .iter()
        .map(|vault| {
            let state = if is_there(vault) { "" } else { "not there" };
            let path = TableCell::from(vault.path.display().to_string()).path();
            vec![TableCell::from(&vault.name).name(), path, TableCell::from(state).warning()]
        })
        .collect();
    screen.table(&["vault", "folder", ""], &rows)?;
    Ok(CommandOutcome::Well)
}
