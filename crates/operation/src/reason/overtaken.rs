//! Refuses to overwrite a file that changed since the caller read it.

use lapidary_note::{EditError, ExpectedHash, PropertyError};
use lapidary_vault::{ChangeDiff, VaultPath, View};

use super::{PartCandidates, Reason};
use crate::{quote::Prose, vault_shape::ShapeProblem};

/// Enough of a change to show what it is about; the file has the rest.
const SHOWN: usize = 300;

/// Limit for one line.
const SHOWN_OF_LINE: usize = 100;

impl Reason {
    /// A file does not match the given hash, reported to a caller that would replace all of it.
    pub fn with_what_changed(self, view: &View, proposed: &[u8]) -> Self {
        match self {
            Self::Stale { path, argument, expected, current: Some(_) } => {
                Self::overtaken(view, path, Some(argument), expected, proposed)
            }
            other => other,
        }
    }

    /// The same for a file that the caller read before. Content it may not read now is not shown.
    pub fn overtaken(
        view: &View,
        path: VaultPath,
        argument: Option<&'static str>,
        expected: ExpectedHash,
        proposed: &[u8],
    ) -> Self {
        let now = match view.read(&path) {
            Ok(file) => file,
            // Closed to this caller or gone: both look the same to it.
            Err(_) => return Self::NoteMissing { path, suggestions: Vec::new() },
        };
        // Unreadable history shows nothing; the refusal is given without it.
        let seen = view.version(&path, &expected).ok().flatten();
        let (changed, lost) = match &seen {
            Some((_, seen)) => (lines(&path, seen, now.bytes(), &['-', '+']), Vec::new()),
            // Without the version that the caller saw, the best that can be shown is what it would destroy.
            None => (Vec::new(), lines(&path, now.bytes(), proposed, &['-'])),
        };
        // As lines of the file, without the marker of the diff.
        let lost = lost.iter().map(|line| line[1..].to_owned()).collect();
        Self::Overtaken { path, argument, expected, current: now.hash(), changed, lost }
    }

    /// Without the contents of the file, for a caller that may not read it.
    #[must_use]
    pub fn without_content(self) -> Self {
        match self {
            // Hashes and the caller's own words stay: they reveal nothing that it did not send or was not told before.
            Self::Overtaken { path, argument, expected, current, .. } => {
                Self::Overtaken { path, argument, expected, current, changed: Vec::new(), lost: Vec::new() }
            }
            Self::TextMissing { path, preview, .. } => Self::TextMissing { path, preview, near: None },
            Self::UnexpectedChange { least, most, count, .. } => {
                Self::UnexpectedChange { least, most, count, paths: Vec::new() }
            }
            // Not 0, which would say that the note has no tasks.
            Self::TaskMissing { path, wanted, .. } => Self::TaskMissing { path, wanted, tasks: Vec::new(), total: 1 },
            Self::TaskAmbiguous { path, wanted, total, .. } => {
                Self::TaskAmbiguous { path, wanted, tasks: Vec::new(), total }
            }
            Self::RecurrenceUnsupported { path, line, .. } => {
                Self::RecurrenceUnsupported { path, line, rule: NOT_SHOWN.to_owned() }
            }
            Self::SectionMissing { path, section_type, target, .. } => {
                Self::SectionMissing { path, section_type, target, available: Vec::new() }
            }
            Self::SectionTargetMissing { path, section_type, target, .. } => {
                Self::SectionTargetMissing { path, section_type, target, available: Vec::new() }
            }
            Self::AmbiguousSection { path, target, .. } => {
                Self::AmbiguousSection { path, target, candidates: Vec::new() }
            }
            Self::Ambiguous { path, target, .. } => {
                Self::Ambiguous { path, target, candidates: PartCandidates::Headings(Vec::new()) }
            }
            Self::PatchMismatch { path, mut mismatch, current } => {
                mismatch.actual = None;
                Self::PatchMismatch { path, mismatch, current }
            }
            Self::LinkWouldBeLost { path, source, .. } => {
                Self::LinkWouldBeLost { path, source, place: NOT_SHOWN.to_owned() }
            }
            Self::PatchRejected { path, remedy, .. } => Self::PatchRejected { path, problem: unreadable(), remedy },
            Self::FrontmatterInvalid { path, .. } => Self::FrontmatterInvalid { path, problem: unreadable() },
            Self::FrontmatterWouldBreak { path, .. } => Self::FrontmatterWouldBreak { path, problem: unreadable() },
            Self::EditRefused { path, error } => Self::EditRefused { path, error: without_names(error) },
            Self::SchemaMismatch { path, problems } => {
                let problems = problems.into_iter().map(ShapeProblem::without_content).collect();
                Self::SchemaMismatch { path, problems }
            }
            Self::InStep { list, index, reason } => {
                Self::InStep { list, index, reason: Box::new(reason.without_content()) }
            }
            other => other,
        }
    }
}

/// Instead of a name in a note that the caller may not read.
const NOT_SHOWN: &str = "…";

fn unreadable() -> Prose {
    Prose::ours(format_args!("the details are part of a note that you may not read"))
}

/// An error that names nothing but what the caller sent.
fn without_names(error: EditError) -> EditError {
    let hidden = || NOT_SHOWN.to_owned();
    match error {
        EditError::LinkLost { .. } => EditError::LinkLost { target: hidden() },
        EditError::BadLinkTarget { .. } => EditError::BadLinkTarget { target: hidden() },
        EditError::TagLost { .. } => EditError::TagLost { tag: hidden() },
        EditError::BlockLost { .. } => EditError::BlockLost { id: hidden() },
        EditError::Property(PropertyError::Yaml { line, .. }) => {
            EditError::Property(PropertyError::Yaml { line, problem: hidden() })
        }
        EditError::Property(PropertyError::Duplicate { .. }) => {
            EditError::Property(PropertyError::Duplicate { name: hidden() })
        }
        error => error,
    }
}

/// The first lines of a diff that start with one of these markers.
fn lines(path: &VaultPath, old: &[u8], new: &[u8], marks: &[char]) -> Vec<String> {
    let mut diff = ChangeDiff::default();
    diff.compare(path, Some(old), Some(new));
    let mut left = SHOWN;
    let mut shown = Vec::new();
    // The first two lines name the file.
    // Blank lines take room and show nothing.
    for line in diff.text.lines().skip(2).filter(|line| line.starts_with(marks) && !line[1..].trim().is_empty()) {
        let clipped = match line.char_indices().nth(SHOWN_OF_LINE) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_owned(),
        };
        let Some(rest) = left.checked_sub(clipped.len()) else { break };
        left = rest;
        shown.push(clipped);
    }
    shown
}
