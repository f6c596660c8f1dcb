//! What the owner says about the notes of the vaults.

use lapidary_vault::store::ModelShelf;

use crate::model::{Config, GuideChoice};
use crate::prefixes::one_path;
use crate::raw::RawValue;
use crate::refused::ConfigRefusal;
use crate::setting::{Setting, ShownDefault};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("guide_note"),
        variable: Some("LAPIDARY_GUIDE_NOTE"),
        flag: None,
        default: ShownDefault::Words("`AGENTS.md`, or else `CLAUDE.md`"),
        doc: "The note of a vault in which you tell assistants how to work in it, like `Meta/Guide.md`; `off` for none. Clients get \
              it when they connect, and changes of it have to be approved.",
        apply: |draft, given| {
            draft.config.guide = match given.raw.text()? {
                // So a note of this name needs its ending.
                off if off.eq_ignore_ascii_case("off") => GuideChoice::Off,
                _ => GuideChoice::Note(note(&given.raw)?),
            };
            Ok(())
        },
    },
    Setting {
        key: Some("folders"),
        variable: None,
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "What folders of the vaults are for, in the file only: a table `[folders]` with lines like `\"Areas/Garden\" = \
              \"Beds, seeds and harvests by year\"`. Lists and searches show it in place of the start of a folder note.",
        apply: |draft, given| {
            let RawValue::Table(folders) = &given.raw else {
                return Err(ConfigRefusal::Shape { expected: "a table of folders", found: given.raw.shape() });
            };
            let described = |(folder, words): &(String, RawValue)| Ok((one_path(folder)?, words.text()?.to_owned()));
            draft.config.folders = folders.iter().map(described).collect::<Result<_, _>>()?;
            Ok(())
        },
    },
    Setting {
        key: Some("sources_folder"),
        variable: Some("LAPIDARY_SOURCES_FOLDER"),
        flag: None,
        default: ShownDefault::Value("Sources"),
        doc: "The folder of the vaults in which `source_ingest` makes notes.",
        apply: |draft, given| {
            draft.config.sources = one_path(given.raw.text()?)?;
            Ok(())
        },
    },
    Setting {
        key: Some("model"),
        variable: Some("LAPIDARY_MODEL"),
        flag: None,
        default: ShownDefault::Value(Config::BUNDLED_MODEL),
        doc: "The model that finds notes by meaning: `english` is in the program, others are added with `lapidary model add PATH` and chosen \
              with `lapidary model use NAME`. One that cannot be read is named in a warning, and `english` is used.",
        apply: |draft, given| {
            let name = given.raw.text()?;
            // The name becomes part of a path on disk.
            if !ModelShelf::is_name(name) {
                return Err(ConfigRefusal::NotModel { value: name.to_owned() });
            }
            draft.config.model = name.to_owned();
            Ok(())
        },
    },
];

/// The path of one note, whose ending may be left out.
fn note(raw: &RawValue) -> Result<String, ConfigRefusal> {
    let path = one_path(raw.text()?)?;
    Ok(if path.to_lowercase().ends_with(".md") { path } else { format!("{path}.md") })
}
