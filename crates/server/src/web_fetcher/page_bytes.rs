//! The bytes of a page as text, by what its host says they are.

use lapidary_tools::{PageKind, WebFault};

pub(super) struct PageBytes {
    pub(super) kind: PageKind,
    pub(super) text: String,
}

/// What a host says about a body.
#[derive(Debug, PartialEq)]
pub(super) struct PageForm {
    kind: PageKind,
    charset: Option<String>,
}

/// Kinds of `application/…` that are text.
const TEXTS: &[&str] = &["json", "xml", "yaml", "x-yaml", "toml", "javascript", "x-sh", "rtf", "x-tex"];

/// 0x80 to 0x9f in windows-1252, which is what browsers read where a page says Latin-1.
const WESTERN: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl PageBytes {
    /// Whether a body of this type can be read at all; asked before it is.
    pub(super) fn form(content_type: &str) -> Result<PageForm, WebFault> {
        let mut parts = content_type.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default();
        let charset =
            parts.find_map(|part| part.strip_prefix("charset=")).map(|name| name.trim_matches('"').to_owned());
        let unsupported =
            || WebFault::Unsupported { media_type: if essence.is_empty() { "untyped" } else { essence }.to_owned() };
        let kind = match essence.split_once('/') {
            Some(("text", "html")) | Some(("application", "xhtml+xml")) => PageKind::Html,
            Some(("text", _)) => PageKind::Text,
            Some(("application", kind))
                if TEXTS.contains(&kind) || kind.ends_with("+json") || kind.ends_with("+xml") =>
            {
                PageKind::Text
            }
            _ => return Err(unsupported()),
        };
        Ok(PageForm { kind, charset })
    }

    pub(super) fn read(form: PageForm, bytes: &[u8]) -> Result<Self, WebFault> {
        let PageForm { kind, charset } = form;
        let charset = charset.or_else(|| (kind == PageKind::Html).then(|| named_in(bytes)).flatten());
        let text = match charset.as_deref() {
            // Nothing was said: the bytes show it.
            None => String::from_utf8(bytes.to_vec()).unwrap_or_else(|_| western(bytes)),
            Some("utf-8" | "utf8" | "us-ascii" | "ascii") => String::from_utf8_lossy(bytes).into_owned(),
            Some("iso-8859-1" | "latin1" | "windows-1252" | "cp1252" | "iso-8859-15") => western(bytes),
            Some(other) => return Err(WebFault::Unsupported { media_type: format!("text in {other}") }),
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        // Control characters mean nothing in a page, and something to a terminal.
        let is_shown = |c: &char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
        Ok(Self { kind, text: text.chars().filter(is_shown).collect() })
    }
}

fn western(bytes: &[u8]) -> String {
    let letter = |byte: &u8| match byte {
        0x80..=0x9f => WESTERN[usize::from(byte - 0x80)],
        byte => char::from(*byte),
    };
    bytes.iter().map(letter).collect()
}

/// The charset that a page names in its head.
fn named_in(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
    let (_, behind) = head.split_once("charset=")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    let name: String = behind.trim_start_matches(['"', '\'']).chars().take_while(|c| is_name(*c)).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content_type: &str, bytes: &[u8]) -> Result<String, WebFault> {
        PageBytes::read(PageBytes::form(content_type)?, bytes).map(|page| page.text)
    }

    #[test]
    fn a_page_is_read_in_its_charset() {
        for (content_type, bytes, expected) in [
            ("text/html; charset=utf-8", "é".as_bytes(), "é"),
            ("text/plain", "\u{feff}é".as_bytes(), "é"),
            ("text/html", b"caf\xe9 \x80", "café €"),
            ("text/plain; charset=\"iso-8859-1\"", b"\xe9", "é"),
            ("text/html", b"<meta charset='windows-1252'>\x96", "<meta charset='windows-1252'>–"),
            ("application/json", b"{}\x1b[2J\x00", "{}[2J"),
            ("text/markdown; charset=utf-8", b"a\xffb", "a\u{fffd}b"),
        ] {
            assert_eq!(read(content_type, bytes).as_deref(), Ok(expected), "{content_type}");
        }
        for content_type in
            ["image/png", "application/pdf", "application/octet-stream", "", "text/html; charset=shift_jis"]
        {
            assert!(matches!(read(content_type, b"x"), Err(WebFault::Unsupported { .. })), "{content_type}");
        }
    }
}
