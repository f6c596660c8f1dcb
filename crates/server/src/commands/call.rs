use std::{
    io::{self, IsTerminal, Read, Write},
    sync::Arc,
};

use lapidary_pipeline::{Answer, Caller, Pipeline, Question, Reply, Request, Verdict};
use serde_json::{Map, Value};

use super::{Done, Failure, SAVING, print_json, printable, progress, report};
use crate::{
    assemble::Assembled,
    cli::{Call, CallInput},
};

/// One call, through the same pipeline as a client's.
pub(super) fn run(call: &Call, assembled: &Assembled, out: &mut dyn Write) -> Result<Done, Failure> {
    let arguments = match &call.input {
        CallInput::Json(arguments) => arguments.clone(),
        CallInput::Stdin => read_arguments()?,
    };
    // The question goes to stderr and the answer comes from stdin, so both have to be a person's.
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    let caller = owner(&assembled.pipeline, can_ask);
    let request = Request { tool: call.tool.clone(), arguments, caller, answer: None, progress: None };
    let reply = complete(&assembled.pipeline, request);
    assembled.pipeline.save_indexes(SAVING);
    match reply {
        Reply::Done(rendered) => {
            print_json(out, &Value::Object(rendered.structured))?;
            Ok(if rendered.is_error { Done::Refused } else { Done::Well })
        }
        Reply::NoSuchTool { nearest } => {
            let hint = nearest.map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"));
            report::error(&format!("there is no tool `{}`{hint}", call.tool));
            Ok(Done::Refused)
        }
        Reply::Ask(_) => Ok(Done::Refused),
    }
}

/// A person at the command line. Whoever repeats themselves there has a reason.
pub(super) fn owner(pipeline: &Pipeline, can_ask: bool) -> Caller {
    let name = || "cli".to_owned();
    Caller { id: name(), known_as: name(), one_client: false, can_ask, profile: Arc::clone(pipeline.profile()) }
}

pub(super) fn complete(pipeline: &Pipeline, request: Request) -> Reply {
    let reply = progress::shown(pipeline, || pipeline.call_here(&request, &pipeline.cancel(&request)));
    let Reply::Ask(Question { message, state }) = reply else { return reply };
    eprint!("{}\nApply this change? [y/N] ", printable(&message));
    let mut line = String::new();
    let verdict = match io::stdin().read_line(&mut line) {
        Ok(_) if matches!(line.trim(), "y" | "Y" | "yes") => Verdict::Agreed,
        _ => Verdict::Declined,
    };
    let answered = Request { answer: Some(Answer { state, verdict }), ..request };
    pipeline.call_here(&answered, &pipeline.cancel(&answered))
}

fn read_arguments() -> Result<Map<String, Value>, Failure> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| Failure::Input(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| Failure::Input(format!("not a JSON object: {error}")))
}
