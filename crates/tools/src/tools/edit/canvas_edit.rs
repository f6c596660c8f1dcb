//! Changes cards and lines of a canvas.

mod canvas_step;
mod operation;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool, bug, quote::quoted,
};
use lapidary_recipe::{TextArgument, TextLanguage};
use lapidary_toolkit::{
    canvas::{self, CANVAS},
    note_edit::NoteWritten,
    whole_file::{self, WholeFileEdit, WholeFileInput},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::{canvas_step::CanvasStep, operation::CanvasChange};

pub(crate) struct CanvasEdit;

/// Change a canvas: add cards, change or move them, connect them, remove them. Operations run in order, all or none.
/// Everything else in the file stays as it is.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Input {
    #[serde(flatten)]
    file: WholeFileInput,
    /// What to change.
    #[schemars(length(min = 1, max = 200))]
    operations: Vec<CanvasStep>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    // The id that each operation made or found, in their order.
    ids: Vec<String>,
    card_count: usize,
    line_count: usize,
    #[serde(flatten)]
    written: NoteWritten,
}

impl WriteTool for CanvasEdit {
    const DECLARATION: Declaration = Declaration {
        name: "canvas_edit",
        dotted: None,
        title: "Change a canvas",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/path", role: PathRole::Write }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::CanvasInvalid, ReasonKind::StalePrecondition],
        words: "edit canvas whiteboard board: add card, text card, note card, group, connect cards, draw arrow, edge, move card, colour, remove card",
    };
    const EFFECT: Effect = Effect::Write;
    const TEXTS: &'static [TextArgument] = &[TextArgument::new("/operations/*/file", TextLanguage::Path)];
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        let edit = WholeFileEdit::existing(tool, context, view, &input.file)?;
        // Before the file is read as JSON, so that the refusal names the ending and not a syntax error.
        whole_file::check_kind(tool, context, view, edit.path(), CANVAS)?;
        let document = edit.document()?;
        let board = canvas::open(edit.path(), document.shown())?;
        let mut change = CanvasChange { tool, context, view, board };
        let mut ids = Vec::new();
        for (index, operation) in input.operations.into_iter().enumerate() {
            context.check()?;
            ids.push(change.apply(index, operation.operation(tool, index)?)?);
        }
        let board = change.board;
        // The board grows with every card, so the limit is checked on the result.
        if board.text().len() > context.budget.file_bytes() {
            return Err(context.budget.file_too_large(edit.path(), board.text().len()));
        }
        // With the line ends and the byte order mark that the file had.
        let content = document.in_own_form(board.text());
        let (card_count, line_count) = (board.nodes().len(), board.edges().len());
        Ok(edit.plan(content, |path, written| Output { path: path.to_string(), ids, card_count, line_count, written }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, ids, card_count, line_count, written } = output;
        let done = written.done("Changed", "Would change");
        let ids: Vec<String> = ids.iter().map(|id| quoted(id).to_string()).collect();
        let (cards, lines) = (counted(*card_count, "card"), counted(*line_count, "line"));
        Some(format!("{done} {}: {cards}, {lines}; ids {}; {}", quoted(path), ids.join(", "), written.text()))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "A new card beside the others, connected with one of them",
                before: &[("Plan.canvas", PLAN), ("Amber.md", "")],
                input: json!({ "path": "Plan.canvas", "operations": [
                    { "op": "add", "id": "amber", "type": "file", "file": "Amber.md" },
                    { "op": "connect", "id": "uses", "from": "1b2c", "to": "amber", "label": "uses" },
                    { "op": "change", "id": "1b2c", "text": "Cut the *stone*" },
                ] }),
                gives: ExampleResult::Including(json!({ "path": "Plan.canvas", "cardCount": 2, "lineCount": 1 })),
                after: &[("Plan.canvas", PLAN_AFTER), ("Amber.md", "")],
            },
            Example {
                says: "A card that is not there",
                before: &[("Plan.canvas", PLAN)],
                input: json!({ "path": "Plan.canvas", "operations": [{ "op": "remove", "id": "ffff" }] }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[("Plan.canvas", PLAN)],
            },
            Example {
                says: "A file that is not a canvas",
                before: &[("Broken.canvas", "[]")],
                input: json!({ "path": "Broken.canvas", "operations": [{ "op": "add", "type": "text", "text": "x" }] }),
                gives: ExampleResult::Refusal(ReasonKind::CanvasInvalid),
                after: &[("Broken.canvas", "[]")],
            },
        ]
    }
}

const PLAN: &str = "{\n\t\"nodes\":[\n\
                    \t\t{\"id\":\"1b2cc0de00000002\",\"type\":\"text\",\"text\":\"Cut the stone\",\"x\":0,\"y\":0,\"width\":280,\"height\":100}\n\
                    \t],\n\t\"edges\":[]\n}";

const PLAN_AFTER: &str = "{\n\t\"nodes\":[\n\
                          \t\t{\"id\":\"1b2cc0de00000002\",\"type\":\"text\",\"text\":\"Cut the *stone*\",\"x\":0,\"y\":0,\"width\":280,\"height\":100},\n\
                          \t\t{\"id\":\"amber\",\"type\":\"file\",\"file\":\"Amber.md\",\"x\":340,\"y\":0,\"width\":400,\"height\":400}\n\
                          \t],\n\t\"edges\":[\n\
                          \t\t{\"id\":\"uses\",\"fromNode\":\"1b2cc0de00000002\",\"fromSide\":\"right\",\"toNode\":\"amber\",\"toSide\":\"left\",\"label\":\"uses\"}\n\t]\n}";

/// A change that the board refuses although it was checked.
fn unexpected() -> Reason {
    bug!("an edited canvas cannot be read any more")
}
