//! `lapidary config`: shows the settings with where they come from, and opens their file.

use std::{
    io::{self, Write},
    path::Path,
    process::{Command, ExitStatus},
};

use lapidary_config::{CommonFlags, ConfigFiles, ConfigSources, ShownSetting};
use lapidary_pipeline::Clock;
use lapidary_tools::quote::one_line;
use lapidary_vault::store::SettingsFile;
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, report, screen::Screen, sources, table::TableCell};
use crate::{cli::ConfigWord, environment::ProcessEnvironment};

/// What a new file starts with.
const TEMPLATE: &str = "\
# Settings of Lapidary. All of them: lapidary config show --all

# [vaults]
# notes = \"~/Documents/Notes\"

# [access]
# read_only = true
# deny_paths = [\"Private\"]

# [approval]
# write = \"ask\"
";

/// These must work when the file has an error, so nothing is loaded before.
pub(super) fn run(
    word: ConfigWord,
    flags: &CommonFlags,
    surroundings: &ProcessEnvironment,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let sources = sources(flags, surroundings, false);
    let wrong = |error: lapidary_config::ConfigError| CommandFailure::Misconfigured(error.to_string());
    let file = || {
        let path = lapidary_config::file_path(&sources).map_err(wrong)?;
        path.ok_or_else(|| {
            CommandFailure::Misconfigured("there is no home folder; name a file with --config".to_owned())
        })
    };
    match word {
        ConfigWord::Path => {
            writeln!(screen, "{}", file()?.display())?;
            Ok(CommandOutcome::Well)
        }
        ConfigWord::Edit => {
            edit(&file()?, surroundings)?;
            // Loaded once more, because a mistake is best reported while the editor is still in mind.
            lapidary_config::load(&sources).map_err(wrong)?;
            report::note("the settings are valid; servers read them when they start");
            Ok(CommandOutcome::Well)
        }
        ConfigWord::Show { all, json } => {
            let loaded = lapidary_config::shown(&sources);
            let (mut settings, error) = match loaded {
                Ok(settings) => (settings, None),
                // Which settings there are helps to correct the file.
                Err(error) if all => {
                    let flags = CommonFlags { config: None, ..flags.clone() };
                    // Without the file that has the mistake, so that at least the names and defaults can be listed.
                    let without_files = ConfigSources { files: &NoFiles, flags: &flags, ..sources };
                    (lapidary_config::shown(&without_files).map_err(wrong)?, Some(error))
                }
                Err(error) => return Err(wrong(error)),
            };
            settings.retain(|setting| all || setting.origin.is_some());
            let outcome = show(&settings, all, json, screen)?;
            error.map_or(Ok(outcome), |error| Err(wrong(error)))
        }
    }
}

/// A disk without any file, for settings that are not in one.
struct NoFiles;

impl ConfigFiles for NoFiles {
    // As if no configuration existed, which every setting has to cope with.
    fn read(&self, _: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn is_folder(&self, _: &Path) -> bool {
        true
    }
}

fn show(
    settings: &[ShownSetting],
    all: bool,
    as_json: bool,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    if as_json {
        let one = |setting: &ShownSetting| {
            json!({
                "setting": setting.name, "variable": setting.variable, "flag": setting.flag, "value": setting.value,
                "origin": setting.origin, "about": setting.about,
            })
        };
        screen.json(&json!({ "settings": settings.iter().map(one).collect::<Vec<Value>>() }))?;
        return Ok(CommandOutcome::Well);
    }
    if settings.is_empty() {
        writeln!(screen, "Everything has its default value; --all shows it.")?;
        return Ok(CommandOutcome::Well);
    }
    let row = |setting: &ShownSetting| {
        let origin = TableCell::from(setting.origin.as_deref().unwrap_or("default")).path();
        let origin = if setting.origin.is_some() { origin } else { origin.faint() };
        // Backticks are for the generated reference.
        vec![TableCell::from(setting.name).name(), TableCell::from(setting.value.replace('`', "")), origin]
    };
    let mut section = "";
    let mut rows = Vec::new();
    // Each section has its own table, but they share no widths: a long list would push all others aside.
    for setting in settings {
        if setting.section != section {
            print_section(section, &mut rows, screen)?;
            section = setting.section;
        }
        rows.push(row(setting));
    }
    print_section(section, &mut rows, screen)?;
    if !all {
        let rest = screen.style.faint("The rest has its default value; --all shows it.");
        writeln!(screen, "{rest}")?;
    }
    Ok(CommandOutcome::Well)
}

fn print_section(title: &str, rows: &mut Vec<Vec<TableCell>>, screen: &mut Screen<'_>) -> Result<(), CommandFailure> {
    if !rows.is_empty() {
        screen.heading(title)?;
        screen.more_rows(&std::mem::take(rows))?;
        writeln!(screen)?;
    }
    Ok(())
}

/// Opens the file in the owner's editor, and makes it first if there is none.
fn edit(file: &Path, surroundings: &ProcessEnvironment) -> Result<(), CommandFailure> {
    let problem = |error: std::io::Error| CommandFailure::Serving(format!("{}: {error}", file.display()));
    let settings = SettingsFile::new(file).map_err(problem)?;
    // An empty editor helps little, so a new file begins with examples.
    if settings.read().map_err(problem)?.is_none() {
        settings.replace(None, TEMPLATE, &Clock::system().timestamp()).map_err(problem)?;
    }
    let set = |name: &str| surroundings.environment.get(name).filter(|value| !value.trim().is_empty());
    let usual = if cfg!(windows) { "notepad" } else { "vi" };
    let editor = set("VISUAL").or_else(|| set("EDITOR")).map_or(usual, String::as_str);
    // Editors are often set with an option, like `code --wait`.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(usual);
    let ended = Command::new(program).args(words).arg(file).status();
    match ended.as_ref().map(ExitStatus::success) {
        Ok(true) => Ok(()),
        Ok(false) => Err(CommandFailure::Serving(format!("the editor {} ended with an error", one_line(program)))),
        Err(error) => {
            let (program, file) = (one_line(program), file.display());
            Err(CommandFailure::Serving(format!("the editor {program} cannot be started: {error}; the file is {file}")))
        }
    }
}
