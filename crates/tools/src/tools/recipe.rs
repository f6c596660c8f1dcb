//! Tools that people and assistants make, as data.

pub(super) mod recipe_create;
pub(super) mod recipe_delete;
pub(super) mod recipe_list;
pub(super) mod recipe_run;
pub(super) mod recipe_show;
pub(super) mod recipe_update;

use lapidary_operation::{
    ArgumentProblem, Context, Reason, ToolNeeds,
    fence::fenced,
    quote::{quoted, visible},
};
use lapidary_recipe::RecipeName;
use lapidary_toolkit::{
    foreign_text::FOREIGN,
    hash, reading,
    recipes::{self, KeptRecipe, RecipeFacts},
};
use lapidary_vault::{ContentGuard, File, VaultPath, View};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// Whether a recipe is enabled depends on what the owner approved.
pub(super) const NEEDS: ToolNeeds = ToolNeeds { approved_recipes: true, ..ToolNeeds::NONE };

/// What is answered about a recipe that is to be kept.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecipeOutput {
    name: String,
    path: String,
    effect: &'static str,
    /// The tools that it calls.
    tools: Vec<&'static str>,
    dry_run: bool,
}

impl RecipeOutput {
    fn new(name: &RecipeName, path: &VaultPath, facts: RecipeFacts, dry_run: bool) -> Self {
        let (effect, tools) = (facts.effect.name(), facts.tools);
        Self { name: name.to_string(), path: path.to_string(), effect, tools, dry_run }
    }

    /// In a line, with what is or would be done.
    fn text(&self, would: &str, done: &str) -> String {
        let Self { name, effect, dry_run, path, .. } = self;
        let done = if *dry_run { format!("Dry run: would {would}") } else { done.to_owned() };
        format!("{done} {name} ({effect}) in {}", quoted(path))
    }
}

/// A recipe that is to be changed or deleted.
struct ChangedRecipe {
    kept: KeptRecipe,
    before: Arc<File>,
    guard: ContentGuard,
}

impl ChangedRecipe {
    /// By its name, with its note as the caller expects it.
    fn find(
        context: &Context<'_>,
        view: &View,
        (tool, argument): (&'static str, &'static str),
        name: &str,
        expected: Option<&str>,
    ) -> Result<Self, Reason> {
        let kept = recipes::find(context, view, name)?;
        let expected = hash::expected(tool, argument, expected)?;
        let before = reading::read(view, &kept.path)?;
        hash::check(&kept.path, argument, expected.as_ref(), Some(&before))?;
        // Without a hash from the caller, the plan may be made again if the note changes in between.
        let guard = if expected.is_some() { ContentGuard::Caller } else { ContentGuard::Plan };
        Ok(Self { kept, before, guard })
    }
}

/// What a run answers, marked as what it may be: a page reads like the notes beside it otherwise.
pub(super) fn marked(answer: String, is_foreign: bool) -> String {
    if is_foreign { format!("{FOREIGN}\n{}", fenced(&visible(&answer))) } else { answer }
}

/// Why a recipe that can be read does not run, and what to do.
fn not_approved(name: &RecipeName) -> String {
    format!("not approved as it is; the owner can review it: `lapidary recipes approve {name}`")
}

fn in_words(problem: &ArgumentProblem) -> String {
    match problem.at.as_str() {
        "" => problem.problem.to_string(),
        at => format!("{}: {}", quoted(at), problem.problem),
    }
}

/// That some steps saw only a part.
pub(super) fn cut_text(cut: &[String]) -> String {
    match cut {
        [] => String::new(),
        cut => format!("\nOnly the first part was used of: {}", cut.join(", ")),
    }
}

/// A small recipe for examples, with what its run gives.
pub(super) const GREET: &str = "description: Greet a person in a new note.
parameters:
  name: text
steps:
  - id: made
    tool: file_create
    with:
      file: \"People/{{ name }}.md\"
      content: \"Hello {{ name }}!\\n\"
answer: \"{{ made.file }}\"
";

/// The same as a note.
pub(super) const GREET_NOTE: &str = "```recipe
description: Greet a person in a new note.
parameters:
  name: text
steps:
  - id: made
    tool: file_create
    with:
      file: \"People/{{ name }}.md\"
      content: \"Hello {{ name }}!\\n\"
answer: \"{{ made.file }}\"
```
";
