//! Errors in the words of the plugin: a code of five digits, of which the first three are the status.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use lapidary_note::ContentHash;
use lapidary_tools::{Reason, ReasonKind, file_version};
use serde_json::{Value, json};

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApiError {
    pub(super) code: u32,
    pub(super) message: String,
}

/// The plugin's codes, and what each means.
const CODES: &[(u32, &str)] = &[
    (40005, "The frontmatter of the document could not be parsed."),
    (40010, "The content must be text, with a text/* Content-Type header (for example text/markdown)."),
    (40011, "A Content-Type header is required, since this endpoint takes several kinds of content."),
    (40012, "The Content-Type header names an unknown or unsuitable type."),
    (40015, "The request body is not valid for its Content-Type."),
    (40020, "Destination header is required for this method."),
    (40021, "Path traversal is not allowed: paths are relative and within the vault."),
    (40022, "The Destination header could not be read."),
    (40023, "The Within header must be an integer."),
    (40024, "The If-Match or If-None-Match header could not be read."),
    (40053, "There is no Target-Type header."),
    (40054, "The target type is not heading, block or frontmatter."),
    (40055, "There is no Target header."),
    (40056, "There is no Operation header."),
    (40057, "The Operation header has no known operation."),
    (40058, "The Target header could not be read."),
    (40059, "The Target-Scope header has no known scope."),
    (40060, "This period is not enabled."),
    (40070, "The query could not be processed."),
    (40080, "The patch you provided could not be applied to the target content."),
    (40081, "The patch instruction is malformed or not supported."),
    (40082, "The Markdown-Patch-Version header must be 1 or 2."),
    (40083, "Target headers need `Markdown-Patch-Version: 1`. Name the target in the URL instead."),
    (40084, "A PATCH with target headers must say its Markdown-Patch-Version."),
    (40090, "The search query is not valid."),
    (40101, "Authorization required. Send the API key as `Authorization: Bearer KEY`."),
    (40321, "The configuration folder is not served."),
    (40460, "There is no such period."),
    (40461, "There is no note for this period."),
    (40510, "This method is for files, not for folders."),
    (40920, "The destination exists already."),
    (42200, "The target is named in more than one way; use one of them."),
    (42901, "Too many failed authentication attempts."),
    (50010, "The search could not be prepared."),
    (50020, "The file operation failed."),
];

impl ApiError {
    /// One of the plugin's codes.
    pub(super) fn coded(code: u32) -> Self {
        let message = CODES.iter().find(|(known, _)| *known == code).map_or("", |(_, words)| words);
        Self { code, message: message.to_owned() }
    }

    /// A status for which the plugin has no code.
    pub(super) fn status(status: StatusCode) -> Self {
        let message = status.canonical_reason().unwrap_or("Error").to_owned();
        // The plugin's codes are the status with two more digits; zeros mean none in particular.
        Self { code: u32::from(status.as_u16()) * 100, message }
    }

    pub(super) fn not_found() -> Self {
        Self::status(StatusCode::NOT_FOUND)
    }

    /// With more words behind a line end, as the plugin has them.
    pub(super) fn with(mut self, words: impl std::fmt::Display) -> Self {
        self.message = format!("{}\n{words}", self.message);
        self
    }

    /// A condition that does not hold, and the version that there is.
    pub(super) fn precondition(current: Option<&ContentHash>) -> Self {
        let error = Self::status(StatusCode::PRECONDITION_FAILED);
        match current {
            Some(current) => error.with(format_args!("The file is at version {}.", file_version(current))),
            None => error.with("The file does not exist."),
        }
    }

    /// Why the executor refused.
    pub(super) fn of(reason: &Reason) -> Self {
        // What is not listed below is refused by a rule, and the reason says which.
        let forbidden = || Self::status(StatusCode::FORBIDDEN).with(reason);
        match reason {
            // To one who may not read it, a file is not there.
            Reason::PathForbidden { writing: false, .. }
            | Reason::NoteMissing { .. }
            | Reason::DirectoryMissing { .. }
            | Reason::VaultUnknown { .. } => Self::not_found(),
            Reason::PathForbidden { path, .. } if is_configuration(path.as_str()) => Self::coded(40321),
            Reason::SectionTargetMissing { .. } | Reason::SectionMissing { .. } => Self::not_found().with(reason),
            Reason::PathInvalid { .. } => Self::coded(40021).with(reason),
            Reason::PathIsDirectory { .. } | Reason::NotAFile { .. } | Reason::PathIsFile { .. } => Self::coded(40510),
            Reason::FileExists { .. } | Reason::DestinationExists { .. } | Reason::NameTaken { .. } => {
                Self::coded(40920)
            }
            // As for `If-Match`: a version that has changed.
            Reason::Stale { current, .. } => Self::precondition(current.as_ref()),
            Reason::Overtaken { .. } | Reason::ChangedMeanwhile | Reason::KeepsChanging { .. } => {
                Self::status(StatusCode::PRECONDITION_FAILED).with(reason)
            }
            Reason::ContentPreexists { .. } => Self::status(StatusCode::CONFLICT).with(reason),
            Reason::PatchRejected { problem, .. } => Self::coded(40080).with(problem),
            Reason::NotText { .. } | Reason::EditRefused { .. } => Self::coded(40080).with(reason),
            Reason::FrontmatterInvalid { problem, .. } => Self::coded(40005).with(problem),
            // As the plugin says it of a body that it cannot use.
            Reason::InvalidArguments { .. } | Reason::SchemaMismatch { .. } | Reason::SchemaInvalid { .. } => {
                Self::status(StatusCode::BAD_REQUEST).with(reason)
            }
            Reason::FileTooLarge { .. }
            | Reason::ResultTooLarge { .. }
            | Reason::ChangeTooLarge { .. }
            | Reason::MemoryExceeded { .. }
            | Reason::ReplyTooLarge { .. } => Self::status(StatusCode::PAYLOAD_TOO_LARGE).with(reason),
            Reason::PeriodicDisabled { .. } => Self::coded(40060),
            Reason::PeriodicNotFound { .. } => Self::coded(40461),
            Reason::LogicInvalid { .. }
            | Reason::QueryUnreadable { .. }
            | Reason::QueryNotEvaluated { .. }
            | Reason::QueryFailed { .. }
            | Reason::QueryTooLarge { .. } => Self::coded(40070).with(reason),
            Reason::TokenRevoked => Self::coded(40101),
            Reason::TooMany { .. }
            | Reason::Interrupted(_)
            | Reason::AppUnavailable { .. }
            | Reason::RemoteVault { .. } => Self::status(StatusCode::SERVICE_UNAVAILABLE).with(reason),
            Reason::Disk { .. } if reason.kind() == ReasonKind::NameInvalid => {
                Self::status(StatusCode::BAD_REQUEST).with(reason)
            }
            Reason::Disk { .. } => Self::coded(50020).with(reason),
            Reason::Internal(_) => Self::status(StatusCode::INTERNAL_SERVER_ERROR).with(reason),
            _ => forbidden(),
        }
    }
}

/// Obsidian's own folder, in any spelling that some disk takes for it.
pub(super) fn is_configuration(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    // Windows drops dots and blanks at the end of a name.
    first.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".obsidian")
}

/// The version of a file as a header.
pub(super) fn entity_tag(hash: &ContentHash) -> HeaderValue {
    // A version has only hexadecimal digits, so the alternative is never used.
    HeaderValue::from_str(&format!("\"{}\"", file_version(hash))).unwrap_or(HeaderValue::from_static("\"\""))
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = u16::try_from(self.code / 100).ok().and_then(|status| StatusCode::from_u16(status).ok());
        let mut response = json_response(&json!({ "message": self.message, "errorCode": self.code }));
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response
    }
}

/// JSON as the plugin writes it.
pub(super) fn json_response(value: &Value) -> Response {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    body_response(text, "application/json; charset=utf-8")
}

pub(super) fn body_response(body: impl Into<Body>, kind: &str) -> Response {
    let mut response = Response::new(body.into());
    let kind = HeaderValue::from_str(kind).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

pub(super) fn no_content() -> Response {
    StatusCode::NO_CONTENT.into_response()
}
