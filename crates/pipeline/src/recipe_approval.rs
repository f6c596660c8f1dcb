//! What a person decides about recipes: kept in the state folder, and recorded in the log of the vault like a call.

use std::io;

use lapidary_note::ContentHash;
use lapidary_recipe::Recipe;
use lapidary_tools::{
    ArgumentProblem, Catalogue,
    quote::quoted,
    recipes::{self, RecipeName, approved_hash, definition_in},
};
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

/// What an approval of a recipe means.
pub(crate) const ONCE_APPROVED: &str = "Once approved, it runs without showing its steps again.";

/// A recipe that is to be kept, as a person judges it.
pub(crate) struct RecipeReview {
    /// What it may do, or why it cannot be run.
    pub(crate) words: String,
    pub(crate) definition: String,
}

impl RecipeReview {
    pub(crate) fn of(catalogue: &Catalogue, changes: &ChangeSet) -> Vec<Self> {
        let review = |change: &Change| {
            let name = RecipeName::parse(change.path().name().strip_suffix(".md")?)?;
            let definition = definition_in(change.bytes())?;
            // The tools make no recipe that cannot be run, but a person may edit it before it is approved.
            let words = match Recipe::parse(&definition) {
                Ok(recipe) => match recipes::check(catalogue, &recipe, true) {
                    Ok(facts) => recipes::review(&name, &recipe, &facts),
                    Err(problems) => cannot_run(&problems),
                },
                Err(problems) => cannot_run(&problems.into_iter().map(recipes::problem).collect::<Vec<_>>()),
            };
            Some(Self { words, definition })
        };
        changes.changes.iter().filter_map(review).collect()
    }
}

fn cannot_run(problems: &[ArgumentProblem]) -> String {
    let one = |problem: &ArgumentProblem| match problem.at.as_str() {
        "" => problem.problem.to_string(),
        at => format!("{}: {}", quoted(at), problem.problem),
    };
    let problems: Vec<String> = problems.iter().map(one).collect();
    let said = format!("It cannot be run as it is: {}", problems.join("; "));
    if said.ends_with('?') { said } else { said + "." }
}

impl Executor {
    /// What the recipes of a change by this tool may do, each in a paragraph, for the owner who is about to approve it.
    pub fn recipe_reviews(&self, tool: &str, changes: &ChangeSet) -> Vec<String> {
        let catalogue = &self.grant().profile.catalogue;
        if !catalogue.find(tool).is_ok_and(|entry| entry.spec.keeps_recipes) {
            return Vec::new();
        }
        let reviews = RecipeReview::of(catalogue, changes).into_iter();
        reviews.map(|review| format!("{ONCE_APPROVED} {}", review.words.replace('\n', " "))).collect()
    }

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
        // Disabling what is disabled is not a decision, so the log has no line about it.
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
            // The note is changed by now, so the call has succeeded, and the failure is only reported.
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
