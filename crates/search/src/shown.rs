//! The searchable text of notes and canvases.

use lapidary_note::{canvas_values, shown_text};

use crate::VaultPath;

/// The bytes of a note as callers see them, for any bytes; for a canvas, its texts, each card separately.
pub(super) fn with_shown<T>(path: &VaultPath, bytes: &[u8], look: impl FnOnce(&str) -> T) -> T {
    let text = shown_text(bytes);
    match path.is_canvas() {
        true => look(&on_canvas(&text)),
        false => look(&text),
    }
}

/// `None` if it is not a valid canvas.
fn on_canvas(text: &str) -> String {
    let values = canvas_values(text).unwrap_or_default();
    // A blank line between cards, so that no phrase spans two of them.
    values.iter().map(|value| value.value.trim()).collect::<Vec<_>>().join("\n\n")
}
