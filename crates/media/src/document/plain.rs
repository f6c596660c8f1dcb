//! Texts and web pages: one part each.

use lapidary_toolkit::web_page::WebPage;
use lapidary_vault::DecodeFault;

use super::PartCollector;

pub(super) fn read(bytes: &[u8], parts: &mut PartCollector) -> Result<(), DecodeFault> {
    // A text has no such bytes, whatever its encoding; UTF-16 has a mark.
    if !has_mark(bytes) && bytes.contains(&0) {
        return Err(DecodeFault::Broken);
    }
    parts.set_total(1);
    parts.add(1, None, &decoded(bytes));
    Ok(())
}

pub(super) fn read_page(bytes: &[u8], parts: &mut PartCollector) -> Result<(), DecodeFault> {
    if !has_mark(bytes) && bytes.contains(&0) {
        return Err(DecodeFault::Broken);
    }
    let page = WebPage::read(&decoded(bytes), None);
    parts.set_total(1);
    parts.set_origin(page.title.as_deref(), page.author.as_deref());
    parts.add(1, None, &page.markdown);
    Ok(())
}

fn has_mark(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// Bytes as text: UTF-8, UTF-16 with a mark, else the letters of Western Europe, with which older programs wrote.
pub(super) fn decoded(bytes: &[u8]) -> String {
    let wide = |from: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|two| from([two[0], two[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    if bytes.starts_with(&[0xff, 0xfe]) {
        return wide(u16::from_le_bytes);
    }
    if bytes.starts_with(&[0xfe, 0xff]) {
        return wide(u16::from_be_bytes);
    }
    // The mark would otherwise be the first letter of the text.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.replace("\r\n", "\n"),
        // In Windows-1252 every byte is a letter, so this never fails.
        Err(_) => bytes.iter().map(|byte| western(*byte)).collect::<String>().replace("\r\n", "\n"),
    }
}

/// A letter of Windows-1252.
fn western(byte: u8) -> char {
    const SPECIAL: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘',
        '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => SPECIAL[usize::from(byte - 0x80)],
        byte => char::from(byte),
    }
}
