//! A copy of a file elsewhere.

use lapidary_operation::{
    Context, Declaration, Effect, Example, PathArgument, PathRole, Reason, ReasonKind, ToolPlan, WriteTool,
};
use lapidary_toolkit::{hash, naming, reading};
use lapidary_vault::View;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    RestChange,
    changes::{RequestedFile, declared},
};

pub(crate) struct RestCopy;

/// Copy a file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    from: String,
    to: String,
    /// Replace a file that is there.
    #[serde(default)]
    overwrite: bool,
    /// Of the file that is copied.
    #[serde(default)]
    expected_hash: Option<String>,
}

impl WriteTool for RestCopy {
    const DECLARATION: Declaration = declared(
        "rest/copy",
        "REST: copy a file",
        &[
            PathArgument { pointer: "/from", role: PathRole::Read },
            PathArgument { pointer: "/to", role: PathRole::Write },
        ],
        &[ReasonKind::NoteMissing, ReasonKind::FileExists, ReasonKind::StalePrecondition],
    );
    const EFFECT: Effect = Effect::Write;
    const IN_BATCHES: bool = false;
    type Input = Input;
    type Output = RestChange;

    fn plan(&self, context: &Context<'_>, view: &View, input: Input) -> Result<ToolPlan<RestChange>, Reason> {
        let name = Self::DECLARATION.name;
        let from = reading::parse_path(&input.from)?;
        let expected = hash::expected(name, "expectedHash", input.expected_hash.as_deref())?;
        let source = naming::read_exact_path(context, view, &from)?;
        hash::check(&from, "expectedHash", expected.as_ref(), Some(&source))?;
        let copy = RequestedFile::begin(name, context, view, &input.to, None)?;
        match &copy.before {
            // A file that is copied onto itself would be reported as replaced.
            Some(there) if !input.overwrite || copy.path == from => {
                Err(Reason::FileExists { path: copy.path.clone(), current: there.hash() })
            }
            _ => Ok(copy.plan(source.content.clone(), true, Vec::new())),
        }
    }

    fn examples(&self) -> Vec<Example> {
        Vec::new()
    }
}
