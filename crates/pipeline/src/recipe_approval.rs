//! What a person decides about recipes: kept in the state folder, and recorded in the log of the vault like a call.

use std::io;

use lapidary_note::ContentHash;
use lapidary_tools::recipes::{RecipeName, approved_hash, definition_in};
use lapidary_vault::{Change, ChangeSet, VaultPath};
use serde_json::json;

use crate::{Executor, Principal, ServedVault, clock::iso};

/// What was decided about a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipeDecision {
    /// It may run as this hash of its definition says.
    Approve(ContentHash),
    Disable,
}

impl Executor {
    /// Keeps and records a decision. Whether it changed anything: one that was not approved cannot be disabled.
    pub fn decide_recipe(
        &self,
        served: &ServedVault,
        by: &Principal,
        name: &RecipeName,
        decision: RecipeDecision,
    ) -> io::Result<bool> {
        let is_changed = match decision {
            RecipeDecision::Approve(hash) => served.recipes.approve(name.as_str(), hash).map(|()| true)?,
            RecipeDecision::Disable => served.recipes.disable(name.as_str())?,
        };
        if is_changed {
            let (event, hash) = match decision {
                RecipeDecision::Approve(hash) => ("recipe_approved", Some(hash.to_string())),
                RecipeDecision::Disable => ("recipe_disabled", None),
            };
            // The note is named, so that a caller who may not read it does not learn of it from the log.
            let file = self.setup.recipes.as_ref().map(|folder| format!("{folder}/{name}.md"));
            let mut line = json!({
                "ts": iso(self.now()), "event": event, "client_id": by.label(), "vault": served.vault.name(),
                "recipe": name.as_str(), "file": file, "definition_hash": hash,
            });
            if let Some(facts) = line.as_object_mut() {
                facts.retain(|_, value| !value.is_null());
            }
            self.audit.record_event(&served.log, &line);
        }
        Ok(is_changed)
    }

    /// The recipes that this change makes, under their names: a person has just seen them. Says what went wrong.
    pub(crate) fn keep_approvals(
        &self,
        served: &ServedVault,
        by: &Principal,
        folder: Option<&VaultPath>,
        changes: &ChangeSet,
    ) -> Option<String> {
        let folder = folder?;
        let name_of = |path: &VaultPath| {
            let is_there = path.folder().is_some_and(|found| found == *folder);
            path.name().strip_suffix(".md").filter(|_| is_there).and_then(RecipeName::parse)
        };
        let mut failed = None;
        for change in &changes.changes {
            let Some(name) = name_of(change.path()) else { continue };
            let decision = match change {
                Change::Create { content, .. } | Change::Write { content, .. } => {
                    match definition_in(content.bytes()) {
                        Some(definition) => RecipeDecision::Approve(approved_hash(&name, &definition)),
                        None => continue,
                    }
                }
                Change::Trash { .. } | Change::Delete { .. } => RecipeDecision::Disable,
                _ => continue,
            };
            if let Err(error) = self.decide_recipe(served, by, &name, decision) {
                tracing::warn!("the approval of a recipe cannot be kept: {error}");
                failed = Some(format!(
                    "The approval could not be kept, so it is disabled: `lapidary recipes approve {name}`."
                ));
            }
        }
        failed
    }
}
