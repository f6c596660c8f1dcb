//! Makes a drawing for the plugin Excalidraw.

mod scene;

use std::collections::HashMap;

use lapidary_note::counted;
use lapidary_operation::{
    Context, Declaration, Effect, Example, ExampleResult, PathArgument, PathRole, Reason, ReasonKind, ToolGroup,
    ToolPlan, WireFamily, WriteTool,
    quote::{Prose, quoted},
};
use lapidary_toolkit::{
    note_edit::NoteWritten,
    reading,
    whole_file::{self, WholeFileEdit, WholeFileInput},
};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct DrawingCreate;

/// Make an Excalidraw drawing of labelled shapes and arrows, laid out in layers unless places are given.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Input {
    #[serde(flatten)]
    file: WholeFileInput,
    /// Shapes with labels.
    #[schemars(length(min = 1, max = 200))]
    elements: Vec<DrawnElement>,
    /// Between elements.
    #[serde(default)]
    #[schemars(length(max = 500))]
    arrows: Vec<DrawnArrow>,
}

/// A shape with its label.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DrawnElement {
    /// For arrows.
    id: String,
    label: String,
    #[serde(default)]
    shape: ElementShape,
    /// Of the line: `#rrggbb`.
    #[serde(default)]
    color: Option<String>,
    /// Inside: `#rrggbb`.
    #[serde(default)]
    fill: Option<String>,
    /// A note that it opens: `[[Note]]`.
    #[serde(default)]
    link: Option<String>,
    /// With `y`, its place.
    #[serde(default)]
    x: Option<i64>,
    #[serde(default)]
    y: Option<i64>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ElementShape {
    #[default]
    Rectangle,
    Ellipse,
    Diamond,
    Text,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DrawnArrow {
    from: String,
    to: String,
    #[serde(default)]
    label: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    element_count: usize,
    arrow_count: usize,
    #[serde(flatten)]
    written: NoteWritten,
}

/// The ending by which the plugin knows its files.
const DRAWING: &str = ".excalidraw.md";
const LONGEST_LABEL: usize = 1_000;

impl WriteTool for DrawingCreate {
    const DECLARATION: Declaration = Declaration {
        name: "drawing_create",
        dotted: None,
        title: "Make a drawing",
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths: &[PathArgument { pointer: "/path", role: PathRole::Write }],
        reasons: &[ReasonKind::FileExists, ReasonKind::StalePrecondition],
        words: "make excalidraw drawing sketch diagram flowchart boxes and arrows shapes",
    };
    const EFFECT: Effect = Effect::Write;
    type Input = Input;
    type Output = Output;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<Output>, Reason> {
        let tool = Self::DECLARATION.name;
        // Before anything else: the plugin opens a file of another ending as a note.
        whole_file::check_ending(tool, &reading::parse_path(&input.file.path)?, DRAWING)?;
        // Never replaces a drawing: what was drawn by hand cannot be made again.
        let edit = WholeFileEdit::at(tool, context, view, &input.file, false)?;
        let numbers = checked(tool, &input)?;
        let links: Vec<(usize, usize)> =
            // Every end was checked, so the lookup cannot fail.
            input.arrows.iter().map(|arrow| (numbers[arrow.from.as_str()], numbers[arrow.to.as_str()])).collect();
        let text = scene::drawing(edit.path(), &input.elements, &input.arrows, &links);
        if text.len() > context.budget.file_bytes() {
            return Err(context.budget.file_too_large(edit.path(), text.len()));
        }
        let (element_count, arrow_count) = (input.elements.len(), input.arrows.len());
        Ok(edit.plan(text.into(), |path, written| Output {
            path: path.to_string(),
            element_count,
            arrow_count,
            written,
        }))
    }

    fn text(&self, output: &Output) -> Option<String> {
        let Output { path, element_count, arrow_count, written } = output;
        let (elements, arrows) = (counted(*element_count, "element"), counted(*arrow_count, "arrow"));
        let done = written.done("Made", "Would make");
        Some(format!("{done} {}: {elements}, {arrows}; {}", quoted(path), written.text()))
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "Two boxes and an arrow, without writing the file",
                before: &[],
                input: json!({
                    "path": "Cutting.excalidraw.md",
                    "dryRun": true,
                    "elements": [{ "id": "a", "label": "Rough" }, { "id": "b", "label": "Cut", "shape": "ellipse" }],
                    "arrows": [{ "from": "a", "to": "b", "label": "saw" }],
                }),
                gives: ExampleResult::Including(
                    json!({ "path": "Cutting.excalidraw.md", "elementCount": 2, "arrowCount": 1, "dryRun": true }),
                ),
                after: &[],
            },
            Example {
                says: "An arrow to nothing",
                before: &[],
                input: json!({
                    "path": "Cutting.excalidraw.md",
                    "elements": [{ "id": "a", "label": "Rough" }],
                    "arrows": [{ "from": "a", "to": "b" }],
                }),
                gives: ExampleResult::Refusal(ReasonKind::InvalidArguments),
                after: &[],
            },
            Example {
                says: "An existing drawing is kept",
                before: &[("A.excalidraw.md", "old")],
                input: json!({ "path": "A.excalidraw.md", "elements": [{ "id": "a", "label": "Rough" }] }),
                gives: ExampleResult::Refusal(ReasonKind::FileExists),
                after: &[("A.excalidraw.md", "old")],
            },
        ]
    }
}

const ENDS_TEXTS: &str = "must have no line that is a heading, a comment or a code block in Markdown";

/// Whether a label would end the section of texts, in which the plugin looks for it.
fn ends_texts(label: &str) -> bool {
    // A tag begins with `#` as well, but has no blank behind it.
    let is_heading = |line: &str| line.starts_with('#') && line.trim_start_matches('#').starts_with([' ', '\t']);
    label
        .lines()
        .map(str::trim)
        .any(|line| is_heading(line) || ["%%", "```", "~~~"].iter().any(|mark| line.contains(mark)))
}

/// The number of each element, after a look at everything that the schema cannot say.
fn checked<'i>(tool: &str, input: &'i Input) -> Result<HashMap<&'i str, usize>, Reason> {
    let refused = |at: String, problem: &'static str| Err(Reason::bad_argument(tool, &at, Prose::ours(problem)));
    let is_hex = |color: &str| {
        color.len() == 7 && color.starts_with('#') && color.bytes().skip(1).all(|digit| digit.is_ascii_hexdigit())
    };
    let mut numbers = HashMap::new();
    for (number, element) in input.elements.iter().enumerate() {
        let at = |name: &str| format!("elements.{number}.{name}");
        // Ids are what arrows name, so two equal ones would be ambiguous.
        if numbers.insert(element.id.as_str(), number).is_some() {
            return refused(at("id"), "is the id of another element");
        }
        if element.label.chars().count() > LONGEST_LABEL || element.label.trim().is_empty() {
            return refused(at("label"), "must have 1 to 1000 characters");
        }
        if ends_texts(&element.label) {
            return refused(at("label"), ENDS_TEXTS);
        }
        for (name, color) in [("color", &element.color), ("fill", &element.fill)] {
            if color.as_ref().is_some_and(|color| !is_hex(color)) {
                return refused(at(name), "must be `#rrggbb`");
            }
        }
        if element
            .link
            .as_ref()
            .is_some_and(|link| !(link.starts_with("[[") && link.ends_with("]]") && !link.contains('\n')))
        {
            return refused(at("link"), "must be a link like `[[Note]]`");
        }
        // Far outside, nothing would be seen of it.
        let is_far = |place: Option<i64>| place.is_some_and(|place| place.unsigned_abs() > 1_000_000);
        if element.x.is_some() != element.y.is_some() || is_far(element.x) || is_far(element.y) {
            return refused(at("x"), "and `y` must both be given or none, between -1000000 and 1000000");
        }
    }
    for (number, arrow) in input.arrows.iter().enumerate() {
        for (name, end) in [("from", &arrow.from), ("to", &arrow.to)] {
            if !numbers.contains_key(end.as_str()) {
                return refused(format!("arrows.{number}.{name}"), "is not the id of an element");
            }
        }
        // An arrow from a shape to itself has no direction to draw.
        if arrow.from == arrow.to {
            return refused(format!("arrows.{number}.to"), "must be another element than `from`");
        }
        if arrow.label.as_deref().is_some_and(ends_texts) {
            return refused(format!("arrows.{number}.label"), ENDS_TEXTS);
        }
        if arrow.label.as_ref().is_some_and(|label| label.chars().count() > LONGEST_LABEL) {
            return refused(format!("arrows.{number}.label"), "must have at most 1000 characters");
        }
    }
    Ok(numbers)
}
