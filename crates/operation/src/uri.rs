//! Text within a link, and links to files of a vault.

use lapidary_vault::VaultPath;

/// The prefix of all file URIs.
pub const FILE_URIS: &str = "obsidian://vault/";

/// How clients name a file; the vault only matters if there are several.
pub fn of_file(path: &VaultPath) -> String {
    of_path(path.as_str())
}

pub(crate) fn of_path(path: &str) -> String {
    // Name by name, because the slashes between them stay as they are.
    let names: Vec<String> = path.split('/').map(encoded).collect();
    format!("{FILE_URIS}{}", names.join("/"))
}

/// What the app does with a file when a link is clicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkAction {
    Open,
    Create,
}

/// The link that opens or creates a file in the app, in a vault as the app names it.
pub fn in_app(action: LinkAction, vault: &str, path: &VaultPath) -> String {
    let action = match action {
        LinkAction::Open => "open",
        LinkAction::Create => "new",
    };
    // The path is one value of the query, so its slashes are encoded as well.
    format!("obsidian://{action}?vault={}&file={}", encoded(vault), encoded(path.as_str()))
}

/// A value of a link: everything but plain letters and digits is percent-encoded.
pub fn encoded(text: &str) -> String {
    let mut written = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => written.push(char::from(byte)),
            other => written += &format!("%{other:02X}"),
        }
    }
    written
}

/// Decodes a link. Clients that fill in a template leave many characters as they are, including `%`, so anything that
/// is not an escape is kept literally.
pub fn decoded(written: &str) -> String {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => digit(*high).zip(digit(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        // Not an escape: the `%` was meant as it is, and what follows it is read again.
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    // Bytes that are not text cannot have been meant as escapes.
    String::from_utf8(bytes).unwrap_or_else(|_| written.to_owned())
}

fn digit(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_reverses_encoding() {
        for text in ["a/b c.md", "100%.md", "%41.md", "石 & 💎?#.md", "", "%", "%4", "C#\\x"] {
            assert_eq!(decoded(&encoded(text)), text);
        }
    }

    #[test]
    fn text_that_is_not_an_escape_is_kept() {
        for (written, meant) in
            [("To%20do.md", "To do.md"), ("100%.md", "100%.md"), ("%zz%2", "%zz%2"), ("a%ffb", "a%ffb"), ("é b", "é b")]
        {
            assert_eq!(decoded(written), meant);
        }
    }
}
