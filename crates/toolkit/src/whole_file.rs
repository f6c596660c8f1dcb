//! Files that a tool of our own writes as a whole: canvases, drawings, attachments.

use lapidary_note::{Document, FileContent};
use lapidary_operation::{Context, NameWanted, Reason, ToolPlan, quote::Prose};
use lapidary_vault::{VaultPath, View};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    hash, index,
    naming::{self, NamedFile},
    note_edit::NoteWritten,
    pending_edit::PendingEdit,
    reading,
};

const EXPECTED: &str = "expectedHash";

/// The file to write, and under which conditions.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WholeFileInput {
    /// Path of the file.
    pub path: String,
    /// Refuse if the file has another hash.
    #[serde(default)]
    pub expected_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    pub dry_run: bool,
}

/// A file that is about to be written.
pub struct WholeFileEdit {
    edit: PendingEdit,
    dry_run: bool,
}

impl WholeFileEdit {
    /// An existing file, by any of its names.
    pub fn existing(tool: &str, context: &Context<'_>, view: &View, input: &WholeFileInput) -> Result<Self, Reason> {
        // Before the file is looked for: a malformed hash is the caller's mistake in any case.
        let expected = hash::expected(tool, EXPECTED, input.expected_hash.as_deref())?;
        let NamedFile { path, file, .. } = naming::find(context, view, &input.path)?;
        let edit = PendingEdit::begin(context, path, Some(file), EXPECTED, expected.as_ref())?;
        Ok(Self { edit, dry_run: input.dry_run })
    }

    /// A new file at exactly this path; an existing one only if it may be replaced.
    pub fn at(
        tool: &str,
        context: &Context<'_>,
        view: &View,
        input: &WholeFileInput,
        replaces: bool,
    ) -> Result<Self, Reason> {
        let expected = hash::expected(tool, EXPECTED, input.expected_hash.as_deref())?;
        let path = reading::parse_path(&input.path)?;
        let before = reading::read_if_there(view, &path)?;
        match &before {
            Some(there) if !replaces => {
                return Err(Reason::DestinationExists { path, current: there.hash(), wanted: NameWanted::Whole });
            }
            Some(_) => {}
            // A new name must not differ from another in case alone.
            None => naming::check_new(context, view, &path, None)?,
        }
        let edit = PendingEdit::begin(context, path, before, EXPECTED, expected.as_ref())?;
        Ok(Self { edit, dry_run: input.dry_run })
    }

    pub fn path(&self) -> &VaultPath {
        &self.edit.path
    }

    pub fn is_new(&self) -> bool {
        self.edit.before().is_none()
    }

    /// The file as text.
    pub fn document(&self) -> Result<Document, Reason> {
        let missing = || Reason::NoteMissing { path: self.edit.path.clone(), suggestions: Vec::new() };
        self.edit.document()?.cloned().ok_or_else(missing)
    }

    /// The change to this content, or none if it is already there, and the answer.
    pub fn plan<O>(self, content: FileContent, output: impl FnOnce(&VaultPath, NoteWritten) -> O) -> ToolPlan<O> {
        let written = NoteWritten {
            previous_size_in_bytes: self.edit.before().map_or(0, |file| file.content.len()),
            current_size_in_bytes: content.len(),
            content_hash: content.hash().to_string(),
            dry_run: self.dry_run,
        };
        let output = output(&self.edit.path, written);
        ToolPlan { changes: self.edit.changes(content), output, dry_run: self.dry_run }
    }
}

/// Refuses a path of a new file without the ending of its kind.
pub fn check_ending(tool: &str, path: &VaultPath, ending: &'static str) -> Result<(), Reason> {
    if has_ending(path, ending) {
        return Ok(());
    }
    let meant = with_ending(path, ending);
    Err(Reason::misspelt_argument(tool, "path", Prose::ours(format!("must end in `{ending}`")), meant))
}

/// Refuses an existing file of another kind. Another path is only suggested if there is such a file.
pub fn check_kind(
    tool: &str,
    context: &Context<'_>,
    view: &View,
    path: &VaultPath,
    ending: &'static str,
) -> Result<(), Reason> {
    if has_ending(path, ending) {
        return Ok(());
    }
    let problem = Prose::ours(format!("must end in `{ending}`"));
    let meant = with_ending(path, ending);
    let is_there = match VaultPath::parse(&meant) {
        Ok(meant) => index::files(context, view)?.find(&meant).is_some(),
        Err(_) => false,
    };
    Err(match is_there {
        true => Reason::misspelt_argument(tool, "path", problem, meant),
        false => Reason::bad_argument(tool, "path", problem),
    })
}

fn has_ending(path: &VaultPath, ending: &str) -> bool {
    path.name().to_lowercase().ends_with(ending) && path.name().len() > ending.len()
}

/// With this ending instead of another that files of a vault have.
fn with_ending(path: &VaultPath, ending: &str) -> String {
    let stem = ["md", "canvas", "excalidraw", "base", "json"]
        .iter()
        .find_map(|other| path.as_str().strip_suffix(other)?.strip_suffix('.'))
        .filter(|stem| !stem.is_empty() && !stem.ends_with('/'));
    format!("{}{ending}", stem.unwrap_or(path.as_str()))
}
