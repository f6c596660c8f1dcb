//! One part of a note is changed.

use lapidary_note::{Document, EditError, InstructionError, InstructionTarget, PatchInstruction};
use lapidary_operation::{
    Context, Declaration, Effect, Example, PathArgument, PathRole, Reason, ReasonKind, ToolPlan, WriteTool, bug,
    clipped, quote::Prose,
};
use lapidary_toolkit::reading;
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    LegacyPatch, RestChange,
    changes::{RequestedFile, declared},
    legacy_patch::LegacyFailure,
    parse_instruction,
};

pub(crate) struct RestPatch;

/// Change one part of a note.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    path: String,
    /// Of markdown-patch 2.0.
    #[serde(default)]
    instruction: Option<Map<String, Value>>,
    /// Of format 1.
    #[serde(default)]
    legacy: Option<LegacyPatch>,
    /// What a missing note begins with; without it, none is made.
    #[serde(default)]
    begins: Option<String>,
    #[serde(default)]
    expected_hash: Option<String>,
}

impl WriteTool for RestPatch {
    const DECLARATION: Declaration = declared(
        "rest/patch",
        "REST: patch a note",
        &[PathArgument { pointer: "/path", role: PathRole::Write }],
        &[
            ReasonKind::NoteMissing,
            ReasonKind::SectionTargetMissing,
            ReasonKind::ContentPreexists,
            ReasonKind::PatchRejected,
            ReasonKind::FrontmatterInvalid,
            ReasonKind::StalePrecondition,
        ],
    );
    const EFFECT: Effect = Effect::Write;
    const IN_BATCHES: bool = false;
    type Input = Input;
    type Output = RestChange;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<RestChange>, Reason> {
        let name = Self::DECLARATION.name;
        let file = RequestedFile::begin(name, context, view, &input.path, input.expected_hash.as_deref())?;
        let document = match (&file.before, input.begins) {
            (Some(before), _) => reading::editable(&file.path, before)?,
            (None, Some(begins)) => {
                Document::open(begins).map_err(|error| bug!("the text of a new note is not text: {error}"))?
            }
            // A patch creates no other note, unlike writing it.
            (None, None) => return Err(Reason::NoteMissing { path: file.path.clone(), suggestions: Vec::new() }),
        };
        let (document, too_deep) = match (&input.instruction, &input.legacy) {
            (Some(instruction), None) => {
                let instruction = parse_instruction(instruction)
                    .map_err(|problem| Reason::bad_argument(name, "instruction", Prose::of_others(problem)))?;
                instructed(&file.path, &document, &instruction)?
            }
            // Older clients say in headers what newer ones send as an instruction.
            (None, Some(legacy)) => (patched(&file.path, &document, legacy)?, Vec::new()),
            _ => return Err(Reason::bad_argument(name, "instruction", "or `legacy` is required")),
        };
        let content = document.content().clone();
        // Only a part is new, so the rest must still be what was read.
        Ok(file.plan(content, false, too_deep))
    }

    fn examples(&self) -> Vec<Example> {
        Vec::new()
    }
}

type InstructedDocument = (Document, Vec<(String, usize)>);

fn instructed(path: &VaultPath, document: &Document, wanted: &PatchInstruction) -> Result<InstructedDocument, Reason> {
    let done = document.instructed(wanted).map_err(|error| {
        let (section_type, target) = match &wanted.target {
            InstructionTarget::Heading(names) => ("heading", names.join("::")),
            InstructionTarget::Block(id) => ("block", id.clone()),
            InstructionTarget::Property(name) => ("frontmatter", name.clone()),
        };
        let (path, target) = (path.clone(), clipped(&target));
        match error {
            InstructionError::TargetMissing
            | InstructionError::PlaceMissing
            | InstructionError::BlockMissing { .. } => {
                // The API has no place for the names that are there.
                Reason::SectionTargetMissing { path, section_type, target, available: Vec::new() }
            }
            InstructionError::Preexists | InstructionError::NameTaken => Reason::ContentPreexists { path, target },
            InstructionError::Edit(EditError::Property(error)) => {
                Reason::FrontmatterInvalid { path, problem: Prose::ours(error) }
            }
            error => Reason::PatchRejected { path, problem: Prose::ours(error), remedy: None },
        }
    })?;
    Ok((done.document, done.too_deep))
}

fn patched(path: &VaultPath, document: &Document, legacy: &LegacyPatch) -> Result<Document, Reason> {
    legacy.apply(document).map_err(|failure| match failure {
        LegacyFailure::Words(words) => {
            Reason::PatchRejected { path: path.clone(), problem: words.into(), remedy: None }
        }
        LegacyFailure::Properties(problem) => {
            Reason::FrontmatterInvalid { path: path.clone(), problem: Prose::of_others(problem) }
        }
        LegacyFailure::Edit(error) => {
            Reason::PatchRejected { path: path.clone(), problem: Prose::ours(error), remedy: None }
        }
    })
}
