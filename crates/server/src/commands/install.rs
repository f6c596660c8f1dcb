//! `lapidary install` and `lapidary uninstall`: our entry in the settings of MCP clients.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command as Program, Stdio},
};

use lapidary_clients::{
    CLIENTS, ClientFolders, ClientSpec, EntryOwner, HostPlatform, SERVER_NAME, ServerLaunch, find_client, install_link,
    package_runner, shown_change,
};
use lapidary_config::{CommonFlags, Config, Platform, VaultsConfig};
use lapidary_pipeline::Clock;
use lapidary_query::nearest;
use lapidary_tools::{SERVER_SKILL, quote::visible};
use lapidary_vault::store::{SettingsFile, is_same_file, is_there, remove_state, state_contents};
use serde_json::Value;

use super::{CommandFailure, CommandOutcome, call::can_be_asked, progress, report, terminal_style::TerminalStyle};
use crate::{
    cli::{InstallArguments, UninstallArguments},
    environment::{ProcessEnvironment, program_path},
};

/// What both commands need to know about this computer.
pub(super) struct ClientSetup<'a> {
    folders: ClientFolders,
    pub(super) surroundings: &'a ProcessEnvironment,
    pub(super) style: TerminalStyle,
    /// Part of the names of copies.
    pub(super) date: String,
}

impl<'a> ClientSetup<'a> {
    pub(super) fn new(surroundings: &'a ProcessEnvironment) -> Result<Self, CommandFailure> {
        let home = surroundings.home.clone().ok_or_else(|| {
            CommandFailure::Misconfigured("there is no home folder, so there are no settings of clients".to_owned())
        })?;
        // A relative folder would depend on where this command is run, and the client on where it is started.
        let folder =
            |name: &str| surroundings.environment.get(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let folders = ClientFolders {
            platform: match Platform::current() {
                Platform::Linux => HostPlatform::Linux,
                Platform::MacOs => HostPlatform::MacOs,
                Platform::Windows => HostPlatform::Windows,
            },
            home,
            xdg_config: folder("XDG_CONFIG_HOME"),
            roaming: folder("APPDATA"),
            own: ClientFolders::OWN_VARIABLES.into_iter().filter_map(|name| Some((name, folder(name)?))).collect(),
        };
        // `2026-11-15T20:15:00.123Z`, without what a file name should not have.
        let date = Clock::system().timestamp().chars().take(19).filter(char::is_ascii_alphanumeric).collect();
        Ok(Self { folders, surroundings, style: TerminalStyle::of_output(&surroundings.environment), date })
    }

    /// The first of a client's files that exists, or the one that would be made.
    pub(super) fn file(&self, client: &ClientSpec) -> PathBuf {
        let files = client.files(&self.folders);
        // A client may look in several places; the file that is there already counts.
        let there = files.iter().find(|file| is_there(file));
        there.or(files.first()).cloned().unwrap_or_default()
    }

    /// The `SKILL.md` of our skill, where this client looks for it.
    pub(super) fn skill_file(&self, client: &ClientSpec) -> Option<PathBuf> {
        Some(client.skills_folder(&self.folders)?.join(SERVER_SKILL).join("SKILL.md"))
    }

    pub(super) fn is_installed(&self, client: &ClientSpec) -> bool {
        is_there(&client.sign(&self.folders)) || self.own_program(client).is_some()
    }

    /// The client's own program for its settings, if it is on the path.
    fn own_program(&self, client: &ClientSpec) -> Option<PathBuf> {
        self.on_path(client.own_program?)
    }

    fn on_path(&self, name: &str) -> Option<PathBuf> {
        let path = self.surroundings.environment.get("PATH")?;
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        std::env::split_paths(path)
            // As above: `.` on the path finds another program tomorrow.
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(&name))
            .find(|file| is_there(file))
    }

    /// The absolute path of this program. A link on the path is preferred to its target, which an update may replace.
    pub(super) fn program(&self) -> Result<String, CommandFailure> {
        let running = program_path().map_err(|error| {
            CommandFailure::Misconfigured(format!("the path of this program is not known: {error}"))
        })?;
        let linked = self.on_path("lapidary").filter(|found| is_same_file(found, &running));
        let path = linked.unwrap_or(running);
        path.into_os_string().into_string().map_err(|path| {
            CommandFailure::Misconfigured(format!(
                "the path of this program cannot be written into a text file: {}",
                path.display()
            ))
        })
    }

    /// The named clients, or those for which `default` holds.
    pub(super) fn chosen(
        names: &[String],
        default: impl Fn(&ClientSpec) -> bool,
    ) -> Result<Vec<&'static ClientSpec>, CommandFailure> {
        if names.is_empty() {
            return Ok(CLIENTS.iter().filter(|client| default(client)).collect());
        }
        let find = |name: &String| {
            find_client(name).map_err(|near| {
                let known: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
                let hint = near.or_else(|| nearest(name, known.iter().copied())).map_or_else(
                    || format!("known are {}", known.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                CommandFailure::Misconfigured(format!("there is no client '{name}'; {hint}"))
            })
        };
        names.iter().map(find).collect()
    }
}

/// How clients will start or reach the server, as this command was given.
fn launch(
    setup: &ClientSetup<'_>,
    arguments: &InstallArguments,
    flags: &CommonFlags,
    config: &Config,
) -> Result<ServerLaunch, CommandFailure> {
    if let Some(url) = &arguments.http {
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return Err(CommandFailure::Misconfigured(format!(
                "--http takes the whole address, like http://127.0.0.1:3010/mcp, not '{url}'"
            )));
        }
        return Ok(ServerLaunch::Address { url: url.clone() });
    }
    let mut words: Vec<String> = Vec::new();
    match &config.vaults {
        VaultsConfig::Demo => words.push("--demo".to_owned()),
        // Written out, wherever they were found: the client may have another environment, and Obsidian may get a second vault.
        VaultsConfig::Chosen(vaults) => {
            // One behind Obsidian is in the configuration file, which the server reads, or in the environment with its key.
            for vault in vaults.iter().filter(|vault| vault.remote.is_none()) {
                let path = vault.path.to_str().ok_or_else(|| {
                    CommandFailure::Misconfigured(format!(
                        "{} cannot be written into a text file",
                        vault.path.display()
                    ))
                })?;
                // The name is left out where the server would choose the same one, so that the entry stays short. A `=`
                // in the path would be taken for the end of a name.
                // A client shows the entry to its user, who should recognise the folder in it.
                let plain =
                    vault.path.file_name().is_some_and(|name| name == vault.name.as_str()) && !path.contains('=');
                words.push("--vault".to_owned());
                words.push(if plain { path.to_owned() } else { format!("{}={path}", vault.name) });
            }
        }
    }
    if let Some(file) = &flags.config {
        // The client starts the server in another folder.
        let file = setup.surroundings.working_folder.join(file);
        words.extend(["--config".to_owned(), file.display().to_string()]);
    }
    for (flag, list) in [("--tools", &flags.tools), ("--exclude-tools", &flags.exclude_tools)] {
        if !list.is_empty() {
            words.extend([flag.to_owned(), list.join(",")]);
        }
    }
    if let Some(profile) = &flags.profile {
        words.extend(["--profile".to_owned(), profile.clone()]);
    }
    for (flag, given) in
        [("--read-only", flags.read_only), ("--dotted-names", flags.dotted_names), ("--any-folder", flags.any_folder)]
    {
        if given {
            words.push(flag.to_owned());
        }
    }
    let program = setup.program()?;
    // Installed by npx or uvx, the file of this program is in a cache that is cleaned up.
    let Some((runner, before)) = package_runner(&program) else {
        return Ok(ServerLaunch::Program { command: program, arguments: words });
    };
    // Whole where it can be found: a desktop program may have another path.
    let command = setup.on_path(runner).and_then(|path| path.into_os_string().into_string().ok());
    let arguments = before.iter().map(|word| (*word).to_owned()).chain(words).collect();
    Ok(ServerLaunch::Program { command: command.unwrap_or_else(|| runner.to_owned()), arguments })
}

pub(super) fn install(
    arguments: &InstallArguments,
    flags: &CommonFlags,
    config: &Config,
    surroundings: &ProcessEnvironment,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let setup = ClientSetup::new(surroundings)?;
    let launch = launch(&setup, arguments, flags, config)?;
    let clients = ClientSetup::chosen(&arguments.clients, |client| setup.is_installed(client))?;
    if clients.is_empty() {
        let known: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        report::error(&format!(
            "no client was found on this computer; name one to set it up anyway, with --print to see what to paste: {}",
            known.join(", ")
        ));
        return Ok(CommandOutcome::Refused);
    }
    let mut outcome = CommandOutcome::Well;
    for client in clients {
        // One client after the other, and each to its end: a broken file of one must not keep the others from being set
        // up.
        let done = if arguments.print || client.print_only {
            print_entry(&setup, client, &launch, out)
        } else {
            install_one(&setup, client, &launch, arguments, out)
        };
        // A fault of one is reported and the loop goes on; only a broken output ends it.
        if !settled(client, done)? {
            outcome = CommandOutcome::Refused;
        }
    }
    Ok(outcome)
}

/// Whether a client is done. What went wrong with it is said, and the next one has its turn.
fn settled(client: &ClientSpec, done: Result<(), ClientFault>) -> Result<bool, CommandFailure> {
    match done {
        Ok(()) => Ok(true),
        Err(ClientFault::Output(error)) => Err(CommandFailure::Output(error)),
        Err(ClientFault::Said(problem)) => {
            report::error(&format!("{}: {problem}", client.title));
            Ok(false)
        }
    }
}

/// Why one client could not be set up.
pub(super) enum ClientFault {
    /// Our own output.
    Output(io::Error),
    Said(String),
}

impl From<io::Error> for ClientFault {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

pub(super) fn said(problem: impl std::fmt::Display) -> ClientFault {
    ClientFault::Said(problem.to_string())
}

pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> ClientFault {
    move |error| ClientFault::Said(format!("{}: {error}", path.display()))
}

/// What to paste, and the link that does it.
fn print_entry(
    setup: &ClientSetup<'_>,
    client: &ClientSpec,
    launch: &ServerLaunch,
    out: &mut dyn Write,
) -> Result<(), ClientFault> {
    let snippet = client.snippet(launch).ok_or_else(|| said(lapidary_clients::ClientFileError::NoAddress))?;
    let file = setup.file(client);
    writeln!(
        out,
        "{}: {}\n{}",
        setup.style.strong(client.title),
        visible(&file.display().to_string()),
        visible(&snippet)
    )?;
    if let Some(link) = install_link(client, launch) {
        writeln!(out, "Or open this link: {link}\n")?;
    }
    Ok(())
}

fn install_one(
    setup: &ClientSetup<'_>,
    client: &ClientSpec,
    launch: &ServerLaunch,
    arguments: &InstallArguments,
    out: &mut dyn Write,
) -> Result<(), ClientFault> {
    let path = setup.file(client);
    let file = SettingsFile::new(&path).map_err(at(&path))?;
    let before = file.read().map_err(at(&path))?;
    let text = before.as_deref().unwrap_or_default();
    let problem = |error| said(format!("{} was left as it is: {error}", path.display()));
    let address = match launch {
        ServerLaunch::Address { url } => Some(url.as_str()),
        ServerLaunch::Program { .. } => None,
    };
    let found = client.found(text).map_err(problem)?;
    // An entry of another server under our name is not ours to replace, unless a copy shows that it is one that we
    // wrote and its owner moved or renamed the program.
    if let (Some(entry), false) = (&found, arguments.force)
        && let EntryOwner::Other(other) = client.owner(entry, address)
        && copy_with(client, &file, text, entry).is_none()
    {
        return Err(said(format!(
            "`{SERVER_NAME}` in {} is another server ({other}); --force replaces it",
            path.display()
        )));
    }
    // Planned before anything is asked: who agrees has seen exactly what will be written.
    let after = client.installed(text, launch).map_err(problem)?;
    if after == text {
        writeln!(
            out,
            "{}: is set up already, in {}",
            setup.style.strong(client.title),
            visible(&path.display().to_string())
        )?;
        return Ok(());
    }
    // A client that keeps its settings in a file it writes all the time is told through its own command.
    if let Some(program) = setup.own_program(client) {
        let entry = client.entry(launch).unwrap_or_default().to_string();
        let mut steps = vec![vec!["mcp", "add-json", "--scope", "user", SERVER_NAME, &entry]];
        if found.is_some() {
            // `add-json` refuses a name that is taken.
            steps.insert(0, vec!["mcp", "remove", "--scope", "user", SERVER_NAME]);
        }
        return run_program(setup, client, &program, &steps, arguments.dry_run, arguments.yes, out);
    }
    show_change(setup, client, &path, text, &after, out)?;
    if arguments.dry_run || !agreed(arguments.yes, "Write this file?")? {
        return Ok(());
    }
    // `before` is compared with the file once more: the client may have saved it while the user was reading the diff.
    let copy = file.replace(before.as_deref(), &after, &setup.date).map_err(at(&path))?;
    let kept = copy.map_or_else(String::new, |copy| format!("; the old file is kept as {}", copy.display()));
    writeln!(out, "{}: done{}. Restart it if it is running.", setup.style.strong(client.title), visible(&kept))?;
    Ok(())
}

pub(super) fn uninstall(
    arguments: &UninstallArguments,
    config: &Config,
    surroundings: &ProcessEnvironment,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let setup = ClientSetup::new(surroundings)?;
    let clients =
        ClientSetup::chosen(&arguments.clients, |client| !client.print_only && is_there(&setup.file(client)))?;
    let (mut outcome, mut removed) = (CommandOutcome::Well, false);
    for client in clients {
        match uninstall_one(&setup, client, arguments, out) {
            Ok(had_entry) => removed |= had_entry,
            Err(fault) => {
                // One client's broken file does not keep the others from being cleaned up.
                settled(client, Err(fault))?;
                outcome = CommandOutcome::Refused;
            }
        }
    }
    if !removed && matches!(outcome, CommandOutcome::Well) {
        writeln!(out, "No client has an entry of Lapidary.")?;
    }
    if arguments.state {
        forget_state(&config.state_dir, arguments, out)?;
    }
    Ok(outcome)
}

/// Whether the client had our entry.
fn uninstall_one(
    setup: &ClientSetup<'_>,
    client: &ClientSpec,
    arguments: &UninstallArguments,
    out: &mut dyn Write,
) -> Result<bool, ClientFault> {
    let path = setup.file(client);
    let file = SettingsFile::new(&path).map_err(at(&path))?;
    let Some(text) = file.read().map_err(at(&path))? else { return Ok(false) };
    let problem = |error| said(format!("{} was left as it is: {error}", path.display()));
    let Some(entry) = client.found(&text).map_err(problem)? else { return Ok(false) };
    // Looked for before the owner is judged: a copy proves that the entry is ours even if the program has moved.
    let earlier = copy_with(client, &file, &text, &entry);
    if let (EntryOwner::Other(other), None, false) = (client.owner(&entry, None), &earlier, arguments.force) {
        // Not asked for by name, so not a failure.
        if arguments.clients.is_empty() {
            let words = format!("{SERVER_NAME} is another server ({other}), and stays; to remove it:");
            let words = setup.style.folded(&format!("{}: {}", setup.style.strong(client.title), visible(&words)));
            writeln!(out, "{words}\n  lapidary uninstall {} --force", client.name)?;
            return Ok(false);
        }
        return Err(said(format!(
            "`{SERVER_NAME}` in {} is another server ({other}); --force removes it",
            path.display()
        )));
    }
    if let Some(program) = setup.own_program(client) {
        let steps = [vec!["mcp", "remove", "--scope", "user", SERVER_NAME]];
        run_program(setup, client, &program, &steps, arguments.dry_run, arguments.yes, out)?;
        return Ok(true);
    }
    // A file that has nothing except our entry is one that we made, so it goes as well.
    // Nothing else in it, and no copy from before: there was no file when we came.
    let is_whole = earlier.is_none() && client.is_only_change("", &text, &entry);
    let after = match &earlier {
        // The bytes from before `install`: cutting the entry out could leave another style behind.
        Some((_, earlier)) => earlier.clone(),
        None if is_whole => String::new(),
        None => client.uninstalled(&text).map_err(problem)?,
    };
    show_change(setup, client, &path, &text, &after, out)?;
    let question = if is_whole { "Remove this file, which has nothing else?" } else { "Write this file?" };
    if arguments.dry_run || !agreed(arguments.yes, question)? {
        return Ok(true);
    }
    let title = setup.style.strong(client.title);
    if is_whole {
        file.remove(&text).map_err(at(&path))?;
        writeln!(out, "{title}: the file is removed.")?;
        return Ok(true);
    }
    let copy = file.replace(Some(&text), &after, &setup.date).map_err(at(&path))?;
    match (earlier, copy) {
        // The file is as it was before, to the byte: no copy is needed.
        (Some((earlier, _)), Some(copy)) => {
            // Both have the same content as the file now.
            for needless in [earlier, copy] {
                file.remove_copy(&needless).map_err(at(&needless))?;
            }
            writeln!(out, "{title}: the file is as it was before.")?;
        }
        (_, Some(copy)) => {
            writeln!(
                out,
                "{title}: the entry is removed; the old file is kept as {}.",
                visible(&copy.display().to_string())
            )?;
        }
        (_, None) => writeln!(out, "{title}: the entry is removed.")?,
    }
    Ok(true)
}

/// The copy of the file from before our entry was added, if nothing else has changed since.
fn copy_with(client: &ClientSpec, file: &SettingsFile, text: &str, entry: &Value) -> Option<(PathBuf, String)> {
    // A folder that cannot be listed has no copies for us; the entry can be removed without one.
    let copies = file.copies().unwrap_or_default();
    // A copy from between two runs of `install` has an entry of ours already.
    let is_before_us = |earlier: &str| match client.found(earlier) {
        Ok(found) => found.is_none_or(|entry| client.owner(&entry, None) != EntryOwner::Ours),
        Err(_) => false,
    };
    copies.into_iter().find(|(_, earlier)| is_before_us(earlier) && client.is_only_change(earlier, text, entry))
}

fn show_change(
    setup: &ClientSetup<'_>,
    client: &ClientSpec,
    path: &Path,
    before: &str,
    after: &str,
    out: &mut dyn Write,
) -> Result<(), ClientFault> {
    writeln!(out, "{}: {}", setup.style.strong(client.title), visible(&path.display().to_string()))?;
    match shown_change(before, after) {
        Some(diff) => {
            let lines: String = diff.lines().map(|line| visible(line).into_owned() + "\n").collect();
            write!(out, "{}", setup.style.diff(&lines))?;
        }
        // In one line of 100 KB a change cannot be seen, so the entries are shown instead.
        None => {
            let side = |text: &str| match client.found(text) {
                Ok(Some(entry)) => visible(&entry.to_string()).into_owned(),
                _ => "nothing".to_owned(),
            };
            writeln!(
                out,
                "  the file is one long line; `{SERVER_NAME}` was: {}\n  and becomes: {}",
                side(before),
                side(after)
            )?;
        }
    }
    Ok(())
}

fn run_program(
    setup: &ClientSetup<'_>,
    client: &ClientSpec,
    program: &Path,
    steps: &[Vec<&str>],
    dry_run: bool,
    yes: bool,
    out: &mut dyn Write,
) -> Result<(), ClientFault> {
    let title = setup.style.strong(client.title);
    writeln!(out, "{title}: by its own command")?;
    for step in steps {
        writeln!(out, "  {} {}", visible(&program.display().to_string()), visible(&step.join(" ")))?;
    }
    if dry_run || !agreed(yes, "Run this?")? {
        return Ok(());
    }
    for step in steps {
        let mut command = Program::new(program);
        // Without input: a program that asks back ends instead of waiting for ever.
        command.args(step).stdin(Stdio::null());
        let output = progress::named(client.title, || command.output()).map_err(at(program))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(said(format!("`{} {}` failed: {}", program.display(), step.join(" "), words.trim())));
        }
    }
    writeln!(out, "{title}: done.")?;
    Ok(())
}

fn forget_state(folder: &Path, arguments: &UninstallArguments, out: &mut dyn Write) -> Result<(), CommandFailure> {
    let problem = |error: io::Error| CommandFailure::Misconfigured(format!("{}: {error}", folder.display()));
    // Only what Lapidary writes there: the folder may have been set to one with other files.
    let contents = state_contents(folder).map_err(problem)?;
    if contents.is_empty() {
        writeln!(out, "There is no state in {}.", visible(&folder.display().to_string()))?;
        return Ok(());
    }
    writeln!(
        out,
        "State in {}\nUndo data, logs, indexes and tokens. Without it, nothing can be undone.",
        visible(&folder.display().to_string())
    )?;
    if arguments.dry_run {
        return Ok(());
    }
    let yes = match agreed(arguments.yes, "Remove it?") {
        Ok(yes) => yes,
        Err(ClientFault::Output(error)) => return Err(CommandFailure::Output(error)),
        Err(ClientFault::Said(problem)) => return Err(CommandFailure::Misconfigured(problem)),
    };
    if yes {
        progress::named("removing", || remove_state(folder)).map_err(problem)?;
        writeln!(out, "The state is removed.")?;
    }
    Ok(())
}

/// Whether the user says yes. Without a terminal only `--yes` does.
pub(super) fn agreed(yes: bool, question: &str) -> Result<bool, ClientFault> {
    if yes {
        return Ok(true);
    }
    if !can_be_asked() {
        return Err(said("nothing is changed without an answer; add --yes, or --dry-run to see the change only"));
    }
    // On standard error: the output may be piped, and the question must still be seen.
    eprint!("{question} [y/N] ");
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
