//! Tools with their types erased, so that one list can hold them all: parse the arguments, run the tool, and keep what is
//! needed to finish its answer.

use lapidary_vault::{Change, ChangeSet, View};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    Context, NamedCall, OfferedTools, Reason, ReplyFacts, ServerCall,
    declaration::{Effect, ToolKind, WireFamily},
    example::Example,
    lazy_schemas::ToolSchemas,
    plan::{
        AnswerDraft, BatchPlan, CallBatch, CallSteps, CommitReport, OutsideAction, Planned, PlannedChange, RelayedCall,
        ToolAnswer,
    },
    quote::Prose,
    schema,
    spec::ToolSpec,
    tool_kinds::{
        ActionPlan, ActionTool, AgentTool, BatchTool, ForwardTool, ReadTool, RelayTool, StepsTool, ToolPlan, WriteTool,
    },
};

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
    /// The call of another server that these arguments stand for, if the tool forwards and they are valid. Asks no server.
    fn named_call(&self, _arguments: &Map<String, Value>) -> Option<NamedCall> {
        None
    }
    fn examples(&self) -> Vec<Example>;
}

/// Erasers: `&ReadEntry(FileRead)` in the list is all that a tool has to write.
pub struct ReadEntry<T>(pub T);
pub struct WriteEntry<T>(pub T);
pub struct BatchedEntry<T>(pub T);
pub struct AgentEntry<T>(pub T);
pub struct RelayEntry<T>(pub T);
pub struct ActionEntry<T>(pub T);
pub struct StepsEntry<T>(pub T);
pub struct ForwardEntry<T>(pub T);

impl<T: ReadTool> AnyTool for ReadEntry<T> {
    fn spec(&self) -> ToolSpec {
        let derive = || ToolSchemas::derived::<T::Input>(schema::output::<T::Output>(Effect::Read));
        ToolSpec {
            searches_by: T::SEARCHES_BY,
            texts: T::TEXTS,
            deadline: T::DEADLINE,
            takes_target: T::TAKES_TARGET,
            needs: T::NEEDS,
            is_command: T::IS_COMMAND,
            ..ToolSpec::new(T::DECLARATION, ToolKind::Read, Effect::Read, derive)
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
        // Before the blocks, which take the output apart.
        let facts = ReplyFacts::of(&output)?;
        Ok(Planned::Answer(ToolAnswer { text, output: facts, blocks: self.0.blocks(output) }))
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
            restores: T::RESTORES,
            is_separable: T::IS_SEPARABLE,
            in_batches: T::IN_BATCHES,
            keeps_recipes: T::KEEPS_RECIPES,
            texts: T::TEXTS,
            needs: T::NEEDS,
            deadline: T::DEADLINE,
            takes_target: T::TAKES_TARGET,
            dry_run: Some(T::DRY_RUN),
            expected_hash: Some(T::EXPECTED_HASH),
            only_looks: T::ONLY_LOOKS,
            ..ToolSpec::new(T::DECLARATION, ToolKind::Write, T::EFFECT, derive)
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
        // Asked now, because the draft takes the output.
        let (proposal, shows_diff) = (self.0.proposal(&output), self.0.shows_diff(&output));
        let draft = Box::new(WriteDraft { tool: &self.0, output });
        Ok(Planned::Change(PlannedChange { changes, dry_run, shows_diff, proposal, action: None, draft }))
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
        Ok(ToolAnswer { text, output: ReplyFacts::of(&output)?, blocks: Vec::new() })
    }
}

impl<T: ActionTool> AnyTool for ActionEntry<T> {
    fn spec(&self) -> ToolSpec {
        // Even one that only shows something may make it first.
        let derive = || ToolSchemas::derived::<T::Input>(schema::output::<T::Output>(T::EFFECT.max(Effect::Write)));
        ToolSpec { is_command: T::IS_COMMAND, ..ToolSpec::new(T::DECLARATION, ToolKind::Action, T::EFFECT, derive) }
    }

    fn plan(
        &'static self,
        context: &Context<'_>,
        view: Option<&View>,
        arguments: Map<String, Value>,
    ) -> Result<Planned, Reason> {
        let name = T::DECLARATION.name;
        let view = view.ok_or_else(|| bug!("`{name}` was called without a vault"))?;
        let ActionPlan { changes, action, output } = self.0.plan(context, view, parse(name, arguments)?)?;
        let draft = Box::new(ActionDraft { tool: &self.0, output });
        // The trait has no argument for a dry run, and what the app would do is not known here.
        let action = action.map(OutsideAction::App);
        Ok(Planned::Change(PlannedChange { changes, dry_run: false, shows_diff: false, proposal: None, action, draft }))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
    }
}

/// The answer of an action tool until the app has acted.
struct ActionDraft<T: ActionTool> {
    tool: &'static T,
    output: T::Output,
}

impl<T: ActionTool> AnswerDraft for ActionDraft<T> {
    fn finish(self: Box<Self>, learnt: &CommitReport<'_>) -> Result<ToolAnswer, Reason> {
        let Self { tool, mut output } = *self;
        tool.finish(&mut output, learnt.acted)?;
        let text = short_text(learnt.offered, T::DECLARATION.family, || tool.text(&output));
        Ok(ToolAnswer { text, output: ReplyFacts::of(&output)?, blocks: Vec::new() })
    }
}

impl<T: ForwardTool> AnyTool for ForwardEntry<T> {
    fn spec(&self) -> ToolSpec {
        let derive = || ToolSchemas::derived::<T::Input>(schema::output::<T::Output>(Effect::Read));
        ToolSpec::new(T::DECLARATION, ToolKind::Forward, T::EFFECT, derive)
    }

    fn plan(
        &'static self,
        context: &Context<'_>,
        _: Option<&View>,
        arguments: Map<String, Value>,
    ) -> Result<Planned, Reason> {
        let call = self.0.call(context, self.0.named(parse(T::DECLARATION.name, arguments)?))?;
        // The call itself goes to the executor, and the answer has to name it.
        let draft = Box::new(ForwardDraft { tool: &self.0, call: call.clone() });
        Ok(Planned::Change(PlannedChange {
            changes: ChangeSet::default(),
            // What the other server would do is not known here.
            dry_run: false,
            shows_diff: false,
            proposal: None,
            action: Some(OutsideAction::Call(call)),
            draft,
        }))
    }

    fn named_call(&self, arguments: &Map<String, Value>) -> Option<NamedCall> {
        // As with a relay: what is wrong with the arguments is said when the call is planned.
        parse(T::DECLARATION.name, arguments.clone()).ok().map(|input| self.0.named(input))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
    }
}

/// The answer of a tool that forwards, until the other server has answered.
struct ForwardDraft<T: ForwardTool> {
    tool: &'static T,
    call: ServerCall,
}

impl<T: ForwardTool> AnswerDraft for ForwardDraft<T> {
    fn finish(self: Box<Self>, learnt: &CommitReport<'_>) -> Result<ToolAnswer, Reason> {
        let result = learnt.called.ok_or_else(|| bug!("a call of another server was finished before it was made"))?;
        let output = self.tool.finish(&self.call, result)?;
        let text = short_text(learnt.offered, T::DECLARATION.family, || self.tool.text(&output));
        Ok(ToolAnswer { text, output: ReplyFacts::of(&output)?, blocks: self.tool.blocks(result) })
    }
}

impl<T: BatchTool> AnyTool for BatchedEntry<T> {
    fn spec(&self) -> ToolSpec {
        let derive = || ToolSchemas::derived::<T::Input>(schema::output::<T::Output>(T::EFFECT));
        let family = T::DECLARATION.family;
        ToolSpec {
            // The trait has no constants for these arguments; the family names them as for its other tools.
            dry_run: Some(family.dry_run()),
            expected_hash: Some(family.expected_hash()),
            ..ToolSpec::new(T::DECLARATION, ToolKind::Batch, T::EFFECT, derive)
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
            Ok(ToolAnswer { output: ReplyFacts::of(&output)?, text, blocks: Vec::new() })
        };
        Ok(Planned::Batch(CallBatch { steps, atomic, dry_run, finish: Box::new(finish) }))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
    }
}

impl<T: StepsTool> AnyTool for StepsEntry<T> {
    fn spec(&self) -> ToolSpec {
        let derive = || ToolSchemas::derived::<T::Input>(schema::output::<T::Output>(T::EFFECT));
        let family = T::DECLARATION.family;
        // One that cannot write is a tool that reads, for every rule and profile.
        let writes = T::EFFECT != Effect::Read;
        ToolSpec {
            dry_run: writes.then(|| family.dry_run()),
            expected_hash: writes.then(|| family.expected_hash()),
            needs: T::NEEDS,
            ..ToolSpec::new(T::DECLARATION, if writes { ToolKind::Steps } else { ToolKind::Read }, T::EFFECT, derive)
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
        let plan = self.0.steps(context, view, parse(name, arguments)?)?;
        let finish = |outcome, offered: OfferedTools<'_>| {
            let output = self.0.finish(outcome);
            let text = short_text(offered, T::DECLARATION.family, || self.0.text(&output));
            Ok(ToolAnswer { output: ReplyFacts::of(&output)?, text, blocks: Vec::new() })
        };
        Ok(Planned::Steps(CallSteps { plan, may_write: T::EFFECT != Effect::Read, finish: Box::new(finish) }))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
    }
}

impl<T: AgentTool> AnyTool for AgentEntry<T> {
    fn spec(&self) -> ToolSpec {
        let derive = || ToolSchemas::derived::<T::Input>(schema::output::<T::Output>(Effect::Read));
        ToolSpec { needs: T::NEEDS, ..ToolSpec::new(T::DECLARATION, ToolKind::Agent, Effect::Read, derive) }
    }

    fn plan(
        &'static self,
        context: &Context<'_>,
        _: Option<&View>,
        arguments: Map<String, Value>,
    ) -> Result<Planned, Reason> {
        let output = self.0.run(context, parse(T::DECLARATION.name, arguments)?)?;
        let text = short_text(OfferedTools::of(context.catalogue), T::DECLARATION.family, || self.0.text(&output));
        Ok(Planned::Answer(ToolAnswer { text, output: ReplyFacts::of(&output)?, blocks: Vec::new() }))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
    }
}

impl<T: RelayTool> AnyTool for RelayEntry<T> {
    fn spec(&self) -> ToolSpec {
        // It can do whatever the other tool does, so it declares the strongest effect.
        // The reply is the other tool's, whose schema is not known before the call.
        let derive = || ToolSchemas::derived::<T::Input>(schema::any_object());
        ToolSpec::new(T::DECLARATION, ToolKind::Relay, Effect::Destroy, derive)
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
        // Invalid arguments are reported when the call is planned; here they only mean that nothing is relayed.
        parse(T::DECLARATION.name, arguments.clone()).ok().map(|input| self.0.relay(input))
    }

    fn examples(&self) -> Vec<Example> {
        self.0.examples()
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
        // The message may repeat the arguments, so it counts as foreign text.
        problems: vec![crate::ArgumentProblem { at: String::new(), problem: Prose::of_others(error), nearest: None }],
    })
}
