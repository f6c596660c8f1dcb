//! The settings: every value with its origin, and changes of `lapidary.toml`, shown before they are written.

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use lapidary_auth::FormParameters;
use lapidary_config::{
    Config, SettingForm, SettingSource, SettingValue, SettingsTextError, ShownSetting, VaultsConfig, with_setting,
    without_setting,
};
use lapidary_console::{
    AnswerPage, ChangedFile, ConsoleSection, FileDiff, SettingField, SettingRow, SettingsChangePage, SettingsGroup,
    SettingsPage, SettingsVault, ShownText, ToolSwitch,
};
use lapidary_note::ContentHash;
use lapidary_tools::{CatalogueEntry, OffReason, ToolStanding};

use super::{
    Console, ConsoleState, no_answer, page,
    sessions::OpenSession,
    settings_access::{ReadSettings, SettingsAccess},
};
use crate::tool_standing;

/// The settings of approval that are parts of one table in the file.
const APPROVAL_PARTS: [(&str, &str); 2] = [
    ("approval.write", "Whether a change is allowed, the user is asked, or it is denied."),
    ("approval.destroy", "The same for a deletion that is not to the trash."),
];
const DECISIONS: [&str; 3] = ["allow", "ask", "deny"];

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/settings", get(show).post(change))
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>) -> Response {
    draw(&console, &session, StatusCode::OK, None).await
}

async fn change(
    State(console): ConsoleState,
    Extension(session): Extension<OpenSession>,
    request: Request,
) -> Response {
    let form = match console.form(request, &session).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let access = console.0.owner.settings.clone();
    let wanted = form.clone();
    let planned = tokio::task::spawn_blocking(move || PlannedChange::new(&access, &wanted));
    let planned = match planned.await {
        Ok(Ok(planned)) => planned,
        Ok(Err(problem)) => return draw(&console, &session, StatusCode::BAD_REQUEST, Some(&problem)).await,
        Err(_) => return no_answer(),
    };
    let is_approved = form.get("decision") == Some("write");
    // What is written is what was shown, to the byte. Anything else is shown first.
    // The digest covers the file as it was read, so a change by another program is noticed as well.
    if !is_approved || form.get("digest") != Some(planned.digest().as_str()) {
        let notice = is_approved.then_some("This is not what was on the page before: the file has changed meanwhile.");
        return planned.draw(&console, &session, &form, notice).await;
    }
    let access = console.0.owner.settings.clone();
    let date = console.0.clock.timestamp();
    // The store compares once more while it writes: the file may have changed since the digest was made.
    let written = tokio::task::spawn_blocking(move || access.write(&planned.read, &planned.text, &date));
    let (heading, text, is_done) = match written.await {
        Ok(Ok(copy)) => {
            let kept = copy.map_or_else(String::new, |copy| format!(" The old file is {}.", copy.display()));
            let text =
                format!("Servers read the settings when they start: restart them, and this console, to use it.{kept}");
            ("Written", text, true)
        }
        Ok(Err(problem)) => ("Nothing was changed", problem, false),
        Err(_) => return no_answer(),
    };
    let frame = console.frame(ConsoleSection::SETTINGS, &session).await;
    let status = if is_done { StatusCode::OK } else { StatusCode::CONFLICT };
    page(status, &AnswerPage { frame, heading, text: ShownText::block(&text), is_done, address: None })
}

/// A change that was asked for, and that the parser of the configuration accepts.
struct PlannedChange {
    read: ReadSettings,
    text: String,
    warnings: Vec<String>,
}

impl PlannedChange {
    fn new(access: &SettingsAccess, form: &FormParameters) -> Result<Self, String> {
        let read = access.read()?;
        // Edits keep the owner's text by position, which is only written for TOML.
        if read.is_json() {
            return Err("The file is JSON, which is only edited by hand.".to_owned());
        }
        let (name, value) = (form.get("name").unwrap_or_default(), form.get("value").unwrap_or_default());
        let old = read.text.as_deref().unwrap_or_default();
        // A key has at most one dot: the section and its name.
        let path: Vec<&str> = name.splitn(2, '.').collect();
        let edited = match form.get("change") {
            Some("text") => Ok(with_line_ends_of(old, value)),
            Some("vault-in") => with_setting(old, &["vaults", name], &SettingValue::Text(value.trim().to_owned())),
            Some("vault-out") => without_setting(old, &["vaults", name]),
            // A lock on the list holds for every switch.
            Some("tool") => switched(old, &changeable(&read, "tools.exclude")?.typed, name, value == "on"),
            Some(change @ ("set" | "unset")) => {
                let form = match APPROVAL_PARTS.iter().any(|(part, _)| *part == name) {
                    true => {
                        changeable(&read, "approval")?;
                        SettingForm::Choice(DECISIONS.to_vec())
                    }
                    false => changeable(&read, name)?.form.clone(),
                };
                let value = form.value(value).ok_or_else(|| format!("{name} is edited in the text of the file."))?;
                if change == "unset" { without_setting(old, &path) } else { with_setting(old, &path, &value) }
            }
            _ => return Err("The form has no change.".to_owned()),
        };
        let text = edited.map_err(|error: SettingsTextError| sentence(&error.to_string()))?;
        // Nothing to show and nothing to write.
        if text == old {
            return Err("That is what the file says already.".to_owned());
        }
        // By a start on paper: a file that would stop the server is never written.
        let warnings = access.check(&read.file, &text).map_err(|problem| format!("Nothing was changed: {problem}"))?;
        Ok(Self { read, text, warnings })
    }

    /// Identifies the file as it is, and as it would be.
    fn digest(&self) -> String {
        let old = self
            .read
            .text
            .as_deref()
            .map_or_else(|| "no file".to_owned(), |text| ContentHash::of(text.as_bytes()).to_string());
        let new = ContentHash::of(self.text.as_bytes());
        // The place as well, since another file may be named by then.
        ContentHash::of(format!("{} {old} {new}", self.read.file.display()).as_bytes()).to_string()
    }

    async fn draw(
        &self,
        console: &Console,
        session: &OpenSession,
        form: &FormParameters,
        notice: Option<&'static str>,
    ) -> Response {
        let sent = ["change", "name", "value"].into_iter().filter_map(|name| Some((name, form.get(name)?)));
        let file = self.read.file.display().to_string();
        let secrets = secret_keys(&self.read.shown);
        let drawn = SettingsChangePage {
            frame: console.frame(ConsoleSection::SETTINGS, session).await,
            file: ChangedFile {
                shown_path: ShownText::line(&file),
                path: file,
                action: ShownText::line(if self.read.text.is_some() { "is changed" } else { "is created" }),
                diff: FileDiff::between(
                    // The diff is of texts without secrets. A change of a secret is then not visible, but secrets
                    // cannot be changed here.
                    self.read.text.as_deref().map(|text| without_secrets(text, &secrets)).as_deref(),
                    Some(&without_secrets(&self.text, &secrets)),
                    &|_| String::new(),
                ),
                instead: None,
                text: None,
                planned: String::new(),
                is_left_out: false,
                is_edited: false,
            },
            is_split: false,
            digest: self.digest(),
            fields: sent.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            warnings: self.warnings.iter().map(|warning| ShownText::line(warning)).collect(),
            notice,
        };
        page(if notice.is_some() { StatusCode::CONFLICT } else { StatusCode::OK }, &drawn)
    }
}

/// A setting that may be changed here, or why not.
fn changeable<'r>(read: &'r ReadSettings, name: &str) -> Result<&'r ShownSetting, String> {
    let setting = read.shown.iter().find(|setting| setting.key == Some(name));
    let setting = setting.ok_or_else(|| format!("There is no setting {name} in the file."))?;
    lock_of(setting).map_or(Ok(setting), Err)
}

/// Why a setting cannot be changed here.
fn lock_of(setting: &ShownSetting) -> Option<String> {
    let origin = setting.origin.as_deref().unwrap_or_default();
    match () {
        () if setting.source.wins_over_file() => {
            Some(format!("{origin} decides it, whatever the file says. Change it there, or take it away and restart."))
        }
        () if setting.key.is_none() => Some("It has no place in the file.".to_owned()),
        () if setting.is_secret => Some("It is a secret, which is not shown here. Edit the file.".to_owned()),
        () => None,
    }
}

/// The list of excluded tools with or without one.
fn switched(old: &str, typed: &str, tool: &str, on: bool) -> Result<String, SettingsTextError> {
    let mut excluded: Vec<String> =
        typed.lines().flat_map(|line| line.split(',')).map(|word| word.trim().to_owned()).collect();
    // Lists may spell a tool with dots.
    excluded.retain(|word| !word.is_empty() && word.replace('.', "_") != tool);
    if !on {
        excluded.push(tool.to_owned());
    }
    with_setting(old, &["tools", "exclude"], &SettingValue::List(excluded))
}

/// Forms send `\r\n`; the file keeps its own.
fn with_line_ends_of(old: &str, sent: &str) -> String {
    let text = sent.replace("\r\n", "\n");
    let mark = if old.starts_with('\u{feff}') && !text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let text = if old.contains("\r\n") { text.replace('\n', "\r\n") } else { text };
    format!("{mark}{text}")
}

/// With a capital and a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let capital = letters.next().map(char::to_uppercase);
    capital.into_iter().flatten().chain(letters).chain(['.']).collect()
}

async fn draw(console: &Console, session: &OpenSession, status: StatusCode, problem: Option<&str>) -> Response {
    let access = console.0.owner.settings.clone();
    // The file may be on a slow disk.
    let read = match tokio::task::spawn_blocking(move || access.read()).await {
        Ok(Ok(read)) => read,
        Ok(Err(error)) => return broken(console, session, &error).await,
        Err(_) => return no_answer(),
    };
    let config = &console.0.owner.config;
    let lock = read.is_json().then(|| ShownText::line("The file is JSON, which is only edited by hand."));
    let lock_of_key = |key: &str| {
        let setting = read.shown.iter().find(|setting| setting.key == Some(key));
        setting.and_then(lock_of).map(|lock| ShownText::line(&lock))
    };
    let mut groups: Vec<SettingsGroup> = Vec::new();
    for setting in &read.shown {
        // Settings come in order of their sections.
        if groups.last().is_none_or(|group| group.title != setting.section) {
            groups.push(SettingsGroup { title: setting.section, settings: Vec::new() });
        }
        let Some(group) = groups.last_mut() else { continue };
        group.settings.push(row(setting));
        // The table of this setting has no form, so its two decisions have rows.
        if setting.key == Some("approval") {
            group.settings.extend(approval_rows(setting, config));
        }
    }
    let entries = console.0.executor.grant().profile.catalogue.entries();
    let drawn = SettingsPage {
        frame: console.frame(ConsoleSection::SETTINGS, session).await,
        file: ShownText::line(&read.file.display().to_string()),
        lock,
        url: console.endpoint_address(),
        is_served: console.0.endpoint.is_some(),
        vaults: vaults(console, &read),
        vaults_lock: lock_of_key("vaults"),
        tools: entries.iter().map(switch).collect(),
        tools_lock: lock_of_key("tools.exclude"),
        groups,
        text: editable_text(&read),
        problem: problem.map(ShownText::block),
    };
    page(status, &drawn)
}

/// The last parts of the keys whose values are secrets.
fn secret_keys(settings: &[ShownSetting]) -> Vec<&'static str> {
    let of_settings = settings.iter().filter(|setting| setting.is_secret).map(|setting| setting.name);
    // The last one is in the table of a client.
    of_settings.filter_map(|name| name.rsplit('.').next()).chain(["token"]).collect()
}

/// The text of the file for a diff. What lets a stranger in is not shown on a page, even beside a change.
fn without_secrets(text: &str, secrets: &[&str]) -> String {
    // A list or a text that goes on in the next lines.
    let mut until: Option<&str> = None;
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if let Some(end) = until {
            until = Some(end).filter(|end| !line.contains(end));
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let leaf = key.trim().rsplit('.').next().unwrap_or_default().trim_matches(['"', '\'', ' ']);
        // A table of one line may have a secret in it.
        let is_table = value.trim_start().starts_with('{');
        let is_secret = |name: &str| leaf.eq_ignore_ascii_case(name) || (is_table && value.contains(name));
        if value.is_empty() || !secrets.iter().any(|name| is_secret(name)) {
            shown.push_str(line);
            continue;
        }
        let value = value.trim();
        until = match value {
            _ if value.starts_with('[') && !value.contains(']') => Some("]"),
            _ if value.starts_with("\"\"\"") && value.matches("\"\"\"").count() < 2 => Some("\"\"\""),
            _ => None,
        };
        shown.push_str(&format!("{}= (hidden){}", key, if line.ends_with('\n') { "\n" } else { "" }));
    }
    shown
}

/// The text of the file for a form. One with a secret in it is not sent to a page.
fn editable_text(read: &ReadSettings) -> Option<String> {
    // A secret in the environment is not in the text.
    let has_secret = read.shown.iter().any(|setting| setting.is_secret && setting.source == SettingSource::File);
    (!has_secret && !read.is_json()).then(|| read.text.as_deref().unwrap_or_default().replace("\r\n", "\n"))
}

/// The file cannot be read as settings.
async fn broken(console: &Console, session: &OpenSession, error: &str) -> Response {
    let frame = console.frame(ConsoleSection::SETTINGS, session).await;
    let text = ShownText::block(&format!("The settings cannot be read: {error}"));
    let drawn = AnswerPage { frame, heading: "That did not work", text, is_done: false, address: None };
    page(StatusCode::CONFLICT, &drawn)
}

fn vaults(console: &Console, read: &ReadSettings) -> Vec<SettingsVault> {
    let is_of_file =
        read.shown.iter().any(|setting| setting.key == Some("vaults") && setting.source == SettingSource::File);
    let is_demo = console.0.owner.config.vaults == VaultsConfig::Demo;
    let vault = |vault: &lapidary_config::ChosenVault| SettingsVault {
        name: ShownText::line(&vault.name),
        key: vault.name.clone(),
        path: ShownText::line(&vault.path.display().to_string()),
        // Vaults of other sources cannot be taken out of the file.
        is_in_file: is_of_file && !is_demo,
    };
    console.0.owner.vaults.iter().map(vault).collect()
}

fn switch(entry: &CatalogueEntry) -> ToolSwitch {
    let decides = |off: OffReason| off == OffReason::Excluded;
    ToolSwitch {
        name: entry.spec.name(),
        effect: entry.spec.effect.name(),
        is_on: !matches!(entry.standing, ToolStanding::Off(_)),
        because: match entry.standing {
            // What another rule decided is explained; what the switch decided needs no explanation.
            ToolStanding::Off(off) if !decides(off) => Some(tool_standing::in_words(entry.standing).1),
            _ => None,
        },
    }
}

fn row(setting: &ShownSetting) -> SettingRow {
    let typed = setting.typed.clone();
    SettingRow {
        name: setting.name,
        // The texts are Markdown, of which the page shows none.
        about: ShownText::line(&setting.about.replace('`', "")),
        value: ShownText::line(&setting.value.replace('`', "")),
        origin: setting.origin.as_deref().map(ShownText::line),
        field: match &setting.form {
            SettingForm::Toggle => {
                SettingField::Choice { options: words(&["true", "false"]), chosen: setting.value.clone() }
            }
            SettingForm::Choice(allowed) => {
                SettingField::Choice { options: words(allowed), chosen: setting.value.clone() }
            }
            SettingForm::Number { least, most } => {
                SettingField::Number { least: least.clone(), most: most.clone(), typed: setting.value.clone() }
            }
            SettingForm::Line => SettingField::Line(typed),
            SettingForm::List => SettingField::List(typed),
            // Too much for a field: it is edited in the text of the file.
            SettingForm::Table => SettingField::Text,
        },
        lock: lock_of(setting).map(|lock| ShownText::line(&lock)),
        is_in_file: setting.source == SettingSource::File,
    }
}

/// The two decisions of the table, each as a setting.
fn approval_rows(setting: &ShownSetting, config: &Config) -> Vec<SettingRow> {
    let decided = [config.approval.write, config.approval.destroy];
    let row = |((name, about), decision): (&(&'static str, &str), lapidary_pipeline::RuleDecision)| {
        let chosen = super::rules::decision_word(decision).to_owned();
        SettingRow {
            name,
            about: ShownText::line(about),
            value: ShownText::line(&chosen),
            origin: setting.origin.as_deref().map(ShownText::line),
            field: SettingField::Choice { options: words(&DECISIONS), chosen },
            lock: lock_of(setting).map(|lock| ShownText::line(&lock)),
            // They are taken out together with their table.
            is_in_file: false,
        }
    };
    APPROVAL_PARTS.iter().zip(decided).map(row).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn a_diff_of_the_settings_has_no_secret() {
        for (text, shown) in [
            ("a = 1\n", "a = 1\n"),
            ("[http]\nmetrics_token = \"s3cret\"\nport = 1", "[http]\nmetrics_token = (hidden)\nport = 1"),
            ("http.auth_secret_key='s3cret'\n", "http.auth_secret_key= (hidden)\n"),
            ("tokens = [\n  \"a:reader:s3cret\",\n]\nx = 2\n", "tokens = (hidden)\nx = 2\n"),
            ("phone = { token=\"s3cret\", profile = \"reader\" }\n", "phone = (hidden)\n"),
            ("[tokens.phone]\ntoken = \"\"\"\ns3cret\n\"\"\"\n", "[tokens.phone]\ntoken = (hidden)\n"),
        ] {
            assert_eq!(without_secrets(text, &["metrics_token", "auth_secret_key", "tokens", "token"]), shown);
        }
    }
}
