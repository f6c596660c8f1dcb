//! Reads properties.

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, fence::fenced,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    hash,
    naming::{self, NamedFile},
    properties,
    reading::{self, NOT_UTF8},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) struct FrontmatterGet;

/// Read the properties (frontmatter) of a note, or one of them, with the hash that an edit of them expects.
///
/// Missing properties are left out of the answer.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path, e.g. `Projects/Plan.md`.
    file: String,
    /// One property: `status`, `author.name`, `aliases.0`. A dot within a name is written `\.`.
    #[serde(default)]
    key_path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frontmatter_hash: Option<String>,
    content_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl ReadTool for FrontmatterGet {
    const DECLARATION: Declaration = Declaration {
        name: "frontmatter_get",
        dotted: Some("frontmatter.get"),
        title: "Read properties",
        family: WireFamily::Files,
        group: ToolGroup::Vault,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "read get frontmatter properties property yaml metadata value of a note",
    };
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/keyPath", TextLanguage::Property)];
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let key_path = input.key_path.as_deref();
        let key_path = key_path.map(|given| properties::key_path(Self::DECLARATION.name, given)).transpose()?;
        let NamedFile { path, file, .. } = naming::find(context, view, &input.file)?;
        context.check()?;
        let shown = reading::show(&path, &file)?;
        let properties = shown.properties();
        let data = match (&properties.block, &key_path) {
            (None, _) => None,
            (Some(_), None) => Some(Value::Object(properties.json())),
            (Some(_), Some(key_path)) => {
                let value = properties.value();
                // Names are found regardless of case, and a name may itself contain the dots of a path.
                key_path.among(&value).find(&value).map(properties::json)
            }
        };
        let block = properties.block.as_ref().map(|block| block.span.clone());
        let notice = match properties.problem() {
            // The more basic problem is the one to report.
            _ if shown.is_lossy() => Some(NOT_UTF8.to_owned()),
            Some(problem) => Some(format!("The properties are not valid YAML ({problem}), so none are shown.")),
            None => None,
        };
        Ok(Output {
            data,
            frontmatter_hash: block.and_then(|block| shown.hash_of(block)).map(|hash| hash.to_string()),
            content_hash: file.hash().to_string(),
            notice,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { data, frontmatter_hash, content_hash, .. } = output;
        let hash = hash::digits(content_hash);
        let block = frontmatter_hash
            .as_deref()
            .map_or_else(String::new, |hash| format!(", frontmatter {}", hash::digits(hash)));
        let data = data.as_ref().map_or_else(|| "No such property.".to_owned(), |data| fenced(&data.to_string()));
        Some(format!("Hash {hash}{block}\n{data}"))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\nstatus: open\nauthor:\n  name: Ada\n---\n# Plan\n";
        const BLOCK: &str = "---\nstatus: open\nauthor:\n  name: Ada\n---\n";
        const NOTES: &[(&str, &str)] = &[("Plan.md", NOTE), ("Plain.md", "text\n")];
        let (block, note) = (ContentHash::of(BLOCK.as_bytes()), ContentHash::of(NOTE.as_bytes()));
        vec![
            Example {
                says: "All properties",
                before: NOTES,
                input: json!({ "file": "Plan.md" }),
                gives: ExampleResult::Output(json!({
                    "data": { "status": "open", "author": { "name": "Ada" } },
                    "frontmatterHash": block.to_string(),
                    "contentHash": note.to_string(),
                })),
                after: &[],
            },
            Example {
                says: "One property",
                before: NOTES,
                input: json!({ "file": "Plan.md", "keyPath": "author.name" }),
                gives: ExampleResult::Including(json!({ "data": "Ada" })),
                after: &[],
            },
            Example {
                says: "A note without properties",
                before: NOTES,
                input: json!({ "file": "Plain.md" }),
                gives: ExampleResult::Output(json!({ "contentHash": ContentHash::of(b"text\n").to_string() })),
                after: &[],
            },
            Example {
                says: "An invalid property path",
                before: NOTES,
                input: json!({ "file": "Plan.md", "keyPath": "author..name" }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
        ]
    }
}
