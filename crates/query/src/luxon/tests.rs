//! Tests of Luxon formats.

use jiff::tz::TimeZone;

use super::*;
use crate::DurationUnit;

fn zone(name: &str) -> LuxonZone {
    LuxonZone::Local(TimeZone::get(name).unwrap())
}

fn date(year: i64, month: i64, day: i64, zone: &LuxonZone) -> LuxonDate {
    LuxonDate::on_wall(WallClock::midnight(year, month, day), zone.clone(), 0)
}

/// Each was asked of Luxon 3.4.3 in Node 20.
#[test]
fn formats_mean_what_they_mean_to_luxon() {
    let wall = WallClock { hour: 15, minute: 4, second: 9, millisecond: 7, ..WallClock::midnight(2022, 1, 5) };
    let utc = LuxonDate::on_wall(wall, zone("UTC"), 0);
    for (format, written) in [
        ("D|DD|DDD|DDDD", "1/5/2022|Jan 5, 2022|January 5, 2022|Wednesday, January 5, 2022"),
        ("t|tt|T|TT|TTT", "3:04 PM|3:04:09 PM|15:04|15:04:09|15:04:09 UTC"),
        ("f", "1/5/2022, 3:04 PM"),
        ("fff", "January 5, 2022 at 3:04 PM UTC"),
        ("ffff", "Wednesday, January 5, 2022 at 3:04 PM UTC"),
        ("FF", "Jan 5, 2022, 3:04:09 PM"),
        ("ZZZZ ZZZZZ z Z ZZ ZZZ", "UTC UTC UTC +0 +00:00 +0000"),
        ("G GG GGGGG ccccc EEEEE LLLLL", "AD Anno Domini A W W J"),
        ("kk kkkk W WW o ooo q qq", "22 2022 1 01 5 005 1 01"),
        ("X x yyyyy GGG", "1641395049 1641395049007 yyyyy GGG"),
        ("S SSS u uu uuu", "7 007 007 00 0"),
        ("YYYY-MM-DD", "YYYY-01-Jan 5, 2022"),
        ("'the' d 'of' MMMM", "the 5 of January"),
        ("h 'o''clock'", "3 oclock"),
        ("yyyy yy y EEE cccc HH:mm a", "2022 22 2022 Wed Wednesday 15:04 PM"),
    ] {
        assert_eq!(format_luxon(&utc, format), written, "{format}");
    }
    let early = date(-5, 1, 1, &LuxonZone::UTC);
    assert_eq!(format_luxon(&early, "yyyy yy y G GG yyyyyy"), "-0005 -05 -5 BC Before Christ -000005");
    assert_eq!(format_luxon(&date(12345, 1, 1, &LuxonZone::UTC), "yyyy yy y D"), "12345 45 12345 1/1/12345");
    let fixed = LuxonDate::on_wall(wall, LuxonZone::Fixed { minutes: 330 }, 0);
    assert_eq!(
        format_luxon(&fixed, "ZZZZ|ZZZZZ|z|Z|tttt"),
        "UTC+5:30|UTC+5:30|UTC+5:30|+5:30|3:04:09\u{202f}PM UTC+5:30"
    );
}

#[test]
fn offsets_are_named_as_luxon_names_them() {
    let wall = WallClock { hour: 15, ..WallClock::midnight(2022, 7, 5) };
    for (minutes, written) in [
        (0, "3:00\u{202f}PM|3:00:00\u{202f}PM UTC|UTC"),
        (300, "3:00 PM|3:00:00 PM GMT+05:00|UTC+5"),
        (-210, "3:00\u{202f}PM|3:00:00\u{202f}PM UTC-3:30|UTC-3:30"),
    ] {
        let date = LuxonDate::on_wall(wall, LuxonZone::Fixed { minutes }, 0);
        assert_eq!(format_luxon(&date, "t|tttt|ZZZZ"), written);
    }
}

#[test]
fn zones_have_their_english_names() {
    let wall = WallClock { hour: 15, ..WallClock::midnight(2022, 7, 5) };
    for (name, written) in [
        ("America/New_York", "EDT Eastern Daylight Time"),
        ("Europe/Berlin", "GMT+2 Central European Summer Time"),
        ("Asia/Kolkata", "GMT+5:30 India Standard Time"),
    ] {
        assert_eq!(format_luxon(&LuxonDate::on_wall(wall, zone(name), 0), "ZZZZ ZZZZZ"), written);
    }
}

#[test]
fn dates_are_counted_on_by_the_calendar_and_then_by_the_clock() {
    let (utc, york) = (zone("UTC"), zone("America/New_York"));
    let length = |unit, amount| DurationValue::of(unit, amount);
    use crate::DurationValue;
    for (start, duration, end) in [
        (date(2020, 1, 31, &utc), length(DurationUnit::Months, 1.0), "2020-02-29T00:00:00.000+00:00"),
        (date(2024, 2, 29, &utc), length(DurationUnit::Years, 1.0), "2025-02-28T00:00:00.000+00:00"),
        (date(2020, 3, 8, &york), length(DurationUnit::Hours, 24.0), "2020-03-09T01:00:00.000-04:00"),
        (date(2020, 3, 8, &york), length(DurationUnit::Days, 1.0), "2020-03-09T00:00:00.000-04:00"),
        (date(2020, 1, 1, &utc), length(DurationUnit::Days, 1.5), "2020-01-02T12:00:00.000+00:00"),
        (date(2020, 1, 1, &utc), length(DurationUnit::Months, -1.0), "2019-12-01T00:00:00.000+00:00"),
    ] {
        assert_eq!(start.plus(&duration).iso_text(), end);
    }
    assert!(!date(2020, 1, 1, &utc).plus(&length(DurationUnit::Years, 1e12)).is_valid());
    assert!(!date(2020, 1, 1, &utc).plus(&length(DurationUnit::Hours, f64::INFINITY)).is_valid());
}

#[test]
fn dates_lie_apart_as_luxon_counts() {
    let utc = zone("UTC");
    for (later, earlier, apart) in [
        ((2024, 11, 3), (2024, 9, 6), "2 months"),
        ((2025, 3, 17), (2025, 2, 17), "1 month"),
        ((2021, 5, 31), (2021, 5, 1), "1 month, 2 days"),
        ((2020, 1, 1), (2021, 1, 1), "-1 year"),
        ((2020, 2, 29), (2019, 2, 28), "1 year, 1 day"),
    ] {
        let day = |(year, month, day)| date(year, month, day, &utc);
        assert_eq!(day(later).difference(&day(earlier)).normalised().human_text(), apart, "{later:?} {earlier:?}");
    }
}

#[test]
fn spans_begin_and_end_where_people_say() {
    let day = date(2026, 5, 13, &zone("Europe/Berlin"));
    assert_eq!(day.start_of(DurationUnit::Weeks).iso_text(), "2026-05-11T00:00:00.000+02:00");
    assert_eq!(day.end_of(DurationUnit::Weeks).iso_text(), "2026-05-17T23:59:59.999+02:00");
    assert_eq!(day.end_of(DurationUnit::Months).iso_text(), "2026-05-31T23:59:59.999+02:00");
    assert_eq!(day.start_of(DurationUnit::Years).iso_text(), "2026-01-01T00:00:00.000+01:00");
    assert_eq!((day.iso_week(), day.weekday(), day.day_of_year()), ((2026, 20), 3, 133));
}

#[test]
fn texts_are_read_by_a_format() {
    let local = zone("UTC");
    let now = date(2026, 5, 13, &local);
    for (text, format, read) in [
        ("2020-05-03", "yyyy-MM-dd", "2020-05-03T00:00:00.000+00:00"),
        ("3. May 2020", "d. MMMM yyyy", "2020-05-03T00:00:00.000+00:00"),
        ("may 3 20", "MMM d yy", "2020-05-03T00:00:00.000+00:00"),
        ("10:30 PM", "h:mm a", "2026-05-13T22:30:00.000+00:00"),
        ("2020", "yyyy", "2020-01-01T00:00:00.000+00:00"),
        ("2020-W05-3", "kkkk-'W'WW-E", "2020-01-29T00:00:00.000+00:00"),
        ("2020-01-01 10:00 +05:30", "yyyy-MM-dd HH:mm ZZ", "2020-01-01T04:30:00.000+00:00"),
        ("1/5/2022", "D", "2022-01-05T00:00:00.000+00:00"),
        ("2020-366", "yyyy-ooo", "2020-12-31T00:00:00.000+00:00"),
    ] {
        let date = parse_luxon(text, format, &now, &local);
        assert_eq!(date.map(|date| date.iso_text()), Ok(read.to_owned()), "{text} {format}");
    }
    for (text, format) in
        [("abc", "yyyy"), ("2020-13-01", "yyyy-MM-dd"), ("2021-02-29", "yyyy-MM-dd"), ("x", "'y'"), ("y", "'y'")]
    {
        assert_eq!(parse_luxon(text, format, &now, &local).err(), Some(LuxonParseError::Unfit), "{text}");
    }
    assert!(matches!(parse_luxon("10 AM", "HH a", &now, &local), Err(LuxonParseError::Conflict(_))));
}

#[test]
fn lengths_of_time_are_written_in_their_units() {
    let seconds = |seconds| crate::DurationValue::of(DurationUnit::Seconds, seconds);
    for (duration, format, written) in [
        (seconds(90.0), "m:ss", "1:30"),
        (seconds(-90.0), "m:ss", "-1:-30"),
        (crate::DurationValue::of(DurationUnit::Years, 2000.0), "M months", "24000 0ont00"),
        (seconds(3661.0), "hh'h' mm'm' ss", "01h 01m 01"),
        (seconds(90.0), "x", "x"),
    ] {
        assert_eq!(format_duration(&duration, format), written, "{format}");
    }
}
