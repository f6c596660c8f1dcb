//! The link graph: the page, which says everything in words, and the data of its picture.

use axum::{
    Extension, Json, Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use lapidary_auth::{FormParameters, percent_encoded};
use lapidary_console::{
    ConsoleSection, GraphChoice, GraphFilter, GraphPage, NotePanel, NoteWay, PageFrame, ShownText, graph_bytes,
};
use lapidary_note::{ContentHash, one_line};
use lapidary_query::{GraphNote, is_tag_within};
use lapidary_tools::{NameNotes, NamedNotes, ReadPayload};
use serde_json::{Value, json};

use super::{
    CONTENT_POLICY, Console, ConsoleState, layout_cache::LayoutState, no_answer, page, query, sessions::OpenSession,
    surveying::SurveyedVault,
};

/// Notes in a list.
const LISTED: usize = 50;
/// Folders and tags to choose from.
const CHOICES: usize = 200;
/// Notes on each side of the panel.
const NEIGHBOURS: usize = 200;
const DAY: i64 = 24 * 60 * 60;

pub(super) fn routes() -> Router<Console> {
    Router::new()
        .route("/console/graph", get(show))
        .route("/console/graph.bin", get(bytes))
        .route("/console/graph/progress", get(progress))
        .route("/console/graph/names", get(names))
        .route("/console/graph/way", get(way))
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let parameters = query(&request);
    let (filter, vault) = (filter_of(&parameters), console.vault(parameters.get("vault")));
    let (surveyed, problem) = match console.survey(vault.clone()).await {
        None => return no_answer(),
        Some(Ok(surveyed)) => (surveyed, None),
        Some(Err(words)) => (SurveyedVault::empty(console.time()), Some(ShownText::block(&words))),
    };
    let (vaults, frame) = (console.vault_names(), console.frame(ConsoleSection::GRAPH, &session).await);
    // Drawn off the async threads: sorting and filtering a large vault takes a while.
    let drawn = move |_: &_| GraphPage { vault, vaults, problem, ..surveyed.graph_page(frame, filter) };
    let Some(shown) = console.ask(drawn).await else { return no_answer() };
    let mut response = page(StatusCode::OK, &shown);
    // To start the script that draws, this page may name one policy, which makes its address and no markup.
    if let Ok(policy) =
        HeaderValue::from_str(&CONTENT_POLICY.replace("trusted-types 'none'", "trusted-types graph-worker"))
    {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// The notes, links and places, as the picture reads them; or how far the places are.
async fn bytes(State(console): ConsoleState, headers: HeaderMap, request: Request) -> Response {
    let parameters = query(&request);
    let vault = console.vault(parameters.get("vault"));
    let surveyed = match console.survey(vault).await {
        None => return no_answer(),
        Some(Ok(surveyed)) => surveyed,
        Some(Err(words)) => return problem(&words),
    };
    let (is_asked, own) = (parameters.get("asked").is_some(), console.clone());
    let made = console.ask(move |_| {
        let graph = &surveyed.graph;
        match own.0.layouts.state(&surveyed.survey.vault, graph, is_asked) {
            LayoutState::Ready(places) => Ok(graph_bytes(graph, &places)),
            LayoutState::Working(done) => Err(json!({ "working": done })),
            LayoutState::NotAsked => Err(json!({ "asks": graph.notes.len() })),
            LayoutState::TooLarge => Err(json!({ "tooLarge": graph.notes.len() })),
            LayoutState::NoThread => Err(json!({ "problem": "The system gives no thread for the picture." })),
        }
    });
    match made.await {
        None => no_answer(),
        Some(Err(state)) => (StatusCode::ACCEPTED, Json(state)).into_response(),
        Some(Ok(bytes)) => {
            // Over the bytes, so that a page with an unchanged picture gets 304 and no megabytes.
            let tag = format!("\"{}\"", ContentHash::of(&bytes));
            let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
            let is_known = known == Some(tag.as_str());
            let headers = [
                (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
                // Asked for each time, and sent only if it has changed.
                (header::CACHE_CONTROL, "private, no-cache".to_owned()),
                (header::ETAG, tag),
            ];
            if is_known {
                (StatusCode::NOT_MODIFIED, headers).into_response()
            } else {
                (headers, bytes).into_response()
            }
        }
    }
}

/// How far a layout is, without looking at the vault.
async fn progress(State(console): ConsoleState, request: Request) -> Response {
    let names = console.vault_names();
    let wanted = query(&request).get("vault").map(str::to_owned);
    let vault = wanted.filter(|wanted| names.contains(wanted)).or_else(|| names.first().cloned());
    let done = vault.and_then(|vault| console.0.layouts.progress(&vault));
    Json(json!({ "working": done })).into_response()
}

/// Names of notes by their numbers, or the numbers of those whose paths contain words.
async fn names(State(console): ConsoleState, request: Request) -> Response {
    let parameters = query(&request);
    let numbers = parameters.get("numbers").unwrap_or_default().split(',').filter_map(|number| number.parse().ok());
    let find = parameters.get("find").map(str::to_owned);
    let operation = NameNotes { vault: console.vault(parameters.get("vault")), numbers: numbers.collect(), find };
    let NamedNotes { mark, paths, found } = match console.read(operation).await {
        Some(Ok(ReadPayload::Names(named))) => named,
        Some(Err(words)) => return problem(&words),
        Some(Ok(_)) | None => return no_answer(),
    };
    let named = |(number, path): &(u32, String)| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let name = name.strip_suffix(".md").unwrap_or(name);
        json!({ "number": number, "path": path, "name": one_line(name), "folder": one_line(folder) })
    };
    let named: Vec<Value> = paths.iter().map(named).collect();
    Json(json!({ "mark": mark, "notes": named, "found": found })).into_response()
}

/// The numbers of the notes between two.
async fn way(State(console): ConsoleState, request: Request) -> Response {
    let parameters = query(&request);
    let surveyed = match console.survey(console.vault(parameters.get("vault"))).await {
        None => return no_answer(),
        Some(Ok(surveyed)) => surveyed,
        Some(Err(words)) => return problem(&words),
    };
    let (from, to) = (parameters.get("note").unwrap_or_default(), parameters.get("to").unwrap_or_default());
    // Two names are enough: what each means is decided as on the page.
    let found = surveyed.meant_by(from).zip(surveyed.meant_by(to));
    let way = found.and_then(|(from, to)| surveyed.neighbours.path(from, to));
    Json(json!({ "mark": surveyed.graph.mark(), "known": found.is_some(), "way": way })).into_response()
}

fn problem(words: &str) -> Response {
    (StatusCode::CONFLICT, Json(json!({ "problem": words }))).into_response()
}

fn filter_of(parameters: &FormParameters) -> GraphFilter {
    let text = |name: &str| parameters.get(name).unwrap_or_default().to_owned();
    GraphFilter {
        find: text("find"),
        folder: text("folder"),
        tag: text("tag"),
        days: text("days"),
        links: text("links"),
        note: text("note"),
        to: text("to"),
    }
}

impl SurveyedVault {
    fn graph_page(&self, frame: PageFrame, filter: GraphFilter) -> GraphPage {
        let graph = &self.graph;
        let choice = |value: &str, shown: &str, notes| GraphChoice {
            value: value.to_owned(),
            shown: ShownText::line(shown),
            notes,
        };
        // Counted here and not in the survey, which other pages read without needing the counts.
        let mut folders: Vec<(&str, usize)> = graph.folders.iter().map(|folder| (folder.as_str(), 0)).collect();
        let mut tags: Vec<(&str, usize)> = graph.tags.iter().map(|tag| (tag.as_str(), 0)).collect();
        for note in &graph.notes {
            // The survey only makes numbers that are in its own lists.
            folders[note.folder as usize].1 += 1;
            note.tags.iter().for_each(|tag| tags[*tag as usize].1 += 1);
        }
        // The root has everything, like no choice.
        folders.retain(|(folder, _)| !folder.is_empty());
        folders.sort_unstable();
        let found: Vec<u32> = self.by_links().into_iter().filter(|note| self.fits(*note, &filter)).collect();
        let panel = self.meant_by(&filter.note);
        let way = panel.filter(|_| !filter.to.trim().is_empty()).map(|from| match self.meant_by(&filter.to) {
            None => NoteWay::Unknown(ShownText::line(&filter.to)),
            Some(to) => match self.neighbours.path(from, to) {
                Some(way) => NoteWay::Found(self.rows(way.into_iter())),
                None => NoteWay::Missing,
            },
        });
        GraphPage {
            frame,
            vault: None,
            vaults: Vec::new(),
            in_obsidian: self.survey.vault_in_obsidian.clone(),
            notes: graph.notes.len(),
            links: graph.links.len(),
            folders: folders.iter().take(CHOICES).map(|(folder, notes)| choice(folder, folder, *notes)).collect(),
            tags: tags.iter().take(CHOICES).map(|(tag, notes)| choice(tag, &format!("#{tag}"), *notes)).collect(),
            rows: self.rows(found.iter().copied().take(LISTED)),
            found: found.len(),
            panel: panel.and_then(|number| Some(self.panel(number, graph.note(number)?))),
            way,
            filter,
            problem: None,
        }
    }

    fn panel(&self, number: u32, note: &GraphNote) -> NotePanel {
        let page_of = |page: &str| self.address(page, &[("note", &note.path)]);
        let made = note.since().map(|time| time.to_string()).unwrap_or_default();
        let tag = |tag: &u32| self.graph.tags.get(*tag as usize).map(|tag| self.tag_link(tag));
        // Sources are in order.
        let unresolved = self.graph.unresolved.iter().filter(|link| link.sources.binary_search(&number).is_ok());
        NotePanel {
            row: self.row(number, note),
            path: note.path.clone(),
            made: ShownText::line(&self.time.ago(&made)),
            tags: note.tags.iter().filter_map(tag).collect(),
            targets: self.rows(self.neighbours.targets(number).iter().copied().take(NEIGHBOURS)),
            sources: self.rows(self.neighbours.sources(number).iter().copied().take(NEIGHBOURS)),
            unresolved: unresolved.take(NEIGHBOURS).map(|link| ShownText::line(&link.target)).collect(),
            in_obsidian: format!(
                "obsidian://open?vault={}&file={}",
                percent_encoded(&self.survey.vault_in_obsidian),
                percent_encoded(&note.path)
            ),
            history: page_of("/console/history"),
            activity: page_of("/console/activity"),
        }
    }

    /// The note of this path, or of this name if it is the only one.
    fn meant_by(&self, named: &str) -> Option<u32> {
        let named = named.trim();
        // People type names without the ending.
        if let Some(number) = self.graph.find(named).or_else(|| self.graph.find(&format!("{named}.md"))) {
            return Some(number);
        }
        let folded = named.to_lowercase();
        let mut found = (0_u32..).zip(&self.graph.notes).filter(|(_, note)| note.name().to_lowercase() == folded);
        let (number, _) = found.next()?;
        found.next().is_none().then_some(number)
    }

    fn fits(&self, number: u32, filter: &GraphFilter) -> bool {
        let Some(note) = self.graph.note(number) else { return false };
        let path = note.path.to_lowercase();
        // The slash, or `Work` would also contain `Workshop/a.md`.
        let is_in = |folder: &str| note.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let has_tag = |wanted: &str| {
            let mut own = note.tags.iter().filter_map(|tag| self.graph.tags.get(*tag as usize));
            own.any(|tag| is_tag_within(tag, wanted))
        };
        let changed = note.modified.map(|time| time.to_string()).unwrap_or_default();
        filter.find.to_lowercase().split_whitespace().all(|word| path.contains(word))
            && (filter.folder.is_empty() || is_in(&filter.folder))
            && (filter.tag.is_empty() || has_tag(filter.tag.trim_start_matches('#')))
            && (filter.links != "none" || self.neighbours.degree(number) == 0)
            // Anything that is not a number means no limit.
            && filter.days.parse::<i64>().map_or(true, |days| self.time.is_within(&changed, days.saturating_mul(DAY)))
    }
}
