//! Notes found by words, as a page and, for the page itself, as JSON while they are typed.

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use lapidary_console::{ConsoleSection, FoundNote, SearchPage, ShownText, VaultChoices};
use lapidary_note::one_line;
use serde_json::{Value, json};

use super::{Console, ConsoleState, no_answer, page, query, sessions::OpenSession};
use crate::found_words::{PassagePiece, pieces, without_properties};

const TOOL: &str = "obsidian_search_notes";
/// What is shown around the words that were found.
const CONTEXT: usize = 120;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/search", get(show)).route("/console/search.json", get(as_json))
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let parameters = query(&request);
    let words = parameters.get("q").unwrap_or_default().to_owned();
    let vault = console.vault(parameters.get("vault"));
    let found = match console.search(&words, vault.as_deref()).await {
        None => return no_answer(),
        Some(found) => found,
    };
    let (found, problem) = match found {
        Ok(found) => (found, None),
        // The page is drawn all the same, so that the words can be changed.
        Err(words) => (FoundNotes::default(), Some(ShownText::block(&words))),
    };
    let hits = found.hits.iter().map(|hit| {
        // Before it is shown as text: the address needs the exact path.
        let open = console.obsidian_address(vault.as_deref(), hit.path());
        FoundNote {
            path: ShownText::line(hit.path()),
            section: hit.section().map(ShownText::line),
            passage: ShownText::marked(hit.pieces().iter().map(|piece| (piece.text, piece.is_found))),
            address: open,
        }
    });
    let drawn = SearchPage {
        hits: hits.collect(),
        frame: console.frame(ConsoleSection::SEARCH, &session).await,
        words,
        vaults: VaultChoices { names: console.vault_names(), chosen: vault },
        total: found.total,
        notice: found.notice.as_deref().map(ShownText::line),
        problem,
    };
    page(StatusCode::OK, &drawn)
}

/// The same for the script of the page, which builds its list from text alone.
async fn as_json(State(console): ConsoleState, request: Request) -> Response {
    let parameters = query(&request);
    let vault = console.vault(parameters.get("vault"));
    let Some(found) = console.search(parameters.get("q").unwrap_or_default(), vault.as_deref()).await else {
        return no_answer();
    };
    let answer = match found {
        Err(words) => json!({ "problem": words }),
        Ok(found) => {
            let hit = |hit: &FoundPassage| {
                let pieces = hit.pieces();
                let pieces: Vec<Value> = pieces
                    .iter()
                    .map(|piece| json!({ "text": one_line(piece.text), "found": piece.is_found }))
                    .collect();
                json!({
                    "path": one_line(hit.path()), "section": hit.section().map(one_line), "passage": pieces,
                    "address": console.obsidian_address(vault.as_deref(), hit.path()),
                })
            };
            let hits: Vec<Value> = found.hits.iter().map(hit).collect();
            json!({ "hits": hits, "total": found.total, "notice": found.notice.as_deref().map(one_line) })
        }
    };
    ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

#[derive(Default)]
struct FoundNotes {
    hits: Vec<FoundPassage>,
    total: u64,
    notice: Option<String>,
}

/// A note with its best passage.
struct FoundPassage {
    hit: Value,
    passage: String,
    words: Vec<String>,
}

impl FoundPassage {
    fn new(hit: Value) -> Self {
        let words = hit["foundWords"].as_array().into_iter().flatten();
        let words: Vec<String> = words.filter_map(Value::as_str).map(str::to_owned).collect();
        let excerpt = without_properties(hit["excerpt"].as_str().unwrap_or_default(), &words);
        // Line breaks and indentation take room in a list and say nothing there.
        let passage = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { passage, words, hit }
    }

    fn path(&self) -> &str {
        self.hit["filename"].as_str().unwrap_or_default()
    }

    fn section(&self) -> Option<&str> {
        // The last heading is the one above the passage.
        self.hit["section"].as_str()?.rsplit("::").next().filter(|section| !section.is_empty())
    }

    fn pieces(&self) -> Vec<PassagePiece<'_>> {
        pieces(&self.passage, &self.words)
    }
}

impl Console {
    /// The best notes, or the refusal in words.
    async fn search(&self, words: &str, vault: Option<&str>) -> Option<Result<FoundNotes, String>> {
        if words.trim().is_empty() {
            return Some(Ok(FoundNotes::default()));
        }
        let arguments = json!({
            // One passage for each note, so that more notes fit.
            "query": words, "contextLength": CONTEXT, "maxMatchesPerHit": 1, "vault": vault,
        });
        Some(self.call(TOOL, arguments).await?.map(|mut answer| {
            let hits = answer["result"]["hits"].take();
            let hits = if let Value::Array(hits) = hits { hits } else { Vec::new() };
            FoundNotes {
                hits: hits.into_iter().map(FoundPassage::new).collect(),
                total: answer["result"]["totalCount"].as_u64().unwrap_or_default(),
                notice: answer["notice"].as_str().map(str::to_owned),
            }
        }))
    }
}
