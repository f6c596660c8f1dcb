//! A file of a change, as every page that shows changes draws it.

use crate::{diff_rows::FileDiff, shown_text::ShownText};

/// A file of a change.
pub struct ChangedFile {
    /// As forms send it; escaped by the template.
    pub path: String,
    pub shown_path: ShownText,
    /// `changed`, `created`, `moved to …`, `deleted`.
    pub action: ShownText,
    pub diff: FileDiff,
    /// A file that is not text is described instead.
    pub instead: Option<String>,
    /// The new text, if it can be edited.
    pub text: Option<String>,
    /// Identifies the text that the client wants, so that a form tells whether the owner wants another.
    pub planned: String,
    /// The owner has left it out of the change.
    pub is_left_out: bool,
    /// The owner has typed another text for it.
    pub is_edited: bool,
}
