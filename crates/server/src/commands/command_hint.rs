//! Commands to copy: they name the vault as the command did that mentions them, so that they work in the same set-up.

use std::path::Path;

use lapidary_config::CommonFlags;

/// The options of this command that the next one needs too.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandHint {
    config: String,
    vaults: String,
    is_demo: bool,
}

impl CommandHint {
    pub(crate) fn of(flags: &CommonFlags) -> Self {
        let vaults = flags.vaults.iter().map(|vault| format!(" --vault {}", shell_word(vault)));
        // The configuration as well: with another one the same name may be another vault.
        let config = flags.config.as_ref().map(|file| format!(" --config {}", shell_word(file)));
        Self { config: config.unwrap_or_default(), vaults: vaults.collect(), is_demo: flags.demo }
    }

    /// `lapidary WORDS --vault …`
    pub(crate) fn command(&self, words: &str) -> String {
        let vaults = if self.is_demo { " --demo" } else { &self.vaults };
        format!("lapidary {words}{}{vaults}", self.config)
    }

    /// For a vault that is one of several.
    pub(super) fn in_vault(&self, folder: &Path) -> Self {
        Self { vaults: format!(" --vault {}", shell_word(&folder.display().to_string())), ..self.clone() }
    }

    /// The same for a command to which no vault is named.
    pub(super) fn command_without_vault(&self, words: &str) -> String {
        format!("lapidary {words}{}", self.config)
    }

    /// The same for a command about what this one did. Each command has its own copy of the demo vault, which ends with it.
    pub(super) fn next_command(&self, words: &str) -> Option<String> {
        (!self.is_demo).then(|| self.command(words))
    }
}

/// One word of a POSIX shell, in quotes if it needs them.
pub(super) fn shell_word(text: &str) -> String {
    let is_plain =
        // Only characters that no POSIX shell treats specially inside a word.
        |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '=' | ':' | '~' | '+' | ',' | '@');
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { quoted_word(text) }
}

/// The same, always in quotes.
pub(crate) fn quoted_word(text: &str) -> String {
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
        let one = CommandHint::of(&flags).in_vault(Path::new("/home/ana/Work"));
        assert_eq!(one.command("undo"), "lapidary undo --config l.toml --vault /home/ana/Work");
        assert_eq!(CommandHint::of(&flags).command_without_vault("token list"), "lapidary token list --config l.toml");
        assert_eq!(CommandHint::default().next_command("undo").as_deref(), Some("lapidary undo"));
        let demo = CommandHint::of(&CommonFlags { demo: true, ..CommonFlags::default() });
        assert_eq!((demo.command("tools").as_str(), demo.next_command("undo")), ("lapidary tools --demo", None));
        assert_eq!(quoted_word(r#"{"a":"it's"}"#), r#"'{"a":"it'\''s"}'"#);
    }
}
