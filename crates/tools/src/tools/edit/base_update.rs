use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::{
    base_edit::{self, BaseParts, BaseWritten},
    file_edit::{FileEdit, FileInput},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;
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
    type Input = Input;
    type Output = BaseWritten;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<BaseWritten>, Reason> {
        let tool = Self::DECLARATION.name;
        let editing = FileEdit::begin(tool, context, view, input.file)?;
        base_edit::check_ending(tool, editing.path())?;
        let document = editing.document()?;
        let before = document.shown();
        let value = base_edit::base_value(tool, before)?;
        let mut steps = input.parts.steps(tool, &value)?;
        for given in &input.remove {
            steps.extend(base_edit::removal(tool, given, &value)?);
        }
        let after = base_edit::edited(before, &steps).map_err(|error| editing.refusal(error))?;
        let problems = base_edit::checked(tool, Some(before), &after)?;
        let content = document.in_own_form(&after);
        Ok(editing.plan_content(content, |written| BaseWritten { written, problems }))
    }

    fn text(&self, output: &BaseWritten) -> Option<String> {
        Some(output.text("changed"))
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

const BASE_WITH_UNKNOWN: &str = "# What I read\nfilters: file.hasTag(\"book\")\nformulas:\n  left: pages.rond() # to go\nviews:\n  - \
                                 type: table\n    name: All\n    order: [file.name]\n  - type: cards\n    name: Covers\n";
