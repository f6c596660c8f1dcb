//! Changes a base.

use std::collections::BTreeMap;

use lapidary_note::{LinkOutcome, LinkPlace};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    base_edit::{self, BaseParts, BaseWritten},
    file_edit::{FileEdit, FileInput},
    references::{NoteReferences, ReferencesOutput},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct BaseUpdate;

/// Change filters, formulas, properties, summaries and views of an Obsidian Base; all that is not named stays as it is
/// written, comments and order too.
///
/// A formula, property, summary or key of a view with `null` is deleted. A view is found by its `name` and gets the keys
/// sent; one that is not there is added.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    #[serde(flatten)]
    parts: BaseParts,
    /// `filters`, `formulas.NAME`, `properties.ID`, `summaries.NAME`, `views.NAME`.
    #[serde(default)]
    remove: Vec<String>,
    /// Old and new names of views. Embeds of them (`![[Books.base#Old]]`) and links follow.
    #[serde(default)]
    rename_views: BTreeMap<String, String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    base: BaseWritten,
    #[serde(flatten)]
    references: ReferencesOutput,
}

impl WriteTool for BaseUpdate {
    const DECLARATION: Declaration = Declaration {
        name: "base_update",
        dotted: Some("base.update"),
        title: "Change a base",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::StalePrecondition, ReasonKind::EditRefused],
        words: "change edit obsidian base bases view filter formula column sort group yaml",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[
        TextArgument::new("/filters/**", TextLanguage::Formula),
        TextArgument::new("/formulas/*", TextLanguage::Formula),
        TextArgument::new("/summaries/*", TextLanguage::Formula),
        TextArgument::new("/views/*/filters/**", TextLanguage::Formula),
    ];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        let editing = FileEdit::begin(tool, context, view, input.file)?;
        base_edit::check_ending(tool, editing.path())?;
        let document = editing.document()?;
        let before = document.shown();
        // All steps are found in the base as it was, so that their order does not matter to the caller.
        let value = base_edit::base_value(tool, before)?;
        let mut steps = input.parts.steps(tool, &value)?;
        for (old, new) in &input.rename_views {
            steps.push(base_edit::view_renaming(tool, old, new, &value)?);
        }
        steps.extend(base_edit::removals(tool, &input.remove, &value)?);
        base_edit::check_changes(tool, &input.parts, &steps)?;
        let after = base_edit::edited(before, &steps).map_err(|error| editing.refusal(error))?;
        // Compared with the problems of the old text, which must not block an edit of another part.
        let problems = base_edit::checked(tool, Some(before), &after)?;
        // The edit works on the text as shown; byte order mark and line endings are put back.
        let content = document.in_own_form(&after);
        let (others, references) = match input.rename_views.is_empty() {
            true => (Vec::new(), ReferencesOutput::default()),
            false => {
                let follow = |place: &LinkPlace<'_>| renamed(place, &input.rename_views);
                NoteReferences::to(context, view, editing.path())?.elsewhere(context, view, &follow)?
            }
        };
        let mut plan =
            editing.plan_content(content, |written| Output { base: BaseWritten { written, problems }, references });
        plan.changes.changes.extend(others);
        Ok(plan)
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(output.base.text(&format!("changed{}", output.references.text())))
    }

    fn examples(&self) -> Vec<Example> {
        const BASE: &str = "# What I read\nfilters: file.hasTag(\"book\")\nformulas:\n  left: pages - read # to go\nviews:\n  - type: \
                            table\n    name: All\n    order: [file.name]\n  - type: cards\n    name: Covers\n";
        const EDITED: &str = "# What I read\nfilters: file.hasTag(\"book\")\nformulas:\n  left: pages - read # to go\n  share: (read / \
                              pages).round(2)\nviews:\n  - type: table\n    name: All\n    order: [file.name]\n    limit: 10\n  - \
                              type: cards\n    name: Covers\n  - type: list\n    name: Open\n    filters: formula.left > 0\n";
        const BASES: &[(&str, &str)] = &[("Books.base", BASE)];
        vec![
            Example {
                says: "A formula and a view more, and a limit for one that is there",
                before: BASES,
                input: json!({
                    "file": "Books.base",
                    "formulas": { "share": "(read / pages).round(2)" },
                    "views": [
                        { "name": "All", "limit": 10 },
                        { "name": "Open", "type": "list", "filters": "formula.left > 0" },
                    ],
                }),
                gives: ExampleResult::Including(json!({ "changed": true })),
                after: &[("Books.base", EDITED)],
            },
            Example {
                says: "A view and the filters go",
                before: BASES,
                input: json!({ "file": "Books.base", "remove": ["views.Covers", "filters"] }),
                gives: ExampleResult::Including(json!({ "changed": true })),
                after: &[(
                    "Books.base",
                    "# What I read\nformulas:\n  left: pages - read # to go\nviews:\n  - type: table\n    name: All\n    order: \
                     [file.name]\n",
                )],
            },
            Example {
                says: "Embeds follow a view with another name",
                before: &[("Books.base", BASE), ("Home.md", "![[Books.base#Covers]] [[Books.base#All|all]]\n")],
                input: json!({ "file": "Books.base", "rename_views": { "Covers": "Shelf" } }),
                gives: ExampleResult::Including(json!({ "changed": true, "referencesUpdated": 1, "filesUpdated": 1 })),
                after: &[
                    ("Books.base", BASE_WITH_SHELF),
                    ("Home.md", "![[Books.base#Shelf]] [[Books.base#All|all]]\n"),
                ],
            },
            Example {
                says: "A function that does not exist is named, and the base is written",
                before: BASES,
                input: json!({ "file": "Books.base", "formulas": { "left": "pages.rond()" } }),
                gives: ExampleResult::Including(json!({
                    "problems": ["formula \"left\": line 4, column 15: Cannot find function \"rond\"; did you mean round?"],
                })),
                after: &[("Books.base", BASE_WITH_UNKNOWN)],
            },
            Example {
                says: "An expression that cannot be read changes nothing",
                before: BASES,
                input: json!({ "file": "Books.base", "filters": "pages >" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: BASES,
            },
            Example {
                says: "Only bases",
                before: &[("a.md", "x\n")],
                input: json!({ "file": "a.md", "formulas": { "x": "1" } }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[("a.md", "x\n")],
            },
        ]
    }
}

/// The subpath of a link to a view that has another name now.
fn renamed(place: &LinkPlace<'_>, names: &BTreeMap<String, String>) -> LinkOutcome {
    match place {
        LinkPlace::Headings(parts) => match &parts[..] {
            [view] => names.get(*view).map_or(LinkOutcome::Stays, |new| LinkOutcome::Becomes(new.clone())),
            _ => LinkOutcome::Stays,
        },
        LinkPlace::Block(_) | LinkPlace::Footnote(_) => LinkOutcome::Stays,
    }
}

const BASE_WITH_SHELF: &str = "# What I read\nfilters: file.hasTag(\"book\")\nformulas:\n  left: pages - read # to go\nviews:\n  - type: \
                               table\n    name: All\n    order: [file.name]\n  - type: cards\n    name: Shelf\n";
const BASE_WITH_UNKNOWN: &str = "# What I read\nfilters: file.hasTag(\"book\")\nformulas:\n  left: pages.rond() # to go\nviews:\n  - \
                                 type: table\n    name: All\n    order: [file.name]\n  - type: cards\n    name: Covers\n";
