//! A vault as the pages about it show it.

use std::sync::Arc;

use lapidary_auth::percent_encoded;
use lapidary_console::{NoteRow, ShownText};
use lapidary_pipeline::Invocation;
use lapidary_query::{GraphNote, NoteGraph, NoteLinks};
use lapidary_tools::{ReadOperation, ReadPayload, SurveyVault, VaultSurvey};

use super::Console;
use crate::commands::local_time::LocalTime;

/// A survey with what pages need of each note.
pub(super) struct SurveyedVault {
    pub(super) graph: Arc<NoteGraph>,
    pub(super) neighbours: NoteLinks,
    pub(super) survey: VaultSurvey,
    /// The vault as addresses name it, if there are several.
    pub(super) named: Option<String>,
    pub(super) time: LocalTime,
}

impl Console {
    /// Asks an operation other than a tool. `None` if the answer never came, else the answer or a refusal in words.
    pub(super) async fn read(&self, operation: impl ReadOperation + 'static) -> Option<Result<ReadPayload, String>> {
        let invocation = Invocation::read(operation, self.principal());
        let outcome = self.ask(move |executor| executor.run(&invocation, &executor.cancel(&invocation))).await?;
        Some(outcome.answer().map_err(|reason| reason.to_string()))
    }

    pub(super) async fn survey(&self, vault: Option<String>) -> Option<Result<SurveyedVault, String>> {
        let time = self.time();
        let payload = match self.read(SurveyVault { vault: vault.clone() }).await? {
            Ok(ReadPayload::Survey(survey)) => survey,
            // Another payload would be a bug in the executor; the page says that there is no answer.
            Ok(_) => return None,
            Err(words) => return Some(Err(words)),
        };
        // Off the async threads: who links to whom is computed for the whole vault.
        self.ask(move |_| {
            let mut survey = *payload;
            let graph = Arc::new(std::mem::take(&mut survey.graph));
            Ok(SurveyedVault { neighbours: graph.neighbours(), graph, survey, named: vault, time })
        })
        .await
    }
}

impl SurveyedVault {
    /// Without anything, for a page that says why.
    pub(super) fn empty(time: LocalTime) -> Self {
        let (graph, survey) = (Arc::default(), VaultSurvey::default());
        Self { graph, neighbours: NoteLinks::default(), survey, named: None, time }
    }

    /// A page of this vault, with these parameters.
    pub(super) fn address(&self, page: &str, parameters: &[(&str, &str)]) -> String {
        let vault = self.named.as_deref().map(|vault| ("vault", vault));
        let pairs = parameters.iter().copied().chain(vault);
        let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", percent_encoded(value))).collect();
        if pairs.is_empty() { page.to_owned() } else { format!("{page}?{}", pairs.join("&")) }
    }

    pub(super) fn rows(&self, numbers: impl Iterator<Item = u32>) -> Vec<NoteRow> {
        numbers.filter_map(|number| Some(self.row(number, self.graph.note(number)?))).collect()
    }

    pub(super) fn row(&self, number: u32, note: &GraphNote) -> NoteRow {
        let exactly = note.modified.map(|time| time.to_string()).unwrap_or_default();
        NoteRow {
            name: ShownText::line(note.name()),
            path: ShownText::line(&note.path),
            address: self.address("/console/graph", &[("note", &note.path)]),
            links: self.neighbours.degree(number),
            changed: ShownText::line(&self.time.ago(&exactly)),
            changed_exactly: ShownText::line(&exactly),
            size: ShownText::line(&size_words(note.bytes)),
        }
    }

    /// All notes, those with the most links first, then in path order.
    pub(super) fn by_links(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0_u32..).take(self.graph.notes.len()).collect();
        // The sort is stable, so equal notes stay in path order.
        numbers.sort_by_key(|number| std::cmp::Reverse(self.neighbours.degree(*number)));
        numbers
    }
}

/// `512 bytes`, `3.4 KB`, `12 MB`.
pub(super) fn size_words(bytes: u64) -> String {
    let in_units = |unit: f64, name: &str| {
        let size = bytes as f64 / unit;
        if size < 10.0 { format!("{size:.1} {name}") } else { format!("{size:.0} {name}") }
    };
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => in_units(1e3, "KB"),
        1_000_000..1_000_000_000 => in_units(1e6, "MB"),
        _ => in_units(1e9, "GB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 999, 1_000, 3_449, 99_960, 12_000_000, 5_000_000_000];
        let words = sizes.map(size_words);
        assert_eq!(words, ["0 bytes", "999 bytes", "1.0 KB", "3.4 KB", "100 KB", "12 MB", "5.0 GB"]);
    }
}
