//! The start and end of every edit of a file, common to both families.

use std::{cell::OnceCell, sync::Arc};

use lapidary_note::{Document, ExpectedHash, FileContent};
use lapidary_operation::{Context, Reason};
use lapidary_vault::{Change, ChangeSet, ContentGuard, File, VaultPath};

use crate::{hash, reading};

/// A file that is about to change: its path, its content, and the guard for it.
pub(crate) struct PendingEdit {
    pub(crate) path: VaultPath,
    before: Option<Arc<File>>,
    guard: ContentGuard,
    document: OnceCell<Document>,
}

impl PendingEdit {
    /// Compares the current content, if any, with the caller's expectation in the named argument.
    pub(crate) fn begin(
        context: &Context<'_>,
        path: VaultPath,
        before: Option<Arc<File>>,
        argument: &'static str,
        expected: Option<&ExpectedHash>,
    ) -> Result<Self, Reason> {
        // Before anything else is done with the file, so that every tool refuses a stale hash the same way.
        hash::check(&path, argument, expected, before.as_deref())?;
        context.check()?;
        let guard = if expected.is_some() { ContentGuard::Caller } else { ContentGuard::Plan };
        Ok(Self { path, before, guard, document: OnceCell::new() })
    }

    pub(crate) fn before(&self) -> Option<&File> {
        self.before.as_deref()
    }

    /// Whether the caller gave the hash of the whole file.
    pub(crate) fn is_expected(&self) -> bool {
        self.guard == ContentGuard::Caller
    }

    /// All of it will be replaced, so the content that the plan read guards nothing.
    pub(crate) fn replace_all(&mut self) {
        // A hash from the caller still guards, and stays.
        if self.guard == ContentGuard::Plan {
            self.guard = ContentGuard::Nobody;
        }
    }

    /// The file as text; `None` if it is missing. Opened once, so that its parse is shared.
    pub(crate) fn document(&self) -> Result<Option<&Document>, Reason> {
        let Some(before) = &self.before else { return Ok(None) };
        if let Some(document) = self.document.get() {
            return Ok(Some(document));
        }
        let document = reading::editable(&self.path, before)?;
        Ok(Some(self.document.get_or_init(|| document)))
    }

    /// Whether the file has other content.
    pub(crate) fn is_changed_by(&self, content: &FileContent) -> bool {
        self.before.as_ref().is_none_or(|before| before.content != *content)
    }

    /// The change to this content, or none if it is already there.
    pub(crate) fn changes(self, content: FileContent) -> ChangeSet {
        match self.before {
            Some(before) if before.content == content => ChangeSet::default(),
            Some(before) => ChangeSet::one(Change::Write { path: self.path, before, guard: self.guard, content }),
            None => ChangeSet::one(Change::Create { path: self.path, content }),
        }
    }
}
