//! The searches.

use axum::response::Response;
use lapidary_tools::{PlainSearch, RunDql, RunLogic};
use serde_json::{Value, json};

use super::{
    RestApi,
    api_error::{ApiError, json_response},
    request_path::query_value,
    rest_caller::RestCaller,
    rest_request::{DQL, JSON_LOGIC, RequestBody, RestRequest},
};

/// Characters around a match that are shown unless the request says otherwise.
const CONTEXT: usize = 100;
/// More would be the note itself.
const LONGEST_CONTEXT: usize = 100_000;

impl RestApi {
    pub(super) async fn search(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        rest: &str,
    ) -> Result<Response, ApiError> {
        match rest.trim_end_matches('/') {
            "" => self.search_query(caller, request).await,
            "simple" => self.search_simple(caller, request).await,
            _ => Err(ApiError::not_found()),
        }
    }

    async fn search_simple(&self, caller: &RestCaller, request: &RestRequest) -> Result<Response, ApiError> {
        let query = query_value(&request.query, "query");
        let query = query.ok_or_else(|| ApiError::coded(40090).with("A single '?query=' parameter is required."))?;
        // Every note contains the empty text, which no program wants to know.
        if query.trim().is_empty() {
            return Ok(json_response(&json!([])));
        }
        let given = query_value(&request.query, "contextLength");
        let length = given.and_then(|given| leading_number(&given)).unwrap_or(CONTEXT);
        let operation = PlainSearch { vault: caller.vault.clone(), query, context_length: length.min(LONGEST_CONTEXT) };
        self.read_json(caller, operation).await
    }

    async fn search_query(&self, caller: &RestCaller, request: &RestRequest) -> Result<Response, ApiError> {
        let vault = caller.vault.clone();
        // Compared as a whole: a parameter such as a charset makes it another type.
        match request.exact_kind().ok_or_else(|| ApiError::coded(40011))? {
            JSON_LOGIC => {
                let rule = match &request.body {
                    RequestBody::Json(rule) => rule.clone(),
                    _ => Value::Object(serde_json::Map::new()),
                };
                self.read_json(caller, RunLogic { vault, rule }).await
            }
            DQL => {
                // Not lossy: a query with replaced characters would be another query.
                let query = String::from_utf8(request.bytes.to_vec()).map_err(|_| ApiError::coded(40015))?;
                self.read_json(caller, RunDql { vault, query }).await
            }
            _ => Err(ApiError::coded(40012)),
        }
    }
}

/// The number that a text begins with, as JavaScript reads it; one below zero shows nothing.
fn leading_number(text: &str) -> Option<usize> {
    let text = text.trim_start();
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return None;
    }
    // More digits than a number has are more than is ever shown.
    Some(if is_negative { 0 } else { digits[..end].parse().unwrap_or(usize::MAX) })
}
