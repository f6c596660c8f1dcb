//! Periodic notes and their templates.

use jiff::{Zoned, civil::Date};
use lapidary_operation::{AppPeriodic, Context, DiskFault, Reason};
use lapidary_query::{Period, format_moment};
use lapidary_vault::{PeriodicNotes, SettingsError, VaultPath, View};

use crate::{
    index,
    reading::{self, ShownFile, parse_path, read_if_there},
    template::{self, TemplateFields},
};

/// A periodic note, located by the owner's settings.
pub struct PeriodicNote {
    pub path: VaultPath,
    pub is_there: bool,
    period: &'static str,
    date: Option<Date>,
    moment: Zoned,
    /// Not known of a note that the app found.
    notes: Option<PeriodicNotes>,
}

/// The note of the period that contains a day, or today: the existing one, or where it would be.
pub fn find(
    tool: &str,
    context: &Context<'_>,
    view: &View,
    period: Period,
    date: Option<Date>,
) -> Result<PeriodicNote, Reason> {
    let name = period.name();
    let notes = match view.periodic_notes(period) {
        Ok(Some(notes)) => notes,
        Ok(None) => return by_app(context, view, period, date, None),
        Err(SettingsError::Unreadable { file }) => return by_app(context, view, period, date, Some(file)),
        Err(SettingsError::VaultGone) => return Err(Reason::Disk { path: None, problem: DiskFault::VaultGone }),
    };
    let now: &Zoned = &context.now;
    let found = |path, is_there, moment| PeriodicNote {
        path,
        is_there,
        period: name,
        date,
        moment,
        notes: Some(notes.clone()),
    };
    let mut first: Option<(VaultPath, Zoned)> = None;
    let mut looked_at: Vec<VaultPath> = Vec::new();
    // A format may contain more than the period needs, such as the day on which the note was created.
    for day in period.days(date.unwrap_or(now.date()), notes.week) {
        context.check()?;
        let moment = if date.is_none() && day == now.date() {
            now.clone()
        } else {
            // Time ends in the year 9999.
            let Ok(moment) = day.to_zoned(now.time_zone().clone()) else { continue };
            moment
        };
        let path = path(&notes, &moment)?;
        // Formats without a day give the same path for every day of the period.
        if looked_at.contains(&path) {
            continue;
        }
        if read_if_there(view, &path)?.is_some() {
            return Ok(found(path, true, moment));
        }
        // The first day is where the app would create it.
        first.get_or_insert_with(|| (path.clone(), moment));
        looked_at.push(path);
    }
    match first {
        Some((path, moment)) => Ok(found(path, false, moment)),
        None => Err(Reason::bad_argument(tool, "target.date", "must be a day in the supported range of years")),
    }
}

/// Whether the notes of all periods that the owner keeps are where the caller may see them, by the place of today's.
pub fn are_shown(context: &Context<'_>, view: &View) -> bool {
    Period::ALL.into_iter().all(|period| match view.periodic_notes(period) {
        Ok(Some(notes)) => path(&notes, &context.now).is_ok_and(|path| view.shows(&path)),
        Ok(None) => true,
        Err(_) => false,
    })
}

/// Where the settings say nothing that is understood here, the app may know: another plugin may keep such notes.
fn by_app(
    context: &Context<'_>,
    view: &View,
    period: Period,
    date: Option<Date>,
    unreadable: Option<&'static str>,
) -> Result<PeriodicNote, Reason> {
    let name = period.name();
    context.check()?;
    let asked = context.app.map(|app| app.periodic_note(period, date, context.cancel.left()));
    let missing = || Reason::PeriodicNotFound { period: name, date: date.map(|date| date.to_string()), path: None };
    match asked {
        Some(Ok(AppPeriodic::Note(path))) => {
            // One that the caller may not read is as good as missing.
            let path = VaultPath::parse(&path).ok().filter(|path| view.stamp(path).is_some()).ok_or_else(missing)?;
            Ok(PeriodicNote { path, is_there: true, period: name, date, moment: context.now.clone(), notes: None })
        }
        Some(Ok(AppPeriodic::Missing)) => Err(missing()),
        // The settings of the vault are the better reason: most vaults have no such notes, and no app is needed for that.
        Some(Ok(AppPeriodic::Unknown) | Err(_)) | None => Err(Reason::PeriodicDisabled { period: name, unreadable }),
    }
}

impl PeriodicNote {
    /// Its path, if the note exists.
    pub fn required(self) -> Result<VaultPath, Reason> {
        if self.is_there {
            return Ok(self.path);
        }
        Err(Reason::PeriodicNotFound {
            period: self.period,
            date: self.date.map(|date| date.to_string()),
            path: Some(self.path),
        })
    }

    /// The initial text of the note: the owner's template, filled in. Empty if there is none that the caller may read.
    pub fn template(&self, context: &Context<'_>, view: &View) -> Result<String, Reason> {
        let Some(notes) = &self.notes else { return Ok(String::new()) };
        let Some(template) = &notes.template else { return Ok(String::new()) };
        let Some(text) = read_template(context, view, template)? else { return Ok(String::new()) };
        // The day of the note, at the time of the call.
        let now: &Zoned = &context.now;
        let moment = self.moment.date().to_datetime(now.time()).to_zoned(now.time_zone().clone());
        let moment = &moment.unwrap_or_else(|_| self.moment.clone());
        let name = self.path.name();
        let title = name.strip_suffix(".md").unwrap_or(name);
        let date = match notes.date_is_title {
            true => title.to_owned(),
            false => format_moment(moment, &notes.date_format, notes.week),
        };
        let places = TemplateFields {
            title,
            moment,
            date: &date,
            time_format: &notes.time_format,
            date_format: if notes.date_is_title { &notes.format } else { &notes.date_format },
            week: notes.week,
        };
        Ok(template::filled(&text.1, &places))
    }
}

/// A template is named like the target of a link.
pub(crate) fn read_template(
    context: &Context<'_>,
    view: &View,
    given: &str,
) -> Result<Option<(VaultPath, String)>, Reason> {
    let Ok(path) = VaultPath::parse(given) else { return Ok(None) };
    let with_ending = if path.is_note() { path.clone() } else { parse_path(&format!("{path}.md"))? };
    for path in [&with_ending, &path] {
        // A template that the caller may not read is not used.
        if view.shows(path)
            && let Ok(Some(file)) = read_if_there(view, path)
        {
            return Ok(text(path, &file)?.map(|text| (path.clone(), text)));
        }
    }
    let files = index::files(context, view)?;
    let Some(path) = files.resolve(with_ending.as_str(), &with_ending).cloned() else { return Ok(None) };
    match read_if_there(view, &path)? {
        Some(file) => Ok(text(&path, &file)?.map(|text| (path, text))),
        None => Ok(None),
    }
}

fn text(path: &VaultPath, file: &lapidary_vault::File) -> Result<Option<String>, Reason> {
    Ok(match reading::show(path, file)? {
        ShownFile::Exact(document) => Some(document.shown().to_owned()),
        ShownFile::Lossy(_) => None,
    })
}

fn path(notes: &PeriodicNotes, moment: &Zoned) -> Result<VaultPath, Reason> {
    let name = format_moment(moment, &notes.format, notes.week);
    // Some people write the extension into the format.
    let ending = if name.ends_with(".md") { "" } else { ".md" };
    parse_path(&format!("{}/{name}{ending}", notes.folder))
}
