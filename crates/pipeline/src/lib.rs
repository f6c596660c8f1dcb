//! The one path that every call takes: find, authorize, validate, narrow, plan, judge, ask, commit, record.

mod approvals;
mod audit;
mod call;
mod clock;
mod consent;
mod digest;
mod door;
mod lanes;
mod looking;
mod pipeline;
mod policy;
mod prompts;
mod repetition;
mod rules;
mod run;
mod vaults;

pub use approvals::{Decided, Pending};
pub use audit::{AUDIT_FILE, AuditLine};
pub use call::{Answer, Caller, Question, Reply, Request, Stage, Verdict};
pub use clock::Clock;
pub use looking::Followed;
pub use pipeline::{Limits, Pipeline, Setup};
pub use policy::{Decision, Rule, Rules};
pub use prompts::SeenPrompts;
pub use repetition::RepetitionLimits;
pub use rules::VaultRules;
pub use vaults::{ServedVault, Vaults};
