//! The initial text of a new note, from a template of the vault.

use jiff::{SignedDuration, Span, Timestamp, Zoned, tz::Offset};
use lapidary_query::{WeekRule, format_moment};

/// The values for the placeholders of a template.
pub struct TemplateFields<'p> {
    /// The name of the note without its extension.
    pub title: &'p str,
    /// The day of the note, at the time of the call.
    pub moment: &'p Zoned,
    /// The default format of `{{date}}`; the app and the plugins differ.
    pub date: &'p str,
    pub time_format: &'p str,
    pub date_format: &'p str,
    pub week: WeekRule,
}

/// Fills `{{title}}`, `{{date}}`, `{{time}}`, `{{date:FORMAT}}`, `{{date+1d:FORMAT}}`, `{{yesterday}}`, `{{tomorrow}}` and
/// `{{monday:FORMAT}}`. Anything else is kept unchanged.
pub fn filled(template: &str, places: &TemplateFields<'_>) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let (before, place) = rest.split_at(start);
        filled += before;
        // The search ends at the first character that a placeholder cannot contain: going on to the end of the text
        // each time would make it quadratic.
        let inner = place[2..]
            .find(['\n', '{', '}'])
            .and_then(|end| Some((&place[2..2 + end], place[2 + end..].strip_prefix("}}")?)));
        match inner.and_then(|(inner, after)| Some((places.value(inner)?, after))) {
            Some((value, after)) => {
                filled += &value;
                rest = after;
            }
            None => {
                // Only the braces are copied, as a placeholder may begin within what follows.
                filled += "{{";
                rest = &place[2..];
            }
        }
    }
    filled + rest
}

/// The value of one placeholder for a date or a time, at a moment in seconds with an offset: for a process that can read no zones.
pub fn clock_value((seconds, offset): (i64, i32), date_format: &str, time_format: &str, place: &str) -> Option<String> {
    let zone = Offset::from_seconds(offset).ok()?.to_time_zone();
    let moment = Timestamp::from_second(seconds).ok()?.to_zoned(zone);
    let week = WeekRule::ENGLISH;
    let date = format_moment(&moment, date_format, week);
    TemplateFields { title: "", moment: &moment, date: &date, time_format, date_format, week }.value(place)
}

/// Whether a text has commands of the plugin Templater, which only the app can run.
pub fn has_commands(text: &str) -> bool {
    text.split_once("<%").is_some_and(|(_, behind)| behind.contains("%>"))
}

/// What an answer says about them.
pub const COMMANDS_LEFT: &str = "The template has Templater commands (`<% %>`), which were left as they are.";

impl TemplateFields<'_> {
    fn value(&self, place: &str) -> Option<String> {
        let (name, format) = match place.split_once(':') {
            Some((name, format)) => (name, Some(format.trim())),
            None => (place, None),
        };
        // Blanks around the sign are accepted, as in `{{date + 1d}}`.
        let name: String = name.chars().filter(|c| !c.is_whitespace()).collect();
        let (word, offset) = match name.find(['+', '-']) {
            Some(at) => (name[..at].to_lowercase(), Some(&name[at..])),
            None => (name.to_lowercase(), None),
        };
        let moment = match offset {
            Some(offset) => moved(self.moment, offset)?,
            None => self.moment.clone(),
        };
        let written = |moment: &Zoned, format: &str| format_moment(moment, format, self.week);
        // Whatever is not a known placeholder is left as text by the caller.
        match (&*word, format) {
            ("title", None) => Some(self.title.to_owned()),
            // Formatted by the caller, because the app and the plugins differ.
            ("date", None) if offset.is_none() => Some(self.date.to_owned()),
            ("date", format) => Some(written(&moment, format.unwrap_or(self.date_format))),
            ("time", format) => Some(written(&moment, format.unwrap_or(self.time_format))),
            ("yesterday" | "tomorrow", format) if offset.is_none() => {
                let days = if word == "yesterday" { -1 } else { 1 };
                let moment = self.moment.checked_add(Span::new().try_days(days).ok()?).ok()?;
                Some(written(&moment, format.unwrap_or(self.date_format)))
            }
            (day, Some(format)) if offset.is_none() => {
                let days = self.week.days_to(day, self.moment.date())?;
                let moment = self.moment.checked_add(Span::new().try_days(days).ok()?).ok()?;
                Some(written(&moment, format))
            }
            _ => None,
        }
    }
}

/// `+1d`, `-2h`: as moment.js reads it, `m` are minutes and `M` months.
fn moved(moment: &Zoned, offset: &str) -> Option<Zoned> {
    let unit = offset.chars().last()?;
    let number: i64 = offset[..offset.len() - unit.len_utf8()].parse().ok()?;
    let span = Span::new();
    let span = match unit {
        'y' | 'Y' => span.try_years(number),
        'q' | 'Q' => span.try_months(number.checked_mul(3)?),
        'M' => span.try_months(number),
        'w' | 'W' => span.try_weeks(number),
        'd' | 'D' => span.try_days(number),
        // Bounded, because a larger number would only overflow.
        'h' | 'H' => return moment.checked_add(SignedDuration::from_hours(number.clamp(-99_999, 99_999))).ok(),
        'm' => return moment.checked_add(SignedDuration::from_mins(number.clamp(-9_999_999, 9_999_999))).ok(),
        's' | 'S' => return moment.checked_add(SignedDuration::from_secs(number.clamp(-99_999_999, 99_999_999))).ok(),
        _ => return None,
    };
    moment.checked_add(span.ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_other_text_is_kept() {
        let moment: Zoned = "2026-11-17T09:05:07[UTC]".parse().unwrap();
        let places = TemplateFields {
            title: "2026-11-17",
            moment: &moment,
            date: "2026-11-17",
            time_format: "HH:mm",
            date_format: "YYYY-MM-DD",
            week: WeekRule::ISO,
        };
        for (template, expected) in [
            ("# {{title}}\n{{date}} {{time}}", "# 2026-11-17\n2026-11-17 09:05"),
            ("{{ Date : dddd, D. MMMM YYYY }}", "Tuesday, 17. November 2026"),
            ("{{time:HH:mm:ss}}", "09:05:07"),
            ("[[{{yesterday}}]] [[{{tomorrow}}]]", "[[2026-11-16]] [[2026-11-18]]"),
            ("{{date+1d:YYYY-MM-DD}} {{date-1w}} {{date+1M:MM}} {{time+30m:HH:mm}}", "2026-11-18 2026-11-10 12 09:35"),
            ("{{monday:DD}}-{{sunday:DD}}", "16-22"),
            ("{{value}} {{title:x}} {{}} {{date", "{{value}} {{title:x}} {{}} {{date"),
            ("{{date+x}} {{date+99999999999y}}", "{{date+x}} {{date+99999999999y}}"),
            ("{{{{title}}}}", "{{2026-11-17}}"),
            ("<% tp.date.now() %>", "<% tp.date.now() %>"),
        ] {
            assert_eq!(filled(template, &places), expected, "{template}");
        }
        // A search to the end of the text for each of these would take forever here.
        let many = "{{".repeat(1_000_000);
        assert!(filled(&many, &places) == many);
    }
}
