//! The index of the vault for a tool: gives up when the call is called off, and says why there is none.

use lapidary_vault::{Files, IndexError, Notes, View};

use crate::{Context, Reason};

pub(crate) fn files<'v>(context: &Context<'_>, view: &'v View) -> Result<&'v Files, Reason> {
    view.files(&|| context.check().is_ok()).map_err(|error| refusal(context, &error))
}

pub(crate) fn notes<'v>(context: &Context<'_>, view: &'v View) -> Result<&'v Notes, Reason> {
    view.notes(&|| context.check().is_ok()).map_err(|error| refusal(context, &error))
}

fn refusal(context: &Context<'_>, error: &IndexError) -> Reason {
    match error {
        IndexError::Stopped => context.check().err().unwrap_or(Reason::Internal),
        IndexError::Store(error) => Reason::from_vault(error),
    }
}
