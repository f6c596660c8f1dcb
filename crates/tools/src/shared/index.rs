use lapidary_vault::{Files, Notes, View};

use crate::{Context, Reason};

/// The files of the vault, as far as the caller may see them.
pub(crate) fn files<'v>(context: &Context<'_>, view: &'v View) -> Result<&'v Files, Reason> {
    view.files(&|| context.check().is_ok()).map_err(|error| Reason::from_index(&error, context.cancel))
}

/// The same for a tool that is going to search them.
pub(crate) fn files_to_search<'v>(context: &Context<'_>, view: &'v View) -> Result<&'v Files, Reason> {
    view.files_to_search(&|| context.check().is_ok()).map_err(|error| Reason::from_index(&error, context.cancel))
}

/// The same, with what stands in each note.
pub(crate) fn notes<'v>(context: &Context<'_>, view: &'v View) -> Result<&'v Notes, Reason> {
    view.notes(&|| context.check().is_ok()).map_err(|error| Reason::from_index(&error, context.cancel))
}
