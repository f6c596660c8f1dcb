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

/// Which file of the vault is changed, and under which conditions: what all writers of the file tools take.
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

/// What all writers of the file tools answer.
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
    /// What became of the file, in a line, and the hash that the next change can expect.
    pub fn text(&self, done: &str) -> String {
        let Self { file, changed, content_hash, dry_run, .. } = self;
        let file = quoted(file);
        match (changed, dry_run) {
            (false, _) => format!("{file}: unchanged, hash {}", hash::digits(content_hash)),
            (true, true) => format!("{file}, dry run: {done}"),
            (true, false) => format!("{file}: {done}, hash {}", hash::digits(content_hash)),
        }
    }

    /// The same with the hash of the part that was changed.
    pub fn text_of_part(&self, done: &str, part: FilePart, hash: &str) -> String {
        format!("{}, {} {}", self.text(done), part.name(), hash::digits(hash))
    }
}

impl FileMade {
    /// `done` is the word for a file that was there.
    pub fn text(&self, done: &str) -> String {
        self.written.text(if self.created { "created" } else { done })
    }
}

/// What those answer that can also make the file.
#[derive(Serialize, JsonSchema)]
pub struct FileMade {
    #[serde(flatten)]
    pub written: FileWritten,
    pub created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

pub const EXPECTED_CONTENT: &str = "expected_content_hash";

/// A file that is there and is about to be changed.
pub struct FileEdit {
    edit: PendingEdit,
    pub before: Arc<File>,
    tool: &'static str,
    input: FileInput,
}

/// Where a file shall be made.
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
    /// Like [`FileEdit::begin`], for tools that can also make the file.
    pub fn begin(tool: &'static str, context: &Context<'_>, view: &View, input: FileInput) -> Result<Self, Reason> {
        let path = reading::parse_path(&input.file)?;
        let expected = hash::expected(tool, EXPECTED_CONTENT, input.expected_content_hash.as_deref())?;
        let before = reading::read_if_there(view, &path)?;
        if before.is_none() {
            if input.file.ends_with(['/', '\\']) {
                return Err(Reason::bad_argument(tool, "file", "must name a file, and this is a folder"));
            }
            naming::check_new(view, &path, None)?;
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
        let lines = total_lines(&content);
        planned(self.edit, &self.input, content, lines, output)
    }

    /// That there is nothing to change.
    pub fn missing(&self, context: &Context<'_>, view: &View) -> Reason {
        naming::missing(context, view, &self.edit.path).unwrap_or_else(|reason| reason)
    }
}

impl FileEdit {
    /// Finds the file, by whatever name it is called, and compares it with the one that the caller expects.
    pub fn begin(tool: &'static str, context: &Context<'_>, view: &View, input: FileInput) -> Result<Self, Reason> {
        // A file that is missing is said to be missing, whatever was expected of it.
        let NamedFile { path, file, .. } = naming::find(context, view, &input.file)?;
        Self::of(tool, context, input, path, file)
    }

    /// The same for a call that deletes the file: only its exact path will do.
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

    /// The file as text. What is parsed of it is shared by all who ask.
    pub fn document(&self) -> Result<Document, Reason> {
        let document = self.edit.document()?.ok_or_else(|| bug!("an edit of a file that is not there"))?;
        Ok(document.clone())
    }

    /// Whether the caller named the whole file by its hash.
    pub fn is_expected(&self) -> bool {
        self.edit.is_expected()
    }

    /// Refuses to go on if a part of the file is not the one the caller saw.
    pub fn expect_part(
        &self,
        document: &Document,
        part: FilePart,
        given: &str,
        span: Option<Range<usize>>,
    ) -> Result<(), Reason> {
        let expected = hash::expected(self.tool, part.argument(), Some(given))?
            .ok_or_else(|| bug!("a hash that was given was not read"))?;
        let found = span.and_then(|span| document.hash_of(span));
        if found.is_some_and(|found| expected.matches(&found)) {
            return Ok(());
        }
        let (path, current) = (self.edit.path.clone(), document.content().hash());
        Err(Reason::StalePart { path, part, expected, found, current })
    }

    /// That an argument does not fit what is in the file.
    pub fn bad_argument(&self, at: &str, problem: impl Into<Prose>) -> Reason {
        Reason::InvalidArguments {
            tool: self.tool.to_owned(),
            problems: vec![ArgumentProblem { at: at.to_owned(), problem: problem.into(), nearest: None }],
        }
    }

    pub fn refusal(&self, error: EditError) -> Reason {
        refusal(&self.edit.path, error)
    }

    /// The new document as a plan; the same bytes are no change.
    pub fn plan<O>(self, document: &Document, output: impl FnOnce(FileWritten) -> O) -> ToolPlan<O> {
        let lines = document.line_count();
        planned(self.edit, &self.input, document.content().clone(), lines, output)
    }

    /// The same for a whole new content.
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

/// That an edit would make more of a file than a file may have.
pub(crate) fn too_large(path: VaultPath, bytes: usize, limit: usize) -> Reason {
    Reason::ResultTooLarge { path, bytes: bytes as u64, limit: limit as u64 }
}

/// Why an edit of a note was not made, as the caller hears it.
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
