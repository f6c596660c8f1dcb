//! Note text in blocks between words of the server; for names within sentences see [`quote`](crate::quote).

/// Note text between markers that it cannot contain, so that nothing in a note can be mistaken for the server's own
/// words.
pub fn fenced(text: &str) -> String {
    // Most texts have none, and that check is cheap.
    let longest = match text.find('`') {
        None => 0,
        // The longest run of backticks; the fence has to be longer, in Markdown and for a reader.
        Some(first) => text[first..].split(|c| c != '`').map(str::len).max().unwrap_or_default(),
    };
    let fence = "`".repeat(longest.max(2) + 1);
    let line_end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{line_end}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_close_its_own_fence() {
        assert_eq!(fenced("a"), "```\na\n```");
        assert_eq!(fenced("```\nx\n```\n"), "````\n```\nx\n```\n````");
        assert_eq!(fenced(""), "```\n\n```");
    }
}
