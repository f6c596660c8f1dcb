//! What goes into a document, the same for every format: blocks one after the other, each with its place in quotes and lists. It
//! is flat, so that no nesting of a note can exhaust a stack.

use std::collections::BTreeSet;

use lapidary_note::HeldMemory;
use serde::{Deserialize, Serialize};

/// The most text that one document is made of, in bytes.
pub const TOO_LONG: usize = 16 << 20;
/// Deeper quotes and lists are drawn like these: no program shows more levels.
pub(crate) const DEEPEST_LIST: u8 = 8;
pub(crate) const DEEPEST_QUOTE: u8 = 6;
/// In characters: every block of a callout has its type, and the types that have colours are shorter.
pub(crate) const LONGEST_CALLOUT: usize = 40;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentBody {
    pub blocks: Vec<BodyBlock>,
    /// By their numbers in [`RunContent::Footnote`].
    pub footnotes: Vec<Vec<InlineRun>>,
    pub pictures: Vec<BodyPicture>,
    /// The first number of each list, by [`ListPlace::list`]; none for one with bullets.
    pub lists: Vec<Option<u64>>,
    /// The addresses that runs lead to, by [`InlineRun::link`]: many runs may lead to a long one.
    pub links: Vec<String>,
    /// What all of it takes in memory. A copy takes as much again.
    #[serde(skip)]
    pub held: HeldMemory,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyBlock {
    pub content: BlockContent,
    /// How many quotes are around it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub quote: u8,
    /// The type of the callout around it, in lower case and not longer than [`LONGEST_CALLOUT`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callout: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<ListPlace>,
}

/// For serde, which passes references.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// Where a block is in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListPlace {
    /// Counted from 0.
    pub level: u8,
    /// As an index of [`DocumentBody::lists`].
    pub list: usize,
    /// The box of a task, and whether it is done.
    pub task: Option<bool>,
    /// Whether it is the first block of its item, which has the bullet.
    pub opens: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockContent {
    Heading(u8, Vec<InlineRun>),
    Paragraph(Vec<InlineRun>),
    /// The first line of a callout.
    CalloutTitle(Vec<InlineRun>),
    Code(String),
    /// A formula on its own line.
    Formula(String),
    Table(BodyTable),
    Rule,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyTable {
    pub sides: Vec<ColumnSide>,
    /// The first has the names of the columns.
    pub rows: Vec<Vec<Vec<InlineRun>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnSide {
    #[default]
    Left,
    Center,
    Right,
}

/// A piece of text in one style, or what is in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InlineRun {
    pub content: RunContent,
    #[serde(default, skip_serializing_if = "RunStyle::is_plain")]
    pub style: RunStyle,
    /// Where it leads, as an index of [`DocumentBody::links`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunContent {
    Text(String),
    Break,
    /// As an index of [`DocumentBody::pictures`].
    Picture(usize),
    /// As an index of [`DocumentBody::footnotes`].
    Footnote(usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunStyle {
    pub bold: bool,
    pub italic: bool,
    pub strike: bool,
    pub underline: bool,
    pub highlight: bool,
    pub code: bool,
    pub raised: bool,
    pub lowered: bool,
}

impl RunStyle {
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// A picture that was decoded elsewhere: its bytes are known to be what the format says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyPicture {
    pub format: PictureFormat,
    /// In pixels, as the note wants it shown.
    pub width: u32,
    pub height: u32,
    /// What it shows, for readers who do not see it.
    pub alt: String,
    /// Sent behind everything else, because JSON would take three times as much.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureFormat {
    Png,
    Jpeg,
    Gif,
}

impl PictureFormat {
    /// Office programs show these everywhere; newer ones would be blank in many.
    pub fn of(media_type: &str) -> Option<Self> {
        match media_type {
            "image/png" => Some(Self::Png),
            "image/jpeg" => Some(Self::Jpeg),
            "image/gif" => Some(Self::Gif),
            _ => None,
        }
    }

    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Gif => "gif",
        }
    }

    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
        }
    }
}

/// What a document says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentFacts {
    pub title: String,
    pub author: String,
    pub keywords: Vec<String>,
    pub description: String,
    /// As `2026-04-15T00:00:00Z`.
    pub created: Option<String>,
    pub modified: Option<String>,
}

impl InlineRun {
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: RunContent::Text(text.into()), style: RunStyle::default(), link: None }
    }

    pub(crate) fn plain(content: RunContent) -> Self {
        Self { content, style: RunStyle::default(), link: None }
    }

    pub(crate) fn picture(&self) -> Option<usize> {
        match self.content {
            RunContent::Picture(number) => Some(number),
            RunContent::Text(_) | RunContent::Break | RunContent::Footnote(_) => None,
        }
    }

    pub(crate) fn as_text(&self) -> &str {
        match &self.content {
            RunContent::Text(text) => text,
            RunContent::Break => "\n",
            RunContent::Picture(_) | RunContent::Footnote(_) => "",
        }
    }
}

/// The words of several runs.
pub fn plain_text(runs: &[InlineRun]) -> String {
    runs.iter().map(InlineRun::as_text).collect()
}

impl BodyTable {
    pub(crate) fn width(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// As `a | b` on a line for each row, where there is only room for text.
    pub(crate) fn as_lines(&self) -> String {
        let row = |row: &Vec<Vec<InlineRun>>| row.iter().map(|cell| plain_text(cell)).collect::<Vec<_>>().join(" | ");
        self.rows.iter().map(row).collect::<Vec<_>>().join("\n")
    }
}

impl BodyBlock {
    pub fn plain(content: BlockContent) -> Self {
        Self { content, quote: 0, callout: None, list: None }
    }

    pub(crate) fn runs(&self) -> &[InlineRun] {
        match &self.content {
            BlockContent::Heading(_, runs) | BlockContent::Paragraph(runs) | BlockContent::CalloutTitle(runs) => runs,
            BlockContent::Code(_) | BlockContent::Formula(_) | BlockContent::Table(_) | BlockContent::Rule => &[],
        }
    }
}

impl DocumentBody {
    /// The first heading with words.
    pub fn first_heading(&self) -> Option<String> {
        self.blocks.iter().find_map(|block| match &block.content {
            BlockContent::Heading(_, runs) => Some(plain_text(runs).trim().to_owned()).filter(|text| !text.is_empty()),
            _ => None,
        })
    }

    pub fn tables(&self) -> impl Iterator<Item = &BodyTable> {
        self.blocks.iter().filter_map(|block| match &block.content {
            BlockContent::Table(table) => Some(table),
            _ => None,
        })
    }

    /// The pictures in the text and in tables, which are all but those of footnotes.
    pub(crate) fn pictures_in_blocks(&self) -> BTreeSet<usize> {
        let in_tables = self.tables().flat_map(|table| table.rows.iter().flatten().flatten());
        let in_text = self.blocks.iter().flat_map(BodyBlock::runs);
        in_tables.chain(in_text).filter_map(InlineRun::picture).collect()
    }

    /// Every picture, footnote and address that a run names is there, also if the body came from elsewhere.
    pub(crate) fn is_whole(&self) -> bool {
        // Writers look them up by number, and none may be missing then.
        let is_there = |run: &InlineRun| {
            let is_content = match run.content {
                RunContent::Picture(number) => number < self.pictures.len(),
                RunContent::Footnote(number) => number < self.footnotes.len(),
                RunContent::Text(_) | RunContent::Break => true,
            };
            is_content && run.link.is_none_or(|link| link < self.links.len())
        };
        let in_lists = |block: &BodyBlock| block.list.is_none_or(|place| place.list < self.lists.len());
        let in_tables = |block: &BodyBlock| match &block.content {
            BlockContent::Table(table) => table.rows.iter().flatten().flatten().all(is_there),
            _ => true,
        };
        self.blocks.iter().all(|block| in_lists(block) && in_tables(block) && block.runs().iter().all(is_there))
            && self.footnotes.iter().flatten().all(is_there)
    }
}
