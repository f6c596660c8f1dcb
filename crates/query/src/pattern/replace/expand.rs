//! Expands references in replacement texts.

use super::GroupSpans;

/// The new text with `$1`, `$&`, `` $` ``, `$'`, `$<name>` and `$$` expanded. A group that took no part is empty, and a
/// reference to no group is literal. `None` if the result exceeds `most` bytes.
pub(super) fn expand(
    with: &str,
    text: &str,
    groups: &GroupSpans,
    names: &[(String, usize)],
    most: usize,
) -> Option<String> {
    let group = |number: usize| groups.get(number).cloned().flatten().map_or("", |span| &text[span]);
    let whole = groups.first().cloned().flatten().unwrap_or_default();
    let mut expanded = String::new();
    let mut rest = with;
    while let Some(at) = rest.find('$') {
        expanded += &rest[..at];
        rest = &rest[at..];
        let (meant, length) = match rest.as_bytes().get(1) {
            Some(b'$') => ("$", 2),
            Some(b'&') => (group(0), 2),
            Some(b'`') => (&text[..whole.start], 2),
            Some(b'\'') => (&text[whole.end..], 2),
            // Without named groups `$<` is literal, as in ECMAScript.
            Some(b'<') if !names.is_empty() => match rest.find('>') {
                Some(end) => {
                    let number = names.iter().find(|(name, _)| *name == rest[2..end]).map(|(_, number)| *number);
                    (number.map_or("", group), end + 1)
                }
                None => ("$", 1),
            },
            Some(b'0'..=b'9') => match numbered(&rest[1..], groups.len()) {
                Some((number, digits)) => (group(number), 1 + digits),
                None => ("$", 1),
            },
            _ => ("$", 1),
        };
        // Checked before it is added: one match may expand to many copies of the text.
        if expanded.len() + meant.len() > most {
            return None;
        }
        expanded += meant;
        rest = &rest[length..];
    }
    expanded += rest;
    (expanded.len() <= most).then_some(expanded)
}

/// The number of a group, with two digits if there is such a group, and how many digits it has.
fn numbered(rest: &str, groups: usize) -> Option<(usize, usize)> {
    let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let number = |length: usize| rest[..length].parse().ok().filter(|number| (1..groups).contains(number));
    // `$12` is group 12, or group 1 and a `2`.
    (1..=digits).rev().find_map(|length| Some((number(length)?, length)))
}
