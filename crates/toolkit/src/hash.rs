//! Checking expected hashes.

use lapidary_note::ExpectedHash;
use lapidary_operation::Reason;
use lapidary_vault::{File, VaultPath};

/// The hash that a caller sent along.
pub fn expected(tool: &str, argument: &str, given: Option<&str>) -> Result<Option<ExpectedHash>, Reason> {
    let refused = |_| Reason::bad_argument(tool, argument, "must be 8 to 64 hex digits of a hash");
    given.map(ExpectedHash::parse).transpose().map_err(refused)
}

/// Refuses to continue if the file is not the one that the caller saw.
pub fn check(
    path: &VaultPath,
    argument: &'static str,
    expected: Option<&ExpectedHash>,
    current: Option<&File>,
) -> Result<(), Reason> {
    let Some(expected) = expected else { return Ok(()) };
    let current = current.map(File::hash);
    if current.is_some_and(|current| expected.matches(&current)) {
        return Ok(());
    }
    Err(Reason::Stale { path: path.clone(), argument, expected: expected.clone(), current })
}

/// A prefix of a hash long enough to be sent back as the expected one.
pub fn short(hash: &str) -> &str {
    hash.get(.."sha256:".len() + ExpectedHash::MIN_DIGITS).unwrap_or(hash)
}

/// The same without the name of the algorithm, for texts: a caller may send it in this form.
pub fn digits(hash: &str) -> &str {
    // The name of the algorithm costs bytes in every line of an answer.
    let digits = hash.strip_prefix("sha256:").unwrap_or(hash);
    digits.get(..ExpectedHash::MIN_DIGITS).unwrap_or(digits)
}
