//! How dates, durations and links are written. Each function parses the start of a text and returns the value and the
//! rest.

use jiff::{
    Span,
    civil::{Date, Time},
    tz::Offset,
};

use super::{DateValue, DateZone, DurationValue, LinkValue};

/// Exactly this many digits, at the start.
fn digits(text: &str, count: usize) -> Option<(i64, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    (digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty()).then_some(())?;
    Some((digits.parse().ok()?, rest))
}

/// Dataview's `YYYY-MM[-DD[THH[:mm[:ss[.SSS][zone]]]]]`. A day or hour that does not exist overflows into the next.
pub fn dataview_date(text: &str) -> Option<(DateValue, &str)> {
    let (year, rest) = digits(text, 4)?;
    let (month, mut rest) = digits(rest.strip_prefix('-')?, 2)?;
    (1..=12).contains(&month).then_some(())?;
    // The month must exist; the day is added to its first, as 30 February is 2 March to Dataview.
    let first = Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, 1).ok()?;
    let (mut days, mut seconds, mut milliseconds) = (0, 0, 0);
    let (mut has_time, mut zone) = (false, DateZone::Local);
    if let Some((day, after)) = rest.strip_prefix('-').and_then(|rest| digits(rest, 2)) {
        (days, rest) = (day - 1, after);
        if let Some((hour, after)) = rest.strip_prefix('T').and_then(|rest| digits(rest, 2)) {
            (seconds, rest, has_time) = (hour * 3600, after, true);
            if let Some((minute, after)) = rest.strip_prefix(':').and_then(|rest| digits(rest, 2)) {
                (seconds, rest) = (seconds + minute * 60, after);
                if let Some((second, after)) = rest.strip_prefix(':').and_then(|rest| digits(rest, 2)) {
                    (seconds, rest) = (seconds + second, after);
                    if let Some((thousandths, after)) = rest.strip_prefix('.').and_then(|rest| digits(rest, 3)) {
                        (milliseconds, rest) = (thousandths, after);
                    }
                    (zone, rest) = dataview_zone(rest);
                }
            }
        }
    }
    let start = first.to_datetime(Time::midnight());
    let span = Span::new().days(days).seconds(seconds).milliseconds(milliseconds);
    let civil = start.checked_add(span).ok()?;
    Some((DateValue { civil, has_time, zone }, rest))
}

/// `Z`, `±h`, `±hh`, `±hh:mm` or `[Area/City]`, or nothing.
fn dataview_zone(text: &str) -> (DateZone, &str) {
    if let Some(rest) = text.strip_prefix('Z') {
        return (DateZone::Offset(Offset::UTC), rest);
    }
    let named = || {
        let (name, rest) = text.strip_prefix('[')?.split_once(']')?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '+');
        (!name.is_empty() && name.chars().all(allowed)).then(|| (DateZone::Named(name.into()), rest))
    };
    let offset = || {
        let negative = text.starts_with('-');
        let rest = text.strip_prefix(['+', '-'])?;
        // `+5` and `+05`.
        let (hours, rest) = digits(rest, 2).or_else(|| digits(rest, 1))?;
        let (minutes, rest) = rest.strip_prefix(':').and_then(|rest| digits(rest, 2)).unwrap_or((0, rest));
        offset_of(negative, hours, minutes).map(|offset| (DateZone::Offset(offset), rest))
    };
    named().or_else(offset).unwrap_or((DateZone::Local, text))
}

fn offset_of(negative: bool, hours: i64, minutes: i64) -> Option<Offset> {
    let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
    Offset::from_seconds(if negative { -seconds } else { seconds }).ok()
}

/// Obsidian's `YYYY-MM-DD` or `YYYY-MM-DD[ T]HH:mm[:ss[.fraction]][Z|±hh[[:]mm]]`, as a whole.
pub fn bases_date(text: &str) -> Option<DateValue> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let date = Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    if rest.is_empty() {
        return Some(DateValue { civil: date.to_datetime(Time::midnight()), has_time: false, zone: DateZone::Local });
    }
    let (hour, rest) = digits(rest.strip_prefix([' ', 'T'])?, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = rest.strip_prefix(':').and_then(|rest| digits(rest, 2)).unwrap_or((0, rest));
    let (nanosecond, rest) = rest.strip_prefix('.').and_then(fraction).unwrap_or((0, rest));
    let small = |number: i64| i8::try_from(number).ok();
    let time = Time::new(small(hour)?, small(minute)?, small(second)?, nanosecond).ok()?;
    Some(DateValue { civil: date.to_datetime(time), has_time: true, zone: bases_zone(rest)? })
}

fn bases_zone(text: &str) -> Option<DateZone> {
    match text {
        "" => return Some(DateZone::Local),
        "Z" => return Some(DateZone::Offset(Offset::UTC)),
        _ => {}
    }
    let (hours, rest) = digits(text.strip_prefix(['+', '-'])?, 2)?;
    let (minutes, rest) = match rest {
        "" => (0, rest),
        _ => digits(rest.strip_prefix(':').unwrap_or(rest), 2)?,
    };
    let offset = rest.is_empty().then(|| offset_of(text.starts_with('-'), hours, minutes))??;
    Some(DateZone::Offset(offset))
}

/// The digits after a point, as billionths.
fn fraction(text: &str) -> Option<(i32, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())?;
    // Further digits are dropped: there is nothing smaller than a billionth.
    let padded: String = digits.chars().chain(std::iter::repeat('0')).take(9).collect();
    Some((padded.parse().ok()?, rest))
}

/// `-?[0-9]+(\.[0-9]+)?`
pub fn number(text: &str) -> Option<(f64, &str)> {
    let run = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(text.starts_with('-'));
    let whole = run(&text[sign..]);
    let mut end = sign + whole;
    (whole > 0).then_some(())?;
    if let Some(behind) = text[end..].strip_prefix('.') {
        let fraction = run(behind);
        // In `1.` the point ends a sentence.
        end += if fraction > 0 { 1 + fraction } else { 0 };
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Dataview's `1 year, 2 days`: numbers with units, and nothing, spaces or a comma between them. The same unit twice
/// adds up.
pub fn dataview_duration(text: &str) -> Option<(DurationValue, &str)> {
    let mut duration = DurationValue::default();
    let mut rest = duration_part(text, &mut duration)?;
    loop {
        let next = rest.trim_start();
        let next = next.strip_prefix(',').unwrap_or(next).trim_start();
        match duration_part(next, &mut duration) {
            Some(after) => rest = after,
            // The separator is given back with the rest.
            None => return Some((duration, rest)),
        }
    }
}

fn duration_part<'t>(text: &'t str, duration: &mut DurationValue) -> Option<&'t str> {
    let (number, rest) = number(text)?;
    let rest = rest.trim_start();
    let (unit, rest) = rest.split_at(rest.bytes().take_while(u8::is_ascii_alphabetic).count());
    let part = match unit {
        "year" | "years" | "yr" | "yrs" => &mut duration.years,
        "month" | "months" | "mo" | "mos" => &mut duration.months,
        "week" | "weeks" | "wk" | "wks" | "w" => &mut duration.weeks,
        "day" | "days" | "d" => &mut duration.days,
        "hour" | "hours" | "hr" | "hrs" | "h" => &mut duration.hours,
        "minute" | "minutes" | "min" | "mins" | "m" => &mut duration.minutes,
        "second" | "seconds" | "sec" | "secs" | "s" => &mut duration.seconds,
        _ => return None,
    };
    *part += number;
    Some(rest)
}

/// `[[…]]` or `![[…]]`, without brackets inside.
pub fn link(text: &str) -> Option<(LinkValue, &str)> {
    let (embed, inside) = match text.strip_prefix('!') {
        Some(rest) => (true, rest.strip_prefix("[[")?),
        None => (false, text.strip_prefix("[[")?),
    };
    // A bracket inside means that this is not a plain link.
    let end = inside.find(['[', ']'])?;
    let rest = inside[end..].strip_prefix("]]")?;
    Some((LinkValue::parse(&inside[..end], embed), rest))
}

/// Whether a character may be part of a tag in Dataview.
pub fn is_in_tag(c: char) -> bool {
    let punctuation = matches!(c, '\u{2000}'..='\u{206f}' | '\u{2e00}'..='\u{2e7f}');
    !c.is_whitespace() && !punctuation && !"'!\"#$%&()*+,.:;<=>?@^{|}~[]\\`".contains(c)
}
