//! `lapidary search`: prints ranked notes.

use std::io::Write;

use lapidary_tools::quote::one_line;
use lapidary_vault::DocumentKind;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::{
    CommandFailure, CommandOutcome, SAVING, call::OwnerCalls, report, screen::Screen, table, terminal_style::TextPaint,
};
use crate::{cli::Search, found_words::without_properties};

const TOOL: &str = "obsidian_search_notes";
/// How far a passage is indented below its note.
const INDENT: usize = 2;

/// The best notes for a query, by the same tool as for a client.
pub(super) fn run(
    search: &Search,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let mut found = Vec::new();
    let mut cursor = Value::Null;
    let answer = loop {
        let mut page = calls.facts(TOOL, arguments(search, &cursor, screen.style.width))?;
        if let Some(Value::Array(hits)) = page["result"].get_mut("hits").map(Value::take) {
            found.extend(hits);
        }
        cursor = page["result"]["nextCursor"].take();
        // Pages are cut by bytes, so a page may have fewer hits than wanted.
        if cursor.is_null() || found.len() >= search.limit {
            break page;
        }
    };
    calls.assembled.executor.save_indexes(SAVING);
    found.truncate(search.limit);
    let outcome = if found.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Well };
    if search.json {
        let notice = answer.get("notice").cloned().unwrap_or_default();
        screen.json(&json!({ "hits": found, "totalCount": answer["result"]["totalCount"], "notice": notice }))?;
        return Ok(outcome);
    }
    match answer["notice"].as_str() {
        Some(notice) => report::note(notice),
        None if found.is_empty() => report::note("nothing found"),
        None => {}
    }
    for hit in &found {
        print(hit, search.explain, screen)?;
    }
    let (shown, total) = (found.len(), answer["result"]["totalCount"].as_u64().unwrap_or_default());
    if total > shown as u64 {
        let more = screen.style.faint(&format!("… {shown} of {total}; --limit shows more"));
        writeln!(screen, "{more}")?;
    }
    Ok(outcome)
}

fn arguments(search: &Search, cursor: &Value, width: usize) -> Value {
    let alternatives = (!search.alternatives.is_empty()).then_some(&search.alternatives);
    json!({
        "query": search.query.join(" "), "alternatives": alternatives,
        "explain": search.explain.then_some(true), "cursor": cursor,
        // What fits on a line of a terminal, on both sides of a match.
        // One passage for each note: more would push other notes off the screen.
        "contextLength": (width / 2).clamp(30, 100), "maxMatchesPerHit": 1,
    })
}

/// The note with its section, and below it the passage on one line, with the words that were found marked.
fn print(hit: &Value, explains: bool, screen: &mut Screen<'_>) -> Result<(), CommandFailure> {
    let text = |name: &str| hit[name].as_str().unwrap_or_default();
    let style = screen.style;
    // The last heading of the way to the section is the one above the passage.
    let page = match (DocumentKind::named(text("filename")), hit["page"].as_u64()) {
        (Some(DocumentKind::Pdf), Some(page)) => format!("#page={page}"),
        (Some(kind), Some(page)) => format!(" {} {page}", kind.part_name()),
        _ => String::new(),
    };
    let section = text("section").rsplit("::").next().filter(|section| !section.is_empty());
    let section = section.map_or(String::new(), |section| style.faint(&format!(" § {}", one_line(section))));
    writeln!(screen, "{}{section}", style.painted(TextPaint::Name, &one_line(&format!("{}{page}", text("filename")))))?;
    let words: Vec<String> =
        hit["foundWords"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    let passage = match hit["ranking"].as_str().filter(|_| explains) {
        Some(ranking) => format!("{:.2}  {ranking}", hit["score"].as_f64().unwrap_or_default()),
        None => without_properties(text("excerpt"), &words).split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let passage = one_line(&passage).into_owned();
    let shown = if style.is_terminal { around(&passage, &words, style.width.saturating_sub(INDENT)) } else { passage };
    if !shown.is_empty() {
        writeln!(screen, "{}{}", " ".repeat(INDENT), style.marked(&shown, &words))?;
    }
    Ok(())
}

/// As much of a passage as fits, with its first hit in it.
fn around(passage: &str, words: &[String], width: usize) -> String {
    if passage.width() <= width {
        return passage.to_owned();
    }
    let lower = passage.to_lowercase();
    // Lower case may be longer or shorter; then the place is only nearly right, and the start does as well.
    // The first of any word, so that the line shows where the matches begin.
    let first = words.iter().filter_map(|word| lower.find(&word.to_lowercase())).min().unwrap_or_default();
    let first = passage.floor_char_boundary(first.min(passage.len()));
    // Near enough to the start that the line shows it without being moved.
    if passage[..first].width() < width * 2 / 3 {
        return table::cut(passage, width);
    }
    // From the start of a word, a third of the line before the hit.
    let lead = passage[..first].char_indices().rev().find(|(at, _)| passage[*at..first].width() > width / 3);
    let from = lead.map_or(0, |(at, _)| at);
    let from = passage[from..first].find(' ').map_or(from, |blank| from + blank + 1);
    table::cut(&format!("…{}", &passage[from..]), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_passage_is_shown_around_its_hit() {
        let long = format!("{} slate {}", "word ".repeat(40).trim(), "rest ".repeat(40).trim());
        for width in [40, 80] {
            let shown = around(&long, &["slate".to_owned()], width);
            assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("slate"), "{shown}");
            assert!(shown.width() <= width, "{shown}");
        }
        assert_eq!(around("short slate", &["slate".to_owned()], 40), "short slate");
        let wide = "日本語".repeat(30);
        assert!(around(&wide, &["語".to_owned()], 40).width() <= 40);
    }
}
