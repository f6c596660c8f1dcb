//! Our own secrets: how they are created, recognised and kept out of every log.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use lapidary_note::ContentHash;

/// From the system's source of randomness.
pub type RandomBytes = [u8; 32];

/// The purpose of a secret. The prefix identifies it to people and secret scanners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// Created by the owner with `lapidary token create`.
    Personal,
    /// Made at start for the older HTTP+SSE transport.
    EventStream,
    /// Of the authorization server: what clients call with, and what they get the next one for.
    Access,
    Refresh,
    Code,
    /// No secret, but made like one.
    ClientId,
    ClientSecret,
    /// With which a client looks at its registration or deletes it.
    Registration,
    /// In the owner's browser.
    OwnerSession,
    /// In the link that signs a browser in.
    OwnerCode,
    /// In the form of one consent page.
    ConsentTicket,
}

impl SecretKind {
    // No prefix is the start of another one, so the order does not matter.
    const ALL: [Self; 11] = [
        Self::Personal,
        Self::EventStream,
        Self::Access,
        Self::Refresh,
        Self::Code,
        Self::ClientId,
        Self::ClientSecret,
        Self::Registration,
        Self::OwnerSession,
        Self::OwnerCode,
        Self::ConsentTicket,
    ];

    pub fn prefix(self) -> &'static str {
        match self {
            Self::Personal => "lap_pat_",
            Self::EventStream => "lap_sse_",
            Self::Access => "lap_at_",
            Self::Refresh => "lap_rt_",
            Self::Code => "lap_ac_",
            Self::ClientId => "lap_ci_",
            Self::ClientSecret => "lap_cs_",
            Self::Registration => "lap_cr_",
            Self::OwnerSession => "lap_os_",
            Self::OwnerCode => "lap_oc_",
            Self::ConsentTicket => "lap_ct_",
        }
    }
}

const CHECKSUM_CHARS: usize = 6;

/// A secret in clear text. It prints as `…`; only [`SecretText::reveal`] reveals it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    pub fn mint(kind: SecretKind, random: &RandomBytes) -> Self {
        // Base64url needs no escaping in addresses and headers.
        let body = format!("{}{}", kind.prefix(), URL_SAFE_NO_PAD.encode(random));
        let checksum = checksum(&body);
        Self(body + &checksum)
    }

    pub fn new(text: String) -> Self {
        Self(text)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash that is stored instead of the secret.
    pub fn digest(&self) -> ContentHash {
        ContentHash::of(self.0.as_bytes())
    }

    /// Whether this looks like one of our secrets: a mistyped one is refused without a database query.
    pub fn recognise(text: &str) -> Option<SecretKind> {
        let kind = SecretKind::ALL.into_iter().find(|kind| text.starts_with(kind.prefix()))?;
        // By bytes and checked, since what a client sends may be any text.
        let (body, given) = text.split_at_checked(text.len().checked_sub(CHECKSUM_CHARS)?)?;
        (checksum(body) == given).then_some(kind)
    }
}

/// Whether two hashes of secrets are equal. They are compared to the end, so that the time reveals nothing.
pub fn is_same_digest(one: &ContentHash, other: &ContentHash) -> bool {
    // Folded over all bytes: an early end would tell how many of them agree.
    one.as_bytes().iter().zip(other.as_bytes()).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

fn checksum(body: &str) -> String {
    let mut text = URL_SAFE_NO_PAD.encode(ContentHash::of(body.as_bytes()).as_bytes());
    text.truncate(CHECKSUM_CHARS);
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_minted_secret_is_recognised_and_a_mistyped_one_is_not(random: [u8; 32], at in 8_usize..57, letter in "[A-Za-z0-9_-]") {
            let secret = SecretText::mint(SecretKind::Personal, &random);
            prop_assert_eq!(SecretText::recognise(secret.reveal()), Some(SecretKind::Personal));
            let mut mistyped = secret.reveal().to_owned();
            mistyped.replace_range(at..=at, &letter);
            // The last characters of a checksum and of 32 bytes carry fewer bits, but never are they equal texts.
            prop_assert_eq!(SecretText::recognise(&mistyped).is_some(), mistyped == secret.reveal());
        }

        #[test]
        fn no_text_makes_it_panic(text in "(lap_pat_)?\\PC{0,20}") {
            prop_assert_eq!(SecretText::recognise(&text), None);
        }
    }

    #[test]
    fn a_secret_does_not_print() {
        let secret = SecretText::mint(SecretKind::Personal, &[7; 32]);
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "… Some(…)");
    }
}
