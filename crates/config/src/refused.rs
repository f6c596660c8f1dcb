//! Why a value is refused.

use super::error::ConfigError;
use super::raw::ValueOrigin;

/// Each message names the value and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigRefusal {
    #[error("'{value}' is neither on nor off; write true or false")]
    NotBoolean { value: String },
    #[error("'{value}' is not a whole number from {least} to {most}")]
    NotNumber { value: String, least: String, most: String },
    #[error("'{value}' is not allowed; write one of: {}", allowed.join(", "))]
    NotOneOf { value: String, allowed: Vec<&'static str> },
    #[error("expected {expected}, found {found}")]
    Shape { expected: &'static str, found: &'static str },
    // The wording of the next three is that of the server this one replaces.
    #[error("contained separators but no valid paths after trimming")]
    OnlySeparators,
    #[error("must be vault-relative; got absolute path '{value}'")]
    AbsolutePath { value: String },
    #[error("must not contain '..' traversal; got '{value}'")]
    Traversal { value: String },
    #[error(
        "must be names of folders or notes without '*', since a folder includes everything below it; got '{value}'"
    )]
    Wildcard { value: String },
    #[error("must name a folder or a note in the vault; got '{value}'")]
    WholeVault { value: String },
    #[error("is an empty list; leave it out to allow every path, or list the paths")]
    EmptyPathList,
    #[error("'{value}' is not the name of a model; `lapidary model list` shows them")]
    NotModel { value: String },
    #[error("'{value}' marks no notes; write a tag like #source, or a property with its value like status=final")]
    NotMark { value: String },
    #[error("'{value}' is not an address of this computer; write 127.0.0.1, ::1 or localhost")]
    NotHost { value: String },
    #[error("'{value}' is not an origin; write scheme://host or scheme://host:port, or * for any")]
    NotOrigin { value: String },
    #[error(
        "'{value}' cannot be the endpoint; write a path like /mcp, of letters, digits, '-', '_' and '.', \
         other than {}", reserved.join(", ")
    )]
    NotEndpoint { value: String, reserved: &'static [&'static str] },
    #[error("'{value}' is not an approval; write effect=decision, like write=ask,destroy=deny")]
    NotApproval { value: String },
    #[error("'{value}' is not a rule; write a decision and what it applies to, like: ask tool=file_move path=Work")]
    NotRule { value: String },
    #[error("a rule about reading cannot have a path; close paths with access.deny_paths")]
    PathOfReading,
    #[error("'{name}' is a built-in profile and cannot be redefined; give your profile another name")]
    BuiltInProfile { name: String },
    #[error("profile '{name}' allows nothing; write `allow`, a list of tools and groups")]
    EmptyProfile { name: String },
    #[error("there is no profile '{name}'; there are: {}", known.join(", "))]
    NoProfile { name: String, known: Vec<String> },
    // The text in place of the profile may be the token.
    #[error("the token '{name}' names an unknown profile; there are: {}", known.join(", "))]
    NoProfileOfToken { name: String, known: Vec<String> },
    #[error("'{name}' and '{other}' have the same token; give each client its own")]
    SameToken { name: String, other: String },
    #[error("two tokens have the name '{name}'; give each client its own name")]
    SameTokenName { name: String },
    #[error("is not a token; write NAME:PROFILE:TOKEN, several separated by ';'")]
    NotToken,
    #[error("'{name}' has no `token`")]
    NoToken { name: String },
    #[error(
        "the token of '{name}' is too weak; write at least {shortest} characters without blanks, or sha256: and 64 hex digits"
    )]
    WeakToken { name: String, shortest: usize },
    #[error(
        "'{value}' is not an address of the web; write scheme and host without a path, like https://vault.example.com"
    )]
    NotPublicUrl { value: String },
    #[error("'{value}' is not a host; write example.org, *.example.org, example.org:8080 or any")]
    NotWebHost { value: String },
    #[error("write an address like http://127.0.0.1:8888/search, not '{value}'")]
    NotWebUrl { value: String },
    #[error("write an address like https://127.0.0.1:27124, not '{value}'")]
    NotAppUrl { value: String },
    #[error(
        "'{value}' is not the address of an issuer; write one that begins with https:// (http:// only for this computer)"
    )]
    NotIssuerUrl { value: String },
    #[error(
        "'{value}' is not a place to return to; write an origin like https://claude.ai, a scheme like cursor:, or loopback"
    )]
    NotRedirectPlace { value: String },
    #[error("'{value}' is not a host; write a name or an address, with a port if wanted, like vault.example.com")]
    NotHostName { value: String },
    #[error("'{value}' is not an address; write one like 10.0.0.7, or a range like 10.0.0.0/8")]
    NotAddressRange { value: String },
    #[error("'{value}' is not the address of a collector; write one like http://localhost:4318")]
    NotCollector { value: String },
    #[error("'{value}' is not a share; write a number from 0 to 1, like 0.1")]
    NotShare { value: String },
    #[error("is too short for a secret; write 32 characters or more")]
    WeakSecret,
    #[error("'{value}' is not a name; write up to 40 letters, digits, '-', '_' and '.'")]
    NotPlainName { value: String },
    #[error(
        "there is no `{key}` in a {kind}{}{}",
        if name.is_empty() { String::new() } else { format!(" ('{name}')") },
        nearest.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
    )]
    UnknownPart { kind: &'static str, name: String, key: String, nearest: Option<&'static str> },
    #[error(
        "only a file that you name starts programs: use --config, set LAPIDARY_CONFIG, or LAPIDARY_ENV_FILE if the .env is yours"
    )]
    ServersNotOwn,
    #[error("'{value}' is not a name for a server; write up to 40 letters, digits, '-', '_' and '.'")]
    NotServerName { value: String },
    #[error("there may be {most} servers")]
    TooManyServers { most: usize },
    #[error(
        "server '{server}': write `command` (and `args`, `env`, `pass_env`) for a program, or `url` (and `headers`, `token_env`) for \
         an address"
    )]
    HalfOfServer { server: String },
    #[error("'{value}' is not a program; write a name that is in PATH, or the whole path")]
    NotProgram { value: String },
    #[error(
        "'{value}' is not the name of a tool; write letters, digits, '_', '-', '.', '/', and '*' for any characters"
    )]
    NotNamePattern { value: String },
    #[error("'{value}' is not a header that can be set")]
    NotHeader { value: String },
    #[error("vault '{value}' has no path; write NAME=PATH or PATH")]
    VaultWithoutPath { value: String },
    #[error(
        "vault '{vault}': write `path` for a folder, or `url` and `key` (and `certificate`) for a vault behind Obsidian"
    )]
    HalfOfRemote { vault: String },
    #[error("vault '{value}' has an empty name; write NAME=PATH or PATH")]
    VaultWithoutName { value: String },
    #[error(
        "vault '{vault}': there is no setting `{key}` of a vault{}",
        nearest.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
    )]
    NotOfAVault { vault: String, key: String, nearest: Option<&'static str> },
    #[error("'{value}' is not the name of a folder; write names without '/', '\\' and '*'")]
    NotFolderName { value: String },
    #[error("'{value}' is below the home folder, and there is none (HOME is not set); write the full path")]
    NoHome { value: String },
}

impl ConfigRefusal {
    pub(super) fn at(self, place: ValueOrigin) -> ConfigError {
        // The only way to an error: a refusal without its place would not tell an owner where to look.
        ConfigError::Value { place, refused: Box::new(self) }
    }
}
