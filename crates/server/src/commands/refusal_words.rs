//! What a refusal says to the person at the command line. The hints of reasons are for models: they name tools and arguments.

use lapidary_tools::{OfferedTools, Reason, quote::quoted_path};

use super::call::OwnerCalls;

/// What is wrong, and the command that helps.
pub(super) fn refusal_words(reason: &Reason, calls: OwnerCalls<'_>) -> String {
    let command = |words: &str| calls.hint.command(words);
    let hint = match reason {
        // With `--demo` there is never a next command, so advice to run one would mislead.
        Reason::NothingToUndo | Reason::CheckpointMissing { .. } if calls.hint.next_command("").is_none() => {
            "Each command with --demo has a new copy of the vault, in which nothing has been changed.".to_owned()
        }
        Reason::NothingToUndo => {
            return format!("there is nothing to undo\n{} shows all changes", command("checkpoints"));
        }
        Reason::CheckpointMissing { .. } | Reason::VersionMissing { .. } => {
            format!("{} shows the changes that are kept.", command("checkpoints"))
        }
        Reason::ChangedSince { id, .. } => format!(
            "{} shows what would be lost; {} undoes it anyway.",
            command(&format!("checkpoints diff {id}")),
            command(&format!("checkpoints restore {id}"))
        ),
        Reason::VaultRequired { names } => format!("Choose one with --vault: {}.", names.join(", ")),
        Reason::ApprovalPending { id, .. } => {
            format!("Review it at a terminal: {}", command(&format!("approvals accept {id}")))
        }
        Reason::Declined { .. } => return "nothing was changed".to_owned(),
        Reason::PathForbidden { .. } => {
            format!("{} shows what may be read and changed.", command("config show"))
        }
        Reason::PeriodicNotFound { path: Some(path), .. } => {
            format!("It would be {}. Add a text or --create to make it.", quoted_path(path))
        }
        // The arguments are ours; to compare them with a schema does not help.
        Reason::InvalidArguments { .. } => String::new(),
        Reason::RecipeArguments { recipe, .. } => {
            format!("{} shows its parameters.", command(&format!("recipes show {recipe}")))
        }
        Reason::RecipeMissing { nearest: Some(nearest), .. } => format!("Did you mean {nearest}?"),
        Reason::RecipeMissing { .. } => format!("{} lists the recipes of the vault.", command("recipes")),
        Reason::RecipeInvalid { name: Some(name), .. } => {
            format!("{} says what is wrong with it as it is now.", command(&format!("recipes check {name}")))
        }
        Reason::RecipeDisabled { name } => {
            format!("Review it: {}", command(&format!("recipes approve {name}")))
        }
        Reason::RecipeStopped { recipe: Some(recipe), .. } => {
            format!("{} shows its steps.", command(&format!("recipes show {recipe}")))
        }
        _ => {
            let offered = OfferedTools::of(&calls.assembled.executor.grant().profile.catalogue);
            reason.hint(&offered)
        }
    };
    let words = reason.to_string();
    if hint.is_empty() { words } else { format!("{words}\n{hint}") }
}
