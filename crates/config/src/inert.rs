//! Variables that are set for the servers that this one replaces, or for clients, and that have no effect here.

/// Variables without effect, grouped by reason.
#[derive(Debug)]
pub(super) struct InertVariables {
    pub(super) names: &'static [&'static str],
    /// Completes "… is set, but".
    pub(super) reason: &'static str,
    /// Not for names that other programs use too: they may not be meant for us.
    pub(super) warns: bool,
}

/// Part of the contracts, but without effect in this version.
pub(super) const WITHOUT_EFFECT: &[InertVariables] = &[
    InertVariables { names: &["MCP_HTTP_PORT_RETRY_DELAY_MS"], reason: "the next port is tried at once", warns: true },
    InertVariables {
        names: &["MCP_HEARTBEAT_MISS_THRESHOLD"],
        reason: "a stream ends when its connection does; heartbeats need no answer",
        warns: true,
    },
    InertVariables {
        names: &["MCP_GC_PRESSURE_INTERVAL_MS"],
        reason: "there is no garbage collector to press",
        warns: true,
    },
    InertVariables {
        names: &["MCP_RESPONSE_VERBOSITY"],
        reason: "each tool has its own arguments to limit its answer",
        warns: true,
    },
    InertVariables {
        names: &["DEV_MCP_AUTH_BYPASS", "DEV_MCP_CLIENT_ID", "DEV_MCP_SCOPES"],
        reason: "no check can be bypassed; on this computer MCP_AUTH_MODE=none needs no token",
        warns: true,
    },
    InertVariables {
        names: &["LOG_LLM_INTERACTIONS", "MCP_LOG_RATE_LIMIT_THRESHOLD", "MCP_LOG_RATE_LIMIT_WINDOW_MS"],
        reason: "the text of calls is never logged, and every event is; each call is a line of the log in LAPIDARY_STATE_DIR",
        warns: true,
    },
    InertVariables {
        names: &["MCP_SERVER_NAME", "MCP_SERVER_VERSION", "MCP_SERVER_DESCRIPTION", "MCP_SERVER_HOMEPAGE"],
        reason: "the server reports its own name and version",
        warns: true,
    },
    InertVariables {
        names: &["OTEL_LOG_LEVEL"],
        reason: "problems of telemetry are in the log, at the level of MCP_LOG_LEVEL",
        warns: false,
    },
    InertVariables {
        names: &["MCP_TIMEOUT", "MCP_TOOL_TIMEOUT"],
        reason: "it is a setting of clients (Claude Code), which servers inherit; here it is MCP_DEADLINE_MS",
        warns: false,
    },
    InertVariables {
        names: &["NODE_ENV", "STORAGE_PROVIDER_TYPE", "STORAGE_FILESYSTEM_PATH"],
        reason: "it belongs to the framework of another server",
        warns: false,
    },
];

/// From older versions, with their replacements.
pub(super) const OLD: &[InertVariables] = &[
    InertVariables {
        names: &["TOOL_TIMEOUT_MS", "OBSIDIAN_API_SEARCH_TIMEOUT_MS"],
        reason: "it is a name of versions 1 and 2; use MCP_DEADLINE_MS",
        warns: true,
    },
    InertVariables {
        names: &["MAX_CONTENT_LENGTH", "MAX_BODY_LENGTH"],
        reason: "it is a name of version 1; use LAPIDARY_MAX_REPLY_BYTES and MCP_HTTP_MAX_BODY_BYTES",
        warns: true,
    },
    InertVariables {
        names: &["RATE_LIMIT_WINDOW_MS", "RATE_LIMIT_MAX_REQUESTS"],
        reason: "it is a name of version 1; use LAPIDARY_HTTP_CALLS_PER_SECOND",
        warns: true,
    },
    InertVariables {
        names: &["OBSIDIAN_ENABLE_CACHE", "OBSIDIAN_CACHE_REFRESH_INTERVAL_MIN"],
        reason: "it is a name of version 2; Lapidary reads the vault itself, so remove it",
        warns: true,
    },
];

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    all().flat_map(|inert| inert.names.iter().copied())
}

pub(super) fn find(name: &str) -> Option<(&'static str, &'static InertVariables)> {
    all().find_map(|inert| Some((*inert.names.iter().find(|known| **known == name)?, inert)))
}

fn all() -> impl Iterator<Item = &'static InertVariables> {
    WITHOUT_EFFECT.iter().chain(OLD)
}
