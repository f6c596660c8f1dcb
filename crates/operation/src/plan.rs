//! The results of planning a call, as values: the executor judges, asks, commits and completes the answer.

use lapidary_note::ContentHash;
use lapidary_recipe::{Recipe, RecipeName};
use lapidary_vault::{ChangeSet, FileChange, Receipt, VaultPath};
use serde_json::{Map, Value, json};

use crate::{AppAction, AppFault, CallResult, ContentBlock, Effect, OfferedTools, Reason, ReplyFacts, ServerCall};

/// The result of a call before anything was changed.
pub enum Planned {
    Answer(ToolAnswer),
    Change(PlannedChange),
    /// Calls of other tools, planned on top of each other and committed as one change.
    Batch(CallBatch),
    /// Another call, made in place of this one.
    Relay(RelayedCall),
    /// Calls of other tools whose arguments depend on each other, planned as one change.
    Steps(CallSteps),
}

/// The answer of a tool: facts for programs, and text for people where it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAnswer {
    pub output: ReplyFacts,
    pub text: Option<String>,
    /// Pictures and sounds, for a model that can use them.
    pub blocks: Vec<ContentBlock>,
}

impl ToolAnswer {
    /// Puts other hashes in the place of those that the plan had.
    pub fn replace_hashes(&mut self, replaced: &[(ContentHash, ContentHash)]) {
        for (planned, written) in replaced {
            let (planned, written) = (planned.to_string(), written.to_string());
            self.output.replace(&planned, &written);
            // The text shows the same hashes as the facts.
            self.text = self.text.take().map(|text| text.replace(&planned, &written));
        }
    }
}

/// A change that is not made yet, and its answer.
pub struct PlannedChange {
    pub changes: ChangeSet,
    /// The change is shown, not made.
    pub dry_run: bool,
    /// A dry run answers with the full diff, unless the answer already shows enough.
    pub shows_diff: bool,
    pub proposal: Option<ProposalStep>,
    /// What happens outside of the vault afterwards.
    pub action: Option<OutsideAction>,
    pub draft: Box<dyn AnswerDraft>,
}

/// An effect outside of the vault. It is planned, judged and logged like a change, and happens after it.
#[derive(Clone, Debug, PartialEq)]
pub enum OutsideAction {
    App(AppAction),
    Call(ServerCall),
}

impl OutsideAction {
    /// A command of the app may do anything, and so may a tool of another server; what is opened can be closed.
    pub fn effect(&self) -> Effect {
        match self {
            Self::App(action) => action.effect(),
            Self::Call(call) => call.standing.effect(),
        }
    }

    /// Identifies it: an approval is for exactly this one. With the changes: the same action after another change was not
    /// approved.
    pub fn digest(&self, changes: ContentHash) -> ContentHash {
        match self {
            Self::App(action) => action.digest(changes),
            Self::Call(call) => call.digest(changes),
        }
    }

    /// Completes "… wants to".
    pub fn in_words(&self) -> String {
        match self {
            Self::App(action) => action.in_words(),
            Self::Call(call) => call.in_words(),
        }
    }

    /// What is sent along, for those who judge it: all of it.
    pub fn shown_arguments(&self) -> Option<String> {
        match self {
            Self::App(_) => None,
            Self::Call(call) => Some(call.shown_arguments()),
        }
    }
}

/// An answer that is completed after the plan.
pub trait AnswerDraft {
    fn finish(self: Box<Self>, learnt: &CommitReport<'_>) -> Result<ToolAnswer, Reason>;
}

/// What a draft could not know.
#[derive(Clone, Copy)]
pub struct CommitReport<'a> {
    /// The tools the caller has; hints name no others.
    pub offered: OfferedTools<'a>,
    /// The result of the commit; `None` if nothing was committed.
    pub receipt: Option<&'a Receipt>,
    /// The token of the proposal made by the plan.
    pub proposal_token: Option<&'a str>,
    /// What became of the plan's action, if it was tried.
    pub acted: Option<Result<(), AppFault>>,
    /// The same for a call of another server.
    pub called: Option<&'a CallResult>,
    /// Whether the answer may show more of a note than what the caller sent.
    pub shows_content: bool,
}

impl CommitReport<'_> {
    /// The folder of the vault that now holds a trashed file. The name is omitted: a number in it would reveal files
    /// there that the caller may not see.
    pub fn trash_folder(&self, path: &VaultPath) -> Option<VaultPath> {
        // Its name in the trash is chosen when it gets there, so only the receipt knows it.
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

/// A change that was shown to a caller, who may come back for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownProposal {
    pub tool: &'static str,
    /// Everything that determines what is changed.
    pub arguments: ContentHash,
    pub changes: ContentHash,
}

/// What a plan does with a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalStep {
    /// Issue a token for it.
    Issue(ShownProposal),
    /// The token was issued for it and is consumed when the change is made.
    Redeem { token: String, proposal: ShownProposal },
}

/// The calls of a batch, as listed by its tool.
pub struct BatchPlan {
    pub steps: Vec<BatchStep>,
    pub atomic: bool,
    pub dry_run: bool,
}

/// Builds the answer of a batch from the results of its steps.
pub type FinishBatch = Box<dyn FnOnce(BatchOutcome, OfferedTools<'_>) -> Result<ToolAnswer, Reason>>;

/// Calls that are planned on top of each other, as one change.
pub struct CallBatch {
    pub steps: Vec<BatchStep>,
    /// All or none.
    pub atomic: bool,
    pub dry_run: bool,
    pub finish: FinishBatch,
}

/// What a tool that runs steps wants.
pub struct StepsPlan {
    /// Whose steps they are; a script has no name.
    pub name: Option<RecipeName>,
    pub recipe: Recipe,
    pub arguments: Map<String, Value>,
    pub dry_run: bool,
}

/// Builds the answer from the results of the steps.
pub type FinishSteps = Box<dyn FnOnce(StepsOutcome, OfferedTools<'_>) -> Result<ToolAnswer, Reason>>;

/// Calls whose arguments depend on each other, as one change.
pub struct CallSteps {
    pub plan: StepsPlan,
    /// Whether a call that changes something may be among them.
    pub may_write: bool,
    pub finish: FinishSteps,
}

/// What became of the steps.
#[derive(Debug)]
pub struct StepsOutcome {
    pub name: Option<RecipeName>,
    pub dry_run: bool,
    /// Whether a step asked the web: what is left to say may be text of strangers.
    pub reached_web: bool,
    /// What is left to say.
    pub answer: Value,
    pub calls: Vec<StepCalls>,
    /// How many files change.
    pub files: usize,
    /// The steps whose results are only the first part of what there is.
    pub cut: Vec<String>,
}

/// How often a step called its tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCalls {
    pub tool: &'static str,
    pub calls: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BatchStep {
    pub tool: String,
    pub arguments: Map<String, Value>,
}

/// The result of each call of a batch.
#[derive(Debug)]
pub struct BatchOutcome {
    pub atomic: bool,
    pub dry_run: bool,
    /// Nothing was changed, because one call was refused and the batch is all or nothing.
    pub withdrawn: bool,
    pub steps: Vec<Result<StepAnswer, StepRefusal>>,
}

#[derive(Debug)]
pub struct StepAnswer {
    pub output: Map<String, Value>,
    /// The tool's argument for showing a change without making it.
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
    pub tool: String,
    pub reason: Reason,
    /// Whether an earlier call of the batch changes the file that does not match this one's expectation.
    pub changed_before: bool,
}
