//! How often strangers may ask the authorization server for something.

use std::time::Duration;

use crate::http::client_limits::{RateTable, TooFast, at_most};

/// The key of what is counted for all together.
const ALL: &str = "all";

/// The rates of strangers. `now` is the time since the start.
pub(super) struct OAuthRates {
    tokens: RateTable,
    registrations: RateTable,
    all_registrations: RateTable,
    documents: RateTable,
}

impl Default for OAuthRates {
    fn default() -> Self {
        Self {
            // A count and its seconds: sixty a minute for one address.
            tokens: at_most(60.0, 60.0),
            registrations: at_most(20.0, 600.0),
            all_registrations: at_most(200.0, 3600.0),
            documents: at_most(10.0, 60.0),
        }
    }
}

impl OAuthRates {
    pub(super) fn token(&mut self, address: &str, now: Duration) -> Result<(), TooFast> {
        self.tokens.take(address, now)
    }

    pub(super) fn registration(&mut self, address: &str, now: Duration) -> Result<(), TooFast> {
        self.registrations.take(address, now)?;
        // An own limit for all, because registrations are stored and addresses are cheap.
        self.all_registrations.take(ALL, now)
    }

    pub(super) fn document(&mut self, now: Duration) -> Result<(), TooFast> {
        self.documents.take(ALL, now)
    }
}
