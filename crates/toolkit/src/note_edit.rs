//! The common part of note tools that write.

use lapidary_note::{Document, FileContent};
use lapidary_operation::{Context, Reason, ToolPlan, quote::quoted};
use lapidary_vault::{ChangeSet, File, VaultPath, View};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    hash, index,
    naming::{self, NamedFile},
    pending_edit::PendingEdit,
    reading,
    target::{NoteTarget, TargetPlace},
};

/// The note tools' argument for the expected hash.
const EXPECTED: &str = "expectedHash";

/// A note that is about to be changed or created.
pub struct NoteEdit {
    edit: PendingEdit,
    /// The initial text of a created note.
    template: Option<Document>,
    dry_run: bool,
}

/// Which missing notes a call creates.
#[derive(Clone, Copy, PartialEq)]
pub enum NotesMade {
    Nothing,
    /// Periodic notes, from the owner's template.
    PeriodicNotes,
    /// Any, at exactly the given path.
    AnyNote,
}

/// The result for a note.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoteWritten {
    pub previous_size_in_bytes: usize,
    pub current_size_in_bytes: usize,
    pub content_hash: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// The answer of tools that write text into a note or section.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoteTextWritten {
    path: String,
    section_targeted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    section_target: Option<String>,
    pub created: bool,
    #[serde(flatten)]
    pub written: NoteWritten,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl NoteEdit {
    /// Reads the note, which may be missing if the call creates it, and compares it with the caller's expectation.
    pub fn begin(
        tool: &str,
        context: &Context<'_>,
        view: &View,
        target: &NoteTarget,
        makes: NotesMade,
        expected: Option<&str>,
        dry_run: bool,
    ) -> Result<Self, Reason> {
        let expected = hash::expected(tool, EXPECTED, expected)?;
        let makes_it = makes == NotesMade::AnyNote || (makes == NotesMade::PeriodicNotes && target.is_periodic());
        // A call that creates takes exact paths only: a name that is not found must not become a new note by
        // accident.
        let (path, before, template) = if makes_it {
            let TargetPlace { path, template } = target.place(tool, context, view)?;
            // A missing file is fine here, since the call creates it.
            let before = reading::read_if_there(view, &path)?;
            if before.is_none() {
                check_new(tool, context, view, &path)?;
            }
            (path, before, template)
        } else {
            let NamedFile { path, file, .. } = target.find(tool, context, view)?;
            (path, Some(file), None)
        };
        // A template that is not text cannot start a note.
        let not_text = |_| Reason::NotText { path: path.clone(), valid_up_to: None };
        let template = template.map(Document::open).transpose().map_err(not_text)?;
        let edit = PendingEdit::begin(context, path, before, EXPECTED, expected.as_ref())?;
        Ok(Self { edit, template, dry_run })
    }

    /// A note at a path that the tool chose; a missing one is created.
    pub fn at(
        tool: &str,
        context: &Context<'_>,
        view: &View,
        path: VaultPath,
        expected: Option<&str>,
        dry_run: bool,
    ) -> Result<Self, Reason> {
        let expected = hash::expected(tool, EXPECTED, expected)?;
        let before = reading::read_if_there(view, &path)?;
        if before.is_none() {
            naming::check_new(context, view, &path, None)?;
        }
        let edit = PendingEdit::begin(context, path, before, EXPECTED, expected.as_ref())?;
        Ok(Self { edit, template: None, dry_run })
    }

    pub fn path(&self) -> &VaultPath {
        &self.edit.path
    }

    pub fn before(&self) -> Option<&File> {
        self.edit.before()
    }

    /// The note as text if it exists, otherwise its initial text.
    pub fn document_if_there(&self) -> Result<Option<Document>, Reason> {
        Ok(self.edit.document()?.or(self.template.as_ref()).cloned())
    }

    /// The note as text; it must exist. Its parse is shared by all callers.
    pub fn document(&self) -> Result<Document, Reason> {
        let missing = || Reason::NoteMissing { path: self.edit.path.clone(), suggestions: Vec::new() };
        self.document_if_there()?.ok_or_else(missing)
    }

    /// A new text for the whole note, with its byte order mark and line endings. A file that is not UTF-8 can be
    /// replaced, since nothing of it is kept; a binary file is not touched.
    pub fn in_own_form(&self, content: String) -> Result<FileContent, Reason> {
        match self.edit.document() {
            Ok(Some(document)) => Ok(document.in_own_form(&content)),
            // Not UTF-8, but text: replacing all of it loses nothing that could be kept.
            Ok(None) | Err(Reason::NotText { valid_up_to: Some(_), .. }) => Ok(content.into()),
            Err(reason) => Err(reason),
        }
    }

    /// For a caller that would create a note: others that have its name.
    pub fn others_of_its_name(&self, context: &Context<'_>, view: &View) -> Result<Vec<VaultPath>, Reason> {
        // A periodic note has the name that the owner's settings give it.
        if self.before().is_some() || self.template.is_some() {
            return Ok(Vec::new());
        }
        let files = index::files(context, view)?;
        let named = files.meant_by(self.edit.path.name()).into_iter();
        // Three are enough for a notice.
        Ok(named.filter(|other| **other != self.edit.path).take(3).cloned().collect())
    }

    /// The change to this content, or none if it is already there, and the answer.
    pub fn plan<O>(self, content: FileContent, output: impl FnOnce(&VaultPath, NoteWritten) -> O) -> ToolPlan<O> {
        let dry_run = self.dry_run;
        let written = NoteWritten {
            previous_size_in_bytes: self.before().map_or(0, |file| file.content.len()),
            current_size_in_bytes: content.len(),
            content_hash: content.hash().to_string(),
            dry_run,
        };
        let output = output(&self.edit.path, written);
        ToolPlan { changes: self.edit.changes(content), output, dry_run }
    }

    /// The same with another text for the whole note.
    pub fn plan_whole(mut self, content: FileContent) -> ToolPlan<NoteTextWritten> {
        // Without an expected hash, nothing says that the caller knows what it replaces.
        self.edit.replace_all();
        self.plan_text(content, None)
    }

    /// The same with the answer for a text, in a section or not.
    pub fn plan_text(self, content: FileContent, section_target: Option<String>) -> ToolPlan<NoteTextWritten> {
        let created = self.before().is_none();
        self.plan(content, |path, written| NoteTextWritten {
            path: path.to_string(),
            section_targeted: section_target.is_some(),
            section_target,
            created,
            written,
            notice: None,
        })
    }

    /// The answer to a call that only read.
    pub fn unchanged<O>(self, output: O) -> ToolPlan<O> {
        ToolPlan { changes: ChangeSet::default(), output, dry_run: self.dry_run }
    }
}

/// Refuses a note that Obsidian would not show, or that other systems would treat as another one.
fn check_new(tool: &str, context: &Context<'_>, view: &View, path: &VaultPath) -> Result<(), Reason> {
    if naming::lacks_ending(path) {
        let known = index::files(context, view)?.meant_by(path.as_str()).first().map(|path| path.to_string());
        let (at, problem) = ("target.path", "must end in `.md`, or Obsidian does not show the note");
        // Most likely the ending was forgotten.
        let meant = known.unwrap_or_else(|| format!("{path}.md"));
        return Err(Reason::misspelt_argument(tool, at, problem, meant));
    }
    naming::check_new(context, view, path, None)
}

impl NoteTextWritten {
    /// `done` and `would` are the words for an existing note.
    pub fn text(&self, done: &'static str, would: &'static str) -> String {
        let done = match self.created {
            true => self.written.done("Created", "Would create"),
            false => self.written.done(done, would),
        };
        let section = self.section_target.as_ref().map_or(String::new(), |target| format!(" → {}", quoted(target)));
        format!("{done} {}{section}, {}", quoted(&self.path), self.written.text())
    }
}

impl NoteWritten {
    /// `before → after bytes`, and the hash that the next change can expect.
    pub fn text(&self) -> String {
        let Self { previous_size_in_bytes, current_size_in_bytes, content_hash, .. } = self;
        format!("{previous_size_in_bytes} → {current_size_in_bytes} bytes, hash {}", hash::digits(content_hash))
    }

    /// What was done, or would be.
    pub fn done(&self, done: &'static str, would: &'static str) -> &'static str {
        if self.dry_run { would } else { done }
    }
}
