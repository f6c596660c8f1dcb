use std::fmt;

/// A duration in the units in which it was written. How many days a month has is up to a language.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DurationValue {
    pub years: f64,
    pub months: f64,
    pub weeks: f64,
    pub days: f64,
    pub hours: f64,
    pub minutes: f64,
    pub seconds: f64,
    pub milliseconds: f64,
}

/// As in ISO 8601: `P1Y2M`, `PT36H`, `PT0S`. Milliseconds are part of the seconds.
impl fmt::Display for DurationValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = |parts: &[(f64, char)]| {
            let parts = parts.iter().filter(|(number, _)| *number != 0.0);
            parts.map(|(number, unit)| format!("{number}{unit}")).collect::<String>()
        };
        let date = written(&[(self.years, 'Y'), (self.months, 'M'), (self.weeks, 'W'), (self.days, 'D')]);
        let seconds = self.seconds + self.milliseconds / 1000.0;
        let time = written(&[(self.hours, 'H'), (self.minutes, 'M'), (seconds, 'S')]);
        match (date.is_empty(), time.is_empty()) {
            (true, true) => f.write_str("PT0S"),
            (false, true) => write!(f, "P{date}"),
            (_, false) => write!(f, "P{date}T{time}"),
        }
    }
}
