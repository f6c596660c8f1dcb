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
        if query.trim().is_empty() {
            return Ok(json_response(&json!([])));
        }
        let given = query_value(&request.query, "contextLength").and_then(|length| length.trim().parse::<i64>().ok());
        let length = given.map_or(CONTEXT, |length| usize::try_from(length).unwrap_or_default());
        let operation = PlainSearch { vault: caller.vault.clone(), query, context_length: length.min(LONGEST_CONTEXT) };
        self.read_json(caller, operation).await
    }

    async fn search_query(&self, caller: &RestCaller, request: &RestRequest) -> Result<Response, ApiError> {
        let vault = caller.vault.clone();
        match request.exact_kind().ok_or_else(|| ApiError::coded(40011))? {
            JSON_LOGIC => {
                let rule = match &request.body {
                    RequestBody::Json(rule) => rule.clone(),
                    _ => Value::Object(serde_json::Map::new()),
                };
                self.read_json(caller, RunLogic { vault, rule }).await
            }
            DQL => {
                let query = String::from_utf8(request.bytes.to_vec()).map_err(|_| ApiError::coded(40015))?;
                self.read_json(caller, RunDql { vault, query }).await
            }
            _ => Err(ApiError::coded(40012)),
        }
    }
}
