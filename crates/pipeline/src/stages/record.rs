use lapidary_vault::News;

use crate::{Outcome, execution::Execution};

/// One line in the log of the vault, for refusals too, and what happened to the vault without a call.
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

/// What happened without a call, for the owner. Paths are in the log of calls alone.
fn in_words(news: &News) -> String {
    match news {
        News::Completed { checkpoint } => {
            format!("a server was killed right after a change; it was complete (checkpoint {checkpoint})")
        }
        News::Undone { left } if left.is_empty() => {
            "a change that was not finished has been taken back; all files are as before".to_owned()
        }
        News::Undone { left } => {
            let files = left.len();
            format!(
                "an unfinished change has been taken back, but for {files} files changed since; `lapidary audit` names them"
            )
        }
        News::LateSave { checkpoint, .. } => {
            format!("another program saved a file while it was changed here; its text is in checkpoint {checkpoint}")
        }
        News::Postponed { why } => format!("something could not be looked after and will be tried again: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use lapidary_tools::{CheckSubscriptions, ListPrompts, PromptsSeen, ReadResource, WatchPrompts};
    use serde_json::{Value, json};

    use crate::testing::TestServer;

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
    fn what_the_server_looks_at_by_itself_leaves_none() {
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
}
