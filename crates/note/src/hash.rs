//! Content hashes, and the hashes that callers expect.

use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};

use crate::quoted;

/// The prefix of a written hash.
const PREFIX: &str = "sha256:";

/// Identifies one exact content. Equal hashes mean equal bytes, so a caller may send one back to say
/// "change what I saw".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    pub fn of(bytes: &[u8]) -> Self {
        #[cfg(feature = "hash-count")]
        crate::hash_count::add(bytes.len());
        Self(Sha256::digest(bytes).into())
    }

    /// From stored bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// As many digits as a caller has to send back.
    pub fn short(&self) -> String {
        let mut digits = self.hex();
        digits.truncate(ExpectedHash::MIN_DIGITS);
        digits
    }

    fn hex(&self) -> String {
        self.to_string().split_off(PREFIX.len())
    }
}

/// All of it, as written.
impl FromStr for ContentHash {
    type Err = HashError;

    fn from_str(written: &str) -> Result<Self, HashError> {
        let refused = || HashError { given: written.chars().take(80).collect() };
        let hex = written.strip_prefix(PREFIX).ok_or_else(refused)?;
        // `from_str_radix` alone would accept a sign.
        if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(refused());
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).map_err(|_| refused())?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        // On the stack: a hash is written for every file of an answer.
        let mut text = [0; PREFIX.len() + 64];
        text[..PREFIX.len()].copy_from_slice(PREFIX.as_bytes());
        for (pair, byte) in text[PREFIX.len()..].chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 0xf)]]);
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The hash that a caller expects: all of it, or a prefix long enough not to match by chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedHash {
    hex: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is not a hash: expected 8 to 64 hex digits, with or without `sha256:`", quoted(.given))]
pub struct HashError {
    pub given: String,
}

impl ExpectedHash {
    /// Shortest accepted prefix: it is compared with one file or part, so 32 bits do not match by chance.
    pub const MIN_DIGITS: usize = 8;

    pub fn parse(given: &str) -> Result<Self, HashError> {
        let trimmed = given.trim();
        // Case and prefix are accepted as callers write them.
        let hex = trimmed.strip_prefix(PREFIX).unwrap_or(trimmed).to_ascii_lowercase();
        let long_enough = (Self::MIN_DIGITS..=64).contains(&hex.len());
        if long_enough && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Self { hex })
        } else {
            Err(HashError { given: given.chars().take(80).collect() })
        }
    }

    pub fn matches(&self, hash: &ContentHash) -> bool {
        hash.hex().starts_with(&self.hex)
    }
}

impl From<ContentHash> for ExpectedHash {
    fn from(hash: ContentHash) -> Self {
        Self { hex: hash.hex() }
    }
}

impl fmt::Display for ExpectedHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_sha256_of_the_exact_bytes() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(ContentHash::of(b"").to_string(), empty);
        assert_ne!(ContentHash::of(b"a\n"), ContentHash::of(b"a\r\n"));
    }

    #[test]
    fn a_full_hash_parses_as_written() {
        let hash = ContentHash::of(b"x");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8";
        for wrong in
            ["", "sha256:", hex, &format!("sha256:{hex}"), &format!("sha256:{hex}+5"), &format!("sha256:{hex}é")]
        {
            assert!(wrong.parse::<ContentHash>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_whole_hash_and_any_prefix_of_twelve_digits_match() {
        let hash = ContentHash::of(b"note");
        let hex = hash.hex();
        for given in
            [hash.to_string(), hex.clone(), hex[..12].to_owned(), format!("sha256:{}", &hex[..20]), hex.to_uppercase()]
        {
            assert!(ExpectedHash::parse(&given).unwrap().matches(&hash), "{given}");
        }
        assert!(!ExpectedHash::parse("sha256:000000000000").unwrap().matches(&hash));
    }

    #[test]
    fn anything_shorter_or_stranger_is_not_a_hash() {
        let too_long = "0".repeat(65);
        for given in [
            "",
            "sha256:",
            "abc",
            "sha256:0123456",
            "0123456789ag",
            "md5:0123456789ab",
            &too_long,
            "sha256:é0123456789ab",
        ] {
            assert!(ExpectedHash::parse(given).is_err(), "{given}");
        }
    }
}
