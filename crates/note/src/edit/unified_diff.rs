//! A unified diff of one file: parsed strictly, applied exactly where it says.

use std::fmt;

mod apply;
mod read;
#[cfg(test)]
mod tests;

/// Changes of one file, as `diff -u` writes them. File names in it are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    hunks: Vec<DiffHunk>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct DiffHunk {
    /// The first old line, counted from 1. Without old lines, the line after which the new ones go; 0 is the start.
    start: usize,
    lines: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct DiffLine {
    mark: DiffMark,
    text: String,
    /// False if `\ No newline at end of file` follows.
    ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiffMark {
    Kept,
    Removed,
    Added,
}

impl DiffMark {
    fn is_old(self) -> bool {
        self != Self::Added
    }

    fn is_new(self) -> bool {
        self != Self::Removed
    }
}

/// The contents of a hunk header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HunkRange {
    pub old_start: usize,
    pub old_lines: usize,
    pub new_start: usize,
    pub new_lines: usize,
}

impl fmt::Display for HunkRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { old_start, old_lines, new_start, new_lines } = self;
        write!(f, "@@ -{old_start},{old_lines} +{new_start},{new_lines} @@")
    }
}

/// Why a text is not a patch of one file. Hunks are counted from 0 and lines of the patch from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("it has no hunk")]
    NoHunk,
    #[error("line {line} of the patch starts hunk {hunk} and is not `@@ -line,count +line,count @@`")]
    Header { hunk: usize, line: usize },
    #[error("line {line} of the patch, in hunk {hunk}, starts with neither a space nor `-` nor `+`")]
    Line { hunk: usize, line: usize },
    #[error("hunk {hunk} says `{stated}`, but its lines make `{actual}`")]
    Counts { hunk: usize, line: usize, stated: HunkRange, actual: HunkRange },
    #[error("line {line} of the patch starts another file")]
    SeveralFiles { line: usize },
    #[error("hunk {hunk} marks a line as having no newline, but more lines follow")]
    UnendedLine { hunk: usize },
    #[error("hunk {hunk} starts before the previous one ends")]
    Order { hunk: usize },
}

impl PatchError {
    pub fn hunk(&self) -> Option<usize> {
        match self {
            Self::NoHunk | Self::SeveralFiles { .. } => None,
            Self::Header { hunk, .. }
            | Self::Line { hunk, .. }
            | Self::Counts { hunk, .. }
            | Self::UnendedLine { hunk }
            | Self::Order { hunk } => Some(*hunk),
        }
    }

    pub fn line(&self) -> Option<usize> {
        match self {
            Self::NoHunk | Self::UnendedLine { .. } | Self::Order { .. } => None,
            Self::Header { line, .. }
            | Self::Line { line, .. }
            | Self::Counts { line, .. }
            | Self::SeveralFiles { line } => Some(*line),
        }
    }
}

/// Where a file does not match a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchMismatch {
    /// Counted from 0.
    pub hunk: usize,
    /// In the file, counted from 1.
    pub line: usize,
    pub removed: bool,
    pub expected: String,
    /// `None` beyond the end of the file.
    pub actual: Option<String>,
    /// The only line where all old lines of the hunk match.
    pub found_at: Option<usize>,
}

impl fmt::Display for PatchMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.removed { "delete" } else { "context" };
        write!(f, "{what} mismatch in hunk {} at line {}", self.hunk, self.line)
    }
}

/// Why a patch was not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchFailure {
    #[error(transparent)]
    Invalid(#[from] PatchError),
    #[error("{0}")]
    Mismatch(PatchMismatch),
    #[error(transparent)]
    Edit(#[from] crate::EditError),
}
