//! Refuses to overwrite a file that changed since the caller read it.

use lapidary_note::ExpectedHash;
use lapidary_vault::{ChangeDiff, VaultPath, View};

use super::{PartCandidates, Reason};

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
            Err(_) => return Self::NoteMissing { path, suggestions: Vec::new() },
        };
        // Unreadable history shows nothing; the refusal is given without it.
        let seen = view.version(&path, &expected).ok().flatten();
        let (changed, lost) = match &seen {
            Some((_, seen)) => (lines(&path, seen, now.bytes(), &['-', '+']), Vec::new()),
            None => (Vec::new(), lines(&path, now.bytes(), proposed, &['-'])),
        };
        let lost = lost.iter().map(|line| line[1..].to_owned()).collect();
        Self::Overtaken { path, argument, expected, current: now.hash(), changed, lost }
    }

    /// Without the contents of the file, for a caller that may not read it.
    #[must_use]
    pub fn without_content(self) -> Self {
        match self {
            Self::Overtaken { path, argument, expected, current, .. } => {
                Self::Overtaken { path, argument, expected, current, changed: Vec::new(), lost: Vec::new() }
            }
            Self::TextMissing { path, preview, .. } => Self::TextMissing { path, preview, near: None },
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
            Self::InStep { list, index, reason } => {
                Self::InStep { list, index, reason: Box::new(reason.without_content()) }
            }
            other => other,
        }
    }
}

/// The first lines of a diff that start with one of these markers.
fn lines(path: &VaultPath, old: &[u8], new: &[u8], marks: &[char]) -> Vec<String> {
    let mut diff = ChangeDiff::default();
    diff.compare(path, Some(old), Some(new));
    let mut left = SHOWN;
    let mut shown = Vec::new();
    // The first two lines name the file.
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
