//! Which tools callers see and may use.

use super::{list, switch};
use crate::prefixes::prefixes;
use crate::profiles::profiles;
use crate::raw::RawValue;
use crate::refused::ConfigRefusal;
use crate::setting::{Setting, SettingFlag, ShownDefault};
use crate::value::{names, toggle};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("tools.include"),
        variable: Some("LAPIDARY_TOOLS"),
        flag: Some(SettingFlag { name: "--tools", value: "LIST", given: |flags| list(&flags.tools) }),
        default: ShownDefault::Words("`default`"),
        doc: "The tools to list: names of tools and groups, `default`, `obsidian`, `files`, `chatgpt` or `all`.",
        apply: |draft, given| {
            let names = names(&given.raw)?;
            if !names.is_empty() {
                draft.config.tools.include = Some(names);
            }
            Ok(())
        },
    },
    Setting {
        key: Some("tools.exclude"),
        variable: Some("LAPIDARY_EXCLUDE_TOOLS"),
        flag: Some(SettingFlag { name: "--exclude-tools", value: "LIST", given: |flags| list(&flags.exclude_tools) }),
        default: ShownDefault::Words("none"),
        doc: "The tools to exclude, with the same syntax. Overrides the list.",
        apply: |draft, given| {
            let names = names(&given.raw)?;
            if !names.is_empty() {
                draft.config.tools.exclude = names;
            }
            Ok(())
        },
    },
    Setting {
        key: Some("profile"),
        variable: Some("LAPIDARY_PROFILE"),
        flag: Some(SettingFlag {
            name: "--profile",
            value: "NAME",
            given: |flags| flags.profile.clone().map(RawValue::Text),
        }),
        default: ShownDefault::Value("curator"),
        doc: "Which of the enabled tools callers may use: `reader` only reads, `editor` changes notes in \
              ways that can be undone, `curator` has everything; or a custom profile.",
        apply: |draft, given| {
            draft.config.profile = given.raw.text()?.to_owned();
            draft.profile_place = Some(given.place.clone());
            Ok(())
        },
    },
    Setting {
        key: Some("profiles"),
        variable: None,
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Custom profiles, in the file only: a table `[profiles.name]` with `allow` and `exclude`, lists of \
              tools and groups as in the list of tools, and `effect`, the strongest effect allowed on files (`read`, `write` or \
              `destroy`). A profile only removes tools.",
        apply: |draft, given| profiles(&given.raw).map(|own| draft.config.profiles = own.into_iter().collect()),
    },
    Setting {
        key: Some("skills_folder"),
        variable: Some("LAPIDARY_SKILLS_FOLDER"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A folder of the vaults, like `Skills`, whose notes are all playbooks: clients offer it as a prompt, and \
              `find_tool` finds it.",
        apply: |draft, given| vault_folder(&given.raw).map(|folder| draft.config.skills = folder),
    },
    Setting {
        key: Some("memory_folder"),
        variable: Some("LAPIDARY_MEMORY_FOLDER"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A folder of the vaults, like `Memory`, in which assistants keep what they remember across conversations, one note \
              for each subject. Without it, `memory_save` and `memory_recall` are off.",
        apply: |draft, given| vault_folder(&given.raw).map(|folder| draft.config.memory = folder),
    },
    Setting {
        key: Some("tools.dotted_names"),
        variable: Some("LAPIDARY_DOTTED_NAMES"),
        flag: Some(SettingFlag { name: "--dotted-names", value: "", given: |flags| switch(flags.dotted_names) }),
        default: ShownDefault::Value("false"),
        doc: "List `file.read` instead of `file_read`. Many clients refuse dots; calls may always use either.",
        apply: |draft, given| toggle(&given.raw).map(|dotted| draft.config.tools.dotted_names = dotted),
    },
];

/// One folder of the vaults; empty means none.
fn vault_folder(raw: &RawValue) -> Result<Option<String>, ConfigRefusal> {
    // It refuses values that cannot be a folder.
    let is_given = !prefixes(raw)?.is_empty();
    let written = raw.text()?;
    Ok(is_given.then(|| written.trim_matches('/').to_owned()))
}
