use std::ops::Range;

/// New text for one span of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    pub span: Range<usize>,
    pub text: String,
}

/// The file with each span replaced; every other byte is copied as it is.
///
/// Splices are in order and do not overlap.
pub fn splice(file: &[u8], splices: &[Splice]) -> Vec<u8> {
    debug_assert!(splices.is_sorted_by(|a, b| a.span.end <= b.span.start));
    let added: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut edited = Vec::with_capacity(file.len() + added);
    let mut copied = 0;
    for Splice { span, text } in splices {
        edited.extend_from_slice(&file[copied..span.start]);
        edited.extend_from_slice(text.as_bytes());
        copied = span.end;
    }
    edited.extend_from_slice(&file[copied..]);
    edited
}
