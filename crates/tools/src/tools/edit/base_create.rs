//! Creates a base.

use lapidary_note::YamlValue;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, NameWanted, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, bug,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    base_edit::{self, BaseParts, BaseWritten},
    file_edit::{self, EditTarget, FileInput},
    reading,
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

pub(crate) struct BaseCreate;

/// Make an Obsidian Base (`.base`): a saved query over notes with filters, formulas and views. Expressions are checked.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    #[serde(flatten)]
    parts: BaseParts,
}

impl WriteTool for BaseCreate {
    const DECLARATION: Declaration = Declaration {
        name: "base_create",
        dotted: Some("base.create"),
        title: "Make a base",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[ReasonKind::FileExists, ReasonKind::StalePrecondition],
        words: "make obsidian base bases database table cards view query filter formula yaml",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[
        TextArgument::new("/filters/**", TextLanguage::Formula),
        TextArgument::new("/formulas/*", TextLanguage::Formula),
        TextArgument::new("/summaries/*", TextLanguage::Formula),
        TextArgument::new("/views/*/filters/**", TextLanguage::Formula),
    ];
    type Input = Input;
    type Output = BaseWritten;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<BaseWritten>, Reason> {
        let tool = Self::DECLARATION.name;
        let path = reading::parse_path(&input.file.file)?;
        base_edit::check_ending(tool, &path)?;
        // Before the expected hash is compared: an existing file is refused as such, whatever hash was sent.
        if let Some(there) = reading::read_if_there(view, &path)? {
            return Err(Reason::DestinationExists { path, current: there.hash(), wanted: NameWanted::New });
        }
        let mut parts = input.parts;
        // Without views the app would show its default table; a view that is written down can be named by
        // `base_update`.
        if parts.views.is_empty() {
            parts.views.push(Map::from_iter([("name".to_owned(), Json::from("Table"))]));
        }
        let steps = parts.steps(tool, &YamlValue::Map(Vec::new()))?;
        let base = base_edit::whole_base(&steps).map_err(|error| file_edit::refusal(&path, error))?;
        let problems = base_edit::checked(tool, None, &base)?;
        match EditTarget::begin(tool, context, view, input.file)? {
            EditTarget::Nothing(creating) => Ok(creating.plan(base, |written| BaseWritten { written, problems })),
            // A view does not change.
            EditTarget::File(_) => Err(bug!("a file appeared in a view that does not change")),
        }
    }

    fn text(&self, output: &BaseWritten) -> Option<String> {
        Some(output.text("created"))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "Books that are not finished, by what is left of them",
                before: &[],
                input: json!({
                    "file": "Books.base",
                    "filters": { "and": ["file.hasTag(\"book\")", "status != \"done\""] },
                    "formulas": { "left": "pages - read" },
                    "views": [{
                        "name": "Reading",
                        "order": ["file.name", "formula.left"],
                        "sort": [{ "property": "formula.left", "direction": "DESC" }],
                    }],
                }),
                gives: ExampleResult::Including(json!({ "file": "Books.base", "changed": true })),
                after: &[("Books.base", BOOKS)],
            },
            Example {
                says: "An expression that cannot be read",
                before: &[],
                input: json!({ "file": "Books.base", "formulas": { "left": "pages -" } }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
            Example {
                says: "A base that is there stays",
                before: &[("Books.base", "views: []\n")],
                input: json!({ "file": "Books.base" }),
                gives: ExampleResult::Refusal(ReasonKind::FileExists),
                after: &[("Books.base", "views: []\n")],
            },
        ]
    }
}

const BOOKS: &str = "filters:\n  and:\n    - file.hasTag(\"book\")\n    - status != \"done\"\nformulas:\n  left: pages - read\n\
                     views:\n  - type: table\n    name: Reading\n    order:\n      - file.name\n      - formula.left\n    sort:\n      - \
                     property: formula.left\n        direction: DESC\n";
