//! Commands about who may connect.

use clap::{Args, Subcommand};

use super::CommonFlags;

/// Tokens of HTTP clients. Options such as `--vault` have a different meaning here, so the general ones are not accepted
/// after these words.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum TokenWord {
    /// Create a token and print it; it is shown only once
    Create(NewToken),
    /// Print the tokens and their rights, and what was granted to OAuth clients
    List {
        /// Include expired and revoked ones
        #[arg(long)]
        all: bool,
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: ConfigFile,
    },
    /// Print what happened around access: sign-ins, grants, first uses, revocations, stolen tokens, refusals
    Log {
        /// How many of the latest to print
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: ConfigFile,
    },
    /// Revoke a token or a grant; a running server refuses it from then on
    Revoke {
        /// Its name in the list
        name: String,
        #[command(flatten)]
        file: ConfigFile,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct NewToken {
    /// The client's name, like `phone`; used in the log
    pub(crate) name: String,
    /// What it may do: `reader`, `editor`, `curator` or a profile of the configuration file
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Folders and notes it may see and change, separated by commas; may be repeated
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) paths: Vec<String>,
    /// Of these, what it may change, if not all
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) write_paths: Vec<String>,
    /// A vault that it may use; may be repeated
    #[arg(long = "vault", value_name = "NAME", value_delimiter = ',')]
    pub(crate) vaults: Vec<String>,
    /// It may not change anything
    #[arg(long)]
    pub(crate) read_only: bool,
    /// When it expires: 30d, 12h, 2w, 1y or `never`
    #[arg(long, value_name = "TIME", default_value = "90d")]
    pub(crate) expires: lapidary_auth::TokenLifetime,
    #[command(flatten)]
    pub(crate) file: ConfigFile,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ConfigFile {
    /// Configuration file to read instead of the default one
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

impl TokenWord {
    pub(super) fn flags(&self) -> CommonFlags {
        let (Self::Create(NewToken { file, .. })
        | Self::List { file, .. }
        | Self::Log { file, .. }
        | Self::Revoke { file, .. }) = self;
        CommonFlags { config: file.config.clone(), ..CommonFlags::default() }
    }
}

/// The person whose vaults are served, who consents to what clients ask for.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum OwnerWord {
    /// Set the passphrase that the consent page asks for, typed or from standard input; ends all browser sessions
    SetPassphrase {
        #[command(flatten)]
        file: ConfigFile,
    },
}

impl OwnerWord {
    pub(super) fn flags(&self) -> CommonFlags {
        let Self::SetPassphrase { file } = self;
        CommonFlags { config: file.config.clone(), ..CommonFlags::default() }
    }
}
