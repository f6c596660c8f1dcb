//! A note as text with structure. Pure: no disk, no clock, no locks, no wire format.

mod blocks;
mod callouts;
mod canvas;
mod edit;
mod fields;
mod frontmatter;
mod hash;
mod headings;
mod items;
mod links;
mod marks;
mod note;
mod parse;
mod patch;
mod prompt;
mod properties;
mod replace;
mod span;
mod splice;
mod tags;
mod tasks;
mod text;
mod yaml;

pub use blocks::{Block, BlockKind, blocks};
pub use canvas::{CanvasKind, CanvasValue, canvas_values, with_canvas_values};
pub use edit::{
    Blanks, EditError, Edited, Lines, LinkForm, Operation, PatchContent, PatchTarget, Patched, PropertyEdit,
    PropertyError, PropertyPath, Relocate, Retarget, Section, SectionPart, SectionPatch, SectionPatchError, Side,
    TagEdit, TagPlaces, append_block, append_heading, append_rows, append_tags, append_to_block, append_to_section,
    delete_lines, delete_range, edit_properties, edit_property, edit_property_tag, edit_tag, insert_at, insert_lines,
    insert_tag, is_tag, is_tag_within, patch_section, prepend_rows, prepend_to_block, prepend_to_section,
    relocate_links, relocate_property_link, remove_block_id, remove_tags, rename_block_id, rename_heading,
    rename_tag_tree, rename_tags, replace_block, replace_body, replace_lines, replace_range, replace_ranges,
    replace_rows, replace_section, retarget_links, retarget_property_link, set_block_id, whole_lines,
};
pub use fields::{Field, FieldForm};
pub use frontmatter::{Frontmatter, FrontmatterError};
pub use hash::{ContentHash, ExpectedHash, HashError};
pub use headings::{Heading, HeadingMatch, HeadingStyle, heading_for_link, heading_key, headings};
pub use items::ListItem;
pub use links::{BlockRename, Followed, HeadingRename, Link, LinkDefinition, LinkKind, Place, PropertyLink, Size};
pub use marks::{Callout, Code, CodeKind, Comment, Fold, Footnote, FootnoteKind, Form, Highlight, Math};
pub use note::Note;
pub use patch::{HunkRange, Patch, PatchError, PatchFailure, PatchMismatch};
pub use prompt::{PromptSlot, filled_prompt, prompt_slots};
pub use replace::{Occurrence, ReplaceError, Replaced, replace_text};
pub use splice::{Splice, splice};
pub use tags::{PropertyTag, Tag};
pub use tasks::{Task, TaskField, TaskFieldKind};
pub use text::{Eol, NotUtf8, Text};
pub use yaml::{Content, Node, Property, Value};
