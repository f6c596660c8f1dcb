//! Texts counted and cut as JavaScript does, in units of UTF-16. Half a character that a cut leaves becomes `�`.

/// How many units a text has.
pub fn utf16_length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// The units from `start` up to `end`, which may lie behind the end of the text.
pub fn utf16_slice(text: &str, start: usize, end: usize) -> String {
    if start >= end {
        return String::new();
    }
    if text.is_ascii() {
        return text[start.min(text.len())..end.min(text.len())].to_owned();
    }
    let units: Vec<u16> = text.encode_utf16().skip(start).take(end - start).collect();
    // A cut through a surrogate pair leaves half a character, which no text can hold.
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_beyond_the_first_plane_count_twice() {
        assert_eq!(utf16_length("a😀é"), 4);
        assert_eq!(utf16_slice("a😀é", 1, 3), "😀");
        assert_eq!(utf16_slice("a😀é", 2, 9), "\u{fffd}é");
        assert_eq!(utf16_slice("abc", 2, 1), "");
        assert_eq!(utf16_slice("abc", 1, 99), "bc");
    }
}
