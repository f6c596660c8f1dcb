//! Tests of formats and weeks, compared with moment.js.

use jiff::{Timestamp, civil::date, tz::TimeZone};
use proptest::prelude::*;

use super::*;

/// Checked against moment.js 2.31. 120,000 random formats and dates agreed with it once, except `z` and `zz`: there
/// they depend on how a moment was created.
#[test]
fn formats_mean_what_they_mean_to_moment() {
    let moment = "2024-12-30T09:05:07.089Z".parse::<Timestamp>().unwrap().to_zoned(TimeZone::UTC);
    for (format, written) in [
        ("YYYY YY Y", "2024 24 2024"),
        ("M MM MMM MMMM Mo", "12 12 Dec December 12th"),
        ("D DD Do", "30 30 30th"),
        ("DDD DDDD DDDo", "365 365 365th"),
        ("d dd ddd dddd do", "1 Mo Mon Monday 1st"),
        ("e E", "1 1"),
        ("w ww wo", "1 01 1st"),
        ("W WW Wo", "1 01 1st"),
        ("gg gggg ggggg", "25 2025 02025"),
        ("GG GGGG GGGGG", "25 2025 02025"),
        ("Q Qo", "4 4th"),
        ("H HH h hh k kk", "9 09 9 09 9 09"),
        ("m mm s ss", "5 05 7 07"),
        ("S SS SSS SSSS", "0 08 089 0890"),
        ("a A", "am AM"),
        ("Z ZZ", "+00:00 +0000"),
        ("X x", "1735549507 1735549507089"),
        ("L LL LLL LLLL", "12/30/2024 December 30, 2024 December 30, 2024 9:05 AM Monday, December 30, 2024 9:05 AM"),
        ("l ll lll llll", "12/30/2024 Dec 30, 2024 Dec 30, 2024 9:05 AM Mon, Dec 30, 2024 9:05 AM"),
        ("LT LTS", "9:05 AM 9:05:07 AM"),
        ("N NNNN y yo", "AD Anno Domini 2024 2024th"),
        ("YYYYYY YYYYY", "+002024 02024"),
        ("hmm Hmmss", "905 90507"),
        ("[text] [[x]]", "text [x]"),
        ("[W]ww [a] b]", "W01 a] b"),
        ("\\Y \\L [", "Y L ["),
        ("ISO T P", "I0O T P"),
        ("w| ggg", "w| 25g"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2024/12-December/2024-12-30-Monday"),
        ("gggg-[W]ww", "2025-W01"),
        ("YYYY-[Q]Q", "2024-Q4"),
    ] {
        assert_eq!(format_moment(&moment, format, WeekRule::ENGLISH), written, "{format}");
    }
}

#[test]
fn weeks_are_counted_by_their_rule() {
    let rules = [
        WeekRule::ENGLISH,
        WeekRule::ISO,
        WeekRule::ENGLISH.starting_on("Monday"),
        WeekRule::of_locale("ar"),
        WeekRule::of_locale("TR"),
    ];
    for (day, written) in [
        (date(2023, 1, 1), ["2023-W01 0", "2022-W52 6", "2022-W53 6", "2023-W01 1", "2023-W01 6"]),
        (date(2021, 1, 1), ["2021-W01 5", "2020-W53 4", "2021-W01 4", "2021-W01 6", "2021-W01 4"]),
        (date(2024, 12, 29), ["2025-W01 0", "2024-W52 6", "2024-W52 6", "2025-W01 1", "2024-W52 6"]),
        (date(2024, 12, 31), ["2025-W01 2", "2025-W01 1", "2025-W01 1", "2025-W01 3", "2025-W01 1"]),
        (date(2026, 4, 12), ["2026-W16 0", "2026-W15 6", "2026-W15 6", "2026-W16 1", "2026-W15 6"]),
        (date(2026, 4, 13), ["2026-W16 1", "2026-W16 0", "2026-W16 0", "2026-W16 2", "2026-W16 0"]),
    ] {
        let moment = day.to_zoned(TimeZone::UTC).unwrap();
        assert_eq!(rules.map(|rule| format_moment(&moment, "gggg-[W]ww e", rule)), written, "{day}");
    }
    assert_eq!(WeekRule::of_locale("en-gb"), WeekRule::ISO);
    assert_eq!(WeekRule::of_locale("klingon"), WeekRule::ENGLISH);
    assert_eq!(WeekRule::ISO.starting_on("locale"), WeekRule::ISO);
}

#[test]
fn a_period_has_its_days_the_wanted_one_first() {
    let day = date(2026, 5, 13);
    for (period, count, first, last) in [
        (Period::Daily, 1, day, day),
        (Period::Weekly, 7, date(2026, 5, 10), date(2026, 5, 16)),
        (Period::Monthly, 31, date(2026, 5, 1), date(2026, 5, 31)),
        (Period::Quarterly, 91, date(2026, 4, 1), date(2026, 6, 30)),
        (Period::Yearly, 365, date(2026, 1, 1), date(2026, 12, 31)),
    ] {
        let days: Vec<_> = period.days(day, WeekRule::ENGLISH).collect();
        assert_eq!((days.len(), days[0]), (count, day), "{period:?}");
        assert_eq!((days.iter().min(), days.iter().max()), (Some(&first), Some(&last)), "{period:?}");
    }
    assert_eq!(Period::Weekly.days(date(9999, 12, 31), WeekRule::ISO).count(), 5, "time ends there");
    assert!(Period::Weekly.days(date(-9999, 1, 1), WeekRule::ISO).count() <= 7);
}

proptest! {
    #[test]
    fn any_format_can_be_written(format in "([YyMDdwWgGQHhkmsSAaLlzZXxNeEo|\\[\\]\\\\ é-]){0,20}", day in -700_000_i64..2_000_000) {
        let moment = Timestamp::from_second(day * 86_400).unwrap().to_zoned(TimeZone::UTC);
        format_moment(&moment, &format, WeekRule::ENGLISH);
    }
}
