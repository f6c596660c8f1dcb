//! Formats of Luxon, in the English of the United States.

use std::borrow::Cow;

use crate::{
    DurationUnit, DurationValue,
    english::{MONTHS, WEEKDAYS},
    js_number::number_text,
};

use super::{LuxonDate, zone::narrow_offset};

/// A part of a format: the same character several times, or literal text.
pub(super) struct LuxonPiece {
    pub(super) literal: bool,
    pub(super) text: String,
}

/// Takes a format apart. Text between single quotes and white space stand for themselves.
pub(super) fn format_pieces(format: &str) -> Vec<LuxonPiece> {
    let mut pieces: Vec<LuxonPiece> = Vec::new();
    let (mut current, mut quoted) = (String::new(), false);
    let is_space = |text: &str| text.chars().all(char::is_whitespace);
    let mut push = |text: &mut String, quoted: bool| {
        if !text.is_empty() {
            let literal = quoted || is_space(text);
            pieces.push(LuxonPiece { literal, text: std::mem::take(text) });
        }
    };
    for c in format.chars() {
        if c == '\'' {
            // A quote also ends the token before it.
            push(&mut current, quoted);
            quoted = !quoted;
        // A token is one letter repeated; between quotes everything is text.
        } else if quoted || current.ends_with(c) {
            current.push(c);
        } else {
            push(&mut current, false);
            current.push(c);
        }
    }
    push(&mut current, quoted);
    pieces
}

/// Writes a date in a format of Luxon: `yyyy-MM-dd`, `cccc 'the' d`. Anything else is kept.
pub fn format_luxon(date: &LuxonDate, format: &str) -> String {
    // In Luxon's words.
    if !date.is_valid() {
        return "Invalid DateTime".to_owned();
    }
    let written = |piece: &LuxonPiece| {
        if piece.literal {
            return piece.text.clone();
        }
        token_text(date, &piece.text).map_or_else(|| piece.text.clone(), Cow::into_owned)
    };
    format_pieces(format).iter().map(written).collect()
}

fn token_text(date: &LuxonDate, token: &str) -> Option<Cow<'static, str>> {
    let wall = date.wall();
    let month = MONTHS[usize::try_from(wall.month - 1).unwrap_or_default() % 12];
    let weekday = WEEKDAYS[usize::try_from(date.weekday() - 1).unwrap_or_default() % 7];
    // Noon and midnight are both 12.
    let twelve = if wall.hour % 12 == 0 { 12 } else { wall.hour % 12 };
    let (week_year, week) = date.iso_week();
    let number = |number: i64, width: usize| Some(Cow::Owned(padded(number, width)));
    match token {
        "S" => number(wall.millisecond, 1),
        "u" | "SSS" => number(wall.millisecond, 3),
        "uu" => number(wall.millisecond / 10, 2),
        // Three letters are fewer digits: tenths of a second.
        "uuu" => number(wall.millisecond / 100, 1),
        "s" => number(wall.second, 1),
        "ss" => number(wall.second, 2),
        "m" => number(wall.minute, 1),
        "mm" => number(wall.minute, 2),
        "h" => number(twelve, 1),
        "hh" => number(twelve, 2),
        "H" => number(wall.hour, 1),
        "HH" => number(wall.hour, 2),
        "Z" => Some(narrow_offset(date.offset() / 60).into()),
        // Seconds of an offset, which only historical ones have, are not shown.
        "ZZ" => Some(wide_offset(date, ":").into()),
        "ZZZ" => Some(wide_offset(date, "").into()),
        "ZZZZ" => Some(zone_name(date, false).into()),
        "ZZZZZ" => Some(zone_name(date, true).into()),
        "z" => Some(date.zone().name().into()),
        "a" => Some(if wall.hour < 12 { "AM" } else { "PM" }.into()),
        "d" => number(wall.day, 1),
        "dd" => number(wall.day, 2),
        "c" | "E" => number(date.weekday(), 1),
        "ccc" | "EEE" => Some(weekday[..3].into()),
        "cccc" | "EEEE" => Some(weekday.into()),
        "ccccc" | "EEEEE" => Some(weekday[..1].into()),
        "L" | "M" => number(wall.month, 1),
        "LL" | "MM" => number(wall.month, 2),
        "LLL" | "MMM" => Some(month[..3].into()),
        "LLLL" | "MMMM" => Some(month.into()),
        "LLLLL" | "MMMMM" => Some(month[..1].into()),
        "y" => number(wall.year, 1),
        "yy" => number(last_two(wall.year), 2),
        "yyyy" => number(wall.year, 4),
        "yyyyyy" => number(wall.year, 6),
        "G" => Some(if wall.year < 0 { "BC" } else { "AD" }.into()),
        "GG" => Some(if wall.year < 0 { "Before Christ" } else { "Anno Domini" }.into()),
        "GGGGG" => Some(if wall.year < 0 { "B" } else { "A" }.into()),
        "kk" => number(last_two(week_year), 2),
        "kkkk" => number(week_year, 4),
        "W" => number(week, 1),
        "WW" => number(week, 2),
        "o" => number(date.day_of_year(), 1),
        "ooo" => number(date.day_of_year(), 3),
        "q" => number(date.quarter(), 1),
        "qq" => number(date.quarter(), 2),
        // Rounded down, also before 1970.
        "X" => Some(number_text((date.milliseconds() / 1000.0).floor()).into()),
        "x" => Some(number_text(date.milliseconds()).into()),
        // The formats hold only single tokens, so this does not recurse again.
        _ => Some(format_luxon(date, &macro_in_zone(macro_format(token)?, date.zone())).into()),
    }
}

/// What the letters for whole dates and times stand for.
pub(super) fn macro_format(token: &str) -> Option<&'static str> {
    Some(match token {
        "D" => "M/d/y",
        "DD" => "MMM d, y",
        "DDD" => "MMMM d, y",
        "DDDD" => "EEEE, MMMM d, y",
        "t" => "h:mm a",
        "tt" => "h:mm:ss a",
        "ttt" => "h:mm:ss a ZZZZ",
        "tttt" => "h:mm:ss a ZZZZZ",
        "T" => "HH:mm",
        "TT" => "HH:mm:ss",
        "TTT" => "HH:mm:ss ZZZZ",
        "TTTT" => "HH:mm:ss ZZZZZ",
        "f" => "M/d/y, h:mm a",
        "ff" => "MMM d, y, h:mm a",
        "fff" => "MMMM d, y 'at' h:mm a ZZZZ",
        "ffff" => "EEEE, MMMM d, y 'at' h:mm a ZZZZZ",
        "F" => "M/d/y, h:mm:ss a",
        "FF" => "MMM d, y, h:mm:ss a",
        "FFF" => "MMMM d, y 'at' h:mm:ss a ZZZZ",
        "FFFF" => "EEEE, MMMM d, y 'at' h:mm:ss a ZZZZZ",
        _ => return None,
    })
}

/// Offsets go other ways through JavaScript than zones: whole hours have the name of a zone, and for all others the white
/// space before AM and PM is a narrow one.
fn macro_in_zone<'f>(format: &'f str, zone: &super::LuxonZone) -> Cow<'f, str> {
    let super::LuxonZone::Fixed { minutes } = *zone else { return Cow::Borrowed(format) };
    // Luxon uses the zones `Etc/GMT+12` to `Etc/GMT-14` where it can.
    if minutes != 0 && minutes % 60 == 0 && (-12 * 60..=14 * 60).contains(&minutes) {
        let (long, short) = (wide_minutes(minutes), narrow_minutes(minutes));
        let format = format.replace("ZZZZZ", &format!("'GMT{long}'"));
        return Cow::Owned(format.replace("ZZZZ", &format!("'GMT{short}'")));
    }
    Cow::Owned(format.replace(" a", "\u{202f}a"))
}

fn padded(number: i64, width: usize) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{:0width$}", number.unsigned_abs())
}

/// The last two characters of a year, read as a number.
fn last_two(year: i64) -> i64 {
    let text = year.to_string();
    // By characters, as Luxon does: of the year -5 this is `-5`.
    text[text.len().saturating_sub(2)..].parse().unwrap_or_default()
}

fn wide_offset(date: &LuxonDate, colon: &str) -> String {
    let minutes = date.offset() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}{colon}{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

/// What people call the clocks: `EST`, `Central European Summer Time`, `GMT+5:30`.
fn zone_name(date: &LuxonDate, long: bool) -> String {
    // A fixed offset has no name that people use.
    let (super::LuxonZone::Local(zone) | super::LuxonZone::Named { zone, .. }) = date.zone() else {
        return date.zone().name();
    };
    let hours = date.offset() / 3600;
    let name = zone.iana_name().unwrap_or("UTC");
    if let Some((short, full)) = known_zone_name(name, hours) {
        let text = if long { full } else { short };
        if !text.is_empty() {
            return text.to_owned();
        }
    }
    match date.offset() / 60 {
        // JavaScript tells UTC from other zones without an offset.
        0 => if matches!(name, "UTC" | "Etc/UTC") { "UTC" } else { "GMT" }.to_owned(),
        minutes if long => format!("GMT{}", wide_minutes(minutes)),
        minutes => format!("GMT{}", narrow_minutes(minutes)),
    }
}

fn wide_minutes(minutes: i32) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

fn narrow_minutes(minutes: i32) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
    if minutes == 0 { format!("{sign}{hours}") } else { format!("{sign}{hours}:{minutes:02}") }
}

/// The names of zones in which many people live; CLDR has more. The short one is empty where Americans have none.
fn known_zone_name(zone: &str, hours: i32) -> Option<(&'static str, &'static str)> {
    Some(match (zone, hours) {
        ("UTC" | "Etc/UTC", _) => ("UTC", "UTC"),
        ("America/New_York" | "America/Detroit" | "America/Toronto", -5) => ("EST", "Eastern Standard Time"),
        ("America/New_York" | "America/Detroit" | "America/Toronto", -4) => ("EDT", "Eastern Daylight Time"),
        ("America/Chicago" | "America/Winnipeg", -6) => ("CST", "Central Standard Time"),
        ("America/Chicago" | "America/Winnipeg", -5) => ("CDT", "Central Daylight Time"),
        ("America/Denver" | "America/Edmonton" | "America/Phoenix", -7) => ("MST", "Mountain Standard Time"),
        ("America/Denver" | "America/Edmonton", -6) => ("MDT", "Mountain Daylight Time"),
        ("America/Los_Angeles" | "America/Vancouver", -8) => ("PST", "Pacific Standard Time"),
        ("America/Los_Angeles" | "America/Vancouver", -7) => ("PDT", "Pacific Daylight Time"),
        ("America/Anchorage", -9) => ("AKST", "Alaska Standard Time"),
        ("America/Anchorage", -8) => ("AKDT", "Alaska Daylight Time"),
        ("Pacific/Honolulu", _) => ("HST", "Hawaii-Aleutian Standard Time"),
        ("Europe/London", 0) => ("", "Greenwich Mean Time"),
        ("Europe/London", 1) => ("", "British Summer Time"),
        (
            "Europe/Berlin" | "Europe/Paris" | "Europe/Rome" | "Europe/Madrid" | "Europe/Vienna" | "Europe/Zurich"
            | "Europe/Amsterdam" | "Europe/Brussels" | "Europe/Prague" | "Europe/Warsaw" | "Europe/Stockholm"
            | "Europe/Oslo" | "Europe/Copenhagen" | "Europe/Budapest",
            1,
        ) => ("", "Central European Standard Time"),
        (
            "Europe/Berlin" | "Europe/Paris" | "Europe/Rome" | "Europe/Madrid" | "Europe/Vienna" | "Europe/Zurich"
            | "Europe/Amsterdam" | "Europe/Brussels" | "Europe/Prague" | "Europe/Warsaw" | "Europe/Stockholm"
            | "Europe/Oslo" | "Europe/Copenhagen" | "Europe/Budapest",
            2,
        ) => ("", "Central European Summer Time"),
        ("Europe/Athens" | "Europe/Helsinki" | "Europe/Kyiv" | "Europe/Kiev" | "Europe/Bucharest", 2) => {
            ("", "Eastern European Standard Time")
        }
        ("Europe/Athens" | "Europe/Helsinki" | "Europe/Kyiv" | "Europe/Kiev" | "Europe/Bucharest", 3) => {
            ("", "Eastern European Summer Time")
        }
        ("Asia/Kolkata" | "Asia/Calcutta", _) => ("", "India Standard Time"),
        ("Asia/Tokyo", _) => ("", "Japan Standard Time"),
        ("Asia/Shanghai", 8) => ("", "China Standard Time"),
        ("Asia/Singapore", _) => ("", "Singapore Standard Time"),
        ("Australia/Sydney" | "Australia/Melbourne", 10) => ("", "Australian Eastern Standard Time"),
        ("Australia/Sydney" | "Australia/Melbourne", 11) => ("", "Australian Eastern Daylight Time"),
        _ => return None,
    })
}

/// Writes a length of time: `h:mm`, where the letters `S s m h d w M y` are units, into which all of it is converted.
pub fn format_duration(duration: &DurationValue, format: &str) -> String {
    let pieces = format_pieces(format);
    let unit = |piece: &LuxonPiece| {
        if piece.literal {
            return None;
        }
        Some(match piece.text.chars().next()? {
            'S' => DurationUnit::Milliseconds,
            's' => DurationUnit::Seconds,
            'm' => DurationUnit::Minutes,
            'h' => DurationUnit::Hours,
            'd' => DurationUnit::Days,
            'w' => DurationUnit::Weeks,
            'M' => DurationUnit::Months,
            'y' => DurationUnit::Years,
            _ => return None,
        })
    };
    let units: Vec<DurationUnit> = pieces.iter().filter_map(unit).collect();
    // All of it goes into the units that are there: `h:mm` shows days as hours.
    let shifted = duration.shifted_to(&units);
    let written = |piece: &LuxonPiece| match unit(piece) {
        None => piece.text.clone(),
        Some(unit) => {
            // Rounded down and not to the nearest, as Luxon does by default.
            let number = shifted.part(unit).floor();
            let sign = if number < 0.0 { "-" } else { "" };
            let digits = number_text(number.abs());
            format!("{sign}{digits:0>width$}", width = piece.text.len())
        }
    };
    pieces.iter().map(written).collect()
}
