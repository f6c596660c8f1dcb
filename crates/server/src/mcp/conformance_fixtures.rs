//! Tools, prompts and resources that the conformance suite of MCP asks for by name. They exist only in builds with the
//! feature `conformance`, beside the real ones, so that the suite exercises our own transport and dispatch.

use std::time::Duration;

use lapidary_note::ContentHash;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ElicitRequestParams, ErrorCode,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult, InputResponses,
        ProgressNotificationParam, Prompt, ReadResourceResponse, ReadResourceResult, Resource, ResourceTemplate, Tool,
    },
    service::RequestContext,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A picture of one red point.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// A sound without samples.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const SHORTLY: Duration = Duration::from_millis(50);
/// How long the suite may take to answer a question.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const WATCHED: &str = "test://watched-resource";

/// A value of the protocol from the JSON that the suite describes.
fn made<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(format!("a fixture is wrong: {error}"), None))
}

pub(super) fn tools() -> Result<Vec<Tool>, ErrorData> {
    let plain = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_error_handling",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_reconnection",
        "test_missing_capability",
        "test_streaming_elicitation",
        "test_logging_tool",
        "test_trigger_prompt_change",
        "test_input_required_result_elicitation",
        "test_input_required_result_sampling",
        "test_input_required_result_list_roots",
        "test_input_required_result_request_state",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_multi_round",
        "test_input_required_result_tampered_state",
        "test_input_required_result_capabilities",
    ];
    // What a tool takes does not matter to the suite, except for those below.
    let nothing = json!({ "type": "object", "properties": {} });
    let mut listed: Vec<(&str, Value)> = plain.into_iter().map(|name| (name, nothing.clone())).collect();
    let one_text =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    listed.push(("test_sampling", one_text("prompt")));
    listed.push(("test_elicitation", one_text("message")));
    listed.push((
        "test_custom_headers",
        json!({ "type": "object", "required": ["region"], "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "query": { "type": "string" },
        } }),
    ));
    listed.push((
        // The schema has keywords that a server might drop on the way.
        "json_schema_2020_12_tool",
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": { "$anchor": "addressDef", "type": "object", "properties": {
                "street": { "type": "string" }, "city": { "type": "string" },
            } } },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        }),
    ));
    let tool = |(name, schema): (&str, Value)| {
        made(json!({ "name": name, "description": "For the conformance suite.", "inputSchema": schema }))
    };
    listed.into_iter().map(tool).collect()
}

pub(super) fn tool(name: &str) -> Option<Tool> {
    tools().ok()?.into_iter().find(|tool| tool.name == name)
}

/// The answer of a fixture; `None` for a tool that is not one. `prompts_changed` says that the list of prompts is another.
pub(super) async fn call(
    params: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    prompts_changed: impl FnOnce(),
) -> Option<Result<CallToolResponse, ErrorData>> {
    let name = params.name.as_ref();
    // Only a name that is listed may be answered: other tools are the real ones.
    tool(name)?;
    let given = RetriedCall { responses: params.input_responses.as_ref(), state: params.request_state.as_deref() };
    // Before the others: such a call comes back with its answers.
    if let Some(answer) = asked_by_retry(name, given, context) {
        return Some(answer);
    }
    if name == "test_trigger_prompt_change" {
        // The suite waits for the notification, not for the answer.
        prompts_changed();
    }
    let argument = |name: &str| params.arguments.as_ref().and_then(|arguments| arguments.get(name)).cloned();
    let answered = match name {
        "test_missing_capability" => missing_capability(context),
        "test_tool_with_logging" => logged(context).await,
        "test_tool_with_progress" => progressed(context).await,
        "test_sampling" => sampled(context, argument("prompt")).await,
        "test_elicitation" => elicited(context, argument("message"), USER).await,
        "test_elicitation_sep1034_defaults" => elicited(context, None, DEFAULTS).await,
        "test_elicitation_sep1330_enums" => elicited(context, None, CHOICES).await,
        name => Ok(content(name)),
    };
    Some(answered.and_then(complete::<CallToolResult>).map(Into::into))
}

/// The whole answer to a request, as the newest version marks it; for older ones the library leaves the mark out.
fn complete<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = json!("complete");
    made(value)
}

fn text(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }] })
}

/// What is always the same.
fn content(name: &str) -> Value {
    let picture = json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" });
    let resource = |uri: &str, kind: &str, text: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": text } });
    match name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => json!({ "content": [picture] }),
        "test_audio_content" => json!({ "content": [{ "type": "audio", "data": SOUND, "mimeType": "audio/wav" }] }),
        "test_embedded_resource" => json!({ "content": [
            resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
        ] }),
        "test_multiple_content_types" => json!({ "content": [
            { "type": "text", "text": "Multiple content types test:" },
            picture,
            resource("test://mixed-content-resource", "application/json", "{\"test\":\"data\",\"value\":123}"),
        ] }),
        "test_error_handling" => {
            let mut failed = text("This tool intentionally returns an error for testing");
            failed["isError"] = json!(true);
            failed
        }
        name => text(format!("{name} was called.")),
    }
}

fn missing_capability(context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let can_sample = context.client_capabilities().is_some_and(|capabilities| capabilities.sampling.is_some());
    if can_sample {
        return Ok(text("The client can sample."));
    }
    let needed = json!({ "requiredCapabilities": { "sampling": {} } });
    let code = ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY;
    Err(ErrorData::new(code, "This tool needs the capability `sampling`", Some(needed)))
}

#[expect(deprecated, reason = "the suite tests what we do not use ourselves")]
async fn logged(context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let message: rmcp::model::LoggingMessageNotificationParam = made(json!({ "level": "info", "data": said }))?;
        context.peer.notify_logging_message(message).await.map_err(lost)?;
        tokio::time::sleep(SHORTLY).await;
    }
    Ok(text("Three messages were logged."))
}

async fn progressed(context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let token = context.meta.get_progress_token();
    for reached in [0.0, 50.0, 100.0] {
        if let Some(token) = &token {
            let mut progress = ProgressNotificationParam::new(token.clone(), reached);
            progress.total = Some(100.0);
            context.peer.notify_progress(progress).await.map_err(lost)?;
        }
        tokio::time::sleep(SHORTLY).await;
    }
    Ok(text("Progress was made."))
}

#[expect(deprecated, reason = "the suite tests what we do not use ourselves")]
async fn sampled(context: &RequestContext<RoleServer>, prompt: Option<Value>) -> Result<Value, ErrorData> {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    let request = made(json!({ "messages": [message], "maxTokens": 100 }))?;
    let answer = context.peer.create_message(request).await.map_err(lost)?;
    let answer = serde_json::to_value(answer).unwrap_or_default();
    Ok(text(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default())))
}

const USER: &str = r#"{"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}}"#;
const DEFAULTS: &str = r#"{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
    "status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}"#;
const CHOICES: &str = r#"{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
    "titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
    "legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
    "untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
    "titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}"#;

async fn elicited(
    context: &RequestContext<RoleServer>,
    message: Option<Value>,
    fields: &str,
) -> Result<Value, ErrorData> {
    let fields: Value = serde_json::from_str(fields).unwrap_or_default();
    let required = if message.is_some() { json!(["username", "email"]) } else { json!([]) };
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    let message = message.as_ref().and_then(Value::as_str).unwrap_or("Please fill in the form").to_owned();
    let form = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: made(schema)? };
    let answer = context.peer.create_elicitation_with_timeout(form, Some(ANSWER_WITHIN)).await.map_err(lost)?;
    Ok(text(format!("The user answered: {}", serde_json::to_value(answer).unwrap_or_default())))
}

#[expect(clippy::needless_pass_by_value, reason = "the form in which errors are mapped")]
fn lost(error: rmcp::ServiceError) -> ErrorData {
    ErrorData::internal_error(format!("the client was not reached: {error}"), None)
}

/// What a repeated call brings with it.
#[derive(Clone, Copy)]
struct RetriedCall<'a> {
    responses: Option<&'a InputResponses>,
    state: Option<&'a str>,
}

impl RetriedCall<'_> {
    /// The answer to one question, if it is one.
    fn answer(&self, key: &str) -> Option<&Value> {
        self.responses?.get(key).filter(|answer| answer.is_object())
    }
}

/// A state that shows if it was changed on its way.
fn sealed(text: &str) -> String {
    let seal = ContentHash::of(format!("conformance {text}").as_bytes());
    format!("{text} {seal}")
}

fn form(key: &str, message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ key: { "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } } })
}

fn sample(key: &str, prompt: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    json!({ key: { "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } } })
}

#[expect(clippy::needless_pass_by_value, reason = "literals read better at the calls")]
fn question(requests: Value, state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    made(result)
}

/// Fixtures that ask by an answer, after which the client calls again.
fn asked_by_retry(
    name: &str,
    given: RetriedCall<'_>,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let asked = |requests: Value, state: Option<&str>| Some(question(requests, state.map(sealed)).map(Into::into));
    let done = |said: String| Some(complete::<CallToolResult>(text(said)).map(Into::into));
    let name_form = || form("user_name", "What is your name?", "name", "string");
    let confirm = || form("confirm", "Please confirm", "ok", "boolean");
    match name {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => match given.answer("user_name") {
            Some(answer) => done(format!("Hello, {}!", answer["content"]["name"].as_str().unwrap_or_default())),
            None => asked(name_form(), None),
        },
        "test_input_required_result_sampling" => match given.answer("capital_question") {
            Some(answer) => done(format!("The answer was {answer}")),
            None => asked(sample("capital_question", "What is the capital of France?"), None),
        },
        "test_input_required_result_list_roots" => match given.answer("client_roots") {
            Some(answer) => done(format!("The roots are {answer}")),
            None => asked(json!({ "client_roots": { "method": "roots/list", "params": {} } }), None),
        },
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            // The first call has no state yet.
            let Some(state) = given.state else { return asked(confirm(), Some("confirm")) };
            // A server must notice that a client changed the state on its way.
            if state != sealed("confirm") {
                return Some(Err(ErrorData::invalid_params("requestState was changed", None)));
            }
            match given.answer("confirm") {
                Some(_) => done("state-ok".to_owned()),
                None => asked(confirm(), Some("confirm")),
            }
        }
        "test_input_required_result_multiple_inputs" => {
            let all = ["user_name", "greeting", "client_roots"];
            if all.iter().all(|key| given.answer(key).is_some()) {
                return done("All questions are answered.".to_owned());
            }
            let mut requests = name_form();
            // In one answer: the suite checks that all questions are asked at once.
            if let (Value::Object(all), Value::Object(more)) =
                (&mut requests, sample("greeting", "Generate a greeting"))
            {
                all.extend(more);
                all.insert("client_roots".to_owned(), json!({ "method": "roots/list", "params": {} }));
            }
            asked(requests, Some("several"))
        }
        "test_input_required_result_multi_round" => match (given.answer("step1"), given.answer("step2")) {
            (_, Some(_)) => done("Both steps are done.".to_owned()),
            (Some(_), None) => {
                asked(form("step2", "Step 2: What is your favorite color?", "color", "string"), Some("second"))
            }
            (None, None) => asked(form("step1", "Step 1: What is your name?", "name", "string"), Some("first")),
        },
        "test_input_required_result_capabilities" => {
            let can_sample = context.client_capabilities().is_some_and(|client| client.sampling.is_some());
            asked(if can_sample { sample("greeting", "Generate a greeting") } else { name_form() }, None)
        }
        _ => None,
    }
}

const PROMPTS: [(&str, &[&str]); 5] = [
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
    ("test_input_required_result_prompt", &[]),
];

pub(super) fn prompts() -> Result<Vec<Prompt>, ErrorData> {
    let prompt = |(name, arguments): (&str, &[&str])| {
        let arguments: Vec<Value> = arguments.iter().map(|name| json!({ "name": name, "required": true })).collect();
        made(json!({ "name": name, "description": "For the conformance suite.", "arguments": arguments }))
    };
    PROMPTS.into_iter().map(prompt).collect()
}

pub(super) fn is_prompt(name: &str) -> bool {
    PROMPTS.iter().any(|(known, _)| *known == name)
}

pub(super) fn prompt(params: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>> {
    let argument = |name: &str| {
        let given = params.arguments.as_ref().and_then(|arguments| arguments.get(name));
        given.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let user = |content: Value| json!({ "role": "user", "content": content });
    let said = |text: String| user(json!({ "type": "text", "text": text }));
    let messages = match params.name.as_str() {
        "test_simple_prompt" => vec![said("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            vec![said(format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
        }
        "test_prompt_with_embedded_resource" => vec![
            user(json!({ "type": "resource", "resource": {
                "uri": argument("resourceUri"), "mimeType": "text/plain", "text": "Embedded resource content for testing.",
            } })),
            said("Please process the embedded resource above.".to_owned()),
        ],
        "test_prompt_with_image" => vec![
            user(json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" })),
            said("Please analyze the image above.".to_owned()),
        ],
        "test_input_required_result_prompt" => {
            let given = RetriedCall { responses: params.input_responses.as_ref(), state: None };
            match given.answer("user_context") {
                Some(answer) => vec![said(format!("The context is {answer}"))],
                None => {
                    let asked = form("user_context", "What context should the prompt use?", "context", "string");
                    return Some(question(asked, None).map(Into::into));
                }
            }
        }
        _ => return None,
    };
    Some(complete::<GetPromptResult>(json!({ "messages": messages })).map(Into::into))
}

pub(super) fn resources() -> Result<Vec<Resource>, ErrorData> {
    let resource = |(uri, kind): (&str, &str)| made(json!({ "uri": uri, "name": uri, "mimeType": kind }));
    let all = [("test://static-text", "text/plain"), ("test://static-binary", "image/png"), (WATCHED, "text/plain")];
    all.into_iter().map(resource).collect()
}

pub(super) fn template() -> Result<ResourceTemplate, ErrorData> {
    made(json!({ "uriTemplate": "test://template/{id}/data", "name": "test template", "mimeType": "application/json" }))
}

pub(super) fn resource(uri: &str) -> Option<Result<ReadResourceResponse, ErrorData>> {
    let filled = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, filled) {
        ("test://static-text", _) => {
            json!({ "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource." })
        }
        ("test://static-binary", _) => json!({ "uri": uri, "mimeType": "image/png", "blob": PICTURE }),
        (WATCHED, _) => json!({ "uri": uri, "mimeType": "text/plain", "text": "Watched." }),
        (_, Some(id)) => {
            let text = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string();
            json!({ "uri": uri, "mimeType": "application/json", "text": text })
        }
        _ => return None,
    };
    Some(
        complete::<ReadResourceResult>(json!({ "contents": [content], "ttlMs": 0, "cacheScope": "private" }))
            .map(Into::into),
    )
}

/// Whether a subscription is to a fixture, which never changes.
pub(super) fn is_watched(uri: &str) -> bool {
    uri == WATCHED
}
