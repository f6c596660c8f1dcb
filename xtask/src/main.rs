//! Chores of the project: `cargo xtask docs` writes the generated documents, `--check` says whether they are fresh;
//! `cargo xtask accept` writes them after it has accepted new definitions of tools; `cargo xtask model` makes the model
//! that the program bundles; `cargo xtask names` counts the names of types, `cargo xtask comments` the comments inside functions.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "chores read and write the source tree, and print"
)]

mod accept;
#[cfg(test)]
mod architecture;
#[cfg(test)]
mod attacks;
mod clients_guide;
mod command_reference;
mod comments;
#[cfg(test)]
mod document_links;
mod man_page;
mod names;
#[cfg(test)]
mod odd_words;
mod reference;
mod repository_name;
#[cfg(test)]
mod shipped_features;

use std::{path::Path, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["docs"] => docs(false),
        ["docs", "--check"] => docs(true),
        // What is running was built from the current source, so its references are the new ones.
        ["accept"] if accept::accept(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")) => docs(false),
        ["accept"] => ExitCode::FAILURE,
        ["names"] => {
            let names::NameCount { types, one_word } =
                names::NameCount::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
            println!("{types} types, {one_word} with a name of one word");
            ExitCode::SUCCESS
        }
        ["comments"] => {
            print!("{}", comments::table(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")));
            ExitCode::SUCCESS
        }
        ["model", ref rest @ ..] => model(rest),
        _ => {
            eprintln!("usage: cargo xtask accept | docs [--check] | model [--check] | names | comments");
            ExitCode::from(2)
        }
    }
}

/// Makes the bundled model. Optimized, and in a separate package, so that the server is not built a second time for it.
fn model(arguments: &[&str]) -> ExitCode {
    let mut cargo = std::process::Command::new("cargo");
    cargo.args(["run", "--quiet", "--profile", "soak", "--locked", "--package", "xtask-model", "--"]).args(arguments);
    match cargo.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn docs(check: bool) -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let Some(readme) = std::fs::read_to_string(root.join("README.md")).ok().and_then(|text| reference::readme(&text))
    else {
        eprintln!("README.md cannot be read, or its table of tools has lost its markers");
        return ExitCode::FAILURE;
    };
    let guide = std::fs::read_to_string(root.join("docs/install.md")).ok();
    let Some((guide, name)) = guide.zip(repository_name::repository_name(&root)) else {
        eprintln!("docs/install.md cannot be read, or packages/release.toml has no `repository`");
        return ExitCode::FAILURE;
    };
    let documents = [
        ("README.md", readme),
        ("docs/tools.md", reference::tools()),
        ("docs/errors.md", reference::errors()),
        ("docs/configuration.md", lapidary_server::configuration_reference()),
        ("docs/install.md", repository_name::with_repository_name(&guide, &name)),
        ("docs/clients.md", clients_guide::clients_guide()),
        (".env.example", lapidary_server::env_example()),
        ("docs/commands.md", command_reference::commands()),
        ("docs/lapidary.1", man_page::man_page()),
    ];
    let mut stale = false;
    for (name, text) in documents {
        let path = root.join(name);
        let fresh = std::fs::read_to_string(&path).is_ok_and(|there| there == text);
        if fresh {
            continue;
        }
        if check {
            eprintln!("{name} is stale: run `cargo xtask docs`");
            stale = true;
        } else if let Err(error) = std::fs::write(&path, text) {
            eprintln!("{name}: {error}");
            return ExitCode::FAILURE;
        }
    }
    if stale { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
