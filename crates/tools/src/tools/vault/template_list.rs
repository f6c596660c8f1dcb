//! Lists the owner's templates.

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, ReadTool, Reason, ReasonKind, ToolGroup, WireFamily,
    quote::{quoted, quoted_list},
};
use lapidary_toolkit::{naming, note_template, page::ListPage, reading, template};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct TemplateList;

/// The templates of the vault, in the folders that Obsidian and the plugin Templater have for them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// At most this many.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 500))]
    limit: usize,
    /// How many to skip.
    #[serde(default)]
    offset: usize,
}

fn limit() -> usize {
    100
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Empty if the owner chose none.
    folders: Vec<String>,
    templates: Vec<ListedTemplate>,
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedTemplate {
    name: String,
    path: String,
    /// It has commands of Templater, which only the app can run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    templater: bool,
}

impl ReadTool for TemplateList {
    const DECLARATION: Declaration = Declaration {
        name: "template_list",
        dotted: None,
        title: "List templates",
        family: WireFamily::Own,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[],
        reasons: &[],
        words: "which templates are there, list templates, template folder, Templater",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let (found, settings) = note_template::templates(context, view)?;
        let page = ListPage::of(found, input.offset, input.limit);
        let mut templates = Vec::new();
        // Only those of the page are read, to see whether they have commands.
        for path in page.items {
            context.check()?;
            templates.push(listed(view, &path)?);
        }
        // A folder that is closed to the caller is not named.
        let shows = |folder: &String| VaultPath::parse(folder).is_ok_and(|folder| view.may_enter(&folder).is_ok());
        let folders = settings.folders.into_iter().filter(shows).collect();
        Ok(Output { folders, templates, total: page.total, next_offset: page.next })
    }

    fn text(&self, output: &Output) -> Option<String> {
        if output.folders.is_empty() {
            return Some("The owner has chosen no folder for templates.".to_owned());
        }
        let mut text = format!("{} in {}", counted(output.total, "template"), quoted_list(&output.folders));
        for template in &output.templates {
            text += &format!("\n{}", quoted(&template.path));
            text += if template.templater { " (Templater)" } else { "" };
        }
        if let Some(next) = output.next_offset {
            text += &format!("\n… go on with `offset: {next}`");
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTES: &[(&str, &str)] = &[
            (".obsidian/templates.json", r#"{"folder":"Templates"}"#),
            ("Templates/Book.md", "# {{title}}\n"),
            ("Templates/Talk.md", "# <% tp.file.title %>\n"),
            ("Other.md", "x\n"),
        ];
        vec![
            Example {
                says: "What there is",
                before: NOTES,
                input: json!({}),
                gives: ExampleResult::Output(json!({
                    "folders": ["Templates"],
                    "templates": [
                        { "name": "Book", "path": "Templates/Book.md" },
                        { "name": "Talk", "path": "Templates/Talk.md", "templater": true },
                    ],
                    "total": 2,
                })),
                after: &[],
            },
            Example {
                says: "More than is allowed",
                before: NOTES,
                input: json!({ "limit": 0 }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}

fn listed(view: &View, path: &VaultPath) -> Result<ListedTemplate, Reason> {
    // One that went away meanwhile is still listed: the index knows it.
    let text = match reading::read_if_there(view, path)? {
        Some(file) => reading::show(path, &file)?.text().to_owned(),
        None => String::new(),
    };
    let name = naming::title(path).to_owned();
    Ok(ListedTemplate { name, path: path.to_string(), templater: template::has_commands(&text) })
}
