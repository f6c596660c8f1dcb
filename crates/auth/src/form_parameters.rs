//! Parameters of an address or a form. One that is there twice can be read in two ways, so it is refused.

use std::collections::BTreeMap;

const MAX_FORM_BYTES: usize = 16 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormParameters(BTreeMap<String, String>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    #[error("a parameter is there twice")]
    Repeated,
    #[error("the parameters are too long")]
    TooLong,
    #[error("a parameter is not UTF-8")]
    NotText,
}

impl FormParameters {
    /// Empty values count as left out, as OAuth has it.
    pub fn parse(text: &str) -> Result<Self, FormError> {
        Self::parse_within(text, MAX_FORM_BYTES)
    }

    /// The same for a form that may be larger, because it contains text of notes.
    pub fn parse_within(text: &str, most_bytes: usize) -> Result<Self, FormError> {
        if text.len() > most_bytes {
            return Err(FormError::TooLong);
        }
        let mut parameters = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (form_decoded(name)?, form_decoded(value)?);
            // RFC 6749 forbids repetitions: two programs that each read another one of them would not agree.
            if parameters.insert(name, value).is_some() {
                return Err(FormError::Repeated);
            }
        }
        parameters.retain(|_, value| !value.is_empty());
        Ok(Self(parameters))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All whose names begin like this, without that beginning. Checkboxes of a form have a name each.
    pub fn named<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.keys().filter_map(move |name| name.strip_prefix(prefix))
    }
}

/// A value as it was before it became part of a form or an address.
pub fn form_decoded(text: &str) -> Result<String, FormError> {
    let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let escaped = (byte == b'%').then(|| bytes.get(at + 1..at + 3).and_then(hex)).flatten();
        at += if escaped.is_some() { 3 } else { 1 };
        // An incomplete escape is kept as it is written.
        out.push(escaped.unwrap_or(if byte == b'+' { b' ' } else { byte }));
    }
    String::from_utf8(out).map_err(|_| FormError::NotText)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::percent_encoded;

    #[test]
    fn a_parameter_that_is_there_twice_is_refused() {
        assert_eq!(FormParameters::parse("a=1&b=2&a=1"), Err(FormError::Repeated));
        assert_eq!(FormParameters::parse("a=1&%61=2"), Err(FormError::Repeated));
        assert_eq!(FormParameters::parse("a=%ff"), Err(FormError::NotText));
        let read = FormParameters::parse("a=x+y%26z&b=&c&d=%zz").unwrap();
        assert_eq!(
            (read.get("a"), read.get("b"), read.get("c"), read.get("d")),
            (Some("x y&z"), None, None, Some("%zz"))
        );
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_as_it_was(value in "\\PC{1,40}") {
            let read = FormParameters::parse(&format!("state={}", percent_encoded(&value))).unwrap();
            prop_assert_eq!(read.get("state"), Some(value.as_str()));
        }
    }
}
