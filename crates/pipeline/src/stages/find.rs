//! Stage 1: finds the operation.

use lapidary_tools::{CatalogueEntry, NoSuchTool, ProfileView, Reason, clipped};

use crate::{
    Operation,
    execution::{CallConclusion, Execution, FoundOperation, StageFlow},
};

/// Is there such an operation?
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    let invocation = execution.invocation;
    let found = match &invocation.operation {
        Operation::Read(operation) => FoundOperation::Read(&**operation),
        // By the name in the execution, not that of the invocation: after a relay it is another tool.
        Operation::Tool { .. } => match execution.profile().catalogue.find(&execution.operation_name) {
            // The owner may look at a change of a transport that waits, and approve it.
            Ok(entry) if entry.is_internal() && !invocation.is_internal && invocation.review.is_none() => {
                return Ok(StageFlow::End(CallConclusion::UnknownTool { nearest: None }));
            }
            Ok(entry) => FoundOperation::Tool(entry),
            Err(NoSuchTool { nearest }) => return Ok(StageFlow::End(CallConclusion::UnknownTool { nearest })),
        },
    };
    // The log has the declared name, however it was spelt, and refusals have the form of the tool that really runs.
    if let FoundOperation::Tool(entry) = found {
        execution.operation_name = entry.spec.name().to_owned();
        execution.family = entry.spec.declaration.family;
    }
    execution.found = Some(found);
    Ok(StageFlow::Next)
}

/// A tool that is named in the arguments of another: if it does not exist, that is the model's mistake.
pub(crate) fn named_tool<'p>(profile: &'p ProfileView, name: &str) -> Result<&'p CatalogueEntry, Reason> {
    match profile.catalogue.find(name) {
        Ok(entry) if entry.is_internal() => Err(unknown(name, None)),
        found => found.map_err(|missing| unknown(name, missing.nearest)),
    }
}

fn unknown(name: &str, nearest: Option<&'static str>) -> Reason {
    Reason::ToolUnknown { name: clipped(name), nearest: nearest.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use lapidary_tools::{ListPrompts, Reason, ReasonKind, WireFamily};
    use serde_json::json;

    use super::{named_tool, run};
    use crate::{
        Invocation, Outcome,
        execution::FoundOperation,
        testing::{StageVerdict, TestServer, verdict},
    };

    #[test]
    fn an_unknown_tool_is_the_clients_mistake_and_the_models_if_it_is_an_argument() {
        let server = TestServer::new(&[]);
        let outcome = server.call("file_raed", json!({}));
        assert!(matches!(outcome, Outcome::UnknownTool { nearest: Some("file_read") }));
        let reason = server.refused("call_tool", json!({ "name": "file_raed" }));
        assert_eq!(reason.kind(), ReasonKind::ToolUnknown);
        let log = server.log();
        assert_eq!(log[0]["tool"], "file_raed");
        assert_eq!((&log[1]["tool"], log[1].get("via")), (&json!("call_tool"), None));
    }

    #[test]
    fn dotted_names_are_known() {
        let server = TestServer::new(&[("a.md", "x\n")]);
        server.done("file.read", json!({ "file": "a.md" }));
        assert_eq!(server.log()[0]["tool"], "file_read");
    }

    #[test]
    fn a_name_is_found_in_either_spelling_and_nothing_else_is() {
        let server = TestServer::new(&[]);
        for (name, expected) in [
            ("file_read", StageVerdict::Next),
            ("file.read", StageVerdict::Next),
            ("file_raed", StageVerdict::UnknownTool),
            ("", StageVerdict::UnknownTool),
        ] {
            server.at("find", &server.invocation(name, json!({})), |execution| {
                let is_found = expected == StageVerdict::Next;
                assert_eq!(verdict(run(execution)), expected, "{name}");
                assert_eq!(execution.found.is_some(), is_found, "{name}");
                // The declared name goes into the log, and refusals get the form of the file tools.
                assert_eq!(execution.operation_name == "file_read", is_found, "{name}");
                assert_eq!(execution.family == WireFamily::Files, is_found, "{name}");
            });
        }
    }

    #[test]
    fn another_operation_needs_no_catalogue() {
        let server = TestServer::new(&[]);
        server.at("find", &Invocation::read(ListPrompts, server.principal()), |execution| {
            assert_eq!(verdict(run(execution)), StageVerdict::Next);
            assert!(matches!(execution.found, Some(FoundOperation::Read(_))));
        });
    }

    #[test]
    fn a_tool_in_the_arguments_of_another_is_refused_with_the_nearest_name() {
        let server = TestServer::new(&[]);
        let profile = &server.executor.grant().profile;
        assert_eq!(named_tool(profile, "file.read").map(|entry| entry.spec.name()).ok(), Some("file_read"));
        let Err(Reason::ToolUnknown { name, nearest }) = named_tool(profile, "file_raed") else { panic!("found") };
        assert_eq!((name.as_str(), nearest.as_deref()), ("file_raed", Some("file_read")));
    }
}
