//! Lists of vault paths that open or close what is below them.

use super::raw::RawValue;
use super::refused::ConfigRefusal;

/// The prefixes in the spelling of the owner: `/` between names, nothing at the ends, each once in whatever case, in their
/// order.
pub(super) fn prefixes(raw: &RawValue) -> Result<Vec<String>, ConfigRefusal> {
    let mut prefixes: Vec<String> = Vec::new();
    for entry in raw.entries(',')? {
        let prefix = prefix(entry)?;
        if !prefixes.iter().any(|known| known.to_lowercase() == prefix.to_lowercase()) {
            prefixes.push(prefix);
        }
    }
    match (prefixes.is_empty(), raw) {
        // Nothing allowed and everything allowed are too different to guess between.
        (true, RawValue::List(_)) => Err(ConfigRefusal::EmptyPathList),
        (true, _) => Err(ConfigRefusal::OnlySeparators),
        (false, _) => Ok(prefixes),
    }
}

fn prefix(entry: &str) -> Result<String, ConfigRefusal> {
    let value = || entry.to_owned();
    if is_absolute(entry) {
        return Err(ConfigRefusal::AbsolutePath { value: value() });
    }
    if entry.contains('*') {
        // It would match nothing, and so a denied folder would stay open.
        return Err(ConfigRefusal::Wildcard { value: value() });
    }
    let mut names = Vec::new();
    for name in entry.split(['/', '\\']) {
        match name {
            "" | "." => {}
            ".." => return Err(ConfigRefusal::Traversal { value: value() }),
            name => names.push(name),
        }
    }
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
