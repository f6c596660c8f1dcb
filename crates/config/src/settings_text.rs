//! Edits of the text of `lapidary.toml`. Only the bytes of the value that changes are touched, so comments, order, blanks
//! and line ends of everything else stay as the owner wrote them.

use std::ops::Range;

use toml_edit::{Array, Document, DocumentMut, Item, Key, Table, Value};

/// Why a text cannot be edited here; the owner edits the file instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsTextError {
    #[error("the file is not valid TOML: {0}")]
    Broken(String),
    #[error("`{0}` is written in a form that is only edited by hand")]
    ByHand(String),
    #[error("there is no `{0}` in the file")]
    Missing(String),
}

/// A value to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingValue {
    Toggle(bool),
    Number(i64),
    Text(String),
    List(Vec<String>),
}

/// The text with a value at a path of one or two keys.
pub fn with_setting(text: &str, path: &[&str], value: &SettingValue) -> Result<String, SettingsTextError> {
    // Edits are made by position in the text, because writing a parsed document again would change what the owner
    // wrote.
    let (mark, body) = without_mark(text);
    let document = parsed(body)?;
    let (section, name) = parts(path)?;
    let by_hand = || SettingsTextError::ByHand(path.join("."));
    let table = match section.map(|section| (section, document.get(section))) {
        None => Some(document.as_table()),
        // At the end, where it cannot become part of another table.
        Some((section, None)) => return Ok(format!("{mark}{}", appended(body, section, name, value))),
        Some((_, Some(Item::Table(table)))) => Some(table),
        Some((_, Some(_))) => None,
    };
    let table = table.ok_or_else(by_hand)?;
    let edited = match table.get(name) {
        Some(Item::Value(old)) => {
            let span = old.span().ok_or_else(by_hand)?;
            let new = written_over(&body[span.clone()], value);
            spliced(body, span, &new)
        }
        // A table in the place of a value has its own lines and comments, which a single value cannot replace.
        Some(_) => return Err(by_hand()),
        None => inserted(body, section, table, name, value).ok_or_else(by_hand)?,
    };
    Ok(format!("{mark}{edited}"))
}

/// The text without the value at a path of one or two keys.
pub fn without_setting(text: &str, path: &[&str]) -> Result<String, SettingsTextError> {
    let (mark, body) = without_mark(text);
    let document = parsed(body)?;
    let (section, name) = parts(path)?;
    let table = match section {
        None => Some(document.as_table()),
        Some(section) => document.get(section).and_then(Item::as_table),
    };
    let found = table.and_then(|table| Some((table.key(name)?, table.get(name)?)));
    // The key's place as well, because the whole line goes, not only the value.
    let (key, item) = found.ok_or_else(|| SettingsTextError::Missing(path.join(".")))?;
    let spans = key.span().zip(item.as_value().and_then(Value::span));
    let (key, value) = spans.ok_or_else(|| SettingsTextError::ByHand(path.join(".")))?;
    let start = line_start(body, key.start);
    // Only whole lines: what is before it on its line is part of the same entry.
    Ok(format!("{mark}{}", spliced(body, start..next_line(body, value.end), "")))
}

/// Editors of Windows begin a file with it; positions are counted without.
fn without_mark(text: &str) -> (&str, &str) {
    let body = text.trim_start_matches('\u{feff}');
    (&text[..text.len() - body.len()], body)
}

fn parsed(text: &str) -> Result<Document<&str>, SettingsTextError> {
    Document::parse(text).map_err(|error| SettingsTextError::Broken(error.message().to_owned()))
}

fn parts<'p>(path: &[&'p str]) -> Result<(Option<&'p str>, &'p str), SettingsTextError> {
    match path {
        [name] => Ok((None, name)),
        [section, name] => Ok((Some(section), name)),
        _ => Err(SettingsTextError::ByHand(path.join("."))),
    }
}

/// A new line in a table that is there: below its last value.
fn inserted(text: &str, section: Option<&str>, table: &Table, name: &str, value: &SettingValue) -> Option<String> {
    let eol = line_end(text);
    // `a.b = 1` at the top level.
    // A table of dotted keys has no header; its keys have the name of the table in them.
    let line = match section.filter(|_| table.is_dotted()) {
        Some(section) => format!("{}.{} = {}", Key::new(section), Key::new(name), plain(value)),
        None => format!("{} = {}", Key::new(name), plain(value)),
    };
    // The largest end, since values may be written in any order, also within dotted keys.
    let last = table.iter().filter_map(|(_, item)| item.as_value()?.span()).map(|span| span.end).max();
    let header = table.span().map(|span| span.end).filter(|_| section.is_some() && !table.is_dotted());
    let at = match (last, header, section) {
        (Some(last), ..) => next_line(text, last),
        (None, Some(header), _) => next_line(text, header),
        // Values without a table come before all tables.
        (None, None, None) => 0,
        (None, None, Some(_)) => return None,
    };
    // A last line without an end would otherwise run into the new one.
    let before = if at > 0 && !text[..at].ends_with('\n') { eol } else { "" };
    let after = if at == text.len() && !before.is_empty() { "" } else { eol };
    Some(spliced(text, at..at, &format!("{before}{line}{after}")))
}

fn appended(text: &str, section: &str, name: &str, value: &SettingValue) -> String {
    let eol = line_end(text);
    let block = format!("[{}]{eol}{} = {}{eol}", Key::new(section), Key::new(name), plain(value));
    match text {
        "" => block,
        _ if text.ends_with('\n') => format!("{text}{eol}{block}"),
        _ => format!("{text}{eol}{eol}{block}"),
    }
}

/// A new value in the place of an old one.
fn written_over(old: &str, value: &SettingValue) -> String {
    match value {
        SettingValue::List(wanted) => list_over(old, wanted).unwrap_or_else(|| plain(value)),
        _ => plain(value),
    }
}

/// A list in the place of an old one, if its order allows that: entries that stay keep their lines and comments.
fn list_over(old: &str, wanted: &[String]) -> Option<String> {
    let eol = line_end(old);
    let document: DocumentMut = format!("x = {old}").parse().ok()?;
    let old = document.get("x")?.as_array()?;
    let mut list = Array::new();
    // What is before a line end is about the entry above it, and stays or goes with that.
    let mut above = "";
    let mut new_line = "";
    let mut is_first = true;
    let mut was_kept = true;
    let kept = |entry: &Value| entry.as_str().is_some_and(|entry| wanted.iter().any(|one| one == entry));
    for entry in old {
        let (head, line) = divided(entry.decor().prefix()?.as_str()?);
        above = if was_kept { head } else { above };
        was_kept = kept(entry);
        if was_kept {
            let mut entry = entry.clone();
            // On the opening line the first entry needs no blank before it.
            let line = if is_first && !line.contains('\n') { "" } else { line };
            entry.decor_mut().set_prefix(format!("{above}{line}"));
            list.push_formatted(entry);
            // Of the next one, its own indentation.
            new_line = line.rfind('\n').map_or(new_line, |end| &line[end..]);
            is_first = false;
        }
    }
    let (head, last_line) = divided(old.trailing().as_str()?);
    above = if was_kept { head } else { above };
    // New entries come last, in the order in which they were typed.
    for entry in wanted.iter().filter(|one| !old.iter().any(|known| known.as_str() == Some(one))) {
        let mut entry = Value::from(entry.as_str());
        let line = match (new_line, is_first) {
            ("", true) => "",
            ("", false) => " ",
            (line, _) => line,
        };
        entry.decor_mut().set_prefix(format!("{above}{line}"));
        list.push_formatted(entry);
        (above, is_first) = ("", false);
    }
    list.set_trailing(format!("{above}{last_line}"));
    // The owner's habit stays; an empty list cannot end with a comma.
    list.set_trailing_comma(old.trailing_comma() && !list.is_empty());
    let in_order = list.iter().filter_map(Value::as_str).eq(wanted.iter().map(String::as_str));
    // The library drops carriage returns.
    in_order.then(|| list.to_string().replace("\r\n", "\n").replace('\n', eol))
}

/// What is before the first line end, and the rest.
fn divided(blanks: &str) -> (&str, &str) {
    blanks.find('\n').map_or(("", blanks), |end| {
        let end = if blanks[..end].ends_with('\r') { end - 1 } else { end };
        blanks.split_at(end)
    })
}

fn plain(value: &SettingValue) -> String {
    match value {
        SettingValue::Toggle(toggle) => toggle.to_string(),
        SettingValue::Number(number) => number.to_string(),
        SettingValue::Text(text) => Value::from(text.as_str()).to_string(),
        SettingValue::List(list) => Array::from_iter(list.iter().map(String::as_str)).to_string(),
    }
}

fn spliced(text: &str, range: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# Mine.
profile = 'reader' # for now

[access] # who
  read_only = true   # careful
deny_paths = [
    \"Private\", # mine
    # the old ones
    \"Old\",
]

# Limits.
[limits]
deadline_ms=1_000
# the end
";

    fn toggle(text: &str, path: &[&str], on: bool) -> String {
        with_setting(text, path, &SettingValue::Toggle(on)).unwrap()
    }

    fn list(text: &str, entries: &[&str]) -> String {
        let value = SettingValue::List(entries.iter().map(|entry| (*entry).to_owned()).collect());
        with_setting(text, &["access", "deny_paths"], &value).unwrap()
    }

    #[test]
    fn a_value_is_replaced_and_every_other_byte_stays() {
        for eol in ["\n", "\r\n"] {
            for mark in ["", "\u{feff}"] {
                let file = format!("{mark}{}", FILE.replace('\n', eol));
                assert_eq!(toggle(&file, &["access", "read_only"], false), file.replace("= true   #", "= false   #"));
                let number = with_setting(&file, &["limits", "deadline_ms"], &SettingValue::Number(7)).unwrap();
                assert_eq!(number, file.replace("=1_000", "=7"));
                let text = with_setting(&file, &["profile"], &SettingValue::Text("a \"b\"".to_owned())).unwrap();
                assert_eq!(text, file.replace("'reader'", "'a \"b\"'"));
            }
        }
    }

    #[test]
    fn a_new_value_is_a_line_of_its_table() {
        assert_eq!(
            toggle(FILE, &["access", "excluded_files"], true),
            FILE.replace("\"Old\",\n]\n", "\"Old\",\n]\nexcluded_files = true\n")
        );
        assert_eq!(
            toggle(FILE, &["pending_approvals"], false),
            FILE.replace("# for now\n", "# for now\npending_approvals = false\n")
        );
        assert_eq!(toggle(FILE, &["http", "sse"], true), format!("{FILE}\n[http]\nsse = true\n"));
        assert_eq!(toggle("", &["http", "sse"], true), "[http]\nsse = true\n");
        assert_eq!(toggle("# x", &["http", "sse"], true), "# x\n\n[http]\nsse = true\n");
        assert_eq!(toggle("# x\n[http]", &["http", "sse"], true), "# x\n[http]\nsse = true");
        assert_eq!(toggle("# x\n[http]\n", &["pending_approvals"], true), "pending_approvals = true\n# x\n[http]\n");
        assert_eq!(toggle("http.port = 1\n", &["http", "sse"], true), "http.port = 1\nhttp.sse = true\n");
        let vault = SettingValue::Text("/x".to_owned());
        assert_eq!(with_setting("", &["vaults", "my notes"], &vault).unwrap(), "[vaults]\n\"my notes\" = \"/x\"\n");
    }

    #[test]
    fn entries_of_a_list_that_stay_keep_their_comments() {
        assert_eq!(list(FILE, &["Private"]).matches("# mine").count(), 1);
        let more = list(FILE, &["Private", "Old", "New"]);
        assert!(more.contains("\"Private\", # mine\n    # the old ones\n    \"Old\",\n    \"New\""), "{more}");
        assert!(more.contains("# careful") && more.contains("# Limits."), "{more}");
        assert_eq!(
            list("[access]\ndeny_paths = [\"a\"] # x\n", &["a", "b"]),
            "[access]\ndeny_paths = [\"a\", \"b\"] # x\n"
        );
        assert_eq!(list("[access]\ndeny_paths = [] # x\n", &["a"]), "[access]\ndeny_paths = [\"a\"] # x\n");
        assert_eq!(list("[access]\ndeny_paths = \"a\"\n", &["b"]), "[access]\ndeny_paths = [\"b\"]\n");
        let other_order = list(FILE, &["Old", "Private"]);
        assert!(other_order.contains("deny_paths = [\"Old\", \"Private\"]"), "{other_order}");
    }

    #[test]
    fn a_value_is_taken_out_with_its_line() {
        assert_eq!(
            without_setting(FILE, &["access", "read_only"]).unwrap(),
            FILE.replace("  read_only = true   # careful\n", "")
        );
        assert_eq!(without_setting(FILE, &["profile"]).unwrap(), FILE.replace("profile = 'reader' # for now\n", ""));
        let without = without_setting(FILE, &["access", "deny_paths"]).unwrap();
        assert!(!without.contains("Private") && without.contains("# Limits."), "{without}");
        assert!(matches!(without_setting(FILE, &["http", "port"]), Err(SettingsTextError::Missing(_))));
    }

    #[test]
    fn what_is_written_otherwise_is_left_to_the_owner() {
        for text in ["http = { port = 1 }\n", "[[http]]\n", "[http.sse]\n", "http = 1\n"] {
            let edited = with_setting(text, &["http", "sse"], &SettingValue::Toggle(true));
            assert!(matches!(edited, Err(SettingsTextError::ByHand(_))), "{text}: {edited:?}");
        }
        assert!(matches!(with_setting("a = ", &["b"], &SettingValue::Number(1)), Err(SettingsTextError::Broken(_))));
    }
}
