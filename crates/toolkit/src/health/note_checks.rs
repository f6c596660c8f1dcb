//! Findings about single notes, and about where periodic notes are kept.

use lapidary_note::Frontmatter;
use lapidary_operation::{
    Reason,
    quote::{quoted, quoted_path},
};
use lapidary_query::{FrontmatterState, Period};
use lapidary_vault::{SettingsError, VaultPath};

use super::{CheckedVault, FindingFix, FindingKind};
use crate::reading::{self, LinkSource};

/// A note above this takes most of what a model can read at once.
const HUGE_BYTES: u64 = 200_000;
/// A larger note without text would be blanks alone.
const MOST_EMPTY_BYTES: u64 = 2_000;

/// Why a setting is not mended.
const OWNERS: &str = "settings are the owner's: change them in Obsidian";

impl CheckedVault<'_, '_, '_> {
    pub(super) fn broken_properties(&mut self) {
        for path in self.note_paths() {
            let state = self.notes.digest(path).map(|digest| digest.frontmatter());
            if state == Some(FrontmatterState::Unreadable) {
                let says = format!("the properties of {} are not valid YAML, so none is read", quoted_path(path));
                let fix = Err("what was meant cannot be known: mend the YAML");
                self.add(FindingKind::BrokenProperties, &[path.as_str()], &[path], says, fix);
            }
        }
    }

    pub(super) fn empty_notes(&mut self) -> Result<(), Reason> {
        let both = self.links.both_ways();
        let small: Vec<(u32, &VaultPath)> = self
            .links
            .numbered()
            .filter(|(_, entry)| entry.is_note() && entry.bytes() <= MOST_EMPTY_BYTES)
            .filter(|(_, entry)| {
                let digest = self.notes.digest(entry.path()).unwrap_or_default();
                let structure = digest.structure();
                let has_text = structure.headings.len() + structure.blocks.len() + digest.items().len() > 0;
                // A link or tag in the text is text; those of properties are not.
                !has_text && digest.links().all(|link| link.property.is_some())
            })
            .map(|(file, entry)| (file, entry.path()))
            .collect();
        for (file, path) in small {
            self.context.check()?;
            // Read in any case: a paragraph alone is in no list of the index.
            let LinkSource::File(read) = reading::source(self.view, path)? else { continue };
            let Ok(shown) = reading::show(path, &read) else { continue };
            let text = shown.text();
            let block = Frontmatter::find(text);
            let body = block.as_ref().map_or(text, |block| text.get(block.span.end..).unwrap_or_default());
            if !body.trim().is_empty() {
                continue;
            }
            let fix = match () {
                // Properties may be all that a note is for.
                () if block.is_some() => Err("it has properties"),
                () if !both.sources(file).is_empty() => Err("links lead to it: write it, or remove the links"),
                () if self.view.may_write(path).is_err() => Err("the note may not be changed"),
                () => Ok(FindingFix::Trash { path: path.clone() }),
            };
            let says = format!("{} has no text", quoted_path(path));
            self.add(FindingKind::EmptyNote, &[path.as_str()], &[path], says, fix);
        }
        Ok(())
    }

    pub(super) fn huge_notes(&mut self) {
        let huge = self.links.files.iter().filter(|entry| entry.is_note() && entry.bytes() > HUGE_BYTES);
        for (path, bytes) in huge.map(|entry| (entry.path(), entry.bytes())).collect::<Vec<_>>() {
            let says = format!("{} has {} KB", quoted_path(path), bytes / 1000);
            let fix = Err("where to divide it is a choice: move sections to notes of their own");
            self.add(FindingKind::HugeNote, &[path.as_str()], &[path], says, fix);
        }
    }

    /// Folders and templates in the settings that are not there. A closed place is passed over: whether it exists is not
    /// for this caller to know.
    pub(super) fn periodic_settings(&mut self) -> Result<(), Reason> {
        for period in [Period::Daily, Period::Weekly, Period::Monthly, Period::Quarterly, Period::Yearly] {
            let name = period.name();
            let settings = match self.view.periodic_notes(period) {
                Ok(Some(settings)) => settings,
                Ok(None) | Err(SettingsError::VaultGone) => continue,
                Err(SettingsError::Unreadable { .. }) => {
                    let says = format!("the settings of {name} notes cannot be read");
                    self.add(FindingKind::PeriodicSettings, &[name, "settings"], &[], says, Err(OWNERS));
                    continue;
                }
            };
            // The same places that the app looks at, as far as the caller may see them.
            if let Ok(folder) = VaultPath::parse(&settings.folder)
                && self.view.may_enter(&folder).is_ok()
                && self.notes.find_folder(&folder).is_none()
            {
                let says = format!("the folder of {name} notes, {}, does not exist", quoted_path(&folder));
                self.add(
                    FindingKind::PeriodicSettings,
                    &[name, "folder", folder.as_str()],
                    &[&folder],
                    says,
                    Err(OWNERS),
                );
            }
            let template = settings.template.as_deref().map(|template| template.trim_matches('/'));
            let Some(template) = template.filter(|template| !template.is_empty()) else { continue };
            let ended = if template.to_ascii_lowercase().ends_with(".md") { String::new() } else { ".md".to_owned() };
            let Ok(path) = VaultPath::parse(&format!("{template}{ended}")) else { continue };
            // By name as well, as the app finds a template without its folder.
            if self.view.shows(&path) && self.notes.meant_by(template).is_empty() {
                let says = format!("the template of {name} notes, {}, does not exist", quoted(template));
                self.add(FindingKind::PeriodicSettings, &[name, "template", template], &[&path], says, Err(OWNERS));
            }
        }
        Ok(())
    }
}
