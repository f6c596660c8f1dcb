//! The conditions of a request: `If-Match` and `If-None-Match`.

use axum::http::{HeaderMap, HeaderName, header};
use lapidary_note::ContentHash;
use lapidary_tools::file_version;

use super::api_error::ApiError;

/// What a request says of the version that it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestConditions {
    matches: Option<VersionList>,
    none_matches: Option<VersionList>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum VersionList {
    Any,
    Some(Vec<String>),
}

impl VersionList {
    fn of(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Self>, ApiError> {
        let unreadable = || ApiError::coded(40024);
        let Some(value) = headers.get(name) else { return Ok(None) };
        let value = value.to_str().map_err(|_| unreadable())?.trim();
        if value == "*" {
            return Ok(Some(Self::Any));
        }
        let is_bare = |tag: &str| !tag.is_empty() && tag.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let tag = |tag: &str| {
            let tag = tag.trim();
            let quoted = |tag: &str| tag.strip_prefix('"')?.strip_suffix('"').map(str::to_owned);
            match tag.strip_prefix("W/") {
                // A weak one never counts for a change, and we send none.
                Some(weak) => quoted(weak).map(|_| String::new()),
                // The token of a document map is sent without quotes too.
                None => quoted(tag).or_else(|| is_bare(tag).then(|| tag.to_owned())),
            }
        };
        value.split(',').map(tag).collect::<Option<_>>().map(|tags| Some(Self::Some(tags))).ok_or_else(unreadable)
    }

    fn has(&self, current: Option<&ContentHash>) -> bool {
        match (self, current) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::Some(tags), Some(current)) => tags.contains(&file_version(current)),
        }
    }
}

impl RequestConditions {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, ApiError> {
        Ok(Self {
            matches: VersionList::of(headers, &header::IF_MATCH)?,
            none_matches: VersionList::of(headers, &header::IF_NONE_MATCH)?,
        })
    }

    /// Whether the condition for a change holds. The hash that it has to hold for goes with the change, so that a change
    /// by another program in between is noticed.
    pub(super) fn for_change(&self, current: Option<&ContentHash>) -> Result<ChangeCondition, ApiError> {
        let holds = self.matches.as_ref().is_none_or(|wanted| wanted.has(current));
        let is_free = self.none_matches.as_ref().is_none_or(|unwanted| !unwanted.has(current));
        if !holds || !is_free {
            return Err(ApiError::precondition(current));
        }
        Ok(ChangeCondition {
            expected: self.matches.as_ref().and(current).map(ContentHash::to_string),
            must_be_new: self.none_matches == Some(VersionList::Any),
        })
    }

    /// Whether the reader has this version already.
    pub(super) fn is_known(&self, current: &ContentHash) -> bool {
        self.none_matches.as_ref().is_some_and(|known| known.has(Some(current)))
    }
}

/// What a change expects to find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangeCondition {
    pub(super) expected: Option<String>,
    pub(super) must_be_new: bool,
}
