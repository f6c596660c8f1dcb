//! Calls that need the app: the active note, periodic notes, commands, and opening a note.

use jiff::civil::Date;
use lapidary_query::Period;
use lapidary_store::VaultPath;
use serde_json::{Map, Value};
use ureq::http::{HeaderName, Method, header};

use crate::{
    AppCommand, NoteAnswer, PluginConnection, PluginError,
    answers::CommandsBody,
    connection::{PluginReply, PluginRequest},
    file_calls::NOTE_JSON,
};

/// The plugin's numbers for what a period is.
const PERIOD_DISABLED: u32 = 40060;
const NOTE_OF_PERIOD_MISSING: u32 = 40461;

/// Where `lapidary serve --rest` has the owner's settings, whose files neither it nor version 6 of the plugin shows.
pub const SETTINGS_ENDPOINT: [&str; 2] = ["lapidary", "settings"];
/// More than the settings that are shared take.
const MOST_SETTINGS_BYTES: u64 = 1 << 20;

impl PluginConnection {
    /// The owner's settings by their files, if Lapidary is at the other end; [`PluginError::NotFound`] from the plugin.
    pub(crate) fn shared_settings(&self) -> Result<Map<String, Value>, PluginError> {
        let mut request = PluginRequest::get(self.url.endpoint(SETTINGS_ENDPOINT, true));
        request.most_bytes = MOST_SETTINGS_BYTES;
        self.send(&request)?.json()
    }

    /// The note in front of the user; [`PluginError::NotFound`] if there is none.
    pub fn active_note(&self, max_bytes: u64) -> Result<NoteAnswer, PluginError> {
        // JSON, because only that form has the path of the note.
        let mut request = PluginRequest::get(self.url.endpoint(["active"], true)).header(header::ACCEPT, NOTE_JSON);
        request.most_bytes = max_bytes;
        self.send(&request)?.json()
    }

    /// The note of a period: the current one, or that of a day.
    pub fn periodic_note(&self, period: Period, day: Option<Date>, max_bytes: u64) -> Result<NoteAnswer, PluginError> {
        let mut request = PluginRequest::get(self.periodic_url(period, day)).header(header::ACCEPT, NOTE_JSON);
        request.most_bytes = max_bytes;
        self.send_coded(&request).map_err(period_error)?.json()
    }

    /// Makes the note of the current period from its template, if it is missing. The plugin makes no notes of other
    /// days.
    pub fn make_periodic_note(&self, period: Period) -> Result<(), PluginError> {
        let url = self.periodic_url(period, None);
        // An empty text is appended, which makes the note and leaves it as its template has it.
        let request = PluginRequest::new(Method::POST, url).body("text/markdown", b"");
        self.send_coded(&request).map(drop).map_err(period_error)
    }

    fn periodic_url(&self, period: Period, day: Option<Date>) -> String {
        // In the three parts that the plugin's route has.
        let day = day.map(|day| format!("{:04}/{:02}/{:02}", day.year(), day.month(), day.day()));
        let day = day.iter().flat_map(|day| day.split('/'));
        self.url.endpoint(["periodic", period.name()].into_iter().chain(day), true)
    }

    /// The commands of the app's palette.
    pub fn commands(&self) -> Result<Vec<AppCommand>, PluginError> {
        let request = PluginRequest::get(self.url.endpoint(["commands"], true));
        Ok(by_app(self.send(&request)?)?.json::<CommandsBody>()?.commands)
    }

    /// Runs a command; [`PluginError::NotFound`] if the app does not have it.
    pub fn run_command(&self, id: &str) -> Result<(), PluginError> {
        self.send(&PluginRequest::new(Method::POST, self.url.endpoint(["commands", id], true)))?.done().map(drop)
    }

    /// Shows a note to the user. A missing one is created.
    pub fn open_note(&self, path: &VaultPath, new_leaf: bool) -> Result<(), PluginError> {
        let mut url = self.url.endpoint(["open"].into_iter().chain(path.names()), false);
        if new_leaf {
            url += "?newLeaf=true";
        }
        by_app(self.send(&PluginRequest::new(Method::POST, url))?).map(drop)
    }
}

/// Of an answer to what only the app can do: whether the app was part of it. The API without the app answers as the plugin does,
/// so that programs written for that work, and says the difference in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppState {
    Absent,
    CommandsOff,
}

impl AppState {
    pub const HEADER: HeaderName = HeaderName::from_static("lapidary-app");

    pub fn word(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::CommandsOff => "commands-off",
        }
    }
}

fn by_app(reply: PluginReply) -> Result<PluginReply, PluginError> {
    match reply.header(&AppState::HEADER) {
        None => Ok(reply),
        Some(word) if word == AppState::CommandsOff.word() => Err(PluginError::CommandsOff),
        Some(_) => Err(PluginError::NoApp),
    }
}

fn period_error((error, code): (PluginError, Option<u32>)) -> PluginError {
    match (error, code) {
        (PluginError::Rejected { .. }, Some(PERIOD_DISABLED)) => PluginError::PeriodDisabled,
        // The note is missing, which is different from the endpoint being missing.
        (PluginError::NotFound, Some(NOTE_OF_PERIOD_MISSING)) => PluginError::NotFound,
        // A version without the endpoint, or without this period.
        (PluginError::NotFound, _) => PluginError::PeriodUnsupported,
        (error, _) => error,
    }
}
