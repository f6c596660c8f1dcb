//! The owner's templates: where they are, and what they become in a note.

use jiff::Zoned;
use lapidary_note::{Document, EditError, Frontmatter, PropertyEdit, PropertyPath, YamlValue};
use lapidary_operation::{Context, DiskFault, Reason};
use lapidary_query::{WeekRule, format_moment, nearest_several};
use lapidary_vault::{SettingsError, TemplateSettings, VaultPath, View};

use crate::{
    index, naming, periodic,
    properties::NoteProperties,
    template::{self, TemplateFields},
};

/// A template of the vault.
pub struct NoteTemplate {
    pub path: VaultPath,
    text: String,
    settings: TemplateSettings,
}

/// What it becomes in a note.
pub struct FilledTemplate {
    pub text: String,
    /// Commands of Templater are in it.
    pub has_commands: bool,
}

/// The templates that the caller may read, in path order, and the folders where they are.
pub fn templates(context: &Context<'_>, view: &View) -> Result<(Vec<VaultPath>, TemplateSettings), Reason> {
    let settings = settings(view)?;
    let files = index::files(context, view)?;
    let mut found = Vec::new();
    for folder in settings.folders.iter().filter_map(|folder| VaultPath::parse(folder).ok()) {
        let notes = files.below(Some(&folder)).filter(|entry| entry.is_note());
        found.extend(notes.map(|entry| entry.path().clone()));
        context.check()?;
    }
    found.sort();
    found.dedup();
    Ok((found, settings))
}

/// How dates are written in templates of this vault: the format of days and that of times.
pub fn date_formats(view: &View) -> Result<(String, String), Reason> {
    let TemplateSettings { date_format, time_format, .. } = settings(view)?;
    Ok((date_format, time_format))
}

fn settings(view: &View) -> Result<TemplateSettings, Reason> {
    view.template_settings().map_err(|error| match error {
        SettingsError::VaultGone => Reason::Disk { path: None, problem: DiskFault::VaultGone },
        // Without them the formats would be guessed.
        SettingsError::Unreadable { .. } => Reason::Disk { path: None, problem: DiskFault::Failing },
    })
}

impl NoteTemplate {
    /// By its name in the folder of the templates, or by its path.
    pub fn find(context: &Context<'_>, view: &View, given: &str) -> Result<Self, Reason> {
        let settings = settings(view)?;
        let in_folders = settings.folders.iter().map(|folder| format!("{folder}/{given}"));
        for name in in_folders.chain([given.to_owned()]) {
            if let Some((path, text)) = periodic::read_template(context, view, &name)? {
                return Ok(Self { path, text, settings });
            }
        }
        // A path that is closed by its name is refused as everywhere.
        let path = match naming::find(context, view, given) {
            Err(Reason::NoteMissing { path, .. }) => path,
            Err(reason) => return Err(reason),
            // It is there, and no text.
            Ok(found) => return Err(Reason::NotText { path: found.path, valid_up_to: None }),
        };
        let (known, _) = templates(context, view)?;
        let near = nearest_several(given, known.iter().map(naming::title), 5);
        let named = |title: &&str| known.iter().find(|path| naming::title(path) == *title).cloned();
        Err(Reason::NoteMissing { path, suggestions: near.iter().filter_map(named).collect() })
    }

    /// For a note of this name.
    pub fn filled(&self, context: &Context<'_>, title: &str) -> FilledTemplate {
        let TemplateSettings { date_format, time_format, .. } = &self.settings;
        let moment: &Zoned = &context.now;
        // Obsidian's own language, and with it how it counts weeks, is not kept in the vault.
        let week = WeekRule::ENGLISH;
        let date = format_moment(moment, date_format, week);
        let fields = TemplateFields { title, moment, date: &date, time_format, date_format, week };
        let text = template::filled(&self.text, &fields);
        FilledTemplate { has_commands: template::has_commands(&text), text }
    }
}

/// Where a template goes into a note that has text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TemplatePlace {
    /// Behind the properties.
    Start,
    End,
}

/// A note with a filled template in it: its text at one place, its properties merged into those of the note. Lists are
/// joined, a value that the note has stays.
pub fn inserted(document: &Document, template: &str, place: TemplatePlace) -> Result<Document, EditError> {
    let (properties, body) = match Frontmatter::find(template) {
        // Broken properties of a template are left out, and its text is used all the same.
        Some(block) => (block.properties(template).ok(), &template[block.span.end..]),
        None => (None, template),
    };
    let mut document = document.clone();
    if !body.is_empty() {
        let shown = document.shown();
        let at = match place {
            TemplatePlace::End => shown.len(),
            // Below the properties, which have to stay first.
            TemplatePlace::Start => document.frontmatter().map_or(0, |block| block.span.end),
        };
        let before = if at > 0 && !shown[..at].ends_with('\n') { "\n" } else { "" };
        let behind = if at < shown.len() && !body.ends_with('\n') { "\n" } else { "" };
        document = document.insert_at(at, &format!("{before}{body}{behind}"))?.document;
    }
    for (name, value) in properties.into_iter().flatten() {
        let path = PropertyPath::name(&name);
        let known = NoteProperties::of(&document).value();
        let value = match (path.find(&known), value) {
            // An empty property is filled; one with a value keeps it.
            (None | Some(YamlValue::Null), value) => value,
            (Some(YamlValue::List(old)), YamlValue::List(new)) => {
                let added = new.into_iter().filter(|item| !old.contains(item));
                YamlValue::List(old.iter().cloned().chain(added).collect())
            }
            (Some(_), _) => continue,
        };
        document = document.edit_property(&PropertyEdit::Set { path: &path, value: &value })?.document;
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_adds_its_text_and_its_properties() {
        use TemplatePlace::{End, Start};
        for (note, template, place, expected) in [
            ("", "# T\n", End, "# T\n"),
            ("a", "b\n", End, "a\nb\n"),
            ("a\r\n", "b\nc", Start, "b\r\nc\r\na\r\n"),
            ("---\nx: 1\n---\na\n", "# T\n", Start, "---\nx: 1\n---\n# T\na\n"),
            (
                "---\nstatus: open # mine\ntags: [a]\n---\ntext\n",
                "---\nstatus: new\ntags: [a, b]\nrating:\n---\n# T\n",
                End,
                "---\nstatus: open # mine\ntags: [a, b]\nrating:\n---\ntext\n# T\n",
            ),
            ("text\n", "---\nkind: book\n---\n", End, "---\nkind: book\n---\ntext\n"),
        ] {
            let document = Document::open(note.to_owned()).unwrap();
            let found = inserted(&document, template, place).unwrap();
            assert_eq!(found.raw(), expected, "{note:?} {template:?}");
        }
    }
}
