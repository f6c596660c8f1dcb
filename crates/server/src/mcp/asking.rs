//! Asks the user behind a client. Older clients are asked while the call waits; newer ones get the question as an
//! answer and make the call again.

use std::time::Duration;

use lapidary_pipeline::Verdict;
use rmcp::{
    RoleServer, ServiceError,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
        InputRequiredResult, InputResponses,
    },
    service::RequestContext,
};

const KEY: &str = "consent";
const FIELD: &str = "confirm";

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
    InputRequiredResult::new(Some([(KEY.to_owned(), question)].into()), Some(state))
}

/// The answer in a repeated call. Anything but a clear approval is a refusal.
pub(super) fn verdict_of(responses: Option<&InputResponses>) -> Verdict {
    let Some(response) = responses.and_then(|responses| responses.get(KEY)) else { return Verdict::Unanswered };
    serde_json::from_value::<ElicitResult>(response.clone()).map_or(Verdict::Unanswered, |result| verdict(&result))
}

/// Asks while the call waits.
pub(super) async fn ask_now(context: &RequestContext<RoleServer>, message: String, within: Duration) -> Verdict {
    let asked = context.peer.create_elicitation_with_timeout(form(message), Some(within));
    tokio::select! {
        answer = asked => match answer {
            Ok(result) => verdict(&result),
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
        result.content.as_ref().and_then(|content| content.get(FIELD)) == Some(&serde_json::Value::Bool(true));
    match result.action {
        ElicitationAction::Accept if confirmed => Verdict::Agreed,
        _ => Verdict::Declined,
    }
}

fn form(message: String) -> ElicitRequestParams {
    let schema = ElicitationSchema::builder().required_bool_with(FIELD, |field| {
        field.title("Apply this change").description("Apply this change to the vault?")
    });
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema.build_unchecked() }
}
