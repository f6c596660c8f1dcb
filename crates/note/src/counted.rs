//! Numbers of things in sentences.

use std::fmt;

/// A number with the name of what it counts, in the singular or the plural.
pub struct Counted {
    count: u64,
    one: &'static str,
}

/// `1 file`, `2 files`; the name is given in the singular.
pub fn counted(count: usize, one: &'static str) -> Counted {
    Counted { count: count as u64, one }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, one } = self;
        match (count, one.strip_suffix('y')) {
            (1, _) => write!(f, "1 {one}"),
            (_, Some(stem)) => write!(f, "{count} {stem}ies"),
            (_, None) => write!(f, "{count} {one}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        for (count, one, shown) in [(0, "file", "0 files"), (1, "file", "1 file"), (2, "more entry", "2 more entries")]
        {
            assert_eq!(counted(count, one).to_string(), shown);
        }
    }
}
