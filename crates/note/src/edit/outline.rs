//! What an edit must leave standing: the headings around it.

use std::ops::Range;

use crate::{Heading, headings};

/// A heading as far as an edit elsewhere must not change it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) level: u8,
    pub(super) text: String,
    pub(super) start: usize,
}

impl From<Heading> for Entry {
    fn from(heading: Heading) -> Self {
        Self { level: heading.level, text: heading.text, start: heading.section.start }
    }
}

pub(super) fn outline(shown: &str) -> Vec<Entry> {
    headings(shown).into_iter().map(Entry::from).collect()
}

/// Whether all headings that begin before or behind the changed span stand in the new text too, and where they
/// should.
pub(super) fn keeps_others(before: &str, after: &str, span: &Range<usize>) -> bool {
    let behind = |length: usize, start: usize| length - start;
    let (old, new) = (outline(before), outline(after));
    let ahead = old.iter().take_while(|entry| entry.start < span.start);
    let kept_ahead = ahead.clone().count();
    let following = old.iter().rev().take_while(|entry| entry.start >= span.end);
    let kept_behind = following.clone().count();
    new.len() >= kept_ahead + kept_behind
        && ahead.eq(new.iter().take(kept_ahead))
        && following.zip(new.iter().rev()).all(|(a, b)| {
            (a.level, &a.text, behind(before.len(), a.start)) == (b.level, &b.text, behind(after.len(), b.start))
        })
}
