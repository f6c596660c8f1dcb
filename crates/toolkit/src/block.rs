//! Finding blocks by id.

use lapidary_note::{Block, BlockKind, ContentHash, Document, Note, whole_lines};
use lapidary_operation::{BlockCandidate, PartCandidates, Reason, bug, clipped};
use lapidary_vault::VaultPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{heading::missing, place::LineColumns};

/// Names a block of a note.
#[derive(Deserialize, JsonSchema)]
pub struct BlockInput {
    /// With or without the `^`.
    #[serde(rename = "blockId")]
    #[schemars(length(min = 1))]
    id: String,
    /// A line within the block, if several have this id.
    #[serde(default)]
    #[schemars(range(min = 1))]
    line: Option<usize>,
}

/// A block with its lines.
pub struct FoundBlock<'n> {
    pub block: &'n Block,
    /// The line of its id.
    pub line: usize,
    pub start_line: usize,
    pub end_line: usize,
}

impl FoundBlock<'_> {
    /// Whole lines, including its id: the range that a block's hash covers.
    pub fn span(&self, note: &Note<'_>) -> std::ops::Range<usize> {
        block_span(note, self.block)
    }
}

/// Blank lines around a block are not part of it.
fn block_span(note: &Note<'_>, block: &Block) -> std::ops::Range<usize> {
    let own = note.text.get(block.span.clone()).unwrap_or_default();
    // The parser counts blank lines before a block to it; a caller does not.
    let start = block.span.start + own.len() - own.trim_start_matches('\n').len();
    let end = (block.span.start + own.trim_end().len()).max(block.marker.end);
    // The id of a table or a list is on a separate line after it, and belongs to it.
    whole_lines(note.text, start.min(block.marker.start)..end)
}

/// The hash of the first block with this id at or after a place, which the next edit can expect.
pub fn hash_after_edit(document: &Document, id: &str, start: usize) -> Result<String, Reason> {
    let note = document.note();
    // Obsidian compares ids regardless of case.
    let mut named = note.blocks.iter().filter(|block| block.id.eq_ignore_ascii_case(id));
    // An edit may have changed lines before it, so the first one after the place is the edited one.
    let found = named.clone().find(|block| block.span.start >= start).or_else(|| named.next_back());
    let hash = found.and_then(|block| document.hash_of(block_span(&note, block)));
    hash.map(|hash| hash.to_string()).ok_or_else(|| bug!("no block has the id after the edit"))
}

impl BlockInput {
    /// Every block that has this id, in order.
    pub fn all<'n>(&self, note: &'n Note<'_>) -> Vec<FoundBlock<'n>> {
        let id = self.id();
        let places = LineColumns::of(note.text);
        let found = |block: &'n Block| {
            let span = block_span(note, block);
            FoundBlock {
                block,
                line: places.line(block.marker.start),
                start_line: places.line(span.start),
                end_line: places.last_line(span.end),
            }
        };
        let named = note.blocks.iter().filter(|block| block.id.eq_ignore_ascii_case(id)).map(found);
        let meant =
            |found: &FoundBlock<'_>| self.line.is_none_or(|line| (found.start_line..=found.end_line).contains(&line));
        named.filter(meant).collect()
    }

    pub fn id(&self) -> &str {
        self.id.strip_prefix('^').unwrap_or(&self.id)
    }

    pub fn find<'n>(
        &self,
        path: &VaultPath,
        note: &'n Note<'_>,
        hash_of: impl Fn(std::ops::Range<usize>) -> Option<ContentHash>,
    ) -> Result<FoundBlock<'n>, Reason> {
        let mut all = self.all(note);
        match (all.len(), all.pop()) {
            (1, Some(only)) => Ok(only),
            (_, Some(last)) => {
                let candidate = |found: &FoundBlock<'_>| BlockCandidate {
                    line: found.line,
                    start_line: found.start_line,
                    end_line: found.end_line,
                    hash: hash_of(found.span(note)),
                };
                let candidates = PartCandidates::Blocks(all.iter().chain([&last]).map(candidate).collect());
                Err(Reason::Ambiguous { path: path.clone(), target: clipped(&format!("^{}", self.id())), candidates })
            }
            (_, None) => Err(missing(path, "block", self.id(), note.blocks.iter().map(|block| block.id.clone()))),
        }
    }
}

/// The file tools' names for kinds of blocks.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StructuralType {
    Paragraph,
    ListItem,
    TableRow,
    Callout,
    Code,
    Heading,
    Other,
}

impl From<BlockKind> for StructuralType {
    fn from(kind: BlockKind) -> Self {
        match kind {
            BlockKind::Paragraph => Self::Paragraph,
            BlockKind::Item => Self::ListItem,
            BlockKind::Row => Self::TableRow,
            BlockKind::Callout => Self::Callout,
            BlockKind::Code => Self::Code,
            BlockKind::Heading => Self::Heading,
            _ => Self::Other,
        }
    }
}
