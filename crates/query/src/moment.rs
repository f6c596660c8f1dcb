//! Dates written as moment.js writes them, which is how Obsidian names periodic notes. Names of months and days are
//! English: Obsidian's own language is not kept in the vault.

mod period;
#[cfg(test)]
mod tests;
mod tokens;
mod week;

use std::borrow::Cow;

use jiff::Zoned;

use crate::english::{MONTHS, WEEKDAYS};

use tokens::{FormatPiece, pieces};

pub use period::Period;
pub use week::WeekRule;

/// Writes a moment in a format of moment.js: `YYYY-MM-DD`, `gggg-[W]ww`.
pub fn format_moment(moment: &Zoned, format: &str, week: WeekRule) -> String {
    let mut written = String::new();
    for piece in pieces(&tokens::expanded(format)) {
        match piece {
            FormatPiece::Text(text) => written += text,
            FormatPiece::Token(token) => written += &value(moment, token, week),
        }
    }
    written
}

fn value(moment: &Zoned, token: &str, rule: WeekRule) -> Cow<'static, str> {
    let (year, month, day) = (i32::from(moment.year()), i64::from(moment.month()), i64::from(moment.day()));
    let day_of_year = i64::from(moment.day_of_year());
    let weekday = i64::from(moment.weekday().to_sunday_zero_offset());
    let quarter = (month + 2) / 3;
    let (hour, minute, second) = (i64::from(moment.hour()), i64::from(moment.minute()), i64::from(moment.second()));
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    let month_name = MONTHS[usize::from(moment.month().unsigned_abs()).clamp(1, 12) - 1];
    let day_name = WEEKDAYS[usize::from(moment.weekday().to_monday_zero_offset().unsigned_abs()) % 7];
    let date = moment.date();
    let number = match token {
        "Y" | "YYYY" => return signed_year(year, 4).into(),
        "YYYYY" => return signed_year(year, 5).into(),
        "YYYYYY" => return format!("{}{:06}", if year < 0 { "-" } else { "+" }, year.abs()).into(),
        "YY" => return padded(i64::from(year.rem_euclid(100)), 2).into(),
        "gg" => return padded(i64::from(rule.week_of(date).0.rem_euclid(100)), 2).into(),
        "GG" => return padded(i64::from(WeekRule::ISO.week_of(date).0.rem_euclid(100)), 2).into(),
        "gggg" | "ggggg" => return padded(rule.week_of(date).0.into(), token.len()).into(),
        "GGGG" | "GGGGG" => return padded(WeekRule::ISO.week_of(date).0.into(), token.len()).into(),
        "MMM" => return month_name[..3].into(),
        "MMMM" => return month_name.into(),
        "dd" => return day_name[..2].into(),
        "ddd" => return day_name[..3].into(),
        "dddd" => return day_name.into(),
        "a" => return if hour < 12 { "am" } else { "pm" }.into(),
        "A" => return if hour < 12 { "AM" } else { "PM" }.into(),
        "hmm" => return format!("{twelve}{minute:02}").into(),
        "hmmss" => return format!("{twelve}{minute:02}{second:02}").into(),
        "Hmm" => return format!("{hour}{minute:02}").into(),
        "Hmmss" => return format!("{hour}{minute:02}{second:02}").into(),
        "x" => return moment.timestamp().as_millisecond().to_string().into(),
        "X" => return moment.timestamp().as_second().to_string().into(),
        "Z" => return offset(moment, ":").into(),
        "ZZ" => return offset(moment, "").into(),
        // moment.js knows the abbreviations only with its time zone plugin.
        "z" | "zz" => return "".into(),
        "NNNN" => return "Anno Domini".into(),
        "N" | "NN" | "NNN" | "NNNNN" => return "AD".into(),
        _ if token.starts_with('S') => return fraction(moment, token.len()).into(),
        "M" | "MM" | "Mo" => month,
        "D" | "DD" | "Do" => day,
        "DDD" | "DDDD" | "DDDo" => day_of_year,
        "d" | "do" => weekday,
        "e" => rule.weekday(date),
        "E" => i64::from(moment.weekday().to_monday_one_offset()),
        "w" | "ww" | "wo" => rule.week_of(date).1,
        "W" | "WW" | "Wo" => WeekRule::ISO.week_of(date).1,
        "Q" | "Qo" => quarter,
        "H" | "HH" => hour,
        "h" | "hh" => twelve,
        "k" | "kk" => {
            if hour == 0 {
                24
            } else {
                hour
            }
        }
        "m" | "mm" => minute,
        "s" | "ss" => second,
        // `y`, `yo`, `yy`, …: the year of the era.
        _ => i64::from(year),
    };
    let width = match token {
        "DDDD" => 3,
        "MM" | "DD" | "ww" | "WW" | "HH" | "hh" | "kk" | "mm" | "ss" => 2,
        _ if token.starts_with('y') => token.len(),
        _ => 1,
    };
    // `Mo`, `Do`, `wo`: 1st, 2nd.
    if token.ends_with('o') { ordinal(number).into() } else { padded(number, width).into() }
}

fn padded(number: i64, width: usize) -> String {
    format!("{number:0width$}")
}

fn signed_year(year: i32, width: usize) -> String {
    // ISO 8601 requires the sign of longer years.
    if year > 9999 { format!("+{year:0width$}") } else { padded(year.into(), width) }
}

fn ordinal(number: i64) -> String {
    let ending = match (number % 100 / 10, number % 10) {
        // 11th, 12th and 13th.
        (1, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Parts of a second; moment.js has nothing smaller than milliseconds.
fn fraction(moment: &Zoned, digits: usize) -> String {
    let thousandths = format!("{:03}000000", moment.millisecond());
    thousandths[..digits.min(thousandths.len())].to_owned()
}

fn offset(moment: &Zoned, colon: &str) -> String {
    let minutes = moment.offset().seconds() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}{colon}{:02}", minutes.abs() / 60, minutes.abs() % 60)
}
