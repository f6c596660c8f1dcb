//! The only way in. [`Executor::execute`] is the asynchronous edge: lane, deadline, one blocking thread. [`Executor::run`]
//! is the loop over the stages, and the only place where a panic is caught.

use std::{rc::Rc, sync::Arc, time::Duration};

use lapidary_note::{MemoryCharges, charge_thread, watch_work};
use lapidary_tools::{
    Cancel, CaughtUnwind, Effect, Interruption, Reason, RelayedCall, ToolKind, ToolSpec, bug, catch_panic,
    check_arguments,
};
use lapidary_vault::ElapsedTime;
use serde_json::{Map, Value};
use tracing::Span;

use crate::{
    Executor, FinishedStage, Invocation, Operation, Outcome,
    execution::{CallConclusion, Execution, StageFlow},
    recipe_steps::as_run,
    shared_memory::MemoryAccount,
    stages::{FIND, NARROW, STAGES, check::argument_at, observe, record},
};

/// Every call ends eventually.
const LONGEST_DEADLINE: Duration = Duration::from_secs(600);

/// A call that stops by itself when its time is up returns partial results, and always makes progress.
const TIME_TO_ANSWER: Duration = Duration::from_secs(5);

/// How long a disk may take to finish a change before the caller is told that the outcome is unknown.
const COMMIT_GRACE: Duration = Duration::from_secs(30);

/// How often the arguments of a call are in memory.
const COPIES_OF_ARGUMENTS: u64 = 3;

impl Executor {
    /// Runs an operation on a thread where it may wait for the disk, and waits for it no longer than its deadline.
    pub async fn execute(self: &Arc<Self>, invocation: Invocation, cancel: Arc<Cancel>) -> Outcome {
        let too_late = || Reason::Interrupted(Interruption::Deadline { allowed: cancel.allowed() });
        // By the tool that runs in the end: an edit through `call_tool` must not queue behind searches.
        let lane = self.lanes.enter(effect_of(&invocation), invocation.principal.client());
        let Ok(place) = tokio::time::timeout(cancel.remaining(), lane).await else {
            // It never ran, but the owner's log still shows that it came.
            let execution = Execution::new(self, &invocation, &cancel);
            let outcome = execution.refusal(too_late());
            record::run(&execution, &outcome);
            return outcome;
        };
        let invocation = Arc::new(invocation);
        let work = {
            let (this, invocation, cancel) = (Arc::clone(self), Arc::clone(&invocation), Arc::clone(&cancel));
            tokio::task::spawn_blocking(move || {
                // Held until the work has really ended, not only until the caller stops waiting.
                let _place = place;
                this.run(&invocation, &cancel)
            })
        };
        tokio::pin!(work);
        // The execution of the call belongs to the thread, which may still be running. A refusal needs only the wire
        // form.
        let refuse = |reason| Execution::new(self, &invocation, &cancel).refusal(reason);
        // `run` catches the panics of the stages, so this is a panic while recording, or a runtime that shuts down.
        let gone = || refuse(broken(&cancel, bug!("the task of a call ended without an answer")));
        if let Ok(done) = tokio::time::timeout(cancel.remaining(), &mut work).await {
            return done.unwrap_or_else(|_| gone());
        }
        // One atomic decides between this and `begin_change`: the caller is told that nothing happened only if
        // nothing will. The thread notices, ends the call and records it, so it is not recorded here.
        if cancel.take_back() {
            return refuse(too_late());
        }
        // The change is in progress and cannot be cancelled; only the disk can still be slow.
        match tokio::time::timeout(COMMIT_GRACE, work).await {
            Ok(done) => done.unwrap_or_else(|_| gone()),
            Err(_) => refuse(Reason::Interrupted(Interruption::WriteUnfinished)),
        }
    }

    /// Runs an operation on this thread.
    pub fn run(&self, invocation: &Invocation, cancel: &Cancel) -> Outcome {
        let mut execution = Execution::new(self, invocation, cancel);
        let _call = call_span(&execution).entered();
        // Whatever it is in the middle of, work ends when the call does, but for a change that has begun.
        let account = Arc::clone(&execution.account);
        let (asked, limited) = (cancel.clone(), Arc::clone(&account));
        let goes_on = move || asked.is_changing() || (limited.exceeded().is_none() && asked.check().is_ok());
        let watched = watch_work(Rc::new(goes_on));
        let charged = charge_thread(Some(Arc::<MemoryAccount>::clone(&account)));
        // A panic is our bug; it must cost one call, not the server.
        let ended = catch_panic(|| run_stages(&mut execution)).unwrap_or_else(|caught| match caught {
            CaughtUnwind::Panic(bug) => Err(broken(cancel, Reason::Internal(bug))),
            CaughtUnwind::Stopped(_) => Err(match account.exceeded() {
                Some(bytes) => Reason::MemoryExceeded { bytes, limit: self.memory.largest() },
                None => cancel
                    .check()
                    .err()
                    .unwrap_or_else(|| broken(cancel, bug!("the work of a call stopped that was not taken back"))),
            }),
        });
        // What follows is short and has to happen, even if the time is up.
        drop((charged, watched));
        // Above all the turn: the next change must not wait until this call is in the log.
        execution.release();
        account.close();
        let outcome = observe::run(&mut execution, ended);
        record::run(&execution, &outcome);
        outcome
    }

    /// A token that stops a call: when the caller cancels it, and at the latest when its time is up. A call may ask for
    /// more time than usual; if it asks for less, the tool itself enforces it and returns partial results.
    pub fn cancel(&self, invocation: &Invocation) -> Arc<Cancel> {
        let usual = self.setup.limits.deadline;
        let asked = with_tool(invocation, |spec, arguments| {
            let deadline = spec.deadline?;
            let asked = argument_at(arguments, deadline).and_then(Value::as_u64);
            let asked = asked.map_or(usual, |asked| {
                // Zero asks for no limit, as in the rest of `_budget`.
                if asked == 0 { LONGEST_DEADLINE } else { Duration::from_millis(asked).min(LONGEST_DEADLINE) }
            });
            Some(Cancel::after(asked.max(usual)).with_time_to_answer(TIME_TO_ANSWER))
        });
        Arc::new(asked.flatten().unwrap_or_else(|| Cancel::after(usual)))
    }
}

/// Checks that run every second would bury everything else, so their spans are only at `trace`.
fn call_span(execution: &Execution<'_>) -> Span {
    let (operation, principal) = (execution.known_name(), execution.name());
    if execution.is_recorded() {
        tracing::info_span!("call", operation, principal)
    } else {
        tracing::trace_span!("call", operation, principal)
    }
}

/// From stage to stage, until one ends the call.
fn run_stages(execution: &mut Execution<'_>) -> Result<CallConclusion, Reason> {
    // They are held as sent, as checked and as read by the tool, until the call ends.
    execution.account.hold(COPIES_OF_ARGUMENTS * held_bytes(&execution.given));
    let mut at = FIND;
    while let Some((name, stage)) = STAGES.get(at) {
        let _stage = if execution.is_recorded() {
            tracing::debug_span!("stage", name).entered()
        } else {
            tracing::trace_span!("stage", name).entered()
        };
        let watched = execution.invocation.stages.as_ref().map(|watch| (watch, ElapsedTime::start()));
        let flow = stage(execution);
        if let Some((watch, began)) = watched {
            watch(FinishedStage { name, took: began.elapsed() });
        }
        at = match flow? {
            StageFlow::Next => at + 1,
            StageFlow::Restart => FIND,
            StageFlow::Replan => NARROW,
            StageFlow::End(conclusion) => return Ok(conclusion),
        };
    }
    Err(bug!("a call went through all stages and did not end"))
}

/// What arguments take in memory.
fn held_bytes(arguments: &Map<String, Value>) -> u64 {
    // A rough size of a value with its entry in a map; texts are counted by their length.
    const PER_VALUE: usize = 96;
    let (mut bytes, mut rest) = (0_usize, Vec::new());
    let fields = |map: &Map<String, Value>| map.keys().map(String::len).sum::<usize>();
    bytes += fields(arguments);
    rest.extend(arguments.values());
    while let Some(value) = rest.pop() {
        bytes += PER_VALUE;
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(values) => rest.extend(values),
            Value::Object(map) => {
                bytes += fields(map);
                rest.extend(map.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    bytes as u64
}

/// After a bug of ours, what can honestly be said.
pub(crate) fn broken(cancel: &Cancel, bug: Reason) -> Reason {
    if cancel.is_changing() { Reason::Interrupted(Interruption::WriteUnfinished) } else { bug }
}

/// The effect of a call: that of the tool that runs in the end.
fn effect_of(invocation: &Invocation) -> Effect {
    // An unknown tool has no effect.
    with_tool(invocation, |spec, _| spec.effect).unwrap_or(Effect::Read)
}

/// Applies a function to the tool that runs in the end, and its arguments as sent.
fn with_tool<T>(invocation: &Invocation, ask: impl FnOnce(&ToolSpec, &Map<String, Value>) -> T) -> Option<T> {
    let Operation::Tool { name, arguments } = &invocation.operation else { return None };
    let catalogue = &invocation.principal.profile().catalogue;
    // A recipe is called by its name, as if it were a tool.
    if let Some((tool, run)) = as_run(catalogue, name, arguments) {
        return Some(ask(&catalogue.find(tool).ok()?.spec, &run));
    }
    let entry = catalogue.find(name).ok()?;
    if entry.spec.kind != ToolKind::Relay {
        return Some(ask(&entry.spec, arguments));
    }
    // Repaired as they will be when it runs. Arguments that cannot be repaired will be refused, and lead nowhere.
    let checked = check_arguments(entry.spec.name(), entry.spec.input(), arguments.clone()).ok()?;
    let RelayedCall { tool, arguments } = entry.tool.relayed(&checked.arguments)?;
    if let Some((tool, run)) = as_run(catalogue, &tool, &arguments) {
        return Some(ask(&catalogue.find(tool).ok()?.spec, &run));
    }
    Some(ask(&catalogue.find(&tool).ok()?.spec, &arguments))
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    };

    use lapidary_tools::{
        Context, ListPrompts, OpenedVaults, OperationDeclaration, PromptsSeen, ReadOperation, ReadPayload, ReasonKind,
        ToolGroup, VaultChoice, WatchPrompts,
    };
    use serde_json::json;
    use tracing::Level;

    use super::*;
    use crate::{
        Principal,
        testing::{LevelLog, TestServer, TestSetup, arguments},
    };

    #[test]
    fn a_call_may_ask_for_more_time_but_not_forever() {
        let server = TestServer::new(&[]);
        let usual = server.executor.limits().deadline;
        let allowed = |tool: &str, given: Value| {
            let invocation = Invocation::tool(tool, arguments(given), server.principal());
            server.executor.cancel(&invocation).allowed()
        };
        let hour = json!({ "query": "x", "_budget": { "deadlineMs": 3_600_000 } });
        assert_eq!(allowed("search_content", json!({ "query": "x" })), usual);
        assert_eq!(allowed("search_content", json!({ "query": "x", "_budget": { "deadlineMs": 5 } })), usual);
        assert_eq!(allowed("search_content", hour.clone()), LONGEST_DEADLINE);
        assert_eq!(
            allowed("search_content", json!({ "query": "x", "_budget": { "deadlineMs": 0 } })),
            LONGEST_DEADLINE
        );
        assert_eq!(allowed("call_tool", json!({ "name": "search_content", "arguments": hour })), LONGEST_DEADLINE);
        assert_eq!(allowed("file_read", hour), usual, "it has no budget");
    }

    /// Blocks until it is released, regardless of its deadline.
    struct Stuck {
        began: Arc<AtomicBool>,
        waits: Mutex<Receiver<()>>,
    }

    impl ReadOperation for Stuck {
        fn declaration(&self) -> &'static OperationDeclaration {
            const { &OperationDeclaration { name: "stuck", recorded: false } }
        }

        fn arguments(&self) -> Map<String, Value> {
            Map::new()
        }

        fn group(&self) -> Result<Option<ToolGroup>, Reason> {
            Ok(None)
        }

        fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
            Ok(VaultChoice::States)
        }

        fn answer(&self, _: &Context<'_>, _: &OpenedVaults) -> Result<ReadPayload, Reason> {
            self.began.store(true, Ordering::Release);
            // Ends when the sender is dropped.
            self.waits.lock().unwrap().recv().unwrap_or_default();
            Err(Reason::Declined { path: None, words: None })
        }
    }

    #[tokio::test]
    async fn a_call_past_its_deadline_keeps_its_lane_until_it_has_stopped() {
        let server = TestServer::new(&[]);
        let free_reads = || server.executor.lanes.free_and_waiting(Effect::Read).0;
        let free = free_reads();
        let mut allowed = Duration::from_millis(1);
        loop {
            let (let_go, waits) = channel();
            let began = Arc::new(AtomicBool::new(false));
            let stuck = Stuck { began: Arc::clone(&began), waits: Mutex::new(waits) };
            let stuck = Invocation::read(stuck, server.principal());
            let refused = server.executor.execute(stuck, Arc::new(Cancel::after(allowed))).await;
            assert!(!matches!(refused, Outcome::Answered(_)), "its time was over");
            let had_begun = began.load(Ordering::Acquire);
            assert!(!had_begun || free_reads() == free - 1, "it still works");
            drop(let_go);
            while free_reads() < free {
                tokio::task::yield_now().await;
            }
            if had_begun {
                return;
            }
            // On a busy machine its deadline passed before its turn came.
            allowed *= 2;
        }
    }

    /// Calls that never end by themselves: an end of each that ends it, and their tasks.
    type StuckCalls = (Vec<Sender<()>>, Vec<tokio::task::JoinHandle<Outcome>>);

    /// As many calls of one client as any number of places.
    fn stuck_calls(server: &TestServer, client: &str, count: usize) -> StuckCalls {
        let stuck = |_| {
            let (let_go, waits) = channel();
            let stuck = Stuck { began: Arc::default(), waits: Mutex::new(waits) };
            let principal = Principal { name: client.to_owned(), ..server.principal() };
            let (executor, call) = (Arc::clone(&server.executor), Invocation::read(stuck, principal));
            let cancel = Arc::new(Cancel::after(LONGEST_DEADLINE));
            (let_go, tokio::spawn(async move { executor.execute(call, cancel).await }))
        };
        (0..count).map(stuck).unzip()
    }

    #[tokio::test]
    async fn slow_calls_of_one_client_keep_no_other_waiting() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        let lane = || server.executor.lanes.free_and_waiting(Effect::Read);
        let (places, _) = lane();
        let (held, slow) = stuck_calls(&server, "slow", 3 * places);
        // Until each of them is in the lane or waits.
        while {
            let (free, waiting) = lane();
            places - free + waiting < slow.len()
        } {
            tokio::task::yield_now().await;
        }
        for client in ["other", "another"] {
            let principal = Principal { name: client.to_owned(), ..server.principal() };
            let read = Invocation::tool("file_read", arguments(json!({ "file": "a.md" })), principal);
            let reply = server.executor.execute(read, Arc::new(Cancel::after(Duration::from_secs(60)))).await;
            assert!(matches!(reply, Outcome::Answered(_)), "{client} waits for the calls of another");
        }
        assert_eq!(lane(), (places - places / 2, 3 * places - places / 2), "those are as before");
        drop(held);
        for call in slow {
            call.await.unwrap();
        }
        assert_eq!(lane(), (places, 0));
    }

    /// Files, a tool and its arguments.
    type LongCall = (Vec<(String, String)>, &'static str, Value);

    /// Calls whose work grows with a note or with the vault.
    fn long_calls(size: usize) -> Vec<LongCall> {
        let note = |path: &str, text: String| (path.to_owned(), text);
        let words = "One word and another.\n".repeat(size);
        let links = "[[a]] and [a](a.md#H)\n".repeat(size / 4);
        let many = |files: usize| (0..files).map(|number| note(&format!("f/n{number}.md"), String::new())).collect();
        vec![
            (
                vec![note("a.md", "# H\n".to_owned()), note("b.md", links.clone())],
                "file_move",
                json!({ "from": "a.md", "to": "c.md", "dry_run": true }),
            ),
            (
                vec![note("a.md", "# H\n".to_owned()), note("b.md", links)],
                "heading_rename",
                json!({ "file": "a.md", "heading": "H", "newText": "J", "updateReferences": true, "dry_run": true }),
            ),
            (
                vec![note("a.md", words.clone())],
                "str_replace",
                json!({ "file": "a.md", "find": "two words", "replace": "x", "dry_run": true }),
            ),
            (vec![note("a.md", words)], "metadata_read", json!({ "file": "a.md" })),
            (many(size), "file_read", json!({ "file": "f/none.md" })),
            (
                many(size / 4),
                "query",
                json!({ "query": "views:\n  - type: table\n    name: A\n    sort:\n      - property: file.name\n    \
                        groupBy:\n      property: file.folder\n    summaries:\n      file.name: Unique\n", "format": "csv" }),
            ),
            (many(size / 4), "query", json!({ "query": "TABLE file.name SORT file.size, file.name DESC" })),
            (
                vec![note("a.md", "- [ ] one [k:: 1] [[b]]\n".repeat(size / 4))],
                "query",
                json!({ "query": "TASK WHERE k = 1 SORT outlinks" }),
            ),
        ]
    }

    /// How a call ends that may be asked so often, and how often it was.
    fn asked(files: &[(String, String)], tool: &str, given: &Value, most: u64) -> (Outcome, u64) {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
        let server = TestServer::new(&files);
        // The vault is known, so that only the work of the call is counted.
        server.done("links_get", json!({ "file": files[0].0 }));
        let invocation = server.invocation(tool, given.clone());
        let cancel = Cancel::after(Duration::from_secs(600)).with_most_checks(most);
        let outcome = server.executor.run(&invocation, &cancel);
        (outcome, cancel.checks())
    }

    #[test]
    fn work_ends_where_it_is_when_its_call_does() {
        for (files, tool, given) in long_calls(6_000) {
            let (_, all) = asked(&files, tool, &given, u64::MAX);
            assert!(all >= 8, "{tool} looks {all} times whether it goes on");
            for most in [all / 4, all / 2, all - 3] {
                let (outcome, checks) = asked(&files, tool, &given, most);
                let reason = match outcome {
                    Outcome::Refused(refusal) => refusal.reason,
                    _ => panic!("{tool} goes on after {most} of {all}"),
                };
                assert!(matches!(reason, Reason::Interrupted(_)), "{tool}: {reason:?}");
                assert!(checks <= most + 4, "{tool} goes on after {most}: {checks} of {all}");
            }
        }
    }

    #[test]
    fn a_call_that_was_stopped_anywhere_leaves_nothing_behind() {
        for (files, tool, given) in long_calls(2_000) {
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&path[..], &text[..])).collect();
            let (fresh, server) = (TestServer::new(&files), TestServer::new(&files));
            let run = |server: &TestServer, most: u64| {
                let cancel = Cancel::after(Duration::from_secs(600)).with_most_checks(most);
                let outcome = server.executor.run(&server.invocation(tool, given.clone()), &cancel);
                (outcome.rendered().map(|reply| (reply.is_error, reply.structured().to_owned())), cancel.checks())
            };
            let (expected, all) = run(&fresh, u64::MAX);
            for most in (0..all).step_by(usize::try_from(all / 12).unwrap().max(1)) {
                run(&server, most);
                for (path, text) in &files {
                    assert_eq!(server.text(path), *text, "{tool} changed {path} and was stopped after {most} of {all}");
                }
            }
            let without_id = |reply: Option<(bool, String)>| {
                let (is_error, text) = reply.unwrap();
                let mut facts: Value = serde_json::from_str(&text).unwrap();
                facts.as_object_mut().unwrap().shift_remove("checkpoint");
                (is_error, facts)
            };
            assert_eq!(without_id(run(&server, u64::MAX).0), without_id(expected), "{tool} after it was stopped");
        }
    }

    #[test]
    fn a_call_that_needs_more_memory_than_there_is_is_refused_and_others_go_on() {
        let links = "[[a]] ".repeat(20_000);
        let files = [("a.md", "# A\n"), ("links.md", &links)];
        let moved = json!({ "from": "a.md", "to": "b.md" });
        let small = TestSetup { memory_bytes: 4 << 20, ..TestSetup::default() }.serve(&files);
        for _ in 0..3 {
            let reason = small.refused("file_move", moved.clone());
            assert!(matches!(reason, Reason::MemoryExceeded { bytes, limit } if bytes > limit), "{reason:?}");
            assert_eq!(reason.kind(), ReasonKind::BudgetExceeded);
            assert_eq!((small.text("a.md").as_str(), small.text("links.md") == links), ("# A\n", true));
            small.done("file_read", json!({ "file": "a.md" }));
        }
        let batch = json!({ "ops": [{ "tool": "file_move", "args": moved }], "atomic": false });
        assert!(matches!(small.refused("bulk_apply", batch), Reason::MemoryExceeded { .. }), "the whole batch ends");
        let large = TestSetup { memory_bytes: 1 << 28, ..TestSetup::default() }.serve(&files);
        assert_eq!(large.done("file_move", moved)["linksUpdated"], 20_000);
    }

    #[test]
    fn large_calls_wait_for_each_other_and_each_is_done() {
        let links = "[[a]] ".repeat(4_000);
        let files = [("a.md", "# A\n"), ("links.md", &links)];
        let server = TestSetup { memory_bytes: 24 << 20, ..TestSetup::default() }.serve(&files);
        let move_it = || {
            let call = server.invocation("file_move", json!({ "from": "a.md", "to": "b.md", "dry_run": true }));
            let cancel = server.executor.cancel(&call);
            let reply = server.executor.run(&call, &cancel).rendered().unwrap();
            assert!(!reply.is_error, "{}", reply.structured());
        };
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..8).map(|_| scope.spawn(move_it)).collect();
            calls.into_iter().for_each(|call| call.join().unwrap());
        });
    }

    #[test]
    fn work_grows_no_faster_than_what_it_is_given() {
        for ((small, tool, given), (large, ..)) in long_calls(3_000).into_iter().zip(long_calls(12_000)) {
            let (few, many) = (asked(&small, tool, &given, u64::MAX).1, asked(&large, tool, &given, u64::MAX).1);
            assert!(many <= 5 * few, "{tool}: {few} checks, and {many} for four times as much");
        }
    }

    #[test]
    fn a_relay_is_in_the_lane_of_the_tool_that_it_leads_to() {
        let server = TestServer::new(&[]);
        let effect =
            |tool: &str, given: Value| effect_of(&Invocation::tool(tool, arguments(given), server.principal()));
        assert_eq!(effect("call_tool", json!({ "name": "file_read" })), Effect::Read);
        assert_eq!(effect("call_tool", json!({ "name": "str_replace" })), Effect::Write);
        assert_eq!(effect("call_tool", json!({ "name": "no_such_tool" })), Effect::Read);
        assert_eq!(effect("bulk_apply", json!({})), Effect::Destroy);
        let repaired = json!({ "Name": "file_read", "arguments": "{\"file\":\"a.md\"}" });
        assert_eq!(effect("call_tool", repaired), Effect::Read);
        let repaired = json!({ "name": "str_replace", "arguments": "{}" });
        assert_eq!(effect("call_tool", repaired), Effect::Write);
        assert_eq!(effect("call_tool", json!({ "arguments": {} })), Effect::Read, "it will be refused");
    }

    #[test]
    fn checks_every_second_are_logged_only_at_trace() {
        let closed = &[(".lapidaryignore", "[\n"), ("a.md", "one\n")][..];
        for (files, of_a_call) in [(&closed[1..], Level::INFO), (closed, Level::WARN)] {
            let server = TestServer::new(files);
            let watch = || assert!(server.read(WatchPrompts { seen: PromptsSeen::default() }).is_ok());
            let watched = LevelLog::most_serious(watch);
            assert_eq!(watched, Some(Level::TRACE), "{files:?}");
            let listed = LevelLog::most_serious(|| assert!(server.read(ListPrompts).is_ok()));
            assert_eq!(listed, Some(of_a_call), "{files:?}");
        }
    }

    #[test]
    fn no_change_begins_once_the_server_is_closing() {
        let server = TestServer::new(&[("a.md", "one\n")]);
        server.executor.stop_changes(Duration::from_secs(5));
        let edit = json!({ "file": "a.md", "find": "one", "replace": "two" });
        let reason = server.refused("str_replace", edit);
        assert!(matches!(reason, Reason::Interrupted(_)), "{reason:?}");
        assert_eq!(server.text("a.md"), "one\n");
        server.done("file_read", json!({ "file": "a.md" }));
    }
}
