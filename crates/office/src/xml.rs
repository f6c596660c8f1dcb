//! Text in XML.

use std::borrow::Cow;

/// The first line of every part.
pub(crate) const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

/// Whether XML 1.0 has the character at all; no escape makes another one legal.
pub(crate) fn is_legal(letter: char) -> bool {
    match letter {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        letter => letter >= ' ',
    }
}

/// A text as content or as the value of an attribute; what XML cannot say is left out.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    let is_plain =
        |letter: char| is_legal(letter) && !matches!(letter, '&' | '<' | '>' | '"' | '\'' | '\t' | '\n' | '\r');
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            // As they are, they would become blanks in an attribute.
            '\t' => escaped.push_str("&#9;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            letter if is_legal(letter) => escaped.push(letter),
            _ => {}
        }
    }
    Cow::Owned(escaped)
}

/// Addresses that lead somewhere and run nothing.
const SCHEMES: &[&str] = &["http", "https", "mailto", "obsidian", "tel"];
/// Office programs refuse longer ones.
const LONGEST_ADDRESS: usize = 2_000;

/// The address as a relationship may have it; `None` for one that is only shown as text.
pub(crate) fn safe_address(address: &str) -> Option<String> {
    // A link within the vault has no scheme, and leads nowhere outside of it.
    let (scheme, _) = address.split_once(':')?;
    if !SCHEMES.iter().any(|safe| scheme.eq_ignore_ascii_case(safe)) {
        return None;
    }
    let mut safe = String::with_capacity(address.len());
    for letter in address.chars() {
        match letter {
            // Not allowed in an address; programs that find one refuse the whole document.
            ' ' | '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`' => {
                safe.push_str(&format!("%{:02X}", letter as u32))
            }
            letter if letter.is_control() || letter.is_whitespace() || !is_legal(letter) => {}
            letter => safe.push(letter),
        }
    }
    // A percent sign that begins no escape would be one more reason.
    let bytes = safe.as_bytes();
    let is_escape = |at: usize| bytes.get(at + 1..at + 3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    let is_valid = bytes.iter().enumerate().all(|(at, byte)| *byte != b'%' || is_escape(at));
    // More than one `#` is not an address either.
    (is_valid && safe.len() <= LONGEST_ADDRESS && safe.matches('#').count() <= 1).then_some(safe)
}
