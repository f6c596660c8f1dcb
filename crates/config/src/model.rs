//! The configuration as the rest of the server reads it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::address_range::AddressRange;
use super::host_pattern::HostPattern;
use lapidary_auth::SecretText;
use lapidary_note::ContentHash;
use lapidary_pipeline::{RepetitionLimits, RuleDecision};
use lapidary_tools::{Effect, NamePattern, ProfileRules, ToolGroup};
use lapidary_vault::SourceMark;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub vaults: VaultsConfig,
    /// Whether a vault may contain the home folder.
    pub any_folder: bool,
    pub transport: Transport,
    pub http: HttpConfig,
    pub rest: RestConfig,
    pub app: AppConfig,
    pub web: WebConfig,
    pub mcp: McpConfig,
    pub access: PathAccess,
    pub tools: ToolsConfig,
    pub approval: ApprovalConfig,
    /// Whether the user is asked before a note goes to the trash, if possible.
    pub ask_before_deleting: bool,
    pub repetition: RepetitionLimits,
    /// For callers without their own token.
    pub profile: String,
    /// The owner's own profiles.
    pub profiles: BTreeMap<String, ProfileRules>,
    pub tokens: Vec<TokenConfig>,
    /// The folder of a vault where every note is a playbook.
    pub skills: Option<String>,
    /// The folder of a vault in which assistants keep what they remember.
    pub memory: Option<String>,
    /// The folder of recipes.
    pub recipes: Option<String>,
    /// Whether several calls that read may be made as one.
    pub scripts: bool,
    /// The note that holds the owner's guide.
    pub guide: GuideChoice,
    /// What folders of the vaults are for, by their paths.
    pub folders: BTreeMap<String, String>,
    /// The folder of a vault in which source notes are made.
    pub sources: String,
    /// The folder of a vault whose notes are schemas of others.
    pub schemas: Option<String>,
    pub upkeep: UpkeepConfig,
    /// A folder outside the vaults whose files may be added to them; absolute.
    pub imports: Option<PathBuf>,
    /// The certificates of authorities that are trusted in place of the bundled ones, in PEM form; absolute.
    pub authorities: Option<PathBuf>,
    /// The program that recognises text on pictures, with its arguments; none if empty.
    pub ocr: Vec<String>,
    /// The name of the model that finds notes by meaning.
    pub model: String,
    /// An absolute path outside every vault.
    pub state_dir: PathBuf,
    /// Files that decide about the server: settings, certificate and key. No caller may use one that is in a vault.
    pub own_files: Vec<PathBuf>,
    /// The system's trash, if it is supported.
    pub trash_home: Option<PathBuf>,
    pub limits: LimitsConfig,
    pub log: LogSettings,
    /// The token with which `doctor` asks as a client.
    pub client_token: Option<SecretText>,
    /// Where traces and metrics are sent, if anywhere.
    pub otlp: Option<OtlpSettings>,
}

impl Config {
    /// The name of the model that is in the program.
    pub const BUNDLED_MODEL: &str = "english";
}

/// Where a vault has the owner's guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuideChoice {
    /// Where other programs look for one, too.
    Usual,
    Note(String),
    Off,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VaultsConfig {
    /// A copy of the bundled vault.
    Demo,
    /// At least one; names and paths are unique.
    Chosen(Vec<ChosenVault>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenVault {
    pub name: String,
    /// Absolute, and a folder when the configuration was loaded. Of a remote vault, its address.
    pub path: PathBuf,
    pub access: VaultAccess,
    /// If it is not on this disk.
    pub remote: Option<RemoteVault>,
}

impl ChosenVault {
    /// Its folder, if it is on this disk.
    pub fn folder(&self) -> Option<&Path> {
        self.remote.is_none().then_some(self.path.as_path())
    }
}

/// Where Obsidian serves a vault through its plugin Local REST API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteVault {
    pub url: String,
    pub key: SecretText,
    /// The certificate that is expected, in PEM form.
    pub certificate: Option<String>,
}

impl RemoteVault {
    /// Where the plugin serves plain HTTP.
    pub const USUAL_URL: &str = "http://127.0.0.1:27123";
    /// It does not say what it is called.
    pub const USUAL_NAME: &str = "obsidian";
}

/// The open parts of one vault; patterns as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VaultAccess {
    /// `None` is everything.
    pub allow: Option<Vec<String>>,
    pub deny: Vec<String>,
    /// Folders that its links may lead to; absolute, and none around or inside a vault.
    pub follow: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Stdio,
    Http,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpConfig {
    pub host: IpAddr,
    /// 0 lets the system choose.
    pub port: u16,
    /// How many following ports to try if it is taken.
    pub max_port_retries: u16,
    /// Starts with `/`, without a trailing one.
    pub endpoint_path: String,
    pub allowed_origins: AllowedOrigins,
    pub session_mode: SessionMode,
    pub auth: AuthSettings,
    /// Where the world reaches this server, if not by its own address.
    pub public_url: Option<PublicUrl>,
    /// Further hosts that requests may name, in lower case.
    pub allowed_hosts: Vec<String>,
    /// Proxies whose `X-Forwarded-For` is believed, in addition to those on this computer.
    pub trusted_proxies: Vec<AddressRange>,
    pub heartbeat: Duration,
    /// Whether the older transport is served too.
    pub sse: bool,
    pub tls: Option<TlsFiles>,
    pub metrics: MetricsAccess,
    pub body: BodyLimits,
    pub connections: ConnectionLimits,
    pub sessions: SessionLimits,
    pub clients: ClientLimits,
}

/// The HTTP API of the plugin Local REST API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestConfig {
    pub is_served: bool,
    /// A loopback address for plain HTTP, instead of TLS at the plugin's port.
    pub plain_address: Option<SocketAddr>,
    /// Plain HTTP at the plugin's other port, in addition to TLS.
    pub is_plain_too: bool,
    pub max_body_bytes: usize,
    /// The format of a patch that names none.
    pub patch_format: PatchFormat,
}

/// The Obsidian app, reached through its plugin Local REST API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppConfig {
    pub is_used: bool,
    /// Whether its command palette may be used.
    pub commands: bool,
    pub key: Option<SecretText>,
    /// Where the plugin is, if not where its settings in the vault say; without a slash at the end.
    pub url: Option<String>,
    /// Whether only public authorities vouch for its certificate; `Some(false)` if the owner said no.
    pub verifies_publicly: Option<bool>,
    /// For a request with all its repetitions.
    pub timeout: Duration,
    pub omnisearch_url: Option<String>,
}

impl Default for AppConfig {
    fn default() -> Self {
        Self {
            is_used: true,
            commands: false,
            key: None,
            url: None,
            verifies_publicly: None,
            timeout: Duration::from_secs(30),
            omnisearch_url: None,
        }
    }
}

/// The web, as far as the owner opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebConfig {
    /// Hosts whose pages may be fetched, while they have public addresses.
    pub hosts: Vec<HostPattern>,
    /// Hosts that may have private ones.
    pub private_hosts: Vec<HostPattern>,
    /// A search engine.
    pub search_url: Option<String>,
    /// For a page with all its redirects.
    pub timeout: Duration,
    pub max_bytes: u64,
}

impl Default for WebConfig {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            private_hosts: Vec::new(),
            search_url: None,
            timeout: Duration::from_secs(15),
            max_bytes: 2_000_000,
        }
    }
}

/// Other MCP servers that are reached through this one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpConfig {
    pub servers: Vec<ServerConfig>,
    /// The file that has them.
    pub file: Option<PathBuf>,
    /// Variables that every program gets.
    pub environment: BTreeMap<String, String>,
    /// This program is itself one of those.
    pub is_nested: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub name: String,
    /// What it is for, in the owner's words.
    pub about: Option<String>,
    pub reach: ServerReach,
    /// Tools that may be used; all, if there is none.
    pub allow: Vec<NamePattern>,
    pub deny: Vec<NamePattern>,
    /// Tools that change nothing, as the owner says.
    pub read_only: Vec<NamePattern>,
    pub approval: ServerApproval,
    /// For a call.
    pub timeout: Duration,
    pub max_reply_bytes: usize,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerReach {
    Program {
        /// A name in `PATH`, or an absolute path.
        command: String,
        args: Vec<String>,
        variables: Vec<(String, SecretText)>,
    },
    Address {
        url: String,
        headers: Vec<(String, SecretText)>,
    },
}

/// Which calls of a server a person is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerApproval {
    Always,
    /// Those of tools that may change something.
    Writes,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchFormat {
    /// In headers, as up to version 4 of the plugin.
    Headers,
    /// An instruction, as since version 5.
    Instruction,
}

/// The certificate of the server with its chain, and its key, both in PEM form. Absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Whether `/metrics` is served, and to which other computers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetricsAccess {
    pub served: bool,
    /// The hash of the token of a collector that is not on this computer.
    pub token: Option<ContentHash>,
}

/// Where traces and metrics go, by OTLP over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpSettings {
    pub traces: String,
    pub metrics: String,
    pub service_name: String,
    pub service_version: String,
    /// How many of a million traces are sent that no client has decided about.
    pub sampled_per_million: u32,
}

/// An origin: scheme, host and port, without a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    /// Without a slash at the end, in lower case.
    pub origin: String,
    /// With the port, if it has one.
    pub host: String,
}

impl PublicUrl {
    /// Whether a passphrase may be typed there: encrypted, or on this computer.
    pub fn is_private(&self) -> bool {
        self.origin.starts_with("https://") || self.is_loopback()
    }

    pub fn is_loopback(&self) -> bool {
        // The last colon of `[::1]` is part of the address, not the start of a port.
        let name = match self.host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => name,
            _ => &self.host,
        };
        matches!(name, "localhost" | "127.0.0.1" | "[::1]")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    /// `None` means no limit.
    pub bytes: Option<usize>,
    pub time: Option<Duration>,
}

/// `None` and 0 mean no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// For the head of a request to arrive, from its first byte or from the start of the connection.
    pub head: Option<Duration>,
    /// Between two requests.
    pub idle: Option<Duration>,
    pub all: usize,
    /// Of one address that is not this computer; proxies on it speak for many.
    pub per_address: usize,
}

/// 0 means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    pub all: usize,
    pub per_client: usize,
    /// How long a session lives without a request and without an open stream.
    pub idle: Duration,
}

/// 0 means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    pub streams: usize,
    /// Under way at a time.
    pub calls: usize,
    pub calls_in_all: usize,
    pub calls_per_second: u32,
    pub writes_per_second: u32,
}

/// How clients over HTTP show who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthSettings {
    /// `None` is `builtin` with a public URL, `bearer` if there is any token, and `none` otherwise.
    pub mode: Option<AuthMode>,
    /// With which JSON web tokens are signed.
    pub secret: Option<SecretText>,
    pub issuer: Option<String>,
    pub audience: Option<String>,
    pub ignores_scopes: bool,
    /// The owner allows every client that can reach the port to use the vaults.
    pub insecure: bool,
    /// Whose tokens are accepted, for `oauth`.
    pub foreign: ForeignIssuer,
    /// How long an access token lives that the server issues itself.
    pub access_life: Duration,
    /// Where programs may be sent back to after the owner's consent; `None` is anywhere that is safe in itself.
    pub redirects: Option<Vec<String>>,
}

impl Default for AuthSettings {
    fn default() -> Self {
        Self {
            mode: None,
            secret: None,
            issuer: None,
            audience: None,
            ignores_scopes: false,
            insecure: false,
            foreign: ForeignIssuer::default(),
            access_life: Duration::from_secs(24 * 60 * 60),
            redirects: None,
        }
    }
}

/// An authorization server that is not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignIssuer {
    pub issuer: Option<String>,
    pub audience: Option<String>,
    /// What a token has to be for (RFC 8707), if this is asked for.
    pub resource: Option<String>,
    /// Where its keys are, if not at the usual place.
    pub keys: Option<String>,
    /// At least so long passes between two looks for a key that is not known.
    pub cooldown: Duration,
    pub timeout: Duration,
}

impl Default for ForeignIssuer {
    fn default() -> Self {
        // A token can name any key, so without a pause strangers could make us ask the issuer without end.
        let (cooldown, timeout) = (Duration::from_secs(300), Duration::from_secs(5));
        Self { issuer: None, audience: None, resource: None, keys: None, cooldown, timeout }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMode {
    None,
    Bearer,
    Jwt,
    /// Tokens of another issuer.
    Oauth,
    /// Tokens of our own authorization server.
    Builtin,
}

/// The web pages whose requests are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedOrigins {
    Loopback,
    Listed(Vec<String>),
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionMode {
    Stateless,
    Stateful,
}

/// Paths are lower-case prefixes with `/`; `None` means no restriction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathAccess {
    pub read_only: bool,
    pub read_paths: Option<Vec<String>>,
    pub write_paths: Option<Vec<String>>,
    pub deny_paths: Option<Vec<String>>,
    /// Folders whose files stay as they are.
    pub source_paths: Vec<String>,
    /// Notes that do, by a tag or a property.
    pub source_marks: Vec<SourceMark>,
    /// Whether Obsidian's excluded files are ignored.
    pub hide_excluded: bool,
    /// Names of folders that are never part of a vault.
    pub skip_folders: Vec<String>,
    /// Folders that links of every vault may lead to.
    pub follow_links: Vec<PathBuf>,
}

/// Notes that are written beside what callers change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpkeepConfig {
    /// With a list of the notes in their folder.
    pub index_notes: Vec<String>,
    /// With a line for every change.
    pub log_note: Option<String>,
}

/// Names as written; the registry checks whether they exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolsConfig {
    /// `None` is the default list.
    pub include: Option<Vec<String>>,
    pub exclude: Vec<String>,
    pub dotted_names: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalConfig {
    pub write: RuleDecision,
    pub destroy: RuleDecision,
    /// Checked in this order, before the two above.
    pub rules: Vec<RuleConfig>,
    /// Whether a change waits for approval if the client cannot ask the user.
    pub pending: bool,
}

/// An omitted part matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleConfig {
    pub decision: RuleDecision,
    pub effect: Option<Effect>,
    pub group: Option<ToolGroup>,
    pub tool: Option<String>,
    pub path: Option<String>,
}

/// How an HTTP client is identified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenConfig {
    /// Used in the log.
    pub name: String,
    /// `None` means the default profile.
    pub profile: Option<String>,
    /// The vaults it may use; `None` means all.
    pub vaults: Option<Vec<String>>,
    /// As in [`PathAccess`], within what that opens.
    pub read_paths: Option<Vec<String>>,
    pub write_paths: Option<Vec<String>>,
    pub read_only: bool,
    /// Of the token.
    pub digest: ContentHash,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitsConfig {
    pub max_file_bytes: u64,
    /// For all files of one change, before and after.
    pub max_change_bytes: u64,
    pub max_reply_bytes: usize,
    /// For all calls together.
    pub memory_bytes: u64,
    /// How long a call may take.
    pub deadline: Duration,
    /// How long the user may take to answer.
    pub ask_timeout: Duration,
    /// The size at which the audit log is rotated.
    pub audit_max_bytes: u64,
    pub text_memory_bytes: u64,
    pub meaning_memory_bytes: u64,
    /// How much text of documents is searched.
    pub document_text_bytes: u64,
    /// How long checkpoints are kept.
    pub checkpoint_age: Duration,
    pub checkpoint_bytes: u64,
    /// 0 means no limit.
    pub max_files_scanned: u64,
    /// 0 means no limit.
    pub max_bytes_read: u64,
    /// Of one batch; 0 means no limit.
    pub max_bulk_ops: u64,
    /// How many bytes of the owner's guides clients get when they connect.
    pub guide_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    pub level: LogLevel,
    pub format: LogFormat,
    /// A file to write to as well.
    pub folder: Option<PathBuf>,
    /// The size at which the file is rotated.
    pub max_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Plain,
    /// One JSON object per line.
    Json,
}

impl Config {
    /// The default configuration, before a vault is chosen.
    pub(super) fn unset() -> Self {
        Self {
            vaults: VaultsConfig::Chosen(Vec::new()),
            any_folder: false,
            transport: Transport::Stdio,
            http: HttpConfig {
                // Only this computer: listening more widely has to be asked for, and then needs authentication.
                host: IpAddr::V4(Ipv4Addr::LOCALHOST),
                port: 3010,
                max_port_retries: 15,
                endpoint_path: "/mcp".to_owned(),
                // Any page in a browser can send requests to this computer.
                allowed_origins: AllowedOrigins::Loopback,
                session_mode: SessionMode::Stateful,
                auth: AuthSettings::default(),
                public_url: None,
                allowed_hosts: Vec::new(),
                trusted_proxies: Vec::new(),
                // Proxies usually close a stream that is silent for a minute.
                heartbeat: Duration::from_secs(15),
                sse: false,
                tls: None,
                metrics: MetricsAccess::default(),
                body: BodyLimits { bytes: Some(5 * 1024 * 1024), time: Some(Duration::from_secs(30)) },
                connections: ConnectionLimits {
                    head: Some(Duration::from_secs(10)),
                    idle: Some(Duration::from_secs(75)),
                    all: 1024,
                    per_address: 64,
                },
                sessions: SessionLimits { all: 1000, per_client: 32, idle: Duration::from_secs(30 * 60) },
                clients: ClientLimits {
                    streams: 16,
                    calls: 8,
                    calls_in_all: 64,
                    calls_per_second: 20,
                    writes_per_second: 5,
                },
            },
            rest: RestConfig {
                is_served: false,
                plain_address: None,
                is_plain_too: false,
                max_body_bytes: 32 * 1024 * 1024,
                patch_format: PatchFormat::Instruction,
            },
            app: AppConfig::default(),
            web: WebConfig::default(),
            mcp: McpConfig::default(),
            access: PathAccess {
                read_only: false,
                read_paths: None,
                write_paths: None,
                deny_paths: None,
                hide_excluded: false,
                source_paths: Vec::new(),
                source_marks: Vec::new(),
                // Thousands of files, none of them a note.
                skip_folders: vec!["node_modules".to_owned()],
                follow_links: Vec::new(),
            },
            tools: ToolsConfig::default(),
            approval: ApprovalConfig {
                // A write can be undone; what destroys is asked about.
                write: RuleDecision::Allow,
                destroy: RuleDecision::Ask,
                rules: Vec::new(),
                pending: true,
            },
            ask_before_deleting: true,
            repetition: RepetitionLimits { noticed: true, window: 15, allowed: 3, max_failures: 8 },
            profile: "curator".to_owned(),
            profiles: BTreeMap::new(),
            tokens: Vec::new(),
            skills: None,
            memory: None,
            recipes: None,
            scripts: false,
            guide: GuideChoice::Usual,
            folders: BTreeMap::new(),
            sources: "Sources".to_owned(),
            model: Self::BUNDLED_MODEL.to_owned(),
            schemas: None,
            upkeep: UpkeepConfig::default(),
            imports: None,
            authorities: None,
            ocr: Vec::new(),
            // Empty until a source gives one; `ConfigDraft::finish` then puts the usual folder in its place.
            state_dir: PathBuf::new(),
            own_files: Vec::new(),
            trash_home: None,
            limits: LimitsConfig {
                max_file_bytes: 16 * 1024 * 1024,
                max_change_bytes: 256 * 1024 * 1024,
                max_reply_bytes: 1024 * 1024,
                memory_bytes: 384 * 1024 * 1024,
                deadline: Duration::from_secs(60),
                ask_timeout: Duration::from_secs(5 * 60),
                audit_max_bytes: 5_000_000,
                text_memory_bytes: 512 * 1024 * 1024,
                meaning_memory_bytes: 256 * 1024 * 1024,
                document_text_bytes: 64 * 1024 * 1024,
                checkpoint_age: Duration::from_secs(90 * 24 * 60 * 60),
                checkpoint_bytes: 1024 * 1024 * 1024,
                max_files_scanned: 0,
                max_bytes_read: 0,
                max_bulk_ops: 0,
                guide_bytes: 4096,
            },
            log: LogSettings { level: LogLevel::Info, format: LogFormat::Plain, folder: None, max_bytes: 5_000_000 },
            client_token: None,
            otlp: None,
        }
    }
}
