use lapidary_note::{canvas_values, shown_text};

use crate::VaultPath;

/// The bytes of a note as callers see them, whatever they are; of a canvas, what stands on it, each card by itself.
pub(super) fn with_shown<T>(path: &VaultPath, bytes: &[u8], look: impl FnOnce(&str) -> T) -> T {
    let text = shown_text(bytes);
    match path.is_canvas() {
        true => look(&on_canvas(&text)),
        false => look(&text),
    }
}

/// Nothing if it is no canvas in truth.
fn on_canvas(text: &str) -> String {
    let values = canvas_values(text).unwrap_or_default();
    values.iter().map(|value| value.value.trim()).collect::<Vec<_>>().join("\n\n")
}
