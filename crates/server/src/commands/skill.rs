//! `lapidary skill`: writes the skill that teaches assistants to work with this server to where their programs look.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use lapidary_clients::{CLIENTS, ClientSpec, shown_change};
use lapidary_tools::{SERVER_SKILL, quote::visible, server_skill, skill_origin};
use lapidary_vault::store::{SettingsFile, is_there};
use serde_json::json;

use super::{
    CommandFailure, CommandOutcome,
    install::{ClientFault, ClientSetup, agreed, at, said},
    report,
    screen::Screen,
    table::TableCell,
};
use crate::{
    assemble::AssembledServer,
    cli::{SkillInstall, SkillUninstall, SkillWord},
    environment::ProcessEnvironment,
};

/// A file that may have the skill, and the programs that read it.
struct SkillPlace {
    title: String,
    path: PathBuf,
}

/// What a file has in place of the skill.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum InstalledSkill {
    Absent,
    /// As this version or another one wrote it.
    Ours {
        is_current: bool,
    },
    Edited,
    /// A file of another origin.
    Foreign,
}

impl InstalledSkill {
    pub(super) fn of(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::Absent };
        match skill_origin(text) {
            None => Self::Foreign,
            Some(origin) if !origin.is_unchanged => Self::Edited,
            Some(origin) => Self::Ours { is_current: origin.version == env!("CARGO_PKG_VERSION") },
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Absent => "not installed",
            Self::Ours { is_current: true } => "installed",
            Self::Ours { is_current: false } => "out of step",
            Self::Edited => "edited by hand",
            Self::Foreign => "another skill",
        }
    }
}

/// The words that need no vault.
pub(super) fn run_without_vault(
    word: &SkillWord,
    surroundings: &ProcessEnvironment,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    match word {
        SkillWord::List { json } => list(*json, surroundings, screen),
        SkillWord::Uninstall(arguments) => uninstall(arguments, surroundings, screen),
        SkillWord::Install(_) => Ok(CommandOutcome::Well),
    }
}

/// The places of the named clients, of those that `default` holds for, or in a folder; each file once.
fn places(
    setup: &ClientSetup<'_>,
    clients: &[String],
    dir: Option<&Path>,
    default: impl Fn(&ClientSpec) -> bool,
) -> Result<Vec<SkillPlace>, CommandFailure> {
    if let Some(dir) = dir {
        let path = setup.surroundings.working_folder.join(dir).join(SERVER_SKILL).join("SKILL.md");
        return Ok(vec![SkillPlace { title: dir.display().to_string(), path }]);
    }
    let mut places: Vec<SkillPlace> = Vec::new();
    for client in ClientSetup::chosen(clients, |client| default(client) && setup.skill_file(client).is_some())? {
        let Some(path) = setup.skill_file(client) else {
            return Err(CommandFailure::Misconfigured(format!(
                "{} has no folder of skills; --print shows the skill",
                client.title
            )));
        };
        // Several programs share a folder.
        match places.iter_mut().find(|place| place.path == path) {
            Some(place) => place.title += &format!(", {}", client.title),
            None => places.push(SkillPlace { title: client.title.to_owned(), path }),
        }
    }
    Ok(places)
}

pub(super) fn install(
    arguments: &SkillInstall,
    assembled: &AssembledServer,
    surroundings: &ProcessEnvironment,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let executor = &assembled.executor;
    let grant = executor.grant();
    let text = server_skill(&grant.profile.catalogue, &executor.vaults().names(grant));
    if arguments.print {
        write!(screen, "{}", visible(&text))?;
        return Ok(CommandOutcome::Well);
    }
    let setup = ClientSetup::new(surroundings)?;
    let places = places(&setup, &arguments.clients, arguments.dir.as_deref(), |client| setup.is_installed(client))?;
    if places.is_empty() {
        let known: Vec<&str> =
            CLIENTS.iter().filter(|client| setup.skill_file(client).is_some()).map(|client| client.name).collect();
        report::error(&format!(
            "no program with a folder of skills was found on this computer; name one, or a folder with --dir: {}",
            known.join(", ")
        ));
        return Ok(CommandOutcome::Refused);
    }
    let mut outcome = CommandOutcome::Well;
    for place in places {
        let done = install_one(&setup, &place, &text, arguments, screen);
        if !settled(&place, done)? {
            outcome = CommandOutcome::Refused;
        }
    }
    Ok(outcome)
}

/// Whether a place is done. What went wrong there is said, and the next one has its turn.
fn settled(place: &SkillPlace, done: Result<(), ClientFault>) -> Result<bool, CommandFailure> {
    match done {
        Ok(()) => Ok(true),
        Err(ClientFault::Output(error)) => Err(CommandFailure::Output(error)),
        Err(ClientFault::Said(problem)) => {
            report::error(&format!("{}: {problem}", place.title));
            Ok(false)
        }
    }
}

fn install_one(
    setup: &ClientSetup<'_>,
    SkillPlace { title, path }: &SkillPlace,
    text: &str,
    arguments: &SkillInstall,
    screen: &mut Screen<'_>,
) -> Result<(), ClientFault> {
    let file = SettingsFile::new(path).map_err(at(path))?;
    let before = file.read().map_err(at(path))?;
    let (title, shown) = (setup.style.strong(title), path.display().to_string());
    if before.as_deref() == Some(text) {
        writeln!(screen, "{title}: is up to date, in {}", visible(&shown))?;
        return Ok(());
    }
    let found = InstalledSkill::of(before.as_deref());
    // Words of the user are not ours to replace.
    if matches!(found, InstalledSkill::Edited | InstalledSkill::Foreign) && !arguments.force {
        let what = if found == InstalledSkill::Edited { "was edited by hand" } else { "is another skill" };
        return Err(said(format!("{shown} {what}; --force replaces it and keeps a copy")));
    }
    writeln!(screen, "{title}: {}", visible(&shown))?;
    match &before {
        None => writeln!(screen, "  a new file of {} lines", text.lines().count())?,
        Some(before) => {
            let diff = shown_change(before, text).unwrap_or_default();
            let lines: String = diff.lines().map(|line| visible(line).into_owned() + "\n").collect();
            write!(screen, "{}", setup.style.diff(&lines))?;
        }
    }
    if arguments.dry_run || !agreed(arguments.yes, "Write this file?")? {
        return Ok(());
    }
    let copy = file.replace(before.as_deref(), text, &setup.date).map_err(at(path))?;
    let mut kept = String::new();
    match copy {
        // It can be made again.
        Some(copy) if matches!(found, InstalledSkill::Ours { .. }) => file.remove_copy(&copy).map_err(at(&copy))?,
        Some(copy) => kept = format!("; the old file is kept as {}", copy.display()),
        None => {}
    }
    writeln!(screen, "{title}: done{}. New conversations use it.", visible(&kept))?;
    Ok(())
}

fn uninstall(
    arguments: &SkillUninstall,
    surroundings: &ProcessEnvironment,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let setup = ClientSetup::new(surroundings)?;
    let (mut outcome, mut removed) = (CommandOutcome::Well, false);
    for place in places(&setup, &arguments.clients, arguments.dir.as_deref(), |_| true)? {
        let done = uninstall_one(&setup, &place, arguments, screen).map(|had_it| removed |= had_it);
        if !settled(&place, done)? {
            outcome = CommandOutcome::Refused;
        }
    }
    if !removed && matches!(outcome, CommandOutcome::Well) {
        writeln!(screen, "The skill is not installed.")?;
    }
    Ok(outcome)
}

/// Whether our skill was there.
fn uninstall_one(
    setup: &ClientSetup<'_>,
    SkillPlace { title, path }: &SkillPlace,
    arguments: &SkillUninstall,
    screen: &mut Screen<'_>,
) -> Result<bool, ClientFault> {
    let file = SettingsFile::new(path).map_err(at(path))?;
    let Some(text) = file.read().map_err(at(path))? else { return Ok(false) };
    let shown = path.display().to_string();
    match InstalledSkill::of(Some(&text)) {
        InstalledSkill::Foreign => return Ok(false),
        InstalledSkill::Edited if !arguments.force => {
            return Err(said(format!("{shown} was edited by hand; --force removes it")));
        }
        _ => {}
    }
    let title = setup.style.strong(title);
    writeln!(screen, "{title}: {}", visible(&shown))?;
    if arguments.dry_run || !agreed(arguments.yes, "Remove this file?")? {
        return Ok(true);
    }
    file.remove_with_folder(&text).map_err(at(path))?;
    writeln!(screen, "{title}: removed.")?;
    Ok(true)
}

fn list(
    as_json: bool,
    surroundings: &ProcessEnvironment,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let setup = ClientSetup::new(surroundings)?;
    let mut found = Vec::new();
    // A program that has not run yet can have it already, if it was named.
    let has_it = |client: &ClientSpec| setup.skill_file(client).is_some_and(|path| is_there(&path));
    for SkillPlace { title, path } in places(&setup, &[], None, |client| setup.is_installed(client) || has_it(client))?
    {
        let text = SettingsFile::new(&path).and_then(|file| file.read());
        let text = text.map_err(|error| CommandFailure::Misconfigured(format!("{}: {error}", path.display())))?;
        let version = text.as_deref().and_then(skill_origin).map(|origin| origin.version);
        found.push((title, path, InstalledSkill::of(text.as_deref()), version));
    }
    if as_json {
        let skills: Vec<_> = found
            .iter()
            .map(|(title, path, state, version)| {
                json!({ "clients": title, "path": path, "state": state.in_words(), "version": version })
            })
            .collect();
        screen.json(&json!({ "skills": skills }))?;
        return Ok(CommandOutcome::Well);
    }
    if found.is_empty() {
        report::note("no program with a folder of skills was found on this computer");
        return Ok(CommandOutcome::NothingFound);
    }
    let row = |(title, path, state, version): &(String, PathBuf, InstalledSkill, Option<String>)| {
        let words = TableCell::from(state.in_words());
        vec![
            TableCell::from(title.as_str()).name(),
            if matches!(state, InstalledSkill::Ours { is_current: false }) { words.warning() } else { words },
            TableCell::from(version.clone().unwrap_or_default()),
            TableCell::from(path.display().to_string()).giving_way(),
        ]
    };
    let rows: Vec<Vec<TableCell>> = found.iter().map(row).collect();
    screen.table(&["program", "skill", "version", "file"], &rows)?;
    Ok(CommandOutcome::Well)
}
