//! The kinds of tools as traits: what the author of a tool writes, with typed input and output, and either an answer or a plan.

use lapidary_recipe::TextArgument;
use lapidary_vault::{ChangeSet, View};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    AppAction, AppFault, ContentBlock, Context, OfferedTools, Reason,
    declaration::{Declaration, Effect, RestoreReach, ToolNeeds},
    example::Example,
    other_servers::{CallResult, NamedCall, ServerCall},
    plan::{BatchOutcome, BatchPlan, CommitReport, ProposalStep, RelayedCall, StepsOutcome, StepsPlan},
};

/// A tool that only reads.
pub trait ReadTool: Send + Sync + 'static {
    const DECLARATION: Declaration;
    /// The arguments that hold the search terms; the others say where and how to search.
    const SEARCHES_BY: &[&str] = &[];
    /// Arguments that are read as a language, such as queries: a recipe writes values into them so that they stay values.
    const TEXTS: &'static [TextArgument] = &[];
    /// JSON pointer to the time limit in milliseconds that a call may set, if it can.
    const DEADLINE: Option<&'static str> = None;
    /// Whether it addresses a note by a target, which has its own reasons.
    const TAKES_TARGET: bool = false;
    const NEEDS: ToolNeeds = ToolNeeds::NONE;
    /// Whether it belongs to the command palette of the app, which the owner has to open.
    const IS_COMMAND: bool = false;
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema;
    fn run(&self, context: &Context<'_>, view: &View, input: Self::Input) -> Result<Self::Output, Reason>;
    /// The same facts for a model, in as few bytes as possible; without this, the JSON itself is shown.
    fn text(&self, _output: &Self::Output) -> Option<String> {
        None
    }
    /// Pictures and sounds that are sent beside the facts, which are serialised by then.
    fn blocks(&self, _output: Self::Output) -> Vec<ContentBlock> {
        Vec::new()
    }
    fn examples(&self) -> Vec<Example>;
}

/// A tool that changes the vault. It only returns the change; the pipeline judges, asks, commits and records it.
pub trait WriteTool: Send + Sync + 'static {
    const DECLARATION: Declaration;
    const EFFECT: Effect;
    /// If the user can be asked, they are, unless the owner turned that off.
    const ASKS_FIRST: bool = false;
    /// Which earlier changes it takes back. Going back is never held up by rules about what notes should look like.
    const RESTORES: RestoreReach = RestoreReach::Nothing;
    /// Whether each file of a change can be changed without the others: the owner may leave some out.
    const IS_SEPARABLE: bool = false;
    /// Whether `bulk_apply` may run it with others.
    const IN_BATCHES: bool = true;
    /// Whether it makes or changes recipes: a person has to see each, whatever the rules say.
    const KEEPS_RECIPES: bool = false;
    const NEEDS: ToolNeeds = ToolNeeds::NONE;
    /// Arguments that are read as a language, such as patterns: a recipe writes values into them so that they stay values.
    const TEXTS: &'static [TextArgument] = &[];
    /// JSON pointer to the time limit in milliseconds that a call may set, if it can.
    const DEADLINE: Option<&'static str> = None;
    /// Whether it addresses a note by a target, which has its own reasons.
    const TAKES_TARGET: bool = false;
    /// The argument for showing a change without making it.
    const DRY_RUN: &'static str = Self::DECLARATION.family.dry_run();
    /// The argument that names the hash that a file is expected to have.
    const EXPECTED_HASH: &'static str = Self::DECLARATION.family.expected_hash();
    /// An argument and the value that makes a call change nothing.
    const ONLY_LOOKS: Option<(&'static str, &'static str)> = None;
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema + 'static;
    fn plan(&self, context: &Context<'_>, view: &View, input: Self::Input) -> Result<ToolPlan<Self::Output>, Reason>;
    /// The proposal that the plan makes, or the earlier one that it carries out.
    fn proposal(&self, _output: &Self::Output) -> Option<ProposalStep> {
        None
    }
    /// Whether a dry run answers with the full diff; not if the answer already shows enough.
    fn shows_diff(&self, _output: &Self::Output) -> bool {
        true
    }
    /// Completes the answer with what was not known during planning.
    fn finish(&self, _output: &mut Self::Output, _learnt: &CommitReport<'_>) {}
    fn text(&self, _output: &Self::Output) -> Option<String> {
        None
    }
    fn examples(&self) -> Vec<Example>;
}

/// The change a write tool wants and the answer it would give.
pub struct ToolPlan<O> {
    pub changes: ChangeSet,
    pub output: O,
    pub dry_run: bool,
}

/// A tool that makes the Obsidian app do something. It only says what; the pipeline judges, asks, acts and records it.
pub trait ActionTool: Send + Sync + 'static {
    const DECLARATION: Declaration;
    /// The strongest of its effects. Opening a note reads.
    const EFFECT: Effect;
    /// Whether it belongs to the command palette of the app, which the owner has to open.
    const IS_COMMAND: bool = false;
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema + 'static;
    fn plan(&self, context: &Context<'_>, view: &View, input: Self::Input) -> Result<ActionPlan<Self::Output>, Reason>;
    /// Completes the answer with what became of the action; none was tried if the plan had none.
    fn finish(&self, output: &mut Self::Output, acted: Option<Result<(), AppFault>>) -> Result<(), Reason>;
    fn text(&self, _output: &Self::Output) -> Option<String> {
        None
    }
    fn examples(&self) -> Vec<Example>;
}

/// What an action tool wants, and the answer it would give.
pub struct ActionPlan<O> {
    /// Made before the action.
    pub changes: ChangeSet,
    /// Without one, the answer is all.
    pub action: Option<AppAction>,
    pub output: O,
}

/// A tool that calls one of another server. It only says which; the pipeline judges, asks, calls and records it.
pub trait ForwardTool: Send + Sync + 'static {
    const DECLARATION: Declaration;
    /// The strongest of its effects: what the owner says of a tool decides about a call.
    const EFFECT: Effect;
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema;
    /// Which call is wanted, by its arguments alone.
    fn named(&self, input: Self::Input) -> NamedCall;
    fn call(&self, context: &Context<'_>, named: NamedCall) -> Result<ServerCall, Reason>;
    /// The answer, once the other server has answered.
    fn finish(&self, call: &ServerCall, result: &CallResult) -> Result<Self::Output, Reason>;
    fn text(&self, output: &Self::Output) -> Option<String>;
    /// Pictures and sounds that are sent beside the facts.
    fn blocks(&self, result: &CallResult) -> Vec<ContentBlock>;
    fn examples(&self) -> Vec<Example>;
}

/// A tool that runs a batch of others. It only lists the calls; the executor plans them on top of each other.
pub trait BatchTool: Send + Sync + 'static {
    const DECLARATION: Declaration;
    const EFFECT: Effect;
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema;
    fn batch(&self, context: &Context<'_>, input: Self::Input) -> Result<BatchPlan, Reason>;
    /// The answer, built from the result of each call.
    fn finish(&self, outcome: BatchOutcome, offered: OfferedTools<'_>) -> Self::Output;
    fn text(&self, _output: &Self::Output) -> Option<String> {
        None
    }
    fn examples(&self) -> Vec<Example>;
}

/// A tool that runs calls of others, with templates over the results of earlier ones. It only says which; the executor plans
/// them on top of each other.
pub trait StepsTool: Send + Sync + 'static {
    const DECLARATION: Declaration;
    /// The strongest that its calls can have.
    const EFFECT: Effect;
    const NEEDS: ToolNeeds = ToolNeeds::NONE;
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema;
    fn steps(&self, context: &Context<'_>, view: &View, input: Self::Input) -> Result<StepsPlan, Reason>;
    /// The answer, once all calls are planned.
    fn finish(&self, outcome: StepsOutcome) -> Self::Output;
    fn text(&self, _output: &Self::Output) -> Option<String> {
        None
    }
    fn examples(&self) -> Vec<Example>;
}

/// A tool about the server itself, its tools and vaults: it needs no vault.
pub trait AgentTool: Send + Sync {
    const DECLARATION: Declaration;
    const NEEDS: ToolNeeds = ToolNeeds::NONE;
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema;
    fn run(&self, context: &Context<'_>, input: Self::Input) -> Result<Self::Output, Reason>;
    fn text(&self, output: &Self::Output) -> Option<String>;
    fn examples(&self) -> Vec<Example>;
}

/// A tool that stands for another: the executor starts over with that one.
pub trait RelayTool: Send + Sync {
    const DECLARATION: Declaration;
    type Input: DeserializeOwned + JsonSchema;
    fn relay(&self, input: Self::Input) -> RelayedCall;
    fn examples(&self) -> Vec<Example>;
}
