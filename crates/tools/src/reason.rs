//! Why a call was refused. The model reads this, so every reason carries what is needed to go on and says the next
//! step.

mod facts;
mod hint;
mod part;
mod store;

use std::time::Duration;

use lapidary_note::{ContentHash, EditError, ExpectedHash, PatchError, PatchMismatch};
use lapidary_vault::{Denied, JoinError, PathError, VaultPath};
use serde_json::{Map, Value, json};

pub use facts::{Facts, Kind};
pub use part::{BlockCandidate, Candidates, HeadingCandidate, Part};

use crate::{bug::Bug, catalogue::Off};

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Reason {
    #[error("{}", summary(.problems))]
    InvalidArguments { tool: String, problems: Vec<ArgumentProblem> },
    #[error("There is no tool `{name}`.")]
    ToolUnknown { name: String, nearest: Option<String> },
    #[error("`{tool}` is switched off{}.", why(.off))]
    ToolOff { tool: String, off: Off },
    #[error("There is no vault `{given}`.")]
    VaultUnknown { given: String, names: Vec<String> },
    #[error("Several vaults are served, so `vault` has to say which one.")]
    VaultRequired { names: Vec<String> },
    #[error("The vault is closed: its rule file {file} cannot be read.")]
    VaultClosed { file: &'static str },
    #[error("There is no resource `{uri}`.")]
    ResourceUnknown { uri: String },
    #[error("`{given}` is not a path inside the vault: {problem}.")]
    PathInvalid { given: String, problem: PathError },
    #[error("Path '{path}' is not {}: {}.", if *.writing { "writable" } else { "readable" }, closed(.denied))]
    PathForbidden { path: VaultPath, writing: bool, denied: Refused },
    #[error("Not found: {path}")]
    NoteMissing { path: VaultPath, suggestions: Vec<VaultPath> },
    #[error("Several files differ from '{path}' only in case.")]
    AmbiguousPath { path: VaultPath, matches: Vec<VaultPath> },
    #[error("{path} is a directory, not a note.")]
    PathIsDirectory { path: VaultPath },
    #[error("{path} is a file, not a directory.")]
    PathIsFile { path: VaultPath },
    #[error("Directory not found: {path}")]
    DirectoryMissing { path: VaultPath, nearest: Option<VaultPath> },
    #[error("{path} is not an ordinary file.")]
    NotAFile { path: VaultPath },
    #[error("{path} is not text{}.", valid_up_to.map_or(String::new(), |at| format!(": byte {at} is not UTF-8")))]
    NotText { path: VaultPath, valid_up_to: Option<usize> },
    #[error("{path} has {bytes} bytes; the limit is {limit}.")]
    FileTooLarge { path: VaultPath, bytes: u64, limit: u64 },
    #[error("The answer would have {bytes} bytes; the limit is {limit}.")]
    ReplyTooLarge { bytes: u64, limit: u64 },
    #[error("Which note is open is known to the Obsidian app alone, and this server is not connected to it.")]
    NoActiveFile,
    #[error("No {period} note found{}.", .date.as_ref().map_or(String::new(), |date| format!(" for {date}")))]
    PeriodicNotFound { period: &'static str, date: Option<String>, path: VaultPath },
    #[error("{}", periodic_disabled(.period, *.unreadable))]
    PeriodicDisabled { period: &'static str, unreadable: Option<&'static str> },
    #[error("{path} already exists.")]
    FileExists { path: VaultPath, current: ContentHash },
    #[error("{argument} mismatch: {path} is not what was expected.")]
    Stale { path: VaultPath, argument: &'static str, expected: ExpectedHash, current: Option<ContentHash> },
    /// The same for a tool whose caller can only replace what is there with another tool.
    #[error("{path} already exists.")]
    DestinationExists { path: VaultPath, current: ContentHash, wanted: Wanted },
    #[error("{} mismatch: the {} in {path} is not what was expected.", .part.argument(), .part.name())]
    StalePart {
        path: VaultPath,
        part: Part,
        expected: ExpectedHash,
        /// Of the part; nothing if there is none any more.
        found: Option<ContentHash>,
        /// Of the whole file.
        current: ContentHash,
    },
    #[error("There is no checkpoint `{given}`.")]
    CheckpointMissing { given: String },
    #[error("Several checkpoints begin with `{given}`.")]
    CheckpointAmbiguous { given: String, ids: Vec<String> },
    #[error("Checkpoint `{checkpoint}` has no file {path}.")]
    NotInCheckpoint { path: VaultPath, checkpoint: String, files: Vec<VaultPath> },
    #[error("This version of {path} was not kept: {wanted}.")]
    VersionMissing { path: VaultPath, wanted: String },
    #[error("{path} is being changed by another program again and again.")]
    KeepsChanging { path: VaultPath },
    #[error("Format `section` needs `section`: which heading, block or property.")]
    SectionRequired,
    #[error("{}", section_missing(.section_type, .target, .path))]
    SectionMissing { path: VaultPath, section_type: &'static str, target: String, available: Vec<String> },
    #[error("'{target}' is not unique in {path}: {} match.", .candidates.len())]
    Ambiguous { path: VaultPath, target: String, candidates: Candidates },
    #[error("{argument} {line} is out of range: {path} has {lines} lines.")]
    LineOutOfRange { path: VaultPath, argument: &'static str, line: usize, lines: usize },
    #[error("Not a patch for one file: {0}.")]
    PatchInvalid(PatchError),
    #[error("{mismatch}: {path} is not what the patch was made for.")]
    PatchMismatch { path: VaultPath, mismatch: Box<PatchMismatch>, current: ContentHash },
    #[error("{path} was left as it is: {error}.")]
    EditRefused { path: VaultPath, error: EditError },
    /// One of several steps of a call was refused, so none was made.
    #[error("{list}[{index}] failed: {reason}")]
    InStep { list: &'static str, index: usize, reason: Box<Reason> },
    #[error("{}", section_missing(.section_type, .target, .path))]
    SectionTargetMissing { path: VaultPath, section_type: &'static str, target: String, available: Vec<String> },
    #[error("Several headings of {path} are meant by '{target}'.")]
    AmbiguousSection { path: VaultPath, target: String, candidates: Vec<String> },
    #[error("The content stands in '{target}' of {path} already.")]
    ContentPreexists { path: VaultPath, target: String },
    #[error("The heading '{heading}' of the content would not stand in the section '{target}' of {path}.")]
    HeadingOutsideSection { path: VaultPath, target: String, heading: String },
    #[error("{path} cannot be changed like this: {problem}.")]
    PatchRejected { path: VaultPath, problem: String },
    #[error("`set` needs a `value` for '{key}'.")]
    ValueRequired { key: String },
    #[error("`{operation}` needs `tags`.")]
    TagsRequired { operation: &'static str },
    #[error("The properties of {path} are not valid YAML: {problem}.")]
    FrontmatterInvalid { path: VaultPath, problem: String },
    #[error("The properties of {path} would not be valid YAML any more: {problem}.")]
    FrontmatterWouldBreak { path: VaultPath, problem: String },
    #[error("The text to find is not in {path}.")]
    TextMissing { path: VaultPath, preview: String },
    #[error("The text to find stands {occurrences} times in {path}; it must be unique.")]
    TextNotUnique { path: VaultPath, occurrences: usize },
    #[error("occurrence {wanted} is out of range: {occurrences} match in {path}.")]
    OccurrenceOutOfRange { path: VaultPath, occurrences: usize, wanted: usize },
    #[error("Invalid {argument}: {problem}")]
    RegexInvalid { argument: &'static str, pattern: String, problem: String },
    #[error("Unsafe {argument}: {problem}")]
    RegexUnsafe { argument: &'static str, pattern: String, problem: String },
    #[error("`pathPrefix` is only for mode `text`, not for `{mode}`.")]
    PathPrefixInvalidMode { mode: &'static str },
    #[error("Mode `{mode}` needs a `query`.")]
    QueryRequired { mode: &'static str },
    #[error("Mode `{mode}` needs `logic`.")]
    LogicRequired { mode: &'static str },
    #[error("The logic cannot be used: {problem}.")]
    LogicInvalid { problem: String },
    #[error("`contextLength` {given} is too large; the limit is {limit}.")]
    ContextLengthTooLarge { given: usize, limit: usize },
    #[error("The batch has {submitted} operations; the limit is {limit}.")]
    TooManyOperations { submitted: usize, limit: u64 },
    #[error("`{tool}` cannot be part of a batch.")]
    NotInBatch { tool: String },
    #[error("A batch changes one vault, `{vault}`, and this operation names `{given}`.")]
    OtherVault { given: String, vault: String },
    #[error("This cannot be done in one batch: {0}.")]
    NotJoined(JoinError),
    #[error("There is no prompt `{name}`.")]
    PromptUnknown { name: String, nearest: Option<String> },
    #[error("There is no open proposal with this token for these arguments.")]
    ProposalExpired,
    #[error("What the proposal showed is not what would be changed now.")]
    ProposalChanged,
    #[error("The person who was asked said no.")]
    Declined,
    #[error("This needs a person's consent, and there is nobody to ask.")]
    NobodyToAsk,
    #[error("A person has to agree to this first. It waits for them as `{id}`.")]
    ApprovalPending { id: String },
    #[error("The question about this change is no longer open.")]
    ConsentExpired,
    #[error("What was asked about is not what would be changed now.")]
    ChangedMeanwhile,
    #[error("The owner's rules do not allow this.")]
    DeniedByRule,
    #[error("{}", repeated(*.times, .last, *.similar))]
    Repeated { times: usize, last: String, similar: bool },
    #[error("{}", interrupted(.0))]
    Interrupted(Interruption),
    #[error("{}", disk(.problem, .path.as_ref()))]
    Disk { path: Option<VaultPath>, problem: Disk },
    #[error("Something went wrong inside the server: internal error, id {}.", .0.id())]
    Internal(Bug),
}

/// One thing that is wrong with the arguments, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentProblem {
    /// Dotted path to the argument; empty for the arguments as a whole.
    pub at: String,
    pub problem: String,
    /// The known name that was probably meant.
    pub nearest: Option<String>,
}

/// What a name was wanted for that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    New,
    Moved,
    /// A file that was moved away, and is to be put back.
    Back,
}

/// Why a path is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    ByScope(Denied),
    /// A link that points out of the vault.
    LeadsOutside,
    /// A link to a part of the vault that may not be changed.
    LeadsToClosed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    TakenBack,
    Deadline {
        allowed: Duration,
    },
    /// The disk did not answer, or did not confirm, while a change was under way.
    WriteUnfinished,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    NotPermitted,
    ReadOnly,
    Full,
    BadName,
    /// Another system would refuse it.
    NotPortable,
    /// The folder in which we keep our own things.
    NoState,
    VaultGone,
    Failing,
}

/// As much of something that a caller sent as helps to recognise it.
pub fn clipped(given: &str) -> String {
    const SHOWN: usize = 200;
    match given.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &given[..end]),
        None => given.to_owned(),
    }
}

fn summary(problems: &[ArgumentProblem]) -> String {
    let one = |problem: &ArgumentProblem| match &problem.at[..] {
        "" => problem.problem.clone(),
        at => format!("`{at}` {}", problem.problem),
    };
    format!("Invalid arguments: {}.", problems.iter().map(one).collect::<Vec<_>>().join("; "))
}

fn why(off: &Off) -> &'static str {
    match off {
        Off::ReadOnly => ": the server is in read-only mode",
        Off::Excluded => " by the owner",
        Off::NotChosen => ": it is not among the tools the owner chose",
        Off::Profile => ": the profile of this client does not have it",
    }
}

fn closed(refused: &Refused) -> &'static str {
    match refused {
        Refused::ByScope(Denied::OutsideReadPaths { .. }) => "outside OBSIDIAN_READ_PATHS",
        Refused::ByScope(Denied::OutsideWritePaths { .. }) => "outside OBSIDIAN_WRITE_PATHS",
        Refused::ByScope(Denied::InDenyPaths) => "closed by OBSIDIAN_DENY_PATHS",
        Refused::ByScope(Denied::NotAllowed { .. }) => "outside what `allow` opens of this vault",
        Refused::ByScope(Denied::Forbidden) => "closed by `deny` of this vault",
        Refused::ByScope(Denied::Hidden) => "names that begin with a dot are closed",
        Refused::ByScope(Denied::Ignored) => "it is ignored, so it is no part of the vault",
        Refused::ByScope(Denied::Protected) => "it is protected by a rule file of the vault",
        Refused::ByScope(Denied::ReadOnly) => "server is in read-only mode (OBSIDIAN_READ_ONLY=true)",
        Refused::LeadsOutside => "it is a link that leaves the vault",
        Refused::LeadsToClosed => "it is a link to a part of the vault that may not be changed",
    }
}

fn section_missing(section_type: &str, target: &str, path: &VaultPath) -> String {
    match section_type {
        "heading" => format!("Heading '{target}' not found."),
        "block" => format!("Block reference '^{target}' not found."),
        _ => format!("Frontmatter key '{target}' not found in {path}."),
    }
}

fn periodic_disabled(period: &str, unreadable: Option<&str>) -> String {
    match unreadable {
        Some(file) => format!("Where {period} notes are cannot be told: {file} cannot be read."),
        None => format!("This vault has no {period} notes: they are not enabled in Obsidian."),
    }
}

fn repeated(times: usize, last: &str, similar: bool) -> String {
    if similar {
        format!("{times} searches for nearly the same words have just been answered, the last at {last}.")
    } else {
        format!("The same call has just been answered {times} times with the same result, the last at {last}.")
    }
}

fn interrupted(interruption: &Interruption) -> String {
    match interruption {
        Interruption::TakenBack => "The call was cancelled.".to_owned(),
        Interruption::Deadline { allowed } => format!("The call took longer than {} ms.", allowed.as_millis()),
        Interruption::WriteUnfinished => {
            "The disk did not confirm the change; it may or may not have happened.".to_owned()
        }
    }
}

fn disk(problem: &Disk, path: Option<&VaultPath>) -> String {
    let what = match problem {
        Disk::NotPermitted => "the system does not permit access",
        Disk::ReadOnly => "the disk is read-only",
        Disk::Full => "the disk is full",
        Disk::BadName => "the system does not accept this name",
        Disk::NotPortable => "not every system accepts this name",
        Disk::NoState => "the server's state folder cannot be written",
        Disk::VaultGone => "the vault's folder is not there",
        Disk::Failing => "the disk reported an error",
    };
    path.map_or_else(|| format!("Not done: {what}."), |path| format!("{path}: {what}."))
}

impl Reason {
    /// That what we keep ourselves cannot be used.
    pub(crate) fn no_state() -> Self {
        Self::Disk { path: None, problem: Disk::NoState }
    }

    /// One argument that cannot be used.
    pub fn bad_argument(tool: &str, at: &str, problem: impl Into<String>) -> Self {
        let problem = ArgumentProblem { at: at.to_owned(), problem: problem.into(), nearest: None };
        Self::InvalidArguments { tool: tool.to_owned(), problems: vec![problem] }
    }

    /// What a program needs to go on, as it stands in `data` or `details`.
    pub fn data(&self) -> Map<String, Value> {
        let strings = |paths: &[VaultPath]| paths.iter().map(VaultPath::to_string).collect::<Vec<_>>();
        let data = match self {
            Self::InvalidArguments { problems, .. } => {
                json!({ "problems": problems.iter().map(problem).collect::<Vec<_>>() })
            }
            Self::ToolUnknown { name, nearest } => json!({ "tool": name, "nearest": nearest }),
            Self::ToolOff { tool, .. } => json!({ "tool": tool }),
            Self::VaultUnknown { given, names } => json!({ "vault": given, "vaults": names }),
            Self::VaultRequired { names } => json!({ "vaults": names }),
            Self::VaultClosed { file } => json!({ "ruleFile": file }),
            Self::ResourceUnknown { uri } => json!({ "uri": uri }),
            Self::PathInvalid { given, .. } => json!({ "path": given }),
            Self::PathForbidden { path, writing, denied } => {
                let (subreason, active) = forbidden(denied);
                json!({ "path": path.as_str(), "op": if *writing { "write" } else { "read" }, "subreason": subreason, "activeScope": active })
            }
            Self::NoteMissing { path, suggestions } if suggestions.is_empty() => json!({ "path": path.as_str() }),
            Self::NoteMissing { path, suggestions } => {
                json!({ "path": path.as_str(), "suggestions": strings(suggestions) })
            }
            Self::AmbiguousPath { path, matches } => json!({ "path": path.as_str(), "matches": strings(matches) }),
            Self::PathIsDirectory { path }
            | Self::PathIsFile { path }
            | Self::NotAFile { path }
            | Self::KeepsChanging { path } => json!({ "path": path.as_str() }),
            Self::DirectoryMissing { path, nearest } => {
                json!({ "path": path.as_str(), "nearest": nearest.as_ref().map(VaultPath::as_str) })
            }
            Self::NotText { path, valid_up_to } => json!({
                "path": path.as_str(),
                "validUpTo": valid_up_to,
                "resource": crate::resources::of_file(path),
            }),
            Self::FileTooLarge { path, bytes, limit } => {
                json!({ "path": path.as_str(), "submitted": bytes, "limit": limit })
            }
            Self::ReplyTooLarge { bytes, limit } => json!({ "submitted": bytes, "limit": limit }),
            Self::FileExists { path, .. } | Self::DestinationExists { path, .. } => json!({ "path": path.as_str() }),
            Self::PeriodicNotFound { period, date, path } => {
                json!({ "period": period, "date": date, "path": path.as_str() })
            }
            Self::PeriodicDisabled { period, .. } => json!({ "period": period }),
            Self::Stale { path, expected, current, .. } => json!({
                "path": path.as_str(),
                "expected": expected.to_string(),
                "actual": current.map(|hash| hash.to_string()),
            }),
            Self::CheckpointMissing { given } => json!({ "id": given }),
            Self::CheckpointAmbiguous { given, ids } => json!({ "id": given, "matches": ids }),
            Self::NotInCheckpoint { path, checkpoint, files } => {
                json!({ "path": path.as_str(), "id": checkpoint, "files": strings(files) })
            }
            Self::VersionMissing { path, wanted } => json!({ "path": path.as_str(), "version": wanted }),
            Self::StalePart { path, expected, found, .. } => json!({
                "path": path.as_str(),
                "expected": expected.to_string(),
                "actual": found.map(|hash| hash.to_string()),
            }),
            Self::Ambiguous { path, candidates, .. } => {
                json!({ "path": path.as_str(), "occurrences": candidates.len(), "matches": candidates.json() })
            }
            Self::LineOutOfRange { path, line, lines, .. } => {
                json!({ "path": path.as_str(), "line": line, "totalLines": lines })
            }
            Self::PatchInvalid(error) => json!({ "hunk": error.hunk(), "patchLine": error.line() }),
            Self::PatchMismatch { path, mismatch, .. } => json!({
                "path": path.as_str(),
                "hunk": mismatch.hunk,
                "line": mismatch.line,
                "expected": clipped(&mismatch.expected),
                "actual": mismatch.actual.as_deref().map(clipped),
                "foundAtLine": mismatch.found_at,
            }),
            Self::EditRefused { path, .. } => json!({ "path": path.as_str() }),
            Self::InStep { index, reason, .. } => {
                let mut data = reason.data();
                data.insert("index".to_owned(), json!(index));
                Value::Object(data)
            }
            Self::SectionMissing { path, section_type, target, available }
            | Self::SectionTargetMissing { path, section_type, target, available } => json!({
                "path": path.as_str(),
                "section": { "type": section_type, "target": target },
                "available": available,
            }),
            Self::AmbiguousSection { path, target, candidates } => {
                json!({ "path": path.as_str(), "target": target, "candidates": candidates })
            }
            Self::ContentPreexists { path, target } => json!({ "path": path.as_str(), "target": target }),
            Self::HeadingOutsideSection { path, target, heading } => {
                json!({ "path": path.as_str(), "target": target, "heading": heading })
            }
            Self::ValueRequired { key } => json!({ "key": key }),
            Self::TagsRequired { operation } => json!({ "operation": operation }),
            Self::FrontmatterInvalid { path, problem }
            | Self::FrontmatterWouldBreak { path, problem }
            | Self::PatchRejected { path, problem } => {
                json!({ "path": path.as_str(), "problem": problem })
            }
            Self::TextMissing { path, preview } => json!({ "path": path.as_str(), "findPreview": preview }),
            Self::TextNotUnique { path, occurrences } => json!({ "path": path.as_str(), "occurrences": occurrences }),
            Self::OccurrenceOutOfRange { path, occurrences, wanted } => {
                json!({ "path": path.as_str(), "occurrences": occurrences, "wanted": wanted })
            }
            Self::RegexInvalid { argument, pattern, .. } | Self::RegexUnsafe { argument, pattern, .. } => {
                json!({ *argument: pattern })
            }
            Self::PathPrefixInvalidMode { mode } | Self::QueryRequired { mode } | Self::LogicRequired { mode } => {
                json!({ "mode": mode })
            }
            Self::LogicInvalid { problem } => json!({ "problem": problem }),
            Self::ContextLengthTooLarge { given, limit } => json!({ "contextLength": given, "limit": limit }),
            Self::TooManyOperations { submitted, limit } => json!({ "submitted": submitted, "limit": limit }),
            Self::PromptUnknown { name, nearest } => json!({ "prompt": name, "nearest": nearest }),
            Self::NotInBatch { tool } => json!({ "tool": tool }),
            Self::OtherVault { given, vault } => json!({ "vault": given, "vaults": [vault] }),
            Self::NotJoined(
                JoinError::TrashAfterEdit { path } | JoinError::NewFolder { path } | JoinError::FolderLeft { path },
            ) => json!({ "path": path.as_str() }),
            Self::ApprovalPending { id } => json!({ "approval": id }),
            Self::Repeated { times, last, similar } => {
                json!({ "times": times, "lastAnswered": last, "similar": similar })
            }
            Self::Disk { path, .. } => json!({ "path": path.as_ref().map(VaultPath::as_str) }),
            Self::SectionRequired
            | Self::NoActiveFile
            | Self::ProposalExpired
            | Self::ProposalChanged
            | Self::Declined
            | Self::NobodyToAsk
            | Self::ConsentExpired
            | Self::ChangedMeanwhile
            | Self::DeniedByRule
            | Self::Interrupted(_) => json!({}),
            Self::Internal(bug) => json!({ "id": bug.id() }),
        };
        match data {
            Value::Object(mut data) => {
                data.retain(|_, value| !value.is_null());
                data
            }
            _ => Map::new(),
        }
    }

    /// The hash that a retry can expect, where one is known.
    pub fn current_hash(&self) -> Option<ContentHash> {
        match self {
            Self::Stale { current, .. } => *current,
            Self::FileExists { current, .. }
            | Self::DestinationExists { current, .. }
            | Self::StalePart { current, .. }
            | Self::PatchMismatch { current, .. } => Some(*current),
            Self::InStep { reason, .. } => reason.current_hash(),
            _ => None,
        }
    }

    /// All hashes that a retry can expect, under the names that the file tools give them.
    pub fn current_hashes(&self) -> Map<String, Value> {
        let part = match self {
            Self::StalePart { part, found: Some(found), .. } => Some((*part, *found)),
            _ => None,
        };
        part::current(self.current_hash(), part)
    }
}

fn problem(problem: &ArgumentProblem) -> Value {
    let mut shown =
        Map::from_iter([("path".to_owned(), json!(problem.at)), ("message".to_owned(), json!(problem.problem))]);
    if let Some(nearest) = &problem.nearest {
        shown.insert("nearest".to_owned(), json!(nearest));
    }
    Value::Object(shown)
}

/// The sub-reason, and the folders that would be open.
fn forbidden(refused: &Refused) -> (&'static str, Vec<String>) {
    let listed = |allowed: &[lapidary_vault::PathPrefix]| allowed.iter().map(ToString::to_string).collect();
    match refused {
        Refused::ByScope(Denied::OutsideReadPaths { allowed }) => ("outside_read_paths", listed(allowed)),
        Refused::ByScope(Denied::OutsideWritePaths { allowed }) => ("outside_write_paths", listed(allowed)),
        Refused::ByScope(Denied::InDenyPaths) => ("in_deny_paths", Vec::new()),
        Refused::ByScope(Denied::NotAllowed { allowed }) => ("outside_allow", allowed.clone()),
        Refused::ByScope(Denied::Forbidden) => ("in_deny", Vec::new()),
        Refused::ByScope(Denied::Hidden) => ("hidden_path", Vec::new()),
        Refused::ByScope(Denied::Ignored) => ("ignored_path", Vec::new()),
        Refused::ByScope(Denied::Protected) => ("protected_path", Vec::new()),
        Refused::ByScope(Denied::ReadOnly) => ("read_only_mode", Vec::new()),
        Refused::LeadsOutside => ("leads_outside", Vec::new()),
        Refused::LeadsToClosed => ("leads_to_closed", Vec::new()),
    }
}
