//! Internal errors on demand, only in debug builds: tests of the real binary look for their traces in the log.

use lapidary_operation::{Reason, bug};
use lapidary_vault::VaultPath;

/// Reading a note with one of these names fails like an internal fault.
pub(crate) fn on_reading(path: &VaultPath) -> Result<(), Reason> {
    match path.name() {
        "lapidary-failpoint-bug.md" => Err(bug!("a failpoint: {}", std::fmt::Error)),
        "lapidary-failpoint-panic.md" => panic!("a failpoint at {path}"),
        _ => Ok(()),
    }
}
