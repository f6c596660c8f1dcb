//! The properties that a change sets, changes or removes: people read them as a table, not as lines of YAML.

use lapidary_note::{Frontmatter, YamlValue};

use crate::shown_text::ShownText;

/// More are not listed; the lines show them.
const MOST_ROWS: usize = 50;
const LONGEST_VALUE: usize = 200;

/// A property before and after a change; `None` where it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyRow {
    pub name: ShownText,
    pub before: Option<ShownText>,
    pub after: Option<ShownText>,
}

type Properties = Vec<(String, YamlValue)>;

/// Nothing if there are none, or if they cannot be read.
pub(crate) fn property_rows(before: Option<&str>, after: Option<&str>) -> Vec<PropertyRow> {
    let (Some(before), Some(after)) = (properties(before), properties(after)) else { return Vec::new() };
    let value =
        |all: &Properties, name: &str| all.iter().find(|(known, _)| known == name).map(|(_, value)| value).cloned();
    // Properties that were there come first, in the order of the file, then the new ones in theirs.
    let added = after.iter().filter(|(name, _)| value(&before, name).is_none());
    let changed = before.iter().chain(added).map(|(name, _)| (name, value(&before, name), value(&after, name)));
    changed
        // Values are compared, not text: a value in other quotes has not changed.
        .filter(|(_, before, after)| before != after)
        .take(MOST_ROWS)
        .map(|(name, before, after)| PropertyRow {
            name: ShownText::line(name),
            before: before.as_ref().map(shown),
            after: after.as_ref().map(shown),
        })
        .collect()
}

/// `None` if they cannot be read; a text without properties has none.
fn properties(text: Option<&str>) -> Option<Properties> {
    let text = text.unwrap_or_default();
    // The parser expects text as callers see it: without a byte order mark, and with `\n`.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    match Frontmatter::find(&text) {
        // If one version cannot be read there is no table: half of it would look like removed properties.
        Some(found) => found.properties(&text).ok(),
        None => Some(Vec::new()),
    }
}

fn shown(value: &YamlValue) -> ShownText {
    let text = words(value);
    match text.char_indices().nth(LONGEST_VALUE) {
        None => ShownText::line(&text),
        Some((end, _)) => ShownText::line(&format!("{} …", &text[..end])),
    }
}

/// The reader limits how deep values are.
fn words(value: &YamlValue) -> String {
    match value {
        YamlValue::Null => "empty".to_owned(),
        YamlValue::Bool(value) => value.to_string(),
        YamlValue::Integer(value) => value.to_string(),
        YamlValue::Float(value) => value.to_string(),
        YamlValue::Text(value) => value.clone(),
        YamlValue::List(values) => values.iter().map(words).collect::<Vec<_>>().join(", "),
        YamlValue::Map(values) => {
            values.iter().map(|(name, value)| format!("{name}: {}", words(value))).collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(before: Option<&str>, after: Option<&str>) -> Vec<String> {
        let side = |side: &Option<ShownText>| side.as_ref().map_or("-".to_owned(), ToString::to_string);
        let row = |row: &PropertyRow| format!("{}: {} → {}", row.name, side(&row.before), side(&row.after));
        property_rows(before, after).iter().map(row).collect()
    }

    #[test]
    fn properties_are_compared_by_their_values() {
        let before = "---\na: 1\ntags: [x, y]\nsame: yes\ngone: <b>\n---\ntext\n";
        let after = "---\nsame:   yes\r\na: 2\ntags:\n- x\nnew:\n---\nother text\n";
        assert_eq!(
            rows(Some(before), Some(after)),
            ["a: 1 → 2", "tags: x, y → x", "gone: &lt;b&gt; → -", "new: - → empty"]
        );
        assert_eq!(rows(None, Some("---\na: 1\n---\n")), ["a: - → 1"]);
        assert_eq!(rows(Some("text"), Some("other")), [""; 0]);
        assert_eq!(rows(Some("---\na: [\n---\n"), Some("---\na: 1\n---\n")), [""; 0], "lines say more");
    }
}
