use lapidary_note::{Text, canvas_values};

use crate::VaultPath;

/// The bytes of a note as callers see them, whatever they are; of a canvas, what stands on it, each card by itself.
pub(super) fn with_shown<T>(path: &VaultPath, bytes: &[u8], look: impl FnOnce(&str) -> T) -> T {
    let shown = |text: &str| match path.is_canvas() {
        true => look(&on_canvas(text)),
        false => look(text),
    };
    match Text::decode(bytes) {
        Ok(text) => shown(text.shown()),
        Err(_) => {
            let body = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
            shown(&String::from_utf8_lossy(body).replace("\r\n", "\n").replace('\r', "\n"))
        }
    }
}

/// Nothing if it is no canvas in truth.
fn on_canvas(text: &str) -> String {
    let values = canvas_values(text).unwrap_or_default();
    values.iter().map(|value| value.value.trim()).collect::<Vec<_>>().join("\n\n")
}
