//! How much freed memory stays with the process. Only glibc has calls for that; elsewhere nothing happens.

/// Bounds what each arena of the allocator keeps at its end, which otherwise grows with the largest block that was ever
/// freed. For the start of the process, before there are other threads.
pub fn bound_kept_memory() {
    system::bound();
}

/// Gives the system what the allocator keeps of freed memory within its arenas. Takes milliseconds, during which other threads
/// may have to wait to allocate.
pub fn give_back_memory() {
    system::give_back();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
    /// What may stay at the end of an arena.
    const KEPT: libc::c_int = 1 << 20;
    /// Larger blocks are mapped one by one. Has to be set too: otherwise it rises by itself, and the other with it.
    const MAPPED: libc::c_int = 1 << 20;

    #[expect(unsafe_code, reason = "no crate wraps this call")]
    pub(crate) fn bound() {
        // SAFETY: it takes two integers, and there are no other threads yet. If it fails, more is kept.
        unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
        }
    }

    #[expect(unsafe_code, reason = "no crate wraps this call")]
    pub(crate) fn give_back() {
        // SAFETY: it takes no pointer, may be called on any thread at any time, and changes no memory that is in use.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod system {
    pub(crate) fn bound() {}

    pub(crate) fn give_back() {}
}
