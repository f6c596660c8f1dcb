//! How often strangers may ask the authorization server for something.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::http::client_limits::{RateTable, TooFast};

/// Checking a passphrase takes 19 MiB.
const CHECKS_AT_ONCE: usize = 2;
/// How long a sign-in waits for others.
const SIGN_IN_WAIT: Duration = Duration::from_secs(5);
/// After the first wrong passphrase; it doubles with each further one, up to the longest.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const LONGEST_DELAY: Duration = Duration::from_secs(10);
/// The key of what is counted for all together.
const ALL: &str = "all";

/// The rates of strangers. `now` is the time since the start.
pub(super) struct OAuthRates {
    pages: RateTable,
    tokens: RateTable,
    registrations: RateTable,
    all_registrations: RateTable,
    sign_ins: RateTable,
    all_sign_ins: RateTable,
    documents: RateTable,
}

/// A rate, all of which may come at once.
fn at_most(count: f64, seconds: f64) -> RateTable {
    RateTable::new(count / seconds, count)
}

impl Default for OAuthRates {
    fn default() -> Self {
        Self {
            pages: at_most(120.0, 60.0),
            tokens: at_most(60.0, 60.0),
            registrations: at_most(20.0, 600.0),
            all_registrations: at_most(200.0, 3600.0),
            sign_ins: at_most(5.0, 900.0),
            all_sign_ins: at_most(30.0, 3600.0),
            documents: at_most(10.0, 60.0),
        }
    }
}

impl OAuthRates {
    pub(super) fn page(&mut self, address: &str, now: Duration) -> Result<(), TooFast> {
        self.pages.take(address, now)
    }

    pub(super) fn token(&mut self, address: &str, now: Duration) -> Result<(), TooFast> {
        self.tokens.take(address, now)
    }

    pub(super) fn registration(&mut self, address: &str, now: Duration) -> Result<(), TooFast> {
        self.registrations.take(address, now)?;
        self.all_registrations.take(ALL, now)
    }

    pub(super) fn document(&mut self, now: Duration) -> Result<(), TooFast> {
        self.documents.take(ALL, now)
    }

    /// Counts a sign-in before it is known whether it fails, so that many at once do not get around the limit.
    pub(super) fn sign_in(&mut self, address: &str, now: Duration) -> Result<(), TooFast> {
        self.sign_ins.take(address, now)?;
        // What is refused because of others must not use up the tries of this address.
        self.all_sign_ins.take(ALL, now).inspect_err(|_| self.sign_ins.give_back(address))
    }

    /// One that did not fail does not count.
    pub(super) fn signed_in(&mut self, address: &str) {
        self.sign_ins.give_back(address);
        self.all_sign_ins.give_back(ALL);
    }
}

/// How many passphrases are checked at a time, and how long a wrong one takes.
pub(super) struct PassphraseChecks {
    places: Semaphore,
    /// Wrong passphrases since the last right one.
    failures: AtomicU32,
}

impl Default for PassphraseChecks {
    fn default() -> Self {
        Self { places: Semaphore::new(CHECKS_AT_ONCE), failures: AtomicU32::new(0) }
    }
}

impl PassphraseChecks {
    pub(super) async fn place(&self) -> Result<SemaphorePermit<'_>, TooFast> {
        match tokio::time::timeout(SIGN_IN_WAIT, self.places.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(TooFast { retry_after: SIGN_IN_WAIT }),
        }
    }

    pub(super) fn succeeded(&self) {
        self.failures.store(0, Ordering::Relaxed);
    }

    /// How long the answer to a wrong passphrase takes.
    pub(super) fn failed(&self) -> Duration {
        // More would overflow, and is past the longest delay anyway.
        let before = self.failures.fetch_add(1, Ordering::Relaxed).min(10);
        (FIRST_DELAY * 2_u32.pow(before)).min(LONGEST_DELAY)
    }
}
