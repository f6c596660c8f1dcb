//! Cursors of paged lists.

use lapidary_operation::{Context, Reason, clipped};
use serde::{Deserialize, Serialize};

/// Where in a list a page starts, and how long it is. It is sent to the client and back as base64url of JSON, the
/// format that the note tools have always used.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct PageCursor {
    pub offset: usize,
    pub limit: usize,
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl PageCursor {
    const FIRST: Self = Self { offset: 0, limit: 50 };
    pub const LONGEST_PAGE: usize = 200;

    /// The first page if nothing was sent.
    pub fn parse(given: Option<&str>) -> Result<Self, Reason> {
        Self::parse_up_to(given, Self::LONGEST_PAGE)
    }

    /// The same where pages may be longer than usual.
    pub fn parse_up_to(given: Option<&str>, longest: usize) -> Result<Self, Reason> {
        let Some(given) = given else { return Ok(Self::FIRST) };
        let cursor = decoded(given).and_then(|json| serde_json::from_slice::<Self>(&json).ok());
        let cursor = cursor.ok_or_else(|| Reason::CursorInvalid { cursor: clipped(given) })?;
        Ok(Self { limit: cursor.limit.clamp(1, longest), ..cursor })
    }

    /// The page that a call asks for. For the steps of a run, which have no room to save, the first is as long as one may be.
    pub fn asked(context: &Context<'_>, given: Option<&str>, longest: usize) -> Result<Self, Reason> {
        match given {
            None if context.in_steps => Ok(Self { offset: 0, limit: longest }),
            given => Self::parse_up_to(given, longest),
        }
    }

    pub fn written(self) -> String {
        encoded(format!("{{\"offset\":{},\"limit\":{}}}", self.offset, self.limit).as_bytes())
    }
}

fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0_u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for letter in 0..=group.len() {
            text.push(char::from(LETTERS[(bits >> (18 - 6 * letter) & 63) as usize]));
        }
    }
    text
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // Clients add padding or not.
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for (at, letter) in group.iter().enumerate() {
            let value = LETTERS.iter().position(|known| known == letter)?;
            bits |= u32::try_from(value).ok()? << (18 - 6 * at);
        }
        // The first byte is always zero: four letters have 24 bits.
        let [_, whole @ ..] = bits.to_be_bytes();
        // A single letter is less than a byte.
        bytes.extend(whole.get(..group.len().checked_sub(1).filter(|length| *length > 0)?)?);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cursors_keep_their_format() {
        let cursor = PageCursor { offset: 50, limit: 50 };
        assert_eq!(cursor.written(), "eyJvZmZzZXQiOjUwLCJsaW1pdCI6NTB9");
        assert_eq!(PageCursor::parse(Some(&cursor.written())), Ok(cursor));
        assert_eq!(PageCursor::parse(None), Ok(PageCursor::FIRST));
        let greedy = PageCursor { offset: 7, limit: 9999 };
        assert_eq!(PageCursor::parse(Some(&greedy.written())).unwrap().limit, 200);
        for bad in ["", "a", "!!!!", "eyJ9", "eyJvZmZzZXQiOi0xLCJsaW1pdCI6NTB9"] {
            assert!(PageCursor::parse(Some(bad)).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
            prop_assert_eq!(decoded(&encoded(&bytes)), Some(bytes));
        }

        #[test]
        fn nothing_that_is_sent_is_too_much(text in ".{0,20}") {
            drop(PageCursor::parse(Some(&text)));
        }
    }
}
