//! Fields of durations: the whole length in one unit.

use super::base_duration::BaseDuration;

pub(super) fn field(duration: &BaseDuration, name: &str) -> Option<f64> {
    duration.in_unit(&name.to_ascii_lowercase())
}
