//! One operation of a batch: another tool, planned on what those before it leave.

use lapidary_vault::{ChangeSet, View};
use serde_json::{Map, Value, json};

use crate::{Checked, Context, Planned, Reason, check_arguments, reason::clipped};

/// The argument that names the vault; all operations of a batch are about one.
const VAULT: &str = "vault";
/// How the two families ask for a change that is only shown.
const DRY_RUN: [&str; 2] = ["dry_run", "dryRun"];

/// What an operation would answer.
pub(crate) struct Done {
    pub(crate) tool: &'static str,
    pub(crate) output: Map<String, Value>,
    dry_run: &'static str,
}

impl Done {
    /// The answer of an operation that was not made after all.
    pub(crate) fn into_dry_run(mut self) -> Map<String, Value> {
        self.output.insert(self.dry_run.to_owned(), json!(true));
        self.output
    }
}

/// Plans an operation under its own name: the tool must be on, its arguments right, and its changes allowed.
pub(crate) fn plan(
    context: &Context<'_>,
    view: &View,
    tool: &str,
    mut arguments: Map<String, Value>,
    dry_run: bool,
) -> Result<(ChangeSet, Done), Reason> {
    let unknown =
        |nearest: Option<&str>| Reason::ToolUnknown { name: clipped(tool), nearest: nearest.map(str::to_owned) };
    let entry = context.catalogue.find(tool).map_err(|missing| unknown(missing.nearest))?;
    let name = entry.spec.name();
    entry.authorize()?;
    if !entry.spec.in_batches {
        return Err(Reason::NotInBatch { tool: name.to_owned() });
    }
    match arguments.remove(VAULT) {
        None | Some(Value::Null) => {}
        Some(Value::String(given)) if given == view.vault() => {}
        Some(given) => {
            let given = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
            return Err(Reason::OtherVault { given: clipped(&given), vault: view.vault().to_owned() });
        }
    }
    // With several vaults the schema asks for one.
    if entry.spec.takes(VAULT) {
        arguments.insert(VAULT.to_owned(), json!(view.vault()));
    }
    let Checked { mut arguments, repairs } = check_arguments(name, &entry.spec.input, arguments)?;
    arguments.remove(VAULT);
    // Whether anything is written is for the batch to say.
    let dry = DRY_RUN
        .into_iter()
        .find(|argument| entry.spec.takes(argument))
        .ok_or_else(|| bug!("`{name}` has no argument for a dry run"))?;
    arguments.insert(dry.to_owned(), json!(dry_run));
    let Planned::Change { changes, mut output, .. } = entry.tool.plan(context, Some(view), arguments)? else {
        return Err(bug!("`{name}` in a batch planned no change"));
    };
    context.gate.judge(&entry.spec, &changes)?;
    if !repairs.is_empty() {
        output.insert("notice".to_owned(), json!(format!("Arguments repaired: {}.", repairs.join("; "))));
    }
    Ok((changes, Done { tool: name, output, dry_run: dry }))
}
