//! What the owner has marked in the app: bookmarked files, and files that are excluded from its views.

use std::collections::HashSet;

use serde_json::Value;

use crate::{LetterCase, Pattern, PatternKind, PatternOptions};

/// Bookmarks are nested in groups; deeper ones than this were not made by hand.
const DEEPEST_GROUP: usize = 32;

/// Which files are bookmarked, and which are excluded.
#[derive(Default)]
pub struct OwnerMarks {
    bookmarked: HashSet<String>,
    excluded_below: Vec<String>,
    excluded_by: Vec<Pattern>,
}

impl OwnerMarks {
    /// From `bookmarks.json` and `app.json` of the app; what cannot be understood marks nothing.
    pub fn read(bookmarks: &[u8], app: &[u8]) -> Self {
        let mut marks = Self::default();
        if let Ok(bookmarks) = serde_json::from_slice::<Value>(bookmarks) {
            marks.take_bookmarks(&bookmarks["items"], 0);
        }
        if let Ok(app) = serde_json::from_slice::<Value>(app) {
            let rules = app["userIgnoreFilters"].as_array().map(Vec::as_slice).unwrap_or_default();
            rules.iter().filter_map(Value::as_str).for_each(|rule| marks.take_exclusion(rule));
        }
        marks
    }

    fn take_bookmarks(&mut self, items: &Value, depth: usize) {
        for item in items.as_array().map(Vec::as_slice).unwrap_or_default() {
            match (item["type"].as_str(), item["path"].as_str()) {
                // A bookmark of a heading or a block is none of the file.
                (Some("file"), Some(path)) if item["subpath"].is_null() => {
                    self.bookmarked.insert(path.to_owned());
                }
                (Some("group"), _) if depth < DEEPEST_GROUP => self.take_bookmarks(&item["items"], depth + 1),
                _ => {}
            }
        }
    }

    /// A regular expression between slashes, or the beginning of a path.
    fn take_exclusion(&mut self, rule: &str) {
        let expression = rule.strip_prefix('/').and_then(|rule| rule.strip_suffix('/')).filter(|rule| !rule.is_empty());
        match expression {
            Some(expression) => {
                let options = PatternOptions {
                    kind: PatternKind::Regex,
                    case: LetterCase::Insensitive,
                    ..PatternOptions::default()
                };
                // One that cannot be read excludes nothing, as in the app.
                self.excluded_by.extend(Pattern::compile(expression, &options));
            }
            None if rule.is_empty() => {}
            None => self.excluded_below.push(rule.to_owned()),
        }
    }

    pub fn is_bookmarked(&self, path: &str) -> bool {
        self.bookmarked.contains(path)
    }

    pub fn is_excluded(&self, path: &str) -> bool {
        self.excluded_below.iter().any(|start| path.starts_with(start.as_str()))
            // A path that the pattern cannot decide is not hidden from the owner's query.
            || self.excluded_by.iter().any(|pattern| pattern.is_match(path).unwrap_or(false))
    }

    pub fn excludes_any(&self) -> bool {
        !self.excluded_below.is_empty() || !self.excluded_by.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bookmarks_in_groups_and_exclusions_of_both_kinds_count() {
        let bookmarks = br##"{"items": [{"type": "file", "path": "a.md"}, {"type": "folder", "path": "b"},
            {"type": "file", "path": "h.md", "subpath": "#H"},
            {"type": "group", "items": [{"type": "file", "path": "c.md"}]}]}"##;
        let app = br#"{"userIgnoreFilters": ["Templates/", "/\\.tmp$/", "/(/", "", 3]}"#;
        let marks = OwnerMarks::read(bookmarks, app);
        for (path, bookmarked, excluded) in [
            ("a.md", true, false),
            ("c.md", true, false),
            ("b", false, false),
            ("h.md", false, false),
            ("Templates/x.md", false, true),
            ("x.TMP", false, true),
            ("Templates.md", false, false),
        ] {
            assert_eq!((marks.is_bookmarked(path), marks.is_excluded(path)), (bookmarked, excluded), "{path}");
        }
        assert!(!OwnerMarks::read(b"[", b"").is_excluded("a"));
    }
}
