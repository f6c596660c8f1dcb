//! Changes that wait for a user who cannot be asked through the client. The request is stored in the state folder; the
//! owner answers it in a separate process, where the change is made, through the same stages. The caller gets the
//! result by making the same call again.

use std::{
    collections::BTreeSet,
    io,
    sync::Arc,
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use lapidary_note::ContentHash;
use lapidary_tools::{ChangeAuthor, Reason, ReasonKind, RenderedReply};
use lapidary_vault::{
    ChangeSet,
    store::{ApprovalQueue, ApprovalState, WaitingName},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    Amendment, Caller, CallerStanding, ChangePreview, Executor, Grant, Invocation, Outcome, OwnerReview, Principal,
    clock::iso, execution::Execution, stages::check::VAULT,
};

/// Older requests are forgotten.
const OPEN_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a proposal is open.
pub(crate) const PROPOSAL_OPEN: Duration = Duration::from_secs(5 * 60);
/// As many characters as distinguish requests, preceded by those that identify their owner: the names alone show how
/// many each principal has.
const ID: usize = 8;
const OWNER: usize = 4;
/// Per principal, and for all together. A person reviews them one at a time.
const MOST_OF_ONE: usize = 20;
const MOST: usize = 100;
/// All together, with their diffs.
const MOST_BYTES: u64 = 64 << 20;

/// A pending change.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingChange {
    pub id: String,
    pub vault: String,
    pub asked: SystemTime,
    pub caller: String,
    /// What the change will be recorded under.
    author: ChangeAuthor,
    pub profile: String,
    pub tool: String,
    /// The name of the principal on whose behalf it is made.
    principal: String,
    /// The change itself, for the approver.
    pub question: String,
    /// It was answered, and is being carried out.
    pub taken: bool,
    arguments: Map<String, Value>,
    changes: ContentHash,
}

impl PendingChange {
    /// What would be changed or read, and how much, as the question says it in its first line.
    pub fn subject(&self) -> &str {
        let line = self.question.lines().next().unwrap_or_default();
        line.split_once(" wants to ").map_or(line, |(_, subject)| subject).trim_end_matches('.')
    }

    /// When it was requested, as shown.
    pub fn asked_at(&self) -> String {
        iso(self.asked)
    }

    /// When it is forgotten, as shown.
    pub fn open_until(&self) -> String {
        iso(self.asked + OPEN_FOR)
    }

    /// What was requested, identified.
    pub fn digest(&self) -> ContentHash {
        self.changes
    }

    /// Whether it asks to read, and changes nothing.
    pub fn is_for_reading(&self) -> bool {
        self.changes == ChangeSet::default().digest()
    }
}

/// The owner's answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum ApprovalDecision {
    /// The change with this digest, which the owner has seen; it contains the amendment.
    Approve { digest: ContentHash, amendment: Amendment },
    /// With words for the caller, if there are any.
    Reject { words: Option<String> },
}

impl ApprovalDecision {
    /// The change as it was requested.
    pub fn approve(pending: &PendingChange) -> Self {
        Self::Approve { digest: pending.changes, amendment: Amendment::default() }
    }

    pub const fn reject() -> Self {
        Self::Reject { words: None }
    }
}

/// The result of an answer.
#[derive(Debug)]
pub enum ApprovalOutcome {
    /// It was carried out, or at least tried: the reply to the call.
    Tried(RenderedReply),
    /// Nothing changes: the caller may read when it calls again.
    MayRead,
    Rejected,
    /// The profile under which it was requested is not configured in this process.
    NoSuchProfile(String),
    /// The named caller is not known in this process.
    NoSuchPrincipal(String),
    /// The caller has another profile by now.
    ProfileChanged {
        principal: String,
        profile: String,
    },
    /// Another process was faster, or it is too late.
    Gone,
}

/// What a caller gets when it makes the call again.
pub(crate) enum ApprovalResult {
    /// The owner approved it, and this is the result.
    Reply(RenderedReply),
    /// The owner approved that this call may read.
    MayRead,
    Refused(Reason),
}

/// Which request a call leads to: the same for the same call of the same caller, and for no other. `None` if the caller
/// cannot be identified.
pub(crate) fn question_id(execution: &Execution<'_>) -> Option<String> {
    let key = match execution.principal().caller {
        Caller::Known(key) => key.to_string(),
        Caller::Unknown => execution.handle.clone()?,
    };
    Some(question_id_for(execution, &key))
}

fn question_id_for(execution: &Execution<'_>, key: &str) -> String {
    let (vault, name, profile) = (vault_of(execution), execution.name(), &execution.profile().name);
    let (tool, arguments) = (&execution.operation_name, execution.given_hash);
    let call = format!("{vault}\n{name}\n{profile}\n{tool}\n{arguments}\n{key}");
    owner_mark(name) + &start_of_hash(&call, ID)
}

/// The common prefix of the names of all requests of a principal.
fn owner_mark(name: &str) -> String {
    start_of_hash(name, OWNER)
}

fn start_of_hash(text: &str, digits: usize) -> String {
    ContentHash::of(text.as_bytes()).to_string().trim_start_matches("sha256:").chars().take(digits).collect()
}

fn vault_of<'e>(execution: &Execution<'e>) -> &'e str {
    execution.vault.map_or("", |served| served.vault.name())
}

/// The state of the request that this call led to; `None` if there is nothing to report.
pub(crate) fn take_result(waiting: &ApprovalQueue, id: &str, now: SystemTime) -> io::Result<Option<ApprovalResult>> {
    // An open request is answered later by the stage that asks, which can also replace it.
    let Some((ApprovalState::Settled, text)) = waiting.find(id)? else { return Ok(None) };
    // Of two concurrent calls one gets the answer; and none that of a forgotten request.
    if !waiting.remove(id, ApprovalState::Settled)? {
        return Ok(None);
    }
    // Left by a process that ended after storing the answer.
    waiting.remove(id, ApprovalState::Taken)?;
    if is_late(&text, now) {
        return Ok(None);
    }
    let settled: Value = serde_json::from_str(&text).unwrap_or_default();
    if settled["rejected"] == true {
        let words = settled["words"].as_str().map(str::to_owned);
        return Ok(Some(ApprovalResult::Refused(Reason::Declined { path: None, words })));
    }
    if settled["mayRead"] == true {
        return Ok(Some(ApprovalResult::MayRead));
    }
    let Some(mut rendered) = RenderedReply::from_json(settled) else { return Ok(None) };
    if !rendered.is_error {
        rendered.add_notice("The owner approved it and the change has been made. Do not repeat the call.");
    }
    Ok(Some(ApprovalResult::Reply(rendered)))
}

/// Stores the request, or replaces it if the change is different by now. The reason says what to do.
pub(crate) fn wait(
    execution: &Execution<'_>,
    question: &str,
    changes: ContentHash,
    now: SystemTime,
) -> Result<Reason, io::Error> {
    let (waiting, vault) = (&execution.concerned_vault().waiting, vault_of(execution));
    // A caller that cannot be identified otherwise gets a handle.
    let handle = match (execution.principal().caller, &execution.handle) {
        (Caller::Known(_), _) => None,
        (Caller::Unknown, Some(handle)) => Some(handle.clone()),
        (Caller::Unknown, None) => Some(new_handle()?),
    };
    let id = match &handle {
        Some(handle) => question_id_for(execution, handle),
        None => question_id(execution).unwrap_or_default(),
    };
    // A request that is being carried out must not be replaced, whatever the change would be by now.
    if let Some((progress, text)) = waiting.find(&id)?
        && let Some(before) = parse(&id, vault, &text)
        && (progress == ApprovalState::Taken || (before.changes == changes && !is_late(&text, now)))
    {
        return Ok(Reason::ApprovalPending { id, handle });
    }
    let record = json!({
        "asked": iso(now),
        "caller": execution.principal().label(),
        "author": execution.principal().author,
        "principal": execution.name(),
        "profile": execution.profile().name,
        "tool": execution.operation_name,
        "arguments": execution.given,
        "changes": changes.to_string(),
        "question": question,
    });
    let record = record.to_string();
    // Only for a new request: a caller at its limit may still ask what became of an old one.
    if let Some(limit) = over_limit(waiting, &id, record.len() as u64, now)? {
        return Ok(Reason::TooMany { what: "approval requests", limit });
    }
    waiting.put(&id, &record)?;
    Ok(Reason::ApprovalPending { id, handle })
}

fn new_handle() -> io::Result<String> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The limit that another request would exceed, if any. Decided by the names, sizes and times of the files alone;
/// expired ones are removed.
fn over_limit(waiting: &ApprovalQueue, id: &str, bytes: u64, now: SystemTime) -> io::Result<Option<usize>> {
    let (mut all, mut own, mut kept) = (0, 0, bytes);
    let owner = id.get(..OWNER).unwrap_or(id);
    for found in waiting.names()? {
        // By the time of the file, since reading up to 64 MB of requests for each call would cost too much.
        let is_late = now.duration_since(found.since).is_ok_and(|passed| passed > OPEN_FOR);
        if is_late && found.progress != ApprovalState::Taken {
            waiting.forget(&found.id)?;
        } else if found.id != id {
            // The one with the same id would be replaced, so it does not count.
            all += 1;
            own += usize::from(found.id.starts_with(owner));
            kept += found.bytes;
        }
    }
    Ok(match () {
        () if own >= MOST_OF_ONE => Some(MOST_OF_ONE),
        () if all >= MOST || kept > MOST_BYTES => Some(MOST),
        () => None,
    })
}

fn parse(id: &str, vault: &str, text: &str) -> Option<PendingChange> {
    let record: Value = serde_json::from_str(text).ok()?;
    let said = |key: &str| record[key].as_str().map(str::to_owned);
    let Value::Object(arguments) = record["arguments"].clone() else { return None };
    Some(PendingChange {
        id: id.to_owned(),
        vault: vault.to_owned(),
        asked: said("asked")?.parse::<Timestamp>().ok()?.into(),
        caller: said("caller")?,
        // An older version recorded changes under the caller.
        author: ChangeAuthor::deserialize(&record["author"])
            .or_else(|_| said("caller").map(ChangeAuthor::single).ok_or(()))
            .ok()?,
        // An older version did not store it. Then the grant is unknown, so the next call asks again.
        principal: said("principal")?,
        profile: said("profile")?,
        tool: said("tool")?,
        question: said("question")?,
        taken: false,
        arguments,
        changes: said("changes")?.parse().ok()?,
    })
}

/// Whether a request or an answer has expired. Unreadable ones are useless.
fn is_late(text: &str, now: SystemTime) -> bool {
    let record: Value = serde_json::from_str(text).unwrap_or_default();
    // An answer is kept as long as a request, from the moment it was given.
    let since = record["answered"].as_str().or_else(|| record["asked"].as_str());
    let since = since.and_then(|since| since.parse::<Timestamp>().ok()).map(SystemTime::from);
    since.is_none_or(|since| now.duration_since(since).is_ok_and(|passed| passed > OPEN_FOR))
}

/// Removes expired requests. The text of notes must not stay there forever.
fn tidy(waiting: &ApprovalQueue, now: SystemTime) -> io::Result<()> {
    for (id, progress, text) in waiting.list()? {
        if serde_json::from_str::<Map<String, Value>>(&text).is_err() {
            tracing::warn!("the question {id} is damaged and is removed");
        }
        // One that is taken is a change in progress, whose outcome is still to be stored.
        if progress != ApprovalState::Taken && is_late(&text, now) {
            waiting.forget(&id)?;
        }
    }
    Ok(())
}

impl Executor {
    /// Pending requests, oldest first. Expired ones are removed.
    pub fn pending(&self) -> io::Result<Vec<PendingChange>> {
        let now = self.setup.clock.now();
        let mut all = Vec::new();
        for served in self.setup.vaults.iter() {
            tidy(&served.waiting, now)?;
            for (id, progress, text) in served.waiting.list()? {
                // An answer that was not collected is no longer a request.
                if let Some(pending) =
                    parse(&id, served.vault.name(), &text).filter(|_| progress != ApprovalState::Settled)
                {
                    all.push(PendingChange { taken: progress == ApprovalState::Taken, ..pending });
                }
            }
        }
        all.sort_by_key(|pending| pending.asked);
        Ok(all)
    }

    /// How many there are, by their names alone: what waits may be megabytes.
    pub fn pending_count(&self) -> io::Result<usize> {
        let now = self.setup.clock.now();
        let mut count = 0;
        for served in self.setup.vaults.iter() {
            let names = served.waiting.names()?;
            let settled: BTreeSet<&str> = names
                .iter()
                .filter(|found| found.progress == ApprovalState::Settled)
                .map(|found| found.id.as_str())
                .collect();
            // A settled one keeps its name until its caller has heard of it, and one that is too late until it is
            // swept.
            let is_open = |found: &&WaitingName| {
                let is_late = now.duration_since(found.since).is_ok_and(|passed| passed > OPEN_FOR);
                !is_late && !settled.contains(found.id.as_str())
            };
            let open: BTreeSet<&str> = names.iter().filter(is_open).map(|found| found.id.as_str()).collect();
            count += open.len();
        }
        Ok(count)
    }

    /// The change as it would be made now, which may be another than the one that was requested.
    pub fn preview(&self, pending: &PendingChange) -> Result<ChangePreview, ApprovalOutcome> {
        let invocation = self.pending_call(pending, self.asking_principal(pending)?, OwnerReview::Preview);
        match self.run(&invocation, &self.cancel(&invocation)) {
            Outcome::Previewed(preview) => Ok(*preview),
            // Nothing to write any more, or a reason why not.
            outcome => Err(outcome.rendered().map_or(ApprovalOutcome::Gone, ApprovalOutcome::Tried)),
        }
    }

    /// The call that led to a request, once more.
    fn pending_call(&self, pending: &PendingChange, principal: Principal, review: OwnerReview) -> Invocation {
        let spec = principal.profile().catalogue.find(&pending.tool).ok().map(|entry| &entry.spec);
        let mut arguments = pending.arguments.clone();
        if spec.is_some_and(|spec| spec.kind.needs_vault()) {
            // It may have another name in this process, or be one of several here and the only one there.
            arguments.retain(|name, _| !name.eq_ignore_ascii_case(VAULT));
            arguments.insert(VAULT.to_owned(), json!(pending.vault));
        }
        let mut invocation = Invocation::tool(&pending.tool, arguments, principal);
        invocation.review = Some(review);
        invocation
    }

    /// Answers a request. On approval, exactly the change that was shown is made, or none.
    pub fn decide(&self, pending: &PendingChange, decision: ApprovalDecision) -> io::Result<ApprovalOutcome> {
        let Some(served) = self.setup.vaults.called(&pending.vault) else { return Ok(ApprovalOutcome::Gone) };
        // The caller may be gone permanently, which does not prevent a rejection.
        let principal = match (self.asking_principal(pending), &decision) {
            (Err(unknown), ApprovalDecision::Approve { .. }) => return Ok(unknown),
            (principal, _) => principal.ok(),
        };
        let (waiting, now) = (&served.waiting, self.setup.clock.now());
        // The caller's list may be old; an expired request must not be answered.
        tidy(waiting, now)?;
        // Held until the answer is stored.
        let Some(_taken) = waiting.take(&pending.id)? else { return Ok(ApprovalOutcome::Gone) };
        let settle = |mut answer: Value| {
            answer["answered"] = json!(iso(now));
            waiting.settle(&pending.id, &answer.to_string())
        };
        let (principal, digest, amendment) = match (principal, decision) {
            (Some(principal), ApprovalDecision::Approve { digest, amendment }) => (principal, digest, amendment),
            (_, ApprovalDecision::Reject { words }) => {
                settle(json!({ "rejected": true, "words": words }))?;
                return Ok(ApprovalOutcome::Rejected);
            }
            (None, ApprovalDecision::Approve { .. }) => return Ok(ApprovalOutcome::Gone),
        };
        if pending.is_for_reading() {
            // Carried out when it is requested again, with the access of that time. So no text of a note is stored
            // here.
            settle(json!({ "mayRead": true }))?;
            return Ok(ApprovalOutcome::MayRead);
        }
        let invocation = self.pending_call(pending, principal, OwnerReview::Approved { digest, amendment });
        let outcome = self.run(&invocation, &self.cancel(&invocation));
        let kind = match &outcome {
            Outcome::Refused(refusal) => Some(refusal.reason.kind()),
            _ => None,
        };
        // Another question, or an unknown tool: there is no reply to store.
        let Some(rendered) = outcome.rendered() else {
            waiting.forget(&pending.id)?;
            return Ok(ApprovalOutcome::Gone);
        };
        if kind == Some(ReasonKind::ChangedMeanwhile) {
            // The next call asks about the change in its state by then.
            waiting.forget(&pending.id)?;
        } else {
            settle(rendered.to_json())?;
        }
        Ok(ApprovalOutcome::Tried(rendered))
    }

    /// The principal that asked, with its grant in this process; its user cannot be asked from here.
    fn asking_principal(&self, pending: &PendingChange) -> Result<Principal, ApprovalOutcome> {
        Ok(Principal {
            id: pending.caller.clone(),
            name: pending.principal.clone(),
            grant: self.asking_grant(pending)?,
            can_be_asked: false,
            caller: Caller::Unknown,
            // An answer here must not count as a repetition of the caller's own calls.
            is_single_client: false,
            author: pending.author.clone(),
            standing: CallerStanding::default(),
        })
    }

    fn asking_grant(&self, pending: &PendingChange) -> Result<Arc<Grant>, ApprovalOutcome> {
        let PendingChange { principal, profile, .. } = pending;
        if Principal::is_anonymous(principal) {
            // The server may have been started with another profile than this process.
            let known = self.setup.profiles.iter().find(|known| known.name == *profile);
            let known = known.ok_or_else(|| ApprovalOutcome::NoSuchProfile(profile.clone()))?;
            return Ok(Arc::new(Grant { profile: Arc::clone(known), ..Grant::clone(&self.setup.grant) }));
        }
        let known = self.setup.grants.iter().find(|(name, _)| name == principal);
        let (_, grant) = known.ok_or_else(|| ApprovalOutcome::NoSuchPrincipal(principal.clone()))?;
        if grant.profile.name != *profile {
            return Err(ApprovalOutcome::ProfileChanged { principal: principal.clone(), profile: profile.clone() });
        }
        Ok(Arc::clone(grant))
    }
}

#[cfg(test)]
mod tests {
    use lapidary_tools::{Effect, ProfileRules, ProfileView, TOOL_SET, ToolSelection};

    use super::*;
    use crate::{
        ApprovalRule, RuleDecision,
        testing::{TestServer, TestSetup, granted},
    };

    const PHONE: &str = "http:phone";

    /// A server that knows these by name, and a request of a client called `http:phone`.
    fn asked(known: Vec<(&str, Grant)>) -> (TestServer, PendingChange) {
        let grants = known.into_iter().map(|(name, grant)| (name.to_owned(), Arc::new(grant))).collect();
        let rules = vec![ApprovalRule::effect(Effect::Write, RuleDecision::Ask)];
        let setup = TestSetup { grants, rules, waits_for_approval: true, ..TestSetup::default() };
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
        assert!(matches!(
            server.executor.decide(&pending, ApprovalDecision::reject()).unwrap(),
            ApprovalOutcome::Rejected
        ));
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
            let server =
                TestSetup { rules, waits_for_approval: true, ..TestSetup::default() }.serve(&[("a.md", "one\n")]);
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
}
