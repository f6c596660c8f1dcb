//! Obsidian's own list of excluded files.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use super::fold::{FoldedPath, PathWanted, folded, folders_of};

/// Obsidian's own setting "Excluded files".
#[derive(Clone, Debug, Default)]
pub(super) struct ExcludedFiles(Vec<ExclusionFilter>);

#[derive(Clone, Debug)]
enum ExclusionFilter {
    /// A path prefix, which need not end at a name boundary.
    Start(String),
    Regex(Box<fancy_regex::Regex>),
}

/// The settings are not as Obsidian writes them, or have an invalid expression.
#[derive(Debug)]
pub(super) struct BadFilters;

impl ExcludedFiles {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn parse(app_json: &str) -> Result<Self, BadFilters> {
        let Ok(Value::Object(settings)) = serde_json::from_str(app_json) else { return Err(BadFilters) };
        let filters = match settings.get("userIgnoreFilters") {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Array(filters)) => filters,
            Some(_) => return Err(BadFilters),
        };
        let parsed = filters.iter().map(|filter| ExclusionFilter::parse(filter.as_str().ok_or(BadFilters)?));
        parsed.filter_map(Result::transpose).collect::<Result<_, _>>().map(Self)
    }

    /// Whether the same is covered in both folders, as far as the filters show.
    pub(super) fn covers_alike(&self, one: &FoldedPath, other: &FoldedPath) -> bool {
        self.0.iter().all(|filter| match filter {
            ExclusionFilter::Start(start) => {
                let rest = |folder: &FoldedPath| start.strip_prefix(folder.as_str())?.strip_prefix('/');
                rest(one) == rest(other)
            }
            // Nothing shows what an expression matches below a folder.
            ExclusionFilter::Regex(_) => false,
        })
    }

    /// A folder is compared with a trailing `/`, as in the paths of its contents.
    pub(super) fn covers(&self, path: &str, folded: &FoldedPath, wanted: PathWanted) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let as_folder = format!("{}/", folded.as_str());
        // Expressions are composed when they are parsed, so the path has to be as well.
        let shown: String = path.nfc().collect();
        let mut shapes: Vec<String> = folders_of(&shown).map(|folder| format!("{folder}/")).collect();
        // Without a look at the disk the path may be a folder, too.
        shapes.push(format!("{shown}/"));
        if wanted == PathWanted::Anything {
            shapes.push(shown);
        }
        self.0.iter().any(|filter| match filter {
            ExclusionFilter::Start(start) => as_folder.starts_with(start),
            // An expression that takes too long has not said that the path may be seen.
            ExclusionFilter::Regex(regex) => shapes.iter().any(|shape| regex.is_match(shape).unwrap_or(true)),
        })
    }
}

impl ExclusionFilter {
    /// `None` for an entry that says nothing.
    fn parse(written: &str) -> Result<Option<Self>, BadFilters> {
        // As in Obsidian: between slashes it is an expression, otherwise a prefix.
        let expression = written.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        if let Some(expression) = expression.filter(|expression| !expression.is_empty()) {
            let expression: String = expression.nfc().collect();
            let regex = fancy_regex::RegexBuilder::new(&expression).case_insensitive(true).build();
            return regex.map(|regex| Some(Self::Regex(Box::new(regex)))).map_err(|_| BadFilters);
        }
        let start = folded(written.trim_start_matches('/'));
        Ok((!start.is_empty()).then_some(Self::Start(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(filters: &str, path: &str, wanted: PathWanted) -> bool {
        let excluded = ExcludedFiles::parse(&format!(r#"{{"userIgnoreFilters": {filters}, "x": 1}}"#)).unwrap();
        excluded.covers(path, &FoldedPath::new(path), wanted)
    }

    #[test]
    fn starts_and_expressions() {
        for (filters, path, expected) in [
            (r#"["Archive/"]"#, "archive/a.md", true),
            (r#"["Archive/"]"#, "Archive", true),
            (r#"["Archive/"]"#, "Archives/a.md", false),
            (r#"["Arch"]"#, "Archives/a.md", true),
            (r#"["Arch"]"#, "x/Arch", false),
            (r#"["a.md"]"#, "a.md", true),
            (r#"["Prive\u0301/"]"#, "Priv\u{e9}/x", true),
            (r#"["/\\.PNG$/"]"#, "a/b.png", true),
            (r#"["/\\.png$/"]"#, "a/b.png.md", false),
            (r#"["/^daily\\//"]"#, "Daily", true),
            (r#"["/^daily\\//"]"#, "Daily/x", true),
            (r#"["/^(?!Work\\/)/"]"#, "Work/a.md", false),
            (r#"["/^(?!Work\\/)/"]"#, "Home/a.md", true),
            (r#"["/(a+)+$/"]"#, "b", false),
            (r#"["", "/", "//"]"#, "a", false),
            ("null", "a", false),
            ("[]", "a", false),
        ] {
            assert_eq!(covers(filters, path, PathWanted::Anything), expected, "{filters} {path}");
        }
        assert!(!covers(r#"["/^(?!Work\\/)/"]"#, "Work", PathWanted::Folder), "asked for as a folder");
    }

    #[test]
    fn unreadable_settings_are_not_treated_as_empty() {
        for text in ["", "[]", "{", r#"{"userIgnoreFilters": "x"}"#, r#"{"userIgnoreFilters": ["/(/"]}"#] {
            assert!(ExcludedFiles::parse(text).is_err(), "{text}");
        }
        assert!(ExcludedFiles::parse("{}").is_ok());
    }
}
