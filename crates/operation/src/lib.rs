//! What an operation is: the declaration of a tool and its erased form, the other read operations, the context of a call,
//! the values that planning gives, the check of arguments against schemas, the reasons for refusals with their hints, and
//! how answers look to a client. Also which tools a server and a profile offer, from a list that is passed in: nothing
//! here knows a concrete tool except by its name in a hint, and nothing here reads or edits a note.

// First, so that `bug!` is known to all modules.
#[macro_use]
mod bug;

mod app_bridge;
mod arguments;
mod attachment;
mod budget;
mod catalogue;
mod context;
mod declaration;
mod erased;
mod example;
mod facts;
pub mod fence;
mod json_text;
mod lazy_schemas;
mod listed;
mod other_servers;
mod owner_settings;
mod payload;
mod plan;
mod profile;
pub mod quote;
mod read_operation;
mod reason;
mod renamed;
mod rest_payload;
mod schema;
mod spec;
mod tool_kinds;
pub mod uri;
mod vault_shape;
mod web_access;
mod wire;

pub use app_bridge::{
    AppAction, AppBridge, AppCommand, AppFacts, AppFault, AppNeed, AppPeriodic, AppStatus, OmnisearchHit,
    OmnisearchMatch, PluginManifest,
};
pub use arguments::{CheckedArguments, TemplateFault, check_arguments, in_form_of, inserted_in_form_of};
// As the reason `attachment_unreadable` has it.
pub use attachment::{
    AttachmentAccess, AttachmentDecoder, BlockKind, ContentBlock, DecodeError, DecodeJob, DecodedAttachment,
    FilledFacts, FilledTemplate, NoDecoder, PICTURE_ENDINGS, PictureFacts, SOUND_ENDINGS, ScaledPicture,
};
pub use budget::{MemoryBudget, MemoryLimits};
pub use bug::{Bug, CaughtUnwind, catch_panic, install_panic_hook};
pub use catalogue::{
    Catalogue, CatalogueEntry, MissingSetting, NoSuchTool, OffReason, SelectionError, ToolSelection, ToolSet,
    ToolStanding,
};
pub use context::{
    Cancel, ChangeAuthor, ChangeOwnership, Context, RecipeAccess, RunnableRecipe, ShareReport, ToolLimits, WalkCost,
};
pub use declaration::{
    CORE_TOOLS, Declaration, Effect, PathArgument, PathRole, RestoreReach, ToolGroup, ToolKind, ToolNeeds, WireFamily,
};
pub use erased::{
    ActionEntry, AgentEntry, AnyTool, BatchedEntry, ForwardEntry, ReadEntry, RelayEntry, StepsEntry, WriteEntry,
};
pub use example::{Example, ExampleResult};
pub use facts::ReplyFacts;
pub use json_text::{JsonTextError, json_text};
pub use lapidary_vault::DecodeFault;
pub use other_servers::{
    AskedTools, CallResult, FailedCall, KnownServer, NamePattern, NamedCall, OtherServers, ServerCall, ServerFacts,
    ServerFault, ServerReply, ServerRequests, ServerTool, ServerToolStanding, ToolOffer, is_of_name,
};
pub use owner_settings::OwnerSettings;
pub use payload::{
    CheckpointHistory, CompletedValues, ContentForm, FileSubscription, FilledPrompt, ListedPrompt, NamedNotes,
    OwnerGuide, PromptArgument, PromptsSeen, ReadPayload, ResourceBody, SkillEntry, SkillFile, VaultState, VaultSurvey,
};
pub use plan::{
    AnswerDraft, BatchOutcome, BatchPlan, BatchStep, CallBatch, CallSteps, CommitReport, FinishBatch, FinishSteps,
    OutsideAction, Planned, PlannedChange, ProposalStep, RelayedCall, ShownProposal, StepAnswer, StepCalls,
    StepRefusal, StepsOutcome, StepsPlan, ToolAnswer,
};
pub use profile::{BUILT_IN_PROFILES, ProfileRules, ProfileView};
pub use read_operation::{OpenedVaults, OperationDeclaration, ReadOperation, VaultChoice, VaultView};
pub use reason::{
    ArchiveProblem, ArgumentProblem, BlockCandidate, DiskFault, FilePart, HeadingCandidate, Interruption, NameWanted,
    NearText, OfferedTools, PartCandidates, PathRefusal, Reason, ReasonKind, TaskCandidate, WireCode, clipped,
};
pub use renamed::{RENAMED_TOOLS, SuccessorTool, successor};
pub use rest_payload::{RestOpenNote, RestPayload, RestPeriodic, RestPlace};
pub use spec::ToolSpec;
pub use tool_kinds::{
    ActionPlan, ActionTool, AgentTool, BatchTool, ForwardTool, ReadTool, RelayTool, StepsTool, ToolPlan, WriteTool,
};
pub use vault_shape::{ShapeProblem, VaultShape};
pub use web_access::{AskedAddresses, FetchedPage, PageKind, WebAccess, WebFault, WebHit, WebRequests};
pub use wire::{
    RenderedReply, clip_diff, operation_error, refusal_data, render_answer, render_change, render_dry_run,
    render_refusal,
};
