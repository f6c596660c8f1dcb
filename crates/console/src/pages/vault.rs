//! A vault at a glance.

use askama::Template;

use super::{
    graph::{AddressedText, NoteRow},
    page_frame::PageFrame,
};
use crate::shown_text::ShownText;

/// What a vault consists of.
#[derive(Template)]
#[template(path = "vault.html")]
pub struct VaultPage {
    pub frame: PageFrame,
    pub vault: Option<String>,
    pub vaults: Vec<String>,
    pub facts: Vec<VaultFact>,
    pub guide: GuideState,
    pub growth: GrowthChart,
    pub tags: Vec<CountedText>,
    pub tags_in_all: usize,
    pub orphans: Vec<NoteRow>,
    pub orphans_in_all: usize,
    /// Of all of them in the graph.
    pub orphans_address: String,
    pub unresolved: Vec<UnresolvedRow>,
    pub unresolved_in_all: usize,
    pub largest: Vec<NoteRow>,
    pub problem: Option<ShownText>,
}

/// The owner's guide, and what becomes of it.
pub enum GuideState {
    /// There is none; where one would be looked for.
    Missing {
        places: Vec<ShownText>,
    },
    /// It is switched off.
    Off,
    Found {
        path: ShownText,
        text: ShownText,
        reach: ShownText,
    },
    /// It cannot be read.
    Unread {
        problem: ShownText,
    },
}

pub struct VaultFact {
    pub name: &'static str,
    pub value: ShownText,
}

pub struct CountedText {
    pub name: AddressedText,
    pub count: usize,
}

/// A name that notes link to and no file has.
pub struct UnresolvedRow {
    pub target: ShownText,
    pub count: usize,
    /// Some of the notes with that link.
    pub sources: Vec<AddressedText>,
}

/// How the number of notes grew.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GrowthChart {
    pub steps: Vec<GrowthStep>,
}

/// A month, or a year of a long time.
#[derive(Debug, PartialEq, Eq)]
pub struct GrowthStep {
    pub label: String,
    pub added: usize,
    /// At its end.
    pub total: usize,
}

/// A bar of the chart, in its own units.
struct ChartBar {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

const WIDTH: usize = 720;
// In units of the drawing, which scales with the page.
const HEIGHT: usize = 160;
/// Of a bar with the gap after it.
const WIDEST: usize = 48;

impl GrowthChart {
    /// Periods with notes and those between them; years, if there are more months than bars are readable.
    pub fn new(months: impl Iterator<Item = (i16, i8)> + Clone) -> Self {
        // Five years of months are still readable as bars.
        const MOST_MONTHS: i32 = 60;
        const MOST_STEPS: usize = 120;
        // Months since year 0, so that the distance of two is a subtraction.
        let (first, last) = months.clone().fold((i32::MAX, i32::MIN), |(first, last), (year, month)| {
            let at = 12 * i32::from(year) + i32::from(month) - 1;
            (first.min(at), last.max(at))
        });
        if first > last {
            return Self::default();
        }
        let step = if last - first < MOST_MONTHS { 1 } else { 12 };
        // `div_euclid`, because a broken clock can give a year before 0.
        let period = |year: i16, month: i8| (12 * i32::from(year) + i32::from(month) - 1).div_euclid(step);
        let mut added = std::collections::BTreeMap::new();
        for (year, month) in months {
            *added.entry(period(year, month)).or_insert(0_usize) += 1;
        }
        let mut total = 0;
        // Periods without new notes are steps too, so that the axis of time is even.
        let steps = (first.div_euclid(step)..=last.div_euclid(step)).map(|at| {
            let added = added.get(&at).copied().unwrap_or_default();
            total += added;
            let label = match step {
                1 => format!("{}-{:02}", at.div_euclid(12), at.rem_euclid(12) + 1),
                _ => at.to_string(),
            };
            GrowthStep { label, added, total }
        });
        let mut steps: Vec<GrowthStep> = steps.collect();
        // A file may be as old as its clock wants.
        steps.drain(..steps.len().saturating_sub(MOST_STEPS));
        Self { steps }
    }

    fn bars(&self) -> Vec<ChartBar> {
        // The total only grows, so the last step is the highest.
        let most = self.steps.last().map_or(1, |step| step.total.max(1));
        let each = (WIDTH / self.steps.len().max(1)).min(WIDEST);
        let bar = |(at, step): (usize, &GrowthStep)| {
            let height = (step.total * HEIGHT).div_ceil(most);
            // The gap is in proportion to the bar, which is never narrower than one unit.
            ChartBar { x: at * each, y: HEIGHT - height, width: each.saturating_sub(1 + each / 8).max(1), height }
        };
        self.steps.iter().enumerate().map(bar).collect()
    }

    /// In a sentence.
    fn summary(&self) -> String {
        match (self.steps.first(), self.steps.last()) {
            (Some(first), Some(_)) if self.steps.len() == 1 => format!("{} notes in {}.", first.total, first.label),
            (Some(first), Some(last)) => {
                format!("From {} notes in {} to {} in {}.", first.total, first.label, last.total, last.label)
            }
            _ => "No notes yet.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_has_every_month_of_a_short_time_and_the_years_of_a_long_one() {
        let step = |label: &str, added, total| GrowthStep { label: label.to_owned(), added, total };
        let months = [(2026, 1), (2025, 11), (2026, 1)];
        let expected = vec![step("2025-11", 1, 1), step("2025-12", 0, 1), step("2026-01", 2, 3)];
        assert_eq!(GrowthChart::new(months.into_iter()).steps, expected);
        let years = GrowthChart::new([(2019, 12), (2026, 1), (2026, 3)].into_iter());
        assert_eq!((years.steps.len(), years.steps.last()), (8, Some(&step("2026", 2, 3))));
        assert_eq!(GrowthChart::new([].into_iter()), GrowthChart::default());
        assert!(years.bars().iter().all(|bar| bar.x + bar.width <= WIDTH && bar.y + bar.height == HEIGHT));
        // The wildest clocks of a file system.
        let all = GrowthChart::new([(-9999, 1), (9999, 12)].into_iter());
        assert_eq!((all.steps.len(), all.steps[119].total), (120, 2));
    }
}
