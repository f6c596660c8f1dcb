//! Source notes: texts from elsewhere, with where they come from and how far they have been worked through.

use std::collections::BTreeMap;

use lapidary_note::ContentHash;
use lapidary_operation::{Context, Reason};
use lapidary_query::{Object, Row, Value};
use lapidary_vault::{NoteRows, VaultPath, View};
use serde_json::Value as Json;

use crate::index;

/// The properties of source notes.
pub const TITLE: &str = "title";
/// The address that the caller gave. It alone says that two sources are the same: what a page or a text claims of itself
/// could be the address of another.
pub const SOURCE: &str = "source";
/// The address that a page or a text claims for itself.
pub const CLAIMED: &str = "claimed_source";
pub const ORIGINAL: &str = "original";
pub const AUTHOR: &str = "author";
pub const PUBLISHED: &str = "published";
pub const INGESTED: &str = "ingested";
pub const STATUS: &str = "status";
pub const HASH: &str = "source_hash";

/// The status of a source that waits to be looked at.
pub const INBOX: &str = "inbox";

/// A note about a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceNote {
    pub path: VaultPath,
    properties: BTreeMap<&'static str, String>,
}

impl SourceNote {
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }
}

/// All source notes that the caller may see, in path order: those in the folder of sources, and those that were filed
/// elsewhere.
pub fn all(context: &Context<'_>, view: &View) -> Result<Vec<SourceNote>, Reason> {
    let notes = index::notes(context, view)?;
    let go_on = || context.cancel.check().is_ok();
    let rows = NoteRows::new(notes, &go_on);
    let folder = context.owner.sources.as_ref();
    let mut found = Vec::new();
    for entry in notes.below(None).filter(|entry| entry.is_note()) {
        context.check()?;
        let names = [TITLE, SOURCE, AUTHOR, PUBLISHED, INGESTED, STATUS, HASH];
        let values = rows.row(entry).properties(&|name| names.contains(&name));
        let is_source = values.contains_key(HASH)
            || (folder.is_some_and(|folder| entry.path().is_within(folder)) && values.contains_key(STATUS));
        if is_source {
            found.push(SourceNote { path: entry.path().clone(), properties: texts(&names, &values) });
        }
    }
    Ok(found)
}

fn texts(names: &[&'static str], values: &Object) -> BTreeMap<&'static str, String> {
    let text = |value: &Value| match Json::from(value) {
        Json::String(text) => Some(text),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    names.iter().filter_map(|name| Some((*name, values.get(*name).and_then(text)?))).collect()
}

/// How a source is recognised by its text: regardless of line endings, and of blanks around it.
pub fn text_mark(text: &str) -> String {
    const DIGITS: usize = "sha256:".len() + 16;
    let plain = text.trim().replace("\r\n", "\n");
    let mut mark = ContentHash::of(plain.as_bytes()).to_string();
    mark.truncate(DIGITS);
    mark
}

/// An address for comparison: without what leads to the same page.
pub fn plain_address(url: &str) -> String {
    let url = url.trim();
    let url = url.split('#').next().unwrap_or_default();
    let (place, query) = url.split_once('?').map_or((url, ""), |(place, query)| (place, query));
    let (scheme, rest) = place.split_once("://").unwrap_or(("https", place));
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let scheme = scheme.to_ascii_lowercase();
    let scheme = if scheme == "http" { "https" } else { &scheme };
    let is_kept = |part: &&str| !part.is_empty() && !part.starts_with("utm_") && !part.starts_with("fbclid=");
    let query: Vec<&str> = query.split('&').filter(is_kept).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{scheme}://{}/{}{query}", host.to_ascii_lowercase(), path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_page_are_the_same() {
        let plain = "https://a.example/Slate";
        for other in
            ["http://A.example/Slate/", "https://a.example/Slate#top", "https://a.example/Slate?utm_source=x&fbclid=1"]
        {
            assert_eq!(plain_address(other), plain, "{other}");
        }
        for other in ["https://a.example/slate", "https://b.example/Slate", "https://a.example/Slate?page=2", "", "a"] {
            assert_ne!(plain_address(other), plain, "{other}");
        }
    }

    #[test]
    fn a_text_is_recognised_whatever_its_line_endings() {
        assert_eq!(text_mark("a\r\nb\n"), text_mark(" a\nb"));
        assert_ne!(text_mark("a\nb"), text_mark("a b"));
        assert_eq!(text_mark("").len(), 23);
    }
}
