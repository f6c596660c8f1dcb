//! Renames a block id and updates links to it.

use lapidary_note::{Block, BlockRename as Rename, ContentHash, Document};
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, FilePart, PathArgument, PathRole, Reason, ReasonKind,
    ToolGroup, ToolPlan, WireFamily, WriteTool, bug,
};
use lapidary_toolkit::{
    block::{self, BlockInput},
    file_edit::{FileEdit, FileInput, FileWritten},
    references::{NoteReferences, ReferencesInput, ReferencesOutput},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct BlockRename;

/// Change the `^id` of a block. Links to it, in this note, all others and canvases, are updated.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    #[serde(flatten)]
    file: FileInput,
    #[serde(flatten)]
    block: BlockInput,
    /// Letters, digits and `-`, with or without the `^`.
    #[serde(rename = "newId")]
    #[schemars(length(min = 1))]
    new_id: String,
    /// Refuse if the block has another hash; `dry_run` shows what would change.
    #[serde(default)]
    expected_block_hash: Option<String>,
    #[serde(flatten)]
    references: ReferencesInput,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    #[serde(flatten)]
    written: FileWritten,
    block_hash: String,
    #[serde(flatten)]
    references: ReferencesOutput,
}

impl WriteTool for BlockRename {
    const DECLARATION: Declaration = Declaration {
        name: "block_rename",
        dotted: Some("block.rename"),
        title: "Rename a block",
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
        words: "rename block reference id, update links references to it",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let editing = FileEdit::begin(Self::DECLARATION.name, context, view, input.file)?;
        let document = editing.document()?;
        let note = document.note();
        let found = input.block.find(editing.path(), &note, |span| document.hash_of(span))?;
        if let Some(expected) = &input.expected_block_hash {
            editing.expect_part(&document, FilePart::Block, expected, Some(found.span(&note)))?;
        }
        let rename = |document: &Document, block: &Block| match document.rename_block_id(block, &input.new_id) {
            Ok(edited) => Ok(edited.document),
            Err(error) => Err(editing.refusal(error)),
        };
        let renamed = rename(&document, found.block)?;
        let new_id = input.new_id.strip_prefix('^').unwrap_or(&input.new_id);
        if !input.references.update_references || renamed == document {
            let block_hash = block::hash_after_edit(&renamed, new_id, found.block.span.start)?;
            let references = ReferencesOutput::default();
            return Ok(editing.plan(&renamed, |written| Output { written, block_hash, references }));
        }
        let index = note
            .blocks
            .iter()
            .position(|block| block == found.block)
            .ok_or_else(|| bug!("the block that was found is not in its note"))?;
        let follow = Rename { before: &note, index, new_id };
        let mut references = NoteReferences::to(context, view, editing.path())?;
        let own = references.within(context, &document, &|place| follow.follow(place))?;
        let moved = own.note();
        let moved_block =
            moved.blocks.get(index).ok_or_else(|| bug!("a block is gone after its own links were changed"))?;
        let renamed = rename(&own, moved_block)?;
        let block_hash = block::hash_after_edit(&renamed, new_id, moved_block.span.start)?;
        let (others, references) = references.elsewhere(context, view, &|place| follow.follow(place))?;
        let mut plan = editing.plan(&renamed, |written| Output { written, block_hash, references });
        plan.changes.changes.extend(others);
        Ok(plan)
    }

    fn text(&self, output: &Output) -> Option<String> {
        let done = format!("block id renamed{}", output.references.text());
        Some(output.written.text_of_part(&done, FilePart::Block, &output.block_hash))
    }

    fn examples(&self) -> Vec<Example> {
        const NOTE: &str = "- Slates\n- Lead ^lead\n";
        const EDITED: &str = "- Slates\n- Lead ^metal\n";
        const NOTES: &[(&str, &str)] = &[("Tasks.md", NOTE), ("Log.md", "![[Tasks#^lead]] [[Tasks#lead]]\n")];
        let hash = ContentHash::of(b"- Lead ^lead\n").to_string();
        vec![
            Example {
                says: "Links follow",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "blockId": "^lead", "newId": "metal", "expected_block_hash": hash }),
                gives: ExampleResult::Output(json!({
                    "file": "Tasks.md",
                    "changed": true,
                    "blockHash": ContentHash::of(b"- Lead ^metal\n").to_string(),
                    "referencesUpdated": 1,
                    "filesUpdated": 1,
                    "contentHash": ContentHash::of(EDITED.as_bytes()).to_string(),
                    "totalLines": 2,
                    "sizeBefore": NOTE.len(),
                    "sizeAfter": EDITED.len(),
                    "dry_run": false,
                })),
                after: &[("Tasks.md", EDITED), ("Log.md", "![[Tasks#^metal]] [[Tasks#lead]]\n")],
            },
            Example {
                says: "By its id alone, and only shown",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "blockId": "lead", "newId": "metal", "dry_run": true }),
                gives: ExampleResult::Including(json!({ "referencesUpdated": 1, "dry_run": true })),
                after: NOTES,
            },
            Example {
                says: "An id that Obsidian does not accept",
                before: NOTES,
                input: json!({ "file": "Tasks.md", "blockId": "lead", "newId": "a b", "expected_block_hash": hash }),
                gives: ExampleResult::Refusal(ReasonKind::EditRefused),
                after: NOTES,
            },
        ]
    }
}
