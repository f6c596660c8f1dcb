//! What comes of planning a call, as values: the executor judges, asks, commits and completes the answer.

use lapidary_note::ContentHash;
use lapidary_vault::{ChangeSet, FileChange, Receipt, VaultPath};
use serde_json::{Map, Value, json};

use crate::{OfferedTools, Reason, ReplyFacts};

/// What came of a call before anything happened.
pub enum Planned {
    Answer(ToolAnswer),
    Change(PlannedChange),
    /// Calls of other tools, to be planned one on another and committed as one change.
    Batch(CallBatch),
    /// Another call, to be made in place of this one.
    Relay(RelayedCall),
}

/// What a tool answers: the facts for programs, and the text that a person would want to read where it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAnswer {
    pub output: ReplyFacts,
    pub text: Option<String>,
}

/// A change that is not made yet, and the answer that goes with it.
pub struct PlannedChange {
    pub changes: ChangeSet,
    /// The change is shown and not made.
    pub dry_run: bool,
    /// A dry run is answered with the whole diff, unless the answer shows enough of it.
    pub shows_diff: bool,
    pub proposal: Option<ProposalStep>,
    pub draft: Box<dyn AnswerDraft>,
}

/// An answer that waits for what is known only after the plan.
pub trait AnswerDraft {
    fn finish(self: Box<Self>, learnt: &CommitReport<'_>) -> Result<ToolAnswer, Reason>;
}

/// What a draft could not know.
#[derive(Clone, Copy)]
pub struct CommitReport<'a> {
    /// What the caller has; hints name nothing else.
    pub offered: OfferedTools<'a>,
    /// What the commit did; `None` if nothing was committed.
    pub receipt: Option<&'a Receipt>,
    /// The token of the proposal that the plan makes.
    pub proposal_token: Option<&'a str>,
}

impl CommitReport<'_> {
    /// The folder of the vault in which a trashed file is now. Not under which name: a number in it would tell of files
    /// in there that the caller may not see.
    pub fn trash_folder(&self, path: &VaultPath) -> Option<VaultPath> {
        let is_gone = |changed: &&FileChange| changed.after.is_none() && changed.path == *path;
        self.receipt?.changed.iter().find(is_gone)?.moved_to.as_ref()?.folder()
    }
}

/// A call that stands for another.
#[derive(Clone, Debug, PartialEq)]
pub struct RelayedCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
}

/// A change that a caller was shown and may come back for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownProposal {
    pub tool: &'static str,
    /// All that decides what is changed.
    pub arguments: ContentHash,
    pub changes: ContentHash,
}

/// What a plan wants done with a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalStep {
    /// Give out a token for it.
    Issue(ShownProposal),
    /// The token was given out for it. It is used up when the change is made.
    Redeem { token: String, proposal: ShownProposal },
}

/// The calls of a batch as its tool lists them.
pub struct BatchPlan {
    pub steps: Vec<BatchStep>,
    pub atomic: bool,
    pub dry_run: bool,
}

/// Makes the answer of a batch out of what became of its steps.
pub type FinishBatch = Box<dyn FnOnce(BatchOutcome, OfferedTools<'_>) -> Result<ToolAnswer, Reason>>;

/// Calls that are planned one on another, as one change.
pub struct CallBatch {
    pub steps: Vec<BatchStep>,
    /// All or none.
    pub atomic: bool,
    pub dry_run: bool,
    pub finish: FinishBatch,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BatchStep {
    pub tool: String,
    pub arguments: Map<String, Value>,
}

/// What became of each call of a batch.
#[derive(Debug)]
pub struct BatchOutcome {
    pub atomic: bool,
    pub dry_run: bool,
    /// Nothing was changed, because one of them was refused and all or none were wanted.
    pub withdrawn: bool,
    pub steps: Vec<Result<StepAnswer, StepRefusal>>,
}

#[derive(Debug)]
pub struct StepAnswer {
    pub output: Map<String, Value>,
    /// The argument of the tool with which a change is only shown.
    pub dry_run: &'static str,
}

impl StepAnswer {
    /// The answer to a call that was not made after all.
    pub fn into_dry_run(mut self) -> Map<String, Value> {
        self.output.insert(self.dry_run.to_owned(), json!(true));
        self.output
    }
}

/// Why a call of a batch was refused.
#[derive(Debug)]
pub struct StepRefusal {
    pub reason: Reason,
    /// Whether a call before it changes the file that is not what this one expects.
    pub changed_before: bool,
}
