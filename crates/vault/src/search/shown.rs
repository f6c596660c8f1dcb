use lapidary_note::Text;

/// The bytes of a note as callers see them, whatever they are.
pub(super) fn with_shown<T>(bytes: &[u8], look: impl FnOnce(&str) -> T) -> T {
    match Text::decode(bytes) {
        Ok(text) => look(text.shown()),
        Err(_) => {
            let body = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
            look(&String::from_utf8_lossy(body).replace("\r\n", "\n").replace('\r', "\n"))
        }
    }
}
