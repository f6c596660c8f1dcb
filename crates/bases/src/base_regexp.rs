//! Regular expressions as values.

use std::fmt;

use lapidary_query::{ExpressionFlags, ReplaceError, Replacer};

/// `/body/flags`
pub struct BaseRegexp {
    pub(super) body: Box<str>,
    pub(super) flags: Box<str>,
    pub(super) replacer: Replacer,
}

impl BaseRegexp {
    pub(super) fn new(body: &str, flags: &str) -> Result<Self, String> {
        let known = |flag: char| "dgimsuvy".contains(flag);
        // JavaScript refuses a flag that comes twice.
        let repeated = |(at, flag): (usize, char)| flags[..at].contains(flag);
        if !flags.chars().all(known) || flags.char_indices().any(repeated) {
            return Err(format!("'{flags}' are not flags of a regular expression"));
        }
        let expression = ExpressionFlags {
            ignore_case: flags.contains('i'),
            multi_line: flags.contains('m'),
            dot_all: flags.contains('s'),
        };
        let replacer = Replacer::ecmascript(body, expression).map_err(|fault| fault.fault)?;
        Ok(Self { body: body.into(), flags: flags.into(), replacer })
    }

    pub(super) fn is_global(&self) -> bool {
        self.flags.contains('g')
    }

    pub(super) fn is_match(&self, text: &str) -> Result<bool, ReplaceError> {
        self.replacer.is_match(text)
    }
}

impl fmt::Display for BaseRegexp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/{}", self.body, self.flags)
    }
}

impl fmt::Debug for BaseRegexp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl PartialEq for BaseRegexp {
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body && self.flags == other.flags
    }
}
