//! The name of a recipe, by which it is called like a tool.

use std::fmt;

const PREFIX: &str = "custom_";
/// Behind the prefix; no client takes longer names of tools.
const LONGEST: usize = 33;

/// `custom_` and 1 to 33 of `[a-z0-9_]`. No tool of the server begins so, so a recipe can never stand in for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecipeName(String);

/// Whether a name can only be that of a recipe.
pub fn is_recipe_name(name: &str) -> bool {
    name.starts_with(PREFIX)
}

impl RecipeName {
    pub fn parse(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(PREFIX)?;
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        ((1..=LONGEST).contains(&rest.len()) && rest.bytes().all(fits)).then(|| Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RecipeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_prefix_and_plain_letters() {
        for (name, is_one) in [
            ("custom_a", true),
            ("custom_weekly_review_2", true),
            ("custom_", false),
            ("weekly", false),
            ("custom_Weekly", false),
            ("custom_a.md", false),
            ("custom_a/../b", false),
            ("custom_ä", false),
            (&format!("custom_{}", "x".repeat(33)), true),
            (&format!("custom_{}", "x".repeat(34)), false),
        ] {
            assert_eq!(RecipeName::parse(name).is_some(), is_one, "{name}");
        }
    }
}
