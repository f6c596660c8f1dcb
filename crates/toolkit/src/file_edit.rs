//! The common part of file tools that write.

use std::{ops::Range, sync::Arc};

use lapidary_note::{Document, EditError, FileContent, PropertyError};
use lapidary_operation::{
    ArgumentProblem, Context, FilePart, Reason, ToolPlan, bug,
    quote::{Prose, quoted},
};
use lapidary_vault::{File, VaultPath, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    hash,
    naming::{self, NamedFile},
    pending_edit::PendingEdit,
    reading,
};

/// The file to change, and under which conditions: common to all writing file tools.
#[derive(Deserialize, JsonSchema)]
pub struct FileInput {
    /// Path or name.
    pub file: String,
    /// Refuse if the file has another hash.
    #[serde(default)]
    pub expected_content_hash: Option<String>,
    /// Only show the diff.
    #[serde(default)]
    pub dry_run: bool,
}

/// The answer common to all writing file tools.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileWritten {
    file: String,
    pub changed: bool,
    content_hash: String,
    total_lines: usize,
    size_before: usize,
    size_after: usize,
    #[serde(rename = "dry_run")]
    dry_run: bool,
}

impl FileWritten {
    /// The result for the file in one line, and the hash that the next change can expect.
    pub fn text(&self, done: &str) -> String {
        let Self { file, changed, content_hash, dry_run, .. } = self;
        let file = quoted(file);
        match (changed, dry_run) {
            // A dry run that would change nothing says the same.
            (false, _) => format!("{file}: unchanged, hash {}", hash::digits(content_hash)),
            (true, true) => format!("{file}, dry run: {done}"),
            (true, false) => format!("{file}: {done}, hash {}", hash::digits(content_hash)),
        }
    }

    /// The same with the hash of the changed part.
    pub fn text_of_part(&self, done: &str, part: FilePart, hash: &str) -> String {
        format!("{}, {} {}", self.text(done), part.name(), hash::digits(hash))
    }
}

impl FileMade {
    /// For a new file.
    pub fn created(written: FileWritten) -> Self {
        let name = written.file.rsplit('/').next().unwrap_or_default();
        // A bare name is usually meant as that of a note.
        let notice = (!name.contains('.'))
            .then(|| format!("{} has no extension, so Obsidian does not show it.", quoted(&written.file)));
        Self { written, created: true, notice }
    }

    /// `done` is the word for an existing file.
    pub fn text(&self, done: &str) -> String {
        self.written.text(if self.created { "created" } else { done })
    }
}

/// The answer of tools that can also create the file.
#[derive(Serialize, JsonSchema)]
pub struct FileMade {
    #[serde(flatten)]
    pub written: FileWritten,
    pub created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

pub const EXPECTED_CONTENT: &str = "expected_content_hash";

/// An existing file that is about to be changed.
pub struct FileEdit {
    edit: PendingEdit,
    pub before: Arc<File>,
    tool: &'static str,
    input: FileInput,
}

/// Where a file is to be created.
pub struct FileCreation {
    edit: PendingEdit,
    input: FileInput,
}

/// What is at the path that a tool writes to.
pub enum EditTarget {
    File(FileEdit),
    Nothing(FileCreation),
}

impl EditTarget {
    /// Like [`FileEdit::begin`], for tools that can also create the file.
    pub fn begin(tool: &'static str, context: &Context<'_>, view: &View, input: FileInput) -> Result<Self, Reason> {
        // Only as a path, not by name: a tool that may create the file must not find another one that happens to be
        // called alike.
        let path = reading::parse_path(&input.file)?;
        let expected = hash::expected(tool, EXPECTED_CONTENT, input.expected_content_hash.as_deref())?;
        let before = reading::read_if_there(view, &path)?;
        if before.is_none() {
            // A trailing slash is lost when the path is parsed.
            if input.file.ends_with(['/', '\\']) {
                return Err(Reason::bad_argument(tool, "file", "must name a file, and this is a folder"));
            }
            // Only for a new file: an existing one may have any name.
            naming::check_new(context, view, &path, None)?;
        }
        let edit = PendingEdit::begin(context, path, before.clone(), EXPECTED_CONTENT, expected.as_ref())?;
        Ok(match before {
            Some(before) => Self::File(FileEdit { edit, before, tool, input }),
            None => Self::Nothing(FileCreation { edit, input }),
        })
    }
}

impl FileCreation {
    pub fn plan<O>(self, content: impl Into<FileContent>, output: impl FnOnce(FileWritten) -> O) -> ToolPlan<O> {
        let content = content.into();
        // Counted before the content is moved.
        let lines = total_lines(&content);
        planned(self.edit, &self.input, content, lines, output)
    }

    /// The refusal if there is nothing to change.
    pub fn missing(&self, context: &Context<'_>, view: &View) -> Reason {
        naming::missing(context, view, &self.edit.path).unwrap_or_else(|reason| reason)
    }
}

impl FileEdit {
    /// Finds the file by any of its names and compares it with the one that the caller expects.
    pub fn begin(tool: &'static str, context: &Context<'_>, view: &View, input: FileInput) -> Result<Self, Reason> {
        // A missing file is reported as missing, regardless of the expected hash.
        let NamedFile { path, file, .. } = naming::find(context, view, &input.file)?;
        Self::of(tool, context, input, path, file)
    }

    /// The same for a call that deletes the file: only its exact path is accepted.
    pub fn begin_exactly(
        tool: &'static str,
        context: &Context<'_>,
        view: &View,
        input: FileInput,
    ) -> Result<Self, Reason> {
        let path = reading::parse_path(&input.file)?;
        let file = naming::read_exact_path(context, view, &path)?;
        Self::of(tool, context, input, path, file)
    }

    fn of(
        tool: &'static str,
        context: &Context<'_>,
        input: FileInput,
        path: VaultPath,
        before: Arc<File>,
    ) -> Result<Self, Reason> {
        let expected = hash::expected(tool, EXPECTED_CONTENT, input.expected_content_hash.as_deref())?;
        let found = Some(Arc::clone(&before));
        let edit = PendingEdit::begin(context, path, found, EXPECTED_CONTENT, expected.as_ref())?;
        Ok(Self { edit, before, tool, input })
    }

    pub fn path(&self) -> &VaultPath {
        &self.edit.path
    }

    /// The file as text. Its parse is shared by all callers.
    pub fn document(&self) -> Result<Document, Reason> {
        let document = self.edit.document()?.ok_or_else(|| bug!("an edit of a missing file"))?;
        Ok(document.clone())
    }

    /// Whether the caller gave the hash of the whole file.
    pub fn is_expected(&self) -> bool {
        self.edit.is_expected()
    }

    /// Refuses to continue if a part of the file is not the one that the caller saw.
    pub fn expect_part(
        &self,
        document: &Document,
        part: FilePart,
        given: &str,
        span: Option<Range<usize>>,
    ) -> Result<(), Reason> {
        let expected = hash::expected(self.tool, part.argument(), Some(given))?
            .ok_or_else(|| bug!("a given hash was not parsed"))?;
        // A part that is gone is refused like one that has changed, and the refusal has the hash of the whole file to
        // start again from.
        let found = span.and_then(|span| document.hash_of(span));
        if found.is_some_and(|found| expected.matches(&found)) {
            return Ok(());
        }
        let (path, current) = (self.edit.path.clone(), document.content().hash());
        Err(Reason::StalePart { path, part, expected, found, current })
    }

    /// The refusal for an argument that does not fit the content of the file.
    pub fn bad_argument(&self, at: &str, problem: impl Into<Prose>) -> Reason {
        Reason::InvalidArguments {
            tool: self.tool.to_owned(),
            problems: vec![ArgumentProblem { at: at.to_owned(), problem: problem.into(), nearest: None }],
        }
    }

    pub fn refusal(&self, error: EditError) -> Reason {
        refusal(&self.edit.path, error)
    }

    /// The new document as a plan; identical bytes are not a change.
    pub fn plan<O>(self, document: &Document, output: impl FnOnce(FileWritten) -> O) -> ToolPlan<O> {
        let lines = document.line_count();
        planned(self.edit, &self.input, document.content().clone(), lines, output)
    }

    /// The same for an entirely new content.
    pub fn plan_content<O>(self, content: FileContent, output: impl FnOnce(FileWritten) -> O) -> ToolPlan<O> {
        let lines = total_lines(&content);
        planned(self.edit, &self.input, content, lines, output)
    }
}

fn planned<O>(
    edit: PendingEdit,
    input: &FileInput,
    content: FileContent,
    total_lines: usize,
    output: impl FnOnce(FileWritten) -> O,
) -> ToolPlan<O> {
    let dry_run = input.dry_run;
    let written = FileWritten {
        file: edit.path.to_string(),
        changed: edit.is_changed_by(&content),
        content_hash: content.hash().to_string(),
        total_lines,
        size_before: edit.before().map_or(0, |file| file.content.len()),
        size_after: content.len(),
        dry_run,
    };
    ToolPlan { changes: edit.changes(content), output: output(written), dry_run }
}

/// Lines as editors count them, in a file that is text.
pub fn total_lines(content: &FileContent) -> usize {
    Document::open(content.clone()).map_or(0, |document| document.line_count())
}

/// The refusal for an edit that would exceed the size limit of a file.
pub(crate) fn too_large(path: VaultPath, bytes: usize, limit: usize) -> Reason {
    Reason::ResultTooLarge { path, bytes: bytes as u64, limit: limit as u64 }
}

/// Why an edit of a note was refused, for the caller.
pub fn refusal(path: &VaultPath, error: EditError) -> Reason {
    let path = path.clone();
    match error {
        EditError::TooLarge { bytes, limit } => too_large(path, bytes, limit),
        EditError::OutsideLines { line, lines } => Reason::LineOutOfRange { path, argument: "line", line, lines },
        EditError::Property(
            problem @ (PropertyError::Yaml { .. } | PropertyError::NotAMap | PropertyError::Duplicate { .. }),
        ) => Reason::FrontmatterInvalid { path, problem: Prose::ours(problem) },
        error => Reason::EditRefused { path, error },
    }
}
