//! A text in the form that is searched.

use crate::SharedBytes;

/// A text as it is on disk, and in the form that is searched.
///
/// A line may also end with a lone carriage return. For the search it ends with a line feed, byte for byte at the same
/// place; hashes use the bytes on disk.
#[derive(Clone)]
pub(crate) struct SearchedText {
    original: SharedBytes,
    /// Where it differs.
    lines: Option<SharedBytes>,
}

impl SearchedText {
    pub(crate) fn new(original: SharedBytes) -> Self {
        // A carriage return before a line feed is part of the same line end.
        let alone = |at: &usize| original.get(at + 1) != Some(&b'\n');
        let returns: Vec<usize> = memchr::memchr_iter(b'\r', &original).filter(alone).collect();
        if returns.is_empty() {
            return Self { original, lines: None };
        }
        let mut bytes = original.to_vec();
        returns.into_iter().for_each(|at| bytes[at] = b'\n');
        Self { lines: SharedBytes::whole(bytes), original }
    }

    pub(super) fn lines(&self) -> &[u8] {
        self.lines.as_ref().unwrap_or(&self.original)
    }

    pub(super) fn original(&self) -> &[u8] {
        &self.original
    }
}
