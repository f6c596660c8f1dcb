//! The page about a vault: how much is in it, how it grew, and what to look at.

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use jiff::tz::TimeZone;
use lapidary_console::{
    AddressedText, ConsoleSection, CountedText, GrowthChart, GuideState, ShownText, UnresolvedRow, VaultFact, VaultPage,
};
use lapidary_tools::{FindGuide, ReadPayload};

use super::{
    Console, ConsoleState, no_answer, page, query,
    sessions::OpenSession,
    surveying::{SurveyedVault, size_words},
};

/// Rows of each list.
const LISTED: usize = 20;
/// Tags, which are short.
const LISTED_TAGS: usize = 40;
/// Notes that are named for an unresolved link.
const NAMED_SOURCES: usize = 3;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/vault", get(show))
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let vault = console.vault(query(&request).get("vault"));
    let (surveyed, problem) = match console.survey(vault.clone()).await {
        None => return no_answer(),
        Some(Ok(surveyed)) => (surveyed, None),
        Some(Err(words)) => (SurveyedVault::empty(console.time()), Some(ShownText::block(&words))),
    };
    let guide = console.guide(vault.clone()).await;
    let (vaults, frame) = (console.vault_names(), console.frame(ConsoleSection::VAULT, &session).await);
    let Some(shown) = console.ask(move |_| VaultPage { vault, vaults, guide, problem, ..surveyed.page(frame) }).await
    else {
        return no_answer();
    };
    page(StatusCode::OK, &shown)
}

impl Console {
    /// The guide of a vault, and how much of it reaches clients.
    async fn guide(&self, vault: Option<String>) -> GuideState {
        let owner = self.0.executor.owner_settings();
        if owner.guides.is_empty() {
            return GuideState::Off;
        }
        let at_start = owner.guide_bytes;
        let unread = |problem: &str| GuideState::Unread { problem: ShownText::block(problem) };
        match self.read(FindGuide { vault }).await {
            None => unread("The guide could not be read in time."),
            Some(Err(problem)) => unread(&problem),
            Some(Ok(ReadPayload::Guides(guides))) => match guides.first() {
                None => GuideState::Missing {
                    places: owner.guides.iter().map(|path| ShownText::line(path.as_str())).collect(),
                },
                Some(guide) => GuideState::Found {
                    path: ShownText::line(guide.path.as_str()),
                    reach: ShownText::line(&reach(guide.text.len(), at_start, self.vault_names().len())),
                    text: ShownText::block(&guide.text),
                },
            },
            Some(Ok(_)) => unread("The guide could not be read."),
        }
    }
}

/// What clients get of a guide of this size.
fn reach(bytes: usize, at_start: usize, vaults: usize) -> String {
    let size = size_words(bytes as u64);
    let note = "to those that may read the note";
    match () {
        () if at_start == 0 => {
            format!("{size}. Clients get it with vault_guide alone, {note} (limits.guide_bytes is 0).")
        }
        () if bytes <= at_start / vaults.max(1) => {
            format!("{size}. It reaches clients whole when they connect, {note}.")
        }
        () => {
            let shared = if vaults > 1 { ", which your vaults share" } else { "" };
            format!(
                "{size}. Its first lines reach clients when they connect, {note}: at most {}{shared}. vault_guide gives the rest.",
                size_words(at_start as u64)
            )
        }
    }
}

impl SurveyedVault {
    fn page(&self, frame: lapidary_console::PageFrame) -> VaultPage {
        let graph = &self.graph;
        let alone = (0_u32..).take(graph.notes.len()).filter(|note| self.neighbours.degree(*note) == 0);
        let mut largest: Vec<u32> = (0_u32..).take(graph.notes.len()).collect();
        // A note that vanished has no size, and sorts last.
        largest.sort_by_key(|number| std::cmp::Reverse(graph.note(*number).map(|note| note.bytes)));
        // A note has each tag once.
        let mut uses = vec![0_usize; graph.tags.len()];
        graph.notes.iter().flat_map(|note| &note.tags).for_each(|tag| uses[*tag as usize] += 1);
        let months = graph.notes.iter().filter_map(|note| {
            // UTC: a month is coarse enough, and the picture does not depend on where the server runs.
            let date = note.since()?.to_zoned(TimeZone::UTC).date();
            Some((date.year(), date.month()))
        });
        VaultPage {
            frame,
            vault: None,
            vaults: Vec::new(),
            facts: self.facts(),
            guide: GuideState::Off,
            growth: GrowthChart::new(months),
            tags: graph.tags.iter().zip(&uses).take(LISTED_TAGS).map(|(tag, count)| self.tag(tag, *count)).collect(),
            tags_in_all: graph.tags.len(),
            // Cloned, because the iterator is used twice: for the rows and for the count.
            orphans: self.rows(alone.clone().take(LISTED)),
            orphans_in_all: alone.count(),
            orphans_address: self.address("/console/graph", &[("links", "none")]),
            unresolved: graph.unresolved.iter().take(LISTED).map(|link| self.unresolved(link)).collect(),
            unresolved_in_all: graph.unresolved.len(),
            largest: self.rows(largest.into_iter().take(LISTED)),
            problem: None,
        }
    }

    fn facts(&self) -> Vec<VaultFact> {
        let (graph, survey) = (&self.graph, &self.survey);
        let bytes = graph.notes.iter().map(|note| note.bytes).sum();
        let fact = |name, value: String| VaultFact { name, value: ShownText::line(&value) };
        let index = match survey.unread_notes {
            0 => "all notes are indexed".to_owned(),
            1 => "1 note could not be read".to_owned(),
            unread => format!("{unread} notes could not be read"),
        };
        vec![
            fact("Notes", format!("{} ({})", graph.notes.len(), size_words(bytes))),
            fact("Other files", format!("{} ({})", survey.other_files, size_words(survey.other_bytes))),
            fact("Folders", graph.folders.len().to_string()),
            fact("Links between notes", graph.links.len().to_string()),
            fact("Index", index),
        ]
    }

    pub(super) fn tag(&self, tag: &str, count: usize) -> CountedText {
        CountedText { name: self.tag_link(tag), count }
    }

    pub(super) fn tag_link(&self, tag: &str) -> AddressedText {
        let text = ShownText::line(&format!("#{tag}"));
        AddressedText { text, address: self.address("/console/graph", &[("tag", tag)]) }
    }

    fn unresolved(&self, link: &lapidary_query::UnresolvedLink) -> UnresolvedRow {
        let named = self.rows(link.sources.iter().copied().take(NAMED_SOURCES));
        UnresolvedRow {
            target: ShownText::line(&link.target),
            count: link.sources.len(),
            sources: named.into_iter().map(|row| AddressedText { text: row.name, address: row.address }).collect(),
        }
    }
}
