//! An Obsidian app for the tests of the stages: it knows a few commands, has a note open, and remembers what it was told.

use std::{sync::Mutex, time::Duration};

use jiff::civil::Date;
use lapidary_query::Period;
use lapidary_tools::{
    AppAction, AppBridge, AppCommand, AppFacts, AppFault, AppPeriodic, AppStatus, OmnisearchHit, OmnisearchMatch,
};

#[derive(Default)]
pub(crate) struct FakeApp {
    /// The open note.
    pub(crate) active: Mutex<Option<String>>,
    /// What every request fails with.
    pub(crate) fault: Mutex<Option<AppFault>>,
    /// What every action fails with.
    pub(crate) unwilling: Mutex<Option<AppFault>>,
    pub(crate) periodic: Mutex<Option<String>>,
    /// The paths that Omnisearch finds for any query.
    pub(crate) found: Mutex<Vec<String>>,
    pub(crate) acted: Mutex<Vec<AppAction>>,
    pub(crate) requests: Mutex<usize>,
}

impl FakeApp {
    /// One in which a note is open.
    pub(crate) fn showing(path: &str) -> Self {
        let app = Self::default();
        *app.active.lock().unwrap() = Some(path.to_owned());
        *app.found.lock().unwrap() = vec![path.to_owned()];
        app
    }

    fn asked<T>(&self, answer: impl FnOnce() -> T) -> Result<T, AppFault> {
        *self.requests.lock().unwrap() += 1;
        self.fault.lock().unwrap().map_or_else(|| Ok(answer()), Err)
    }
}

impl AppFacts for FakeApp {
    fn status(&self, _: Duration) -> Result<AppStatus, AppFault> {
        self.asked(|| AppStatus { is_authenticated: true, ..AppStatus::default() })
    }

    fn active_note(&self, _: Duration) -> Result<Option<String>, AppFault> {
        self.asked(|| self.active.lock().unwrap().clone())
    }

    fn commands(&self, _: Duration) -> Result<Vec<AppCommand>, AppFault> {
        let command = |id: &str, name: &str| AppCommand { id: id.to_owned(), name: name.to_owned() };
        self.asked(|| {
            vec![command("workspace:close", "Close current tab"), command("editor:toggle-bold", "Toggle bold")]
        })
    }

    fn periodic_note(&self, _: Period, _: Option<Date>, _: Duration) -> Result<AppPeriodic, AppFault> {
        self.asked(|| self.periodic.lock().unwrap().clone().map_or(AppPeriodic::Missing, AppPeriodic::Note))
    }

    fn omnisearch(&self, query: &str, _: Duration) -> Result<Vec<OmnisearchHit>, AppFault> {
        let hit = |path: &String| OmnisearchHit {
            path: path.clone(),
            score: 12.5,
            found_words: vec![query.to_owned()],
            matches: vec![OmnisearchMatch { text: query.to_owned(), offset: 3 }],
            excerpt: format!("… {query} …"),
        };
        self.asked(|| self.found.lock().unwrap().iter().map(hit).collect())
    }
}

impl AppBridge for FakeApp {
    fn act(&self, action: &AppAction, _: Duration) -> Result<(), AppFault> {
        if let Some(fault) = *self.unwilling.lock().unwrap() {
            return Err(fault);
        }
        self.asked(|| self.acted.lock().unwrap().push(action.clone()))
    }
}
