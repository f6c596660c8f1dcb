//! The variables that are set, in the environment or in `.env`, and unknown ones.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use lapidary_query::nearest;

use super::dotenv::{self, DotEnv};
use super::raw::{GivenValue, RawValue, ValueOrigin, is_unset};
use super::settings;
use super::warning::ConfigWarning;
use super::{ConfigSources, Platform, dotenv_trust, file, inert};

/// An unknown variable with one of these prefixes is probably a typo.
const OUR_PREFIXES: &[&str] = &["OBSIDIAN_", "MCP_", "LAPIDARY_"];

/// Variables that one warning names.
const MOST_NAMED: usize = 5;

pub(super) struct EnvironmentVariables {
    /// The real environment.
    real: BTreeMap<String, String>,
    dotenv: DotEnv,
    dotenv_file: PathBuf,
    /// Variables in the file that do not count, because it is not the owner's set-up.
    distrusted: Vec<String>,
    unreadable: Option<io::Error>,
}

impl EnvironmentVariables {
    pub(super) fn gather(sources: &ConfigSources<'_>) -> Self {
        let real = sources
            .environment
            .iter()
            .map(|(name, value)| match sources.platform {
                // Names are case-insensitive there.
                Platform::Windows => (name.to_uppercase(), value.clone()),
                Platform::Linux | Platform::MacOs => (name.clone(), value.clone()),
            })
            .collect();
        let mut variables = Self {
            real,
            dotenv: DotEnv::default(),
            dotenv_file: sources.working_folder.join(".env"),
            distrusted: Vec::new(),
            unreadable: None,
        };
        // A relative path starts at the working folder, as in every other setting.
        let named = variables.real(dotenv_trust::VARIABLE).map(|written| sources.working_folder.join(written));
        let is_named = named.is_some();
        variables.dotenv_file = named.unwrap_or(variables.dotenv_file);
        match sources.files.read(&variables.dotenv_file) {
            Ok(text) => variables.dotenv = dotenv::parse(&text),
            // Most folders have none.
            // A file that was named and is missing is worth a warning.
            Err(error) if file::is_absent(&error) && !is_named => {}
            Err(error) => variables.unreadable = Some(error),
        }
        if !is_named && !dotenv_trust::is_setup(&variables.dotenv.lines, sources, &variables) {
            variables.distrust();
        }
        variables
    }

    /// Drops the lines of the file that decide who may do what.
    fn distrust(&mut self) {
        let (kept, dropped): (Vec<_>, Vec<_>) = std::mem::take(&mut self.dotenv.lines)
            .into_iter()
            // Unknown names stay for their warning.
            .partition(|line| dotenv_trust::is_harmless(line) || effective().all(|known| known != line.name));
        self.dotenv.lines = kept;
        self.distrusted = dropped.into_iter().filter(|line| !is_unset(&line.value)).map(|line| line.name).collect();
        self.distrusted.dedup();
    }

    /// The value in the real environment, if set.
    pub(super) fn real(&self, name: &str) -> Option<&str> {
        self.real.get(name).map(|value| value.trim()).filter(|value| !is_unset(value))
    }

    /// The value and where it is set; the real environment wins.
    pub(super) fn find(&self, name: &'static str) -> Option<(&str, ValueOrigin)> {
        if let Some(value) = self.real(name) {
            return Some((value, ValueOrigin::Variable(name)));
        }
        // The last line of a name counts, and the real environment before the file.
        let line = self.dotenv.lines.iter().rev().find(|line| line.name == name && !is_unset(&line.value))?;
        Some((&line.value, self.dotenv_place(name, line.number)))
    }

    /// The settings in the variables, strongest last.
    pub(super) fn set_values(&self) -> Vec<GivenValue> {
        let named = settings::all().filter_map(|setting| Some((setting, setting.variable?)));
        let mut given = Vec::new();
        // `.env` first: values of the real environment are pushed after it, so that they win.
        for (setting, name) in named.clone() {
            for line in self.dotenv.lines.iter().filter(|line| line.name == name) {
                let place = self.dotenv_place(name, line.number);
                given.push(GivenValue { setting, raw: RawValue::Text(line.value.clone()), place });
            }
        }
        for (setting, name) in named {
            if let Some(value) = self.real(name) {
                given.push(GivenValue {
                    setting,
                    raw: RawValue::Text(value.to_owned()),
                    place: ValueOrigin::Variable(name),
                });
            }
        }
        given
    }

    pub(super) fn warn(&self, warnings: &mut Vec<ConfigWarning>) {
        if let Some(error) = &self.unreadable {
            warnings.push(ConfigWarning::Unreadable { file: self.dotenv_file.clone(), problem: error.to_string() });
        }
        let broken = self.dotenv.broken.iter();
        warnings.extend(broken.map(|&line| ConfigWarning::BrokenLine { file: self.dotenv_file.clone(), line }));
        warnings.extend(self.names().into_iter().filter_map(warning_about));
        if !self.distrusted.is_empty() {
            let more = self.distrusted.len().saturating_sub(MOST_NAMED);
            let mut names = self.distrusted[..self.distrusted.len() - more].join(", ");
            if more > 0 {
                names += &format!(" and {more} more");
            }
            let file = self.dotenv_file.clone();
            warnings.push(ConfigWarning::Distrusted { file, names });
        }
    }

    fn names(&self) -> BTreeSet<&str> {
        let real = self.real.iter();
        let dotenv = self.dotenv.lines.iter().map(|line| (&line.name, &line.value));
        real.chain(dotenv).filter(|(_, value)| !is_unset(value)).map(|(name, _)| name.as_str()).collect()
    }

    fn dotenv_place(&self, name: &'static str, line: usize) -> ValueOrigin {
        ValueOrigin::DotEnv { file: self.dotenv_file.clone(), line, name }
    }
}

/// The variables that have an effect.
fn effective() -> impl Iterator<Item = &'static str> {
    settings::all().filter_map(|setting| setting.variable).chain([file::VARIABLE, dotenv_trust::VARIABLE])
}

/// The warning about a variable that is set, if any.
fn warning_about(name: &str) -> Option<ConfigWarning> {
    if effective().any(|known| known == name) {
        return None;
    }
    if let Some((name, inert)) = inert::find(name) {
        return inert.warns.then_some(ConfigWarning::WithoutEffect { name, reason: inert.reason });
    }
    // A setting that is misspelt would silently have no effect; other programs' variables are none of our concern.
    OUR_PREFIXES.iter().any(|prefix| name.starts_with(prefix)).then(|| ConfigWarning::UnknownVariable {
        name: name.to_owned(),
        nearest: nearest(name, effective().chain(inert::names())),
    })
}
