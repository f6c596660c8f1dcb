//! Two principals with different folders and vaults on one server see two different servers.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::{
    harness::Vault,
    http::{HttpServer, modern},
};

const ADA: (&str, &str) = ("Authorization", "Bearer a-token-for-ada-123");
const BEN: (&str, &str) = ("Authorization", "Bearer a-token-for-ben-123");
const EVE: (&str, &str) = ("Authorization", "Bearer a-token-for-eve-123");

/// Ada has the folder `Ada` of both vaults, Ben only the vault `Home`, Eve everything.
struct House {
    _home: Vault,
    work: Vault,
    server: HttpServer,
}

fn house() -> House {
    let home = Vault::new(&[
        ("Ada/plan.md", b"# Plan\n\nlantern of Ada #gem\n"),
        ("Ben/plan.md", b"# Plan\n\nlantern of Ben #gem\n"),
        ("Prompts/ask.md", b"---\ntags: [mcp-tools-prompt]\n---\nAsk\n"),
    ]);
    let work = Vault::new(&[("Ada/job.md", b"lantern at work\n"), ("Other/job.md", b"lantern of others\n")]);
    let config = home.path().with_file_name("lapidary.toml");
    let text = format!(
        "[vaults.Home]\npath = {:?}\n[vaults.Cellar]\npath = {:?}\n\
         [tokens.ada]\ntoken = \"a-token-for-ada-123\"\nread_paths = [\"Ada\"]\n\
         [tokens.ben]\ntoken = \"a-token-for-ben-123\"\nvaults = [\"Home\"]\nread_only = true\n\
         [tokens.eve]\ntoken = \"a-token-for-eve-123\"\n",
        home.path(),
        work.path()
    );
    std::fs::write(&config, text).unwrap();
    let mut command = home.command();
    command.env("LAPIDARY_CONFIG", config).args(["--tools", "all", "--http", "127.0.0.1:0"]);
    let server = HttpServer::start_command(command);
    House { _home: home, work, server }
}

impl House {
    fn ask(&self, who: (&str, &str), method: &str, params: impl Into<Value>) -> Value {
        let session = self.server.session_with(&[who]);
        self.server.ask_in(&session, &[who], method, &params.into())
    }

    fn call(&self, who: (&str, &str), tool: &str, arguments: impl Into<Value>) -> Value {
        self.ask(who, "tools/call", json!({ "name": tool, "arguments": arguments.into() }))["result"].clone()
    }
}

#[test]
fn each_sees_its_own_folders_in_every_operation() {
    let house = house();
    let read = |who, vault: &str, file: &str| {
        house.call(who, "file_read", json!({ "vault": vault, "file": file }))["isError"] != true
    };
    assert!(read(ADA, "Home", "Ada/plan.md") && read(ADA, "Cellar", "Ada/job.md"));
    assert!(!read(ADA, "Home", "Ben/plan.md") && !read(ADA, "Cellar", "Other/job.md"));
    assert!(read(BEN, "Home", "Ada/plan.md") && read(BEN, "Home", "Ben/plan.md"));
    assert!(read(EVE, "Cellar", "Other/job.md"));
    let search = json!({ "vault": "Home", "query": "lantern" });
    for (who, hits) in [(ADA, 1), (BEN, 2), (EVE, 2), (ADA, 1)] {
        let found = house.call(who, "search_content", search.clone());
        assert_eq!(found["structuredContent"]["hits"].as_array().unwrap().len(), hits, "{found}");
        let ranked = json!({ "vault": "Home", "mode": "omnisearch", "query": "lantern" });
        let found = house.call(who, "obsidian_search_notes", ranked);
        assert_eq!(found["structuredContent"]["result"]["totalCount"], hits, "{found}");
        let tags = house.ask(who, "resources/read", json!({ "uri": "obsidian://tags?vault=Home" }));
        assert!(tags.to_string().contains(&format!("\\\"count\\\": {hits}")), "{tags}");
    }
    let prompts = |who| house.ask(who, "prompts/list", json!({}))["result"]["prompts"].as_array().unwrap().len();
    assert_eq!((prompts(ADA), prompts(BEN), prompts(EVE)), (0, 1, 1));
}

#[test]
fn no_principal_changes_files_outside_its_grant() {
    let house = house();
    let create = |who, vault: &str, file: &str| {
        house.call(who, "file_create", json!({ "vault": vault, "file": file, "content": "x\n" }))
    };
    assert!(create(ADA, "Cellar", "Ada/new.md")["isError"] != true);
    // Whether or not there is such a file.
    let refused = create(ADA, "Cellar", "Other/job.md");
    assert_eq!(refused["structuredContent"]["details"]["subreason"], "outside_write_paths", "{refused}");
    assert_eq!(refused["isError"], create(ADA, "Cellar", "Other/none.md")["isError"]);
    assert_eq!(create(BEN, "Home", "new.md")["isError"], true);
    assert_eq!(house.work.read("Other/job.md"), b"lantern of others\n");
}

#[test]
fn a_vault_that_is_not_granted_does_not_exist() {
    let house = house();
    for (method, params) in [
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "obsidian://status" })),
        ("tools/call", json!({ "name": "vault_list", "arguments": {} })),
        ("tools/call", json!({ "name": "find_tool", "arguments": { "query": "read a file" } })),
        ("tools/call", json!({ "name": "file_read", "arguments": { "file": "none.md" } })),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/resource", "uri": "obsidian://vault/{+path}{?vault}" },
                "argument": { "name": "vault", "value": "" },
            }),
        ),
    ] {
        let reply = house.ask(BEN, method, params.clone());
        assert!(!reply.to_string().contains("Cellar"), "{method} {params}");
        // Everything that names vaults names all of them to a caller that has them.
        let names_vaults =
            !["prompts/list", "resources/templates/list"].contains(&method) && params["name"] != "find_tool";
        let reply = house.ask(EVE, method, params.clone());
        assert_eq!(reply.to_string().contains("Cellar"), names_vaults, "{method} {params}");
    }
    // With a single vault its name is optional, and another is as unknown as one that never existed.
    assert!(house.call(BEN, "file_read", json!({ "file": "Ada/plan.md" }))["isError"] != true);
    let unknown = |name: &str| {
        let reply = house.call(BEN, "file_read", json!({ "file": "Ada/job.md", "vault": name }));
        reply.to_string().replace(name, "X")
    };
    assert_eq!(unknown("Cellar"), unknown("Nowhere"));
    let info = house.server.post(&[BEN], "server/discover", None, json!({})).1;
    assert!(info.contains("Home") && !info.contains("Cellar"), "{info}");
}

#[test]
fn only_visible_files_can_be_subscribed_to() {
    let house = house();
    let accepted = |who: (&'static str, &'static str)| {
        let uris = ["Home", "Cellar", "Nowhere"].map(|vault| format!("obsidian://vault/Ada/plan.md?vault={vault}"));
        let wish = json!({ "notifications": { "resourceSubscriptions": uris } });
        let (mut headers, body) = modern("subscriptions/listen", wish);
        headers.push(who);
        let stream = house.server.send("POST", "/mcp", &headers, &body);
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        let data = lines.filter_map(|line| line.strip_prefix("data: ").map(str::to_owned));
        data.into_iter().find(|data| data.contains("acknowledged")).expect("it is acknowledged")
    };
    let (ben, eve) = (accepted(BEN), accepted(EVE));
    assert!(ben.contains("vault=Home") && !ben.contains("vault=Cellar"), "{ben}");
    assert!(eve.contains("vault=Home") && eve.contains("vault=Cellar") && !eve.contains("Nowhere"), "{eve}");
}

#[test]
fn a_token_with_a_vault_that_is_not_served_stops_the_start() {
    let vault = Vault::new(&[]);
    let config = vault.path().with_file_name("lapidary.toml");
    let text = format!(
        "[vaults.Home]\npath = {:?}\n[tokens.ada]\ntoken = \"a-token-for-ada-123\"\nvaults = [\"Hone\"]\n",
        vault.path()
    );
    std::fs::write(&config, text).unwrap();
    let output = vault.command().env("LAPIDARY_CONFIG", config).arg("tools").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("ada") && said.contains("Home"), "{said}");
}

#[test]
fn a_read_only_caller_is_offered_no_writing_tools() {
    let house = house();
    let tools = house.ask(BEN, "tools/list", json!({}));
    let names: Vec<&str> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"file_read") && !names.contains(&"str_replace"), "{names:?}");
    let found = house.call(BEN, "find_tool", json!({ "query": "delete a note" })).to_string();
    assert!(!found.contains("obsidian_delete_note"), "{found}");
}

#[test]
fn the_log_hides_calls_of_others_from_callers_with_their_own_folders() {
    let house = house();
    house.call(EVE, "search_content", json!({ "query": "lantern", "vault": "Cellar" }));
    house.call(ADA, "search_content", json!({ "query": "lantern", "vault": "Cellar" }));
    let log = |who| house.call(who, "operation_log", json!({ "vault": "Cellar" })).to_string();
    let (ada, eve) = (log(ADA), log(EVE));
    assert!(ada.contains("http:ada") && !ada.contains("http:eve"), "{ada}");
    assert!(eve.contains("http:ada") && eve.contains("http:eve"), "{eve}");
}
