//! A note as text with structure. Pure: no disk, no clock, no locks, no wire format.

mod blocks;
mod callouts;
mod canvas;
mod content;
mod counted;
mod document;
mod edit;
mod fields;
mod frontmatter;
mod hash;
#[cfg(feature = "hash-count")]
mod hash_count;
mod headings;
mod items;
mod line_table;
mod links;
mod marks;
mod memory;
mod note;
mod parse;
mod prompt;
mod properties;
mod quote;
mod rendered_html;
mod span;
mod tags;
mod tasks;
mod text;
mod work;
mod yaml;

pub use blocks::{Block, BlockKind};
pub use canvas::{
    CanvasBoard, CanvasItem, CanvasKind, CanvasList, CanvasScalar, CanvasValue, canvas_values, with_canvas_values,
};
pub use content::FileContent;
pub use counted::{Counted, counted};
pub use document::Document;
pub use edit::{
    BlankLines, DestinationPlace, DocumentParts, EditError, EditResult, HunkRange, InsertSide, InstructionError,
    InstructionOperation, InstructionPayload, InstructionResult, InstructionScope, InstructionTarget, LineRange,
    LinkForm, LinkRelocation, LinkRetarget, MovedPart, MovedText, Occurrence, PartPlace, Patch, PatchContent,
    PatchError, PatchFailure, PatchInstruction, PatchMismatch, PatchOperation, PatchResult, PatchTarget, PropertyEdit,
    PropertyError, PropertyPath, ReplaceError, ReplaceResult, SectionDestination, SectionEdit, SectionPart,
    SectionPatch, SectionPatchError, TagEdit, TagPlaces, block_yaml, edit_yaml, is_tag, is_tag_within, literal_words,
    relevelled, whole_lines,
};
pub use fields::{FieldForm, InlineField};
pub use frontmatter::{Frontmatter, FrontmatterError};
pub use hash::{ContentHash, ExpectedHash, HashError};
#[cfg(feature = "hash-count")]
pub use hash_count::hashed_during;
pub use headings::{Heading, HeadingMatch, HeadingStyle};
pub use items::ListItem;
pub use line_table::LineTable;
pub use links::{
    BlockRename, EmbedSize, HeadingRename, Link, LinkDefinition, LinkKind, LinkOutcome, LinkPlace, PartTransfer,
    PropertyLink, TransferSide,
};
pub use marks::{Callout, CalloutFold, CodeKind, CodeSpan, Comment, Footnote, FootnoteKind, MarkForm, MathSpan};
pub use memory::{ChargeAside, ChargedThread, HeldMemory, MemoryCharges, charge_thread, current_charges, parse_price};
pub use note::{Note, NoteStructure};
pub use prompt::{PromptSlot, filled_prompt, prompt_slots};
pub use quote::{Quoted, one_line, outside_quotations, quoted, visible, visible_json};
pub use rendered_html::HtmlTooLong;
pub use tags::{PropertyTag, Tag};
pub use tasks::{Task, TaskField, TaskFieldKind, TaskFieldStyle, TaskLine, TaskPriority, TaskState};
pub use text::{LineEnding, NotUtf8, shown_text};
pub use work::{GoesOn, WatchedWork, WorkStopped, check_work, count_steps, steps_of, watch_work};
pub use yaml::{NodeContent, Property, YamlNode, YamlValue, read_yaml};
