//! The one path that every operation takes: find, authorize, check, admit, narrow, plan, judge, approve, commit, observe,
//! record. Each stage is a file in `stages`, and `execute` is the loop over them.

mod approval_rules;
mod approvals;
mod audit;
mod batch;
mod clock;
mod confirmation;
mod digest;
mod execute;
mod execution;
mod executor;
mod invocation;
mod lanes;
mod places;
mod principal;
mod repetition;
mod rule_files;
mod stages;
mod vaults;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod testing;

pub use approval_rules::{Decision, Rule, Rules};
pub use approvals::{Decided, Pending};
pub use audit::AUDIT_FILE;
pub use clock::Clock;
pub use executor::{Executor, Limits, Setup};
pub use invocation::{Answer, Invocation, Operation, Outcome, Progress, Question, Refusal, Verdict};
pub use principal::{Caller, CallerStanding, Grant, Principal};
pub use repetition::RepetitionLimits;
pub use rule_files::RuleFilesInForce;
pub use vaults::{ServedVault, Vaults};
