//! The options that every command takes, and those of a server.

use std::net::IpAddr;
use std::str::FromStr;

use clap::Args;

use crate::host;

// Not a doc comment: clap would make it the description of every command.
// The options that choose vaults and settings; every subcommand takes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Vaults and settings")]
pub struct CommonFlags {
    /// The vault: its folder, or its name if the configuration or Obsidian knows it; may be repeated
    ///
    /// `NAME=PATH` gives it another name.
    #[arg(long = "vault", value_name = "NAME|PATH")]
    pub vaults: Vec<String>,
    /// Use a copy of the bundled demo vault
    #[arg(long)]
    pub demo: bool,
    /// Configuration file to read instead of the default one
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, hide_short_help = true)]
    pub config: Option<String>,
    /// Change nothing
    #[arg(long, hide_short_help = true)]
    pub read_only: bool,
    /// Tools to list: names, groups, `default`, `obsidian`, `files`, `chatgpt` or `all`, separated by commas; may be repeated
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_short_help = true)]
    pub tools: Vec<String>,
    /// Tools to exclude (same syntax as --tools, which it overrides)
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_short_help = true)]
    pub exclude_tools: Vec<String>,
    /// What callers may use: `reader`, `editor`, `curator` or a profile from the configuration file
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub profile: Option<String>,
    /// List tools under their dotted names (`file.read`), which many clients refuse
    #[arg(long, hide_short_help = true)]
    pub dotted_names: bool,
    /// Serve a folder even if the home folder is in it
    #[arg(long, hide_short_help = true)]
    pub any_folder: bool,
    /// Where the vaults were found, if none was given.
    #[arg(skip)]
    pub vaults_found_in: Option<String>,
    /// Only `serve` accepts it, so it is declared there.
    #[arg(skip)]
    pub http: Option<HttpAddress>,
    /// So are these.
    #[arg(skip)]
    pub insecure_no_auth: bool,
    #[arg(skip)]
    pub public_url: Option<String>,
    #[arg(skip)]
    pub sse: bool,
    #[arg(skip)]
    pub tls_cert: Option<String>,
    #[arg(skip)]
    pub tls_key: Option<String>,
    #[arg(skip)]
    pub rest: Option<HttpAddress>,
    #[arg(skip)]
    pub rest_http: bool,
}

/// Serve MCP on standard input and output, or over HTTP (the default)
///
/// AI programs start it themselves once it is set up with `lapidary install`.
#[derive(Debug, Default, Args)]
#[command(after_long_help = "Examples:
  lapidary serve --vault ~/Notes
  lapidary serve --vault ~/Notes --http
  lapidary serve --vault ~/Notes --http --public-url https://vault.example.com
  lapidary serve --vault ~/Notes --rest")]
pub struct Listen {
    /// Serve over HTTP instead, at PORT, HOST or HOST:PORT if given
    #[arg(long, value_name = "ADDR", num_args = 0..=1)]
    pub http: Option<Option<HttpAddress>>,
    /// Let every client that reaches the port use the vaults, also from other computers
    #[arg(long, hide_short_help = true)]
    insecure_no_auth: bool,
    /// The address under which the world reaches this server, like https://vault.example.com
    #[arg(long, value_name = "URL", hide_short_help = true)]
    public_url: Option<String>,
    /// Serve over HTTP, and the older HTTP+SSE transport too, at port 9789 unless another is given
    #[arg(long, hide_short_help = true)]
    sse: bool,
    /// The certificate for TLS, with its chain, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_key", hide_short_help = true)]
    tls_cert: Option<String>,
    /// The private key of the certificate, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_cert", hide_short_help = true)]
    tls_key: Option<String>,
    /// Serve the HTTP API of Obsidian's plugin Local REST API, with TLS at port 27124, or in plain text at ADDR on this computer
    #[arg(long, value_name = "ADDR", num_args = 0..=1, hide_short_help = true)]
    pub rest: Option<Option<HttpAddress>>,
    /// Serve that API in plain text at port 27123 as well
    #[arg(long, hide_short_help = true)]
    pub rest_http: bool,
}

impl CommonFlags {
    /// With the options after a word behind those before it; or the flag that is given twice.
    pub fn joined(mut self, inner: Self) -> Result<Self, &'static str> {
        // Lists add up, switches are on if either is, and a value that is given twice is refused rather than guessed.
        self.vaults.extend(inner.vaults);
        self.tools.extend(inner.tools);
        self.exclude_tools.extend(inner.exclude_tools);
        Ok(Self {
            demo: self.demo || inner.demo,
            config: once(self.config, inner.config).ok_or("--config")?,
            profile: once(self.profile, inner.profile).ok_or("--profile")?,
            read_only: self.read_only || inner.read_only,
            dotted_names: self.dotted_names || inner.dotted_names,
            any_folder: self.any_folder || inner.any_folder,
            ..self
        })
    }
}

impl Listen {
    /// With the options after `serve`; or the flag that is given twice.
    pub fn joined(self, inner: Self) -> Result<Self, &'static str> {
        Ok(Self {
            http: once(self.http, inner.http).ok_or("--http")?,
            insecure_no_auth: self.insecure_no_auth || inner.insecure_no_auth,
            public_url: once(self.public_url, inner.public_url).ok_or("--public-url")?,
            sse: self.sse || inner.sse,
            tls_cert: once(self.tls_cert, inner.tls_cert).ok_or("--tls-cert")?,
            tls_key: once(self.tls_key, inner.tls_key).ok_or("--tls-key")?,
            rest: once(self.rest, inner.rest).ok_or("--rest")?,
            rest_http: self.rest_http || inner.rest_http,
        })
    }

    /// The common options together with these.
    pub fn within(self, flags: CommonFlags) -> CommonFlags {
        CommonFlags {
            // `--http` without an address is the address of the settings, which an empty `HttpAddress` means.
            http: self.http.map(Option::unwrap_or_default),
            insecure_no_auth: self.insecure_no_auth,
            public_url: self.public_url,
            sse: self.sse,
            tls_cert: self.tls_cert,
            tls_key: self.tls_key,
            rest: self.rest.map(Option::unwrap_or_default),
            rest_http: self.rest_http,
            ..flags
        }
    }
}

/// The one that is given; `None` if both are.
fn once<T>(outer: Option<T>, inner: Option<T>) -> Option<Option<T>> {
    match (outer, inner) {
        (Some(_), Some(_)) => None,
        (outer, inner) => Some(outer.or(inner)),
    }
}

/// Where to listen; omitted parts come from the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HttpAddress {
    pub host: Option<IpAddr>,
    pub port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a port, a local address or both, like 3010, :3010, 127.0.0.1:3010 or [::1]:3010")]
pub struct HttpAddressError;

impl FromStr for HttpAddress {
    type Err = HttpAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        // Clients pass unfilled templates such as `${user_config.port}` as they are.
        if crate::is_unset(text) {
            return Ok(Self::default());
        }
        // A bare number is a port, not a host: no IP address is written like that.
        if let Ok(port) = text.parse() {
            return Ok(Self { host: None, port: Some(port) });
        }
        // Before the split at the last colon, or `::1` would be host `::` and port 1.
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
