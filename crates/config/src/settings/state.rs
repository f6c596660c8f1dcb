//! Where Lapidary keeps its own files, and what it logs.

use crate::model::{LogFormat, LogLevel};
use crate::setting::{Setting, ShownDefault};
use crate::value::{number, word};

const LOG_LEVELS: &[(&str, LogLevel)] = &[
    ("off", LogLevel::Off),
    ("error", LogLevel::Error),
    ("warning", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("trace", LogLevel::Trace),
    // Names of syslog and of loggers for Node, for set-ups of the servers that this one replaces.
    ("silent", LogLevel::Off),
    ("emerg", LogLevel::Error),
    ("alert", LogLevel::Error),
    ("crit", LogLevel::Error),
    ("fatal", LogLevel::Error),
    ("err", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("notice", LogLevel::Info),
];

const LOG_FORMATS: &[(&str, LogFormat)] = &[("plain", LogFormat::Plain), ("json", LogFormat::Json)];

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("state_dir"),
        variable: Some("LAPIDARY_STATE_DIR"),
        flag: None,
        default: ShownDefault::Words(
            "`$XDG_STATE_HOME/lapidary` or `~/.local/state/lapidary`; macOS `~/Library/Application Support/lapidary`; \
             Windows `%LOCALAPPDATA%\\lapidary`",
        ),
        doc: "The folder for journals, checkpoints, logs and caches. It must be outside the vaults.",
        apply: |draft, given| {
            draft.config.state_dir = draft.places.whole(given.raw.text()?)?;
            Ok(())
        },
    },
    Setting {
        key: Some("audit.max_bytes"),
        variable: Some("LAPIDARY_AUDIT_MAX_BYTES"),
        flag: None,
        default: ShownDefault::Value("5000000"),
        doc: "The size at which the call log is rotated; at least 1024.",
        apply: |draft, given| {
            number(&given.raw, 1024..=u64::MAX).map(|most| draft.config.limits.audit_max_bytes = most)
        },
    },
    Setting {
        key: Some("log.level"),
        variable: Some("MCP_LOG_LEVEL"),
        flag: None,
        default: ShownDefault::Value("info"),
        doc: "What is logged to standard error and to LOGS_DIR. `off`: nothing. `error`: internal errors, with the id that \
              the caller got, and what ends the server. `warning`: settings without effect, vaults that are closed, \
              unfinished changes that were rolled back, state that cannot be written. `info`: what is served, and where. \
              `debug`: each call with its duration, indexes that are built, loaded or discarded, clients that do not respond. \
              `trace`: each stage of a call, waits for locks. No level logs text of notes, paths in the vault or tokens. \
              `emerg`, `alert`, `crit`, `fatal` and `err` mean `error`, `warn` means `warning`, `notice` means `info`, \
              `silent` means `off`.",
        apply: |draft, given| word(&given.raw, LOG_LEVELS).map(|level| draft.config.log.level = level),
    },
    Setting {
        key: Some("log.format"),
        variable: Some("LAPIDARY_LOG_FORMAT"),
        flag: None,
        default: ShownDefault::Value("plain"),
        doc: "The log format: `plain` for people, or `json`, one object per line with `time`, `level`, `pid`, `target`, \
              `msg`, `fields` and `spans`, the enclosing calls and stages.",
        apply: |draft, given| word(&given.raw, LOG_FORMATS).map(|format| draft.config.log.format = format),
    },
    Setting {
        key: Some("log.dir"),
        variable: Some("LOGS_DIR"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "A folder for `lapidary.log`, which gets the same lines as standard error. It must be outside \
              the vaults. Several servers may share it; five older files are kept as `lapidary.log.1` to `.5`.",
        apply: |draft, given| {
            draft.config.log.folder = Some(draft.places.whole(given.raw.text()?)?);
            Ok(())
        },
    },
    Setting {
        key: Some("log.max_bytes"),
        variable: Some("LAPIDARY_LOG_MAX_BYTES"),
        flag: None,
        default: ShownDefault::Value("5000000"),
        doc: "The size at which `lapidary.log` is rotated; at least 1024.",
        apply: |draft, given| number(&given.raw, 1024..=u64::MAX).map(|most| draft.config.log.max_bytes = most),
    },
];
