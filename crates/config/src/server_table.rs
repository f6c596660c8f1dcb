//! Other MCP servers in the configuration file: how each is reached, and what of it may be used.

use std::time::Duration;

use lapidary_auth::SecretText;
use lapidary_query::nearest;
use lapidary_tools::NamePattern;

use super::config_paths::ConfigPlaces;
use super::model::{ServerApproval, ServerConfig, ServerReach};
use super::profiles::plain_name;
use super::raw::RawValue;
use super::refused::ConfigRefusal;
use super::value::{milliseconds, number, one_of, web_url};
use super::warning::ConfigWarning;

const SERVER_KEYS: &[&str] = &[
    "about",
    "command",
    "args",
    "env",
    "pass_env",
    "url",
    "headers",
    "token_env",
    "allow",
    "deny",
    "read_only",
    "approval",
    "timeout_ms",
    "max_reply_bytes",
];
const APPROVALS: &[(&str, ServerApproval)] =
    &[("always", ServerApproval::Always), ("writes", ServerApproval::Writes), ("never", ServerApproval::Never)];
/// Each is a program that may run.
const MOST_SERVERS: usize = 20;

/// `[mcp.servers.NAME]`, and warnings about variables that are named there and not set.
pub(super) fn servers(
    raw: &RawValue,
    places: &ConfigPlaces<'_>,
) -> Result<(Vec<ServerConfig>, Vec<ConfigWarning>), ConfigRefusal> {
    let pairs = table(raw, "a table of servers")?;
    if pairs.len() > MOST_SERVERS {
        return Err(ConfigRefusal::TooManyServers { most: MOST_SERVERS });
    }
    let mut unset = Vec::new();
    let servers = pairs.iter().map(|(name, raw)| server(name, raw, places, &mut unset)).collect::<Result<_, _>>()?;
    Ok((servers, unset))
}

fn server(
    name: &str,
    raw: &RawValue,
    places: &ConfigPlaces<'_>,
    unset: &mut Vec<ConfigWarning>,
) -> Result<ServerConfig, ConfigRefusal> {
    let name = plain_name(name).map_err(|_| ConfigRefusal::NotServerName { value: name.to_owned() })?;
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return Err(ConfigRefusal::NotServerName { value: name });
    }
    let mut server = ServerConfig::named(name.clone());
    let (mut command, mut args, mut variables) = (None, Vec::new(), Vec::new());
    let (mut url, mut headers) = (None, Vec::new());
    // The value of a variable of the real environment: no file can bring one.
    let mut value_of = |variable: &str| match places.variable(variable) {
        Some(value) => Some(SecretText::new(value.to_owned())),
        None => {
            unset.push(ConfigWarning::ServerVariable { server: name.clone(), variable: variable.to_owned() });
            None
        }
    };
    // Keys of the other kind are refused, because they would silently have no effect.
    let (mut is_program, mut is_address) = (false, false);
    for (key, raw) in table(raw, "a table")? {
        is_program |= matches!(key.as_str(), "args" | "env" | "pass_env");
        is_address |= matches!(key.as_str(), "headers" | "token_env");
        match key.as_str() {
            "about" => server.about = Some(raw.text()?.chars().take(200).collect()),
            "command" => command = Some(program(raw.text()?, places)?),
            "args" => args = texts(raw)?,
            "env" => {
                for (variable, value) in table(raw, "a table of variables")? {
                    variables.push((variable.clone(), SecretText::new(value.text()?.to_owned())));
                }
            }
            "pass_env" => {
                for variable in raw.entries(',')? {
                    variables.extend(value_of(variable).map(|value| (variable.to_owned(), value)));
                }
            }
            "url" => url = Some(web_url(raw)?),
            "headers" => {
                for (header, value) in table(raw, "a table of headers")? {
                    headers.push((header_name(header)?, SecretText::new(value.text()?.to_owned())));
                }
            }
            "token_env" => {
                let token = value_of(raw.text()?);
                // From the environment, so that the file can be shared without the token.
                let bearer = |token: SecretText| SecretText::new(format!("Bearer {}", token.reveal()));
                headers.extend(token.map(|token| ("authorization".to_owned(), bearer(token))));
            }
            "allow" => server.allow = patterns(raw)?,
            "deny" => server.deny = patterns(raw)?,
            "read_only" => server.read_only = patterns(raw)?,
            "approval" => server.approval = one_of(raw.text()?, APPROVALS)?,
            "timeout_ms" => server.timeout = milliseconds(raw, 100..=600_000)?,
            "max_reply_bytes" => server.max_reply_bytes = number(raw, 1_000..=16_000_000)?,
            other => {
                let nearest = nearest(other, SERVER_KEYS.iter().copied());
                return Err(ConfigRefusal::UnknownPart { kind: "server", name, key: other.to_owned(), nearest });
            }
        }
    }
    server.reach = match (command, url) {
        (Some(command), None) if !is_address => ServerReach::Program { command, args, variables },
        (None, Some(url)) if !is_program => ServerReach::Address { url, headers },
        // Neither, both, or a key of the other kind.
        _ => return Err(ConfigRefusal::HalfOfServer { server: name }),
    };
    Ok(server)
}

impl ServerConfig {
    fn named(name: String) -> Self {
        Self {
            name,
            about: None,
            reach: ServerReach::Address { url: String::new(), headers: Vec::new() },
            allow: Vec::new(),
            deny: Vec::new(),
            read_only: Vec::new(),
            approval: ServerApproval::Writes,
            timeout: Duration::from_secs(30),
            max_reply_bytes: 1_000_000,
        }
    }
}

/// The name of a program that is looked up in `PATH`, or its whole path: a relative one would depend on where the server is
/// started, which may be in a vault.
fn program(written: &str, places: &ConfigPlaces<'_>) -> Result<String, ConfigRefusal> {
    let is_name = !written.contains(['/', '\\']) && !written.starts_with('~');
    let path = if is_name { written.to_owned() } else { places.whole(written)?.display().to_string() };
    match written.is_empty() || (!is_name && !places.is_whole(written)) {
        true => Err(ConfigRefusal::NotProgram { value: written.to_owned() }),
        false => Ok(path),
    }
}

/// As they are written: an argument may be empty or have blanks around it.
fn texts(raw: &RawValue) -> Result<Vec<String>, ConfigRefusal> {
    let RawValue::List(items) = raw else {
        return Err(ConfigRefusal::Shape { expected: "a list", found: raw.shape() });
    };
    let text = |item: &RawValue| match item {
        RawValue::Text(text) => Ok(text.clone()),
        other => Err(ConfigRefusal::Shape { expected: "a text", found: other.shape() }),
    };
    items.iter().map(text).collect()
}

/// Patterns of the names of tools.
fn patterns(raw: &RawValue) -> Result<Vec<NamePattern>, ConfigRefusal> {
    let refused = |written: &str| ConfigRefusal::NotNamePattern { value: written.to_owned() };
    raw.entries(',')?.into_iter().map(|written| NamePattern::parse(written).ok_or_else(|| refused(written))).collect()
}

/// The protocol has its own, which would be sent twice.
fn header_name(written: &str) -> Result<String, ConfigRefusal> {
    let name = written.trim().to_ascii_lowercase();
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let is_ours = name.starts_with("mcp-")
        || matches!(name.as_str(), "accept" | "content-type" | "content-length" | "host" | "transfer-encoding");
    match is_plain && !is_ours {
        true => Ok(name),
        false => Err(ConfigRefusal::NotHeader { value: written.to_owned() }),
    }
}

fn table<'r>(raw: &'r RawValue, expected: &'static str) -> Result<&'r [(String, RawValue)], ConfigRefusal> {
    match raw {
        RawValue::Table(pairs) => Ok(pairs),
        other => Err(ConfigRefusal::Shape { expected, found: other.shape() }),
    }
}
