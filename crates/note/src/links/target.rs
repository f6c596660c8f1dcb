//! Decodes the target of a link.

use std::borrow::Cow;

use super::LinkKind;

/// The target of a path, see [`super::Link::target`].
pub(super) fn target(kind: LinkKind, path: &str) -> Cow<'_, str> {
    let decoded = match kind {
        LinkKind::Wiki | LinkKind::Url => Cow::Borrowed(path),
        // A path whose escapes are broken is looked up as it is written.
        LinkKind::Markdown | LinkKind::Reference => decode(&unescape(path)).map_or_else(|| unescape(path), Cow::Owned),
    };
    if decoded.contains('\u{a0}') {
        return Cow::Owned(decoded.replace('\u{a0}', " ").trim().to_owned());
    }
    match decoded {
        Cow::Borrowed(path) => Cow::Borrowed(path.trim()),
        Cow::Owned(path) => Cow::Owned(path.trim().to_owned()),
    }
}

/// A backslash before punctuation is not part of a Markdown destination.
fn unescape(path: &str) -> Cow<'_, str> {
    if !path.contains('\\') {
        return Cow::Borrowed(path);
    }
    let mut plain = String::with_capacity(path.len());
    let mut characters = path.chars().peekable();
    while let Some(c) = characters.next() {
        match characters.peek() {
            Some(next) if c == '\\' && next.is_ascii_punctuation() => {}
            _ => plain.push(c),
        }
        if c == '\\'
            && let Some(escaped) = characters.next_if(char::is_ascii_punctuation)
        {
            plain.push(escaped);
        }
    }
    Cow::Owned(plain)
}

/// Whether every percent escape is one that JavaScript's `decodeURI` accepts.
pub(super) fn decodes(destination: &str) -> bool {
    !destination.contains('%') || decode(destination).is_some()
}

/// JavaScript's `decodeURI`: escapes of `; / ? : @ & = + $ , #` are kept, a broken one spoils the whole.
fn decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let digits = tail.get(..2).and_then(|digits| str::from_utf8(digits).ok())?;
        // `from_str_radix` alone would accept a sign.
        let byte = u8::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
        if b";/?:@&=+$,#".contains(&byte) {
            bytes.extend_from_slice(&rest[..3]);
        } else {
            bytes.push(byte);
        }
        rest = &tail[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_decoded_as_obsidian_decodes_it() {
        for (kind, path, expected) in [
            (LinkKind::Markdown, "a%20b.md", "a b.md"),
            (LinkKind::Markdown, "%C3%A9%5Bx%5D", "é[x]"),
            (LinkKind::Markdown, "a%23b%2Fc", "a%23b%2Fc"),
            (LinkKind::Markdown, "100%", "100%"),
            (LinkKind::Markdown, "%ff", "%ff"),
            (LinkKind::Markdown, "%+1", "%+1"),
            (LinkKind::Markdown, "a\\(b\\).md", "a(b).md"),
            (LinkKind::Markdown, "a\\\\b\\c", "a\\b\\c"),
            (LinkKind::Wiki, "a%20b", "a%20b"),
            (LinkKind::Wiki, " a\u{a0}b\u{a0}", "a b"),
        ] {
            assert_eq!(target(kind, path), expected, "{path:?}");
        }
    }
}
