use std::{ops::Range, sync::Arc};

use lapidary_note::{ContentHash, EditError, PropertyError, Text};
use lapidary_vault::{Change, ChangeSet, File, Guard, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ArgumentProblem, Context, Part, Reason,
    shared::{hash, reading},
    spec::Plan,
};

/// Which file of the vault is changed, and under which conditions: what all writers of the file tools take.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct FileInput {
    /// Path in the vault, e.g. `Projects/Plan.md`.
    pub(crate) file: String,
    /// Refuse if the file has another hash.
    #[serde(default)]
    pub(crate) expected_content_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    pub(crate) dry_run: bool,
}

/// What all writers of the file tools answer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Written {
    file: String,
    pub(crate) changed: bool,
    content_hash: String,
    total_lines: usize,
    size_before: usize,
    size_after: usize,
    #[serde(rename = "dry_run")]
    dry_run: bool,
}

/// What those answer that can also make the file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Made {
    #[serde(flatten)]
    pub(crate) written: Written,
    pub(crate) created: bool,
}

pub(crate) const EXPECTED_CONTENT: &str = "expected_content_hash";

/// A file that is about to be changed, as it was found.
pub(crate) struct Editing {
    pub(crate) path: VaultPath,
    pub(crate) before: Arc<File>,
    guard: Guard,
    tool: &'static str,
    input: FileInput,
}

/// Where a file shall be made.
pub(crate) struct Creating {
    path: VaultPath,
    input: FileInput,
}

/// What is at the path that a tool writes to.
pub(crate) enum Found {
    File(Editing),
    Nothing(Creating),
}

impl Found {
    /// Like [`Editing::begin`], for tools that can also make the file.
    pub(crate) fn begin(
        tool: &'static str,
        context: &Context<'_>,
        view: &View,
        input: FileInput,
    ) -> Result<Self, Reason> {
        let path = reading::parse_path(&input.file)?;
        let expected = hash::expected(tool, EXPECTED_CONTENT, input.expected_content_hash.as_deref())?;
        let Some(before) = reading::read_if_there(view, &path)? else {
            hash::check(&path, EXPECTED_CONTENT, expected.as_ref(), None)?;
            return Ok(Self::Nothing(Creating { path, input }));
        };
        hash::check(&path, EXPECTED_CONTENT, expected.as_ref(), Some(&before.hash))?;
        context.check()?;
        let guard = if expected.is_some() { Guard::Caller } else { Guard::Plan };
        Ok(Self::File(Editing { path, before, guard, tool, input }))
    }
}

impl Creating {
    pub(crate) fn plan<O>(self, bytes: Vec<u8>, output: impl FnOnce(Written) -> O) -> Plan<O> {
        let Self { path, input } = self;
        let written = Written {
            file: input.file,
            changed: true,
            content_hash: ContentHash::of(&bytes).to_string(),
            total_lines: total_lines(&bytes),
            size_before: 0,
            size_after: bytes.len(),
            dry_run: input.dry_run,
        };
        let changes = ChangeSet::one(Change::Create { path, bytes });
        Plan { changes, output: output(written), dry_run: input.dry_run }
    }

    /// That there is nothing to change.
    pub(crate) fn missing(&self, view: &View) -> Reason {
        reading::missing(view, &self.path)
    }
}

impl Editing {
    /// Reads the file and compares it with the one that the caller expects.
    pub(crate) fn begin(
        tool: &'static str,
        context: &Context<'_>,
        view: &View,
        input: FileInput,
    ) -> Result<Self, Reason> {
        // A file that is missing is said to be missing, whatever was expected of it.
        let path = reading::parse_path(&input.file)?;
        reading::read(view, &path)?;
        match Found::begin(tool, context, view, input)? {
            Found::File(editing) => Ok(editing),
            Found::Nothing(creating) => Err(creating.missing(view)),
        }
    }

    pub(crate) fn text(&self) -> Result<Text<'_>, Reason> {
        reading::editable(&self.path, &self.before)
    }

    /// Whether the caller named the whole file by its hash.
    pub(crate) fn is_expected(&self) -> bool {
        self.guard == Guard::Caller
    }

    /// Refuses to go on if a part of the file is not the one the caller saw.
    pub(crate) fn expect_part(
        &self,
        text: &Text<'_>,
        part: Part,
        given: &str,
        span: Option<Range<usize>>,
    ) -> Result<(), Reason> {
        let expected = hash::expected(self.tool, part.argument(), Some(given))?
            .ok_or_else(|| bug!("a hash was given and none was read"))?;
        let found = span.and_then(|span| ContentHash::of_part(&self.before.bytes, text, span));
        if found.is_some_and(|found| expected.matches(&found)) {
            return Ok(());
        }
        let (path, current) = (self.path.clone(), self.before.hash);
        Err(Reason::StalePart { path, part, expected, found, current })
    }

    /// That an argument does not fit what is in the file.
    pub(crate) fn bad_argument(&self, at: &str, problem: &str) -> Reason {
        Reason::InvalidArguments {
            tool: self.tool.to_owned(),
            problems: vec![ArgumentProblem { at: at.to_owned(), problem: problem.to_owned(), nearest: None }],
        }
    }

    pub(crate) fn refusal(&self, error: EditError) -> Reason {
        refusal(&self.path, error)
    }

    /// The new bytes as a plan; the same bytes are no change.
    pub(crate) fn plan<O>(self, bytes: Vec<u8>, output: impl FnOnce(Written) -> O) -> Plan<O> {
        let Self { path, before, guard, input, .. } = self;
        let dry_run = input.dry_run;
        let written = Written {
            file: input.file,
            changed: bytes != before.bytes,
            content_hash: ContentHash::of(&bytes).to_string(),
            total_lines: total_lines(&bytes),
            size_before: before.bytes.len(),
            size_after: bytes.len(),
            dry_run,
        };
        let changes = match written.changed {
            true => ChangeSet::one(Change::Write { path, before, guard, bytes }),
            false => ChangeSet::default(),
        };
        Plan { changes, output: output(written), dry_run }
    }
}

/// What a text edit leaves is text again.
pub(crate) fn decoded(bytes: &[u8]) -> Result<Text<'_>, Reason> {
    Text::decode(bytes).map_err(|error| bug!("what was text is none after an edit: {error}"))
}

pub(crate) fn total_lines(bytes: &[u8]) -> usize {
    Text::decode(bytes).map_or(0, |text| text.line_count())
}

/// Why an edit of a note was not made, as the caller hears it.
pub(crate) fn refusal(path: &VaultPath, error: EditError) -> Reason {
    let path = path.clone();
    match error {
        EditError::OutsideLines { line, lines } => Reason::LineOutOfRange { path, argument: "line", line, lines },
        EditError::Property(
            problem @ (PropertyError::Yaml { .. } | PropertyError::NotAMap | PropertyError::Duplicate { .. }),
        ) => Reason::FrontmatterInvalid { path, problem: problem.to_string() },
        error => Reason::EditRefused { path, error },
    }
}
