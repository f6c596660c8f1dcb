//! Commands to copy: they name the vault as the command did that mentions them, so that they work in the same set-up.

use lapidary_config::CommonFlags;

/// The options of this command that the next one needs too.
#[derive(Clone, Debug, Default)]
pub(super) struct CommandHint(String);

impl CommandHint {
    pub(super) fn of(flags: &CommonFlags) -> Self {
        let vaults = flags.vaults.iter().map(|vault| format!(" --vault {}", shell_word(vault)));
        let config = flags.config.iter().map(|file| format!(" --config {}", shell_word(file)));
        Self(config.chain(vaults).collect())
    }

    /// `lapidary WORDS --vault …`
    pub(super) fn command(&self, words: &str) -> String {
        format!("lapidary {words}{}", self.0)
    }
}

/// One word of a POSIX shell, in quotes if it needs them.
pub(super) fn shell_word(text: &str) -> String {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '=' | ':' | '~' | '+' | ',' | '@');
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { quoted_word(text) }
}

/// The same, always in quotes.
pub(super) fn quoted_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_to_copy_names_the_same_vault() {
        let flags = CommonFlags {
            vaults: vec!["/home/ana/My Notes".to_owned(), "it's".to_owned()],
            config: Some("l.toml".to_owned()),
            ..CommonFlags::default()
        };
        assert_eq!(
            CommandHint::of(&flags).command("undo"),
            r"lapidary undo --config l.toml --vault '/home/ana/My Notes' --vault 'it'\''s'"
        );
        assert_eq!(CommandHint::default().command("undo"), "lapidary undo");
        assert_eq!(quoted_word(r#"{"a":"it's"}"#), r#"'{"a":"it'\''s"}'"#);
    }
}
