//! An operation as callers write it: one flat object, since a model pays for every field that is listed twice.

use lapidary_operation::Reason;
use schemars::JsonSchema;
use serde::Deserialize;

use super::operation::{CanvasOperation, CardFields, CardSide, CardType, LineArrow, NewLine};

/// One change. Ids may be cut where they are still different.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CanvasStep {
    op: StepKind,
    /// Of the card or line; a new one gets it.
    #[serde(default)]
    id: Option<String>,
    /// Of a new card.
    #[serde(default)]
    r#type: Option<CardType>,
    /// To place a new card in.
    #[serde(default)]
    group: Option<String>,
    /// Markdown of a text card.
    #[serde(default)]
    text: Option<String>,
    /// File of a file card.
    #[serde(default)]
    file: Option<String>,
    /// Heading or block of that file: `#Heading`, `#^id`.
    #[serde(default)]
    subpath: Option<String>,
    /// Of a link card.
    #[serde(default)]
    url: Option<String>,
    /// Of a group or a line; a blank removes it.
    #[serde(default)]
    label: Option<String>,
    /// `1` red, `2` orange, `3` yellow, `4` green, `5` cyan, `6` purple, `#rrggbb` or `none`.
    #[serde(default)]
    color: Option<String>,
    /// Where; a free place by default.
    #[serde(default)]
    x: Option<i64>,
    /// Where.
    #[serde(default)]
    y: Option<i64>,
    /// By how much to move; a group takes its cards along.
    #[serde(default)]
    dx: Option<i64>,
    /// By how much to move.
    #[serde(default)]
    dy: Option<i64>,
    /// In pixels.
    #[serde(default)]
    #[schemars(range(min = 20, max = 20_000))]
    width: Option<i64>,
    /// In pixels.
    #[serde(default)]
    #[schemars(range(min = 20, max = 20_000))]
    height: Option<i64>,
    /// A card.
    #[serde(default)]
    from: Option<String>,
    /// A card.
    #[serde(default)]
    to: Option<String>,
    /// Where the line leaves; the nearest side by default.
    #[serde(default)]
    from_side: Option<CardSide>,
    /// Where the line ends.
    #[serde(default)]
    to_side: Option<CardSide>,
    /// Of a line.
    #[serde(default)]
    arrow: Option<LineArrow>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StepKind {
    Add,
    Change,
    Move,
    Connect,
    Remove,
}

impl StepKind {
    /// The fields that mean something for it.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Add => &[
                "id", "type", "group", "text", "file", "subpath", "url", "label", "color", "x", "y", "width", "height",
            ],
            Self::Change => &["id", "text", "file", "subpath", "url", "label", "color", "x", "y", "width", "height"],
            Self::Move => &["id", "x", "y", "dx", "dy"],
            Self::Connect => &["id", "from", "to", "label", "color", "from_side", "to_side", "arrow"],
            Self::Remove => &["id"],
        }
    }
}

impl CanvasStep {
    /// What it asks for; a field that means nothing there is refused, since its author expects something of it.
    pub(super) fn operation(self, tool: &str, index: usize) -> Result<CanvasOperation, Reason> {
        let kind = self.op;
        // The path of the field in the arguments, so that a caller knows which of many operations is wrong.
        let at = |name: &str| format!("operations.{index}.{name}");
        let known = kind.fields();
        // By name rather than by type: the flat object accepts every field, so the check is made here.
        if let Some(name) = self.given().into_iter().find(|name| !known.contains(name)) {
            let problem = "means nothing in this operation; leave it out";
            return Err(Reason::bad_argument(tool, &at(name), problem));
        }
        let required = |value: Option<String>, name: &str| {
            value.ok_or_else(|| Reason::bad_argument(tool, &at(name), "is required in this operation"))
        };
        let Self { id, text, file, subpath, url, label, color, x, y, width, height, .. } = self;
        Ok(match kind {
            StepKind::Add => CanvasOperation::Add {
                kind: self
                    .r#type
                    .ok_or_else(|| Reason::bad_argument(tool, &at("type"), "is required in this operation"))?,
                id,
                group: self.group,
                card: CardFields { text, file, subpath, url, label, color, x, y, width, height },
            },
            StepKind::Change => CanvasOperation::Change {
                id: required(id, "id")?,
                card: CardFields { text, file, subpath, url, label, color, x, y, width, height },
            },
            StepKind::Move => CanvasOperation::Move {
                id: required(id, "id")?,
                // A place or a distance, or both: the distance is added to the place.
                to: (x, y),
                by: (self.dx.unwrap_or_default(), self.dy.unwrap_or_default()),
            },
            StepKind::Connect => CanvasOperation::Connect {
                from: required(self.from, "from")?,
                to: required(self.to, "to")?,
                line: NewLine {
                    id,
                    label,
                    color,
                    sides: (self.from_side, self.to_side),
                    arrow: self.arrow.unwrap_or_default(),
                },
            },
            StepKind::Remove => CanvasOperation::Remove { id: required(id, "id")? },
        })
    }

    /// The names of the fields that have a value.
    fn given(&self) -> Vec<&'static str> {
        // Written out, because serde does not say which fields were present.
        let fields = [
            ("id", self.id.is_some()),
            ("type", self.r#type.is_some()),
            ("group", self.group.is_some()),
            ("text", self.text.is_some()),
            ("file", self.file.is_some()),
            ("subpath", self.subpath.is_some()),
            ("url", self.url.is_some()),
            ("label", self.label.is_some()),
            ("color", self.color.is_some()),
            ("x", self.x.is_some()),
            ("y", self.y.is_some()),
            ("dx", self.dx.is_some()),
            ("dy", self.dy.is_some()),
            ("width", self.width.is_some()),
            ("height", self.height.is_some()),
            ("from", self.from.is_some()),
            ("to", self.to.is_some()),
            ("from_side", self.from_side.is_some()),
            ("to_side", self.to_side.is_some()),
            ("arrow", self.arrow.is_some()),
        ];
        fields.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }
}
