//! Another server with two tools, for the tests of the stages.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use lapidary_tools::{
    CallResult, FailedCall, KnownServer, OtherServers, ServerCall, ServerFacts, ServerFault, ServerReply, ServerTool,
    ServerToolStanding, ToolOffer,
};
use serde_json::{Value, json};

/// Has one server, `garden`. The owner says of its tool `plant_count` that it only reads.
#[derive(Default)]
pub(crate) struct FakeServers {
    pub(crate) calls: Mutex<Vec<ServerCall>>,
    /// How often it was asked for its tools.
    pub(crate) listed: Mutex<usize>,
    /// What every call fails with.
    pub(crate) failure: Mutex<Option<FailedCall>>,
    /// In place of the usual reply.
    pub(crate) reply: Mutex<Option<ServerReply>>,
    /// In place of the description of `plant_count`.
    pub(crate) description: Mutex<Option<String>>,
    /// Whether its list of tools is not known until it is asked.
    pub(crate) is_unasked: bool,
}

impl FakeServers {
    fn offer(&self) -> Arc<ToolOffer> {
        let Value::Object(input) =
            json!({ "type": "object", "properties": { "bed": { "type": "string" } }, "required": ["bed"] })
        else {
            unreachable!("it is an object")
        };
        let tool = |name: &str, description: String, only_reads: bool| ServerTool {
            name: name.to_owned(),
            description,
            input: Some(input.clone()),
            standing: ServerToolStanding { only_reads, is_asked: !only_reads },
        };
        let said = self.description.lock().unwrap().clone();
        let counts = said.unwrap_or_else(|| "Counts plants in a bed.".to_owned());
        let tools = vec![tool("plant_count", counts, true), tool("plant_add", "Adds a plant.".to_owned(), false)];
        Arc::new(ToolOffer { tools, left_out: 0 })
    }
}

impl ServerFacts for FakeServers {
    fn servers(&self) -> Vec<KnownServer> {
        let offer = (!self.is_unasked).then(|| self.offer());
        vec![KnownServer { name: "garden".to_owned(), about: Some("beds and plants".to_owned()), offer }]
    }

    fn standing(&self, server: &str, tool: &str) -> Option<ServerToolStanding> {
        let only_reads = tool == "plant_count";
        (server == "garden").then_some(ServerToolStanding { only_reads, is_asked: !only_reads })
    }

    fn tools(&self, server: &str, _: Duration) -> Result<Arc<ToolOffer>, ServerFault> {
        *self.listed.lock().unwrap() += 1;
        match server {
            "garden" => Ok(self.offer()),
            _ => Err(ServerFault::Unknown { known: vec!["garden".to_owned()] }),
        }
    }
}

impl OtherServers for FakeServers {
    fn call(&self, call: &ServerCall, _: Duration, _: &dyn Fn() -> bool) -> CallResult {
        self.calls.lock().unwrap().push(call.clone());
        if let Some(failure) = self.failure.lock().unwrap().clone() {
            return Err(failure);
        }
        let bed = call.arguments["bed"].as_str().unwrap_or_default();
        let usual = || ServerReply { text: format!("12 plants in {bed}."), ..ServerReply::default() };
        Ok(self.reply.lock().unwrap().clone().unwrap_or_else(usual))
    }

    fn stop(&self) {}
}
