//! New YAML for new values, in the form Obsidian writes itself.

use crate::{YamlValue, yaml};

/// How a text was written before, which the new one keeps if possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarStyle {
    None,
    Single,
    Double,
}

/// A value after `name:`, with everything between the colon and the end of the last line.
pub(super) fn after_colon(value: &YamlValue, hint: ScalarStyle) -> String {
    let mut written = String::new();
    below(value, 0, hint, &mut written);
    written
}

/// Writes a value after a colon at some depth; collections go on the following lines.
fn below(value: &YamlValue, indent: usize, hint: ScalarStyle, written: &mut String) {
    match value {
        YamlValue::List(items) if !items.is_empty() => {
            for item in items {
                *written += &format!("\n{:indent$}  -", "");
                match item {
                    // A list or map within a list is rare enough to be written on one line.
                    YamlValue::List(_) | YamlValue::Map(_) => *written += &format!(" {}", flow(item)),
                    _ => below(item, indent + 2, ScalarStyle::None, written),
                }
            }
        }
        YamlValue::Map(entries) if !entries.is_empty() => {
            for (name, value) in entries {
                *written += &format!("\n{:indent$}  {}:", "", key(name));
                below(value, indent + 2, ScalarStyle::None, written);
            }
        }
        YamlValue::Null => {}
        YamlValue::Text(text) => *written += &format!(" {}", block_text(text, indent, hint)),
        _ => *written += &format!(" {}", flow(value)),
    }
}

/// The entries of a map on lines of their own, each list and map in them too. A property is written shorter; a file that is
/// YAML as a whole has lists of maps, which are unreadable on one line.
pub(super) fn block(entries: &[(String, YamlValue)], indent: usize) -> String {
    let mut written = String::new();
    for (name, value) in entries {
        written += &format!("{:indent$}{}:", "", key(name));
        match value {
            YamlValue::List(items) if !items.is_empty() => {
                for item in items {
                    written += &format!("\n{:indent$}  - ", "");
                    match item {
                        YamlValue::Map(entries) if !entries.is_empty() => {
                            // The first entry follows the dash; its indent is what the dash takes.
                            written += block(entries, indent + 4).trim();
                        }
                        item => written += &flow(item),
                    }
                }
            }
            YamlValue::Map(entries) if !entries.is_empty() => {
                written.push('\n');
                written += block(entries, indent + 2).trim_end();
            }
            value => below(value, indent, ScalarStyle::None, &mut written),
        }
        written.push('\n');
    }
    written
}

/// A value on one line, in a form valid in `[…]` and `{…}`.
pub(super) fn flow(value: &YamlValue) -> String {
    match value {
        YamlValue::Null => "null".to_owned(),
        YamlValue::Bool(value) => value.to_string(),
        YamlValue::Integer(value) => value.to_string(),
        YamlValue::Float(value) => float(*value),
        YamlValue::Text(text) => one_line(text, ScalarStyle::None),
        YamlValue::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        YamlValue::Map(entries) => {
            let entry = |(name, value): &(String, YamlValue)| format!("{}: {}", key(name), flow(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

pub(super) fn key(name: &str) -> String {
    one_line(name, ScalarStyle::None)
}

fn float(value: f64) -> String {
    if value.is_nan() {
        ".nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { ".inf" } else { "-.inf" }.to_owned()
    } else {
        format!("{value:?}")
    }
}

fn block_text(text: &str, indent: usize, hint: ScalarStyle) -> String {
    // A literal block cannot express text that begins with blanks, ends with several newlines or has blanks at line
    // ends.
    let literal = text.contains('\n')
        && hint != ScalarStyle::Double
        && !text.starts_with(char::is_whitespace)
        && !text.ends_with("\n\n")
        && text.lines().all(|line| !line.ends_with(char::is_whitespace))
        && text.chars().all(|c| c == '\n' || is_printable(c));
    if !literal {
        return one_line(text, hint);
    }
    let mut written = if text.ends_with('\n') { "|" } else { "|-" }.to_owned();
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        written.push('\n');
        if !line.is_empty() {
            written += &format!("{:indent$}  {line}", "");
        }
    }
    written
}

fn one_line(text: &str, hint: ScalarStyle) -> String {
    let simple = text.chars().all(is_printable);
    match hint {
        ScalarStyle::Single if simple => single(text),
        ScalarStyle::Double => double(text),
        // Dates stay unquoted even though some parsers give them a type.
        _ if is_plain(text) && (looks_like_date(text) || !looks_like_other(text)) => text.to_owned(),
        _ if simple && text.contains(['"', '\\']) && !text.contains('\'') => single(text),
        _ => double(text),
    }
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for c in text.chars() {
        match c {
            '"' => written += "\\\"",
            '\\' => written += "\\\\",
            '\n' => written += "\\n",
            '\t' => written += "\\t",
            '\r' => written += "\\r",
            c if is_printable(c) => written.push(c),
            c if u32::from(c) <= 0xff => written += &format!("\\x{:02x}", u32::from(c)),
            c if u32::from(c) <= 0xffff => written += &format!("\\u{:04x}", u32::from(c)),
            c => written += &format!("\\U{:08x}", u32::from(c)),
        }
    }
    written.push('"');
    written
}

fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Whether the text parses back as itself without quotes, in a block and in brackets.
fn is_plain(text: &str) -> bool {
    let unsafe_start = |c: char| "-?:,[]{}#&*!|>'\"%@`=<~".contains(c) || c.is_whitespace();
    !text.is_empty()
        && !text.starts_with(unsafe_start)
        && !text.ends_with(|c: char| c.is_whitespace() || c == ':')
        && !text.contains([',', '[', ']', '{', '}'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(is_printable)
        // The rules above are a shortcut; the parser decides.
        && yaml::parse(text) == Ok(YamlValue::Text(text.to_owned()))
}

/// Whether some YAML parser would take the plain text for a date, a time, a number or a boolean.
fn looks_like_other(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    matches!(word.as_str(), "yes" | "no" | "on" | "off" | "true" | "false" | "null")
        // As YAML 1.1 reads it, which many programs still do.
        || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '.'))
            && text.bytes().all(|byte| byte.is_ascii_hexdigit() || b"+-.:_xXoOTtZz ".contains(&byte))
}

/// `2024-01-02`, perhaps followed by a time. Obsidian writes dates without quotes, and people expect that.
fn looks_like_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits =
        |range: std::ops::Range<usize>| bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    digits(0..4) && digits(5..7) && digits(8..10) && bytes[4] == b'-' && bytes[7] == b'-' && looks_like_other(text)
}
