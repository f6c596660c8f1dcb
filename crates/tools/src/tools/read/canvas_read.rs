//! A canvas as text: groups, cards and lines.

use lapidary_note::{CanvasBoard, CanvasItem, counted};
use lapidary_operation::{
    Context, Declaration, Example, ExampleResult, PathArgument, PathRole, ReadTool, Reason, ReasonKind, ToolGroup,
    WireFamily, quote::quoted,
};
use lapidary_toolkit::{
    canvas::{self, CANVAS, ShortIds},
    cursor::PageCursor,
    hash, index,
    naming::{self, NamedFile},
    reading, whole_file,
};
use lapidary_vault::{VaultPath, View, VisibleFiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct CanvasRead;

/// Read a canvas: its cards with their text or file, the group of each, and the lines between them.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Path of the canvas.
    path: String,
    /// Characters of each text card.
    #[serde(default = "usual_text")]
    #[schemars(range(min = 0, max = 10_000))]
    text_limit: usize,
    /// With place and size of each card: `[x, y, width, height]`.
    #[serde(default)]
    places: bool,
    /// `nextCursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

fn usual_text() -> usize {
    300
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    path: String,
    content_hash: String,
    // Of all pages.
    card_count: usize,
    line_count: usize,
    cards: Vec<CardOutput>,
    // Those that begin at a card of this page.
    lines: Vec<CanvasLineOutput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct CardOutput {
    id: String,
    // `text`, `file`, `link` or `group`.
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    // A text that is longer than shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    clipped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    missing: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    // The group that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<[i64; 4]>,
}

#[derive(Serialize, JsonSchema)]
struct CanvasLineOutput {
    id: String,
    from: String,
    to: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    // `both`, `back` or `none`; a line without it leads forward.
    #[serde(skip_serializing_if = "Option::is_none")]
    arrow: Option<&'static str>,
}

/// Of a label, a path or an address.
const LONGEST_LABEL: usize = 500;
/// What a page takes: some 4,000 tokens.
const PAGE_BYTES: usize = 16_000;
/// Lines of one card that are shown.
const MOST_LINES: usize = 200;

impl ReadTool for CanvasRead {
    const DECLARATION: Declaration = Declaration {
        name: "canvas_read",
        dotted: None,
        title: "Read a canvas",
        family: WireFamily::Own,
        group: ToolGroup::Read,
        listed: false,
        idempotent: true,
        paths: &[PathArgument { pointer: "/path", role: PathRole::Read }],
        reasons: &[ReasonKind::NoteMissing, ReasonKind::CanvasInvalid],
        words: "read canvas whiteboard board mind map diagram cards groups edges connections arrows, what is on my canvas",
    };
    type Input = Input;
    type Output = Output;

    fn run(&self, context: &Context<'_>, view: &View, input: Input) -> Result<Output, Reason> {
        let tool = Self::DECLARATION.name;
        let cursor = PageCursor::parse_up_to(input.cursor.as_deref(), 500)?;
        let NamedFile { path, file, .. } = naming::find(context, view, &input.path)?;
        whole_file::check_kind(tool, context, view, &path, CANVAS)?;
        let shown = reading::show(&path, &file)?;
        let board = canvas::open(&path, shown.text())?;
        let page = CanvasPage {
            board: &board,
            ids: ShortIds::of(&board),
            // To say which files are missing; the canvas names files that the caller may not see.
            files: index::files(context, view)?,
            text_limit: input.text_limit,
            places: input.places,
        };
        let total = board.nodes().len();
        let (mut cards, mut lines, mut bytes) = (Vec::new(), Vec::new(), 0);
        // A cursor from before cards were removed leads to the end, not to an error.
        let mut next = cursor.offset.min(total);
        while next < total && cards.len() < cursor.limit {
            context.check()?;
            let card = page.card(next);
            let from = board.nodes()[next].id();
            // With the card that they leave, so that each line is on exactly one page.
            let own: Vec<CanvasLineOutput> = page.lines_from(from).take(MOST_LINES).collect();
            bytes += card.bytes() + own.iter().map(CanvasLineOutput::bytes).sum::<usize>();
            // The first is always shown, so that a page makes progress.
            if bytes > PAGE_BYTES && !cards.is_empty() {
                break;
            }
            cards.push(card);
            lines.extend(own);
            next += 1;
        }
        let next_cursor = (next < total).then(|| PageCursor { offset: next, limit: cursor.limit }.written());
        Ok(Output {
            path: path.to_string(),
            content_hash: file.hash().to_string(),
            card_count: total,
            line_count: board.edges().len(),
            cards,
            lines,
            next_cursor,
        })
    }

    fn text(&self, output: &Output) -> Option<String> {
        let (cards, lines) = (counted(output.card_count, "card"), counted(output.line_count, "line"));
        let mut text =
            format!("{}: {cards}, {lines}, hash {}", quoted(&output.path), hash::digits(&output.content_hash));
        for card in &output.cards {
            text += &format!("\n{}", card.text());
        }
        for CanvasLineOutput { id, from, to, label, arrow } in &output.lines {
            let sign = match *arrow {
                None => "→",
                Some("both") => "↔",
                Some("back") => "←",
                Some(_) => "—",
            };
            let label = label.as_ref().map_or(String::new(), |label| format!(" {}", quoted(label)));
            text += &format!("\n{} {sign} {}{label} ({})", quoted(from), quoted(to), quoted(id));
        }
        if let Some(cursor) = &output.next_cursor {
            text += &format!("\nMore with cursor {cursor}");
        }
        Some(text)
    }

    fn examples(&self) -> Vec<Example> {
        vec![
            Example {
                says: "What is on a canvas",
                before: BEFORE,
                input: json!({ "path": "Plan.canvas" }),
                gives: ExampleResult::Including(json!({
                    "path": "Plan.canvas",
                    "cardCount": 4,
                    "lineCount": 1,
                    "cards": [
                        { "id": "9f3a", "type": "group", "label": "Ideas" },
                        { "id": "1b2c", "type": "text", "text": "Cut the stone", "group": "9f3a" },
                        { "id": "77aa", "type": "file", "file": "Amber.md", "color": "4" },
                        { "id": "88bb", "type": "file", "file": "Gone.md#Use", "missing": true },
                    ],
                    "lines": [{ "id": "e001", "from": "1b2c", "to": "77aa", "label": "uses" }],
                })),
                after: BEFORE,
            },
            Example {
                says: "The beginning of each text, and where the cards are",
                before: BEFORE,
                input: json!({ "path": "Plan.canvas", "textLimit": 3, "places": true }),
                gives: ExampleResult::Including(json!({ "cards": [
                    { "id": "9f3a", "place": [-40, -40, 400, 200] },
                    { "id": "1b2c", "text": "Cut…", "clipped": true, "place": [0, 0, 280, 100] },
                    { "id": "77aa", "place": [500, 0, 280, 100] },
                    { "id": "88bb", "place": [900, 0, 280, 100] },
                ] })),
                after: BEFORE,
            },
            Example {
                says: "A file that is not a canvas",
                before: &[("Broken.canvas", "{\"nodes\": [1]}")],
                input: json!({ "path": "Broken.canvas" }),
                gives: ExampleResult::Refusal(ReasonKind::CanvasInvalid),
                after: &[("Broken.canvas", "{\"nodes\": [1]}")],
            },
        ]
    }
}

const BEFORE: &[(&str, &str)] = &[
    (
        "Plan.canvas",
        "{\n\t\"nodes\":[\n\
         \t\t{\"id\":\"9f3ac0de00000001\",\"type\":\"group\",\"label\":\"Ideas\",\"x\":-40,\"y\":-40,\"width\":400,\"height\":200},\n\
         \t\t{\"id\":\"1b2cc0de00000002\",\"type\":\"text\",\"text\":\"Cut the stone\",\"x\":0,\"y\":0,\"width\":280,\"height\":100},\n\
         \t\t{\"id\":\"77aac0de00000003\",\"type\":\"file\",\"file\":\"Amber.md\",\"color\":\"4\",\"x\":500,\"y\":0,\"width\":280,\"height\":100},\n\
         \t\t{\"id\":\"88bbc0de00000004\",\"type\":\"file\",\"file\":\"Gone.md\",\"subpath\":\"#Use\",\"x\":900,\"y\":0,\"width\":280,\"height\":100}\n\
         \t],\n\t\"edges\":[\n\
         \t\t{\"id\":\"e001c0de00000005\",\"fromNode\":\"1b2cc0de00000002\",\"toNode\":\"77aac0de00000003\",\"label\":\"uses\"}\n\t]\n}",
    ),
    ("Amber.md", "# Amber\n"),
];

/// A canvas while a page of it is made.
struct CanvasPage<'b> {
    board: &'b CanvasBoard,
    ids: ShortIds,
    files: &'b VisibleFiles,
    text_limit: usize,
    places: bool,
}

impl CanvasPage<'_> {
    fn card(&self, index: usize) -> CardOutput {
        let item = &self.board.nodes()[index];
        let text = item.text("text").map(|text| cut(text, self.text_limit));
        let file = item.text("file");
        // What the caller may not see is missing, as in every answer.
        let is_there = |file: &str| VaultPath::parse(file).is_ok_and(|path| self.files.get(&path).is_some());
        let label = |key| item.text(key).filter(|label| !label.is_empty()).map(|label| cut(label, LONGEST_LABEL).0);
        let place = canvas::place(item);
        CardOutput {
            // An id is any text in the file; the app's are short.
            id: cut(self.ids.short(item.id()), LONGEST_LABEL).0,
            r#type: cut(item.text("type").unwrap_or("unknown"), 40).0,
            clipped: text.as_ref().is_some_and(|(_, is_cut)| *is_cut),
            text: text.map(|(text, _)| text),
            missing: file.is_some_and(|file| !is_there(file)),
            file: file.map(|file| cut(&format!("{file}{}", item.text("subpath").unwrap_or_default()), LONGEST_LABEL).0),
            url: label("url"),
            label: label("label"),
            // A canvas has no groups by reference; a card is in the group that it lies in.
            group: canvas::group_of(self.board, index).map(|at| self.ids.short(self.board.nodes()[at].id()).to_owned()),
            color: label("color"),
            place: self.places.then_some([place.x, place.y, place.width, place.height]),
        }
    }

    fn lines_from<'a>(&'a self, from: &'a str) -> impl Iterator<Item = CanvasLineOutput> + 'a {
        let edges = self.board.edges().iter().filter(move |edge| edge.text("fromNode") == Some(from));
        edges.map(move |edge| self.line(edge))
    }

    fn line(&self, edge: &CanvasItem) -> CanvasLineOutput {
        let end = |key| cut(self.ids.short(edge.text(key).unwrap_or_default()), LONGEST_LABEL).0;
        // The format draws an arrow at the end and none at the start, unless it says otherwise.
        let starts = edge.text("fromEnd") == Some("arrow");
        let arrow = match (starts, edge.text("toEnd") != Some("none")) {
            (false, true) => None,
            (true, true) => Some("both"),
            (true, false) => Some("back"),
            (false, false) => Some("none"),
        };
        CanvasLineOutput {
            id: cut(self.ids.short(edge.id()), LONGEST_LABEL).0,
            from: end("fromNode"),
            to: end("toNode"),
            label: edge.text("label").filter(|label| !label.is_empty()).map(|label| cut(label, LONGEST_LABEL).0),
            arrow,
        }
    }
}

/// The beginning of a text, and whether that is not all.
fn cut(text: &str, most: usize) -> (String, bool) {
    match text.char_indices().nth(most) {
        Some((end, _)) => (format!("{}…", &text[..end]), true),
        None => (text.to_owned(), false),
    }
}

impl CardOutput {
    /// Roughly, in the answer.
    fn bytes(&self) -> usize {
        let texts = [&self.text, &self.file, &self.url, &self.label, &self.group, &self.color];
        // With the field names around them.
        60 + self.id.len() + texts.iter().map(|text| text.as_ref().map_or(0, String::len)).sum::<usize>()
    }

    /// In one line: what others wrote is quoted.
    fn text(&self) -> String {
        let mut line = format!("{} {}", quoted(&self.id), quoted(&self.r#type));
        let shown = [&self.label, &self.file, &self.url, &self.text];
        shown.iter().for_each(|text| text.iter().for_each(|text| line += &format!(" {}", quoted(text))));
        if self.missing {
            line += " (missing)";
        }
        if let Some(group) = &self.group {
            line += &format!(" in {}", quoted(group));
        }
        if let Some([x, y, width, height]) = self.place {
            line += &format!(" at {x},{y} {width}×{height}");
        }
        line
    }
}

impl CanvasLineOutput {
    fn bytes(&self) -> usize {
        50 + self.id.len() + self.from.len() + self.to.len() + self.label.as_ref().map_or(0, String::len)
    }
}
