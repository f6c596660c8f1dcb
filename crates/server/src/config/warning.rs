//! What a person should know about the configuration although it works.

use std::path::PathBuf;

use super::raw::ValueOrigin;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigWarning {
    #[error("{name} is not a variable that Lapidary knows{}", nearest.map(|it| format!("; did you mean {it}?")).unwrap_or_default())]
    UnknownVariable { name: String, nearest: Option<&'static str> },
    #[error("{name} is set, but {reason}")]
    WithoutEffect { name: &'static str, reason: &'static str },
    #[error("{}, line {line}, is not NAME=VALUE and was skipped", file.display())]
    BrokenLine { file: PathBuf, line: usize },
    #[error("{} could not be read and was skipped: {problem}", file.display())]
    Unreadable { file: PathBuf, problem: String },
    #[error("two vaults are called '{wanted}'; {} is served as '{name}'", path.display())]
    Renamed { wanted: String, name: String, path: PathBuf },
    #[error("{} is given twice; it is served once, as '{kept}', not as '{dropped}'", path.display())]
    SameFolder { path: PathBuf, kept: String, dropped: String },
    #[error("--demo is given, so only the demo vault is served and --vault is ignored")]
    DemoWins,
    #[error("{place}: {asked} is longer than a call may take; {longest} is used")]
    DeadlineCut { place: ValueOrigin, asked: u64, longest: u64 },
    #[error("links into {} are followed, but there is no such folder now", folder.display())]
    NothingToFollow { folder: PathBuf },
    #[error("the server is read-only, so the write paths (OBSIDIAN_WRITE_PATHS) allow nothing")]
    WritePathsReadOnly,
}
