//! Tests of other MCP servers in the configuration.

use super::*;
use crate::{ServerApproval, ServerReach};

const SERVERS: &str = r#"
[mcp.servers.files]
about = "project files"
command = "npx"
args = ["-y", "server-filesystem", ""]
env = { LEVEL = "sekret-1" }
pass_env = ["TOKEN", "ABSENT"]
read_only = "read_*, list_*"
deny = ["*secret*"]
approval = "never"
timeout_ms = 5000
max_reply_bytes = 20000

[mcp.servers.issues]
url = "https://issues.example/mcp"
headers = { X-Team = "sekret-2" }
token_env = "TOKEN"
"#;

#[test]
fn servers_are_programs_or_addresses() {
    let machine = Machine::with_vault()
        .toml(SERVERS)
        .variable("TOKEN", "sekret-3")
        .variable("PATH", "/bin")
        .variable("SECRET", "x");
    let mcp = machine.config().mcp;
    let [files, issues] = &mcp.servers[..] else { panic!("{mcp:?}") };
    let ServerReach::Program { command, args, variables } = &files.reach else { panic!("{files:?}") };
    assert_eq!((command.as_str(), args.len()), ("npx", 3), "an empty argument is one");
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
    assert_eq!(variables, [("LEVEL", "sekret-1"), ("TOKEN", "sekret-3")]);
    assert!(files.read_only[0].matches("read_file") && files.deny[0].matches("a_secret"));
    assert_eq!((files.approval, files.timeout.as_millis()), (ServerApproval::Never, 5000));
    let ServerReach::Address { headers, .. } = &issues.reach else { panic!("{issues:?}") };
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
    assert_eq!(headers, [("x-team", "sekret-2"), ("authorization", "Bearer sekret-3")]);
    assert_eq!((issues.approval, issues.max_reply_bytes), (ServerApproval::Writes, 1_000_000));
    assert_eq!(mcp.environment.into_iter().collect::<Vec<_>>(), [("PATH".to_owned(), "/bin".to_owned())]);
    assert_eq!(
        machine.warnings(),
        ["the server 'files' of `mcp.servers` gets no ABSENT: it is not set in the environment"]
    );
    let shown: String =
        machine.shown().iter().map(|setting| format!("{} {}\n", setting.value, setting.typed)).collect();
    assert!(!shown.contains("sekret") && !shown.contains("server-filesystem"), "{shown}");
    assert!(!format!("{:?}", machine.config()).contains("sekret"));
}

/// A vault that comes by sync, or the folder of a stranger's project, must not start programs.
#[test]
fn only_a_file_of_the_owner_outside_of_vaults_starts_programs() {
    let server = "[mcp.servers.a]\ncommand = \"evil\"\n";
    let inside = Machine::with_vault().file("/work/Notes/lapidary.toml", server);
    assert!(inside.config().mcp.servers.is_empty(), "it is not even looked for there");
    let named = inside.words(&["--config", "/work/Notes/lapidary.toml"]);
    assert_holds(&named.error(), &["/work/Notes/lapidary.toml", "is in a vault", "keep the file elsewhere"]);
    let vault = "[vaults]\nNotes = \"/work/Notes\"\n";
    let project = || Machine::new().file("/work/x.toml", &format!("{vault}{server}")).dotenv("LAPIDARY_CONFIG=x.toml");
    assert_holds(&project().error(), &["mcp.servers", "only a file that you name starts programs"]);
    let trusted = project().variable("LAPIDARY_ENV_FILE", ".env");
    assert_eq!(trusted.config().mcp.servers.len(), 1);
    assert_eq!(
        Machine::new()
            .file("/work/x.toml", &format!("{vault}{server}"))
            .words(&["--config", "x.toml"])
            .config()
            .mcp
            .servers
            .len(),
        1
    );
}

#[test]
fn an_invalid_server_is_refused_without_its_secrets() {
    for (written, says) in [
        ("a = 1", "a table"),
        ("[mcp.servers.a]", "`command`"),
        ("[mcp.servers.a]\ncommand = \"x\"\nurl = \"https://a.example\"", "`command`"),
        ("[mcp.servers.a]\ncommand = \"x\"\ntoken_env = \"T\"", "`command`"),
        ("[mcp.servers.a]\nurl = \"https://a.example/?key=sekret\"", "mcp.servers"),
        ("[mcp.servers.a]\ncommand = \"./run.sh\"", "the whole path"),
        ("[mcp.servers.a]\ncommand = \"x\"\nargs = \"--token sekret\"", "a list"),
        ("[mcp.servers.a]\ncommand = \"x\"\nalow = []", "did you mean `allow`"),
        ("[mcp.servers.a]\ncommand = \"x\"\nallow = [\"a b\"]", "not the name of a tool"),
        ("[mcp.servers.a]\ncommand = \"x\"\napproval = \"maybe\"", "always, writes, never"),
        ("[mcp.servers.a]\nurl = \"https://a.example\"\nheaders = { Host = \"x\" }", "not a header"),
        ("[mcp.servers.\"a/b\"]\ncommand = \"x\"", "not a name for a server"),
        ("[mcp.servers.\"ä\"]\ncommand = \"x\"", "not a name for a server"),
    ] {
        let text =
            if written.starts_with('[') { written.to_owned() } else { format!("[mcp]\nservers = {{ {written} }}") };
        let error = Machine::with_vault().toml(&text).error();
        assert_holds(&error, &[says]);
        assert!(!error.contains("--token"), "{error}");
    }
    let home = Machine::with_vault().toml("[mcp.servers.a]\ncommand = \"~/bin/x\"").config();
    assert!(matches!(&home.mcp.servers[0].reach, ServerReach::Program { command, .. } if command == "/home/me/bin/x"));
    assert!(Machine::with_vault().variable("LAPIDARY_NESTED", "true").config().mcp.is_nested);
}
