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
    Amendment, AskedChange, Caller, CallerStanding, ChangePreview, Executor, Grant, Invocation, Outcome, OwnerReview,
    Principal, ServedVault,
    asked_change::{read_policy, written_policy},
    clock::iso,
    execution::Execution,
    stages::check::VAULT,
};

/// Older requests are forgotten.
const OPEN_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a proposal is open.
pub(crate) const PROPOSAL_OPEN: Duration = Duration::from_secs(5 * 60);
/// As many characters as a person needs to distinguish requests, preceded by those that identify their owner: the names
/// alone show how many each principal has. A caller can find two calls with the same id, so an id decides nothing; the
/// [`RequestKey::call`] does.
const ID: usize = 8;
const OWNER: usize = 4;
/// Open at a time, per caller, and for all together. A person reviews them one at a time.
const MOST_OF_ONE: usize = 20;
const MOST: usize = 100;
/// All together, with their diffs, and with the answers that have not been collected.
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
    /// Identifies the call.
    call: ContentHash,
    /// What an answer must not go beyond.
    subject: Arc<AskedChange>,
    /// The policy of the server that was asked.
    policy: Value,
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

    /// What was requested, identified. Calls that only read all have the same change, which is none.
    pub fn digest(&self) -> ContentHash {
        if self.is_for_reading() { self.call } else { self.changes }
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
        Self::Approve { digest: pending.digest(), amendment: Amendment::default() }
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
    /// It was approved before, and the change was made; the process that made it died before it could answer.
    AlreadyMade {
        checkpoint: String,
    },
    /// The server that was asked hides more than this process can.
    HidesMore,
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

/// Which request a call leads to: the same for the same call of the same caller.
pub(crate) struct RequestKey {
    /// For people, and the name of its file.
    id: String,
    /// The whole hash of call and caller, which no other call has.
    call: ContentHash,
}

/// `None` if the caller cannot be identified.
pub(crate) fn request_key(execution: &Execution<'_>) -> Option<RequestKey> {
    let caller = match execution.principal().caller {
        Caller::Known(key) => key.to_string(),
        Caller::Unknown => execution.handle.clone()?,
    };
    Some(request_key_for(execution, &caller))
}

fn request_key_for(execution: &Execution<'_>, caller: &str) -> RequestKey {
    let (vault, name, profile) = (vault_of(execution), execution.name(), &execution.profile().name);
    let (tool, arguments) = (&execution.operation_name, execution.given_hash);
    let call = ContentHash::of(format!("{vault}\n{name}\n{profile}\n{tool}\n{arguments}\n{caller}").as_bytes());
    // Every program that starts a server has the same name; one of them must not use up the requests of the others.
    let owner = if name == Principal::STDIO { ContentHash::of(caller.as_bytes()).to_string() } else { name.to_owned() };
    RequestKey { id: owner_mark(&owner) + &start_of_hash(call, ID), call }
}

impl RequestKey {
    /// Whether a stored request or answer belongs to this call. An older version did not store the call; then it belongs
    /// to none, and the owner is asked again.
    fn owns(&self, record: &Value) -> bool {
        record["call"].as_str().and_then(|call| call.parse().ok()) == Some(self.call)
    }
}

/// The common prefix of the names of all requests of one owner.
fn owner_mark(owner: &str) -> String {
    start_of_hash(ContentHash::of(owner.as_bytes()), OWNER)
}

fn start_of_hash(hash: ContentHash, digits: usize) -> String {
    hash.to_string().trim_start_matches("sha256:").chars().take(digits).collect()
}

fn vault_of<'e>(execution: &Execution<'e>) -> &'e str {
    execution.vault.map_or("", |served| served.vault.name())
}

/// The state of the request that this call led to; `None` if there is nothing to report.
pub(crate) fn take_result(
    served: &ServedVault,
    key: &RequestKey,
    now: SystemTime,
) -> io::Result<Option<ApprovalResult>> {
    let (waiting, id) = (&served.waiting, &key.id);
    if let Some((ApprovalState::Abandoned, text)) = waiting.find(id)? {
        settle_abandoned(served, id, &text, now)?;
    }
    // An open request is answered later by the stage that asks, which can also replace it.
    let Some((ApprovalState::Settled, text)) = waiting.find(id)? else { return Ok(None) };
    let settled: Value = serde_json::from_str(&text).unwrap_or_default();
    if !key.owns(&settled) {
        return Ok(None);
    }
    // Of two concurrent calls one gets the answer; and none that of a forgotten request.
    if !waiting.remove(id, ApprovalState::Settled)? {
        return Ok(None);
    }
    // Left by a process that ended after storing the answer.
    waiting.remove(id, ApprovalState::Taken)?;
    if is_late(&text, now) {
        return Ok(None);
    }
    if settled["rejected"] == true {
        let words = settled["words"].as_str().map(str::to_owned);
        return Ok(Some(ApprovalResult::Refused(Reason::Declined { path: None, words })));
    }
    if settled["mayRead"] == true {
        return Ok(Some(ApprovalResult::MayRead));
    }
    if let Some(checkpoint) = settled["made"].as_str() {
        let checkpoint = checkpoint.to_owned();
        return Ok(Some(ApprovalResult::Refused(Reason::MadeOnApproval { checkpoint })));
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
    files: &BTreeSet<String>,
    now: SystemTime,
) -> Result<Reason, io::Error> {
    let ServedVault { waiting, vault, .. } = execution.concerned_vault();
    // A caller that cannot be identified otherwise gets a handle.
    let handle = match (execution.principal().caller, &execution.handle) {
        (Caller::Known(_), _) => None,
        (Caller::Unknown, Some(handle)) => Some(handle.clone()),
        (Caller::Unknown, None) => Some(new_handle()?),
    };
    let key = match (execution.principal().caller, &handle) {
        (_, Some(handle)) => request_key_for(execution, handle),
        (Caller::Known(caller), None) => request_key_for(execution, &caller.to_string()),
        (Caller::Unknown, None) => return Err(io::Error::other("a caller without a key or a handle")),
    };
    let RequestKey { id, call } = &key;
    if let Some((progress, text)) = waiting.find(id)?
        && !is_late(&text, now)
    {
        let before: Value = serde_json::from_str(&text).unwrap_or_default();
        if before["call"].is_string() && !key.owns(&before) {
            // The owner may be looking at it, and would answer this one instead.
            return Ok(Reason::TooMany { what: "approval requests", limit: 1 });
        }
        // A request that is being carried out must not be replaced, whatever the change would be by now.
        // Once a change was shown, the question that came before it is not asked again.
        let is_same = before["changes"] == json!(changes.to_string()) || changes == ChangeSet::default().digest();
        if key.owns(&before) && (progress == ApprovalState::Taken || is_same) {
            return Ok(Reason::ApprovalPending { id: key.id, handle });
        }
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
        "call": call.to_string(),
        // The same call may be made again, and then it is another request.
        "request": ContentHash::of(format!("{call}\n{}", new_handle()?).as_bytes()).to_string(),
        "files": files,
        "policy": written_policy(vault.policy()),
        "question": question,
    });
    let record = record.to_string();
    // Only for a new request: a caller at its limit may still ask what became of an old one.
    if let Some(limit) = over_limit(waiting, id, record.len() as u64, now)? {
        return Ok(Reason::TooMany { what: "approval requests", limit });
    }
    waiting.put(id, &record)?;
    Ok(Reason::ApprovalPending { id: key.id, handle })
}

fn new_handle() -> io::Result<String> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The limit that another request would exceed, if any. Decided by the names, sizes and times of the files alone;
/// expired ones are removed. Answers that were not collected make room, the oldest first.
fn over_limit(waiting: &ApprovalQueue, id: &str, bytes: u64, now: SystemTime) -> io::Result<Option<usize>> {
    let (mut all, mut own, mut kept, mut settled) = (0, 0, bytes, Vec::new());
    let owner = id.get(..OWNER).unwrap_or(id);
    for found in waiting.names()? {
        // By the time of the file, since reading up to 64 MB of requests for each call would cost too much.
        let is_late = now.duration_since(found.since).is_ok_and(|passed| passed > OPEN_FOR);
        if is_late && found.progress != ApprovalState::Taken {
            waiting.forget(&found.id)?;
        } else if found.id != id {
            // The one with the same id would be replaced, so it does not count.
            kept += found.bytes;
            if found.progress == ApprovalState::Settled {
                settled.push(found);
            } else {
                all += 1;
                own += usize::from(found.id.starts_with(owner));
            }
        }
    }
    settled.sort_by_key(|found| found.since);
    let mut settled = settled.into_iter();
    while kept > MOST_BYTES || settled.len() > MOST {
        let Some(oldest) = settled.next() else { break };
        waiting.remove(&oldest.id, ApprovalState::Settled)?;
        kept = kept.saturating_sub(oldest.bytes);
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
        // Likewise.
        call: said("call")?.parse().ok()?,
        subject: Arc::new(AskedChange {
            request: said("request")?.parse().ok()?,
            files: record["files"].as_array()?.iter().filter_map(|file| file.as_str().map(str::to_owned)).collect(),
        }),
        policy: record["policy"].clone(),
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

/// A process died while it carried out an answer. If the change was made, the request is answered with that; otherwise it can
/// be answered again. Returns the checkpoint.
fn settle_abandoned(served: &ServedVault, id: &str, text: &str, now: SystemTime) -> io::Result<Option<String>> {
    let Some(pending) = parse(id, served.vault.name(), text) else { return Ok(None) };
    // Another process may hold it by now, and then answers it.
    let Some(taken) = served.waiting.take(id)? else { return Ok(None) };
    let made = settle_if_made(served, &pending, now);
    drop(taken);
    made
}

/// The same for a request that this process has taken.
fn settle_if_made(served: &ServedVault, pending: &PendingChange, now: SystemTime) -> io::Result<Option<String>> {
    let made = served.vault.made_on(&pending.subject.request).map_err(io::Error::other)?;
    if let Some(checkpoint) = &made {
        let answer = json!({ "made": checkpoint, "call": pending.call.to_string(), "answered": iso(now) });
        served.waiting.settle(&pending.id, &answer.to_string())?;
    }
    Ok(made)
}

/// Removes expired requests, and answers those whose change was made by a process that died. The text of notes must not stay
/// there forever.
fn tidy(served: &ServedVault, now: SystemTime) -> io::Result<()> {
    let waiting = &served.waiting;
    for (id, progress, text) in waiting.list()? {
        if progress == ApprovalState::Abandoned && settle_abandoned(served, &id, &text, now)?.is_some() {
            continue;
        }
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
            tidy(served, now)?;
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
        invocation.asked = Some(Arc::clone(&pending.subject));
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
        // Another request may have the same id; then the one that was shown has been answered. A change is compared when it is
        // planned.
        if let ApprovalDecision::Approve { digest, .. } = &decision
            && pending.is_for_reading()
            && *digest != pending.digest()
        {
            return Ok(ApprovalOutcome::Gone);
        }
        let (waiting, now) = (&served.waiting, self.setup.clock.now());
        // The list that it was chosen from may be old. An expired request must not be answered, and one whose process died has
        // perhaps been carried out.
        let before = waiting.find(&pending.id)?;
        let is_same = before.and_then(|(_, text)| {
            let same = parse(&pending.id, &pending.vault, &text)?.subject == pending.subject;
            (same && !is_late(&text, now)).then_some(())
        });
        if is_same.is_none() {
            tidy(served, now)?;
            return Ok(ApprovalOutcome::Gone);
        }
        // Held until the answer is stored.
        let Some(_taken) = waiting.take(&pending.id)? else { return Ok(ApprovalOutcome::Gone) };
        if let Some(checkpoint) = settle_if_made(served, pending, now)? {
            return Ok(ApprovalOutcome::AlreadyMade { checkpoint });
        }
        let settle = |mut answer: Value| {
            answer["answered"] = json!(iso(now));
            answer["call"] = json!(pending.call.to_string());
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

    /// The principal that asked, with its grant as of now; its user cannot be asked from here.
    fn asking_principal(&self, pending: &PendingChange) -> Result<Principal, ApprovalOutcome> {
        let (grant, standing) = self.asking_grant(pending)?;
        Ok(Principal {
            id: pending.caller.clone(),
            name: pending.principal.clone(),
            grant: self.as_asked(grant, pending)?,
            can_be_asked: false,
            caller: Caller::Unknown,
            // An answer here must not count as a repetition of the caller's own calls.
            is_single_client: false,
            author: pending.author.clone(),
            standing,
        })
    }

    fn asking_grant(&self, pending: &PendingChange) -> Result<(Arc<Grant>, CallerStanding), ApprovalOutcome> {
        let PendingChange { principal, profile, .. } = pending;
        if Principal::is_anonymous(principal) {
            // The server may have been started with another profile than this process.
            let known = self.setup.profiles.iter().find(|known| known.name == *profile);
            let known = known.ok_or_else(|| ApprovalOutcome::NoSuchProfile(profile.clone()))?;
            let grant = Grant { profile: Arc::clone(known), ..Grant::clone(&self.setup.grant) };
            return Ok((Arc::new(grant), CallerStanding::default()));
        }
        let known = self.setup.known.clone();
        let grant = known.find(principal).ok_or_else(|| ApprovalOutcome::NoSuchPrincipal(principal.clone()))?;
        if grant.profile.name != *profile {
            return Err(ApprovalOutcome::ProfileChanged { principal: principal.clone(), profile: profile.clone() });
        }
        // Asked once more when the change is made: equal rights are the same grant.
        let (name, then) = (principal.clone(), Arc::clone(&grant));
        let standing = CallerStanding::asked_of(move || known.find(&name).is_some_and(|now| Arc::ptr_eq(&now, &then)));
        Ok((grant, standing))
    }

    /// The grant within what the server that was asked opens. A process of the owner may have been started with other settings,
    /// and must not show or change for a caller what is closed to it.
    fn as_asked(&self, grant: Arc<Grant>, pending: &PendingChange) -> Result<Arc<Grant>, ApprovalOutcome> {
        let served = self.setup.vaults.called(&pending.vault).ok_or(ApprovalOutcome::Gone)?;
        let own = served.vault.policy();
        if written_policy(own) == pending.policy {
            return Ok(grant);
        }
        let asked = read_policy(&pending.policy).ok_or(ApprovalOutcome::Gone)?;
        // Which files those are depends on the settings of the app, which are read only where they are needed.
        if asked.hide_excluded && !own.hide_excluded {
            return Err(ApprovalOutcome::HidesMore);
        }
        Ok(Arc::new(Grant { asked: Some(Arc::new(asked)), ..Grant::clone(&grant) }))
    }
}

#[cfg(test)]
mod tests;
