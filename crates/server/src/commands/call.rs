//! `lapidary call`, and the calls that the other commands make.

use std::{
    io::{self, IsTerminal, Read},
    sync::Arc,
};

use lapidary_pipeline::{
    Caller, CallerStanding, ConsentAnswer, Executor, Invocation, Outcome, Principal, Question, Refusal, Verdict,
};
use lapidary_tools::{ChangeAuthor, Reason, quote::quoted};
use serde_json::{Map, Value};

use super::{
    CommandFailure, CommandOutcome, SAVING, command_hint::CommandHint, progress, refusal_words::refusal_words, report,
    screen::Screen,
};
use crate::{
    assemble::AssembledServer,
    cli::{CallArguments, CallInput},
};

/// One call, through the same executor as a client's.
pub(super) fn run(
    call: &CallArguments,
    assembled: &AssembledServer,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let arguments = match &call.input {
        CallInput::Json(arguments) => arguments.clone(),
        CallInput::Stdin => read_arguments()?,
    };
    // The same principal as for all commands; a question can only be asked on a terminal.
    let invocation = Invocation::tool(&call.tool, arguments, owner(&assembled.executor, can_be_asked()));
    let outcome = complete(&assembled.executor, invocation);
    // Or each command would index the vault anew.
    assembled.executor.save_indexes(SAVING);
    if let Outcome::UnknownTool { nearest } = outcome {
        return Err(unknown_tool(&call.tool, nearest));
    }
    let Some(rendered) = outcome.rendered() else { return Ok(CommandOutcome::Refused) };
    // The facts alone: the text beside them says the same for models.
    screen.json(&Value::Object(rendered.facts()))?;
    Ok(if rendered.is_error { CommandOutcome::Refused } else { CommandOutcome::Well })
}

/// Calls of tools for a command: by the owner, through the same executor as a client's.
#[derive(Clone, Copy)]
pub(super) struct OwnerCalls<'a> {
    pub(super) assembled: &'a AssembledServer,
    pub(super) hint: &'a CommandHint,
}

impl OwnerCalls<'_> {
    /// A command to copy that is about one of the vaults.
    pub(super) fn command_in(self, vault: &str, words: &str) -> String {
        match self.assembled.vaults.as_slice() {
            // With one vault, the options of this command already lead to it.
            several @ [_, _, ..] => match several.iter().find(|known| known.name == vault) {
                Some(found) => self.hint.in_vault(&found.path).command(words),
                None => self.hint.command(words),
            },
            _ => self.hint.command(words),
        }
    }

    /// That a change can be undone, and how.
    pub(super) fn way_back(self, change: &Value, words: &str) -> Option<String> {
        let id = change["checkpoint"].as_str()?;
        Some(format!("{words}: {}", self.hint.next_command(&format!("undo --id {id}"))?))
    }

    /// The answer of a tool. Arguments that are null are left out.
    pub(super) fn facts(self, tool: &str, arguments: Value) -> Result<Value, CommandFailure> {
        self.try_facts(tool, arguments).map_err(|refusal| self.failure(refusal))
    }

    /// How a refusal ends the command.
    pub(super) fn failure(self, refusal: CallRefusal) -> CommandFailure {
        match refusal {
            CallRefusal::Reason(reason) => CommandFailure::Refused(refusal_words(&reason, self)),
            CallRefusal::Tool(failure) => failure,
        }
    }

    /// The same, with the reason for the command to act upon.
    pub(super) fn try_facts(self, tool: &str, arguments: Value) -> Result<Value, CallRefusal> {
        let arguments: Map<String, Value> = match arguments {
            // Options that were not given are null here, which the schemas of the tools do not allow.
            Value::Object(arguments) => arguments.into_iter().filter(|(_, value)| !value.is_null()).collect(),
            _ => Map::new(),
        };
        let executor = &self.assembled.executor;
        let outcome = complete(executor, Invocation::tool(tool, arguments, owner(executor, can_be_asked())));
        match outcome {
            Outcome::Refused(Refusal { reason, .. }) => Err(CallRefusal::Reason(Box::new(reason))),
            Outcome::UnknownTool { nearest } => Err(CallRefusal::Tool(unknown_tool(tool, nearest))),
            outcome => Ok(outcome.rendered().map_or(Value::Null, |rendered| Value::Object(rendered.facts()))),
        }
    }
}

/// Why a call has no answer.
pub(super) enum CallRefusal {
    Reason(Box<Reason>),
    /// There is no such tool.
    Tool(CommandFailure),
}

fn unknown_tool(tool: &str, nearest: Option<&str>) -> CommandFailure {
    let hint = nearest
        .map_or_else(|| "`lapidary tools` lists them".to_owned(), |nearest| format!("did you mean `{nearest}`?"));
    CommandFailure::Refused(format!("there is no tool {}; {hint}", quoted(tool)))
}

/// The question goes to stderr and the answer comes from stdin, so both must be a terminal.
pub(super) fn can_be_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The principal of the command line: a person, who may repeat a call on purpose.
pub(super) fn owner(executor: &Executor, can_be_asked: bool) -> Principal {
    let name = || Principal::COMMAND_LINE.to_owned();
    let grant = Arc::clone(executor.grant());
    // Every user who can start this command can read its state, so all of them count as the owner.
    let caller = Caller::of(Principal::COMMAND_LINE);
    let (author, standing) = (ChangeAuthor::owner(name()), CallerStanding::default());
    Principal { id: name(), name: name(), grant, can_be_asked, caller, is_single_client: false, author, standing }
}

pub(super) fn complete(executor: &Executor, invocation: Invocation) -> Outcome {
    let mut invocation = invocation;
    loop {
        let outcome = progress::shown(executor, || executor.run(&invocation, &executor.cancel(&invocation)));
        // The executor does not wait for a person; it hands the question back and is called again with the answer. The call
        // itself may be asked about, and then what it would change.
        let Outcome::Asked(Question { message, state }) = outcome else { return outcome };
        report::question(&message);
        // Also if standard input ends: only a yes is a yes.
        let verdict = if report::confirmed("Allow this?") { Verdict::Agreed } else { Verdict::Declined };
        // The same call with the answer: `state` binds it to what was shown.
        invocation.answer = Some(ConsentAnswer { state, verdict });
    }
}

fn read_arguments() -> Result<Map<String, Value>, CommandFailure> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| CommandFailure::Input(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| CommandFailure::Input(format!("not a JSON object: {error}")))
}
