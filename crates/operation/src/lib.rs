//! What an operation is: the declaration of a tool and its erased form, the other read operations, the context of a call,
//! the values that planning gives, the check of arguments against schemas, the reasons for refusals with their hints, and
//! how answers look to a client. Also which tools a server and a profile offer, out of a list that is handed in: nothing
//! here knows a concrete tool but by its name in a hint, and nothing here reads or edits a note.

// First, so that `bug!` is known to all modules.
#[macro_use]
mod bug;

mod arguments;
mod budget;
mod catalogue;
mod context;
mod facts;
pub mod fence;
mod lazy_schemas;
mod listed;
mod payload;
mod plan;
mod profile;
pub mod quote;
mod read_operation;
mod reason;
mod renamed;
mod schema;
mod spec;
pub mod uri;
mod wire;

pub use arguments::{Checked, check_arguments};
pub use budget::{MemoryBudget, MemoryLimits};
pub use bug::{Bug, catch_panic, install_panic_hook};
pub use catalogue::{Catalogue, Entry, NoSuchTool, Off, Selection, SelectionError, Standing, ToolSet};
pub use context::{Author, Cancel, Context, ScanLimits, Walked};
pub use facts::Facts;
pub use payload::{
    CheckpointHistory, Completed, Contents, FilledPrompt, Form, Payload, Prompt, PromptArgument, PromptsSeen,
    Subscription, VaultState,
};
pub use plan::{
    Batch, BatchOutcome, BatchPlan, BatchStep, Draft, FinishBatch, Learnt, Planned, PlannedChange, Proposal,
    ProposalStep, RelayedCall, StepAnswer, StepRefusal, ToolAnswer,
};
pub use profile::{BUILT_IN_PROFILES, Profile, ProfileRules};
pub use read_operation::{OpenedVaults, OperationDeclaration, ReadOperation, VaultChoice, VaultView};
pub use reason::{
    ArgumentProblem, BlockCandidate, Candidates, Disk, HeadingCandidate, Interruption, Kind, NearText, Offered, Part,
    Reason, Refused, Wanted, WireCode, clipped,
};
pub use renamed::{RENAMED_TOOLS, Successor, successor};
pub use spec::{
    Agent, AgentTool, AnyTool, BatchTool, Batched, CORE_TOOLS, Declaration, Effect, Example, Family, Gives, Group,
    Needs, PathArgument, Plan, Read, ReadTool, Relay, RelayTool, Role, Spec, ToolKind, Write, WriteTool,
};
pub use wire::{
    Rendered, clip_diff, operation_error, refusal_data, render_answer, render_change, render_dry_run, render_refusal,
};
