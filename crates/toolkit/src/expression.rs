//! Regular expressions that replace, in one file or in many.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use lapidary_note::FileContent;
use lapidary_operation::{
    Context, MemoryBudget, PathRefusal, Reason, WalkCost, clipped,
    quote::{Prose, quoted},
};
use lapidary_query::{ExpressionFlags, ReplaceError, Replacer};
use lapidary_vault::{Change, ContentGuard, File, ScanStop, VaultPath, View};

use crate::{
    budget::{BudgetInput, BudgetLimits},
    file_edit::{EXPECTED_CONTENT, refusal},
    hash, index,
    names::{NameGlob, pattern_refusal},
    naming, reading,
};

const PATTERN: &str = "pattern";
pub const EXPECTED_HASHES: &str = "expected_hashes";

/// The pattern, and its replacement.
pub struct TextExpression {
    replacer: Replacer,
    written: String,
    with: String,
    /// Every match, or the first of a file.
    all: bool,
    most: usize,
}

/// A file with something to replace.
pub struct ReplacedFile {
    pub path: VaultPath,
    pub before: Arc<File>,
    pub content: FileContent,
    pub count: usize,
}

impl ReplacedFile {
    /// Exactly this content is replaced: the approved diff showed no other.
    pub fn change(&self) -> Change {
        Change::Write {
            path: self.path.clone(),
            before: Arc::clone(&self.before),
            guard: ContentGuard::Caller,
            content: self.content.clone(),
        }
    }
}

/// The matches.
#[derive(Default)]
pub struct ExpressionMatches {
    pub replaced: Vec<ReplacedFile>,
    pub left: Vec<(VaultPath, Reason)>,
    /// How many files were searched.
    pub scanned: usize,
    /// The number of the first file that was not searched, if the search was cut short.
    pub next: Option<usize>,
}

impl ExpressionMatches {
    /// How many matches are replaced in total.
    pub fn count(&self) -> usize {
        self.replaced.iter().map(|replaced| replaced.count).sum()
    }
}

/// Which files.
pub struct ExpressionFiles<'s> {
    pub glob: &'s str,
    pub offset: usize,
    pub expected: &'s BTreeMap<String, String>,
    pub budget: Option<&'s BudgetInput>,
    /// This many, regardless of the budget.
    pub exactly: Option<usize>,
}

const TIME_IS_UP: &str = "the time was up before one file was searched";
/// Longer lists are not useful.
const MOST_LEFT: usize = 100;

impl TextExpression {
    pub fn parse(
        tool: &str,
        pattern: &str,
        replacement: &str,
        flags: &str,
        count: Option<usize>,
    ) -> Result<Self, Reason> {
        let mut read = ExpressionFlags::default();
        let mut all = false;
        for flag in flags.chars() {
            match flag {
                'g' => all = true,
                'i' => read.ignore_case = true,
                'm' => read.multi_line = true,
                's' => read.dot_all = true,
                // Text is always Unicode.
                'u' => {}
                _ => {
                    let problem = Prose::ours(format_args!(
                        "has {}; only `g`, `i`, `m`, `s` and `u` are allowed",
                        quoted(flag.encode_utf8(&mut [0; 4]))
                    ));
                    return Err(Reason::bad_argument(tool, "flags", problem));
                }
            }
        }
        let replacer =
            Replacer::expression(&plain(pattern), read).map_err(|error| pattern_refusal(PATTERN, pattern, &error))?;
        Ok(Self {
            replacer,
            written: clipped(pattern),
            with: plain(replacement),
            all,
            // Counted after matching: the limit is about replacements, not about work.
            most: count.unwrap_or(usize::MAX),
        })
    }

    /// The file with every match replaced, and their number; `None` if there was none.
    fn replaced(
        &self,
        path: &VaultPath,
        before: &File,
        budget: &MemoryBudget,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<(FileContent, usize)>, SearchFailure> {
        let document = reading::editable(path, before)?;
        let most = budget.file_bytes();
        let mut found = self.replacer.replacements(document.shown(), &self.with, self.all, most, stop).map_err(
            |error| match error {
                ReplaceError::Stopped => SearchFailure::Stopped,
                ReplaceError::TooMuch => SearchFailure::Refused(budget.file_too_large(path, most.saturating_add(1))),
                error => SearchFailure::Refused(self.too_much(error)),
            },
        )?;
        found.truncate(self.most);
        let count = found.len();
        let changes = found.into_iter().map(|found| (found.span, found.text));
        let edited = document.replace_ranges(changes).map_err(|error| refusal(path, error))?.document;
        // Replacing a text with itself is not a change.
        Ok((edited != document).then(|| (edited.content().clone(), count)))
    }

    fn too_much(&self, problem: impl std::fmt::Display) -> Reason {
        Reason::RegexUnsafe { argument: PATTERN, pattern: self.written.clone(), problem: Prose::ours(problem) }
    }
}

/// Why a file was not searched.
enum SearchFailure {
    Stopped,
    Refused(Reason),
}

impl From<Reason> for SearchFailure {
    fn from(reason: Reason) -> Self {
        Self::Refused(reason)
    }
}

pub fn in_file(
    tool: &str,
    context: &Context<'_>,
    view: &View,
    expression: &TextExpression,
    file: &str,
    expected: Option<&str>,
    budget: Option<&BudgetInput>,
) -> Result<ExpressionMatches, Reason> {
    let naming::NamedFile { path, file: before, .. } = naming::find(context, view, file)?;
    let expected = hash::expected(tool, EXPECTED_CONTENT, expected)?;
    hash::check(&path, EXPECTED_CONTENT, expected.as_ref(), Some(&before))?;
    let limits = BudgetLimits::of(budget, context);
    let stop = || limits.stop(context.cancel).is_some();
    let done = expression.replaced(&path, &before, &context.budget, &stop).map_err(|failed| match failed {
        // The budget of the call was spent, or the call itself was cancelled; only the latter has a reason.
        SearchFailure::Stopped => context.check().err().unwrap_or_else(|| expression.too_much(TIME_IS_UP)),
        SearchFailure::Refused(reason) => reason,
    })?;
    let replaced = done.map(|(content, count)| ReplacedFile { path, before, content, count }).into_iter().collect();
    Ok(ExpressionMatches { replaced, scanned: 1, ..ExpressionMatches::default() })
}

/// The same in all files that match a pattern, in path order, as far as the budget goes.
pub fn in_files(
    tool: &str,
    context: &Context<'_>,
    view: &View,
    expression: &TextExpression,
    sources: &ExpressionFiles<'_>,
) -> Result<ExpressionMatches, Reason> {
    let glob = NameGlob::parse(tool, "glob", sources.glob)?;
    let limits = BudgetLimits::of(sources.budget, context);
    let expected = expectations(tool, sources.expected)?;
    let files = index::files(context, view)?;
    let paths: Vec<&VaultPath> =
        files.iter().map(|entry| entry.path()).filter(|path| glob.matches(path.as_str())).collect();
    let known: BTreeSet<&VaultPath> = paths.iter().copied().collect();
    // Refused before anything is searched: a hash for a file outside of `glob` was meant for something else.
    if let Some(other) = expected.keys().find(|expected| !known.contains(expected)) {
        let problem = Prose::ours(format_args!("names {}, which `glob` does not match", quoted(other.as_str())));
        return Err(Reason::bad_argument(tool, EXPECTED_HASHES, problem));
    }
    let (mut found, mut bytes, mut stopped) = (ExpressionMatches::default(), 0, None);
    for (number, path) in paths.into_iter().enumerate().skip(sources.offset) {
        if sources.exactly.is_some_and(|most| found.scanned >= most) {
            break;
        }
        // An approved proposal is carried out as it was shown.
        let in_any_case = sources.exactly.is_some() || found.scanned == 0;
        // Zero files seen keeps `stop_after` from stopping, except for a cancellation.
        let seen = if in_any_case { 0 } else { found.scanned };
        let stop = || limits.stop_after(seen, context.cancel);
        stopped = stop();
        let spent = limits.files.is_some_and(|most| found.scanned >= most)
            || (found.scanned > 0 && limits.bytes.is_some_and(|most| bytes >= most));
        if spent && sources.exactly.is_none() {
            stopped = stopped.or(Some(ScanStop::Budget));
        }
        if stopped.is_none() {
            // A file that has disappeared since the scan has nothing to replace.
            if let Some(before) = reading::read_if_there(view, path)? {
                hash::check(path, EXPECTED_HASHES, expected.get(path), Some(&before))?;
                bytes += before.content.len() as u64;
                let stop = || stop().is_some();
                match one(context, view, expression, path, &before, &stop) {
                    Ok(None) => {}
                    Ok(Some(replaced)) => match context.budget.gather(&replaced.change()) {
                        Ok(()) => found.replaced.push(replaced),
                        // The rest is for another call.
                        // What was found so far is a useful proposal.
                        Err(_) if found.scanned > 0 && sources.exactly.is_none() => stopped = Some(ScanStop::Budget),
                        Err(reason) => return Err(reason),
                    },
                    // Binary files have no text and are skipped silently.
                    Err(SearchFailure::Refused(Reason::NotText { valid_up_to: None, .. })) => {}
                    Err(SearchFailure::Refused(reason)) if found.left.len() < MOST_LEFT => {
                        found.left.push((path.clone(), reason))
                    }
                    Err(SearchFailure::Refused(_)) => {}
                    Err(SearchFailure::Stopped) => stopped = Some(ScanStop::Deadline),
                }
            }
        }
        if stopped.is_some() {
            found.next = Some(number);
            break;
        }
        found.scanned += 1;
    }
    context.walked.set(Some(WalkCost { files: found.scanned as u64, bytes, stopped }));
    // A cancelled call must not answer with partial results.
    context.check()?;
    Ok(found)
}

fn one(
    context: &Context<'_>,
    view: &View,
    expression: &TextExpression,
    path: &VaultPath,
    before: &Arc<File>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<ReplacedFile>, SearchFailure> {
    let Some((content, count)) = expression.replaced(path, before, &context.budget, stop)? else { return Ok(None) };
    // Checked for files with a match only: others are not going to be changed.
    view.may_write(path).map_err(|denied| Reason::PathForbidden {
        path: path.clone(),
        writing: true,
        denied: PathRefusal::ByScope(denied),
    })?;
    if view.is_source(path, Some(before)) {
        return Err(Reason::SourceFixed { path: path.clone() }.into());
    }
    Ok(Some(ReplacedFile { path: path.clone(), before: Arc::clone(before), content, count }))
}

fn expectations(
    tool: &str,
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<VaultPath, lapidary_note::ExpectedHash>, Reason> {
    let mut expected = BTreeMap::new();
    for (path, written) in given {
        if let Some(hash) = hash::expected(tool, EXPECTED_HASHES, Some(written))? {
            expected.insert(reading::parse_path(path)?, hash);
        }
    }
    Ok(expected)
}

/// In the form in which the searched text is shown.
fn plain(given: &str) -> String {
    given.replace("\r\n", "\n")
}
