//! What a `.env` in the working folder may decide.
//!
//! Clients start a server in the folder of whatever project is open, so its `.env` may come from a stranger. It counts as a
//! whole if the owner names it, or if it is the set-up: nothing else chooses a vault, and it does. Otherwise it may set what
//! gives no one access to anything.

use super::config_paths::ConfigPlaces;
use super::dotenv::DotenvLine;
use super::raw::{RawValue, is_unset};
use super::value::toggle;
use super::variables::EnvironmentVariables;
use super::{ConfigSources, file};

/// Names a `.env` file that the owner trusts. Only the real environment counts: a file cannot vouch for itself.
pub(super) const VARIABLE: &str = "LAPIDARY_ENV_FILE";

/// Each of these chooses vaults, by itself or by a file.
const CHOOSES_VAULTS: [&str; 3] = ["OBSIDIAN_VAULT_PATHS", "OBSIDIAN_API_KEY", file::VARIABLE];

/// They open nothing, hide nothing and move nothing to another place.
const HARMLESS: [&str; 13] = [
    "MCP_LOG_LEVEL",
    "LAPIDARY_LOG_FORMAT",
    "MCP_HTTP_PORT",
    "MCP_HTTP_MAX_PORT_RETRIES",
    "MCP_HTTP_ENDPOINT_PATH",
    "MCP_DEADLINE_MS",
    "MCP_MAX_FILES_SCANNED",
    "MCP_MAX_BYTES_READ",
    "MCP_MAX_BULK_OPS",
    "LAPIDARY_MAX_REPLY_BYTES",
    "LAPIDARY_DOTTED_NAMES",
    "LAPIDARY_REPETITION",
    "LAPIDARY_MAX_FAILURES",
];

/// It can only take away.
const READ_ONLY: &str = "OBSIDIAN_READ_ONLY";

/// Whether a line counts in a file that is not the set-up.
pub(super) fn is_harmless(line: &DotenvLine) -> bool {
    let name = line.name.as_str();
    // A value that cannot be read is an error, as everywhere.
    // Turning read-only off would open something, so only a value that turns it on counts.
    HARMLESS.contains(&name) || (name == READ_ONLY && toggle(&RawValue::Text(line.value.clone())).unwrap_or(true))
}

/// Whether these lines are the set-up: they choose a vault, and nothing else does.
pub(super) fn is_setup(lines: &[DotenvLine], sources: &ConfigSources<'_>, real: &EnvironmentVariables) -> bool {
    // Only sources outside this file: it must not decide about its own trust.
    let flags = sources.flags;
    let by_flag = flags.demo || !flags.vaults.is_empty() || flags.config.is_some();
    let by_variable = CHOOSES_VAULTS.iter().any(|name| real.real(name).is_some());
    let places = ConfigPlaces::new(sources, real);
    let usual = [places.config_folder().map(|folder| folder.join(file::NAME)), places.old_vault_list()];
    // One that cannot be read is an error later, and no reason to believe another.
    let is_there = |path: &std::path::PathBuf| !sources.files.read(path).is_err_and(|error| file::is_absent(&error));
    let by_file = usual.iter().flatten().any(is_there);
    let chooses = |line: &DotenvLine| CHOOSES_VAULTS.contains(&line.name.as_str()) && !is_unset(&line.value);
    !by_flag && !by_variable && !by_file && lines.iter().any(chooses)
}
