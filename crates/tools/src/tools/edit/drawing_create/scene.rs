//! A drawing in the format of the plugin: a note with the texts of the drawing, so that they are found and linked, and the
//! drawing itself as JSON.

use lapidary_query::{LayeredCard, PlacedBox, layered};
use lapidary_toolkit::canvas::id_of;
use lapidary_vault::VaultPath;
use serde_json::{Map, Value, json};

use super::{DrawnArrow, DrawnElement, ElementShape};

const FONT_SIZE: i64 = 20;
/// The height of a line of text, for this size.
const LINE_HEIGHT: i64 = 25;
/// The width of a letter, roughly: the plugin measures again when it opens the drawing.
const LETTER_WIDTH: i64 = 11;
/// The longest line of a label, in letters.
const LONGEST_LINE: usize = 28;
/// Between a label and the border of its shape.
const PADDING: i64 = 20;
/// Between an arrow and the shapes that it connects.
const ARROW_GAP: i64 = 8;
const INK: &str = "#1e1e1e";

/// The notice that the plugin puts into its files, for a reader without it.
const NOTICE: &str = "==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠== You can decompress Drawing data with the command palette: 'Decompress current Excalidraw file'. For more info check in plugin settings under 'Saving'";

/// The whole file.
pub(super) fn drawing(
    path: &VaultPath,
    elements: &[DrawnElement],
    arrows: &[DrawnArrow],
    links: &[(usize, usize)],
) -> String {
    let mut scene = DrawnScene { path, texts: Vec::new(), links: Vec::new(), drawn: Vec::new() };
    let labels: Vec<LabelText> = elements.iter().map(|element| LabelText::of(&element.label)).collect();
    let places = places(elements, &labels, links);
    for (number, ((element, label), place)) in elements.iter().zip(&labels).zip(&places).enumerate() {
        // Both ends of an arrow name it, or the plugin does not move it with the shape.
        let bound: Vec<Value> = links
            .iter()
            .enumerate()
            .filter(|(_, (from, to))| *from == number || *to == number)
            .map(|(arrow, _)| json!({ "type": "arrow", "id": scene.id("arrow", arrow) }))
            .collect();
        scene.add_element(number, element, label, *place, bound);
    }
    for (number, (arrow, (from, to))) in arrows.iter().zip(links).enumerate() {
        let ends = [(*from, &elements[*from]), (*to, &elements[*to])];
        scene.add_arrow(number, arrow, ends, [places[*from], places[*to]]);
    }
    scene.into_text()
}

/// A label in lines that fit a shape.
struct LabelText {
    wrapped: String,
    width: i64,
    height: i64,
}

impl LabelText {
    fn of(label: &str) -> Self {
        let mut lines: Vec<String> = Vec::new();
        // Line breaks of the label stay; only long lines are wrapped.
        for paragraph in label.trim().lines() {
            let mut line = String::new();
            for word in paragraph.split_whitespace() {
                // Counted in characters, which is near enough for a font that is measured again.
                if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > LONGEST_LINE {
                    lines.push(std::mem::take(&mut line));
                }
                let space = if line.is_empty() { "" } else { " " };
                line = format!("{line}{space}{word}");
            }
            lines.push(line);
        }
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX / LETTER_WIDTH);
        Self {
            width: count(longest) * LETTER_WIDTH,
            height: count(lines.len()) * LINE_HEIGHT,
            wrapped: lines.join("\n"),
        }
    }
}

/// Where each element is: as given, else in layers right of those.
fn places(elements: &[DrawnElement], labels: &[LabelText], links: &[(usize, usize)]) -> Vec<PlacedBox> {
    let size = |(element, label): (&DrawnElement, &LabelText)| {
        // On the grid of the layout, with room for the label; in round shapes, the corners are lost.
        let (width, height) = match element.shape {
            ElementShape::Text => (label.width, label.height),
            ElementShape::Rectangle => (label.width + 2 * PADDING, label.height + 2 * PADDING),
            ElementShape::Ellipse => ((label.width + PADDING) * 3 / 2, (label.height + PADDING) * 3 / 2),
            ElementShape::Diamond => (label.width * 2 + 2 * PADDING, label.height * 2 + 2 * PADDING),
        };
        // Rounded up to the grid of twenty.
        let on_grid = |length: i64| (length + 19) / 20 * 20;
        LayeredCard { width: on_grid(width).max(60), height: on_grid(height).max(40), group: None }
    };
    let cards: Vec<LayeredCard> = elements.iter().zip(labels).map(size).collect();
    let given = |element: &DrawnElement| Some((element.x?, element.y?));
    let free: Vec<usize> = (0..elements.len()).filter(|number| given(&elements[*number]).is_none()).collect();
    let free_cards: Vec<LayeredCard> = free.iter().map(|number| cards[*number]).collect();
    // Arrows between a given and a free place do not take part in the layout.
    let both = |(from, to): &(usize, usize)| Some((free.binary_search(from).ok()?, free.binary_search(to).ok()?));
    let free_links: Vec<(usize, usize)> = links.iter().filter_map(both).collect();
    let laid_out = layered(&free_cards, &free_links, 0).cards;
    // Free elements go right of the given ones, so that none overlap.
    let right = (0..elements.len())
        .filter_map(|number| given(&elements[number]).map(|(x, _)| x + cards[number].width + 120))
        .max();
    let mut laid_out = laid_out.into_iter();
    elements
        .iter()
        .zip(&cards)
        .map(|(element, card)| match given(element) {
            Some((x, y)) => PlacedBox { x, y, width: card.width, height: card.height },
            None => laid_out
                .next()
                .map_or_else(PlacedBox::default, |place| PlacedBox { x: place.x + right.unwrap_or(0), ..place }),
        })
        .collect()
}

struct DrawnScene<'p> {
    path: &'p VaultPath,
    /// Each text with its id, for the section of texts.
    texts: Vec<(String, String)>,
    /// The links of elements, for their section.
    links: Vec<(String, String)>,
    drawn: Vec<Value>,
}

impl DrawnScene<'_> {
    /// Tools have no random numbers: ids follow from the file and the number.
    fn id(&self, kind: &str, number: usize) -> String {
        // The plugin knows a text by eight letters after `^`.
        id_of(&format!("{}\n{kind} {number}", self.path)).chars().take(8).collect()
    }

    /// What every element has.
    fn base(&self, kind: &str, id: &str, place: PlacedBox, color: &str) -> Map<String, Value> {
        // The plugin draws a shape by hand from its seed, so that it looks the same each time.
        let seed = id.bytes().fold(1_u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(u32::from(byte))) >> 1;
        let own = [
            ("id", json!(id)),
            ("type", json!(kind)),
            ("x", json!(place.x)),
            ("y", json!(place.y)),
            ("width", json!(place.width)),
            ("height", json!(place.height)),
            ("angle", json!(0)),
            ("strokeColor", json!(color)),
            ("backgroundColor", json!("transparent")),
            ("fillStyle", json!("solid")),
            ("strokeWidth", json!(2)),
            ("strokeStyle", json!("solid")),
            ("roughness", json!(1)),
            ("opacity", json!(100)),
            ("groupIds", json!([])),
            ("frameId", Value::Null),
            ("roundness", Value::Null),
            ("seed", json!(seed)),
            ("version", json!(1)),
            ("versionNonce", json!(seed)),
            ("isDeleted", json!(false)),
            ("boundElements", json!([])),
            ("updated", json!(1)),
            ("link", Value::Null),
            ("locked", json!(false)),
        ];
        own.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn add_element(
        &mut self,
        number: usize,
        element: &DrawnElement,
        label: &LabelText,
        place: PlacedBox,
        mut bound: Vec<Value>,
    ) {
        let color = element.color.as_deref().unwrap_or(INK);
        let text_id = self.id("text", number);
        let shape_id = self.id("shape", number);
        let kind = match element.shape {
            ElementShape::Rectangle => "rectangle",
            ElementShape::Ellipse => "ellipse",
            ElementShape::Diamond => "diamond",
            // A text without a shape is its own element, so arrows are bound to it directly.
            ElementShape::Text => {
                let place = PlacedBox { width: label.width, height: label.height, ..place };
                self.add_text(&text_id, label, place, color, None, element.link.as_deref(), &bound);
                return;
            }
        };
        let mut shape = self.base(kind, &shape_id, place, color);
        if kind != "ellipse" {
            // The kinds of rounded corners that the plugin writes for each shape.
            shape.insert("roundness".to_owned(), json!({ "type": if kind == "rectangle" { 3 } else { 2 } }));
        }
        if let Some(fill) = &element.fill {
            shape.insert("backgroundColor".to_owned(), json!(fill));
        }
        if let Some(link) = &element.link {
            shape.insert("link".to_owned(), json!(link));
            self.links.push((shape_id.clone(), link.clone()));
        }
        // The label first, as the plugin writes it.
        bound.insert(0, json!({ "type": "text", "id": text_id }));
        shape.insert("boundElements".to_owned(), json!(bound));
        self.drawn.push(Value::Object(shape));
        let place = PlacedBox {
            x: place.x + (place.width - label.width) / 2,
            y: place.y + (place.height - label.height) / 2,
            width: label.width,
            height: label.height,
        };
        self.add_text(&text_id, label, place, color, Some(&shape_id), None, &[]);
    }

    #[expect(clippy::too_many_arguments, reason = "a text has this many properties")]
    fn add_text(
        &mut self,
        id: &str,
        label: &LabelText,
        place: PlacedBox,
        color: &str,
        container: Option<&str>,
        link: Option<&str>,
        bound: &[Value],
    ) {
        let mut text = self.base("text", id, place, color);
        let align = if container.is_some() { ("center", "middle") } else { ("left", "top") };
        let more = json!({
            "text": label.wrapped, "rawText": label.wrapped, "originalText": label.wrapped, "fontSize": FONT_SIZE,
            "fontFamily": 5, "textAlign": align.0, "verticalAlign": align.1, "containerId": container,
            "autoResize": true, "lineHeight": 1.25, "boundElements": bound, "link": link,
        });
        if let Value::Object(more) = more {
            text.extend(more);
        }
        if let Some(link) = link {
            self.links.push((id.to_owned(), link.to_owned()));
        }
        self.drawn.push(Value::Object(text));
        self.texts.push((id.to_owned(), label.wrapped.clone()));
    }

    fn add_arrow(
        &mut self,
        number: usize,
        arrow: &DrawnArrow,
        [(from, from_element), (to, to_element)]: [(usize, &DrawnElement); 2],
        [start, end]: [PlacedBox; 2],
    ) {
        let id = self.id("arrow", number);
        let (begin, finish) = ends(&start, &end);
        let (dx, dy) = (finish.0 - begin.0, finish.1 - begin.1);
        // Points are relative to the first, and the size is always positive.
        let place = PlacedBox { x: begin.0, y: begin.1, width: dx.abs(), height: dy.abs() };
        let mut drawn = self.base("arrow", &id, place, INK);
        let bound_id = |number: usize, element: &DrawnElement| match element.shape {
            ElementShape::Text => self.id("text", number),
            ElementShape::Rectangle | ElementShape::Ellipse | ElementShape::Diamond => self.id("shape", number),
        };
        let binding = |id: String| json!({ "elementId": id, "focus": 0, "gap": ARROW_GAP });
        let more = json!({
            "points": [[0, 0], [dx, dy]], "lastCommittedPoint": null, "startBinding": binding(bound_id(from, from_element)),
            "endBinding": binding(bound_id(to, to_element)), "startArrowhead": null, "endArrowhead": "arrow",
            "elbowed": false, "roundness": { "type": 2 },
        });
        if let Value::Object(more) = more {
            drawn.extend(more);
        }
        let Some(label) = arrow.label.as_deref().filter(|label| !label.trim().is_empty()) else {
            self.drawn.push(Value::Object(drawn));
            return;
        };
        let (label, text_id) = (LabelText::of(label), self.id("arrow text", number));
        drawn.insert("boundElements".to_owned(), json!([{ "type": "text", "id": text_id }]));
        // The arrow before its label, which refers to it.
        self.drawn.push(Value::Object(drawn));
        let middle = ((begin.0 + finish.0) / 2, (begin.1 + finish.1) / 2);
        let place = PlacedBox {
            x: middle.0 - label.width / 2,
            y: middle.1 - label.height / 2,
            width: label.width,
            height: label.height,
        };
        self.add_text(&text_id, &label, place, INK, Some(&id), None, &[]);
    }

    fn into_text(self) -> String {
        let mut text = format!(
            "---\n\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n\n---\n{NOTICE}\n\n\n# Excalidraw Data\n\n## Text Elements\n"
        );
        for (id, words) in &self.texts {
            text += &format!("{words} ^{id}\n\n");
        }
        if !self.links.is_empty() {
            text += "## Element Links\n";
            for (id, link) in &self.links {
                text += &format!("{id}: {link}\n\n");
            }
        }
        let scene = json!({
            "type": "excalidraw",
            "version": 2,
            "source": "https://github.com/zsviczian/obsidian-excalidraw-plugin",
            "elements": self.drawn,
            "appState": { "theme": "light", "viewBackgroundColor": "#ffffff", "gridSize": null },
            "files": {},
        });
        // Serialising values that were just made cannot fail.
        // Behind `%%`, so that reading view hides the data of the drawing.
        let scene = serde_json::to_string_pretty(&scene).unwrap_or_default();
        // A label may hold a fence; inside JSON it cannot begin a line, so it does not end this one.
        text += &format!("%%\n## Drawing\n```json\n{scene}\n```\n%%\n");
        text
    }
}

/// Where an arrow leaves one shape and meets the other: at the sides that face each other.
fn ends(start: &PlacedBox, end: &PlacedBox) -> ((i64, i64), (i64, i64)) {
    let middle = |place: &PlacedBox| (place.x + place.width / 2, place.y + place.height / 2);
    let (from, to) = (middle(start), middle(end));
    let (across, down) = (to.0 - from.0, to.1 - from.1);
    match () {
        () if across.abs() >= down.abs() && across >= 0 => {
            ((start.x + start.width + ARROW_GAP, from.1), (end.x - ARROW_GAP, to.1))
        }
        () if across.abs() >= down.abs() => ((start.x - ARROW_GAP, from.1), (end.x + end.width + ARROW_GAP, to.1)),
        () if down > 0 => ((from.0, start.y + start.height + ARROW_GAP), (to.0, end.y - ARROW_GAP)),
        () => ((from.0, start.y - ARROW_GAP), (to.0, end.y + end.height + ARROW_GAP)),
    }
}
