//! Operations other than tools for clients and the command line, one file each.

mod check_subscriptions;
mod complete_path;
mod complete_prompt;
mod export_checkpoints;
mod fill_prompt;
mod find_skill;
mod list_prompts;
mod list_skills;
mod name_notes;
mod read_guides;
mod read_resource;
mod rest;
mod subscribe;
mod survey_vault;
mod watch_prompts;

pub(crate) use self::rest::INTERNAL;
pub use self::{
    check_subscriptions::CheckSubscriptions,
    complete_path::CompletePath,
    complete_prompt::CompletePrompt,
    export_checkpoints::ExportCheckpoints,
    fill_prompt::FillPrompt,
    find_skill::FindSkill,
    list_prompts::ListPrompts,
    list_skills::ListSkills,
    name_notes::NameNotes,
    read_guides::{FindGuide, ReadGuides},
    read_resource::ReadResource,
    rest::{
        FindOpenNote, FindPeriodic, FindPlace, LegacyPatch, PlainSearch, ReadNote, RestTags, RunDql, RunLogic,
        ShareSettings, document_map, file_version, legacy_map, legacy_part, parse_instruction, section_of,
    },
    subscribe::Subscribe,
    survey_vault::SurveyVault,
    watch_prompts::WatchPrompts,
};
