//! What a person sees who starts `lapidary` on a terminal without saying what to do.

use std::path::PathBuf;

use lapidary_tools::quote::one_line;
use unicode_width::UnicodeWidthStr;

use super::terminal_style::TerminalStyle;

/// More vaults are not listed: the greeting should fit a screen.
const MOST_VAULTS: usize = 12;

/// The greeting, with the vaults that Obsidian knows.
pub(super) fn greeting(vaults: &[PathBuf], style: TerminalStyle) -> String {
    let mut text = format!("{}\n\n", style.strong(&format!("Lapidary {}", env!("CARGO_PKG_VERSION"))));
    text += &style.wrapped(
        "An MCP server: AI assistants use it to read, search and edit the notes of an Obsidian vault. They start it themselves \
         once it is set up.",
        0,
    );
    text.push('\n');
    if vaults.is_empty() {
        text += &style.wrapped("Obsidian lists no vault on this computer; any folder with notes will do.", 0);
    } else {
        text += "Vaults that Obsidian knows:\n";
        let rows: Vec<(String, String)> = vaults
            .iter()
            .take(MOST_VAULTS)
            .map(|path| {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                (one_line(&name).into_owned(), one_line(&path.display().to_string()).into_owned())
            })
            .collect();
        let widest = rows.iter().map(|(name, _)| name.width()).max().unwrap_or_default();
        for (name, path) in &rows {
            text += &format!("  {name}{}  {path}\n", " ".repeat(widest - name.width()));
        }
        if vaults.len() > MOST_VAULTS {
            text += &format!("  … and {} more\n", vaults.len() - MOST_VAULTS);
        }
    }
    let vault = match vaults {
        [only] => format!("\"{}\"", one_line(&only.display().to_string())),
        _ => "/path/to/vault".to_owned(),
    };
    text += "\nNext:\n";
    for (command, does) in [
        (
            format!("lapidary install --vault {vault}"),
            "set up the AI programs on this computer; shows every change first",
        ),
        ("lapidary search --demo slate".to_owned(), "try it on a demo vault"),
        (format!("lapidary --vault {vault} --http"), "serve over HTTP"),
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
        greeting(&vaults, TerminalStyle::terminal(width, false))
    }

    #[test]
    fn a_single_vault_is_named_in_the_command_to_copy() {
        let text = greeted(&["/home/ana/Notes"], 80);
        let expected = format!(
            "Lapidary {}\n\nAn MCP server: AI assistants use it to read, search and edit the notes of an\nObsidian vault. They \
             start it themselves once it is set up.\n\nVaults that Obsidian knows:\n  Notes  /home/ana/Notes\n\nNext:\n  lapidary \
             install --vault \"/home/ana/Notes\"\n      set up the AI programs on this computer; shows every change first\n  \
             lapidary search --demo slate\n      try it on a demo vault\n  lapidary --vault \"/home/ana/Notes\" --http\n      \
             serve over HTTP\n  lapidary --help\n      everything else\n",
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
}
