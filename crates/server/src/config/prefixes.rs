//! Lists of vault paths that open or close what is below them.

use super::raw::Raw;
use super::refused::Refused;

/// The prefixes as they are compared: `/` between names, lower case, nothing at the ends, each once, in their order.
pub(super) fn prefixes(raw: &Raw) -> Result<Vec<String>, Refused> {
    let mut prefixes: Vec<String> = Vec::new();
    for entry in raw.entries(',')? {
        let prefix = prefix(entry)?;
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    match (prefixes.is_empty(), raw) {
        // Nothing allowed and everything allowed are too different to guess between.
        (true, Raw::List(_)) => Err(Refused::EmptyPathList),
        (true, _) => Err(Refused::OnlySeparators),
        (false, _) => Ok(prefixes),
    }
}

fn prefix(entry: &str) -> Result<String, Refused> {
    let value = || entry.to_owned();
    if is_absolute(entry) {
        return Err(Refused::AbsolutePath { value: value() });
    }
    if entry.contains('*') {
        // It would match nothing, and so a denied folder would stay open.
        return Err(Refused::Wildcard { value: value() });
    }
    let mut names = Vec::new();
    for name in entry.split(['/', '\\']) {
        match name {
            "" | "." => {}
            ".." => return Err(Refused::Traversal { value: value() }),
            name => names.push(name),
        }
    }
    if names.is_empty() {
        return Err(Refused::WholeVault { value: value() });
    }
    Ok(names.join("/").to_lowercase())
}

fn is_absolute(entry: &str) -> bool {
    match entry.as_bytes() {
        [b'/' | b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}
