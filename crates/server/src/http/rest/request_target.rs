//! Which part of a note a request is about, and in which format it says so.

use lapidary_config::PatchFormat;
use lapidary_note::InstructionTarget;

use super::{api_error::ApiError, request_path::decoded, rest_request::RestRequest};

/// The format of patches and maps that a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatchVersion {
    One,
    Two,
}

impl PatchVersion {
    pub(super) fn of(request: &RestRequest, unsaid: PatchFormat) -> Result<Self, ApiError> {
        match (request.header("Markdown-Patch-Version"), unsaid) {
            (Some("1"), _) | (None, PatchFormat::Headers) => Ok(Self::One),
            (Some("2"), _) | (None, PatchFormat::Instruction) => Ok(Self::Two),
            (Some(_), _) => Err(ApiError::coded(40082)),
        }
    }
}

/// The part that the end of a path names.
pub(super) fn in_path(rest: &[String]) -> Result<InstructionTarget, ApiError> {
    let missing = || ApiError::coded(40055);
    let Some((kind, names)) = rest.split_first() else { return Err(missing()) };
    match kind.as_str() {
        // All parts empty is a path that ends with slashes.
        "heading" if names.is_empty() || names.iter().all(String::is_empty) => Err(missing()),
        "heading" => Ok(InstructionTarget::Heading(names.to_vec())),
        "block" | "frontmatter" => {
            let name = names.first().filter(|name| !name.is_empty()).ok_or_else(missing)?.clone();
            Ok(if kind == "block" { InstructionTarget::Block(name) } else { InstructionTarget::Property(name) })
        }
        _ => Err(ApiError::coded(40054).with("It is the part of the URL right behind the note.")),
    }
}

/// The part that headers name, in format 1; `None` if they name none.
pub(super) fn in_headers(request: &RestRequest) -> Result<Option<InstructionTarget>, ApiError> {
    if !request.names_target() {
        return Ok(None);
    }
    let kind = request.given("Target-Type").ok_or_else(|| ApiError::coded(40053))?;
    if !["heading", "block", "frontmatter"].contains(&kind) {
        return Err(ApiError::coded(40054));
    }
    let target = decoded(request.header("Target").unwrap_or_default()).ok_or_else(|| ApiError::coded(40058))?;
    if target.is_empty() {
        return Err(ApiError::coded(40055));
    }
    // The separator of the plugin, unless a heading contains it and the program names another.
    let delimiter = request.given("Target-Delimiter").unwrap_or("::");
    Ok(Some(match kind {
        "heading" => InstructionTarget::Heading(target.split(delimiter).map(str::to_owned).collect()),
        "block" => InstructionTarget::Block(target),
        _ => InstructionTarget::Property(target),
    }))
}

/// The words of an instruction for a part.
pub(super) fn words(target: &InstructionTarget) -> (&'static str, serde_json::Value) {
    match target {
        InstructionTarget::Heading(path) => ("heading", path.clone().into()),
        InstructionTarget::Block(id) => ("block", id.clone().into()),
        InstructionTarget::Property(name) => ("frontmatter", name.clone().into()),
    }
}
