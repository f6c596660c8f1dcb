//! `lapidary search`: prints ranked notes.

use std::io::Write;

use lapidary_pipeline::Invocation;
use lapidary_tools::quote::one_line;
use serde_json::{Map, Value, json};

use super::{
    CommandFailure, CommandOutcome, SAVING,
    call::{complete, owner},
    print_json, report, table,
};
use crate::{assemble::AssembledServer, cli::Search};

const TOOL: &str = "obsidian_search_notes";

/// The best notes for a query, by the same tool as for a client.
pub(super) fn run(
    search: &Search,
    assembled: &AssembledServer,
    out: &mut dyn Write,
) -> Result<CommandOutcome, CommandFailure> {
    let mut found = Vec::new();
    let mut cursor = Value::Null;
    let answer = loop {
        let mut page = match ask(search, &cursor, assembled) {
            Ok(page) => page,
            Err(refusal) => {
                report::error(&refusal);
                return Ok(CommandOutcome::Refused);
            }
        };
        if let Some(Value::Array(hits)) = page["result"].get_mut("hits").map(Value::take) {
            found.extend(hits);
        }
        cursor = page["result"]["nextCursor"].take();
        // Pages are cut by bytes, so a page may have fewer hits than wanted.
        if cursor.is_null() || found.len() >= search.limit {
            break page;
        }
    };
    assembled.executor.save_indexes(SAVING);
    found.truncate(search.limit);
    if search.json {
        let notice = answer.get("notice").cloned().unwrap_or_default();
        print_json(out, &json!({ "hits": found, "totalCount": answer["result"]["totalCount"], "notice": notice }))?;
        return Ok(CommandOutcome::Well);
    }
    if let Some(notice) = answer["notice"].as_str() {
        report::note(notice);
    }
    table::print(out, &found.iter().map(row).collect::<Vec<_>>())?;
    let (shown, total) = (found.len(), answer["result"]["totalCount"].as_u64().unwrap_or_default());
    if total > shown as u64 {
        writeln!(out, "… {shown} of {total}; --limit shows more")?;
    }
    Ok(CommandOutcome::Well)
}

fn ask(search: &Search, cursor: &Value, assembled: &AssembledServer) -> Result<Value, String> {
    let mut arguments = Map::new();
    arguments.insert("mode".to_owned(), json!("omnisearch"));
    arguments.insert("query".to_owned(), json!(search.query.join(" ")));
    if !search.alternatives.is_empty() {
        arguments.insert("alternatives".to_owned(), json!(search.alternatives));
    }
    if search.explain {
        arguments.insert("explain".to_owned(), json!(true));
    }
    // What fits on a line of a terminal.
    arguments.insert("contextLength".to_owned(), json!(60));
    arguments.insert("maxMatchesPerHit".to_owned(), json!(1));
    if !cursor.is_null() {
        arguments.insert("cursor".to_owned(), cursor.clone());
    }
    let invocation = Invocation::tool(TOOL, arguments, owner(&assembled.executor, false));
    let Some(rendered) = complete(&assembled.executor, invocation).rendered() else {
        return Err(format!("`{TOOL}` is not offered"));
    };
    if rendered.is_error {
        let said = rendered.text().join("\n");
        // The caller prints "error:" already.
        return Err(said.strip_prefix("Error: ").unwrap_or(&said).to_owned());
    }
    Ok(Value::Object(rendered.facts()))
}

/// Score, note, section, and the passage on one line.
fn row(hit: &Value) -> [String; 3] {
    let text = |name: &str| hit[name].as_str().unwrap_or_default();
    let section = text("section").rsplit("::").next().filter(|section| !section.is_empty());
    let place = section.map_or(text("filename").to_owned(), |section| format!("{} § {section}", text("filename")));
    let passage = match hit["ranking"].as_str() {
        Some(ranking) => ranking.to_owned(),
        None => text("excerpt").split_whitespace().collect::<Vec<_>>().join(" "),
    };
    [
        format!("{:.2}", hit["score"].as_f64().unwrap_or_default()),
        one_line(&place).into_owned(),
        one_line(&passage).into_owned(),
    ]
}
