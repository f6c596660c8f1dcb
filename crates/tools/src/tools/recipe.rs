//! Tools that people and assistants make, as data.

pub(super) mod recipe_create;
pub(super) mod recipe_delete;
pub(super) mod recipe_list;
pub(super) mod recipe_run;
pub(super) mod recipe_show;
pub(super) mod recipe_update;

use lapidary_operation::ToolNeeds;

/// Whether a recipe is enabled depends on what the owner approved.
pub(super) const NEEDS: ToolNeeds = ToolNeeds { approved_recipes: true, ..ToolNeeds::NONE };

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
