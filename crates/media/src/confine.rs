//! What a process that decodes gives up. Each system has its own limits, and this is the only place that knows them:
//!
//! - Unix: address space, processor time, no more files and no file that grows, no core dump.
//! - Linux, in addition: no file by any name (Landlock), where the kernel has it.
//! - Windows: nothing here. The clock and the cap of the parent hold everywhere, and the decoder checks the size of a
//!   picture before it takes memory for it.

/// Lowers the limits of this process. What a system refuses is left as it is: the other limits still hold.
pub(crate) fn confine() {
    #[cfg(unix)]
    lower_limits();
    #[cfg(target_os = "linux")]
    close_file_system();
}

#[cfg(unix)]
fn lower_limits() {
    use rustix::process::{Resource, Rlimit, setrlimit};

    use crate::limits::{ADDRESS_SPACE, PROCESSOR_SECONDS};

    let limits = [
        (Resource::Core, 0),
        (Resource::Cpu, PROCESSOR_SECONDS),
        (Resource::Fsize, 0),
        // Of macOS, the kernel knows this limit and does not enforce it.
        (Resource::As, ADDRESS_SPACE),
        // Last: the three standard streams are open, and no other will be.
        (Resource::Nofile, 3),
    ];
    for (resource, most) in limits {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).unwrap_or_default();
    }
}

#[cfg(target_os = "linux")]
fn close_file_system() {
    use landlock::{ABI, Access, AccessFs, Ruleset, RulesetAttr};

    // Everything that this version of Landlock knows is handled, and nothing is allowed. An older kernel handles less, or
    // nothing.
    let handled = Ruleset::default().handle_access(AccessFs::from_all(ABI::V5)).and_then(Ruleset::create);
    drop(handled.and_then(landlock::RulesetCreated::restrict_self));
}
