//! Every tool the server offers, one file each, and the list of them. A tool is a pure function of a narrowed view:
//! it reads, or it plans; it never writes.

// First, so that `bug!` is known to all modules.
#[macro_use]
mod bug;

mod arguments;
mod catalogue;
mod context;
mod operations;
mod plan;
mod profile;
mod prompts;
mod reason;
mod renamed;
mod resources;
mod schema;
mod shared;
mod spec;
mod tools;
mod wire;

pub use arguments::{Checked, check_arguments};
pub use bug::{Bug, catch_panic, install_panic_hook};
pub use catalogue::{Catalogue, Entry, NoSuchTool, Off, Selection, SelectionError, Standing};
pub use context::{Cancel, Context, ScanLimits, Walked};
pub use operations::{
    CheckSubscriptions, CheckpointHistory, CompletePath, CompletePrompt, ExportCheckpoints, FillPrompt, ListPrompts,
    OpenedVaults, OperationDeclaration, Payload, PromptsSeen, ReadOperation, ReadResource, Subscribe, Subscription,
    VaultChoice, VaultView, WatchPrompts,
};
pub use plan::{
    Batch, BatchOutcome, BatchStep, Draft, FinishBatch, Learnt, Planned, PlannedChange, Proposal, ProposalStep,
    RelayedCall, StepAnswer, StepRefusal, ToolAnswer,
};
pub use profile::{BUILT_IN_PROFILES, Profile, ProfileRules};
pub use prompts::{FilledPrompt, Prompt, PromptArgument, prompts};
pub use reason::{
    ArgumentProblem, BlockCandidate, Candidates, Disk, HeadingCandidate, Interruption, Kind, Offered, Part, Reason,
    Refused, Wanted, WireCode, clipped,
};
pub use renamed::{Successor, successor};
pub use resources::{
    Completed, Contents, FIXED_RESOURCES, FileTemplate, FixedResource, Form, JSON, Resource, ResourceUri, VaultState,
};
pub use spec::{
    AnyTool, CORE_TOOLS, Declaration, Effect, Example, Family, Gives, Group, Needs, PathArgument, Role, Spec, ToolKind,
};
pub use tools::TOOLS;
pub use wire::{Rendered, clip_diff, refusal_data, render_answer, render_change, render_dry_run, render_refusal};
