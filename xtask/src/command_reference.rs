//! `docs/commands.md`, made from the declaration of the command line.

use clap::{Arg, Command};

/// The heading of the options that every command takes. They are described once.
const SHARED: &str = "Vaults and settings";

const HEAD: &str = "\
# The command line

<!-- Generated from the command line by `cargo xtask docs`. Do not edit. -->

Everything that a command does goes the way of a client's call: policy, approval, checkpoint and log hold for you too.

- **Vaults.** `--vault` takes a folder, or the name of a vault that the configuration or Obsidian knows, before or after any word
  of a command. Without it, the configured vaults are used, or the only one that Obsidian lists.
- **Notes** are named as people name them: path, path without `.md`, name or alias.
- **Output.** Tables fit the terminal; in a pipe nothing is cut or coloured. Every listing has `--json`. `NO_COLOR`, `CLICOLOR_FORCE` and
  `--color` decide about colours. Times are local. Control characters in names and notes are made visible on a terminal.
- **Exit codes.** 0 done, 1 failed or nothing found, 2 wrong usage or configuration.
- **Help.** `-h` is short, `--help` has everything and examples. `man lapidary` if your package installed it.
- **Tab.** `lapidary completions bash|zsh|fish|powershell|elvish` prints completions, which know your notes, vaults, tools and reasons;
  `lapidary completions --help` says where to put them.
";

pub(crate) fn commands() -> String {
    let mut command = lapidary_server::command_declaration();
    command.build();
    let mut page = HEAD.to_owned();
    page += "\n| command | |\n|---|---|\n";
    for word in words(&command) {
        let name = word.get_name();
        page += &format!("| [`{name}`](#lapidary-{name}) | {} |\n", about(word, false));
    }
    page += "\n## Options of every command\n\n";
    page += &options(command.get_arguments().filter(|option| option.get_help_heading() == Some(SHARED)));
    page += &options(command.get_arguments().filter(|option| option.get_id() == "color"));
    for word in words(&command) {
        page += &section(word, 2);
    }
    page
}

fn words(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|word| word.get_name() != "help" && !word.is_hide_set())
}

fn section(command: &Command, depth: usize) -> String {
    let name = command.get_bin_name().unwrap_or_default();
    let mut text = format!("\n{} {name}\n\n", "#".repeat(depth));
    text += &format!("{}\n\n", about(command, true));
    let own = |option: &&Arg| {
        option.get_help_heading() != Some(SHARED) && !["help", "version", "color"].contains(&option.get_id().as_str())
    };
    let listed = options(command.get_arguments().filter(own));
    if !listed.is_empty() {
        text += &listed;
    }
    if let Some(examples) = command.get_after_long_help() {
        let examples = examples.to_string();
        // The title is a separate line, the lines below it are indented.
        let (title, lines) = examples.split_once('\n').unwrap_or(("", &examples));
        let lines: String =
            lines.lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect();
        text += &format!("\n{title}\n\n```text\n{lines}```\n");
    }
    words(command).map(|word| section(word, depth + 1)).fold(text, |text, section| text + &section)
}

fn about(command: &Command, whole: bool) -> String {
    let long = command.get_long_about().filter(|_| whole);
    long.or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default()
}

fn options<'a>(options: impl Iterator<Item = &'a Arg>) -> String {
    let mut text = String::new();
    for option in options.filter(|option| !option.is_hide_set()) {
        let about = option.get_long_help().or_else(|| option.get_help()).map(ToString::to_string).unwrap_or_default();
        // The first paragraph has no full stop, as in the short help; in one line it needs one.
        let about: Vec<&str> =
            about.lines().filter(|line| !line.is_empty()).map(|line| line.trim_end_matches('.')).collect();
        let default: Vec<String> =
            option.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        let default =
            match default.is_empty() || option.is_hide_default_value_set() || !option.get_action().takes_values() {
                true => String::new(),
                false => format!(" (default {})", default.join(", ")),
            };
        text += &format!("- `{}`: {}{default}\n", written(option), about.join(". "));
    }
    text
}

/// An option or argument as it is typed.
fn written(option: &Arg) -> String {
    let values: Vec<String> = option.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let takes = option.get_action().takes_values();
    match (option.get_long(), option.get_short()) {
        (None, _) => values.join(" "),
        (Some(long), short) => {
            let short = short.map_or_else(String::new, |short| format!("-{short}, "));
            let value = if takes { format!(" {}", values.join(" ")) } else { String::new() };
            format!("{short}--{long}{value}")
        }
    }
}
