//! What may be read and written, for every caller.

use super::switch;
use crate::prefixes::prefixes;
use crate::setting::{Setting, SettingFlag, ShownDefault};
use crate::value::{folder_names, source_marks, toggle, word};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("access.read_only"),
        variable: Some("OBSIDIAN_READ_ONLY"),
        flag: Some(SettingFlag { name: "--read-only", value: "", given: |flags| switch(flags.read_only) }),
        default: ShownDefault::Value("false"),
        doc: "Change nothing. Wins over everything else.",
        apply: |draft, given| toggle(&given.raw).map(|read_only| draft.config.access.read_only = read_only),
    },
    Setting {
        key: Some("access.read_paths"),
        variable: Some("OBSIDIAN_READ_PATHS"),
        flag: None,
        default: ShownDefault::Words("everything"),
        doc: "The folders and notes that may be read, including everything below them; case is ignored. What may be \
              written may also be read.",
        apply: |draft, given| prefixes(&given.raw).map(|paths| draft.config.access.read_paths = Some(paths)),
    },
    Setting {
        key: Some("access.write_paths"),
        variable: Some("OBSIDIAN_WRITE_PATHS"),
        flag: None,
        default: ShownDefault::Words("everything"),
        doc: "The folders and notes that may be written, including everything below them.",
        apply: |draft, given| prefixes(&given.raw).map(|paths| draft.config.access.write_paths = Some(paths)),
    },
    Setting {
        key: Some("access.deny_paths"),
        variable: Some("OBSIDIAN_DENY_PATHS"),
        flag: None,
        default: ShownDefault::Words("nothing"),
        doc: "The folders and notes that may be neither read nor written. Wins over the other two.",
        apply: |draft, given| prefixes(&given.raw).map(|paths| draft.config.access.deny_paths = Some(paths)),
    },
    Setting {
        key: Some("access.source_paths"),
        variable: Some("LAPIDARY_SOURCE_PATHS"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Folders of sources, like `Sources`: files may be added to them, and are then neither changed, moved nor \
              deleted. Links in them stay as they are when a note is renamed. A caller may undo what it added itself.",
        apply: |draft, given| prefixes(&given.raw).map(|paths| draft.config.access.source_paths = paths),
    },
    Setting {
        key: Some("access.source_marks"),
        variable: Some("LAPIDARY_SOURCE_MARKS"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Notes that are sources wherever they are: those with a tag, like `#source`, or a value of a property, like \
              `status=final`. A note whose properties cannot be read counts as one.",
        apply: |draft, given| source_marks(&given.raw).map(|marks| draft.config.access.source_marks = marks),
    },
    Setting {
        key: Some("access.excluded_files"),
        variable: Some("LAPIDARY_EXCLUDED_FILES"),
        flag: None,
        default: ShownDefault::Value("show"),
        doc: "How files in Obsidian's \"Excluded files\" setting are treated: `show`, or `hide`, which treats \
              them like ignored files.",
        apply: |draft, given| {
            let words = [("show", false), ("hide", true)];
            word(&given.raw, &words).map(|hide| draft.config.access.hide_excluded = hide)
        },
    },
    Setting {
        key: Some("access.skip_folders"),
        variable: Some("LAPIDARY_SKIP_FOLDERS"),
        flag: None,
        default: ShownDefault::Value("node_modules"),
        doc: "Names of folders to skip at any depth; an empty list in the file means none.",
        apply: |draft, given| folder_names(&given.raw).map(|names| draft.config.access.skip_folders = names),
    },
    Setting {
        key: Some("access.follow_links"),
        variable: Some("LAPIDARY_FOLLOW_LINKS"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Folders outside the vaults that links in a vault may lead to, separated by `;`. All other links that \
              leave a vault are refused.",
        apply: |draft, given| {
            // Not commas, which are common in the names of folders.
            let folders = given.raw.entries(';')?.into_iter().map(|folder| draft.places.whole(folder));
            draft.config.access.follow_links = folders.collect::<Result<_, _>>()?;
            Ok(())
        },
    },
];
