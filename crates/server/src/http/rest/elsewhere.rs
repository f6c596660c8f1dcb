//! Notes that a request does not name by path: the active one, and periodic ones.

use axum::{http::Method, response::Response};
use jiff::civil::Date;
use lapidary_plugin::AppState;
use lapidary_query::Period;
use lapidary_tools::{FindPeriodic, RestPayload, RestPeriodic, RestPlace};
use lapidary_vault::VaultPath;
use serde_json::{Value, json};

use super::{
    RestApi,
    api_error::{ApiError, json_response},
    app::without_app,
    broken,
    request_path::{NewNote, RequestPath, query_value},
    rest_caller::RestCaller,
    rest_request::RestRequest,
};

impl RestApi {
    /// The note in front of the user.
    pub(super) async fn active_file(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        rest: &str,
    ) -> Result<Response, ApiError> {
        let active = self.open_note(caller).await?.ok_or_else(ApiError::not_found)?;
        // It may have been deleted since.
        let RestPlace::File { .. } = self.find(caller, &RequestPath::of(&active, Vec::new())).await? else {
            return Err(ApiError::not_found());
        };
        let behind = behind(rest)?;
        self.file(caller, request, RequestPath::of(&active, behind), Some(&active)).await
    }

    /// Makes a note the active one; a missing one is created, as the app does.
    pub(super) async fn open_file(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        rest: &str,
    ) -> Result<Response, ApiError> {
        let at = RequestPath::parse_in_vault(rest)?.of_file();
        if at.is_configuration() {
            return Err(ApiError::coded(40321));
        }
        let given = at.file().filter(|path| !path.is_empty()).ok_or_else(ApiError::not_found)?;
        let path = match self.find(caller, &at).await? {
            RestPlace::File { path, rest, .. } if rest.is_empty() => path,
            RestPlace::File { .. } => return Err(ApiError::not_found()),
            RestPlace::Folder(_) => return Err(ApiError::coded(40510)),
            RestPlace::Nothing => self.open_by_name(caller, given).await?,
        };
        let new_leaf = query_value(&request.query, "newLeaf");
        let new_leaf = new_leaf.is_some_and(|value| !value.is_empty() && !value.eq_ignore_ascii_case("false"));
        let is_shown = self.show(caller, &path, new_leaf).await?;
        self.open(caller, path);
        let answer = json_response(&Value::from(""));
        // The plugin's answer in every case, as programs expect it; those that know the header learn the difference.
        Ok(if is_shown { answer } else { without_app(answer, AppState::Absent) })
    }

    /// A note named without its ending, or a new one.
    async fn open_by_name(&self, caller: &RestCaller, given: String) -> Result<VaultPath, ApiError> {
        // A name with a dot has an ending, whichever it is.
        let has_ending = given.rsplit('/').next().is_some_and(|name| name.contains('.'));
        let named = if has_ending { given } else { format!("{given}.md") };
        let path = VaultPath::parse(&named).map_err(|_| ApiError::coded(40021))?;
        if let RestPlace::File { path, .. } = self.find(caller, &RequestPath::of(&path, Vec::new())).await? {
            return Ok(path);
        }
        // `mustBeNew`, because another program may create it in between.
        let arguments = json!({ "path": path.as_str(), "content": "", "mustBeNew": true });
        self.change(caller, "rest/write", arguments).await?;
        Ok(path)
    }

    /// The note of a period that contains today, or a day.
    pub(super) async fn periodic(
        &self,
        caller: &RestCaller,
        request: &RestRequest,
        rest: &str,
    ) -> Result<Response, ApiError> {
        let RequestPath { mut parts, .. } = RequestPath::parse(rest)?;
        if parts.is_empty() {
            return Err(ApiError::not_found());
        }
        let period = parts.remove(0);
        let period = Period::ALL.into_iter().find(|known| known.name() == period);
        let period = period.ok_or_else(|| ApiError::coded(40460))?;
        // A date is three parts; what follows addresses a part of the note.
        let day = match parts.get(..3).and_then(numbers) {
            Some((year, month, day)) => {
                parts.drain(..3);
                Some(Date::new(year, month, day).map_err(|_| ApiError::coded(40461))?)
            }
            None => None,
        };
        // Only methods that write make a missing note.
        let makes = [Method::PUT, Method::POST, Method::PATCH].contains(&request.method);
        let operation = FindPeriodic { vault: caller.vault.clone(), period, day, must_exist: !makes };
        let RestPayload::Periodic(found) = self.read(caller, operation).await? else { return Err(broken()) };
        let RestPeriodic { path, template } = found;
        // Empty parts come from doubled slashes.
        parts.retain(|part| !part.is_empty());
        let mut at = RequestPath::of(&path, parts);
        at.new_note = template.map(|begins| NewNote { path: path.clone(), begins });
        self.file(caller, request, at, Some(&path)).await
    }
}

/// Year, month and day, if all three are written as numbers.
fn numbers(parts: &[String]) -> Option<(i16, i8, i8)> {
    let number = |part: &String, digits: std::ops::RangeInclusive<usize>| {
        let is_number = digits.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse::<i16>().ok()).flatten()
    };
    let (month, day) = (number(&parts[1], 1..=2)?, number(&parts[2], 1..=2)?);
    Some((number(&parts[0], 4..=4)?, i8::try_from(month).ok()?, i8::try_from(day).ok()?))
}

/// The parts behind the name of an endpoint, which address a part of the note.
fn behind(rest: &str) -> Result<Vec<String>, ApiError> {
    Ok(RequestPath::parse(rest)?.parts.into_iter().filter(|part| !part.is_empty()).collect())
}
