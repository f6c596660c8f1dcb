//! Scopes: strings in a token that say which tools it allows.

use std::collections::BTreeSet;

use serde_json::Value;

/// The effect of a tool, as named in scopes. Ordered: destroying includes writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolLevel {
    Read,
    Write,
    /// Bytes may be lost afterwards.
    Admin,
}

impl ToolLevel {
    fn tool_word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    fn vault_word(self) -> &'static str {
        match self {
            Self::Read => "vault:read",
            Self::Write => "vault:write",
            Self::Admin => "vault:destroy",
        }
    }
}

/// The scopes of one token. Compared as whole strings: there are no wildcards.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScopeSet(BTreeSet<String>);

impl ScopeSet {
    pub fn new(scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(scopes.into_iter().map(Into::into).filter(|scope: &String| !scope.is_empty()).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether a tool is named with this level.
    pub fn covers_tool(&self, tool: &str, level: ToolLevel) -> bool {
        // The words of obsidian-mcp-server, so that tokens made for it work here.
        self.0.contains(&format!("tool:{tool}:{}", level.tool_word()))
    }

    pub fn covers_group(&self, group: &str) -> bool {
        self.0.contains(&format!("group:{group}"))
    }

    /// Whether everything of this level may be used.
    pub fn covers_vault(&self, level: ToolLevel) -> bool {
        let levels = [ToolLevel::Read, ToolLevel::Write, ToolLevel::Admin];
        // A scope for more covers less.
        levels.into_iter().any(|granted| granted >= level && self.0.contains(granted.vault_word()))
    }

    pub fn covers_resource(&self, name: &str) -> bool {
        self.0.contains(&format!("resource:{name}:read"))
    }

    /// The scopes of a claim: a list of strings, or one string with blanks between them.
    pub(crate) fn add_claim(&mut self, claim: Option<&Value>) {
        match claim {
            // RFC 8693 has a text with blanks, many issuers send a list.
            Some(Value::String(text)) => self.0.extend(text.split_whitespace().map(str::to_owned)),
            Some(Value::Array(items)) => {
                let texts = items.iter().filter_map(Value::as_str).map(str::trim);
                self.0.extend(texts.filter(|text| !text.is_empty()).map(str::to_owned));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_for_one_tool_and_one_level() {
        let scopes = ScopeSet::new(["tool:obsidian_get_note:read", "tool:str_replace:read"]);
        assert!(scopes.covers_tool("obsidian_get_note", ToolLevel::Read));
        assert!(!scopes.covers_tool("str_replace", ToolLevel::Write), "read is not write");
        assert!(!scopes.covers_tool("obsidian_get_notes", ToolLevel::Read), "no prefixes");
        for wild in ["tool:*:read", "tool:obsidian_get_note:*", "*", "tool:OBSIDIAN_GET_NOTE:READ"] {
            assert!(!ScopeSet::new([wild]).covers_tool("obsidian_get_note", ToolLevel::Read), "{wild}");
        }
        assert!(ScopeSet::new(["group:read"]).covers_group("read"));
        assert!(!ScopeSet::new(["group:read"]).covers_group("edit"));
    }

    #[test]
    fn a_scope_of_the_vault_covers_what_is_below_it() {
        for (scope, covered) in [("vault:read", 1), ("vault:write", 2), ("vault:destroy", 3)] {
            let scopes = ScopeSet::new([scope]);
            let levels = [ToolLevel::Read, ToolLevel::Write, ToolLevel::Admin];
            assert_eq!(levels.into_iter().filter(|level| scopes.covers_vault(*level)).count(), covered, "{scope}");
        }
    }
}
