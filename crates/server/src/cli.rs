//! The command line: its syntax, and nothing about what it does.

use std::ffi::OsString;
use std::net::IpAddr;
use std::str::FromStr;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::config::host;

#[cfg(test)]
mod tests;

/// The parsed command line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Invocation {
    pub(crate) flags: CommonFlags,
    pub(crate) command: Command,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Command {
    Serve,
    Call(CallArguments),
    Search(Search),
    Query(QueryArguments),
    Tools(ToolsArguments),
    Vaults(ListArguments),
    Audit(Audit),
    Checkpoints(Checkpoints),
    Approvals(Approvals),
    Token(TokenWord),
    Owner(OwnerWord),
    Doctor(DoctorArguments),
    Install(InstallArguments),
    Uninstall(UninstallArguments),
    Explain(ExplainArguments),
    Completions(CompletionArguments),
}

impl Command {
    /// Whether the command needs a vault.
    pub(crate) fn needs_vault(&self) -> bool {
        match self {
            Self::Token(_)
            | Self::Owner(_)
            | Self::Doctor(_)
            | Self::Uninstall(_)
            | Self::Explain(_)
            | Self::Completions(_) => false,
            Self::Install(install) => install.http.is_none(),
            _ => true,
        }
    }
}

/// Set up AI programs on this computer to use Lapidary
///
/// Without names, all that are found: Claude Desktop, Claude Code, Cursor, VS Code, Zed, Codex, Gemini CLI, Windsurf and others.
/// Each change is shown and asked for first; everything else in a file stays as it is, and the old file is kept beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct InstallArguments {
    /// Programs to set up, like `claude-desktop`, `cursor` or `zed`
    #[arg(value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,
    /// Print what to paste, and links, without changing anything
    #[arg(long)]
    pub(crate) print: bool,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Let the programs call a running server at this address instead of starting one
    #[arg(long, value_name = "URL")]
    pub(crate) http: Option<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Replace another server that has the name `obsidian`
    #[arg(long)]
    pub(crate) force: bool,
}

/// Take back what `install` did
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct UninstallArguments {
    /// Programs to remove Lapidary from; all if none is named
    #[arg(value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Remove the entry `obsidian` even if it is another server
    #[arg(long)]
    pub(crate) force: bool,
    /// Also remove what Lapidary stores about vaults: undo data, logs, indexes and tokens
    #[arg(long)]
    pub(crate) state: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ExplainArguments {
    /// The reason, like `note_missing`; all if none is given
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct CompletionArguments {
    /// The shell that reads them
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ToolsArguments {
    /// One tool, with its arguments and examples
    pub(crate) name: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// The options that choose vaults and settings; every subcommand takes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Vaults and settings")]
pub(crate) struct CommonFlags {
    /// Vault folder to serve, optionally with a name; may be repeated
    #[arg(long = "vault", value_name = "[NAME=]PATH")]
    pub(crate) vaults: Vec<String>,
    /// Serve a copy of the bundled demo vault
    #[arg(long)]
    pub(crate) demo: bool,
    /// Configuration file to read instead of the default one
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<String>,
    /// Change nothing
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Tools to list: names, groups, `default`, `obsidian`, `files`, `chatgpt` or `all`, separated by commas; may be repeated
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Tools to exclude (same syntax as --tools, which it overrides)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) exclude_tools: Vec<String>,
    /// What callers may use: `reader`, `editor`, `curator` or a profile from the configuration file
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// List tools under their dotted names (`file.read`), which many clients refuse
    #[arg(long)]
    pub(crate) dotted_names: bool,
    /// Serve a folder even if the home folder is in it
    #[arg(long)]
    pub(crate) any_folder: bool,
    /// Only `serve` accepts it, so it is declared there.
    #[arg(skip)]
    pub(crate) http: Option<HttpAddress>,
    /// So are these.
    #[arg(skip)]
    pub(crate) insecure_no_auth: bool,
    #[arg(skip)]
    pub(crate) public_url: Option<String>,
    #[arg(skip)]
    pub(crate) sse: bool,
    #[arg(skip)]
    pub(crate) tls_cert: Option<String>,
    #[arg(skip)]
    pub(crate) tls_key: Option<String>,
}

/// One call through the same pipeline as from a client; prints JSON
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct CallArguments {
    /// The tool's name, dotted or not
    pub(crate) tool: String,
    /// The arguments as a JSON object, or `-` to read it from standard input
    #[arg(value_name = "JSON|-", default_value = "{}", hide_default_value = true)]
    pub(crate) input: CallInput,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CallInput {
    Stdin,
    Json(serde_json::Map<String, serde_json::Value>),
}

/// The best notes for a query, as a table
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Search {
    /// Words, "phrases", -not, OR, path:, tag:, [property:value] and so on, as in Obsidian
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Alternative wordings, any of which may match; may be repeated
    #[arg(long = "or", value_name = "WORDS")]
    pub(crate) alternatives: Vec<String>,
    /// Explain the ranking of each note
    #[arg(long)]
    pub(crate) explain: bool,
    /// How many notes to print
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Notes, properties and tasks as a table
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct QueryArguments {
    /// Dataview DQL, or the path of a .base file
    #[arg(required = true, value_name = "DQL|FILE.base")]
    pub(crate) query: Vec<String>,
    /// The view of a base, if not its first
    #[arg(long, value_name = "NAME")]
    pub(crate) view: Option<String>,
    /// The note that `this` means
    #[arg(long, value_name = "NOTE")]
    pub(crate) note: Option<String>,
    /// How many rows to print
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Which vault, if several are served
    #[arg(long, value_name = "NAME")]
    pub(crate) of: Option<String>,
    #[command(flatten)]
    pub(crate) printed: PrintedFormat,
}

/// What is printed instead of a table that fits the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
#[group(multiple = false)]
pub(crate) struct PrintedFormat {
    /// Print comma-separated values
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print JSON with typed values
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long)]
    pub(crate) md: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct ListArguments {
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct Audit {
    /// Keep printing calls as they happen
    #[arg(long)]
    pub(crate) follow: bool,
    /// How many of the latest calls to print
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print JSON lines instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// What was changed, and the state before
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Checkpoints {
    #[command(subcommand)]
    pub(crate) word: CheckpointWord,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum CheckpointWord {
    /// Print the latest changes
    List {
        /// Only changes of this file or folder
        path: Option<String>,
        /// How many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        #[command(flatten)]
        shown: ShowArguments,
    },
    /// Print a file as it was before a change, or the difference since
    Show {
        /// The checkpoint; a unique prefix is enough
        id: String,
        /// The file
        path: Option<String>,
        #[command(flatten)]
        shown: ShowArguments,
    },
    /// Print what has changed since just before a change
    Diff {
        /// The checkpoint; a unique prefix is enough
        id: String,
        /// Only this file
        path: Option<String>,
        #[command(flatten)]
        shown: ShowArguments,
    },
    /// Undo a change
    Restore {
        /// The checkpoint; a unique prefix is enough
        id: String,
        /// Only this file
        path: Option<String>,
        /// Print what would change without changing anything
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        shown: ShowArguments,
    },
    /// Write all old versions into a folder
    Export(ExportArguments),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ShowArguments {
    /// Which vault, if several are served
    #[arg(long, value_name = "NAME")]
    of: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ExportArguments {
    /// A folder that is empty or does not exist yet
    pub(crate) folder: std::path::PathBuf,
    /// As a git repository with one commit per checkpoint (needs git)
    #[arg(long)]
    pub(crate) git: bool,
    /// Which vault, if several are served
    #[arg(long, value_name = "NAME")]
    pub(crate) of: Option<String>,
}

impl CheckpointWord {
    fn shown(&self) -> Option<&ShowArguments> {
        match self {
            Self::List { shown, .. }
            | Self::Show { shown, .. }
            | Self::Diff { shown, .. }
            | Self::Restore { shown, .. } => Some(shown),
            Self::Export(_) => None,
        }
    }

    pub(crate) fn vault(&self) -> Option<&str> {
        self.shown()?.of.as_deref()
    }

    pub(crate) fn json(&self) -> bool {
        self.shown().is_some_and(|shown| shown.json)
    }
}

/// Pending approvals
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    pub(crate) word: Option<ApprovalWord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ApprovalWord {
    /// Print pending approvals (the default)
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Print what would change
    Show {
        /// Its id in the list; a unique prefix is enough
        id: String,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Review it once more and make the change
    Accept {
        /// Its id in the list; a unique prefix is enough
        id: String,
        #[command(flatten)]
        flags: CommonFlags,
    },
    /// Refuse it; nothing changes
    Reject {
        /// Its id in the list; a unique prefix is enough
        id: String,
        #[command(flatten)]
        flags: CommonFlags,
    },
}

impl Approvals {
    /// The options after the last word, where people write them.
    fn flags(&mut self) -> CommonFlags {
        match &mut self.word {
            None => CommonFlags::default(),
            Some(
                ApprovalWord::List { flags, .. }
                | ApprovalWord::Show { flags, .. }
                | ApprovalWord::Accept { flags, .. }
                | ApprovalWord::Reject { flags, .. },
            ) => std::mem::take(flags),
        }
    }
}

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
    fn flags(&self) -> CommonFlags {
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
    fn flags(&self) -> CommonFlags {
        let Self::SetPassphrase { file } = self;
        CommonFlags { config: file.config.clone(), ..CommonFlags::default() }
    }
}

/// What to find out
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct DoctorArguments {
    /// Ask the server at its public address, as clients elsewhere do (by default that of MCP_PUBLIC_URL)
    #[arg(long, value_name = "URL", num_args = 0..=1)]
    pub(crate) remote: Option<Option<String>>,
    /// Say whether the server on this computer answers, and nothing else; for containers
    #[arg(long, conflicts_with = "remote")]
    pub(crate) health: bool,
    /// Print JSON instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where to listen; omitted parts come from the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HttpAddress {
    pub(crate) host: Option<IpAddr>,
    pub(crate) port: Option<u16>,
}

/// Lapidary gives AI assistants safe, fast and thrifty access to Obsidian vaults.
#[derive(Debug, Parser)]
#[command(name = "lapidary", version)]
struct CommandLine {
    #[command(flatten)]
    listen: Listen,
    #[command(flatten)]
    flags: CommonFlags,
    #[command(subcommand)]
    word: Option<CommandWord>,
}

#[derive(Debug, Subcommand)]
enum CommandWord {
    /// Serve MCP on standard input and output, or over HTTP (the default)
    Serve(FlagsWith<Listen>),
    /// Call one tool and print the answer as JSON
    Call(FlagsWith<CallArguments>),
    /// Find the best notes for a query
    Search(FlagsWith<Search>),
    /// Print what a Dataview query or a base comes to
    Query(FlagsWith<QueryArguments>),
    /// Print the available tools, or one of them
    Tools(FlagsWith<ToolsArguments>),
    /// Print the vaults that are served
    Vaults(FlagsWith<ListArguments>),
    /// Print the log of calls
    #[command(name = "log", visible_alias = "audit")]
    Audit(FlagsWith<Audit>),
    /// Show what was changed, and undo it
    Checkpoints(FlagsWith<Checkpoints>),
    /// Review pending approvals
    Approvals(FlagsWith<Approvals>),
    /// Create, list and revoke the tokens of HTTP clients, and what OAuth clients were granted
    #[command(subcommand)]
    Token(TokenWord),
    /// Set the passphrase with which you sign in to consent to OAuth clients
    #[command(subcommand)]
    Owner(OwnerWord),
    /// Find out why clients cannot connect, and what to do
    Doctor(FlagsWith<DoctorArguments>),
    /// Set up AI programs on this computer to use Lapidary
    Install(FlagsWith<InstallArguments>),
    /// Take back what `install` did
    Uninstall(FlagsWith<UninstallArguments>),
    /// Say what a reason for refusal means
    Explain(ExplainArguments),
    /// Print completions for a shell
    Completions(CompletionArguments),
}

#[derive(Debug, Default, Args)]
struct Listen {
    /// Serve over HTTP instead, at PORT, HOST or HOST:PORT if given
    #[arg(long, value_name = "ADDR", num_args = 0..=1)]
    http: Option<Option<HttpAddress>>,
    /// Let every client that reaches the port use the vaults, also from other computers
    #[arg(long)]
    insecure_no_auth: bool,
    /// The address under which the world reaches this server, like https://vault.example.com
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Serve over HTTP, and the older HTTP+SSE transport too, at port 9789 unless another is given
    #[arg(long)]
    sse: bool,
    /// The certificate for TLS, with its chain, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<String>,
    /// The private key of the certificate, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<String>,
}

// Not clap's `global = true`: with it, `lapidary --vault a tools --vault b` would silently forget `a`.
#[derive(Debug, Args)]
struct FlagsWith<T: Args> {
    #[command(flatten)]
    own: T,
    #[command(flatten)]
    flags: CommonFlags,
}

/// The declaration of the command line, for completions and the man page.
pub(crate) fn declaration() -> clap::Command {
    CommandLine::command()
}

/// Parses a command line, program name first. Wrong usage is an error with its message and exit code (2).
pub(crate) fn parse<T>(line: impl IntoIterator<Item = T>) -> Result<Invocation, clap::Error>
where
    T: Into<OsString> + Clone,
{
    let CommandLine {
        flags,
        listen: Listen { http, mut insecure_no_auth, mut public_url, mut sse, mut tls_cert, mut tls_key },
        word,
    } = CommandLine::try_parse_from(line)?;
    let (inner, command, inner_http) = match word.unwrap_or(CommandWord::Serve(FlagsWith::default())) {
        CommandWord::Serve(with) => {
            insecure_no_auth |= with.own.insecure_no_auth;
            public_url = public_url.or(with.own.public_url);
            sse |= with.own.sse;
            tls_cert = tls_cert.or(with.own.tls_cert);
            tls_key = tls_key.or(with.own.tls_key);
            (with.flags, Command::Serve, with.own.http)
        }
        CommandWord::Call(with) => (with.flags, Command::Call(with.own), None),
        CommandWord::Search(with) => (with.flags, Command::Search(with.own), None),
        CommandWord::Query(with) => (with.flags, Command::Query(with.own), None),
        CommandWord::Tools(with) => (with.flags, Command::Tools(with.own), None),
        CommandWord::Vaults(with) => (with.flags, Command::Vaults(with.own), None),
        CommandWord::Audit(with) => (with.flags, Command::Audit(with.own), None),
        CommandWord::Checkpoints(with) => (with.flags, Command::Checkpoints(with.own), None),
        CommandWord::Approvals(mut with) => {
            let flags = both(with.flags, with.own.flags())?;
            (flags, Command::Approvals(with.own), None)
        }
        CommandWord::Token(word) => (word.flags(), Command::Token(word), None),
        CommandWord::Owner(word) => (word.flags(), Command::Owner(word), None),
        CommandWord::Doctor(with) => (with.flags, Command::Doctor(with.own), None),
        CommandWord::Install(with) => (with.flags, Command::Install(with.own), None),
        CommandWord::Uninstall(with) => (with.flags, Command::Uninstall(with.own), None),
        CommandWord::Explain(explain) => (CommonFlags::default(), Command::Explain(explain), None),
        CommandWord::Completions(shell) => (CommonFlags::default(), Command::Completions(shell), None),
    };
    if http.is_some() && command != Command::Serve {
        return Err(conflict("--http is for `lapidary serve`; this subcommand does not listen"));
    }
    let http = once(http, inner_http).ok_or_else(|| conflict("--http is given twice"))?;
    let mut flags = both(flags, inner)?;
    flags.http = http.map(Option::unwrap_or_default);
    flags.insecure_no_auth = insecure_no_auth;
    flags.public_url = public_url;
    flags.sse = sse;
    (flags.tls_cert, flags.tls_key) = (tls_cert, tls_key);
    Ok(Invocation { flags, command })
}

fn both(outer: CommonFlags, inner: CommonFlags) -> Result<CommonFlags, clap::Error> {
    if outer.profile.is_some() && inner.profile.is_some() {
        return Err(conflict("--profile is given twice"));
    }
    join(outer, inner).ok_or_else(|| conflict("--config is given twice"))
}

fn conflict(message: &str) -> clap::Error {
    CommandLine::command().error(ErrorKind::ArgumentConflict, message)
}

/// The one that is given; `None` if both are.
fn once<T>(outer: Option<T>, inner: Option<T>) -> Option<Option<T>> {
    match (outer, inner) {
        (Some(_), Some(_)) => None,
        (outer, inner) => Some(outer.or(inner)),
    }
}

/// The options before and after a subcommand, merged.
fn join(mut outer: CommonFlags, inner: CommonFlags) -> Option<CommonFlags> {
    outer.vaults.extend(inner.vaults);
    outer.tools.extend(inner.tools);
    outer.exclude_tools.extend(inner.exclude_tools);
    Some(CommonFlags {
        demo: outer.demo || inner.demo,
        config: once(outer.config, inner.config)?,
        profile: outer.profile.or(inner.profile),
        read_only: outer.read_only || inner.read_only,
        dotted_names: outer.dotted_names || inner.dotted_names,
        any_folder: outer.any_folder || inner.any_folder,
        ..outer
    })
}

impl Default for FlagsWith<Listen> {
    fn default() -> Self {
        Self { own: Listen::default(), flags: CommonFlags::default() }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CallInputError {
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the arguments of a tool are a JSON object, like '{{\"path\": \"Note.md\"}}'")]
    NotAnObject,
}

impl FromStr for CallInput {
    type Err = CallInputError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        match serde_json::from_str(text)? {
            serde_json::Value::Object(arguments) => Ok(Self::Json(arguments)),
            _ => Err(CallInputError::NotAnObject),
        }
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a port, a local address or both, like 3010, :3010, 127.0.0.1:3010 or [::1]:3010")]
pub(crate) struct HttpAddressError;

impl FromStr for HttpAddress {
    type Err = HttpAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if crate::config::is_unset(text) {
            return Ok(Self::default());
        }
        if let Ok(port) = text.parse() {
            return Ok(Self { host: None, port: Some(port) });
        }
        if let Some(host) = host(text) {
            return Ok(Self { host: Some(host), port: None });
        }
        let (before, port) = text.rsplit_once(':').ok_or(HttpAddressError)?;
        let port = Some(port.parse().map_err(|_| HttpAddressError)?);
        if before.is_empty() {
            return Ok(Self { host: None, port });
        }
        // Without brackets, the last part of an IPv6 address is ambiguous: it could be a port.
        if before.contains(':') && !before.starts_with('[') {
            return Err(HttpAddressError);
        }
        Ok(Self { host: Some(host(before).ok_or(HttpAddressError)?), port })
    }
}
