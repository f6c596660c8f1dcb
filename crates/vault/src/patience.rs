use std::{
    sync::{Mutex, MutexGuard, TryLockError},
    time::Duration,
};

/// How often somebody who waits looks again.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// Waits for a lock as long as it is told to. Not simply waited for: whoever holds it may wait for a disk that never
/// answers. That somebody panicked while holding it is no reason to stop; what it guards is whole after every step.
pub(crate) fn lock<'m, T>(mutex: &'m Mutex<T>, go_on: &dyn Fn() -> bool) -> Option<MutexGuard<'m, T>> {
    loop {
        match mutex.try_lock() {
            Ok(held) => return Some(held),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if go_on() => std::thread::sleep(LOOK_AGAIN),
            Err(TryLockError::WouldBlock) => return None,
        }
    }
}
