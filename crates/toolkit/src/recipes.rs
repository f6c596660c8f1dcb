//! Recipes of a vault: notes in the folder that the owner names, each with its definition in a code block `recipe`. They are read
//! through the view, so a caller who may not read one does not know of it; and one runs only as the owner approved it here.

mod checking;

use lapidary_note::{ContentHash, quoted};
use lapidary_operation::{
    ArgumentProblem, Catalogue, Context, Effect, Reason, RunnableRecipe, bug, clipped, quote::Prose,
};
use lapidary_query::nearest;
use lapidary_recipe::{MOST_RECIPES, ParameterKind, Recipe, RecipeProblem, recipe_block};
use lapidary_vault::{
    ReadError, VaultPath, View,
    store::{EntryKind, FolderEntry, StoreError},
};
use serde_json::{Map, Value};

use crate::{folder::FolderTarget, index, naming, reading};

pub use checking::{RecipeFacts, ResultField, StepUse, check, result_field, step_use};
pub use lapidary_recipe::RecipeName;

/// Longer notes are not read: a recipe fits on a page.
const LONGEST_NOTE: usize = 64 << 10;

/// A recipe in the folder.
pub struct KeptRecipe {
    pub name: RecipeName,
    pub path: VaultPath,
    /// The hash of its note, for a change that expects it.
    pub note: ContentHash,
    pub state: RecipeState,
}

/// What can be said of a recipe without the tools.
pub enum RecipeState {
    /// Its note or its definition cannot be read as one.
    Broken {
        /// As far as there is one, so that it can be corrected.
        definition: Option<String>,
        problems: Vec<ArgumentProblem>,
    },
    Read {
        definition: String,
        recipe: Recipe,
        is_approved: bool,
    },
}

/// Whether a caller can run a recipe.
pub enum RecipeStanding {
    Enabled(RecipeFacts),
    /// The owner has not approved it as it is.
    NotApproved(RecipeFacts),
    Broken(Vec<ArgumentProblem>),
}

/// The folder of recipes. Its tools are off while there is none.
pub fn folder<'c>(context: &Context<'c>) -> Result<&'c VaultPath, Reason> {
    context.recipes.folder.ok_or_else(|| bug!("a recipe tool is on without a folder"))
}

/// Where the note of a recipe is.
pub fn path_of(context: &Context<'_>, name: &RecipeName) -> Result<VaultPath, Reason> {
    let folder = folder(context)?;
    VaultPath::parse(&format!("{folder}/{name}.md"))
        .map_err(|error| bug!("the name of a recipe is not a path: {error}"))
}

/// Identifies what the owner approves: the definition, under its name.
pub fn approved_hash(name: &RecipeName, definition: &str) -> ContentHash {
    ContentHash::of(format!("{name}\n{definition}").as_bytes())
}

/// All that are loaded and that the caller may read, by name.
pub fn all(context: &Context<'_>, view: &View) -> Result<Vec<KeptRecipe>, Reason> {
    let mut recipes = Vec::new();
    for (name, path) in named(context, view)?.into_iter().take(MOST_RECIPES) {
        context.check()?;
        recipes.extend(read(context, view, name, path)?);
    }
    Ok(recipes)
}

/// Those in the folder that are one too many.
pub fn not_loaded(context: &Context<'_>, view: &View) -> Result<Vec<RecipeName>, Reason> {
    Ok(named(context, view)?.into_iter().skip(MOST_RECIPES).map(|(name, _)| name).collect())
}

/// Whether the folder has as many recipes as are loaded.
pub fn are_full(context: &Context<'_>, view: &View) -> Result<bool, Reason> {
    Ok(named(context, view)?.len() >= MOST_RECIPES)
}

/// Why a recipe is not loaded.
pub fn too_many() -> Prose {
    Prose::ours(format_args!(
        "not loaded: of the recipes in the folder, only the first {MOST_RECIPES} by name are; delete or move others"
    ))
}

/// The notes of the folder that have the name of a recipe.
fn named(context: &Context<'_>, view: &View) -> Result<Vec<(RecipeName, VaultPath)>, Reason> {
    let Some(folder) = context.recipes.folder else { return Ok(Vec::new()) };
    let entries = match view.list(Some(folder)) {
        Ok(entries) => entries,
        // Closed to this caller, or not made yet.
        Err(ReadError::Denied(_)) => return Ok(Vec::new()),
        Err(ReadError::Store(StoreError::Missing | StoreError::NotAFile)) => {
            return Ok(Vec::new());
        }
        Err(ReadError::Store(error)) => return Err(Reason::from_store(folder, &error, false)),
    };
    let name = |entry: FolderEntry| Some((RecipeName::parse(entry.path.name().strip_suffix(".md")?)?, entry.path));
    let files = entries.into_iter().filter(|entry| entry.kind == EntryKind::File && view.shows(&entry.path));
    let mut named: Vec<(RecipeName, VaultPath)> = files.filter_map(name).collect();
    named.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(named)
}

/// One by its name.
pub fn find(context: &Context<'_>, view: &View, given: &str) -> Result<KeptRecipe, Reason> {
    let found = match RecipeName::parse(given) {
        Some(name) => {
            let path = path_of(context, &name)?;
            read(context, view, name, path)?
        }
        None => None,
    };
    match found {
        Some(recipe) if not_loaded(context, view)?.contains(&recipe.name) => {
            let definition = match recipe.state {
                RecipeState::Broken { definition, .. } => definition,
                RecipeState::Read { definition, .. } => Some(definition),
            };
            Ok(KeptRecipe { state: RecipeState::Broken { definition, problems: vec![whole(too_many())] }, ..recipe })
        }
        Some(recipe) => Ok(recipe),
        None => {
            let all = all(context, view)?;
            let nearest = nearest(given, all.iter().map(|recipe| recipe.name.as_str())).map(str::to_owned);
            Err(Reason::RecipeMissing { name: clipped(given), nearest })
        }
    }
}

fn read(context: &Context<'_>, view: &View, name: RecipeName, path: VaultPath) -> Result<Option<KeptRecipe>, Reason> {
    // One that is closed to the caller is not there.
    let Some(file) = reading::read_if_there(view, &path).or_else(|reason| match reason {
        Reason::PathForbidden { .. } => Ok(None),
        other => Err(other),
    })?
    else {
        return Ok(None);
    };
    let state = match definition_of(&path, &file) {
        Err(problem) => RecipeState::Broken { definition: None, problems: vec![whole(problem)] },
        Ok(definition) => match Recipe::parse(&definition) {
            Err(problems) => RecipeState::Broken {
                definition: Some(definition),
                problems: problems.into_iter().map(problem).collect(),
            },
            Ok(recipe) => {
                let approved = context.recipes.approved.and_then(|approved| approved.get(name.as_str()));
                let is_approved = approved == Some(&approved_hash(&name, &definition));
                RecipeState::Read { definition, recipe, is_approved }
            }
        },
    };
    Ok(Some(KeptRecipe { name, path, note: file.hash(), state }))
}

fn definition_of(path: &VaultPath, file: &lapidary_vault::File) -> Result<String, Prose> {
    if file.content.len() > LONGEST_NOTE {
        return Err(Prose::ours(format_args!("its note is longer than {LONGEST_NOTE} bytes")));
    }
    let shown = reading::show(path, file).map_err(|_| Prose::from("its note is not text"))?;
    recipe_block(shown.text()).map_err(|problem| Prose::ours(format_args!("its note {problem}")))
}

/// The definition in the bytes of a note, for an approval.
pub fn definition_in(note: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(note).ok()?;
    recipe_block(&text.replace("\r\n", "\n")).ok()
}

impl KeptRecipe {
    /// Whether a caller who has these tools can run it.
    pub fn standing(&self, catalogue: &Catalogue) -> RecipeStanding {
        match &self.state {
            RecipeState::Broken { problems, .. } => RecipeStanding::Broken(problems.clone()),
            RecipeState::Read { recipe, is_approved, .. } => match check(catalogue, recipe, true) {
                Ok(facts) if *is_approved => RecipeStanding::Enabled(facts),
                Ok(facts) => RecipeStanding::NotApproved(facts),
                Err(problems) => RecipeStanding::Broken(problems),
            },
        }
    }

    pub fn recipe(&self) -> Option<&Recipe> {
        match &self.state {
            RecipeState::Read { recipe, .. } => Some(recipe),
            RecipeState::Broken { .. } => None,
        }
    }
}

/// Refuses a recipe with a step that the caller may not call, as that call would be refused.
pub fn authorize(catalogue: &Catalogue, recipe: &Recipe) -> Result<(), Reason> {
    for (index, step) in recipe.steps.iter().enumerate() {
        // A tool that does not exist is a mistake of the recipe, which its check names.
        if let Ok(entry) = catalogue.find(&step.tool)
            && !entry.is_internal()
        {
            let in_step = |reason| Reason::InStep { list: "steps", index, reason: Box::new(reason) };
            entry.authorize().map_err(in_step)?;
        }
    }
    Ok(())
}

/// The recipes of a vault that a caller can run.
pub fn runnable(context: &Context<'_>, view: &View) -> Result<Vec<RunnableRecipe>, Reason> {
    let found = all(context, view)?;
    let one = |kept: &KeptRecipe| {
        let RecipeStanding::Enabled(facts) = kept.standing(context.catalogue) else { return None };
        let recipe = kept.recipe()?;
        Some(RunnableRecipe {
            name: kept.name.to_string(),
            vault: view.vault().to_owned(),
            description: recipe.description.clone(),
            arguments: arguments(recipe),
            effect: facts.effect,
        })
    };
    Ok(found.iter().filter_map(one).collect())
}

/// The arguments of a run, with names of notes and folders as their paths. What is not a text is left to the check of the types.
pub fn with_paths(
    context: &Context<'_>,
    view: &View,
    recipe: &Recipe,
    mut arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Reason> {
    for parameter in &recipe.parameters {
        let sent = arguments.get(&parameter.name).filter(|value| !value.is_null());
        let Some(Value::String(given)) = sent.or(parameter.default.as_ref()) else { continue };
        let path = match parameter.kind {
            ParameterKind::Note => naming::find(context, view, given)?.path.to_string(),
            ParameterKind::Folder => {
                let files = index::files(context, view)?;
                FolderTarget::named(view, files, given)?.map_or(String::new(), |folder| folder.to_string())
            }
            _ => continue,
        };
        arguments.insert(parameter.name.clone(), Value::String(path));
    }
    Ok(arguments)
}

/// Its parameters in a line, like `title: text, limit?: number`.
pub fn arguments(recipe: &Recipe) -> String {
    let one = |parameter: &lapidary_recipe::RecipeParameter| {
        let optional = if parameter.default.is_some() { "?" } else { "" };
        format!("{}{optional}: {}", parameter.name, parameter.kind.name())
    };
    recipe.parameters.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A problem of a definition as a refusal has it. Its words quote what is foreign.
pub fn problem(RecipeProblem { at, problem }: RecipeProblem) -> ArgumentProblem {
    ArgumentProblem { at, problem: Prose::ours(problem), nearest: None }
}

fn whole(problem: Prose) -> ArgumentProblem {
    ArgumentProblem { at: String::new(), problem, nearest: None }
}

/// A definition that is to be kept: read, and checked against the tools.
pub fn checked(context: &Context<'_>, name: &str, definition: &str) -> Result<(Recipe, RecipeFacts), Reason> {
    let invalid = |problems| Reason::RecipeInvalid { name: Some(clipped(name)), problems };
    // The note must give back the same definition.
    if definition.lines().any(|line| line.trim_start().starts_with("```")) {
        return Err(invalid(vec![whole("a line begins with ```, which would end the code block of its note".into())]));
    }
    let recipe = Recipe::parse(definition).map_err(|problems| invalid(problems.into_iter().map(problem).collect()))?;
    let facts = check(context.catalogue, &recipe, true).map_err(invalid)?;
    Ok((recipe, facts))
}

/// The definition as it is kept: with one line break at its end.
pub fn in_form(definition: &str) -> String {
    format!("{}\n", definition.trim_matches(['\n', '\r']).trim_end())
}

/// The code block of a note.
pub fn block(definition: &str) -> String {
    format!("```recipe\n{definition}```\n")
}

/// The note with another definition.
pub fn with_definition(note: &str, definition: &str) -> Option<String> {
    let old = recipe_block(note).ok()?;
    let start = note.match_indices("```recipe").map(|(at, _)| at).find(|at| *at == 0 || note[..*at].ends_with('\n'))?;
    let body = start + note[start..].find('\n')? + 1;
    note[body..].starts_with(&old).then(|| format!("{}{definition}{}", &note[..body], &note[body + old.len()..]))
}

/// What is said of a recipe with a step that fetches pages: an address can carry what was read before.
pub const REACHES_WEB: &str = "It reaches the web: the addresses that it fetches can carry text of your notes.";

/// Where a recipe writes, for a sentence.
pub fn places_in_words<'p>(places: impl Iterator<Item = &'p str>) -> String {
    let one = |place: &str| if place == checking::FOUND_NOTES { place.to_owned() } else { quoted(place).to_string() };
    places.map(one).collect::<Vec<_>>().join(", ")
}

/// What a recipe may do, as a person reads it before it is approved.
pub fn review(name: &RecipeName, recipe: &Recipe, facts: &RecipeFacts) -> String {
    let effect = match facts.effect {
        Effect::Read => "It only reads.",
        Effect::Write => "It changes notes; every run can be undone.",
        Effect::Destroy => "It can delete permanently.",
    };
    let tools: Vec<String> = facts.tools.iter().map(|tool| format!("`{tool}`")).collect();
    let mut text =
        format!("{}: {}\n{effect} It calls {}.", quoted(name.as_str()), quoted(&recipe.description), tools.join(", "));
    if !facts.places.is_empty() {
        text += &format!(" It writes to {}.", places_in_words(facts.places.iter().map(String::as_str)));
    }
    if facts.reaches_web {
        text += &format!(" {REACHES_WEB}");
    }
    text
}
