//! `lapidary call`: makes one call.

use std::{
    io::{self, IsTerminal, Read, Write},
    sync::Arc,
};

use lapidary_pipeline::{
    Caller, CallerStanding, ConsentAnswer, Executor, Invocation, Outcome, Principal, Question, Verdict,
};
use lapidary_tools::{ChangeAuthor, quote::quoted};
use serde_json::{Map, Value};

use super::{CommandFailure, CommandOutcome, SAVING, print_json, printable, progress, report};
use crate::{
    assemble::AssembledServer,
    cli::{CallArguments, CallInput},
};

/// One call, through the same executor as a client's.
pub(super) fn run(
    call: &CallArguments,
    assembled: &AssembledServer,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let arguments = match &call.input {
        CallInput::Json(arguments) => arguments.clone(),
        CallInput::Stdin => read_arguments()?,
    };
    let invocation = Invocation::tool(&call.tool, arguments, owner(&assembled.executor, can_be_asked()));
    let outcome = complete(&assembled.executor, invocation);
    // Or each command would index the vault anew.
    assembled.executor.save_indexes(SAVING);
    if let Outcome::UnknownTool { nearest } = outcome {
        let hint = nearest.map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"));
        report::error(&format!("there is no tool {}{hint}", quoted(&call.tool)));
        return Ok(CommandOutcome::Refused);
    }
    let Some(rendered) = outcome.rendered() else { return Ok(CommandOutcome::Refused) };
    print_json(out, &Value::Object(rendered.facts()))?;
    Ok(if rendered.is_error { CommandOutcome::Refused } else { CommandOutcome::Well })
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
    let (author, standing) = (ChangeAuthor::single(name()), CallerStanding::default());
    Principal { id: name(), name: name(), grant, can_be_asked, caller, is_single_client: false, author, standing }
}

pub(super) fn complete(executor: &Executor, invocation: Invocation) -> Outcome {
    let outcome = progress::shown(executor, || executor.run(&invocation, &executor.cancel(&invocation)));
    let Outcome::Asked(Question { message, state }) = outcome else { return outcome };
    eprint!("{}\nApply this change? [y/N] ", printable(&message));
    let mut line = String::new();
    let verdict = match io::stdin().read_line(&mut line) {
        Ok(_) if matches!(line.trim(), "y" | "Y" | "yes") => Verdict::Agreed,
        // Also if standard input ends: only a yes is a yes.
        _ => Verdict::Declined,
    };
    let answered = Invocation { answer: Some(ConsentAnswer { state, verdict }), ..invocation };
    executor.run(&answered, &executor.cancel(&answered))
}

fn read_arguments() -> Result<Map<String, Value>, CommandFailure> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| CommandFailure::Input(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| CommandFailure::Input(format!("not a JSON object: {error}")))
}
