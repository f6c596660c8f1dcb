//! Why Lapidary cannot start with this configuration.

use std::io;
use std::path::PathBuf;

use super::raw::ValueOrigin;
use super::refused::ConfigRefusal;
use super::warning::ConfigWarning;

/// For people: what is wrong, where it is written, what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{place}: {refused}")]
    Value { place: ValueOrigin, refused: Box<ConfigRefusal> },
    #[error(
        "{}: there is no setting `{key}`{}", file.display(),
        nearest.map_or_else(|| "; `lapidary config show --all` lists them".to_owned(), |it| format!("; did you mean `{it}`?"))
    )]
    UnknownKey { file: PathBuf, key: String, nearest: Option<&'static str> },
    #[error("the configuration file {} cannot be read: {source}", file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("the configuration file {} is not valid TOML: {source}", file.display())]
    Toml { file: PathBuf, source: Box<toml::de::Error> },
    #[error("the configuration file {} is not valid JSON: {source}", file.display())]
    Json { file: PathBuf, source: serde_json::Error },
    #[error("the configuration file {} must be an object, like {{\"vaults\": {{\"name\": \"/path\"}}}}", file.display())]
    NotAnObject { file: PathBuf },
    #[error("MCP_AUTH_MODE is jwt, and there is no secret; set MCP_AUTH_SECRET_KEY to 32 characters or more")]
    NoSecret,
    #[error(
        "MCP_AUTH_MODE is oauth, and {missing} is not set; say which issuer's tokens to accept, and for which audience"
    )]
    NoIssuer { missing: &'static str },
    #[error(
        "MCP_AUTH_MODE is builtin, so the owner's passphrase is typed into a page of {url}, which is not encrypted; \
         set MCP_PUBLIC_URL to the https address of a proxy or tunnel in front of this server"
    )]
    ExposedPassphrase { url: String },
    #[error(
        "{} is in a vault, and `mcp.servers` starts programs: anyone who can write to the vault, as by sync, could run anything on \
         this computer; keep the file elsewhere", file.display()
    )]
    ServersInVault { file: PathBuf },
    #[error("TLS needs a certificate and its key, and {missing} is not given")]
    HalfOfTls { missing: &'static str },
    #[error("{place}: there is no folder {given}{}{}", looked_at(given, path), meant(nearest.as_deref()))]
    VaultMissing { place: ValueOrigin, given: String, path: PathBuf, nearest: Option<String> },
    #[error("--vault {name} could be any of these; write its whole path:{}", lines(paths))]
    SeveralNamed { name: String, paths: Vec<PathBuf> },
    #[error(
        "no vault is given, and Obsidian's own list has none (looked at: {}); add --vault /path/to/vault, or try \
         --demo{}",
        joined(looked_at, ", "),
        also(noticed)
    )]
    NoVault { looked_at: Vec<PathBuf>, noticed: Vec<ConfigWarning> },
    #[error(
        "no vault is given, and Obsidian's own list has {}; only vaults that you choose are served, so add one or \
         more of these lines:{}{}", vaults.len(), lines(vaults), also(noticed)
    )]
    SeveralVaults { vaults: Vec<PathBuf>, noticed: Vec<ConfigWarning> },
    #[error("{place}: the certificate {} cannot be read", path.display())]
    NoCertificate { place: ValueOrigin, path: PathBuf },
    #[error("OBSIDIAN_API_KEY is the key of several vaults; add one or more of these lines:{}", lines(vaults))]
    KeyOfSeveral { vaults: Vec<PathBuf> },
    #[error(
        "{} is given twice with different rules, as '{}' and as '{}'; give it once", path.display(), names[0], names[1]
    )]
    TwoRules { path: PathBuf, names: [String; 2] },
    #[error("`follow` of the vault '{vault}': {refused}")]
    Follow { vault: String, refused: Box<ConfigRefusal> },
    #[error(
        "links into {} cannot be followed, because {} would be reachable through it; choose another folder",
        folder.display(), other.display()
    )]
    FollowsTooMuch { folder: PathBuf, other: PathBuf },
    #[error(
        "files cannot be imported from {}, because {} could be read through it; set import_folder to another folder",
        folder.display(), other.display()
    )]
    ImportsTooMuch { folder: PathBuf, other: PathBuf },
    #[error("there is no home folder to keep state in; set HOME, or LAPIDARY_STATE_DIR to a folder outside the vaults")]
    NoStateFolder,
    #[error(
        "the state folder {} is inside the vault {}, where state never goes; set LAPIDARY_STATE_DIR to a folder \
         outside the vaults", state.display(), vault.display()
    )]
    StateInVault { state: PathBuf, vault: PathBuf },
    #[error(
        "the folder for logs {} is inside the vault {}; set LOGS_DIR to a folder outside the vaults",
        logs.display(), vault.display()
    )]
    LogsInVault { logs: PathBuf, vault: PathBuf },
}

fn looked_at(given: &str, path: &std::path::Path) -> String {
    let path = path.display().to_string();
    // The guards are tried in order; nothing is matched.
    match () {
        () if path == given => String::new(),
        // A word without a separator could have been meant as the name of a vault, so both are mentioned then.
        () if given.contains(['/', '\\']) => format!(" (resolved to {path})"),
        () => format!(" (resolved to {path}), and no vault of that name in the configuration or in Obsidian's list"),
    }
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean --vault {name}?"))
}

fn joined(paths: &[PathBuf], separator: &str) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(separator)
}

fn lines(vaults: &[PathBuf]) -> String {
    vaults.iter().map(|path| format!("\n  --vault \"{}\"", path.display())).collect()
}

/// Warnings that may be the actual cause; with an error they would otherwise not be shown.
fn also(noticed: &[ConfigWarning]) -> String {
    noticed.iter().map(|warning| format!("\n  note: {warning}")).collect()
}
