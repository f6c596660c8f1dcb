//! What the changes of the REST API have in common.

use std::sync::Arc;

use lapidary_note::{ExpectedHash, FileContent};
use lapidary_operation::{Context, Declaration, PathArgument, Reason, ReasonKind, ToolGroup, ToolPlan, WireFamily};
use lapidary_toolkit::{hash, naming, reading};
use lapidary_vault::{Change, ChangeSet, ContentGuard, File, VaultPath, View};
use schemars::JsonSchema;
use serde::Serialize;

/// The argument for the hash that a file is expected to have.
const EXPECTED: &str = "expectedHash";

/// The answer to a change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RestChange {
    path: String,
    content_hash: String,
    /// Headings of the new text that are too deep, each with its level.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    too_deep: Vec<(String, usize)>,
}

/// The declaration of a change: never shown, so it has no words.
pub(super) const fn declared(
    name: &'static str,
    title: &'static str,
    paths: &'static [PathArgument],
    reasons: &'static [ReasonKind],
) -> Declaration {
    Declaration {
        name,
        dotted: None,
        title,
        family: WireFamily::Own,
        group: ToolGroup::Edit,
        listed: false,
        idempotent: false,
        paths,
        reasons,
        words: "",
    }
}

/// A file that a request changes.
pub(super) struct RequestedFile {
    pub(super) path: VaultPath,
    pub(super) before: Option<Arc<File>>,
    expected: Option<ExpectedHash>,
}

impl RequestedFile {
    /// By its exact path; compared with the caller's expectation.
    pub(super) fn begin(
        tool: &str,
        context: &Context<'_>,
        view: &View,
        path: &str,
        expected: Option<&str>,
    ) -> Result<Self, Reason> {
        let path = reading::parse_path(path)?;
        let expected = hash::expected(tool, EXPECTED, expected)?;
        let before = reading::read_if_there(view, &path)?;
        hash::check(&path, EXPECTED, expected.as_ref(), before.as_deref())?;
        // A new file must not differ from an existing one only in case.
        if before.is_none() {
            naming::check_new(context, view, &path, None)?;
        }
        context.check()?;
        Ok(Self { path, before, expected })
    }

    /// The change to this content. What the plan has read guards it, unless all of it is replaced anyway.
    pub(super) fn plan(
        self,
        content: FileContent,
        replaces_all: bool,
        too_deep: Vec<(String, usize)>,
    ) -> ToolPlan<RestChange> {
        let guard = match (&self.expected, replaces_all) {
            (Some(_), _) => ContentGuard::Caller,
            // A PUT without a condition replaces whatever is there, as HTTP has it.
            (None, true) => ContentGuard::Nobody,
            (None, false) => ContentGuard::Plan,
        };
        let output = RestChange { path: self.path.to_string(), content_hash: content.hash().to_string(), too_deep };
        let changes = match self.before {
            // An equal content changes nothing, so there is no checkpoint.
            Some(before) if before.content == content => ChangeSet::default(),
            Some(before) => ChangeSet::one(Change::Write { path: self.path, before, guard, content }),
            None => ChangeSet::one(Change::Create { path: self.path, content }),
        };
        ToolPlan { changes, output, dry_run: false }
    }
}
