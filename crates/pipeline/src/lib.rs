//! The one path that every operation takes: find, authorize, check, admit, narrow, plan, judge, approve, commit, observe,
//! record. Each stage is a file in `stages`, and `execute` is the loop over them.

mod access_verdict;
mod approval_rules;
mod approvals;
mod asked_change;
mod audit;
mod batch;
mod call_bounds;
mod call_lanes;
mod clock;
mod confirmation;
mod digest;
mod document_outline;
mod execute;
mod execution;
mod executor;
mod invocation;
mod linked_places;
mod owner_review;
mod principal;
mod recipe_approval;
mod recipe_steps;
mod repetition;
mod rule_files;
mod shared_memory;
mod stages;
mod vaults;

#[cfg(test)]
mod app_calls;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod fake_app;
#[cfg(test)]
mod fake_servers;
#[cfg(test)]
mod fake_web;
#[cfg(test)]
mod growth;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod second_names;
#[cfg(test)]
mod testing;

pub use access_verdict::{AccessVerdict, DecidedBy};
pub use approval_rules::{ApprovalRule, ApprovalRules, CALL_MARK, RuleDecision};
pub use approvals::{ApprovalDecision, ApprovalOutcome, PendingChange};
pub use asked_change::AskedChange;
pub use audit::AUDIT_FILE;
pub use clock::Clock;
pub use executor::{CallLimits, Executor, ExecutorSetup};
pub use invocation::{
    CallProgress, ConsentAnswer, FinishedStage, Invocation, Operation, Outcome, Question, Refusal, StageWatch, Verdict,
};
pub use owner_review::{Amendment, AmendmentProblem, ChangePreview, OwnerReview};
pub use principal::{Caller, CallerStanding, Grant, GrantLookup, Principal, PromptNews};
pub use recipe_approval::RecipeDecision;
pub use recipe_steps::LONGEST_RUN;
pub use repetition::RepetitionLimits;
pub use rule_files::RuleFilesInForce;
pub use vaults::{ServedVault, ServedVaults};
