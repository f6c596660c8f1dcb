//! The note that is open in the app, as a path: before anything is planned, so that policy and rules see a path like any other.

use lapidary_tools::{AppFault, AppNeed, Reason, ToolSpec};
use lapidary_vault::{VaultPath, View};
use serde_json::{Map, Value};

use crate::execution::Execution;

/// Puts the path of the open note into arguments that mean it. A note that the caller may not read is not open for it, and
/// neither is one that is not in this vault.
pub(crate) fn name(
    execution: &Execution<'_>,
    spec: &ToolSpec,
    arguments: &mut Map<String, Value>,
    view: &View,
) -> Result<Option<VaultPath>, Reason> {
    if !spec.means_active_note(arguments) {
        return Ok(None);
    }
    let path = open_note(execution)?.and_then(|path| VaultPath::parse(&path).ok());
    let path = path.filter(|path| view.stamp(path).is_some()).ok_or(Reason::NoActiveFile)?;
    spec.put_path(arguments, &path);
    Ok(Some(path))
}

/// What the app says, asked once: all steps of a batch, and a plan that is made again, mean the same note.
fn open_note(execution: &Execution<'_>) -> Result<Option<String>, Reason> {
    if let Some(known) = execution.open_note.get() {
        return Ok(known.clone());
    }
    execution.cancel.check()?;
    let app = execution.concerned_vault().app.as_deref();
    let asked = app.map_or(Err(AppFault::NotSetUp), |app| app.active_note(execution.cancel.left()));
    let path = asked.map_err(|fault| Reason::AppUnavailable { fault, need: AppNeed::ActiveNote })?;
    Ok(execution.open_note.get_or_init(|| path).clone())
}
