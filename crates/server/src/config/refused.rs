//! Why a value cannot be taken.

use super::error::ConfigError;
use super::raw::Place;

/// Each message names the value and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("'{value}' is neither on nor off; write true or false")]
    NotBoolean { value: String },
    #[error("'{value}' is not a whole number from {least} to {most}")]
    NotNumber { value: String, least: String, most: String },
    #[error("'{value}' is not allowed; write one of: {}", allowed.join(", "))]
    NotOneOf { value: String, allowed: Vec<&'static str> },
    #[error("expected {expected}, found {found}")]
    Shape { expected: &'static str, found: &'static str },
    // The words of the next three are those of the server this one replaces.
    #[error("contained separators but no valid paths after trimming")]
    OnlySeparators,
    #[error("must be vault-relative; got absolute path '{value}'")]
    AbsolutePath { value: String },
    #[error("must not contain '..' traversal; got '{value}'")]
    Traversal { value: String },
    #[error("must be names of folders or notes without '*', since everything below a folder is meant; got '{value}'")]
    Wildcard { value: String },
    #[error("must name a folder or a note in the vault; got '{value}'")]
    WholeVault { value: String },
    #[error("is an empty list; leave it out to allow every path, or name the paths")]
    EmptyPathList,
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
    #[error("vault '{value}' has no path; write NAME=PATH or PATH")]
    VaultWithoutPath { value: String },
    #[error("vault '{value}' has an empty name; write NAME=PATH or PATH")]
    VaultWithoutName { value: String },
    #[error(
        "vault '{vault}': there is no setting `{key}` of a vault{}",
        nearest.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
    )]
    NotOfAVault { vault: String, key: String, nearest: Option<&'static str> },
    #[error("'{value}' is not the name of a folder; write names without '/', '\\' and '*'")]
    NotFolderName { value: String },
    #[error("'{value}' is below the home folder, and there is none (HOME is not set); write the whole path")]
    NoHome { value: String },
}

impl Refused {
    pub(super) fn at(self, place: Place) -> ConfigError {
        ConfigError::Value { place, refused: Box::new(self) }
    }
}
