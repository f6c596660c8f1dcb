//! Splits names into words.

/// The words of a text in lower case, in order: runs of letters and digits, also split at case changes, so that
/// `file_read`, `fileRead` and `file.read` have the same words.
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut after_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && after_lower) {
            found.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase() || c.is_numeric();
    }
    found.extend((!word.is_empty()).then_some(word));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_in_any_spelling_has_the_same_words() {
        for name in ["file_read", "fileRead", "file.read", "File read", "FILE-READ"] {
            assert_eq!(words(name), ["file", "read"], "{name}");
        }
        assert_eq!(words("what links here?"), ["what", "links", "here"]);
        assert_eq!(words("größe 石 x2"), ["größe", "石", "x2"]);
        assert!(words(" .-_ ").is_empty());
    }
}
