use std::sync::Arc;

use lapidary_note::{ContentHash, Text};
use lapidary_vault::{Change, ChangeSet, File, Guard, VaultPath, View};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Context, Reason,
    shared::{fence::one_line, hash, reading, target::Target},
    spec::Plan,
};

/// The argument of the note tools that names what the caller expects to find.
const EXPECTED: &str = "expectedHash";

/// A note that is about to change: where it is, what is there, and who vouches for that.
pub(crate) struct Writing {
    pub(crate) path: VaultPath,
    before: Option<Arc<File>>,
    guard: Guard,
    dry_run: bool,
}

/// What became of a note.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Written {
    pub(crate) previous_size_in_bytes: usize,
    pub(crate) current_size_in_bytes: usize,
    pub(crate) content_hash: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dry_run: bool,
}

/// What the tools answer that write text into a note or a section of it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NoteWritten {
    path: String,
    section_targeted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    section_target: Option<String>,
    pub(crate) created: bool,
    #[serde(flatten)]
    pub(crate) written: Written,
}

impl Writing {
    /// Reads what is there, which may be nothing, and compares it with what the caller expects.
    pub(crate) fn begin(
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
        context.check()?;
        hash::check(&path, EXPECTED, expected.as_ref(), before.as_ref().map(|file| &file.hash))?;
        let guard = if expected.is_some() { Guard::Caller } else { Guard::Plan };
        Ok(Self { path, before, guard, dry_run })
    }

    pub(crate) fn before(&self) -> Option<&File> {
        self.before.as_deref()
    }

    /// The note, where one has to be there.
    pub(crate) fn existing(&self, view: &View) -> Result<&File, Reason> {
        self.before().ok_or_else(|| reading::missing(view, &self.path))
    }

    /// The text of a note that has to be there.
    pub(crate) fn text(&self, view: &View) -> Result<Text<'_>, Reason> {
        reading::editable(&self.path, self.existing(view)?)
    }

    /// The change to these bytes, which is none if they are there already, and the answer.
    pub(crate) fn plan<O>(self, bytes: Vec<u8>, output: impl FnOnce(&VaultPath, Written) -> O) -> Plan<O> {
        let written = Written {
            previous_size_in_bytes: self.before.as_ref().map_or(0, |file| file.bytes.len()),
            current_size_in_bytes: bytes.len(),
            content_hash: ContentHash::of(&bytes).to_string(),
            dry_run: self.dry_run,
        };
        let output = output(&self.path, written);
        let changes = match self.before {
            Some(before) if before.bytes == bytes => ChangeSet::default(),
            Some(before) => ChangeSet::one(Change::Write { path: self.path, before, guard: self.guard, bytes }),
            None => ChangeSet::one(Change::Create { path: self.path, bytes }),
        };
        Plan { changes, output, dry_run: self.dry_run }
    }

    /// The same with the answer that is told of a text, in a section or not.
    pub(crate) fn plan_text(self, bytes: Vec<u8>, section_target: Option<String>) -> Plan<NoteWritten> {
        let created = self.before.is_none();
        self.plan(bytes, |path, written| NoteWritten {
            path: path.to_string(),
            section_targeted: section_target.is_some(),
            section_target,
            created,
            written,
        })
    }

    /// The answer of somebody who only looked.
    pub(crate) fn unchanged<O>(self, output: O) -> Plan<O> {
        Plan { changes: ChangeSet::default(), output, dry_run: self.dry_run }
    }
}

impl NoteWritten {
    /// `done` and `would` are the words for a note that was there.
    pub(crate) fn text(&self, done: &'static str, would: &'static str) -> String {
        let done = match self.created {
            true => self.written.done("Created", "Would create"),
            false => self.written.done(done, would),
        };
        let section = self.section_target.as_ref().map_or(String::new(), |target| format!(" → {}", one_line(target)));
        format!(
            "**{done} {}**\n{}\n*Section targeted:* {}{section}\n*Created:* {}",
            self.path,
            self.written.lines(),
            self.section_targeted,
            self.created,
        )
    }
}

impl Written {
    /// `before → after bytes`, and the hash that the next change can expect.
    pub(crate) fn lines(&self) -> String {
        format!(
            "*Size:* {} → {} bytes\n*Hash:* `{}`",
            self.previous_size_in_bytes,
            self.current_size_in_bytes,
            hash::short(&self.content_hash)
        )
    }

    /// What was done, or would be.
    pub(crate) fn done(&self, done: &'static str, would: &'static str) -> &'static str {
        if self.dry_run { would } else { done }
    }
}
