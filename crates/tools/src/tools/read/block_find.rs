//! Finds a block by its id.

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, quote::quoted,
};
use lapidary_toolkit::{
    block::{BlockInput, StructuralType},
    hash,
    naming::{self, NamedFile},
    reading::{self, NOT_UTF8},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct BlockFind;

/// Find a block of a note by its `^id`, with the hash that an edit of it expects. No match is an empty list.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Path, e.g. `Projects/Plan.md`.
    file: String,
    #[serde(flatten)]
    block: BlockInput,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    matches: Vec<BlockOutput>,
    content_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BlockOutput {
    id: String,
    /// The line of the id.
    line: usize,
    start_line: usize,
    end_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_hash: Option<String>,
    structural_type: StructuralType,
}

impl ReadTool for BlockFind {
    const DECLARATION: Declaration = Declaration {
        name: "block_find",
        dotted: Some("block.find"),
        title: "Find a block",
        family: WireFamily::Files,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing],
        words: "find a block reference id caret in a note, block hash",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let NamedFile { path, file, .. } = naming::find(context, view, &input.file)?;
        context.check()?;
        let shown = reading::show(&path, &file)?;
        let note = shown.note();
        let matches = input.block.all(&note).into_iter().map(|found| BlockOutput {
            id: format!("^{}", found.block.id),
            line: found.line,
            start_line: found.start_line,
            end_line: found.end_line,
            block_hash: shown.hash_of(found.span(&note)).map(|hash| hash.to_string()),
            structural_type: found.block.kind.into(),
        });
        Ok(Output {
            matches: matches.collect(),
            content_hash: file.hash().to_string(),
            notice: shown.is_lossy().then(|| NOT_UTF8.to_owned()),
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let mut text = format!("{} found, hash {}", output.matches.len(), hash::digits(&output.content_hash));
        for BlockOutput { id, line, start_line, end_line, block_hash, .. } in &output.matches {
            let hash = block_hash.as_deref().map_or_else(String::new, |hash| format!(" {}", hash::digits(hash)));
            text += &format!("\n{start_line}-{end_line} {} (id in line {line}){hash}", quoted(id));
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "# Tasks\n- [ ] Slates\n- [ ] Lead ^lead\n\nText\nhere. ^text\n";
        const NOTES: &[(&str, &str)] = &[("Tasks.md", NOTE)];
        vec![
            Example {
                says: "The last item of a list is one item, not the list",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "blockId": "^lead" }),
                gives: ExampleResult::Output(json!({
                    "matches": [{
                        "id": "^lead", "line": 3, "startLine": 3, "endLine": 3,
                        "blockHash": ContentHash::of(b"- [ ] Lead ^lead\n").to_string(),
                        "structuralType": "list-item",
                    }],
                    "contentHash": ContentHash::of(NOTE.as_bytes()).to_string(),
                })),
                after: &[],
            },
            Example {
                says: "A paragraph",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "blockId": "text" }),
                gives: ExampleResult::Including(
                    json!({ "matches": [{ "startLine": 5, "endLine": 6, "structuralType": "paragraph" }] }),
                ),
                after: &[],
            },
            Example {
                says: "A note that does not exist",
                before: NOTES,
                input: json!({ "file": "Task.md", "blockId": "lead" }),
                gives: ExampleResult::Refusal(ReasonKind::NoteMissing),
                after: &[],
            },
        ]
    }
}
