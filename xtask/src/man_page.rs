//! The man page, made from the declaration of the command line.

use clap::{Arg, Command};
use clap_mangen::Man;

/// The generator leaves out the text of options that `-h` does not show, unless they have a long one.
fn described(command: Command) -> Command {
    let long = |argument: Arg| match (argument.get_help().cloned(), argument.get_long_help()) {
        (Some(help), None) if argument.is_hide_short_help_set() => argument.long_help(help),
        _ => argument,
    };
    command.mut_args(long).mut_subcommands(described)
}

/// One page for all subcommands, each with its options.
pub(crate) fn man_page() -> String {
    let mut command = lapidary_server::command_declaration();
    command.build();
    let command = described(command);
    let mut page = Vec::new();
    // Writing into memory cannot fail.
    Man::new(command.clone()).render(&mut page).unwrap_or_default();
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        // The options that every subcommand takes are described once, above.
        let own = subcommand.clone().mut_args(|argument| {
            let shared = argument.get_help_heading() == Some("Vaults and settings");
            if shared { argument.hide(true) } else { argument }
        });
        let (has_options, has_words) = (own.get_arguments().any(|it| !it.is_hide_set()), own.has_subcommands());
        let manual = Man::new(own);
        let mut part = Vec::new();
        manual.render_synopsis_section(&mut part).unwrap_or_default();
        manual.render_description_section(&mut part).unwrap_or_default();
        if has_options {
            manual.render_options_section(&mut part).unwrap_or_default();
        }
        if has_words {
            manual.render_subcommands_section(&mut part).unwrap_or_default();
        }
        page.extend(format!(".SH \"LAPIDARY {}\"\n", subcommand.get_name().to_uppercase()).into_bytes());
        page.extend(String::from_utf8_lossy(&part).replace(".SH ", ".SS ").into_bytes());
    }
    String::from_utf8_lossy(&page).into_owned()
}
