//! The operations on a canvas.

use lapidary_note::{CanvasBoard, CanvasList, CanvasScalar};
use lapidary_operation::{Context, Reason, quote::Prose};
use lapidary_query::PlacedBox;
use lapidary_toolkit::{canvas, naming};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;

use super::unexpected;

/// One change.
pub(super) enum CanvasOperation {
    /// A new card, in a free place unless `x` and `y` say where.
    Add { kind: CardType, id: Option<String>, group: Option<String>, card: CardFields },
    /// Other values for a card or a line; `none` removes a colour, a blank a label.
    Change { id: String, card: CardFields },
    /// To a place, or by a distance. A group takes its cards along.
    Move { id: String, to: (Option<i64>, Option<i64>), by: (i64, i64) },
    /// A line between two cards.
    Connect { from: String, to: String, line: NewLine },
    /// A line, or a card with its lines. The cards of a group stay.
    Remove { id: String },
}

/// What a new line may have.
pub(super) struct NewLine {
    pub(super) id: Option<String>,
    pub(super) label: Option<String>,
    pub(super) color: Option<String>,
    pub(super) sides: (Option<CardSide>, Option<CardSide>),
    pub(super) arrow: LineArrow,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CardType {
    Text,
    File,
    Link,
    Group,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CardSide {
    Top,
    Right,
    Bottom,
    Left,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum LineArrow {
    #[default]
    Forward,
    Both,
    Back,
    None,
}

/// What a card may have.
#[derive(Default)]
pub(super) struct CardFields {
    pub(super) text: Option<String>,
    pub(super) file: Option<String>,
    pub(super) subpath: Option<String>,
    pub(super) url: Option<String>,
    pub(super) label: Option<String>,
    pub(super) color: Option<String>,
    pub(super) x: Option<i64>,
    pub(super) y: Option<i64>,
    pub(super) width: Option<i64>,
    pub(super) height: Option<i64>,
}

impl CardType {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::File => "file",
            Self::Link => "link",
            Self::Group => "group",
        }
    }

    /// As the app makes them.
    fn size(self) -> (i64, i64) {
        match self {
            Self::Text => (260, 120),
            Self::File | Self::Link => (400, 400),
            Self::Group => (600, 400),
        }
    }
}

impl CardSide {
    fn name(self) -> &'static str {
        match self {
            Self::Top => "top",
            Self::Right => "right",
            Self::Bottom => "bottom",
            Self::Left => "left",
        }
    }

    /// The sides of two cards that face each other.
    fn facing(from: &PlacedBox, to: &PlacedBox) -> (Self, Self) {
        // From middle to middle: a large card beside a small one still faces it sideways.
        let across = (to.x + to.width / 2) - (from.x + from.width / 2);
        let down = (to.y + to.height / 2) - (from.y + from.height / 2);
        match () {
            () if across.abs() >= down.abs() && across >= 0 => (Self::Right, Self::Left),
            () if across.abs() >= down.abs() => (Self::Left, Self::Right),
            () if down > 0 => (Self::Bottom, Self::Top),
            () => (Self::Top, Self::Bottom),
        }
    }
}

/// Between cards.
const GAP: i64 = 60;
/// The farthest place from the middle, in either direction.
const FARTHEST: i64 = 1_000_000;
const LONGEST_ID: usize = 64;

/// A canvas while operations change it.
pub(super) struct CanvasChange<'c, 'x> {
    pub(super) tool: &'static str,
    pub(super) context: &'c Context<'x>,
    pub(super) view: &'c View,
    pub(super) board: CanvasBoard,
}

impl CanvasChange<'_, '_> {
    /// Carries out an operation, and says which card or line it was about.
    pub(super) fn apply(&mut self, index: usize, operation: CanvasOperation) -> Result<String, Reason> {
        let at = |name: &str| format!("operations.{index}.{name}");
        match operation {
            CanvasOperation::Add { kind, id, group, card } => self.add(&at, kind, id, group.as_deref(), card),
            CanvasOperation::Change { id, card } => self.change(&at, &id, card),
            CanvasOperation::Move { id, to: (x, y), by: (dx, dy) } => {
                let (_, card) = canvas::find(self.tool, &at("id"), &self.board, &[CanvasList::Nodes], &id)?;
                let place = canvas::place(&self.board.nodes()[card]);
                for (name, number) in [("x", x), ("y", y), ("dx", Some(dx)), ("dy", Some(dy))] {
                    self.check_near(&at(name), number.unwrap_or_default())?;
                }
                // A missing coordinate keeps its value, so a card can be moved along one axis.
                let (x, y) = (x.unwrap_or(place.x) + dx, y.unwrap_or(place.y) + dy);
                self.shift(card, clamped(x) - place.x, clamped(y) - place.y)
            }
            CanvasOperation::Connect { from, to, line: NewLine { id, label, color, sides, arrow } } => {
                let nodes = &[CanvasList::Nodes];
                let (_, from) = canvas::find(self.tool, &at("from"), &self.board, nodes, &from)?;
                let (_, to) = canvas::find(self.tool, &at("to"), &self.board, nodes, &to)?;
                let color = color.map(|color| self.color(&at("color"), color)).transpose()?;
                let id = self.new_id(&at("id"), id, "edge")?;
                let (from, to) = (&self.board.nodes()[from], &self.board.nodes()[to]);
                let facing = CardSide::facing(&canvas::place(from), &canvas::place(to));
                let mut members: Vec<(&str, CanvasScalar)> = vec![
                    ("id", (&*id).into()),
                    ("fromNode", from.id().into()),
                    ("fromSide", sides.0.unwrap_or(facing.0).name().into()),
                    ("toNode", to.id().into()),
                    ("toSide", sides.1.unwrap_or(facing.1).name().into()),
                ];
                // Of the ends, only what differs from the usual is written.
                if matches!(arrow, LineArrow::Both | LineArrow::Back) {
                    members.push(("fromEnd", "arrow".into()));
                }
                if matches!(arrow, LineArrow::None | LineArrow::Back) {
                    members.push(("toEnd", "none".into()));
                }
                members.extend(color.filter(|color| !color.is_empty()).map(|color| ("color", (&*color).into())));
                members.extend(label.filter(|label| !label.trim().is_empty()).map(|label| ("label", (&*label).into())));
                self.board.add(CanvasList::Edges, &members).ok_or_else(unexpected)?;
                Ok(id)
            }
            CanvasOperation::Remove { id } => self.remove(&at, &id),
        }
    }

    fn add(
        &mut self,
        at: &dyn Fn(&str) -> String,
        kind: CardType,
        id: Option<String>,
        group: Option<&str>,
        mut card: CardFields,
    ) -> Result<String, Reason> {
        // The one field without which a card of this type shows nothing.
        let wanted = match kind {
            CardType::Text => ("text", card.text.is_some()),
            CardType::File => ("file", card.file.is_some()),
            CardType::Link => ("url", card.url.is_some()),
            CardType::Group => ("label", true),
        };
        if !wanted.1 {
            return Err(self.refused(&at(wanted.0), "is needed for a card of this type"));
        }
        let (width, height) = kind.size();
        let size = (card.width.unwrap_or(width), card.height.unwrap_or(height));
        let group = group
            .map(|group| canvas::find(self.tool, &at("group"), &self.board, &[CanvasList::Nodes], group))
            .transpose()?
            .map(|(_, index)| index);
        if let Some(group) = group
            && !canvas::is_group(&self.board.nodes()[group])
        {
            return Err(self.refused(&at("group"), "is a card, not a group"));
        }
        // Also if both coordinates are given: the search is cheap, and one of them may be missing.
        let free = self.free_place(size, group);
        (card.x, card.y) = (Some(card.x.unwrap_or(free.x)), Some(card.y.unwrap_or(free.y)));
        (card.width, card.height) = (Some(size.0), Some(size.1));
        let id = self.new_id(&at("id"), id, kind.name())?;
        let mut members = vec![("id", CanvasScalar::from(&*id)), ("type", kind.name().into())];
        members.extend(
            self.values(at, Some(kind.name()), card)?.into_iter().filter_map(|(key, value)| Some((key, value?))),
        );
        self.board.add(CanvasList::Nodes, &members).ok_or_else(unexpected)?;
        // After the card is there, since the group has to hold it.
        if let Some(group) = group {
            self.stretch(group)?;
        }
        Ok(id)
    }

    fn change(&mut self, at: &dyn Fn(&str) -> String, id: &str, card: CardFields) -> Result<String, Reason> {
        let both = &[CanvasList::Nodes, CanvasList::Edges];
        let (list, index) = canvas::find(self.tool, &at("id"), &self.board, both, id)?;
        let item = &self.board.items(list)[index];
        let kind = match list {
            CanvasList::Nodes => item.text("type").unwrap_or_default().to_owned(),
            CanvasList::Edges => "line".to_owned(),
        };
        let id = item.id().to_owned();
        let values = self.values(at, Some(&kind), card)?;
        // A call that changes nothing is more likely a mistake than a wish.
        if values.is_empty() {
            return Err(self.refused(&at("id"), "names a card, and nothing says what to change"));
        }
        for (key, value) in values {
            self.board.set(list, index, key, value.as_ref()).ok_or_else(unexpected)?;
        }
        Ok(id)
    }

    /// The members that the fields stand for; `None` removes one. Fields that another kind of card has are refused.
    fn values(
        &self,
        at: &dyn Fn(&str) -> String,
        kind: Option<&str>,
        card: CardFields,
    ) -> Result<Vec<(&'static str, Option<CanvasScalar>)>, Reason> {
        let CardFields { text, file, subpath, url, label, color, x, y, width, height } = card;
        // The app shows a name where a card was moved to, so a card has the path.
        let file = file.map(|file| naming::find(self.context, self.view, &file)).transpose()?;
        let file = file.map(|found| found.path.to_string());
        let color = color.map(|color| self.color(&at("color"), color)).transpose()?;
        let texts = [
            ("text", text, ["text", ""]),
            ("file", file, ["file", ""]),
            ("subpath", subpath, ["file", ""]),
            ("url", url, ["link", ""]),
            ("label", label, ["group", "line"]),
        ];
        let mut values = Vec::new();
        for (key, value, kinds) in texts {
            let Some(value) = value else { continue };
            // A file card with a text would keep it unseen, and its author would wonder.
            if !kind.is_some_and(|kind| kinds.contains(&kind)) {
                return Err(self.refused(&at(key), "is not for this type of card"));
            }
            if key == "subpath" && !value.trim().is_empty() && !value.starts_with('#') {
                return Err(self.refused(&at(key), "must begin with `#`"));
            }
            // An empty text would count as not given.
            let is_removed = value.trim().is_empty() && matches!(key, "subpath" | "label");
            values.push((key, (!is_removed).then_some(CanvasScalar::Text(value))));
        }
        for (key, value) in [("x", x), ("y", y), ("width", width), ("height", height)] {
            let Some(value) = value else { continue };
            if kind == Some("line") {
                return Err(self.refused(&at(key), "is not for lines"));
            }
            self.check_near(&at(key), value)?;
            values.push((key, Some(CanvasScalar::Number(value))));
        }
        values.extend(color.map(|color| ("color", (!color.is_empty()).then_some(CanvasScalar::Text(color)))));
        Ok(values)
    }

    /// Refuses a place or a size that no one would find again.
    fn check_near(&self, at: &str, number: i64) -> Result<(), Reason> {
        match (-FARTHEST..=FARTHEST).contains(&number) {
            true => Ok(()),
            false => Err(self.refused(at, "must be between -1000000 and 1000000")),
        }
    }

    /// Moves a card; a group with what lies in it.
    fn shift(&mut self, card: usize, dx: i64, dy: i64) -> Result<String, Reason> {
        let own = canvas::place(&self.board.nodes()[card]);
        // Wholly inside. A card that only overlaps the border stays where it is, as in the app.
        let is_inside = |place: &PlacedBox| {
            place.x >= own.x
                && place.y >= own.y
                && place.x + place.width <= own.x + own.width
                && place.y + place.height <= own.y + own.height
        };
        let takes_along = canvas::is_group(&self.board.nodes()[card]);
        let places: Vec<PlacedBox> = self.board.nodes().iter().map(canvas::place).collect();
        let moved = places.iter().enumerate();
        let moved = moved.filter(|(index, place)| *index == card || (takes_along && is_inside(place)));
        let moved: Vec<(usize, i64, i64)> =
            moved.map(|(index, place)| (index, clamped(place.x + dx), clamped(place.y + dy))).collect();
        self.context.check()?;
        self.board.place(&moved).ok_or_else(unexpected)?;
        Ok(self.board.nodes()[card].id().to_owned())
    }

    fn remove(&mut self, at: &dyn Fn(&str) -> String, id: &str) -> Result<String, Reason> {
        let both = &[CanvasList::Nodes, CanvasList::Edges];
        let (list, index) = canvas::find(self.tool, &at("id"), &self.board, both, id)?;
        let id = self.board.items(list)[index].id().to_owned();
        // Lines without one of their ends would make the file invalid for the app.
        if list == CanvasList::Nodes {
            let ends =
                |edge: &lapidary_note::CanvasItem| [edge.text("fromNode"), edge.text("toNode")].contains(&Some(&*id));
            let is_removed: Vec<bool> = self.board.edges().iter().map(ends).collect();
            if is_removed.contains(&true) {
                self.board.remove(CanvasList::Edges, &is_removed).ok_or_else(unexpected)?;
            }
        }
        let is_removed: Vec<bool> = (0..self.board.items(list).len()).map(|at| at == index).collect();
        self.board.remove(list, &is_removed).ok_or_else(unexpected)?;
        Ok(id)
    }

    /// Right of everything, at the top; in a group, below its cards.
    fn free_place(&self, (width, height): (i64, i64), group: Option<usize>) -> PlacedBox {
        let places = || self.board.nodes().iter().map(canvas::place);
        let (x, y) = match group {
            // The top of the highest card, so that a new one is in sight.
            None => match (places().map(|place| place.x + place.width).max(), places().map(|place| place.y).min()) {
                (Some(right), Some(top)) => (right + GAP, top),
                _ => (0, 0),
            },
            Some(group) => {
                let border = canvas::place(&self.board.nodes()[group]);
                let inside = (0..self.board.nodes().len())
                    .filter(|index| canvas::group_of(&self.board, *index) == Some(group))
                    .map(|index| canvas::place(&self.board.nodes()[index]));
                let bottom = inside.map(|place| place.y + place.height).max();
                (border.x + GAP / 2, bottom.map_or(border.y + GAP / 2, |bottom| bottom + GAP / 2))
            }
        };
        PlacedBox { x, y, width, height }
    }

    /// Makes a group large enough for the card that was just added to it.
    fn stretch(&mut self, group: usize) -> Result<(), Reason> {
        // The card was added last.
        let (Some(card), border) =
            (self.board.nodes().last().map(canvas::place), canvas::place(&self.board.nodes()[group]))
        else {
            return Ok(());
        };
        let needed = [
            ("width", border.width, card.x + card.width + GAP / 2 - border.x),
            ("height", border.height, card.y + card.height + GAP / 2 - border.y),
        ];
        for (key, has, needs) in needed {
            if needs > has {
                let value = CanvasScalar::Number(needs);
                self.board.set(CanvasList::Nodes, group, key, Some(&value)).ok_or_else(unexpected)?;
            }
        }
        Ok(())
    }

    fn new_id(&self, at: &str, given: Option<String>, kind: &str) -> Result<String, Reason> {
        let Some(given) = given else {
            // From the text of the board as well, so that two equal cards get different ids.
            return Ok(canvas::new_id(&self.board, &format!("{kind}\n{}", self.board.text())));
        };
        if given.is_empty() || given.len() > LONGEST_ID || given.chars().any(|letter| letter.is_control()) {
            return Err(self.refused(at, "must have 1 to 64 letters"));
        }
        if self.board.nodes().iter().chain(self.board.edges()).any(|item| item.id() == given) {
            return Err(self.refused(at, "is the id of another card or line"));
        }
        Ok(given)
    }

    fn color(&self, at: &str, given: String) -> Result<String, Reason> {
        let is_hex = |digits: &str| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        // An empty text removes the member.
        if given == "none" {
            return Ok(String::new());
        }
        let is_preset = matches!(&*given, "1" | "2" | "3" | "4" | "5" | "6");
        if is_preset || given.strip_prefix('#').is_some_and(is_hex) {
            return Ok(given);
        }
        Err(self.refused(at, "must be `1` to `6`, `#rrggbb` or `none`"))
    }

    fn refused(&self, at: &str, problem: &'static str) -> Reason {
        Reason::bad_argument(self.tool, at, Prose::ours(problem))
    }
}

fn clamped(number: i64) -> i64 {
    number.clamp(-FARTHEST, FARTHEST)
}
