//! Stage 1: finds the operation.

use lapidary_tools::{CatalogueEntry, NoSuchTool, ProfileView, Reason, clipped};

use crate::{
    Operation,
    execution::{CallConclusion, Execution, FoundOperation, StageFlow},
};

/// Is there such an operation?
pub(crate) fn run(execution: &mut Execution<'_>) -> Result<StageFlow, Reason> {
    let found = match &execution.invocation.operation {
        Operation::Read(operation) => FoundOperation::Read(&**operation),
        Operation::Tool { .. } => match execution.profile().catalogue.find(&execution.operation_name) {
            Ok(entry) => FoundOperation::Tool(entry),
            Err(NoSuchTool { nearest }) => return Ok(StageFlow::End(CallConclusion::UnknownTool { nearest })),
        },
    };
    if let FoundOperation::Tool(entry) = found {
        execution.operation_name = entry.spec.name().to_owned();
        execution.family = entry.spec.declaration.family;
    }
    execution.found = Some(found);
    Ok(StageFlow::Next)
}

/// A tool that is named in the arguments of another: if it does not exist, that is the model's mistake.
pub(crate) fn named_tool<'p>(profile: &'p ProfileView, name: &str) -> Result<&'p CatalogueEntry, Reason> {
    profile.catalogue.find(name).map_err(|missing| unknown(name, missing.nearest))
}

fn unknown(name: &str, nearest: Option<&'static str>) -> Reason {
    Reason::ToolUnknown { name: clipped(name), nearest: nearest.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use lapidary_tools::ReasonKind;
    use serde_json::json;

    use crate::{Outcome, testing::TestServer};

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
}
