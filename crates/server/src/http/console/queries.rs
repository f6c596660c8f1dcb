//! Queries: their rows as a table to sort and to export, and what is wrong with them at its place.

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use lapidary_auth::FormParameters;
use lapidary_console::{
    ConsoleSection, QueryPage, QueryPlace, QueryProblem, ShownCell, ShownColumn, ShownTable, ShownText, VaultChoices,
};
use lapidary_pipeline::{Executor, Invocation, Outcome, Principal, Refusal};
use lapidary_query::csv_record;
use lapidary_tools::{Reason, uri::encoded};
use serde_json::{Map, Value, json};

use super::{
    Console, ConsoleState,
    console_calls::{given, words_of},
    no_answer, page, query, refused,
    sessions::OpenSession,
};
use crate::query_answer::{QUERY_TOOL, QueryTable, all_pages, cell, is_base_file, linked_file, place_in_query};

/// More rows are not drawn. All of them are exported.
const MOST_ROWS: usize = 2_000;
const MOST_EXPORTED: usize = 100_000;

pub(super) fn routes() -> Router<Console> {
    Router::new()
        .route("/console/queries", get(show))
        .route("/console/queries.csv", get(as_csv))
        .route("/console/queries.json", get(as_json))
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let asked = AskedRows::of(&console, &query(&request));
    let (mut table, mut problem) = (None, None);
    if !asked.query.trim().is_empty() {
        match asked.answer(&console, MOST_ROWS).await {
            None => return no_answer(),
            Some(Ok(answer)) => table = Some(asked.shown(&console, &answer)),
            Some(Err(refusal)) => problem = Some(refusal.shown()),
        }
    }
    // The page is drawn in any case; the status is for programs that read it.
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let frame = console.frame(ConsoleSection::SEARCH, &session).await;
    let AskedRows { query, view, note, vault, .. } = asked;
    let vaults = VaultChoices { names: console.vault_names(), chosen: vault };
    page(status, &QueryPage { frame, query, view, note, vaults, table, problem })
}

async fn as_csv(State(console): ConsoleState, request: Request) -> Response {
    export(&console, AskedRows::of(&console, &query(&request)), "csv", "text/csv; charset=utf-8", |table| {
        let row = |row: &Vec<Value>| csv_record(row.iter().map(cell));
        csv_record(&table.headers) + &table.rows.iter().map(row).collect::<String>()
    })
    .await
}

async fn as_json(State(console): ConsoleState, request: Request) -> Response {
    export(&console, AskedRows::of(&console, &query(&request)), "json", "application/json", |table| {
        // Two columns may have the same name, so rows are lists.
        format!("{:#}\n", json!({ "columns": table.headers, "rows": table.rows }))
    })
    .await
}

async fn export(
    console: &Console,
    asked: AskedRows,
    ending: &str,
    content_type: &'static str,
    written: impl FnOnce(&QueryTable) -> String,
) -> Response {
    match asked.answer(console, MOST_EXPORTED).await {
        None => no_answer(),
        // An export has no place for an explanation.
        Some(Err(_)) => refused(StatusCode::BAD_REQUEST, "The query cannot be answered; its page says why."),
        Some(Ok(answer)) => {
            let disposition = format!("attachment; filename=\"lapidary-query.{ending}\"");
            let headers = [(header::CONTENT_TYPE, content_type), (header::CONTENT_DISPOSITION, disposition.as_str())];
            (headers, written(&asked.table(&answer))).into_response()
        }
    }
}

/// What an address asks for.
#[derive(Clone)]
struct AskedRows {
    query: String,
    view: String,
    note: String,
    vault: Option<String>,
    /// The column, and whether it descends.
    sort: Option<(usize, bool)>,
}

/// Why there are no rows.
struct QueryRefusal {
    words: String,
    /// The text that the place is in, and line and column.
    place: Option<(String, usize, usize)>,
}

impl AskedRows {
    fn of(console: &Console, parameters: &FormParameters) -> Self {
        // Forms send `\r\n`, and positions in the query are counted with `\n`.
        let text = |name: &str| parameters.get(name).unwrap_or_default().replace("\r\n", "\n");
        let sort = parameters.get("sort").and_then(|column| column.parse().ok());
        Self {
            query: text("query"),
            view: text("view"),
            note: text("note"),
            vault: console.vault(parameters.get("vault")),
            // A column that is already sorted is turned around by the next click; see `shown`.
            sort: sort.map(|column| (column, parameters.get("order") == Some("descending"))),
        }
    }

    /// The end of an address with the same query, sorted like this.
    fn address(&self, sort: Option<(usize, bool)>) -> String {
        let mut address = format!("?query={}", encoded(&self.query));
        let vault = self.vault.clone().unwrap_or_default();
        for (name, value) in [("view", &self.view), ("note", &self.note), ("vault", &vault)] {
            if !value.is_empty() {
                address += &format!("&{name}={}", encoded(value));
            }
        }
        if let Some((column, descends)) = sort {
            address += &format!("&sort={column}&order={}", order(descends));
        }
        address
    }

    /// The answer of the tool, by the owner, through the same executor as a client's.
    async fn answer(&self, console: &Console, most: usize) -> Option<Result<Value, QueryRefusal>> {
        let (asked, principal) = (self.clone(), console.principal());
        console.ask(move |executor| asked.run(executor, &principal, most)).await
    }

    fn run(&self, executor: &Executor, principal: &Principal, most: usize) -> Result<Value, QueryRefusal> {
        let some = |text: &str| (!text.trim().is_empty()).then(|| text.to_owned());
        let (view, note) = (some(&self.view), some(&self.note));
        // Pages of the tool are joined, as a person has no use for cursors.
        let pages = all_pages("rows", most, |cursor| {
            let arguments = json!({
                "query": self.query, "view": view, "note": note, "cursor": cursor, "vault": self.vault,
            });
            facts(executor, principal, QUERY_TOOL, arguments)
        });
        pages.map_err(|refusal| match refusal {
            Some(Refusal { reason, rendered }) => {
                let words = rendered.map_or_else(String::new, |reply| words_of(&reply));
                QueryRefusal { words, place: self.place(executor, principal, &reason) }
            }
            None => QueryRefusal { words: "This server does not offer queries.".to_owned(), place: None },
        })
    }

    /// The text that a place is in: the query, or the base that it names.
    fn place(&self, executor: &Executor, principal: &Principal, reason: &Reason) -> Option<(String, usize, usize)> {
        let (line, column) = place_in_query(reason)?;
        let text = if is_base_file(&self.query) {
            let file = json!({ "file": self.query.trim(), "vault": self.vault });
            // If it cannot be read, the refusal has said so.
            // Read by the same caller, so a base that is closed to it shows no line.
            facts(executor, principal, "file_read", file).ok()?["content"].as_str()?.to_owned()
        } else {
            self.query.clone()
        };
        Some((text, line, column))
    }

    fn table(&self, answer: &Value) -> QueryTable {
        let mut table = QueryTable::of(answer);
        // Sorted here and not in the query, so that the query stays as the owner wrote it.
        if let Some((column, descends)) = self.sort {
            table.sort(column, descends);
        }
        table
    }

    fn shown(&self, console: &Console, answer: &Value) -> ShownTable {
        let table = self.table(answer);
        let column = |(at, name): (usize, &String)| {
            let sorted = self.sort.filter(|(column, _)| *column == at).map(|(_, descends)| descends);
            ShownColumn {
                name: ShownText::line(name),
                // A click on the column by which it is sorted turns the order around.
                address: format!("/console/queries{}", self.address(Some((at, sorted == Some(false))))),
                order: sorted.map(order),
            }
        };
        let shown_cell = |value: &Value| ShownCell {
            text: ShownText::line(&cell(value)),
            is_number: value.is_number(),
            address: linked_file(value).map(|path| console.obsidian_address(self.vault.as_deref(), path)),
        };
        let dropped = answer["dropped"].as_array().into_iter().flatten().map(|dropped| {
            let (step, message) = (&dropped["step"], &dropped["messages"][0]);
            format!("{} rows were left out by errors in {}: {}", dropped["count"], cell(step), cell(message))
        });
        let warnings = answer["warnings"].as_array().into_iter().flatten().map(cell);
        ShownTable {
            columns: table.headers.iter().enumerate().map(column).collect(),
            rows: table.rows.iter().map(|row| row.iter().map(shown_cell).collect()).collect(),
            total: answer["total"].as_u64().unwrap_or_default(),
            notices: dropped.chain(warnings).map(|notice| ShownText::line(&notice)).collect(),
            address: self.address(self.sort),
        }
    }
}

impl QueryRefusal {
    fn shown(&self) -> QueryProblem {
        let place = self.place.as_ref().and_then(|(text, line, column)| {
            let written = text.lines().nth(line.checked_sub(1)?)?;
            let at = written.char_indices().nth(column.saturating_sub(1)).map_or(written.len(), |(at, _)| at);
            let (before, rest) = written.split_at(at);
            let end = rest.chars().next().map_or(0, char::len_utf8);
            let (marked, after) = rest.split_at(end);
            // Behind the last character there is only the end to mark.
            let marked = if marked.is_empty() { "▏" } else { marked };
            let marked = ShownText::marked([(before, false), (marked, true), (after, false)]);
            Some(QueryPlace { line: *line, column: *column, marked })
        });
        QueryProblem { words: ShownText::block(&self.words), place }
    }
}

fn order(descends: bool) -> &'static str {
    if descends { "descending" } else { "ascending" }
}

/// The answer of a tool, or its refusal. `None` if there is no such tool.
fn facts(
    executor: &Executor,
    principal: &Principal,
    tool: &'static str,
    arguments: Value,
) -> Result<Value, Option<Refusal>> {
    let invocation = Invocation::tool(tool, given(arguments), principal.clone());
    match executor.run(&invocation, &executor.cancel(&invocation)) {
        Outcome::Refused(refusal) => Err(Some(refusal)),
        outcome => {
            let facts: Option<Map<String, Value>> = outcome.rendered().map(|reply| reply.facts());
            facts.map(Value::Object).ok_or(None)
        }
    }
}
