//! A unified diff of one file: read strictly, applied exactly where it says.

use std::fmt;

mod apply;
mod read;
#[cfg(test)]
mod tests;

/// Changes of one file, as `diff -u` writes them. The names of files in it do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    hunks: Vec<DiffHunk>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct DiffHunk {
    /// The first old line, counted from 1. Without old lines, the line behind which the new ones go; 0 is the begin.
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

/// What the header of a hunk says.
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

/// Why a text is no patch of one file. Hunks are counted from 0 and lines of the patch from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("there is no hunk in it")]
    NoHunk,
    #[error("line {line} of the patch begins hunk {hunk} and is not `@@ -line,count +line,count @@`")]
    Header { hunk: usize, line: usize },
    #[error("line {line} of the patch, in hunk {hunk}, begins with neither a space nor `-` nor `+`")]
    Line { hunk: usize, line: usize },
    #[error("hunk {hunk} says `{stated}`, and its lines make `{actual}`")]
    Counts { hunk: usize, line: usize, stated: HunkRange, actual: HunkRange },
    #[error("line {line} of the patch begins another file")]
    SeveralFiles { line: usize },
    #[error("hunk {hunk} says of a line that it has no line end, and more follows it")]
    UnendedLine { hunk: usize },
    #[error("hunk {hunk} begins before the one above it ends")]
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

/// Where a file is not what a patch was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchMismatch {
    /// Counted from 0.
    pub hunk: usize,
    /// In the file, counted from 1.
    pub line: usize,
    pub removed: bool,
    pub expected: String,
    /// Nothing behind the end of the file.
    pub actual: Option<String>,
    /// The one line at which all old lines of the hunk stand.
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
