//! What a person sees who starts `lapidary` on a terminal without saying what to do.

use std::path::PathBuf;

use lapidary_tools::quote::one_line;
use unicode_width::UnicodeWidthStr;

use super::{command_hint::shell_word, terminal_style::TerminalStyle};

/// More vaults are not listed: the greeting should fit a screen.
const MOST_VAULTS: usize = 12;

/// The vaults that are known before anything is set up.
pub(super) struct GreetedVaults {
    pub(super) vaults: Vec<(String, PathBuf)>,
    /// Where they are configured. Otherwise Obsidian lists them.
    pub(super) configured_in: Option<String>,
}

impl GreetedVaults {
    pub(super) fn of_obsidian(listed: &[PathBuf]) -> Self {
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let vaults = listed.iter().map(|path| (name(path).unwrap_or_default(), path.clone())).collect();
        Self { vaults, configured_in: None }
    }

    /// As they are named in a command to copy.
    fn option(&self) -> String {
        match (&self.configured_in, self.vaults.as_slice()) {
            // A command finds them itself.
            // Otherwise the command would be copied with a placeholder that is not needed.
            (Some(_), _) => String::new(),
            (None, [(_, only)]) => format!(" --vault {}", shell_word(&one_line(&only.display().to_string()))),
            (None, _) => " --vault /path/to/vault".to_owned(),
        }
    }
}

/// The greeting, with the vaults and what to do next.
pub(super) fn greeting(known: &GreetedVaults, style: TerminalStyle) -> String {
    let mut text = format!("{}\n\n", style.strong(&format!("Lapidary {}", env!("CARGO_PKG_VERSION"))));
    text += &style.wrapped(
        "An MCP server: AI assistants use it to read, search and edit the notes of an Obsidian vault. They start it themselves \
         once it is set up.",
        0,
    );
    text.push('\n');
    if known.vaults.is_empty() {
        text += &style.wrapped("Obsidian lists no vault on this computer; any folder with notes will do.", 0);
    } else {
        text += &match &known.configured_in {
            Some(place) => style.wrapped(&format!("Vaults ({}):", one_line(place)), 0),
            None => "Vaults that Obsidian knows:\n".to_owned(),
        };
        // A name or a folder may hold control characters, and this goes to a terminal.
        let shown = |text: &str| one_line(text).into_owned();
        let rows: Vec<(String, String)> = known
            .vaults
            .iter()
            .take(MOST_VAULTS)
            .map(|(name, path)| (shown(name), shown(&path.display().to_string())))
            .collect();
        let widest = rows.iter().map(|(name, _)| name.width()).max().unwrap_or_default();
        for (name, path) in &rows {
            // Padded by hand: formatting counts characters, and names may have wide ones.
            text += &format!("  {name}{}  {path}\n", " ".repeat(widest - name.width()));
        }
        if known.vaults.len() > MOST_VAULTS {
            text += &format!("  … and {} more\n", known.vaults.len() - MOST_VAULTS);
        }
    }
    let vault = known.option();
    text += "\nNext:\n";
    let install = format!("lapidary install{vault}");
    // Without a configured vault a search would only fail, so it is tried on the demo.
    let search = match known.configured_in {
        Some(_) => ("lapidary search WORDS".to_owned(), "find notes"),
        None => ("lapidary search --demo slate".to_owned(), "try it on a demo vault"),
    };
    for (command, does) in [
        (install, "set up the AI programs on this computer; shows every change first"),
        search,
        (format!("lapidary --http{vault}"), "serve over HTTP"),
        ("lapidary doctor".to_owned(), "find out what is wrong"),
        ("lapidary --help".to_owned(), "everything else"),
    ] {
        text += &format!("  {}\n", style.strong(&command));
        text += &style.wrapped(does, 6);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeted(vaults: &[&str], width: usize) -> String {
        let vaults: Vec<PathBuf> = vaults.iter().map(PathBuf::from).collect();
        greeting(&GreetedVaults::of_obsidian(&vaults), TerminalStyle::terminal(width, false))
    }

    #[test]
    fn a_single_vault_is_named_in_the_command_to_copy() {
        let text = greeted(&["/home/ana/Notes"], 80);
        let expected = format!(
            "Lapidary {}\n\nAn MCP server: AI assistants use it to read, search and edit the notes of an\nObsidian vault. They \
             start it themselves once it is set up.\n\nVaults that Obsidian knows:\n  Notes  /home/ana/Notes\n\nNext:\n  lapidary \
             install --vault /home/ana/Notes\n      set up the AI programs on this computer; shows every change first\n  \
             lapidary search --demo slate\n      try it on a demo vault\n  lapidary --http --vault /home/ana/Notes\n      \
             serve over HTTP\n  lapidary doctor\n      find out what is wrong\n  lapidary --help\n      everything else\n",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn it_fits_the_terminal_and_shows_no_control_characters() {
        for width in [80, 120] {
            let text = greeted(&["/v/日記", "/v/a\u{1b}[2J", "/v/long name"], width);
            assert!(!text.contains('\u{1b}'), "{text}");
            assert!(text.contains("  日記") && text.contains("/path/to/vault"), "{text}");
            assert!(text.lines().all(|line| line.width() <= width), "{text}");
        }
        assert!(greeted(&[], 80).contains("lists no vault"));
        assert!(greeted(&["/v"; 20], 80).contains("… and 8 more"));
    }

    #[test]
    fn configured_vaults_need_not_be_named() {
        let vaults = vec![("Work".to_owned(), PathBuf::from("/home/ana/Notes"))];
        let known = GreetedVaults { vaults, configured_in: Some("/home/ana/lapidary.toml, line 2".to_owned()) };
        let text = greeting(&known, TerminalStyle::terminal(80, false));
        assert!(text.contains("\nVaults (/home/ana/lapidary.toml, line 2):\n  Work  /home/ana/Notes\n"), "{text}");
        assert!(text.contains("\n  lapidary install\n") && text.contains("\n  lapidary search WORDS\n"), "{text}");
        assert!(!text.contains("--vault"), "{text}");
    }
}
