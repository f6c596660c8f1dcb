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
            // An empty list would list no tools at all, which is never meant.
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
        doc: "A folder of the vaults, like `Skills`, whose notes are all playbooks: clients offer them as prompts and \
              skills, and `find_tool` finds them.",
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
        key: Some("recipe_folder"),
        variable: Some("LAPIDARY_RECIPE_FOLDER"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A folder of the vaults, like `Recipes`, whose notes are recipes: tools that people and assistants make of other tools. \
              One runs only as you approved it on this computer. Without it, the tools for recipes are off.",
        apply: |draft, given| vault_folder(&given.raw).map(|folder| draft.config.recipes = folder),
    },
    Setting {
        key: Some("scripts"),
        variable: Some("LAPIDARY_SCRIPTS"),
        flag: None,
        default: ShownDefault::Value("false"),
        doc: "Whether `tools_script` is on: several calls that only read, with loops and filters, in one request.",
        apply: |draft, given| toggle(&given.raw).map(|on| draft.config.scripts = on),
    },
    Setting {
        key: Some("schema_folder"),
        variable: Some("LAPIDARY_SCHEMA_FOLDER"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A folder of the vaults, like `Schemas`, whose notes say what properties and headings the notes of a type have. \
              Every change is checked against them, and a change of a schema needs approval. Without it, `schema_save` is off.",
        apply: |draft, given| vault_folder(&given.raw).map(|folder| draft.config.schemas = folder),
    },
    Setting {
        key: Some("upkeep.index_notes"),
        variable: Some("LAPIDARY_INDEX_NOTES"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "Notes, like `Projects/Index.md`, in which the notes of their folder are listed. A change of one of those updates \
              the list, between two marks in the note.",
        apply: |draft, given| notes(&given.raw).map(|notes| draft.config.upkeep.index_notes = notes),
    },
    Setting {
        key: Some("upkeep.log_note"),
        variable: Some("LAPIDARY_LOG_NOTE"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A note, like `Log.md`, that gets a dated line for every change of an assistant. Who may read it reads the paths in \
              it.",
        apply: |draft, given| {
            let mut notes = notes(&given.raw)?;
            if notes.len() > 1 {
                return Err(ConfigRefusal::Shape { expected: "one note", found: "several" });
            }
            draft.config.upkeep.log_note = notes.pop();
            Ok(())
        },
    },
    Setting {
        key: Some("import_folder"),
        variable: Some("LAPIDARY_IMPORT_FOLDER"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A folder outside the vaults, like `~/Downloads`, from which `attachment_add` may copy files. Every client that \
              may write can read what is in it, except hidden files.",
        apply: |draft, given| {
            let folder = given.raw.text()?;
            draft.config.imports = if folder.is_empty() { None } else { Some(draft.places.whole(folder)?) };
            Ok(())
        },
    },
    Setting {
        key: Some("ocr"),
        variable: None,
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A program that recognises text on pictures, with its arguments, in the file only: `[\"tesseract\", \"stdin\", \
              \"stdout\"]`. It gets a PNG or JPEG on standard input and writes the text to standard output; it may take a \
              minute for each. Then pictures and scanned PDFs are searched like documents, and `attachment_read` gives their text.",
        apply: |draft, given| {
            draft.config.ocr = match &given.raw {
                RawValue::List(words) => {
                    words.iter().map(|word| word.text().map(str::to_owned)).collect::<Result<_, _>>()?
                }
                // A program without arguments.
                other => vec![other.text()?.to_owned()],
            };
            Ok(())
        },
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

/// Notes of the vaults; an extension may be left out.
fn notes(raw: &RawValue) -> Result<Vec<String>, ConfigRefusal> {
    let ended = |path: String| if path.to_lowercase().ends_with(".md") { path } else { format!("{path}.md") };
    Ok(prefixes(raw)?.into_iter().map(|path| ended(path.trim_matches('/').to_owned())).collect())
}

/// One folder of the vaults; empty means none.
fn vault_folder(raw: &RawValue) -> Result<Option<String>, ConfigRefusal> {
    // It refuses values that cannot be a folder.
    let is_given = !prefixes(raw)?.is_empty();
    let written = raw.text()?;
    Ok(is_given.then(|| written.trim_matches('/').to_owned()))
}
