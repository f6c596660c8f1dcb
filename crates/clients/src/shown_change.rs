//! What changes in a file, for its owner to read before it is written.

use similar::TextDiff;

/// Longer lines are not read by anyone.
const MAX_LINE_CHARS: usize = 400;

/// The change as a unified diff. `None` if it is in a line that is too long to be read: the whole file is on one line.
#[must_use]
pub fn shown_change(before: &str, after: &str) -> Option<String> {
    let diff = TextDiff::from_lines(before, after);
    let shown = diff.unified_diff().context_radius(2).to_string();
    let readable = shown.lines().all(|line| line.len() <= MAX_LINE_CHARS);
    // A carriage return would put the cursor back on a terminal.
    readable.then(|| shown.replace('\r', ""))
}
