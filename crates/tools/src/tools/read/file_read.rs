//! Reads a whole file.

use lapidary_note::{ContentHash, counted};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, fence::fenced, quote::quoted,
};
use lapidary_toolkit::{
    hash,
    naming::{self, NamedFile},
    properties::NoteProperties,
    reading::{self, NOT_UTF8},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) struct FileRead;

/// Read a whole text file with the hash that an edit of it can expect.
///
/// For one section or the outline of a long note, use `obsidian_get_note`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path, e.g. `Projects/Plan.md`.
    file: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    file: String,
    content: String,
    content_hash: String,
    total_lines: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    frontmatter: Option<FrontmatterOutput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eol: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bom: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FrontmatterOutput {
    data: Map<String, Value>,
    frontmatter_hash: String,
}

impl ReadTool for FileRead {
    const DECLARATION: Declaration = Declaration {
        name: "file_read",
        dotted: Some("file.read"),
        title: "Read a file",
        family: WireFamily::Files,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "read open show get content text of a file or note, cat, read a whole file, show all of a file",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let NamedFile { path, file, .. } = naming::find(context, view, &input.file)?;
        context.check()?;
        let shown = reading::show(&path, &file)?;
        // In other files, lines between `---` are not properties.
        let is_note = path.name().to_lowercase().ends_with(".md");
        let properties = is_note.then(|| shown.properties());
        let notice = match properties.as_ref().and_then(NoteProperties::problem) {
            // The more basic problem first: such a text has no reliable properties.
            _ if shown.is_lossy() => Some(NOT_UTF8.to_owned()),
            Some(problem) => Some(format!("The properties are not valid YAML ({problem}), so `data` is empty.")),
            None => None,
        };
        let frontmatter = properties.and_then(|properties| {
            // With the hash of the block alone, so that an edit of the text does not make it stale.
            let frontmatter_hash = shown.hash_of(properties.block.as_ref()?.span.clone())?.to_string();
            Some(FrontmatterOutput { data: properties.json(), frontmatter_hash })
        });
        Ok(Output {
            file: path.to_string(),
            content_hash: file.hash().to_string(),
            total_lines: shown.lines(),
            frontmatter,
            eol: shown.eol(),
            bom: shown.bom(),
            notice,
            content: shown.text().to_owned(),
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { file, content, content_hash, total_lines, frontmatter, eol, bom, .. } = output;
        let file = quoted(file);
        let frontmatter = frontmatter.as_ref().map_or_else(String::new, |frontmatter| {
            format!(", frontmatter {}", hash::digits(&frontmatter.frontmatter_hash))
        });
        let form = reading::form(*eol, *bom);
        let hash = hash::digits(content_hash);
        let lines = counted(*total_lines, "line");
        Some(format!("{file}: {lines}{form}, hash {hash}{frontmatter}\n{}", fenced(content)))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "---\nstatus: open\n---\n# Plan\n";
        vec![
            Example {
                says: "Read a note with its properties",
                before: &[("Plan.md", NOTE)],
                input: json!({ "file": "Plan.md" }),
                gives: ExampleResult::Output(json!({
                    "file": "Plan.md",
                    "content": NOTE,
                    "contentHash": ContentHash::of(NOTE.as_bytes()).to_string(),
                    "totalLines": 4,
                    "frontmatter": {
                        "data": { "status": "open" },
                        "frontmatterHash": ContentHash::of(b"---\nstatus: open\n---\n").to_string(),
                    },
                })),
                after: &[],
            },
            Example {
                says: "A file with Windows line endings is shown with `\\n`, with a notice",
                before: &[("list.txt", "a\r\nb\r\n")],
                input: json!({ "file": "list.txt" }),
                gives: ExampleResult::Including(json!({ "content": "a\nb\n", "eol": "crlf", "totalLines": 2 })),
                after: &[],
            },
            Example {
                says: "A file that does not exist",
                before: &[("Plan.md", NOTE)],
                input: json!({ "file": "Plans.md" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
            Example {
                says: "A path that leaves the vault",
                before: &[],
                input: json!({ "file": "../secret.md" }),
                gives: ExampleResult::Refusal(ReasonKind::PathTraversal),
                after: &[],
            },
        ]
    }
}
