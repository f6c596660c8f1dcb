//! Gives freed memory back to the system.

/// Gives the system what the allocator keeps of freed memory. Only glibc has a call for that; elsewhere nothing happens. Takes
/// milliseconds, during which other threads may have to wait to allocate.
pub fn give_back_memory() {
    system::give_back();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
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
    pub(crate) fn give_back() {}
}
