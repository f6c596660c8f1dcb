//! Dates read by a format of Luxon.

use crate::{
    ExpressionFlags, Replacer,
    english::{MONTHS, WEEKDAYS},
};

use super::{
    LuxonDate, LuxonZone, WallClock, days_in_month,
    format::{LuxonPiece, format_pieces, macro_format},
    is_leap_year, weeks_in_year,
};

/// Why a text is not a date in a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LuxonParseError {
    /// The text does not have the form, or there is no such date.
    Unfit,
    /// The format contradicts itself; the words are those of Luxon.
    Conflict(&'static str),
}

/// How a token is read, and what it says.
enum TokenReader {
    Literal(String),
    Digits {
        least: usize,
        most: usize,
    },
    /// A name, counted from the number that is given.
    Names(Vec<String>, i64),
    Offset {
        colon: bool,
    },
    Zone,
    Space,
}

fn reader(piece: &LuxonPiece) -> TokenReader {
    if piece.literal {
        return TokenReader::Literal(piece.text.clone());
    }
    let digits = |least, most| TokenReader::Digits { least, most };
    let names = |all: &[&str], length: usize, first: i64| {
        TokenReader::Names(all.iter().map(|name| name[..length.min(name.len())].to_owned()).collect(), first)
    };
    match piece.text.as_str() {
        "G" => names(&["BC", "AD"], 2, 0),
        "GG" => names(&["Before Christ", "Anno Domini"], 20, 0),
        "y" => digits(1, 6),
        "yy" | "kk" => digits(2, 4),
        "yyyy" | "kkkk" => digits(4, 4),
        // No format writes this many; the expansions of `D` and others read with it.
        "yyyyy" => digits(4, 6),
        "yyyyyy" => digits(6, 6),
        "M" | "L" | "d" | "H" | "h" | "m" | "q" | "s" | "W" | "uu" => digits(1, 2),
        "MM" | "LL" | "dd" | "HH" | "hh" | "mm" | "qq" | "ss" | "WW" => digits(2, 2),
        "MMM" | "LLL" => names(&MONTHS, 3, 1),
        "MMMM" | "LLLL" => names(&MONTHS, 20, 1),
        "o" | "S" => digits(1, 3),
        "ooo" | "SSS" => digits(3, 3),
        "u" => digits(1, 9),
        "uuu" | "E" | "c" => digits(1, 1),
        "a" => names(&["AM", "PM"], 2, 0),
        "EEE" | "ccc" => names(&WEEKDAYS, 3, 1),
        "EEEE" | "cccc" => names(&WEEKDAYS, 20, 1),
        "Z" | "ZZ" => TokenReader::Offset { colon: true },
        "ZZZ" => TokenReader::Offset { colon: false },
        "z" => TokenReader::Zone,
        // Letters without a meaning have to be in the text as they are.
        text => TokenReader::Literal(text.to_owned()),
    }
}

impl TokenReader {
    fn expression(&self) -> String {
        match self {
            Self::Literal(text) => format!("({})", escaped(text)),
            Self::Digits { least, most } => format!(r"(\d{{{least},{most}}})"),
            Self::Names(names, _) => {
                format!("({})", names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join("|"))
            }
            Self::Offset { colon: true } => r"([+-]\d{1,2}(?::\d{2})?)".to_owned(),
            Self::Offset { colon: false } => r"([+-]\d{1,2}(?:\d{2})?)".to_owned(),
            Self::Zone => "([a-zA-Z_+-/]{1,256}?)".to_owned(),
            Self::Space => r"([^\S\n\r])".to_owned(),
        }
    }
}

fn escaped(text: &str) -> String {
    let special = |c: char| r"-[]{}()*+?.,\^$|#".contains(c) || c.is_whitespace();
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// The pieces of a format with the letters for whole dates written out. White space in these reads any other.
fn expanded_pieces(format: &str) -> Vec<(LuxonPiece, TokenReader)> {
    let mut pieces = Vec::new();
    for piece in format_pieces(format) {
        // A time zone by its name cannot be read, so that these formats stay as they are.
        let expansion = macro_format(&piece.text).filter(|format| !piece.literal && !format.contains("ZZZZ"));
        match expansion {
            Some(format) => pieces.extend(format_pieces(format).into_iter().map(|piece| {
                let is_space = piece.literal && piece.text.chars().all(char::is_whitespace);
                let text = if piece.text == "y" { "yyyyy".to_owned() } else { piece.text.clone() };
                let piece = LuxonPiece { literal: piece.literal, text };
                let reader = if is_space { TokenReader::Space } else { reader(&piece) };
                (piece, reader)
            })),
            None => {
                let reader = reader(&piece);
                pieces.push((piece, reader));
            }
        }
    }
    pieces
}

/// What the tokens of a text said.
#[derive(Default)]
struct ReadParts {
    era: Option<i64>,
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    ordinal: Option<i64>,
    quarter: Option<i64>,
    hour: Option<i64>,
    twelve: Option<i64>,
    afternoon: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    millisecond: Option<i64>,
    week_year: Option<i64>,
    week: Option<i64>,
    weekday: Option<i64>,
    offset: Option<i32>,
    zone: Option<LuxonZone>,
}

/// A date as a format says, in the local zone unless the text names another, in which case it is converted. `now` fills
/// in what is larger than the largest unit that was read.
pub fn parse_luxon(text: &str, format: &str, now: &LuxonDate, local: &LuxonZone) -> Result<LuxonDate, LuxonParseError> {
    let pieces = expanded_pieces(format);
    let expression: String = pieces.iter().map(|(_, reader)| reader.expression()).collect();
    let flags = ExpressionFlags { ignore_case: true, ..ExpressionFlags::default() };
    // One group for each piece, so that the groups can be walked with the pieces.
    let replacer = Replacer::ecmascript(&format!("^{expression}$"), flags).map_err(|_| LuxonParseError::Unfit)?;
    let found = replacer.find(text, 0, &|| false).ok().flatten().ok_or(LuxonParseError::Unfit)?;
    let mut parts = ReadParts::default();
    for ((piece, reader), span) in pieces.iter().zip(found.into_iter().skip(1)) {
        let read = span.map_or("", |span| &text[span]);
        take(&mut parts, piece, reader, read, local)?;
    }
    parts.date(now, local)
}

fn take(
    parts: &mut ReadParts,
    piece: &LuxonPiece,
    reader: &TokenReader,
    read: &str,
    local: &LuxonZone,
) -> Result<(), LuxonParseError> {
    let number = match reader {
        TokenReader::Literal(_) | TokenReader::Space => return Ok(()),
        TokenReader::Digits { .. } => read.parse().unwrap_or_default(),
        TokenReader::Names(names, first) => {
            // Without case, as the expression was matched.
            let position = names.iter().position(|name| name.eq_ignore_ascii_case(read)).unwrap_or_default();
            i64::try_from(position).unwrap_or_default() + first
        }
        TokenReader::Offset { .. } => {
            parts.offset = Some(offset_minutes(read));
            return Ok(());
        }
        TokenReader::Zone => {
            parts.zone = Some(LuxonZone::named(read, local).ok_or(LuxonParseError::Unfit)?);
            return Ok(());
        }
    };
    // Years of two digits are of this century up to 60.
    let untruncated = |year: i64| match year {
        100.. => year,
        61.. => 1900 + year,
        _ => 2000 + year,
    };
    let slot = match piece.text.as_bytes().first() {
        Some(b'G') => &mut parts.era,
        Some(b'y') => &mut parts.year,
        Some(b'M' | b'L') => &mut parts.month,
        Some(b'd') => &mut parts.day,
        Some(b'o') => &mut parts.ordinal,
        Some(b'q') => &mut parts.quarter,
        Some(b'H') => &mut parts.hour,
        Some(b'h') => &mut parts.twelve,
        Some(b'a') => &mut parts.afternoon,
        Some(b'm') => &mut parts.minute,
        Some(b's') => &mut parts.second,
        Some(b'S') => &mut parts.millisecond,
        // A fraction of a second: `5` is half a second and not five milliseconds.
        Some(b'u') => {
            let digits: String = read.chars().chain("000".chars()).take(3).collect();
            parts.millisecond = digits.parse().ok();
            return Ok(());
        }
        Some(b'k') => &mut parts.week_year,
        Some(b'W') => &mut parts.week,
        _ => &mut parts.weekday,
    };
    *slot = Some(if matches!(piece.text.as_str(), "yy" | "kk") { untruncated(number) } else { number });
    Ok(())
}

/// `+5`, `-03:30`, `+0530`
fn offset_minutes(text: &str) -> i32 {
    let negative = text.starts_with('-');
    let digits = text.trim_start_matches(['+', '-']);
    // Without a colon there are two digits for the hours.
    let (hours, minutes) = digits.split_once(':').unwrap_or_else(|| digits.split_at(digits.len().min(2)));
    let number = |text: &str| text.parse::<i32>().unwrap_or_default();
    let total = number(hours) * 60 + number(minutes);
    if negative { -total } else { total }
}

impl ReadParts {
    fn date(mut self, now: &LuxonDate, local: &LuxonZone) -> Result<LuxonDate, LuxonParseError> {
        let fields = [
            self.year,
            self.month,
            self.day,
            self.ordinal,
            self.quarter,
            self.hour,
            self.twelve,
            self.minute,
            self.second,
            self.millisecond,
            self.week_year,
            self.week,
            self.weekday,
        ];
        // A format without any of them says nothing of a date.
        if fields.iter().all(Option::is_none) && self.zone.is_none() && self.offset.is_none() {
            return Err(LuxonParseError::Unfit);
        }
        if self.afternoon.is_some() && self.hour.is_some() {
            return Err(LuxonParseError::Conflict("Can't include meridiem when specifying 24-hour format"));
        }
        // A quarter is read as its first month.
        self.month = self.quarter.map(|quarter| (quarter - 1) * 3 + 1).or(self.month);
        match (self.twelve, self.afternoon) {
            (Some(hour), Some(1)) if hour < 12 => self.hour = Some(hour + 12),
            // 12 AM is midnight.
            (Some(12), Some(0)) => self.hour = Some(0),
            (Some(hour), _) => self.hour = Some(hour),
            _ => {}
        }
        // The first name of the list is BC.
        if self.era == Some(0) {
            self.year = self.year.map(|year| -year);
        }
        let zone = match (&self.zone, self.offset) {
            (Some(zone), _) => zone.clone(),
            (None, Some(minutes)) => LuxonZone::Fixed { minutes },
            (None, None) => local.clone(),
        };
        // In the zone of the text: today may be another day there.
        let day = self.day(&now.in_zone(zone.clone()))?;
        let time = [self.hour, self.minute, self.second, self.millisecond].map(Option::unwrap_or_default);
        // ISO allows 24:00 for the end of a day.
        let midnight_after = time == [24, 0, 0, 0];
        let in_range = time.iter().zip([23, 59, 59, 999]).all(|(part, most)| *part <= most);
        if !in_range && !midnight_after {
            return Err(LuxonParseError::Unfit);
        }
        let wall = WallClock { hour: time[0], minute: time[1], second: time[2], millisecond: time[3], ..day };
        // A clock time may exist twice or not at all; the offset decides which one is meant.
        let guess = self.offset.map_or_else(|| zone.offset_at(now.milliseconds()), |minutes| minutes * 60);
        let date = LuxonDate::on_wall(wall, zone, guess);
        let gregorian = self.year.is_some() || self.month.is_some() || self.day.is_some() || self.ordinal.is_some();
        // A weekday that contradicts the date makes it invalid.
        if gregorian && self.weekday.is_some_and(|weekday| weekday != date.weekday()) {
            return Err(LuxonParseError::Unfit);
        }
        // Only now, so that all checks were made on what the text says.
        let date = date.in_zone(local.clone());
        if date.is_valid() { Ok(date) } else { Err(LuxonParseError::Unfit) }
    }

    /// The day on the calendar. Units above the largest that was read are those of today, units below are the first.
    fn day(&self, now: &LuxonDate) -> Result<WallClock, LuxonParseError> {
        let by_month = self.month.is_some() || self.day.is_some();
        let gregorian = self.year.is_some() || by_month || self.ordinal.is_some();
        let by_week = self.week_year.is_some() || self.week.is_some();
        if gregorian && by_week {
            return Err(LuxonParseError::Conflict(
                "Can't mix weekYear/weekNumber units with year/month/day or ordinals",
            ));
        }
        if by_month && self.ordinal.is_some() {
            return Err(LuxonParseError::Conflict("Can't mix ordinal dates with month/day"));
        }
        let today = now.wall();
        let fits = |fine: bool| if fine { Ok(()) } else { Err(LuxonParseError::Unfit) };
        if by_week || (self.weekday.is_some() && !gregorian) {
            let (this_year, this_week) = now.iso_week();
            let year = self.week_year.unwrap_or(this_year);
            let week = self.week.unwrap_or(if self.week_year.is_some() { 1 } else { this_week });
            let weekday = self.weekday.unwrap_or(1);
            fits((1..=weeks_in_year(year)).contains(&week) && (1..=7).contains(&weekday))?;
            // 4 January is always in the first ISO week.
            let january_fourth = LuxonDate::on_wall(WallClock::midnight(year, 1, 4), LuxonZone::UTC, 0);
            let day = 4 - (january_fourth.weekday() - 1) + (week - 1) * 7 + weekday - 1;
            // The day may be before or after the year, which the calendar evens out.
            return Ok(WallClock::midnight(year, 1, day));
        }
        let year = self.year.unwrap_or(today.year);
        if let Some(ordinal) = self.ordinal {
            fits((1..=if is_leap_year(year) { 366 } else { 365 }).contains(&ordinal))?;
            return Ok(WallClock::midnight(year, 1, ordinal));
        }
        let nothing = !gregorian;
        let month = self.month.unwrap_or(if self.year.is_some() { 1 } else { today.month });
        let day = self.day.unwrap_or(if nothing { today.day } else { 1 });
        fits((1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day))?;
        Ok(WallClock::midnight(year, month, day))
    }
}
