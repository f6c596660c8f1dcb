//! Calls that need the app: the active note, periodic notes, commands, and opening a note.

use jiff::civil::Date;
use lapidary_query::Period;
use lapidary_store::VaultPath;
use ureq::http::{Method, header};

use crate::{
    AppCommand, NoteAnswer, PluginConnection, PluginError, answers::CommandsBody, connection::PluginRequest,
    file_calls::NOTE_JSON,
};

/// The plugin's numbers for what a period is.
const PERIOD_DISABLED: u32 = 40060;
const NOTE_OF_PERIOD_MISSING: u32 = 40461;

impl PluginConnection {
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
        Ok(self.send(&request)?.json::<CommandsBody>()?.commands)
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
        self.send(&PluginRequest::new(Method::POST, url)).map(drop)
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
