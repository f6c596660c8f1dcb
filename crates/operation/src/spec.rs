//! What a tool is: one declaration, typed input and output, and either an answer or a plan.

use std::sync::Arc;

use lapidary_vault::{Change, ChangeSet, View};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    Context, OfferedTools, Reason, ReasonKind, ReplyFacts,
    lazy_schemas::{LazySchemas, ToolSchemas},
    listed,
    plan::{
        AnswerDraft, BatchOutcome, BatchPlan, CallBatch, CommitReport, Planned, PlannedChange, ProposalStep,
        RelayedCall, ToolAnswer,
    },
    quote::Prose,
    schema,
};

/// Everything about a tool except its logic. Listing, authorization, approval, log, annotations and reference are
/// derived from it.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    pub name: &'static str,
    /// The file tools' spelling from before clients rejected dots.
    pub dotted: Option<&'static str>,
    pub title: &'static str,
    pub family: WireFamily,
    pub group: ToolGroup,
    /// Shown in `tools/list`; the others are found with `find_tool`.
    pub listed: bool,
    /// Doing it twice has the same effect as doing it once.
    pub idempotent: bool,
    pub paths: &'static [PathArgument],
    /// In addition to those that every tool of its kind may give.
    pub reasons: &'static [ReasonKind],
    /// Words that people use for it, for `find_tool` and for clients that search tools themselves.
    pub words: &'static str,
}

/// Tools that a client which loads tools on demand should have from the start.
pub const CORE_TOOLS: [&str; 4] = ["obsidian_get_note", "obsidian_search_notes", "find_tool", "call_tool"];

/// The wire form that a tool uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFamily {
    Obsidian,
    Files,
    Own,
    /// The pair that ChatGPT's connectors expect. Only offered if chosen: next to the others it has nothing to add.
    ChatGpt,
}

impl WireFamily {
    /// The name of its tools' argument for showing a change without making it.
    const fn dry_run(self) -> &'static str {
        match self {
            Self::Files => "dry_run",
            Self::Obsidian | Self::Own | Self::ChatGpt => "dryRun",
        }
    }

    /// The name of its tools' argument for the hash that a file is expected to have.
    const fn expected_hash(self) -> &'static str {
        match self {
            Self::Files => "expected_content_hash",
            Self::Obsidian | Self::Own | Self::ChatGpt => "expectedHash",
        }
    }
}

/// Tools that are switched on and off together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolGroup {
    /// File contents, present and past.
    Read,
    /// What exists, where it is and how it is linked.
    Vault,
    Edit,
    /// The tools themselves and the log of their calls.
    Agent,
    /// What only the Obsidian app can do.
    Skill,
}

impl ToolGroup {
    pub const ALL: [Self; 5] = [Self::Read, Self::Vault, Self::Edit, Self::Agent, Self::Skill];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Vault => "vault",
            Self::Edit => "edit",
            Self::Agent => "agent",
            Self::Skill => "skill",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    Read,
    Write,
    /// Bytes are lost afterwards, or may be: permanently, or through a tool that only the call names.
    Destroy,
}

impl Effect {
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destroy => "destroy",
        }
    }
}

/// An argument that names a file, and what happens to that file.
#[derive(Clone, Copy, Debug)]
pub struct PathArgument {
    /// JSON pointer into the arguments.
    pub pointer: &'static str,
    pub role: PathRole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRole {
    Read,
    Write,
    /// A folder that is searched.
    List,
}

/// How the executor handles a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// Reads a vault and answers.
    Read,
    /// Plans a change of a vault.
    Write,
    /// Lists calls of other tools, which are planned on top of each other and committed as one change.
    Batch,
    /// About the server itself: needs no vault.
    Agent,
    /// Names another tool that runs in its place.
    Relay,
}

impl ToolKind {
    pub fn needs_vault(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Batch)
    }

    /// Whether it may change a vault by itself. A relay does nothing itself; the call it leads to is judged separately.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Batch)
    }
}

/// What a tool needs in addition to its arguments and a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolNeeds {
    /// This many of the latest lines of the vault's log.
    pub log_lines: usize,
    /// The playbooks of all vaults, as far as the caller may see them.
    pub playbooks: bool,
}

/// A tool that only reads.
pub trait ReadTool: Send + Sync + 'static {
    const DECLARATION: Declaration;
    /// The arguments that hold the search terms; the others say where and how to search.
    const SEARCHES_BY: &[&str] = &[];
    /// JSON pointer to the time limit in milliseconds that a call may set, if it can.
    const DEADLINE: Option<&'static str> = None;
    /// Whether it addresses a note by a target, which has its own reasons.
    const TAKES_TARGET: bool = false;
    const NEEDS: ToolNeeds = ToolNeeds { log_lines: 0, playbooks: false };
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema;
    fn run(&self, context: &Context<'_>, view: &View, input: Self::Input) -> Result<Self::Output, Reason>;
    /// The same facts for a model, in as few bytes as possible; without this, the JSON itself is shown.
    fn text(&self, _output: &Self::Output) -> Option<String> {
        None
    }
    fn examples(&self) -> Vec<Example>;
}

/// A tool that changes the vault. It only returns the change; the pipeline judges, asks, commits and records it.
pub trait WriteTool: Send + Sync + 'static {
    const DECLARATION: Declaration;
    const EFFECT: Effect;
    /// If the user can be asked, they are, unless the owner turned that off.
    const ASKS_FIRST: bool = false;
    /// Whether each file of a change can be changed without the others: the owner may leave some out.
    const IS_SEPARABLE: bool = false;
    /// Whether `bulk_apply` may run it with others.
    const IN_BATCHES: bool = true;
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

/// A tool about the server itself, its tools and vaults: it needs no vault.
pub trait AgentTool: Send + Sync {
    const DECLARATION: Declaration;
    const NEEDS: ToolNeeds = ToolNeeds { log_lines: 0, playbooks: false };
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

/// The declaration with everything derived from the types.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    pub declaration: Declaration,
    pub kind: ToolKind,
    pub effect: Effect,
    pub asks_first: bool,
    pub is_separable: bool,
    pub in_batches: bool,
    pub searches_by: &'static [&'static str],
    /// JSON pointer to the time limit in milliseconds that a call may set.
    pub deadline: Option<&'static str>,
    pub takes_target: bool,
    /// The argument for showing a change without making it.
    pub dry_run: Option<&'static str>,
    /// The argument that names the hash that a file is expected to have.
    pub expected_hash: Option<&'static str>,
    /// An argument and the value that makes a call change nothing.
    pub only_looks: Option<(&'static str, &'static str)>,
    pub needs: ToolNeeds,
    schemas: LazySchemas,
}

impl ToolSpec {
    pub fn name(&self) -> &'static str {
        self.declaration.name
    }

    pub fn description(&self) -> &str {
        &self.schemas.get().description
    }

    pub fn input(&self) -> &Map<String, Value> {
        &self.schemas.get().input
    }

    /// Its input schema as the list shows it, shortened or `whole`.
    pub fn listed_input(&self, whole: bool) -> Map<String, Value> {
        listed::input(self.input(), whole)
    }

    /// Its output schema as the list shows it.
    pub fn listed_output(&self) -> Map<String, Value> {
        listed::output(self.output())
    }

    pub fn output(&self) -> &Map<String, Value> {
        &self.schemas.get().output
    }

    /// Whether it has an argument of this name.
    pub fn takes(&self, argument: &str) -> bool {
        self.input().get("properties").is_some_and(|properties| properties.get(argument).is_some())
    }

    /// Whether a call with these arguments changes nothing: the tool only reads, or was told to.
    pub fn only_looks(&self, arguments: &Map<String, Value>) -> bool {
        // The arguments need not be checked yet, so a value of another type means nothing.
        let told = |(argument, value): (&str, &str)| arguments.get(argument).and_then(Value::as_str) == Some(value);
        self.effect == Effect::Read || self.only_looks.is_some_and(told)
    }

    /// Uses the schemas of the reviewed definition instead of deriving them from the types.
    pub fn take_definition(&mut self, definition: &'static str) {
        self.schemas.definition = Some(definition);
    }

    /// Makes the caller choose one of several vaults.
    pub(crate) fn choose_vault(&mut self, vaults: &Arc<[String]>) {
        self.schemas.vaults = Some(Arc::clone(vaults));
    }

    /// All reasons that a call of this tool can be refused with.
    pub fn reasons(&self) -> Vec<ReasonKind> {
        let mut reasons = self.declaration.reasons.to_vec();
        reasons.extend(ReasonKind::EVERYWHERE);
        if self.kind.needs_vault() {
            reasons.extend(ReasonKind::IN_A_VAULT);
        }
        if !self.declaration.paths.is_empty() {
            reasons.extend(ReasonKind::WITH_A_PATH);
        }
        if self.declaration.paths.iter().any(|path| path.role != PathRole::List) {
            reasons.extend(ReasonKind::WITH_A_FILE);
        }
        if self.takes_target {
            reasons.extend(ReasonKind::WITH_A_TARGET);
        }
        if self.kind.writes() {
            reasons.extend(ReasonKind::WHEN_WRITING);
        }
        // The reference prints them, and its order must not depend on the order of declarations.
        reasons.sort_unstable();
        reasons
    }
}

/// A tool with its types erased, as the list holds it.
pub trait AnyTool: Send + Sync {
    fn spec(&self) -> ToolSpec;
    /// `view` is present whenever the spec says that the tool needs a vault.
    fn plan(
        &'static self,
        context: &Context<'_>,
        view: Option<&View>,
        arguments: Map<String, Value>,
    ) -> Result<Planned, Reason>;
    /// The call that these arguments stand for, if the tool relays and they are valid.
    fn relayed(&self, _arguments: &Map<String, Value>) -> Option<RelayedCall> {
        None
    }
    fn examples(&self) -> Vec<Example>;
}

/// A call on a tiny vault, before and after. All of them run as tests and are shown in the reference.
pub struct Example {
    pub says: &'static str,
    pub before: &'static [(&'static str, &'static str)],
    pub input: Value,
    pub gives: ExampleResult,
    /// All that is left of the files before, and what is new: those that are not listed are gone. Nothing, if the call
    /// changes nothing.
    pub after: &'static [(&'static str, &'static str)],
}

pub enum ExampleResult {
    /// Exactly this.
    Output(Value),
    /// At least this; the rest would obscure the point.
    Including(Value),
    Refusal(ReasonKind),
    /// This, on a vault where another call was made first.
    After {
        tool: &'static str,
        input: Value,
        gives: Box<ExampleResult>,
    },
}

impl ExampleResult {
    pub fn after(self, tool: &'static str, input: Value) -> Self {
        Self::After { tool, input, gives: Box::new(self) }
    }

    /// The result in the end.
    pub fn last(&self) -> &Self {
        match self {
            Self::After { gives, .. } => gives.last(),
            gives => gives,
        }
    }
}

/// Erasers: `&Read(FileRead)` in the list is all that a tool has to write.
pub struct ReadEntry<T>(pub T);
pub struct WriteEntry<T>(pub T);
pub struct BatchedEntry<T>(pub T);
pub struct AgentEntry<T>(pub T);
pub struct RelayEntry<T>(pub T);

impl<T: ReadTool> AnyTool for ReadEntry<T> {
    fn spec(&self) -> ToolSpec {
        let derive = || ToolSchemas::derived::<T::Input>(schema::output::<T::Output>(Effect::Read));
        ToolSpec {
            searches_by: T::SEARCHES_BY,
            deadline: T::DEADLINE,
            takes_target: T::TAKES_TARGET,
            needs: T::NEEDS,
            ..spec(T::DECLARATION, ToolKind::Read, Effect::Read, derive)
        }
    }

    fn plan(
        &'static self,
        context: &Context<'_>,
        view: Option<&View>,
        arguments: Map<String, Value>,
    ) -> Result<Planned, Reason> {
        let name = T::DECLARATION.name;
        let view = view.ok_or_else(|| bug!("`{name}` was called without a vault"))?;
        let output = self.0.run(context, view, parse(name, arguments)?)?;
        let text = short_text(OfferedTools::of(context.catalogue), T::DECLARATION.family, || self.0.text(&output));
        Ok(Planned::Answer(ToolAnswer { text, output: ReplyFacts::of(&output)? }))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
    }
}

impl<T: WriteTool> AnyTool for WriteEntry<T> {
    fn spec(&self) -> ToolSpec {
        let derive = || ToolSchemas::derived::<T::Input>(schema::output::<T::Output>(T::EFFECT));
        ToolSpec {
            asks_first: T::ASKS_FIRST,
            is_separable: T::IS_SEPARABLE,
            in_batches: T::IN_BATCHES,
            deadline: T::DEADLINE,
            takes_target: T::TAKES_TARGET,
            dry_run: Some(T::DRY_RUN),
            expected_hash: Some(T::EXPECTED_HASH),
            only_looks: T::ONLY_LOOKS,
            ..spec(T::DECLARATION, ToolKind::Write, T::EFFECT, derive)
        }
    }

    fn plan(
        &'static self,
        context: &Context<'_>,
        view: Option<&View>,
        arguments: Map<String, Value>,
    ) -> Result<Planned, Reason> {
        let name = T::DECLARATION.name;
        let view = view.ok_or_else(|| bug!("`{name}` was called without a vault"))?;
        let ToolPlan { changes, output, dry_run } = self.0.plan(context, view, parse(name, arguments)?)?;
        // The commit checks this anyway; a dry run and the other operations of a batch have to know earlier.
        for path in changes.changes.iter().filter_map(Change::makes) {
            view.may_be_made(path).map_err(|error| Reason::from_store(path, &error, true))?;
        }
        let (proposal, shows_diff) = (self.0.proposal(&output), self.0.shows_diff(&output));
        let draft = Box::new(WriteDraft { tool: &self.0, output });
        Ok(Planned::Change(PlannedChange { changes, dry_run, shows_diff, proposal, draft }))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
    }
}

/// The answer of a write tool until its change is made.
struct WriteDraft<T: WriteTool> {
    tool: &'static T,
    output: T::Output,
}

impl<T: WriteTool> AnswerDraft for WriteDraft<T> {
    fn finish(self: Box<Self>, learnt: &CommitReport<'_>) -> Result<ToolAnswer, Reason> {
        let Self { tool, mut output } = *self;
        // The commit knows the path in the trash or the token of a proposal; the plan did not.
        tool.finish(&mut output, learnt);
        let text = short_text(learnt.offered, T::DECLARATION.family, || tool.text(&output));
        Ok(ToolAnswer { text, output: ReplyFacts::of(&output)? })
    }
}

impl<T: BatchTool> AnyTool for BatchedEntry<T> {
    fn spec(&self) -> ToolSpec {
        let derive = || ToolSchemas::derived::<T::Input>(schema::output::<T::Output>(T::EFFECT));
        let family = T::DECLARATION.family;
        ToolSpec {
            dry_run: Some(family.dry_run()),
            expected_hash: Some(family.expected_hash()),
            ..spec(T::DECLARATION, ToolKind::Batch, T::EFFECT, derive)
        }
    }

    fn plan(
        &'static self,
        context: &Context<'_>,
        _: Option<&View>,
        arguments: Map<String, Value>,
    ) -> Result<Planned, Reason> {
        let BatchPlan { steps, atomic, dry_run } = self.0.batch(context, parse(T::DECLARATION.name, arguments)?)?;
        let finish = |outcome, offered: OfferedTools<'_>| {
            let output = self.0.finish(outcome, offered);
            let text = short_text(offered, T::DECLARATION.family, || self.0.text(&output));
            Ok(ToolAnswer { output: ReplyFacts::of(&output)?, text })
        };
        Ok(Planned::Batch(CallBatch { steps, atomic, dry_run, finish: Box::new(finish) }))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
    }
}

impl<T: AgentTool> AnyTool for AgentEntry<T> {
    fn spec(&self) -> ToolSpec {
        let derive = || ToolSchemas::derived::<T::Input>(schema::output::<T::Output>(Effect::Read));
        ToolSpec { needs: T::NEEDS, ..spec(T::DECLARATION, ToolKind::Agent, Effect::Read, derive) }
    }

    fn plan(
        &'static self,
        context: &Context<'_>,
        _: Option<&View>,
        arguments: Map<String, Value>,
    ) -> Result<Planned, Reason> {
        let output = self.0.run(context, parse(T::DECLARATION.name, arguments)?)?;
        let text = short_text(OfferedTools::of(context.catalogue), T::DECLARATION.family, || self.0.text(&output));
        Ok(Planned::Answer(ToolAnswer { text, output: ReplyFacts::of(&output)? }))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
    }
}

impl<T: RelayTool> AnyTool for RelayEntry<T> {
    fn spec(&self) -> ToolSpec {
        // It can do whatever the other tool does, so it declares the strongest effect.
        let derive = || ToolSchemas::derived::<T::Input>(schema::any_object());
        spec(T::DECLARATION, ToolKind::Relay, Effect::Destroy, derive)
    }

    fn plan(
        &'static self,
        _: &Context<'_>,
        _: Option<&View>,
        arguments: Map<String, Value>,
    ) -> Result<Planned, Reason> {
        Ok(Planned::Relay(self.0.relay(parse(T::DECLARATION.name, arguments)?)))
    }

    fn relayed(&self, arguments: &Map<String, Value>) -> Option<RelayedCall> {
        parse(T::DECLARATION.name, arguments.clone()).ok().map(|input| self.0.relay(input))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
    }
}

fn spec(declaration: Declaration, kind: ToolKind, effect: Effect, derive: fn() -> ToolSchemas) -> ToolSpec {
    ToolSpec {
        declaration,
        kind,
        effect,
        asks_first: false,
        is_separable: false,
        in_batches: false,
        searches_by: &[],
        deadline: None,
        takes_target: false,
        dry_run: None,
        expected_hash: None,
        only_looks: None,
        needs: ToolNeeds::default(),
        schemas: LazySchemas::new(derive),
    }
}

/// The text of an answer, unless the reader wants JSON there.
fn short_text(offered: OfferedTools<'_>, family: WireFamily, text: impl FnOnce() -> Option<String>) -> Option<String> {
    if offered.in_json(family) { None } else { text() }
}

/// The arguments were checked against the schema; a mismatch here means that the schema is too loose.
fn parse<I: DeserializeOwned>(tool: &str, arguments: Map<String, Value>) -> Result<I, Reason> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| Reason::InvalidArguments {
        tool: tool.to_owned(),
        problems: vec![crate::ArgumentProblem { at: String::new(), problem: Prose::of_others(error), nearest: None }],
    })
}
