use lapidary_note::{Document, FileContent};
use lapidary_operation::{Context, Plan, Reason, quote::quoted};
use lapidary_vault::{ChangeSet, File, VaultPath, View};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{hash, pending_edit::PendingEdit, reading, target::Target};

/// The argument of the note tools that names what the caller expects to find.
const EXPECTED: &str = "expectedHash";

/// A note that is about to change, or to be made.
pub struct NoteEdit {
    edit: PendingEdit,
    dry_run: bool,
}

/// What became of a note.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoteWritten {
    pub previous_size_in_bytes: usize,
    pub current_size_in_bytes: usize,
    pub content_hash: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// What the tools answer that write text into a note or a section of it.
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
}

impl NoteEdit {
    /// Reads what is there, which may be nothing, and compares it with what the caller expects.
    pub fn begin(
        tool: &str,
        context: &Context<'_>,
        view: &View,
        target: &Target,
        expected: Option<&str>,
        dry_run: bool,
    ) -> Result<Self, Reason> {
        let path = target.locate(tool, context, view)?;
        let expected = hash::expected(tool, EXPECTED, expected)?;
        let before = reading::read_if_there(view, &path)?;
        let edit = PendingEdit::begin(context, path, before, EXPECTED, expected.as_ref())?;
        Ok(Self { edit, dry_run })
    }

    pub fn path(&self) -> &VaultPath {
        &self.edit.path
    }

    pub fn before(&self) -> Option<&File> {
        self.edit.before()
    }

    /// The note as text, if one is there.
    pub fn document_if_there(&self) -> Result<Option<Document>, Reason> {
        Ok(self.edit.document()?.cloned())
    }

    /// The note as text, where one has to be there. What is parsed of it is shared by all who ask.
    pub fn document(&self, view: &View) -> Result<Document, Reason> {
        self.document_if_there()?.ok_or_else(|| reading::missing(view, &self.edit.path))
    }

    /// The change to this content, which is none if it is there already, and the answer.
    pub fn plan<O>(self, content: FileContent, output: impl FnOnce(&VaultPath, NoteWritten) -> O) -> Plan<O> {
        let dry_run = self.dry_run;
        let written = NoteWritten {
            previous_size_in_bytes: self.before().map_or(0, |file| file.content.len()),
            current_size_in_bytes: content.len(),
            content_hash: content.hash().to_string(),
            dry_run,
        };
        let output = output(&self.edit.path, written);
        Plan { changes: self.edit.changes(content), output, dry_run }
    }

    /// The same with the answer that is told of a text, in a section or not.
    pub fn plan_text(self, content: FileContent, section_target: Option<String>) -> Plan<NoteTextWritten> {
        let created = self.before().is_none();
        self.plan(content, |path, written| NoteTextWritten {
            path: path.to_string(),
            section_targeted: section_target.is_some(),
            section_target,
            created,
            written,
        })
    }

    /// The answer of somebody who only looked.
    pub fn unchanged<O>(self, output: O) -> Plan<O> {
        Plan { changes: ChangeSet::default(), output, dry_run: self.dry_run }
    }
}

impl NoteTextWritten {
    /// `done` and `would` are the words for a note that was there.
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
