//! Recipes: tools that people and assistants make, as data. A recipe is a list of calls of existing tools; their arguments are
//! templates over its parameters and the results of earlier steps. Nothing here calls a tool or reads a vault: the pipeline
//! does, step by step, with what this crate makes of the templates.
//!
//! A template is read once, from the text of the recipe. What it inserts is a value and is never read as a template again.

mod recipe_arguments;
mod recipe_definition;
mod recipe_name;
mod recipe_values;
mod text_language;
mod text_writer;
mod value_template;
mod yaml_place;

pub use recipe_arguments::ArgumentFault;
pub use recipe_definition::{ParameterKind, Recipe, RecipeParameter, RecipeProblem, RecipeStep, recipe_block};
pub use recipe_name::{RecipeName, is_recipe_name};
pub use recipe_values::{RecipeFault, RecipeValues};
pub use text_language::{TextArgument, TextLanguage, TextLanguages};
pub use value_template::{TemplateExpression, TemplateShape, ValueTemplate};

/// Steps of a recipe.
pub const MOST_STEPS: usize = 20;
/// Items that a step runs for.
pub const MOST_ITEMS: usize = 200;
/// Recipes of a vault.
pub const MOST_RECIPES: usize = 50;
/// A longer definition cannot be reviewed on a page.
pub const LONGEST_DEFINITION: usize = 16 << 10;
/// What all results of one run may take, as JSON.
pub const MOST_RESULT_BYTES: usize = 8 << 20;
