//! What the REST API does to a vault: requests that read, and changes that only it makes. Each goes through the executor like
//! a tool.

mod app;
mod changes;
mod copy_file;
mod document_map;
mod find_periodic;
mod find_place;
mod legacy_patch;
mod moves;
mod parse_instruction;
mod patch_file;
mod read_note;
mod search_notes;
mod share_settings;
mod write_file;

use lapidary_operation::{ActionEntry, AnyTool, ReadEntry, WriteEntry};

pub(crate) use self::changes::RestChange;
pub use self::{
    app::FindOpenNote,
    document_map::{document_map, legacy_map, legacy_part, section_of},
    find_periodic::FindPeriodic,
    find_place::FindPlace,
    legacy_patch::LegacyPatch,
    parse_instruction::parse_instruction,
    read_note::{ReadNote, RestTags, file_version},
    search_notes::{PlainSearch, RunDql, RunLogic},
    share_settings::ShareSettings,
};

/// The changes of the REST API.
pub(crate) const INTERNAL: &[&dyn AnyTool] = &[
    &WriteEntry(write_file::RestWrite),
    &WriteEntry(patch_file::RestPatch),
    &WriteEntry(copy_file::RestCopy),
    &WriteEntry(moves::RestMove),
    &WriteEntry(moves::RestDelete),
    &ActionEntry(app::RestOpen),
    &ReadEntry(app::RestCommands),
    &ActionEntry(app::RestCommand),
];
