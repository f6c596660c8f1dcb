//! Tests of approval requests.

use std::sync::atomic::{AtomicBool, Ordering};

use lapidary_tools::{Effect, ProfileRules, ProfileView, TOOL_SET, ToolSelection};
use lapidary_vault::{PathPrefix, Policy};

use super::*;
use crate::{
    ApprovalRule, GrantLookup, RuleDecision,
    testing::{TestServer, TestSetup, granted},
};

const PHONE: &str = "http:phone";

/// A server that knows these by name, and a request of a client called `http:phone`.
fn asked(known: Vec<(&str, Grant)>) -> (TestServer, PendingChange) {
    let known: Vec<_> = known.into_iter().map(|(name, grant)| (name.to_owned(), Arc::new(grant))).collect();
    let known =
        GrantLookup::new(move |name| known.iter().find(|(known, _)| known == name).map(|(_, grant)| Arc::clone(grant)));
    let rules = vec![ApprovalRule::effect(Effect::Write, RuleDecision::Ask)];
    let setup = TestSetup { known, rules, waits_for_approval: true, ..TestSetup::default() };
    let server = setup.serve(&[("Work/a.md", "one\n")]);
    let phone = Principal { name: PHONE.to_owned(), ..server.principal_with(granted(&["Work"])) };
    server.call_as(&phone, "str_replace", json!({ "file": "Work/a.md", "find": "one", "replace": "two" }));
    let pending = server.executor.pending().unwrap().remove(0);
    (server, pending)
}

#[test]
fn a_change_is_made_with_the_grant_of_the_caller() {
    let (server, pending) = asked(vec![(PHONE, granted(&["Work"]))]);
    let decided = server.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert!(matches!(decided, ApprovalOutcome::Tried(reply) if !reply.is_error));
    assert_eq!(server.text("Work/a.md"), "two\n");
    let (server, pending) = asked(vec![(PHONE, granted(&["Home"]))]);
    let decided = server.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert!(matches!(decided, ApprovalOutcome::Tried(reply) if reply.is_error), "it has another folder by now");
    assert_eq!(server.text("Work/a.md"), "one\n");
}

#[test]
fn a_request_of_an_unknown_principal_can_only_be_rejected() {
    let (server, pending) = asked(vec![("http:desk", granted(&["Work"]))]);
    let decided = server.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert!(matches!(decided, ApprovalOutcome::NoSuchPrincipal(name) if name == PHONE));
    assert_eq!(server.text("Work/a.md"), "one\n");
    assert_eq!(server.executor.pending().unwrap(), std::slice::from_ref(&pending), "it is still pending");
    assert!(matches!(server.executor.decide(&pending, ApprovalDecision::reject()).unwrap(), ApprovalOutcome::Rejected));
    assert_eq!(server.executor.pending().unwrap(), []);
}

#[test]
fn a_request_under_another_profile_is_not_carried_out() {
    let rules = ProfileRules::curator();
    let profile = Arc::new(ProfileView::new("other", TOOL_SET, &rules, &ToolSelection::default(), &[]).unwrap());
    let (server, pending) = asked(vec![(PHONE, Grant { profile, ..granted(&["Work"]) })]);
    let decided = server.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert!(matches!(decided, ApprovalOutcome::ProfileChanged { profile, .. } if profile == "test"));
    assert_eq!(server.text("Work/a.md"), "one\n");
}

#[test]
fn the_result_of_an_approval_goes_only_to_its_caller() {
    for effect in [Effect::Write, Effect::Read] {
        let rules = vec![ApprovalRule::effect(effect, RuleDecision::Ask)];
        let server = TestSetup { rules, waits_for_approval: true, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
        let (tool, call) = match effect {
            Effect::Read => ("file_read", json!({ "file": "a.md" })),
            _ => ("str_replace", json!({ "file": "a.md", "find": "one", "replace": "two" })),
        };
        let asks = Principal { caller: Caller::of("one session"), ..server.principal() };
        let other = Principal { caller: Caller::of("another"), ..server.principal() };
        server.call_as(&asks, tool, call.clone());
        let pending = server.executor.pending().unwrap().remove(0);
        server.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
        assert!(server.call_as(&other, tool, call.clone()).rendered().unwrap().is_error, "{tool}");
        assert!(!server.call_as(&asks, tool, call).rendered().unwrap().is_error, "{tool}");
    }
}

/// Ids are short enough that a caller can find two calls with the same one.
#[test]
fn an_answer_is_only_for_the_call_that_it_was_given_to() {
    for approves in [true, false] {
        let rules = vec![ApprovalRule::effect(Effect::Read, RuleDecision::Ask)];
        let setup = TestSetup { rules, waits_for_approval: true, ..TestSetup::default() };
        let server = setup.serve(&[("Recipes.md", "soup\n"), ("Diary.md", "secret\n")]);
        let waiting = &server.executor.vaults().first().waiting;
        let read = |file: &str| server.call("file_read", json!({ "file": file }));
        let pending = |subject: &str| {
            let all = server.executor.pending().unwrap();
            all.into_iter().find(|pending| pending.question.contains(subject)).unwrap()
        };
        read("Recipes.md");
        read("Diary.md");
        let (recipes, diary) = (pending("Recipes.md"), pending("Diary.md"));
        let decision = if approves { ApprovalDecision::approve(&recipes) } else { ApprovalDecision::reject() };
        server.executor.decide(&recipes, decision).unwrap();
        let (_, answer) = waiting.find(&recipes.id).unwrap().unwrap();
        let taken = waiting.take(&diary.id).unwrap();
        waiting.settle(&diary.id, &answer).unwrap();
        drop(taken);
        let Outcome::Refused(refusal) = read("Diary.md") else { panic!("it was read") };
        assert_eq!(refusal.reason.kind(), ReasonKind::TooMany, "the place of the request is taken");
        assert!(waiting.find(&diary.id).unwrap().is_some(), "the answer is still there for its caller");
        assert_eq!(read("Recipes.md").rendered().unwrap().is_error, !approves);
    }
}

#[test]
fn a_read_is_approved_by_what_was_shown() {
    let rules = vec![ApprovalRule::effect(Effect::Read, RuleDecision::Ask)];
    let setup = TestSetup { rules, waits_for_approval: true, ..TestSetup::default() };
    let server = setup.serve(&[("a.md", "one\n"), ("b.md", "two\n")]);
    server.call("file_read", json!({ "file": "a.md" }));
    server.call("file_read", json!({ "file": "b.md" }));
    let [one, other] = server.executor.pending().unwrap().try_into().unwrap();
    let decided = server.executor.decide(&one, ApprovalDecision::approve(&other)).unwrap();
    assert!(matches!(decided, ApprovalOutcome::Gone));
    assert_eq!(server.executor.pending().unwrap().len(), 2, "both are still pending");
}

#[test]
fn an_anonymous_caller_is_identified_by_its_handle() {
    let rules = vec![ApprovalRule::effect(Effect::Write, RuleDecision::Ask)];
    let server = TestSetup { rules, waits_for_approval: true, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
    let anyone = Principal { caller: Caller::Unknown, ..server.principal() };
    let call = |handle: Option<&str>| {
        let mut call = json!({ "file": "a.md", "find": "one", "replace": "two" });
        if let Some(handle) = handle {
            call["approval"] = json!(handle);
        }
        server.call_as(&anyone, "str_replace", call)
    };
    let Outcome::Refused(refusal) = call(None) else { panic!("done") };
    let Reason::ApprovalPending { handle: Some(handle), .. } = refusal.reason else { panic!("no handle") };
    let pending = server.executor.pending().unwrap().remove(0);
    server.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert!(call(None).rendered().unwrap().is_error);
    assert!(call(Some("0123456789")).rendered().unwrap().is_error);
    assert!(!call(Some(&handle)).rendered().unwrap().is_error);
}

#[test]
fn questions_that_wait_are_limited_for_each_and_for_all() {
    let rules = vec![ApprovalRule::effect(Effect::Write, RuleDecision::Ask)];
    let server = TestSetup { rules, waits_for_approval: true, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
    let ask = |name: &str, number: usize| {
        let principal = Principal { name: name.to_owned(), ..server.principal() };
        let call = json!({ "file": "a.md", "find": "one", "replace": number.to_string() });
        match server.call_as(&principal, "str_replace", call) {
            Outcome::Refused(refusal) => refusal.reason.kind(),
            _ => panic!("done"),
        }
    };
    for number in 0..MOST_OF_ONE {
        assert_eq!(ask("http:a", number), ReasonKind::ApprovalPending);
    }
    assert_eq!(ask("http:a", MOST_OF_ONE), ReasonKind::TooMany);
    assert_eq!(ask("http:a", 0), ReasonKind::ApprovalPending, "it waits already");
    for number in MOST_OF_ONE..MOST {
        assert_eq!(ask(&format!("http:{number}"), number), ReasonKind::ApprovalPending);
    }
    assert_eq!(ask("http:last", 0), ReasonKind::TooMany);
}

#[test]
fn a_request_without_an_owner_is_asked_again() {
    let (server, pending) = asked(Vec::new());
    let waiting = &server.executor.vaults().first().waiting;
    let (_, text) = waiting.find(&pending.id).unwrap().unwrap();
    let mut record: Value = serde_json::from_str(&text).unwrap();
    record.as_object_mut().unwrap().remove("principal");
    waiting.put(&pending.id, &record.to_string()).unwrap();
    assert_eq!(server.executor.pending().unwrap(), []);
}

fn asks_to_write() -> Vec<ApprovalRule> {
    vec![ApprovalRule::effect(Effect::Write, RuleDecision::Ask)]
}

#[test]
fn an_approval_counts_once_even_if_the_process_dies_before_it_answers() {
    let setup = TestSetup { rules: asks_to_write(), waits_for_approval: true, ..TestSetup::default() };
    let server = setup.serve(&[("a.md", "one\n")]);
    let append = || server.call("file_append", json!({ "file": "a.md", "content": "two\n" }));
    let executor = &server.executor;
    let waiting = &executor.vaults().first().waiting;
    append();
    let pending = executor.pending().unwrap().remove(0);
    // It dies before the change.
    drop(waiting.take(&pending.id).unwrap().unwrap());
    assert_eq!(executor.pending().unwrap(), std::slice::from_ref(&pending), "it can be answered again");
    // It dies after the change.
    let taken = waiting.take(&pending.id).unwrap().unwrap();
    let approved = OwnerReview::Approved { digest: pending.digest(), amendment: Amendment::default() };
    let principal = executor.asking_principal(&pending).unwrap();
    server.run(&executor.pending_call(&pending, principal, approved));
    drop(taken);
    assert_eq!(server.text("a.md"), "one\ntwo\n");
    let again = executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert!(matches!(again, ApprovalOutcome::AlreadyMade { .. }), "{again:?}");
    assert_eq!((server.text("a.md").as_str(), executor.pending().unwrap().len()), ("one\ntwo\n", 0));
    let Outcome::Refused(refusal) = append() else { panic!("made again") };
    assert!(matches!(refusal.reason, Reason::MadeOnApproval { .. }), "{:?}", refusal.reason);
    // The same call later is another request.
    append();
    let pending = executor.pending().unwrap().remove(0);
    executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert_eq!(server.text("a.md"), "one\ntwo\ntwo\n");
}

#[test]
fn a_caller_learns_what_became_of_its_request_though_nobody_looks_at_it() {
    let setup = TestSetup { rules: asks_to_write(), waits_for_approval: true, ..TestSetup::default() };
    let server = setup.serve(&[("a.md", "one\n")]);
    let append = || server.call("file_append", json!({ "file": "a.md", "content": "two\n" }));
    append();
    let pending = server.executor.pending().unwrap().remove(0);
    let taken = server.executor.vaults().first().waiting.take(&pending.id).unwrap();
    let approved = OwnerReview::Approved { digest: pending.digest(), amendment: Amendment::default() };
    let principal = server.executor.asking_principal(&pending).unwrap();
    server.run(&server.executor.pending_call(&pending, principal, approved));
    drop(taken);
    let Outcome::Refused(refusal) = append() else { panic!("made again") };
    assert!(matches!(refusal.reason, Reason::MadeOnApproval { .. }), "{:?}", refusal.reason);
}

/// The owner's process may have been started without the settings of the server that a client starts.
#[test]
fn an_answer_in_another_process_stays_within_what_the_asked_server_opens() {
    let closed = || Policy { deny: vec![PathPrefix::parse("Private").unwrap()], ..Policy::default() };
    let setup = |policy| TestSetup { rules: asks_to_write(), waits_for_approval: true, policy, ..TestSetup::default() };
    let files = [("a.md", "#old\n"), ("Private/b.md", "#old\n")];
    let server = setup(closed()).serve(&files);
    let rename = || server.call("tag_rename", json!({ "from": "old", "to": "new" }));
    rename();
    let owner = server.beside(setup(Policy::default()));
    let pending = owner.pending().unwrap().remove(0);
    let preview = owner.preview(&pending).unwrap();
    assert_eq!(preview.digest(), pending.digest(), "it is the change that was asked for");
    owner.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert_eq!((server.text("a.md").as_str(), server.text("Private/b.md").as_str()), ("#new\n", "#old\n"));
    let told = rename().rendered().unwrap();
    assert!(!told.is_error && !told.structured().contains("Private"), "{}", told.structured());
    // What only the asked server can hide is not guessed.
    let server = setup(Policy { hide_excluded: true, ..closed() }).serve(&files);
    server.call("tag_rename", json!({ "from": "old", "to": "new" }));
    let owner = server.beside(setup(Policy::default()));
    let pending = owner.pending().unwrap().remove(0);
    assert!(matches!(owner.preview(&pending), Err(ApprovalOutcome::HidesMore)));
    let decided = owner.decide(&pending, ApprovalDecision::approve(&pending)).unwrap();
    assert!(matches!(decided, ApprovalOutcome::HidesMore));
    assert_eq!(server.text("a.md"), "#old\n");
}

#[test]
fn a_change_has_no_file_that_was_not_asked_about() {
    let setup = TestSetup { rules: asks_to_write(), waits_for_approval: true, ..TestSetup::default() };
    let server = setup.serve(&[("a.md", "#old\n")]);
    server.call("tag_rename", json!({ "from": "old", "to": "new" }));
    let pending = server.executor.pending().unwrap().remove(0);
    let other = server.beside(TestSetup::default());
    let mut principal = server.principal();
    principal.grant = Arc::clone(other.grant());
    let Value::Object(arguments) = json!({ "file": "b.md", "content": "#old\n" }) else { panic!() };
    let create = Invocation::tool("file_create", arguments, principal);
    assert!(!other.run(&create, &other.cancel(&create)).rendered().unwrap().is_error);
    let Err(ApprovalOutcome::Tried(refused)) = server.executor.preview(&pending) else { panic!("shown") };
    assert!(refused.structured().contains("changed_meanwhile"), "{}", refused.structured());
    assert_eq!(server.text("a.md"), "#old\n");
}

#[test]
fn a_caller_that_is_no_longer_known_gets_nothing_approved() {
    for revoked_late in [false, true] {
        let is_live = Arc::new(AtomicBool::new(true));
        let (grant, live) = (Arc::new(granted(&["Work"])), Arc::clone(&is_live));
        let known = GrantLookup::new(move |name| {
            // A token may be revoked between the look-up and the change.
            let found = if revoked_late { live.swap(false, Ordering::SeqCst) } else { live.load(Ordering::SeqCst) };
            (found && name == PHONE).then(|| Arc::clone(&grant))
        });
        let setup = TestSetup { known, rules: asks_to_write(), waits_for_approval: true, ..TestSetup::default() };
        let server = setup.serve(&[("Work/a.md", "one\n")]);
        let phone = Principal { name: PHONE.to_owned(), ..server.principal_with(granted(&["Work"])) };
        server.call_as(&phone, "str_replace", json!({ "file": "Work/a.md", "find": "one", "replace": "two" }));
        let pending = server.executor.pending().unwrap().remove(0);
        is_live.store(revoked_late, Ordering::SeqCst);
        match server.executor.decide(&pending, ApprovalDecision::approve(&pending)).unwrap() {
            ApprovalOutcome::NoSuchPrincipal(_) => assert!(!revoked_late),
            ApprovalOutcome::Tried(reply) => assert!(revoked_late && reply.is_error),
            other => panic!("{other:?}"),
        }
        assert_eq!(server.text("Work/a.md"), "one\n");
    }
}

#[test]
fn only_what_waits_counts_and_one_program_does_not_use_up_the_requests_of_another() {
    let setup = TestSetup { rules: asks_to_write(), waits_for_approval: true, ..TestSetup::default() };
    let server = setup.serve(&[("a.md", "one\n")]);
    let ask = |program: &str, number: usize| {
        let principal = Principal { caller: Caller::of(program), ..server.principal() };
        let call = json!({ "file": "a.md", "find": "one", "replace": number.to_string() });
        match server.call_as(&principal, "str_replace", call) {
            Outcome::Refused(refusal) => refusal.reason.kind(),
            _ => panic!("done"),
        }
    };
    for number in 0..MOST_OF_ONE {
        assert_eq!(ask("one", number), ReasonKind::ApprovalPending);
    }
    assert_eq!(ask("one", MOST_OF_ONE), ReasonKind::TooMany);
    assert_eq!(ask("another", 0), ReasonKind::ApprovalPending);
    for pending in server.executor.pending().unwrap() {
        server.executor.decide(&pending, ApprovalDecision::reject()).unwrap();
    }
    assert_eq!(ask("one", MOST_OF_ONE), ReasonKind::ApprovalPending, "nothing waits");
}
