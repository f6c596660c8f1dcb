//! The transport, and how the HTTP server is reached. Its limits are in `http_limits`, its clients in `auth`.

use std::time::Duration;

use lapidary_note::ContentHash;

use super::{DAY, SECOND, switch, text};
use crate::model::{SessionMode, Transport};
use crate::raw::RawValue;
use crate::refused::ConfigRefusal;
use crate::setting::{Setting, SettingFlag, ShownDefault};
use crate::value::{address, address_ranges, endpoint, hosts, milliseconds, number, origins, public_url, toggle, word};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("transport"),
        variable: Some("MCP_TRANSPORT_TYPE"),
        flag: Some(SettingFlag {
            name: "--http",
            value: "",
            // `--sse` is served over HTTP, so it needs no second flag.
            given: |flags| (flags.http.is_some() || flags.sse).then(|| text("http")),
        }),
        default: ShownDefault::Value("stdio"),
        doc: "How clients reach `lapidary serve`: `stdio` (standard input and output) or `http`.",
        apply: |draft, given| {
            let words = [("stdio", Transport::Stdio), ("http", Transport::Http)];
            word(&given.raw, &words).map(|transport| draft.config.transport = transport)
        },
    },
    Setting {
        key: Some("http.host"),
        variable: Some("MCP_HTTP_HOST"),
        flag: Some(SettingFlag {
            name: "--http",
            value: "HOST",
            given: |flags| Some(text(flags.http?.host?.to_string())),
        }),
        default: ShownDefault::Value("127.0.0.1"),
        doc: "The address to listen on. At an address that other computers can reach, clients without a token are refused, \
              unless you pass `--insecure-no-auth`. Put a proxy with TLS in front, or a token can be read in transit.",
        apply: |draft, given| address(&given.raw).map(|host| draft.config.http.host = host),
    },
    Setting {
        key: Some("http.port"),
        variable: Some("MCP_HTTP_PORT"),
        flag: Some(SettingFlag {
            name: "--http",
            value: "PORT",
            given: |flags| Some(text(flags.http?.port?.to_string())),
        }),
        default: ShownDefault::Value("3010"),
        doc: "The port to listen on; 0 lets the system choose one. With `--sse` the default is 9789.",
        apply: |draft, given| {
            draft.config.http.port = number(&given.raw, 0..=u16::MAX)?;
            // A chosen port stays: `--sse` does not move it, and the next ones are not tried unasked.
            draft.has_port = true;
            Ok(())
        },
    },
    Setting {
        key: Some("http.max_port_retries"),
        variable: Some("MCP_HTTP_MAX_PORT_RETRIES"),
        flag: None,
        default: ShownDefault::Value("15"),
        doc: "How many of the following ports to try if the port is taken. None, unless set here, if you choose the port; never any \
              with a public URL.",
        apply: |draft, given| {
            draft.config.http.max_port_retries = number(&given.raw, 0..=1000)?;
            draft.has_port_retries = true;
            Ok(())
        },
    },
    Setting {
        key: Some("http.endpoint_path"),
        variable: Some("MCP_HTTP_ENDPOINT_PATH"),
        flag: None,
        default: ShownDefault::Value("/mcp"),
        doc: "The path of the MCP endpoint.",
        apply: |draft, given| endpoint(&given.raw).map(|path| draft.config.http.endpoint_path = path),
    },
    Setting {
        key: Some("http.max_body_bytes"),
        variable: Some("MCP_HTTP_MAX_BODY_BYTES"),
        flag: None,
        default: ShownDefault::Value("5242880"),
        doc: "The largest request that is taken; what is beyond gets 413. 0 means no limit.",
        apply: |draft, given| {
            let most = number(&given.raw, 0..=usize::MAX)?;
            // A limit of 0 bytes would refuse every call, so 0 can mean none.
            draft.config.http.body.bytes = (most > 0).then_some(most);
            Ok(())
        },
    },
    Setting {
        key: Some("http.allowed_origins"),
        variable: Some("MCP_ALLOWED_ORIGINS"),
        flag: None,
        default: ShownDefault::Words("origins of this computer"),
        doc: "The web origins whose requests are answered, like `https://app.example`; `*` answers all of them.",
        apply: |draft, given| origins(&given.raw).map(|origins| draft.config.http.allowed_origins = origins),
    },
    Setting {
        key: Some("http.session_mode"),
        variable: Some("MCP_SESSION_MODE"),
        flag: None,
        default: ShownDefault::Value("auto"),
        doc: "Whether clients get a session: `stateful`, `stateless`, or `auto`, which is `stateful`.",
        apply: |draft, given| {
            let words = [
                ("auto", SessionMode::Stateful),
                ("stateful", SessionMode::Stateful),
                ("stateless", SessionMode::Stateless),
            ];
            word(&given.raw, &words).map(|mode| draft.config.http.session_mode = mode)
        },
    },
    Setting {
        key: Some("http.session_timeout_ms"),
        variable: Some("MCP_STATEFUL_SESSION_STALE_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("1800000"),
        doc: "How long a session lives without a request and without an open stream.",
        apply: |draft, given| {
            milliseconds(&given.raw, SECOND..=365 * DAY).map(|idle| draft.config.http.sessions.idle = idle)
        },
    },
    Setting {
        key: Some("http.public_url"),
        variable: Some("MCP_PUBLIC_URL"),
        flag: Some(SettingFlag {
            name: "--public-url",
            value: "URL",
            given: |flags| flags.public_url.clone().map(RawValue::Text),
        }),
        default: ShownDefault::Words("none"),
        doc: "The address under which the world reaches this server through a proxy or a tunnel, like `https://vault.example.com`, without a path. Requests may name its host.",
        apply: |draft, given| public_url(&given.raw).map(|url| draft.config.http.public_url = Some(url)),
    },
    Setting {
        key: Some("http.allowed_hosts"),
        variable: Some("LAPIDARY_ALLOWED_HOSTS"),
        flag: None,
        default: ShownDefault::Words("names of this computer, and the host of MCP_PUBLIC_URL"),
        doc: "Further hosts that requests may name in `Host`, like `nas.local` or `nas.local:3010`. All others are refused, because a web page can have its own name lead here.",
        apply: |draft, given| hosts(&given.raw).map(|hosts| draft.config.http.allowed_hosts = hosts),
    },
    Setting {
        key: Some("http.trusted_proxies"),
        variable: Some("LAPIDARY_TRUSTED_PROXIES"),
        flag: None,
        default: ShownDefault::Words("this computer"),
        doc: "Addresses of proxies, like `10.0.0.0/8`, whose `X-Forwarded-For` is believed.",
        apply: |draft, given| address_ranges(&given.raw).map(|proxies| draft.config.http.trusted_proxies = proxies),
    },
    Setting {
        key: Some("http.heartbeat_ms"),
        variable: Some("MCP_HEARTBEAT_INTERVAL_MS"),
        flag: None,
        default: ShownDefault::Value("15000"),
        doc: "How often a stream without news shows that it lives, so that proxies do not close it; 0 means the default.",
        apply: |draft, given| {
            let every = number(&given.raw, 0..=DAY)?;
            // Never off: proxies would close a silent stream.
            draft.config.http.heartbeat = Duration::from_millis(if every == 0 { 15 * SECOND } else { every });
            Ok(())
        },
    },
    Setting {
        key: Some("http.sse"),
        variable: Some("LAPIDARY_SSE"),
        flag: Some(SettingFlag { name: "--sse", value: "", given: |flags| switch(flags.sse) }),
        default: ShownDefault::Value("false"),
        doc: "Serve the older HTTP+SSE transport too (`/sse` and `/messages`), for clients that know no other. There, a token \
              may be part of the address (`?token=`). Without other authentication, one is made at start and \
              printed. The flag means `--http` as well.",
        apply: |draft, given| toggle(&given.raw).map(|sse| draft.config.http.sse = sse),
    },
    Setting {
        key: Some("http.tls_cert"),
        variable: Some("LAPIDARY_TLS_CERT"),
        flag: Some(SettingFlag {
            name: "--tls-cert",
            value: "FILE",
            given: |flags| flags.tls_cert.clone().map(RawValue::Text),
        }),
        default: ShownDefault::Words("none: a proxy encrypts, or nothing leaves this computer"),
        doc: "The certificate for TLS, with its chain, in PEM form. A changed file is read again within seconds.",
        apply: |draft, given| {
            // Whether both halves are given is only known when all sources are read.
            draft.tls.0 = Some(draft.places.whole(given.raw.text()?)?);
            Ok(())
        },
    },
    Setting {
        key: Some("http.tls_key"),
        variable: Some("LAPIDARY_TLS_KEY"),
        flag: Some(SettingFlag {
            name: "--tls-key",
            value: "FILE",
            given: |flags| flags.tls_key.clone().map(RawValue::Text),
        }),
        default: ShownDefault::Words("none"),
        doc: "The private key of the certificate, in PEM form.",
        apply: |draft, given| {
            draft.tls.1 = Some(draft.places.whole(given.raw.text()?)?);
            Ok(())
        },
    },
    Setting {
        key: Some("http.metrics"),
        variable: Some("LAPIDARY_METRICS"),
        flag: None,
        default: ShownDefault::Value("false"),
        doc: "Serve `/metrics` for Prometheus: to this computer, and to collectors elsewhere that send LAPIDARY_METRICS_TOKEN.",
        apply: |draft, given| toggle(&given.raw).map(|served| draft.config.http.metrics.served = served),
    },
    Setting {
        key: Some("http.metrics_token"),
        variable: Some("LAPIDARY_METRICS_TOKEN"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "The token with which `/metrics` is read from other computers: 32 characters or more. It opens nothing else.",
        apply: |draft, given| {
            let token = given.raw.text()?;
            // Anyone who reaches the port may try, so it has to be too long to guess.
            if token.len() < 32 {
                return Err(ConfigRefusal::WeakSecret);
            }
            draft.config.http.metrics.token = Some(ContentHash::of(token.as_bytes()));
            Ok(())
        },
    },
];
