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
    Some(Vec<VersionTag>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct VersionTag {
    version: String,
    /// We send none, but a proxy that compresses makes weak ones of ours.
    is_weak: bool,
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
        let quoted =
            |tag: &str| tag.strip_prefix('"')?.strip_suffix('"').filter(|tag| !tag.contains('"')).map(str::to_owned);
        let tag = |tag: &str| {
            let (version, is_weak) = match tag.strip_prefix("W/") {
                Some(weak) => (quoted(weak), true),
                // The token of a document map is sent without quotes too.
                None => (quoted(tag).or_else(|| is_bare(tag).then(|| tag.to_owned())), false),
            };
            version.map(|version| VersionTag { version, is_weak })
        };
        // A list may have empty places (RFC 9110, 5.6.1), but not only these.
        let tags: Option<Vec<VersionTag>> =
            value.split(',').map(str::trim).filter(|place| !place.is_empty()).map(tag).collect();
        tags.filter(|tags| !tags.is_empty()).map(|tags| Some(Self::Some(tags))).ok_or_else(unreadable)
    }

    fn has(&self, current: Option<&ContentHash>, also_weak: bool) -> bool {
        match (self, current) {
            // A file that does not exist has no version, not even for `*` (RFC 9110, 13.1.1).
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::Some(tags), Some(current)) => {
                let current = file_version(current);
                tags.iter().any(|tag| tag.version == current && (also_weak || !tag.is_weak))
            }
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
        // `If-Match` compares strongly, `If-None-Match` weakly (RFC 9110, 8.8.3.2).
        let holds = self.matches.as_ref().is_none_or(|wanted| wanted.has(current, false));
        let is_free = self.none_matches.as_ref().is_none_or(|unwanted| !unwanted.has(current, true));
        if !holds || !is_free {
            return Err(ApiError::precondition(current));
        }
        Ok(ChangeCondition {
            // Only with `If-Match`: a request without a condition replaces whatever is there.
            expected: self.matches.as_ref().and(current).map(ContentHash::to_string),
            must_be_new: self.none_matches == Some(VersionList::Any),
        })
    }

    /// Whether the reader has this version already.
    pub(super) fn is_known(&self, current: &ContentHash) -> bool {
        self.none_matches.as_ref().is_some_and(|known| known.has(Some(current), true))
    }
}

/// What a change expects to find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangeCondition {
    pub(super) expected: Option<String>,
    pub(super) must_be_new: bool,
}
