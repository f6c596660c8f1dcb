//! Asks the user behind a client. Older clients are asked while the call waits; newer ones get the question as an
//! answer and make the call again.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use lapidary_pipeline::Verdict;
use rmcp::{
    RoleServer, ServiceError,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
        InputRequiredResult, InputResponses,
    },
    service::RequestContext,
};

const ANSWER_KEY: &str = "consent";
const CONFIRM_FIELD: &str = "confirm";

/// Whether the client says that it can show a form to its user.
pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation)
        // Neither mode named means the older form-only clients.
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// Whether this client is asked by an answer that makes it call again.
pub(super) fn by_retry(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

pub(super) fn input_required(message: String, state: String) -> InputRequiredResult {
    let question = InputRequest::Elicitation(ElicitRequest::new(form(message)));
    InputRequiredResult::new(Some([(ANSWER_KEY.to_owned(), question)].into()), Some(state))
}

/// The answer in a repeated call. Anything but a clear approval is a refusal.
pub(super) fn verdict_of(responses: Option<&InputResponses>) -> Verdict {
    let Some(response) = responses.and_then(|responses| responses.get(ANSWER_KEY)) else { return Verdict::Unanswered };
    serde_json::from_value::<ElicitResult>(response.clone()).map_or(Verdict::Unanswered, |result| verdict(&result))
}

/// Whether the client says that it can lead its user to a page.
pub(super) fn can_open(context: &RequestContext<RoleServer>) -> bool {
    context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation)
        .is_some_and(|elicitation| elicitation.url.is_some())
}

/// A change that waits for the owner, and the page where it is answered.
pub(super) struct PendingPage<'p> {
    pub(super) id: &'p str,
    /// Identifies the caller again where nothing else does.
    pub(super) handle: Option<&'p str>,
    /// The origin of the console.
    pub(super) console: &'p str,
}

/// What the state of such a question begins with. It grants nothing: it says that the user was led to the page before, and
/// which handle the caller has.
const PAGE_STATE: &str = "page:";

impl PendingPage<'_> {
    fn elicitation(&self) -> ElicitRequestParams {
        ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message:
                "A change of your vault needs your approval. Look at it in the console, and approve or reject it there."
                    .to_owned(),
            url: format!("{}/console/approvals/{}", self.console, self.id),
            elicitation_id: self.id.to_owned(),
        }
    }

    /// As an answer that makes the client call again.
    pub(super) fn input_required(&self) -> InputRequiredResult {
        let question = InputRequest::Elicitation(ElicitRequest::new(self.elicitation()));
        let state = format!("{PAGE_STATE}{}", self.handle.unwrap_or_default());
        InputRequiredResult::new(Some([(ANSWER_KEY.to_owned(), question)].into()), Some(state))
    }

    /// While the call waits: whether the user goes to the page.
    pub(super) async fn open_now(
        &self,
        open: &OpenQuestions,
        caller: &str,
        context: &RequestContext<RoleServer>,
        within: Duration,
    ) -> bool {
        let Ok(_place) = open.open(caller) else { return false };
        let asked = context.peer.create_elicitation_with_timeout(self.elicitation(), Some(within));
        tokio::select! {
            answer = asked => answer.is_ok_and(|answer| answer.action == ElicitationAction::Accept),
            () = context.ct.cancelled() => false,
        }
    }
}

/// The handle in the state of a call that was led to a page before; empty if it needs none.
pub(super) fn handle_in(state: &str) -> Option<&str> {
    state.strip_prefix(PAGE_STATE)
}

/// How many questions of one caller may be open: as many as a person can look at.
const MOST_OF_ONE: usize = 8;
/// Of all callers together.
const MOST_IN_ALL: usize = 64;

/// The questions that are open in clients while their calls wait. Each has a place with a mark of its caller in it.
pub(super) struct OpenQuestions {
    places: [AtomicU64; MOST_IN_ALL],
    marks: RandomState,
}

impl Default for OpenQuestions {
    fn default() -> Self {
        Self { places: [const { AtomicU64::new(0) }; MOST_IN_ALL], marks: RandomState::new() }
    }
}

/// The place of an open question, free again when this is dropped.
pub(super) struct QuestionPlace<'q>(&'q AtomicU64);

impl Drop for QuestionPlace<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

impl OpenQuestions {
    /// A place for one question more of this caller, or the limit that is reached.
    fn open(&self, caller: &str) -> Result<QuestionPlace<'_>, usize> {
        // 0 marks a free place.
        let mark = self.marks.hash_one(caller) | 1;
        let take = |place: &&AtomicU64| place.compare_exchange(0, mark, Ordering::AcqRel, Ordering::Acquire).is_ok();
        let place = self.places.iter().find(take).map(QuestionPlace).ok_or(MOST_IN_ALL)?;
        // Counted with its own, so that two at the same moment cannot both be the last.
        let own = self.places.iter().filter(|place| place.load(Ordering::Acquire) == mark).count();
        if own > MOST_OF_ONE { Err(MOST_OF_ONE) } else { Ok(place) }
    }
}

/// Asks while the call waits, unless too many questions are open.
pub(super) async fn ask_now(
    open: &OpenQuestions,
    caller: &str,
    context: &RequestContext<RoleServer>,
    message: String,
    within: Duration,
) -> Verdict {
    let _place = match open.open(caller) {
        Ok(place) => place,
        Err(limit) => return Verdict::NotAsked { limit },
    };
    let asked = context.peer.create_elicitation_with_timeout(form(message), Some(within));
    tokio::select! {
        answer = asked => match answer {
            Ok(result) => verdict(&result),
            // No answer in time is not a refusal of the user, but has the same effect.
            Err(ServiceError::Timeout { .. }) => Verdict::Unanswered,
            Err(error) => {
                tracing::debug!(error = super::service_error(&error), "the client could not ask");
                Verdict::Unanswered
            }
        },
        () = context.ct.cancelled() => Verdict::Unanswered,
    }
}

fn verdict(result: &ElicitResult) -> Verdict {
    let confirmed =
        // Accepting the form without the box ticked is what clients send for "no".
        result.content.as_ref().and_then(|content| content.get(CONFIRM_FIELD)) == Some(&serde_json::Value::Bool(true));
    match result.action {
        ElicitationAction::Accept if confirmed => Verdict::Agreed,
        _ => Verdict::Declined,
    }
}

fn form(message: String) -> ElicitRequestParams {
    let schema = ElicitationSchema::builder().required_bool_with(CONFIRM_FIELD, |field| {
        field.title("Allow this").description("Allow what the message describes?")
    });
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema.build_unchecked() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_questions_are_limited_for_each_caller_and_in_all() {
        let questions = OpenQuestions::default();
        let mut open: Vec<_> = (0..MOST_OF_ONE).map(|_| questions.open("one").ok().unwrap()).collect();
        assert_eq!(questions.open("one").err(), Some(MOST_OF_ONE));
        open.truncate(MOST_OF_ONE - 1);
        open.push(questions.open("one").ok().unwrap());
        for caller in 1..MOST_IN_ALL / MOST_OF_ONE {
            open.extend((0..MOST_OF_ONE).map(|_| questions.open(&caller.to_string()).ok().unwrap()));
        }
        assert_eq!(questions.open("another").err(), Some(MOST_IN_ALL));
        drop(open);
        assert!(questions.open("another").is_ok());
    }
}
