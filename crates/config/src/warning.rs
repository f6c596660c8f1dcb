//! Warnings about a valid configuration.

use std::path::PathBuf;

use super::raw::ValueOrigin;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigWarning {
    #[error("{name} is not a Lapidary variable{}", nearest.map(|it| format!("; did you mean {it}?")).unwrap_or_default())]
    UnknownVariable { name: String, nearest: Option<&'static str> },
    #[error("{name} is set, but {reason}")]
    WithoutEffect { name: &'static str, reason: &'static str },
    #[error("{}, line {line}, is not NAME=VALUE and was skipped", file.display())]
    BrokenLine { file: PathBuf, line: usize },
    #[error("{} could not be read and was skipped: {problem}", file.display())]
    Unreadable { file: PathBuf, problem: String },
    #[error(
        "{names} in {} has no effect: the vault is chosen elsewhere, and the folder may be another person's project; if the file is \
         yours, set LAPIDARY_ENV_FILE to its path", file.display()
    )]
    Distrusted { file: PathBuf, names: String },
    #[error(
        "{} decides about this server and is in a vault: it is closed to clients, but every other program that can write to \
         the vault can change it; keep it elsewhere", file.display()
    )]
    OwnFileInVault { file: PathBuf },
    #[error("two vaults are called '{wanted}'; {} is served as '{name}'", path.display())]
    Renamed { wanted: String, name: String, path: PathBuf },
    #[error("{} is given twice; it is served once, as '{kept}', not as '{dropped}'", path.display())]
    SameFolder { path: PathBuf, kept: String, dropped: String },
    #[error("--demo is given, so only the demo vault is served and --vault is ignored")]
    DemoWins,
    #[error("{place}: {asked} is above the limit; {longest} is used")]
    DeadlineCut { place: ValueOrigin, asked: u64, longest: u64 },
    #[error("links into {} are followed, but the folder does not exist", folder.display())]
    NothingToFollow { folder: PathBuf },
    #[error("the server is read-only, so the write paths (OBSIDIAN_WRITE_PATHS) allow nothing")]
    WritePathsReadOnly,
    #[error("LAPIDARY_REST_HTTP has no effect: the REST API is not served (LAPIDARY_REST, --rest)")]
    RestNotServed,
    #[error("the server '{server}' of `mcp.servers` gets no {variable}: it is not set in the environment")]
    ServerVariable { server: String, variable: String },
    #[error("--rest-http has no effect: the REST API has its own address, which is plain HTTP")]
    RestPlainAlready,
}
