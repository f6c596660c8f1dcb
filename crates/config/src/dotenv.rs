//! The `.env` format: `NAME=VALUE` lines, `export`, quotes and comments.

/// The contents of a `.env` file. Later lines win over earlier ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DotEnv {
    pub(super) lines: Vec<DotenvLine>,
    /// The numbers of the lines that could not be parsed.
    pub(super) broken: Vec<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct DotenvLine {
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) value: String,
}

pub(super) fn parse(text: &str) -> DotEnv {
    let mut env = DotEnv::default();
    // Some Windows editors begin a file with a byte order mark.
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // A broken line is remembered and skipped: the others may well choose the vault.
        match assignment(line) {
            Some((name, value)) => {
                env.lines.push(DotenvLine { number: index + 1, name: name.to_owned(), value: value.to_owned() });
            }
            None => env.broken.push(index + 1),
        }
    }
    env
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    // Files that are also sourced by a shell have it.
    let line = match line.strip_prefix("export") {
        Some(rest) if rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => line,
    };
    let (name, rest) = line.split_once('=')?;
    let name = name.trim_end();
    let named = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.');
    named.then_some(())?;
    Some((name, value(rest.trim())?))
}

/// There are no escapes, not even in double quotes: values are paths and words, and `"C:\notes\"` means what it says.
fn value(text: &str) -> Option<&str> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let (value, after) = rest.split_once(quote)?;
            let after = after.trim_start();
            // Text after the closing quote is a mistake, unless it is a comment.
            return (after.is_empty() || after.starts_with('#')).then_some(value);
        }
    }
    // `a#b` is a value; a comment needs a blank before it.
    let comment = text
        .char_indices()
        .find(|&(at, letter)| letter == '#' && text[..at].chars().next_back().is_none_or(char::is_whitespace));
    Some(comment.map_or(text, |(at, _)| text[..at].trim_end()))
}
