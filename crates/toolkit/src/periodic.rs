use jiff::{Zoned, civil::Date};
use lapidary_operation::{Context, Disk, Reason};
use lapidary_query::{Period, format_moment};
use lapidary_vault::{PeriodicNotes, SettingsError, VaultPath, View};

use crate::reading::{parse_path, read_if_there};

/// The note of a period, where the owner's own settings say it is: of the one that a day lies in, else of today's.
pub fn locate(context: &Context<'_>, view: &View, period: Period, date: Option<Date>) -> Result<VaultPath, Reason> {
    let name = period.name();
    let notes = view.periodic_notes(period).map_err(|error| match error {
        SettingsError::VaultGone => Reason::Disk { path: None, problem: Disk::VaultGone },
        SettingsError::Unreadable { file } => Reason::PeriodicDisabled { period: name, unreadable: Some(file) },
    })?;
    let notes = notes.ok_or(Reason::PeriodicDisabled { period: name, unreadable: None })?;
    let now: &Zoned = &context.now;
    let mut looked_at: Vec<VaultPath> = Vec::new();
    // A format may hold more than the period needs, such as the day on which the note was made.
    for day in period.days(date.unwrap_or(now.date()), notes.week) {
        context.check()?;
        let moment = if date.is_none() && day == now.date() {
            now.clone()
        } else {
            // Time ends in the year 9999, and no calendar goes on behind it.
            let Ok(moment) = day.to_zoned(now.time_zone().clone()) else { continue };
            moment
        };
        let path = path(&notes, &moment)?;
        if looked_at.contains(&path) {
            continue;
        }
        if read_if_there(view, &path)?.is_some() {
            return Ok(path);
        }
        looked_at.push(path);
    }
    let path = looked_at.into_iter().next().ok_or(Reason::PeriodicDisabled { period: name, unreadable: None })?;
    Err(Reason::PeriodicNotFound { period: name, date: date.map(|date| date.to_string()), path })
}

fn path(notes: &PeriodicNotes, moment: &Zoned) -> Result<VaultPath, Reason> {
    let name = format_moment(moment, &notes.format, notes.week);
    let ending = if name.ends_with(".md") { "" } else { ".md" };
    parse_path(&format!("{}/{name}{ending}", notes.folder))
}
