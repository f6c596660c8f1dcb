//! Every tool the server offers, one file each, the other read operations (resources, prompts, completion,
//! subscriptions), and the list of tools. A tool is a pure function of a narrowed view: it reads, or it plans; it never
//! writes. The definition of a tool belongs in `lapidary-operation`, shared code in `lapidary-toolkit`.
//!
//! The crates above use all of it through this one.

mod definitions;
mod operations;
mod prompts;
mod resources;
mod skills;
#[cfg(test)]
mod tests;
mod tools;

pub use lapidary_operation::{
    ActionEntry, AnswerDraft, AnyTool, AppAction, AppBridge, AppCommand, AppFacts, AppFault, AppNeed, AppPeriodic,
    AppStatus, ArgumentProblem, AskedAddresses, AskedTools, AttachmentAccess, AttachmentDecoder, BUILT_IN_PROFILES,
    BatchOutcome, BatchStep, BlockKind, CORE_TOOLS, CallBatch, CallResult, CallSteps, Cancel, Catalogue,
    CatalogueEntry, CaughtUnwind, ChangeAuthor, CheckedArguments, CheckpointHistory, CommitReport, CompletedValues,
    ContentBlock, ContentForm, Context, DecodeJob, DecodedAttachment, DiskFault, Effect, Example, ExampleResult,
    FailedCall, FetchedPage, FileSubscription, FilledPrompt, Interruption, KnownServer, ListedPrompt, MemoryBudget,
    MemoryLimits, MissingSetting, NamePattern, NamedNotes, NoDecoder, NoSuchTool, OffReason, OfferedTools,
    OmnisearchHit, OmnisearchMatch, OpenedVaults, OperationDeclaration, OtherServers, OutsideAction, OwnerGuide,
    OwnerSettings, PageKind, PathRefusal, PathRole, Planned, PlannedChange, PluginManifest, ProfileRules, ProfileView,
    PromptArgument, PromptsSeen, ProposalStep, ReadOperation, ReadPayload, Reason, ReasonKind, RecipeAccess,
    RelayedCall, RenderedReply, ReplyFacts, ResourceBody, RestOpenNote, RestPayload, RestPeriodic, RestPlace,
    RestoreReach, RunnableRecipe, SelectionError, ServerCall, ServerFacts, ServerFault, ServerReply, ServerRequests,
    ServerTool, ServerToolStanding, ShareReport, ShownProposal, SkillEntry, SkillFile, StepAnswer, StepCalls,
    StepRefusal, StepsOutcome, StepsPlan, ToolAnswer, ToolGroup, ToolKind, ToolLimits, ToolNeeds, ToolOffer,
    ToolSelection, ToolSpec, ToolStanding, VaultChoice, VaultShape, VaultState, VaultSurvey, VaultView, WalkCost,
    WebAccess, WebFault, WebHit, WebRequests, WireFamily, bug, catch_panic, check_arguments, clip_diff, clipped, fence,
    in_form_of, inserted_in_form_of, install_panic_hook, is_of_name, json_text, quote, refusal_data, render_answer,
    render_change, render_dry_run, render_refusal, uri,
};
pub use lapidary_toolkit::{checkpoint, lost_blocks, naming::is_bare_name, recipes, schema, taken_links, upkeep};
pub use operations::{
    CheckSubscriptions, CompletePath, CompletePrompt, ExportCheckpoints, FillPrompt, FindGuide, FindOpenNote,
    FindPeriodic, FindPlace, FindSkill, LegacyPatch, ListPrompts, ListSkills, NameNotes, PlainSearch, ReadGuides,
    ReadNote, ReadResource, RestTags, RunDql, RunLogic, ShareSettings, Subscribe, SurveyVault, WatchPrompts,
    document_map, file_version, legacy_map, legacy_part, parse_instruction, section_of,
};
pub use prompts::prompts;
pub use resources::{
    FIXED_RESOURCES, FileTemplate, FixedResource, JSON, ResourceUri, VaultResource, media_type, shown_capabilities,
};
pub use skills::{SERVER_SKILL, SkillOrigin, SkillUri, server_skill, skill_origin};
pub use tools::{
    NO_MEMORY, NO_RECIPES, NO_SCHEMAS, NO_SCRIPTS, NO_SERVERS, NO_WEB_PAGES, NO_WEB_SEARCH, TOOL_SET, TOOLS,
};
