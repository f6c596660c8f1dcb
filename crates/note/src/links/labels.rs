//! Labels of reference definitions.

use super::LinkDefinition;
use crate::tags::is_space;

/// The labels of a note's definitions in order, to find one without checking all of them: a note may have as many as it
/// has links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReferenceLabels(Vec<(String, usize)>);

impl ReferenceLabels {
    pub(crate) fn of(text: &str, definitions: &[LinkDefinition]) -> Self {
        let labels = definitions.iter().map(|definition| normal(&text[definition.label.clone()]));
        let mut sorted: Vec<(String, usize)> = labels.zip(0..).collect();
        // By label and then by number, so that the first definition of a label is found.
        sorted.sort_unstable();
        Self(sorted)
    }

    /// The first definition with a label.
    pub(crate) fn find(&self, written: &str) -> Option<usize> {
        let wanted = normal(written);
        let (label, definition) = self.0.get(self.0.partition_point(|(label, _)| *label < wanted))?;
        (*label == wanted).then_some(*definition)
    }
}

/// A label in the form in which references and definitions are compared.
pub(super) fn normal(written: &str) -> String {
    let mut plain = String::with_capacity(written.len());
    for word in written.split(is_space).filter(|word| !word.is_empty()) {
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.extend(word.chars().flat_map(char::to_lowercase));
    }
    plain
}
