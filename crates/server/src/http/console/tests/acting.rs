//! Commands of the Obsidian app, and calls of other servers, that wait for the owner's answer.

use std::sync::Arc;

use axum::http::StatusCode;
use lapidary_fake_plugin::{FakePlugin, FakeSetup, FakeVersion, FaultKind, PluginFault};
use lapidary_pipeline::{CallerStanding, Invocation, Outcome, Principal};
use lapidary_tools::{ChangeAuthor, ReasonKind};
use serde_json::{Value, json};

use super::ConsoleTrial;

const SETTINGS: &str = ".obsidian/plugins/obsidian-local-rest-api/data.json";

/// A console on a vault whose app runs, with commands switched on.
async fn with_app() -> (ConsoleTrial, FakePlugin) {
    let plugin = FakePlugin::start(FakeSetup::new(FakeVersion::V5_1));
    plugin.set_commands(&[("workspace:close", "Close <b>current</b> tab"), ("app:reload", "Reload")]);
    let port = plugin.url().rsplit(':').next().unwrap().to_owned();
    let settings = json!({
        "apiKey": plugin.key(), "enableInsecureServer": true, "insecurePort": port.parse::<u16>().unwrap(), "port": 1,
    });
    let files = [(SETTINGS, settings.to_string()), ("a.md", "one\n".to_owned())];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let trial = ConsoleTrial::start(&files, &[], &[("OBSIDIAN_ENABLE_COMMANDS", "true")]).await;
    (trial, plugin)
}

impl ConsoleTrial {
    /// A client that cannot ask its user wants to run a command.
    async fn run_command(&self, id: &str) -> Outcome {
        self.call("obsidian_execute_command", json!({ "commandId": id })).await
    }

    async fn call(&self, tool: &str, arguments: Value) -> Outcome {
        let executor = &self.assembled.executor;
        let name = || Principal::STDIO.to_owned();
        let principal = Principal {
            id: name(),
            name: name(),
            grant: Arc::clone(executor.grant()),
            can_be_asked: false,
            caller: executor.process(),
            is_single_client: true,
            author: ChangeAuthor::single(name()),
            standing: CallerStanding::default(),
        };
        let Value::Object(arguments) = arguments else { unreachable!("it is one") };
        let invocation = Invocation::tool(tool, arguments, principal);
        let cancel = executor.cancel(&invocation);
        Arc::clone(executor).execute(invocation, cancel).await
    }

    /// The address of the only request that waits.
    async fn waiting(&self) -> String {
        let list = self.get("/console/").await;
        let (_, rest) = list.body.split_once("href=\"/console/approvals/").unwrap_or_else(|| panic!("{}", list.body));
        format!("/console/approvals/{}", rest.split('"').next().unwrap())
    }
}

fn runs(plugin: &FakePlugin) -> Vec<String> {
    let requests = plugin.take_requests().into_iter().filter(|request| request.method == "POST");
    requests.map(|request| request.path).collect()
}

#[track_caller]
fn assert_refused(outcome: Outcome, kind: ReasonKind) {
    let Outcome::Refused(refusal) = outcome else { panic!("it is not refused") };
    assert_eq!(refusal.reason.kind(), kind);
}

#[tokio::test]
async fn a_command_is_shown_by_its_name_and_run_once_when_it_is_approved() {
    let (trial, plugin) = with_app().await;
    assert_refused(trial.run_command("workspace:close").await, ReasonKind::ApprovalPending);
    let address = trial.waiting().await;
    let page = trial.get(&address).await;
    assert_eq!(page.status, StatusCode::OK);
    // As text, whatever it is called.
    page.has("Close &lt;b&gt;current&lt;/b&gt; tab");
    page.has("<code>workspace:close</code>");
    page.has("cannot be undone here");
    page.lacks("<b>current");
    page.lacks("Show it with my edits");
    assert_eq!(runs(&plugin), Vec::<String>::new(), "to look at it runs nothing");
    // Another digest than that of the page approves nothing.
    let stale = trial.post(&address, &[("decision", "approve"), ("digest", "sha256:0")]).await;
    assert_eq!(stale.status, StatusCode::CONFLICT);
    assert_eq!(runs(&plugin), Vec::<String>::new());
    let approved = [("decision", "approve"), ("digest", &page.field("digest"))];
    let answer = trial.post(&address, &approved).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    answer.has("Obsidian has done it");
    assert_eq!(trial.post(&address, &approved).await.status, StatusCode::NOT_FOUND, "an answer counts once");
    let told = trial.run_command("workspace:close").await.rendered().unwrap();
    assert_eq!((told.is_error, told.facts().get("executed")), (false, Some(&json!(true))));
    assert_eq!(runs(&plugin), ["/commands/workspace:close/"]);
    assert_refused(trial.run_command("workspace:close").await, ReasonKind::ApprovalPending);
}

#[tokio::test]
async fn a_command_that_is_rejected_is_not_run_and_the_client_hears_why() {
    let (trial, plugin) = with_app().await;
    assert_refused(trial.run_command("app:reload").await, ReasonKind::ApprovalPending);
    let address = trial.waiting().await;
    let answer = trial.post(&address, &[("decision", "reject"), ("words", "not now")]).await;
    answer.has("Rejected");
    let told = trial.run_command("app:reload").await.rendered().unwrap();
    assert!(told.is_error && told.to_json().to_string().contains("not now"), "{}", told.to_json());
    assert_eq!(runs(&plugin), Vec::<String>::new());
}

#[tokio::test]
async fn an_approved_command_that_fails_is_not_called_done() {
    let (trial, plugin) = with_app().await;
    assert_refused(trial.run_command("workspace:close").await, ReasonKind::ApprovalPending);
    let address = trial.waiting().await;
    let digest = trial.get(&address).await.field("digest");
    plugin.fail(PluginFault::new(FaultKind::Unanswered).of("POST", "/commands/"));
    let answer = trial.post(&address, &[("decision", "approve"), ("digest", &digest)]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    answer.has("It failed");
    assert_eq!(runs(&plugin).len(), 1, "what may have run is not run again");
    // The command has gone since.
    let (trial, plugin) = with_app().await;
    assert_refused(trial.run_command("workspace:close").await, ReasonKind::ApprovalPending);
    plugin.set_commands(&[]);
    let page = trial.get(&trial.waiting().await).await;
    page.has("It cannot be made any more");
    assert_eq!(runs(&plugin), Vec::<String>::new());
}

/// A server with one tool, as a script: it only has to say what it offers.
const SERVER: &str = r#"
[mcp.servers.shop]
command = "/bin/sh"
args = ["-c", """
while read -r line; do case "$line" in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}';;
*'"tools/list"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"buy","inputSchema":{"type":"object"}}]}}';;
esac; done
"""]
"#;

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "makes the vault of a test")]
async fn a_call_of_another_server_is_shown_with_all_that_is_sent() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("home/.config/lapidary");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("lapidary.toml"), SERVER).unwrap();
    std::fs::create_dir_all(place.path().join("Notes")).unwrap();
    let trial = ConsoleTrial::open(place, &[], &[]).await;
    let call = json!({ "server": "shop", "tool": "buy", "arguments": { "item": "<b>slates</b>", "count": 1400 } });
    assert_refused(trial.call("mcp_call", call).await, ReasonKind::ApprovalPending);
    let page = trial.get(&trial.waiting().await).await;
    assert_eq!(page.status, StatusCode::OK);
    page.has("<code>buy</code>");
    page.has("<code>shop</code>");
    page.has("&lt;b&gt;slates&lt;/b&gt;");
    page.has("1400");
    page.lacks("<b>slates");
    page.has("cannot be undone here");
}
