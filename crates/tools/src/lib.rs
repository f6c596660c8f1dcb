//! Every tool the server offers, one file each, and the list of them. A tool is a pure function of a narrowed view:
//! it reads, or it plans; it never writes.

// First, so that `bug!` is known to all modules.
#[macro_use]
mod bug;

mod arguments;
mod catalogue;
mod context;
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
pub use context::{Cancel, Context, Gate, Proposal, ScanLimits, Spent, Walked};
pub use profile::{BUILT_IN_PROFILES, Profile, ProfileRules};
pub use prompts::{FilledPrompt, Prompt, PromptArgument, complete_prompt, fill_prompt, prompts, prompts_mark};
pub use reason::{
    ArgumentProblem, BlockCandidate, Candidates, Disk, HeadingCandidate, Interruption, Kind, Offered, Part, Reason,
    Refused, Wanted, WireCode, clipped,
};
pub use renamed::{Successor, successor};
pub use resources::{
    Completed, Contents, FIXED_RESOURCES, FileTemplate, FixedResource, Form, JSON, Resource, ResourceUri, VaultState,
    complete_path, read_file, read_tags, status,
};
pub use spec::{
    AnyTool, CORE_TOOLS, Declaration, Effect, Example, Family, Gives, Group, PathArgument, Planned, Role, Spec,
};
pub use tools::TOOLS;
pub use wire::{Rendered, clip_diff, render_answer, render_change, render_dry_run, render_refusal};
