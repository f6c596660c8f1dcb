//! Lists of vault paths that open or close everything below them.

use super::raw::RawValue;
use super::refused::ConfigRefusal;

/// The prefixes in the owner's spelling: `/` between names, none at the ends, duplicates in any case removed, in order.
pub(super) fn prefixes(raw: &RawValue) -> Result<Vec<String>, ConfigRefusal> {
    let mut prefixes: Vec<String> = Vec::new();
    for entry in raw.entries(',')? {
        let prefix = prefix(entry)?;
        // Compared without case, because access rules are: `private` and `Private` are one prefix.
        if !prefixes.iter().any(|known| known.to_lowercase() == prefix.to_lowercase()) {
            prefixes.push(prefix);
        }
    }
    match (prefixes.is_empty(), raw) {
        // Nothing allowed and everything allowed are too different to guess.
        (true, RawValue::List(_)) => Err(ConfigRefusal::EmptyPathList),
        (true, _) => Err(ConfigRefusal::OnlySeparators),
        (false, _) => Ok(prefixes),
    }
}

/// One path in the same spelling; a comma belongs to its name.
pub(super) fn one_path(entry: &str) -> Result<String, ConfigRefusal> {
    prefix(entry.trim())
}

fn prefix(entry: &str) -> Result<String, ConfigRefusal> {
    let value = || entry.to_owned();
    if is_absolute(entry) {
        return Err(ConfigRefusal::AbsolutePath { value: value() });
    }
    if entry.contains('*') {
        // It would match nothing, leaving a denied folder open.
        return Err(ConfigRefusal::Wildcard { value: value() });
    }
    let mut names = Vec::new();
    // Backslashes separate as well: a path from Windows must not become one name that matches nothing.
    for name in entry.split(['/', '\\']) {
        match name {
            "" | "." => {}
            // Resolving it would guess what the owner meant to close.
            ".." => return Err(ConfigRefusal::Traversal { value: value() }),
            name => names.push(name),
        }
    }
    // `.` or `/` would be the whole vault, which these lists cannot mean.
    if names.is_empty() {
        return Err(ConfigRefusal::WholeVault { value: value() });
    }
    Ok(names.join("/"))
}

fn is_absolute(entry: &str) -> bool {
    match entry.as_bytes() {
        [b'/' | b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}
