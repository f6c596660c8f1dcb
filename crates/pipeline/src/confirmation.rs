//! A user's approval, bound to exactly what was shown. The question travels through the client, so its state is sealed:
//! who asked, for which call, about which change, until when; and it counts once.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hmac::{Hmac, KeyInit, Mac};
use lapidary_note::ContentHash;
use lapidary_tools::{Reason, ShownProposal, bug};
use parking_lot::{Mutex, MutexGuard};
use sha2::Sha256;

use crate::Caller;

/// Lives as long as the server: a restart forgets all open questions, which refuses them.
pub(crate) struct ConfirmationTokens {
    key: [u8; 32],
    /// Answered questions, until they would have expired.
    used: Mutex<BTreeMap<[u8; NONCE], u64>>,
}

// A model has to copy a token letter by letter, so each part is as short as is safe.
const NONCE: usize = 12;
const EXPIRY: usize = 8;
const DIGEST: usize = 16;
const SEAL: usize = 16;

/// A verified state that has not been used yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VerifiedToken {
    nonce: [u8; NONCE],
    expiry: u64,
}

/// What a question is about.
pub(crate) struct QuestionSubject<'a> {
    pub(crate) caller: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) arguments: ContentHash,
    pub(crate) changes: ContentHash,
}

impl<'a> QuestionSubject<'a> {
    /// For a change that was shown to a caller, who may come back for it.
    pub(crate) fn of(caller: &'a str, proposal: &'a ShownProposal) -> Self {
        let ShownProposal { tool, arguments, changes } = *proposal;
        Self { caller, tool, arguments, changes }
    }
}

impl ConfirmationTokens {
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self { key, used: Mutex::default() })
    }

    /// A random name for this process.
    pub(crate) fn process(&self) -> Caller {
        let mut named = b"process".to_vec();
        named.extend(self.key);
        Caller::Known(ContentHash::of(&named))
    }

    /// The state to send along with a question.
    pub(crate) fn issue(
        &self,
        subject: &QuestionSubject<'_>,
        now: SystemTime,
        open_for: Duration,
    ) -> Result<String, Reason> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|error| bug!("the system has no random numbers: {error}"))?;
        let expiry = seconds(now) + open_for.as_secs();
        let mut state = nonce.to_vec();
        state.extend(expiry.to_be_bytes());
        // The change that was shown is in the state, so that an answer to one question cannot approve another.
        state.extend(&subject.changes.as_bytes()[..DIGEST]);
        let mac = self.mac(&state, subject)?.finalize().into_bytes();
        state.extend(&mac[..SEAL]);
        Ok(state.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Accepts a state once, in time, from the same caller, for the same call and the same change.
    pub(crate) fn verify_and_consume(
        &self,
        state: &str,
        subject: &QuestionSubject<'_>,
        now: SystemTime,
    ) -> Result<(), Reason> {
        // Regardless of the outcome, it has been used.
        let (opened, shown) = self.unseal(state, subject)?;
        self.consume(&opened, now)?;
        if shown { Ok(()) } else { Err(Reason::ChangedMeanwhile) }
    }

    /// The user declined or did not answer: a later approval of the same question comes too late.
    pub(crate) fn revoke(&self, state: &str, subject: &QuestionSubject<'_>, now: SystemTime) {
        if let Ok((opened, _)) = self.unseal(state, subject) {
            self.used(now).insert(opened.nonce, opened.expiry);
        }
    }

    /// The same without using it up, which [`Self::consume`] does.
    pub(crate) fn verify(
        &self,
        state: &str,
        subject: &QuestionSubject<'_>,
        now: SystemTime,
    ) -> Result<VerifiedToken, Reason> {
        let (opened, shown) = self.unseal(state, subject)?;
        if self.used(now).contains_key(&opened.nonce) || opened.expiry < seconds(now) {
            return Err(Reason::ConsentExpired);
        }
        if shown { Ok(opened) } else { Err(Reason::ChangedMeanwhile) }
    }

    /// Marks the state as used; it must not have been used before.
    pub(crate) fn consume(&self, opened: &VerifiedToken, now: SystemTime) -> Result<(), Reason> {
        let mut used = self.used(now);
        // Checked and marked under one lock: of two concurrent calls with the same answer, one is refused.
        if opened.expiry < seconds(now) || used.insert(opened.nonce, opened.expiry).is_some() {
            return Err(Reason::ConsentExpired);
        }
        Ok(())
    }

    fn used(&self, now: SystemTime) -> MutexGuard<'_, BTreeMap<[u8; NONCE], u64>> {
        let mut used = self.used.lock();
        // An expired state is refused by its own date, so it need not be remembered.
        used.retain(|_, until| *until >= seconds(now));
        used
    }

    /// A state of ours for this caller and call, and whether it is for this very change.
    fn unseal(&self, state: &str, subject: &QuestionSubject<'_>) -> Result<(VerifiedToken, bool), Reason> {
        let bytes = unhex(state).ok_or(Reason::ConsentExpired)?;
        let (sealed, mac) = bytes.split_at_checked(NONCE + EXPIRY + DIGEST).ok_or(Reason::ConsentExpired)?;
        // The change that was shown is part of the seal, so that a forged state and a changed note can be
        // distinguished.
        // `verify_truncated_left` accepts any prefix of the MAC, and one byte can be guessed.
        let whole = mac.len() == SEAL;
        let ours = whole && self.mac(sealed, subject)?.verify_truncated_left(mac).is_ok();
        if !ours {
            return Err(Reason::ConsentExpired);
        }
        let mut nonce = [0; NONCE];
        nonce.copy_from_slice(&sealed[..NONCE]);
        let mut expiry = [0; EXPIRY];
        expiry.copy_from_slice(&sealed[NONCE..NONCE + EXPIRY]);
        let opened = VerifiedToken { nonce, expiry: u64::from_be_bytes(expiry) };
        Ok((opened, sealed[NONCE + EXPIRY..] == subject.changes.as_bytes()[..DIGEST]))
    }

    fn mac(&self, sealed: &[u8], subject: &QuestionSubject<'_>) -> Result<Hmac<Sha256>, Reason> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.key).map_err(|error| bug!("the key has a wrong length: {error}"))?;
        for part in
            [sealed, subject.caller.as_bytes(), subject.tool.as_bytes(), subject.arguments.to_string().as_bytes()]
        {
            // With its length first, no two different lists of parts look alike.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        Ok(mac)
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject<'a>(caller: &'a str, tool: &'a str, arguments: &str, changes: &str) -> QuestionSubject<'a> {
        let hash = |text: &str| ContentHash::of(text.as_bytes());
        QuestionSubject { caller, tool, arguments: hash(arguments), changes: hash(changes) }
    }

    #[test]
    fn consent_counts_once_and_only_for_what_was_shown() {
        let tokens = ConfirmationTokens::new().unwrap();
        let (now, hour) = (UNIX_EPOCH, Duration::from_secs(3600));
        let asked = || subject("c", "t", "a", "x");
        let seal = || tokens.issue(&asked(), now, hour).unwrap();

        let state = seal();
        assert_eq!(tokens.verify_and_consume(&state, &asked(), now), Ok(()));
        assert_eq!(tokens.verify_and_consume(&state, &asked(), now), Err(Reason::ConsentExpired), "replayed");
        let declined = seal();
        tokens.revoke(&declined, &asked(), now);
        assert_eq!(tokens.verify_and_consume(&declined, &asked(), now), Err(Reason::ConsentExpired), "declined before");

        for (other, reason) in [
            (subject("d", "t", "a", "x"), Reason::ConsentExpired),
            (subject("c", "u", "a", "x"), Reason::ConsentExpired),
            (subject("c", "t", "b", "x"), Reason::ConsentExpired),
            (subject("c", "t", "a", "y"), Reason::ChangedMeanwhile),
        ] {
            assert_eq!(tokens.verify_and_consume(&seal(), &other, now), Err(reason));
        }
        assert_eq!(
            tokens.verify_and_consume(&seal(), &asked(), now + hour + Duration::from_secs(1)),
            Err(Reason::ConsentExpired),
            "late"
        );
    }

    #[test]
    fn a_proposal_can_be_looked_at_often_and_is_carried_out_once() {
        let tokens = ConfirmationTokens::new().unwrap();
        let asked = subject("c", "t", "a", "x");
        let state = tokens.issue(&asked, UNIX_EPOCH, Duration::from_secs(60)).unwrap();
        let opened = tokens.verify(&state, &asked, UNIX_EPOCH).unwrap();
        assert_eq!(tokens.verify(&state, &asked, UNIX_EPOCH), Ok(opened));
        assert_eq!(tokens.verify(&state, &subject("c", "t", "a", "y"), UNIX_EPOCH), Err(Reason::ChangedMeanwhile));
        assert_eq!(tokens.verify(&state, &subject("c", "t", "b", "x"), UNIX_EPOCH), Err(Reason::ConsentExpired));
        let late = UNIX_EPOCH + Duration::from_secs(61);
        assert_eq!(tokens.verify(&state, &asked, late), Err(Reason::ConsentExpired));
        assert_eq!(tokens.consume(&opened, UNIX_EPOCH), Ok(()));
        assert_eq!(tokens.consume(&opened, UNIX_EPOCH), Err(Reason::ConsentExpired));
        assert_eq!(tokens.verify(&state, &asked, UNIX_EPOCH), Err(Reason::ConsentExpired));
    }

    #[test]
    fn a_forged_state_is_refused() {
        let tokens = ConfirmationTokens::new().unwrap();
        let asked = subject("c", "t", "a", "x");
        let state = tokens.issue(&asked, UNIX_EPOCH, Duration::from_secs(60)).unwrap();
        let mut edited: Vec<String> = (0..state.len())
            .map(|at| {
                let mut bytes = state.clone().into_bytes();
                bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
                String::from_utf8(bytes).unwrap()
            })
            .collect();
        edited.extend(["".to_owned(), "zz".to_owned(), "é".to_owned(), state[..40].to_owned(), format!("{state}00")]);
        for forged in edited {
            assert_eq!(tokens.verify_and_consume(&forged, &asked, UNIX_EPOCH), Err(Reason::ConsentExpired), "{forged}");
        }
        assert_eq!(
            ConfirmationTokens::new().unwrap().verify_and_consume(&state, &asked, UNIX_EPOCH),
            Err(Reason::ConsentExpired),
            "another key"
        );
    }
}
