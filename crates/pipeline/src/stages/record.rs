//! Stage 11: writes the log line.

use lapidary_note::counted;
use lapidary_vault::VaultNews;

use crate::{Outcome, execution::Execution};

/// One line in the log of the vault, for refusals too, and events in the vault without a call.
pub(crate) fn run(execution: &Execution<'_>, outcome: &Outcome) {
    if !execution.is_recorded() {
        return;
    }
    let (served, audit) = (execution.concerned_vault(), &execution.executor.audit);
    audit.record(&served.log, execution, outcome);
    for news in served.vault.take_news() {
        tracing::warn!("vault `{}`: {}", served.vault.name(), in_words(&news));
        audit.record_news(&served.log, execution.time, &news);
    }
}

/// Events without a call, for the owner. Only the log of calls has paths.
fn in_words(news: &VaultNews) -> String {
    match news {
        VaultNews::Completed { checkpoint } => {
            format!("a server was killed right after a change; it was complete (checkpoint {checkpoint})")
        }
        VaultNews::Undone { left } if left.is_empty() => {
            "an unfinished change was rolled back; all files are as before".to_owned()
        }
        VaultNews::Undone { left } => {
            let files = counted(left.len(), "file");
            format!(
                "an unfinished change was rolled back, except for {files} changed since; `lapidary audit` has the names"
            )
        }
        VaultNews::LateSave { checkpoint, .. } => {
            format!("another program saved a file while it was changed here; its text is in checkpoint {checkpoint}")
        }
        VaultNews::Postponed { why } => format!("something could not be looked after and will be tried again: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use lapidary_note::ContentHash;
    use lapidary_tools::{CheckSubscriptions, ListPrompts, PromptsSeen, ReadResource, Reason, WatchPrompts};
    use lapidary_vault::{VaultNews, VaultPath};
    use serde_json::{Value, json};

    use super::{in_words, run};
    use crate::{Invocation, Outcome, testing::TestServer};

    #[test]
    fn every_call_leaves_a_line_and_its_keys_come_in_order() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        server.done("str_replace", json!({ "file": "a.md", "find": "one", "replace": "two" }));
        server.refused("file_read", json!({ "file": "b.md" }));
        let keys = |line: &Value| line.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
        let log = server.log();
        assert_eq!(
            keys(&log[0]),
            "ts client_id profile tool vault file args_hash ok before_hash after_hash bytes_before bytes_after \
             checkpoint duration_ms reply_bytes"
        );
        assert_eq!(
            keys(&log[1]),
            "ts client_id profile tool vault file args_hash ok reason error_code duration_ms reply_bytes"
        );
    }

    #[test]
    fn a_change_of_several_files_has_the_hashes_of_each_up_to_a_number() {
        let server = TestServer::new(&[("a.md", "#x\n"), ("b.md", "#x\n")]);
        server.done("tag_rename", json!({ "from": "x", "to": "y" }));
        let log = server.log();
        let (old, new) = (ContentHash::of(b"#x\n").to_string(), ContentHash::of(b"#y\n").to_string());
        let change = |file: &str| json!({ "file": file, "before_hash": old, "after_hash": new, "bytes_before": 3, "bytes_after": 3 });
        assert_eq!(log[0]["changes"], json!([change("a.md"), change("b.md")]));
        let names: Vec<String> = (0..30).map(|number| format!("{number}.md")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "#x\n")).collect();
        let server = TestServer::new(&files);
        server.done("tag_rename", json!({ "from": "x", "to": "y" }));
        let line = &server.log()[0];
        let length = |key: &str| line[key].as_array().unwrap().len();
        assert_eq!((&line["files_changed"], length("changes"), length("files")), (&json!(30), 20, 30));
    }

    #[test]
    fn the_servers_own_checks_leave_no_line() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        assert!(server.read(WatchPrompts { seen: PromptsSeen::default() }).is_ok());
        assert!(server.read(CheckSubscriptions { subscriptions: Vec::new() }).is_ok());
        assert_eq!(server.log(), Vec::<Value>::new());
        assert!(server.read(ListPrompts).is_ok());
        assert!(server.read(ReadResource { uri: "obsidian://vault/a.md".into() }).is_ok());
        let log = server.log();
        assert_eq!((&log[0]["tool"], &log[0]["vault"]), (&json!("prompts/list"), &json!("test")));
        assert_eq!((&log[1]["tool"], &log[1]["file"]), (&json!("resources/read"), &json!("a.md")));
    }

    #[test]
    fn a_line_says_how_the_call_ended() {
        let server = TestServer::new(&[]);
        let invocation = server.invocation("file_read", json!({ "file": "a.md" }));
        server.at("find", &invocation, |execution| {
            run(execution, &Outcome::UnknownTool { nearest: None });
            run(execution, &execution.refusal(Reason::DeniedByRule));
        });
        let reasons: Vec<Value> = server.log().iter().map(|line| line["reason"].clone()).collect();
        assert_eq!(reasons, ["tool_unknown", "denied_by_rule"]);
    }

    #[test]
    fn a_check_of_the_server_itself_leaves_none() {
        let server = TestServer::new(&[]);
        let check = CheckSubscriptions { subscriptions: Vec::new() };
        server.at("find", &Invocation::read(check, server.principal()), |execution| {
            run(execution, &execution.refusal(Reason::DeniedByRule));
        });
        assert_eq!(server.log(), Vec::<Value>::new());
    }

    #[test]
    fn news_for_the_terminal_name_no_file() {
        let path = || VaultPath::parse("Secret/a.md").unwrap();
        let checkpoint = || "c-1".to_owned();
        for (news, says) in [
            (VaultNews::Completed { checkpoint: checkpoint() }, "c-1"),
            (VaultNews::Undone { left: Vec::new() }, "all files are as before"),
            (VaultNews::Undone { left: vec![path()] }, "except for 1 file changed"),
            (VaultNews::LateSave { path: path(), checkpoint: checkpoint() }, "c-1"),
            (VaultNews::Postponed { why: "the disk is full".to_owned() }, "the disk is full"),
        ] {
            let words = in_words(&news);
            assert!(words.contains(says) && !words.contains("Secret"), "{words}");
        }
    }
}
