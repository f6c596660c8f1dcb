//! Inline fields as Dataview finds them: in the raw text of a line, regardless of Markdown.

use std::ops::Range;

use crate::is_letter;

/// Lines with more UTF-16 units are not searched.
const LONGEST_LINE: usize = 32_768;
/// How many unclosed brackets are tried in one line. Without a limit a line of nothing else would take quadratic time.
const MOST_UNCLOSED: usize = 64;

/// A field in some text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundField<'t> {
    pub key: &'t str,
    pub value: &'t str,
}

/// The fields of a line outside lists: those in brackets, or the line as a whole.
pub fn line_fields(line: &str) -> Vec<FoundField<'_>> {
    if is_too_long(line) || !line.contains("::") {
        return Vec::new();
    }
    let line = line.trim();
    let wrapped = apart(wrapped_fields(line));
    // As in Dataview: a line with a field in brackets is not itself a field.
    if wrapped.is_empty() { whole_line_field(line).into_iter().collect() } else { wrapped }
}

/// The fields of a list item, whose lines are joined by spaces, without marker and box. Dates after certain emoji count
/// too; a task has no field that is a whole line.
pub fn item_fields(text: &str, is_task: bool) -> Vec<FoundField<'_>> {
    if is_too_long(text) {
        return Vec::new();
    }
    let mut fields = if text.contains("::") { wrapped_fields(text) } else { Vec::new() };
    if !text.is_ascii() {
        fields.extend(emoji_fields(text));
    }
    let mut fields = apart(fields);
    if fields.is_empty() && !is_task {
        fields.extend(whole_line_field(text.trim()));
    }
    fields
}

/// In UTF-16 units, of which a text has no more than bytes.
fn is_too_long(line: &str) -> bool {
    line.len() > LONGEST_LINE && line.encode_utf16().count() > LONGEST_LINE
}

/// A field, and where it is written.
struct PlacedField<'t> {
    span: Range<usize>,
    field: FoundField<'t>,
}

/// The fields in the order in which they are written. Of two that overlap or touch, the first counts.
fn apart(mut fields: Vec<PlacedField<'_>>) -> Vec<FoundField<'_>> {
    fields.sort_by_key(|placed| placed.span.start);
    let mut end = None;
    fields.retain(|placed| {
        // `>` and not `>=`: Dataview also drops a field that directly follows another.
        let apart = end.is_none_or(|end| placed.span.start > end);
        if apart {
            end = Some(placed.span.end);
        }
        apart
    });
    fields.into_iter().map(|placed| placed.field).collect()
}

/// `[key:: value]` and `(key:: value)`
fn wrapped_fields(line: &str) -> Vec<PlacedField<'_>> {
    let mut fields = bracketed(line, b'[', b']');
    fields.extend(bracketed(line, b'(', b')'));
    fields
}

fn bracketed(line: &str, open: u8, close: u8) -> Vec<PlacedField<'_>> {
    let bytes = line.as_bytes();
    let (mut fields, mut at, mut unclosed) = (Vec::new(), 0, 0);
    while let Some(start) = memchr::memchr(open, &bytes[at..]).map(|found| at + found) {
        at = start + 1;
        let Some(key) = key_end(bytes, at).map(|end| at..end).filter(|key| !line[key.clone()].trim().is_empty()) else {
            continue;
        };
        match value_end(bytes, key.end + 2, open, close) {
            Some(end) => {
                let value = line[key.end + 2..end].trim();
                fields.push(PlacedField { span: start..end + 1, field: FoundField { key: line[key].trim(), value } });
                at = end + 1;
            }
            // Each of these has searched the whole rest of the line.
            None if unclosed == MOST_UNCLOSED => break,
            None => unclosed += 1,
        }
    }
    fields
}

/// The position of the `::` after a key, unless a bracket comes first.
fn key_end(bytes: &[u8], from: usize) -> Option<usize> {
    let stop = |at: &usize| matches!(bytes[*at], b'[' | b']' | b'(' | b')') || bytes[*at..].starts_with(b"::");
    (from..bytes.len()).find(stop).filter(|at| bytes[*at] == b':')
}

/// The position of the bracket that closes a value.
fn value_end(bytes: &[u8], from: usize, open: u8, close: u8) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, from);
    while let Some(byte) = bytes.get(at) {
        match *byte {
            // An escaped bracket does not count.
            b'\\' => at += 1,
            byte if byte == close && depth == 0 => return Some(at),
            byte if byte == close => depth -= 1,
            byte if byte == open => depth += 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// `Key:: value`, possibly with marks around the key.
fn whole_line_field(line: &str) -> Option<FoundField<'_>> {
    let (before, value) = line.split_once("::")?;
    let before = before.trim();
    let start = before.find(|c: char| is_letter(c) || c.is_ascii_digit() || c == '_')?;
    let key = &before[start..];
    let end = key.find(|c: char| !is_in_key(c)).unwrap_or(key.len());
    let marks = &key[end..];
    marks.chars().all(|c| matches!(c, '_' | '*' | '~' | '`')).then_some(())?;
    Some(FoundField { key: &key[..end], value: value.trim() })
}

fn is_in_key(c: char) -> bool {
    is_letter(c) || c.is_ascii_digit() || c.is_whitespace() || matches!(c, '_' | '/' | '-') || is_small_emoji(c)
}

/// Those of one UTF-16 unit. Dataview's pattern sees others as two halves, which it does not accept.
fn is_small_emoji(c: char) -> bool {
    matches!(c, '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{21aa}' | '\u{231a}'..='\u{23ff}'
        | '\u{24c2}' | '\u{25aa}'..='\u{27bf}' | '\u{2934}' | '\u{2935}' | '\u{2b05}'..='\u{2b55}' | '\u{3030}'
        | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{fe0f}')
}

/// The dates of the Tasks plugin, the first of each kind.
fn emoji_fields(text: &str) -> Vec<PlacedField<'_>> {
    // The plugin takes the selector behind 🗓️ for a separate sign, so that one behind any emoji makes a date due.
    const KINDS: [(&str, &[char]); 5] = [
        ("created", &['➕']),
        ("start", &['🛫']),
        ("scheduled", &['⏳', '⌛']),
        ("due", &['📅', '📆', '🗓', '\u{fe0f}']),
        ("completion", &['✅']),
    ];
    let dated = |(key, signs): (&'static str, &[char])| {
        let behind = |(start, sign): (usize, &str)| {
            let rest = text[start + sign.len()..].trim_start();
            let value = rest.get(..10).filter(|date| is_date(date))?;
            let end = text.len() - rest.len() + value.len();
            Some(PlacedField { span: start..end, field: FoundField { key, value } })
        };
        text.match_indices(signs).find_map(behind)
    };
    KINDS.into_iter().filter_map(dated).collect()
}

fn is_date(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    text.bytes().enumerate().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(fields: &[FoundField<'_>]) -> String {
        fields.iter().map(|field| format!("{}={}", field.key, field.value)).collect::<Vec<_>>().join("; ")
    }

    /// Checked against Dataview 0.5.68.
    #[test]
    fn lines_have_the_same_fields_as_in_dataview() {
        for (line, expected) in [
            ("**Bold Key**:: v", "Bold Key=v"),
            ("~~K~~:: v", "K=v"),
            ("> K:: v", "K=v"),
            ("# K:: v", "K=v"),
            ("`K:: v`", "K=v`"),
            ("_it_:: v", "_it_=v"),
            ("a b c:: d", "a b c=d"),
            ("1st:: v", "1st=v"),
            ("x/y:: v", "x/y=v"),
            ("** b **:: v", "b =v"),
            ("std::vector", "std=vector"),
            ("key:: a:: b", "key=a:: b"),
            ("k:: v [a:: 1]", "a=1"),
            ("x `[a:: b]`", "a=b"),
            ("[k:: v](x)", "k=v"),
            ("[[x:: no]]", "x=no"),
            ("[a:: 1][b:: 2]", "a=1"),
            ("[a:: 1] [b:: 2]", "a=1; b=2"),
            ("(a:: 1) [b:: 2]", "a=1; b=2"),
            ("[a:: (b:: 2)]", "a=(b:: 2)"),
            ("[k:: [[L|x]]]", "k=[[L|x]]"),
            ("[k:: a\\] b]", "k=a\\] b"),
            ("[🎅:: a]", "🎅=a"),
            ("[**k**:: v]", "**k**=v"),
            ("a ::: b", "a=: b"),
            ("Key::", "Key="),
            ("🎉 größe:: v", "größe=v"),
            ("✅ done ✅:: v", "done ✅=v"),
            ("größe 🎉:: v", ""),
            ("🎅:: v", ""),
            ("Key!:: v", ""),
            ("a.b:: v", ""),
            ("A, b:: v", ""),
            ("(Key):: v", ""),
            ("==K==:: v", ""),
            ("\"K\":: v", ""),
            ("it's:: v", ""),
            ("[[L]] t:: v", ""),
            ("http://x:: y", ""),
            ("1. k:: v", ""),
            ("[x] k:: v", ""),
            ("k (x):: v", ""),
            ("e\u{301}:: v", ""),
            ("का:: v", ""),
            ("x²:: v", ""),
            ("5°:: v", ""),
            ("Ⅷ:: v", ""),
            ("⏳ x:: v", "x=v"),
            ("❤ a ❤:: v", "a ❤=v"),
            ("- [ ] k:: v", "k=v"),
            ("> - k:: v", "k=v"),
            ("[a:: 1] x [b:: 2](c:: 3)", "a=1; b=2"),
            ("(k:: a (b) c)", "k=a (b) c"),
            ("[k:: a [b] c] d", "k=a [b] c"),
            ("[k:: a\\\\] b", "k=a\\\\"),
            ("[ k :: v ]", "k=v"),
            ("[k (x):: v]", ""),
            ("(k [x]:: v)", ""),
            ("[k:: open", "k=open"),
            ("[:: v] x", ""),
            ("[k::]", "k="),
            ("| [a:: 1] | b |", "a=1"),
            ("%% c:: d %%", "c=d %%"),
            ("<!-- e:: f -->", "e=f -->"),
            ("no field", ""),
        ] {
            assert_eq!(shown(&line_fields(line)), expected, "{line}");
        }
    }

    #[test]
    fn items_know_dates_and_tasks_no_whole_lines() {
        for (text, is_task, expected) in [
            ("k:: v", false, "k=v"),
            ("k:: v", true, ""),
            ("x [k:: v] 📅 2026-01-02", true, "k=v; due=2026-01-02"),
            ("➕2026-01-01 🗓️ 2026-01-03 📅 2026-01-04", false, "created=2026-01-01; due=2026-01-03"),
            ("📅 soon ✅ 2026-01-05", true, "completion=2026-01-05"),
            ("📅 2026-01-0é", true, ""),
            ("📅 2026-01-01 [due:: 2026-01-02]", true, "due=2026-01-01; due=2026-01-02"),
            ("[a:: 1] ⌛2026-01-01 ⏳ 2026-01-02 📆 2026-01-03", true, "a=1; scheduled=2026-01-01; due=2026-01-03"),
            ("[due:: 📅 2026-01-01] x", true, "due=📅 2026-01-01"),
            ("📅 2026-01-01[x:: 1]", true, "due=2026-01-01"),
            ("🛫 2026-01-01 ❌ 2026-01-02 🔁 every day", true, "start=2026-01-01"),
            ("❤️ 2026-01-01", true, "due=2026-01-01"),
            ("[a:: 1] (b:: 2) ✅ 2026-01-05", false, "a=1; b=2; completion=2026-01-05"),
        ] {
            assert_eq!(shown(&item_fields(text, is_task)), expected, "{text}");
        }
    }

    #[test]
    fn brackets_without_end_come_to_an_end() {
        line_fields(&"[a:: ".repeat(6_000));
        line_fields(&"[".repeat(30_000));
        assert!(line_fields(&format!("k:: {}", "x".repeat(LONGEST_LINE))).is_empty());
        assert_eq!(line_fields(&format!("k:: {}", "é".repeat(LONGEST_LINE - 4))).len(), 1);
    }
}
