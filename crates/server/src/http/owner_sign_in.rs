//! How the owner gets in: by the passphrase or a one-time code, and from then on by the session of a browser. The same for the
//! consent page and the console, so that guesses at one count at the other.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, header},
};
use lapidary_auth::{
    AuthStore, AuthStoreError, NewEvent, PassphraseError, SecretKind, SecretText, SecurityEventKind, UnixSeconds,
};
use lapidary_config::AddressRange;
use lapidary_pipeline::Clock;
use lapidary_vault::ElapsedTime;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{
    accept_loop::network,
    client_address::client_address,
    client_limits::{RateTable, TooFast, at_most},
    endpoint::peer_of,
};

/// Checking a passphrase takes 19 MiB.
const CHECKS_AT_ONCE: usize = 2;
/// How long a sign-in waits for others.
const SIGN_IN_WAIT: Duration = Duration::from_secs(5);
/// After the first wrong passphrase; it doubles with each further one, up to the longest.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const LONGEST_DELAY: Duration = Duration::from_secs(10);
/// The key of what is counted for all together.
const ALL: &str = "all";

/// The prefix binds a cookie to one host and to TLS.
const SECURE_COOKIE: &str = "__Host-lapidary";

pub(super) struct OwnerSignIn {
    pub(super) store: Arc<AuthStore>,
    clock: Clock,
    trusted_proxies: Vec<AddressRange>,
    /// Of browsers on this computer, which have no TLS.
    plain_cookie: String,
    checks: PassphraseChecks,
    started: ElapsedTime,
    rates: Mutex<VisitRates>,
}

/// The database does not answer; the cause is in the log.
pub(super) struct StoreTrouble;

/// Why a sign-in failed.
pub(super) enum SignInRefusal {
    TooFast(TooFast),
    Wrong,
    Trouble(StoreTrouble),
}

impl From<StoreTrouble> for SignInRefusal {
    fn from(trouble: StoreTrouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl OwnerSignIn {
    pub(super) fn new(store: Arc<AuthStore>, clock: Clock, trusted_proxies: Vec<AddressRange>) -> Self {
        Self {
            store,
            clock,
            trusted_proxies,
            plain_cookie: "lapidary-owner".to_owned(),
            checks: PassphraseChecks::default(),
            started: ElapsedTime::start(),
            rates: Mutex::default(),
        }
    }

    /// With a separate cookie: cookies do not know ports, and two consoles on one computer must not sign each other out.
    pub(super) fn on_port(self, port: u16) -> Self {
        Self { plain_cookie: format!("lapidary-owner-{port}"), ..self }
    }

    pub(super) fn now(&self) -> UnixSeconds {
        self.clock.now().into()
    }

    /// Whom to count a request for.
    pub(super) fn address(&self, request: &Request) -> String {
        // Only a test calls the router without a connection.
        let peer = peer_of(request).unwrap_or(IpAddr::from([127, 0, 0, 1]));
        network(client_address(peer, request.headers(), &self.trusted_proxies)).to_string()
    }

    /// Counts a stranger who wants a page.
    pub(super) fn visit(&self, address: &str) -> Result<(), TooFast> {
        self.rates.lock().visits.take(address, self.started.elapsed())
    }

    /// Counts a sign-in before it is known whether it fails, so that many at once do not get around the limit.
    pub(super) fn guess(&self, address: &str) -> Result<(), TooFast> {
        let (mut rates, now) = (self.rates.lock(), self.started.elapsed());
        rates.sign_ins.take(address, now)?;
        // What is refused because of others must not use up the tries of this address.
        rates.all_sign_ins.take(ALL, now).inspect_err(|_| rates.sign_ins.give_back(address))
    }

    /// One that did not fail does not count.
    pub(super) fn guessed_right(&self, address: &str) {
        let mut rates = self.rates.lock();
        rates.sign_ins.give_back(address);
        rates.all_sign_ins.give_back(ALL);
    }

    /// The session of who knows the passphrase.
    pub(super) async fn sign_in(&self, given: SecretText, address: &str) -> Result<SecretText, SignInRefusal> {
        // Counted before the check, which takes much memory and time by design.
        self.guess(address).map_err(SignInRefusal::TooFast)?;
        // Only a few checks at a time hold that memory; a crowd of guesses waits in line.
        // Not held while the answer is delayed below.
        let place = self.checks.place().await.map_err(SignInRefusal::TooFast)?;
        let store = Arc::clone(&self.store);
        let checked = tokio::task::spawn_blocking(move || store.is_passphrase(&given)).await;
        drop(place);
        let is_right = match checked {
            Ok(Ok(is_right)) => is_right,
            Ok(Err(error)) => return Err(passphrase_trouble(&error).into()),
            Err(_) => return Err(StoreTrouble.into()),
        };
        if !is_right {
            tracing::warn!(address, "a wrong passphrase was given");
            self.record(SecurityEventKind::WrongPassphrase, "", address).await;
            // After the place is given back, so that a wrong guess slows down only its sender.
            tokio::time::sleep(self.checks.failed()).await;
            return Err(SignInRefusal::Wrong);
        }
        self.checks.succeeded();
        self.guessed_right(address);
        tracing::info!(address, "the owner signed in");
        let (session, at) = (new_secret(SecretKind::OwnerSession)?, self.now());
        let (opened, from) = (session.clone(), address.to_owned());
        self.ask(move |store| store.open_owner_session(&opened, &from, at)).await?;
        Ok(session)
    }

    /// The session of who has a code that was made for this.
    pub(super) async fn exchange(&self, code: SecretText, address: &str) -> Result<SecretText, SignInRefusal> {
        let (session, at) = (new_secret(SecretKind::OwnerSession)?, self.now());
        let (opened, from) = (session.clone(), address.to_owned());
        let is_valid = self.ask(move |store| store.exchange_owner_code(&code, &opened, &from, at)).await?;
        if !is_valid {
            tracing::warn!(address, "a wrong code was given");
            return Err(SignInRefusal::Wrong);
        }
        tracing::info!(address, "the owner signed in with a code");
        Ok(session)
    }

    /// The session that a request is part of, if it is open.
    pub(super) async fn session(
        &self,
        headers: &HeaderMap,
        also_plain: bool,
    ) -> Result<Option<SecretText>, StoreTrouble> {
        let is_ours = |name: &str| name == SECURE_COOKIE || (also_plain && name == self.plain_cookie);
        let now = self.now();
        // There may be two of them: the one for TLS and the plain one.
        for session in cookies(headers).filter(|(name, _)| is_ours(name)).map(|(_, value)| value) {
            let session = SecretText::new(session.to_owned());
            let used = session.clone();
            if self.ask(move |store| store.use_owner_session(&used, now)).await? {
                return Ok(Some(session));
            }
        }
        Ok(None)
    }

    /// The cookie of a session; without one, the cookie that makes a browser forget it.
    pub(super) fn cookie(&self, session: Option<&SecretText>, is_https: bool) -> Result<HeaderValue, StoreTrouble> {
        let (name, secure) = if is_https { (SECURE_COOKIE, "; Secure") } else { (self.plain_cookie.as_str(), "") };
        // Without a life a cookie ends with the browser; the session itself ends by its own rules.
        let (value, life) = session.map_or(("", "; Max-Age=0"), |session| (session.reveal(), ""));
        // `Strict` would be missing when the owner arrives from the page of a client.
        let cookie = format!("{name}={value}; HttpOnly; SameSite=Lax; Path=/{secure}{life}");
        let mut cookie = HeaderValue::from_str(&cookie).map_err(|_| StoreTrouble)?;
        // Its value is left out wherever headers are logged.
        cookie.set_sensitive(true);
        Ok(cookie)
    }

    /// Asks the database where waiting for a disk does no harm.
    pub(super) async fn ask<T, A>(&self, ask: A) -> Result<T, StoreTrouble>
    where
        T: Send + 'static,
        A: FnOnce(&AuthStore) -> Result<T, AuthStoreError> + Send + 'static,
    {
        let store = Arc::clone(&self.store);
        match tokio::task::spawn_blocking(move || ask(&store)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                tracing::error!("the database of tokens and sessions cannot be used: {error}");
                Err(StoreTrouble)
            }
            Err(_) => Err(StoreTrouble),
        }
    }

    /// Records something for the owner. If that fails, the log says so, and what happened counts all the same.
    pub(super) async fn record(&self, kind: SecurityEventKind, subject: &str, address: &str) {
        let (subject, address, now) = (subject.to_owned(), address.to_owned(), self.now());
        let recorded =
            self.ask(move |store| store.record_event(NewEvent::of(kind, &subject).from(&address), now)).await;
        // A failure is already in the log.
        recorded.unwrap_or_default();
    }
}

/// A new secret, from the system's source of randomness.
pub(super) fn new_secret(kind: SecretKind) -> Result<SecretText, StoreTrouble> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| {
        tracing::error!("the system gives no random numbers: {error}");
        StoreTrouble
    })?;
    Ok(SecretText::mint(kind, &random))
}

/// Whether a form was sent by a page that is not ours. The browser sends its cookie with a forged form too. Programs that are
/// not browsers name no origin, and have no cookie.
pub(super) fn is_foreign(headers: &HeaderMap, is_own: impl FnOnce(&str) -> bool) -> bool {
    // A header that is not text cannot be of our page.
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    text("origin").is_some_and(|origin| !is_own(origin))
        // Sent by every current browser, and forms cannot forge it.
        || text("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none"))
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

fn passphrase_trouble(error: &PassphraseError) -> StoreTrouble {
    tracing::error!("the passphrase cannot be checked: {error}");
    StoreTrouble
}

/// The rates of strangers at the sign_in_page.
struct VisitRates {
    visits: RateTable,
    sign_ins: RateTable,
    all_sign_ins: RateTable,
}

impl Default for VisitRates {
    fn default() -> Self {
        // Five guesses in a quarter of an hour for an address, thirty in an hour for all.
        Self { visits: at_most(120.0, 60.0), sign_ins: at_most(5.0, 900.0), all_sign_ins: at_most(30.0, 3600.0) }
    }
}

/// How many passphrases are checked at a time, and how long a wrong one takes.
struct PassphraseChecks {
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
    async fn place(&self) -> Result<SemaphorePermit<'_>, TooFast> {
        // The queue is fair, so guesses are checked in the order in which they came.
        match tokio::time::timeout(SIGN_IN_WAIT, self.places.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(TooFast { retry_after: SIGN_IN_WAIT }),
        }
    }

    fn succeeded(&self) {
        self.failures.store(0, Ordering::Relaxed);
    }

    /// How long the answer to a wrong passphrase takes.
    fn failed(&self) -> Duration {
        // More would overflow, and is past the longest delay anyway.
        let before = self.failures.fetch_add(1, Ordering::Relaxed).min(10);
        (FIRST_DELAY * 2_u32.pow(before)).min(LONGEST_DELAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_passphrases_are_checked_at_a_time_and_wrong_ones_take_longer_and_longer() {
        let checks = PassphraseChecks::default();
        let held = (checks.place().await.unwrap(), checks.place().await.unwrap());
        assert!(futures::poll!(Box::pin(checks.place())).is_pending(), "19 MiB each");
        drop(held);
        assert!(checks.place().await.is_ok());
        let delays: Vec<u128> = (0..9).map(|_| checks.failed().as_millis()).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    }
}
