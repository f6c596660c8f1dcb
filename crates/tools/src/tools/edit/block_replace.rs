//! Replaces a block.

use lapidary_note::ContentHash;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, FilePart, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool,
};
use lapidary_toolkit::{
    block::{self, BlockInput},
    file_edit::{FileEdit, FileInput, FileWritten},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct BlockReplace;

/// Replace the content of the block with this `^id`.
///
/// List marker, task box, indentation, quote marks, table pipes, code fence and the id stay; the content may come with
/// or without them.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    #[serde(flatten)]
    block: BlockInput,
    /// The new content.
    content: String,
    /// The `blockHash` of the block.
    expected_block_hash: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    block_hash: String,
}

impl WriteTool for BlockReplace {
    const DECLARATION: Declaration = Declaration {
        name: "block_replace",
        dotted: Some("block.replace"),
        title: "Replace a block",
        family: WireFamily::Files,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/file", role: PathRole::Write }],
        reasons: &[
            ReasonKind::NoteMissing,
            ReasonKind::SectionMissing,
            ReasonKind::TargetAmbiguous,
            ReasonKind::StalePrecondition,
            ReasonKind::EditRefused,
        ],
        words: "replace change block reference id content, list item, paragraph, table row",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        let document = editing.document()?;
        let note = document.note();
        let found = input.block.find(editing.path(), &note, |span| document.hash_of(span))?;
        let span = Some(found.span(&note));
        // Required here, unlike for the whole file: the caller must have read what it replaces.
        editing.expect_part(&document, FilePart::Block, &input.expected_block_hash, span)?;
        let edited =
            document.replace_block(found.block, &input.content).map_err(|error| editing.refusal(error))?.document;
        // Searched from where the block is: an earlier one may have the same id.
        let block_hash = block::hash_after_edit(&edited, &found.block.id, found.block.span.start)?;
        Ok(editing.plan(&edited, |written| Output { written, block_hash }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        Some(output.written.text_of_part("block replaced", FilePart::Block, &output.block_hash))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "- [ ] Slates\n- [ ] Lead ^lead\n";
        const EDITED: &str = "- [ ] Slates\n- [ ] Gold ^lead\n";
        const NOTES: &[(&str, &str)] = &[("Tasks.md", NOTE)];
        let hash = ContentHash::of(b"- [ ] Lead ^lead\n").to_string();
        vec![
            Example {
                says: "One item of a list",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "blockId": "lead", "content": "Gold", "expected_block_hash": hash }),
                gives: ExampleResult::Output(json!({
                    "file": "Tasks.md",
                    "changed": true,
                    "blockHash": ContentHash::of(b"- [ ] Gold ^lead\n").to_string(),
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 2,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": EDITED.len(),
                    "dry_run": false,
                })),
                after: &[("Tasks.md", EDITED)],
            },
            Example {
                says: "A block that changed since it was read is left alone",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "blockId": "lead", "content": "x", "expected_block_hash": "000000000000" }),
                gives: ExampleResult::Refusal(ReasonKind::StalePrecondition),
                after: NOTES,
            },
            Example {
                says: "A block that does not exist",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "blockId": "tin", "content": "x", "expected_block_hash": hash }),
                gives: ExampleResult::Refusal(ReasonKind::SectionMissing),
                after: NOTES,
            },
        ]
    }
}
