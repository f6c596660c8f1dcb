//! `lapidary model`: the models that find notes by meaning.

use std::{io::Write, path::Path};

use lapidary_config::{Config, SettingValue, with_setting, without_setting};
use lapidary_meaning::TextModel;
use lapidary_pipeline::Clock;
use lapidary_tools::quote::one_line;
use lapidary_vault::{MeaningState, store::ModelShelf};
use serde_json::{Value, json};

use super::{CommandFailure, CommandOutcome, progress, report, screen::Screen, table::TableCell};
use crate::{
    assemble::AssembledServer,
    cli::ModelWord,
    http::SettingsAccess,
    models::{self, ModelFacts, PublishedModel, kind_in_words},
};

/// The key of the setting that names the model in use.
const SETTING: &str = "model";

pub(super) fn run(
    word: &ModelWord,
    config: &Config,
    settings: &SettingsAccess,
    working_folder: &Path,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let shelf = ModelShelf::new(&config.state_dir);
    match word {
        ModelWord::Add { source, named } => {
            add(&shelf, source, named.as_deref(), working_folder, config.authorities.as_deref())
        }
        ModelWord::List { json } => list(&shelf, config, *json, screen),
        ModelWord::Use { name } => choose(&shelf, name, settings),
        ModelWord::Remove { name } => remove(&shelf, name, config),
        // It asks the vaults, so it runs once they are open.
        ModelWord::Status { .. } => Ok(CommandOutcome::Well),
    }
}

fn add(
    shelf: &ModelShelf,
    source: &str,
    named: Option<&str>,
    working_folder: &Path,
    authorities: Option<&Path>,
) -> Result<CommandOutcome, CommandFailure> {
    let known = models::NAMED.iter().find(|model| model.name == source);
    let path = working_folder.join(source);
    let name = match (named, known) {
        (Some(name), _) => name.to_owned(),
        (None, Some(known)) => known.name.to_owned(),
        // The name of the folder or archive, as far as it can be a name.
        (None, None) => {
            let stem = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
            stem.trim_end_matches(".whl").trim_end_matches(".zip").to_owned()
        }
    };
    if !ModelShelf::is_name(&name) || name == Config::BUNDLED_MODEL {
        let problem = format!("a model cannot be called '{}'; choose a name with --name", one_line(&name));
        return Err(CommandFailure::Refused(problem));
    }
    let kept = match known {
        Some(known) => progress::named("fetching", || models::fetch(known, authorities))
            .and_then(|archive| PublishedModel::in_archive(&archive))
            .and_then(|model| progress::named("checking", || model.keep(shelf, &name, known.url))),
        None => PublishedModel::at(&path)
            .and_then(|model| progress::named("checking", || model.keep(shelf, &name, &path.display().to_string()))),
    };
    let facts = kept.map_err(CommandFailure::Refused)?;
    report::note(&format!("{name} is added: {}; `lapidary model use {name}` chooses it", in_words(&facts)));
    Ok(CommandOutcome::Well)
}

fn list(
    shelf: &ModelShelf,
    config: &Config,
    as_json: bool,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let mut models = vec![(Config::BUNDLED_MODEL.to_owned(), Ok(bundled_facts()))];
    for name in shelf.names()? {
        let facts = models::facts(shelf, &name).and_then(|facts| facts.ok_or("it is not whole".to_owned()));
        models.push((name, facts));
    }
    if as_json {
        let model = |(name, facts): &(String, Result<ModelFacts, String>)| match facts {
            Ok(facts) => json!({
                "name": name, "in_use": *name == config.model, "kind": facts.kind, "dimension": facts.dimension,
                "id": facts.id, "source": facts.source,
            }),
            Err(problem) => json!({ "name": name, "in_use": *name == config.model, "problem": problem }),
        };
        let fetchable: Vec<&str> = models::NAMED.iter().map(|model| model.name).collect();
        screen.json(&json!({ "models": models.iter().map(model).collect::<Vec<Value>>(), "fetchable": fetchable }))?;
        return Ok(CommandOutcome::Well);
    }
    let rows: Vec<Vec<TableCell>> = models
        .iter()
        .map(|(name, facts)| {
            let use_state = if *name == config.model { "in use" } else { "" };
            let (about, source) = match facts {
                Ok(facts) => (TableCell::from(in_words(facts)), facts.source.clone()),
                Err(problem) => (TableCell::from(one_line(problem).into_owned()).warning(), String::new()),
            };
            let source = TableCell::from(one_line(&source).into_owned()).path();
            vec![TableCell::from(name).name(), TableCell::from(use_state), about, source]
        })
        .collect();
    screen.table(&["model", "", "kind", "from"], &rows)?;
    for known in models::NAMED.iter().filter(|known| !models.iter().any(|(name, _)| name == known.name)) {
        writeln!(screen, "`lapidary model add {}` fetches another", known.name)?;
    }
    Ok(CommandOutcome::Well)
}

fn choose(shelf: &ModelShelf, name: &str, settings: &SettingsAccess) -> Result<CommandOutcome, CommandFailure> {
    // A model that cannot be read is better refused now than warned of later.
    if name != Config::BUNDLED_MODEL {
        progress::named("reading", || models::load(shelf, name)).map_err(|problem| {
            CommandFailure::Refused(format!("the model {} cannot be used: {problem}", one_line(name)))
        })?;
    }
    let changed = settings.change(&Clock::system().timestamp(), |text| match name == Config::BUNDLED_MODEL {
        true if !text.contains(SETTING) => Ok(text.to_owned()),
        true => without_setting(text, &[SETTING]).or_else(|_| Ok(text.to_owned())),
        false => with_setting(text, &[SETTING], &SettingValue::Text(name.to_owned())),
    });
    changed.map_err(CommandFailure::Misconfigured)?;
    report::note(&format!("{name} is chosen; servers use it from their next start on"));
    Ok(CommandOutcome::Well)
}

fn remove(shelf: &ModelShelf, name: &str, config: &Config) -> Result<CommandOutcome, CommandFailure> {
    if name == Config::BUNDLED_MODEL {
        return Err(CommandFailure::Refused(format!("{name} is in the program and cannot be removed")));
    }
    if name == config.model {
        let hint = format!("`lapidary model use {}` chooses the one in the program", Config::BUNDLED_MODEL);
        return Err(CommandFailure::Refused(format!("{name} is in use; {hint}")));
    }
    if !ModelShelf::is_name(name) || !shelf.remove(name)? {
        report::error(&format!("there is no model called '{}'", one_line(name)));
        return Ok(CommandOutcome::Refused);
    }
    report::note(&format!("{name} is removed"));
    Ok(CommandOutcome::Well)
}

/// Which model is in use, and how far it is in each vault.
pub(super) fn status(
    word: &ModelWord,
    config: &Config,
    assembled: &AssembledServer,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let ModelWord::Status { json: as_json } = word else { return Ok(CommandOutcome::Well) };
    let loaded = match config.model == Config::BUNDLED_MODEL {
        true => Ok(None),
        false => {
            progress::named("reading", || models::load(&ModelShelf::new(&config.state_dir), &config.model)).map(Some)
        }
    };
    let model = loaded.as_ref().ok().and_then(Option::as_ref).unwrap_or_else(|| TextModel::bundled());
    let mut vaults: Vec<(String, Option<MeaningState>)> = Vec::new();
    for served in assembled.executor.vaults().iter() {
        vaults.push((served.vault.name().to_owned(), assembled.executor.meaning_state(served)));
    }
    let problem = loaded.as_ref().err();
    if *as_json {
        let vault = |(name, state): &(String, Option<MeaningState>)| match state {
            Some(state) => json!({
                "vault": name, "notes": state.notes, "pieces": state.pieces, "waiting": state.waiting,
                "no_room": state.no_room, "cut": state.cut,
            }),
            None => json!({ "vault": name, "problem": "it cannot be read, or the search by meaning is off" }),
        };
        screen.json(&json!({
            "chosen": config.model, "in_use": model.name(), "id": model.id().to_string(),
            "kind": kind_in_words(model.kind()), "dimension": model.dimension(), "problem": problem,
            "vaults": vaults.iter().map(vault).collect::<Vec<Value>>(),
        }))?;
        return Ok(CommandOutcome::Well);
    }
    if let Some(problem) = problem {
        let words = format!("the model {} cannot be used: {problem}; {} is used", config.model, Config::BUNDLED_MODEL);
        report::error(&words);
    }
    let (name, kind) = (one_line(model.name()), kind_in_words(model.kind()));
    writeln!(screen, "{name}: {kind}, {} values, id {}", model.dimension(), model.id())?;
    let count = |count: usize| TableCell::from(count.to_string());
    let row = |(name, state): &(String, Option<MeaningState>)| match state {
        Some(state) => {
            let name = TableCell::from(name).name();
            vec![name, count(state.notes), count(state.waiting), count(state.cut), count(state.no_room)]
        }
        None => vec![TableCell::from(name).name(), TableCell::from("off or unreadable").warning()],
    };
    let rows: Vec<Vec<TableCell>> = vaults.iter().map(row).collect();
    screen.table(&["vault", "notes kept", "not kept", "too long", "beyond the limit"], &rows)?;
    // Only what is kept on disk is seen from here, and of a small vault nothing is kept.
    if vaults.iter().any(|(_, state)| state.as_ref().is_some_and(|state| state.waiting > 0)) {
        writeln!(
            screen,
            "Notes that are not kept, such as those of a small vault, get their vectors with the first search of a server."
        )?;
    }
    Ok(CommandOutcome::Well)
}

fn bundled_facts() -> ModelFacts {
    let model = TextModel::bundled();
    ModelFacts {
        id: model.id().to_string(),
        kind: kind_in_words(model.kind()).to_owned(),
        dimension: model.dimension(),
        source: "the program".to_owned(),
    }
}

fn in_words(facts: &ModelFacts) -> String {
    format!("{}, {} values", facts.kind, facts.dimension)
}
