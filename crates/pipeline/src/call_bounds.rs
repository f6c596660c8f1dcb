//! What a caller may say about any change: how many files it expects it to concern, and a key by which the call is
//! recognised when it is sent again. Both are arguments of the pipeline: tools know nothing of them.

use lapidary_note::ContentHash;
use lapidary_tools::{CatalogueEntry, Reason, RenderedReply, bug, checkpoint::is_reverted, clipped};
use lapidary_vault::{ChangeSet, MadeCall, VaultPath, store::CallKey};
use serde_json::{Map, Value};

use crate::{
    digest::digest,
    execution::{Execution, StageFlow},
    stages::check::bad_argument,
};

/// The argument that says how many files a change may concern.
const EXPECT: &str = "expect";
/// The argument by which a repeated call is recognised. It is also accepted as other families spell it.
const KEY: [&str; 2] = ["idempotency_key", "idempotencyKey"];
const LONGEST_KEY: usize = 200;

/// Whether an argument is one of these.
pub(crate) fn is_bound(argument: &str) -> bool {
    argument == EXPECT || KEY.contains(&argument)
}

/// The bounds of one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallBounds {
    expected: Option<ExpectedFiles>,
    key: Option<GivenKey>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedFiles {
    Exactly(usize),
    AtMost(usize),
}

#[derive(Clone, Debug)]
struct GivenKey {
    key: CallKey,
    /// As the caller wrote it.
    given: String,
}

impl CallBounds {
    /// Takes them out of the arguments of a tool that writes.
    pub(crate) fn take(
        execution: &Execution<'_>,
        entry: &CatalogueEntry,
        arguments: &mut Map<String, Value>,
    ) -> Result<Self, Reason> {
        // Removed, because the tool would refuse an argument that it does not know.
        let expected = match arguments.remove(EXPECT) {
            None | Some(Value::Null) => None,
            Some(given) => {
                let problem = "must be `{\"notes\": 3}` or `{\"at_most\": 10}`";
                Some(ExpectedFiles::parse(&given).ok_or_else(|| bad_argument(entry, EXPECT, problem))?)
            }
        };
        let given = KEY.iter().find_map(|name| arguments.remove(*name));
        let key = match given {
            // Clients send `null` for what is not set.
            None | Some(Value::Null) => None,
            Some(Value::String(given)) if (1..=LONGEST_KEY).contains(&given.len()) => {
                let call = CallKey { key: key_of(execution, &given), call: call_of(execution, entry) };
                Some(GivenKey { key: call, given })
            }
            Some(_) => return Err(bad_argument(entry, KEY[0], "must be a text of 1 to 200 bytes")),
        };
        Ok(Self { expected, key })
    }

    pub(crate) fn key(&self) -> Option<CallKey> {
        self.key.as_ref().map(|given| given.key)
    }

    /// Refuses a change of other files than expected. Judged on the change itself, whichever tool planned it.
    pub(crate) fn check(&self, changes: &ChangeSet) -> Result<(), Reason> {
        let Some(expected) = self.expected else { return Ok(()) };
        let count = changes.changes.len();
        if expected.accepts(count) {
            return Ok(());
        }
        let mut bytes = 0;
        let within = |path: &VaultPath| {
            // Long paths fill a refusal as much as many.
            bytes += path.as_str().len();
            bytes <= MOST_BYTES
        };
        let paths = changes.changes.iter().map(|change| change.path().clone());
        let paths = paths.take(MOST_PATHS).take_while(within).collect();
        let (least, most) = match expected {
            ExpectedFiles::Exactly(count) => (Some(count), count),
            ExpectedFiles::AtMost(most) => (None, most),
        };
        Err(Reason::UnexpectedChange { least, most, count, paths })
    }
}

/// How much of a plan a refusal shows.
const MOST_PATHS: usize = 50;
const MOST_BYTES: usize = 4_000;

impl ExpectedFiles {
    fn parse(given: &Value) -> Option<Self> {
        // Two bounds could contradict each other.
        let fields = given.as_object().filter(|fields| fields.len() == 1)?;
        let (name, count) = fields.iter().next()?;
        let count = usize::try_from(count.as_u64()?).ok()?;
        match name.as_str() {
            "notes" => Some(Self::Exactly(count)),
            "at_most" | "atMost" => Some(Self::AtMost(count)),
            _ => None,
        }
    }

    fn accepts(self, count: usize) -> bool {
        match self {
            Self::Exactly(expected) => count == expected,
            Self::AtMost(most) => count <= most,
        }
    }
}

/// A key belongs to a client, over all its connections.
fn key_of(execution: &Execution<'_>, given: &str) -> ContentHash {
    let (name, author) = (execution.name(), &execution.principal().author);
    // Callers that share a name are told apart by their programs.
    let client = if author.is_shared() { author.signature() } else { author.client().to_owned() };
    ContentHash::of(format!("{name}\n{client}\n{given}").as_bytes())
}

/// The call without its key.
fn call_of(execution: &Execution<'_>, entry: &CatalogueEntry) -> ContentHash {
    // The arguments as they were sent: defaults may change with the next version.
    let mut arguments = execution.given.clone();
    KEY.iter().for_each(|name| drop(arguments.remove(*name)));
    ContentHash::of(format!("{}\n{}", entry.spec.name(), digest(&arguments)).as_bytes())
}

/// The answer to a call that was made before under the same key.
pub(crate) fn earlier_answer(execution: &Execution<'_>) -> Result<Option<StageFlow>, Reason> {
    // The owner's look at what a call would do is not a call.
    let Some(given) = execution.bounds.key.as_ref().filter(|_| !execution.is_preview()) else { return Ok(None) };
    let scope = execution.scope.as_deref().ok_or_else(|| bug!("an earlier call is looked up without a scope"))?;
    let vault = &execution.concerned_vault().vault;
    let found = vault.made_by(&given.key.key, execution.setup().clock.now(), scope).map_err(|error| {
        tracing::warn!("the calls with a key cannot be read: {error}");
        Reason::Disk { path: None, problem: lapidary_tools::DiskFault::NoState }
    })?;
    let Some(MadeCall { call, checkpoint, reply }) = found else { return Ok(None) };
    // A key for another call would answer it with a result that is not its own.
    if call != given.key.call {
        return Err(Reason::KeyReused { key: clipped(&given.given) });
    }
    // An answer that claims what is no longer so would mislead the caller that sends the call again.
    if checkpoint.as_deref().is_some_and(|id| execution.view.as_ref().is_some_and(|view| is_reverted(view, id))) {
        return Err(Reason::AlreadyMade { checkpoint, undone: true });
    }
    let reply = reply.and_then(|kept| serde_json::from_slice(&kept).ok()).and_then(RenderedReply::from_json);
    match reply {
        Some(reply) => Ok(Some(StageFlow::answer(reply))),
        None => Err(Reason::AlreadyMade { checkpoint, undone: false }),
    }
}

/// Keeps the answer, for the case that the call is sent again.
pub(crate) fn keep_answer(execution: &Execution<'_>, reply: &RenderedReply) {
    let (Some(_), Some(checkpoint)) = (execution.bounds.key(), &execution.receipt.checkpoint) else { return };
    let kept = execution.concerned_vault().vault.keep_reply(checkpoint, reply.to_json().to_string().as_bytes());
    // The change is made; only its answer is not known later.
    if let Err(error) = kept {
        tracing::warn!("the answer to a call with a key is not kept: {error}");
    }
}

#[cfg(test)]
mod tests {
    use lapidary_tools::{ReasonKind, TOOLS};
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::TestServer;

    const NOTES: &[(&str, &str)] = &[("a.md", "#old one\n"), ("b.md", "#old two\n"), ("c.md", "three\n")];

    fn rename(more: &Value) -> Value {
        let mut call = json!({ "from": "old", "to": "new" });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    }

    #[test]
    fn no_tool_has_such_an_argument_itself() {
        for tool in TOOLS {
            let spec = tool.spec();
            for name in [EXPECT].iter().chain(&KEY) {
                assert!(!spec.takes(name), "{}: {name}", spec.name());
            }
        }
    }

    #[test]
    fn a_change_of_other_files_than_expected_is_not_made() {
        for (expect, is_made) in [
            (json!({ "notes": 2 }), true),
            (json!({ "notes": 1 }), false),
            (json!({ "notes": 3 }), false),
            (json!({ "at_most": 2 }), true),
            (json!({ "atMost": 10 }), true),
            (json!({ "at_most": 1 }), false),
        ] {
            let server = TestServer::new(NOTES);
            let call = rename(&json!({ "expect": expect }));
            if is_made {
                server.done("tag_rename", call);
                assert_eq!(server.text("a.md"), "#new one\n", "{expect}");
                continue;
            }
            let reason = server.refused("tag_rename", call);
            assert_eq!(reason.kind(), ReasonKind::UnexpectedChange, "{expect}");
            assert_eq!(reason.data()["paths"], json!(["a.md", "b.md"]));
            assert_eq!(reason.data()["notes"], 2);
            assert!(reason.to_string().contains(": `a.md`, `b.md`."), "{reason}");
            assert_eq!((server.text("a.md"), server.text("b.md")), ("#old one\n".into(), "#old two\n".into()));
        }
    }

    #[test]
    fn a_batch_is_judged_as_a_whole_and_a_dry_run_only_shows() {
        let edit =
            |file: &str| json!({ "tool": "str_replace", "args": { "file": file, "find": "#old", "replace": "x" } });
        let server = TestServer::new(NOTES);
        let batch = json!({ "ops": [edit("a.md"), edit("b.md")], "expect": { "notes": 1 } });
        assert_eq!(server.refused("bulk_apply", batch).kind(), ReasonKind::UnexpectedChange);
        assert_eq!(server.text("a.md"), "#old one\n");
        let shown = server.done("tag_rename", rename(&json!({ "expect": { "notes": 1 }, "dry_run": true })));
        assert!(shown["diff"].as_str().unwrap().contains("+#new one"));
        let relayed = json!({ "name": "tag_rename", "arguments": rename(&json!({ "expect": { "notes": 1 } })) });
        assert_eq!(server.refused("call_tool", relayed).kind(), ReasonKind::UnexpectedChange);
    }

    #[test]
    fn bounds_that_say_nothing_are_refused() {
        let server = TestServer::new(NOTES);
        for wrong in [
            json!({ "expect": 2 }),
            json!({ "expect": {} }),
            json!({ "expect": { "notes": -1 } }),
            json!({ "expect": { "notes": 2, "at_most": 3 } }),
            json!({ "expect": { "files": 2 } }),
            json!({ "idempotency_key": "" }),
            json!({ "idempotency_key": 7 }),
            json!({ "idempotency_key": "k".repeat(201) }),
        ] {
            assert_eq!(server.refused("tag_rename", rename(&wrong)).kind(), ReasonKind::InvalidArguments, "{wrong}");
        }
        assert_eq!(server.text("a.md"), "#old one\n");
        // A tool that only reads has no such arguments.
        let read = json!({ "file": "a.md", "expect": { "notes": 0 } });
        assert_eq!(server.refused("file_read", read).kind(), ReasonKind::InvalidArguments);
    }

    #[test]
    fn a_call_that_is_sent_again_is_answered_and_not_repeated() {
        let server = TestServer::new(NOTES);
        let call = json!({ "file": "c.md", "content": "more\n", "idempotency_key": "k1" });
        let first = server.done("file_append", call.clone());
        assert_eq!(server.done("file_append", call.clone()), first);
        assert_eq!(server.text("c.md"), "three\nmore\n");
        let other = json!({ "file": "c.md", "content": "else\n", "idempotency_key": "k1" });
        assert_eq!(server.refused("file_append", other).kind(), ReasonKind::KeyReused);
        let next = json!({ "file": "c.md", "content": "more\n", "idempotencyKey": "k2" });
        server.done("file_append", next);
        assert_eq!(server.text("c.md"), "three\nmore\nmore\n");
    }

    #[test]
    fn a_call_whose_change_was_undone_is_not_answered_as_done() {
        let server = TestServer::new(NOTES);
        let made = json!({ "file": "d.md", "content": "four\n", "idempotency_key": "k1" });
        let changed = json!({ "file": "c.md", "content": "more\n", "idempotency_key": "k2" });
        for (tool, call) in [("file_create", made), ("file_append", changed)] {
            server.done(tool, call.clone());
            server.done("undo", json!({}));
            let refused = server.refused(tool, call);
            assert_eq!(refused.kind(), ReasonKind::AlreadyMade, "{tool}");
            assert!(refused.to_string().contains("undone since"), "{refused}");
        }
        assert_eq!(server.text("c.md"), "three\n");
    }

    #[test]
    fn a_refused_call_uses_up_no_key() {
        let server = TestServer::new(NOTES);
        let call = |file: &str| json!({ "file": file, "content": "more\n", "idempotency_key": "k" });
        let refused = json!({ "file": "missing.md", "content": "x", "expected_content_hash": "sha256:00000000", "idempotency_key": "k" });
        server.refused("file_append", refused);
        server.done("file_append", call("c.md"));
        assert_eq!(server.text("c.md"), "three\nmore\n");
    }
}
