//! Commits on a disk that loses unsynced data, and in a folder that another program changes.

mod fragile;
mod old_files;
mod power;
#[expect(dead_code, reason = "shared with the tests of the vault, which need all of it")]
mod scenarios;
#[cfg(unix)]
mod swaps;

use std::time::SystemTime;

use crate::{Change, ChangeOrigin, ContentGuard, File, TrashKind, VaultPath};

fn vault_path(path: &str) -> VaultPath {
    VaultPath::parse(path).unwrap()
}

/// An arbitrary caller.
fn origin() -> ChangeOrigin {
    ChangeOrigin {
        tool: "test".to_owned(),
        client: "test".to_owned(),
        time: SystemTime::now(),
        approval: None,
        call: None,
        restores: false,
    }
}

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}
