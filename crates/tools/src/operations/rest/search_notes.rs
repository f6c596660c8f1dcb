//! The searches of the REST API.

use std::ops::Range;

use lapidary_note::shown_text;
use lapidary_operation::{
    Context, OpenedVaults, OperationDeclaration, ReadOperation, ReadPayload, Reason, RestPayload, ToolGroup,
    VaultChoice, quote::Prose,
};
use lapidary_query::{SimpleMatches, SimpleQuery};
use lapidary_toolkit::{index, naming, note_hits, query_text::check_length};
use serde_json::{Map, Value, json};

/// All words, in notes and their names.
pub struct PlainSearch {
    pub vault: String,
    pub query: String,
    /// How many characters around a match are shown.
    pub context_length: usize,
}

const PLAIN: OperationDeclaration = OperationDeclaration { name: "rest/search-simple", recorded: true };

impl ReadOperation for PlainSearch {
    fn declaration(&self) -> &'static OperationDeclaration {
        &PLAIN
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([("query".to_owned(), json!(self.query))])
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(Some(self.vault.clone())))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        check_length(PLAIN.name, &self.query)?;
        let query = SimpleQuery::parse(&self.query)
            .map_err(|error| Reason::bad_argument(PLAIN.name, "query", Prose::ours(error)))?;
        // A search within a long text asks, too.
        let stop = || context.cancel.check().is_err();
        let files = index::files_to_search(context, vaults.one()?)?;
        let mut found = index::map_texts(context, files, |entry, bytes| {
            let (title, text) = (naming::title(entry.path()), shown_text(bytes));
            let SimpleMatches { in_name, in_text } = query.find(title, &text, &stop)?;
            // A name is short enough to be shown whole.
            let (mut in_title, mut in_content) = (Utf16Count::of(title), Utf16Count::of(&text));
            let in_names = in_name.iter().map(|span| shown(&mut in_title, span, usize::MAX, "filename"));
            let in_texts = in_text.iter().map(|span| shown(&mut in_content, span, self.context_length, "content"));
            let matches: Vec<Value> = in_names.chain(in_texts).collect();
            // A name says more than a word somewhere in the text.
            let score = 10 * in_name.len() + in_text.len();
            Some((score, entry.path().to_string(), matches))
        })?;
        context.check()?;
        // By path among equals, so that the same search gives the same answer.
        found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        let mut total = 0;
        let hit = |(score, filename, matches): (usize, String, Vec<Value>)| {
            // With its offsets and field names, roughly.
            let bytes: usize =
                matches.iter().map(|found| found["context"].as_str().map_or(64, |text| text.len() + 64)).sum();
            // Counted while it is made: the answer of a common word could fill memory.
            most(&mut total, bytes)?;
            Ok(json!({ "filename": filename, "score": score, "matches": matches }))
        };
        let hits = found.into_iter().map(hit).collect::<Result<Vec<Value>, Reason>>()?;
        Ok(ReadPayload::Rest(RestPayload::Json(Value::Array(hits))))
    }
}

/// Places of a text as JavaScript counts them, from its start to its end: counted anew for each match, a long note with many of
/// them would take forever.
struct Utf16Count<'t> {
    text: &'t str,
    at: usize,
    units: usize,
}

impl<'t> Utf16Count<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, at: 0, units: 0 }
    }

    /// Of a place that is not before the last one.
    fn until(&mut self, at: usize) -> usize {
        self.units += self.text.get(self.at..at).unwrap_or_default().encode_utf16().count();
        self.at = at;
        self.units
    }
}

/// A match with what is around it, counted as JavaScript counts. Matches come in their order and do not overlap.
fn shown(counted: &mut Utf16Count<'_>, span: &Range<usize>, around: usize, source: &str) -> Value {
    let text = counted.text;
    // By characters, so that no letter is cut in two.
    let before = text[..span.start].char_indices().rev().take(around).last().map_or(span.start, |(at, _)| at);
    let after = text[span.end..].char_indices().nth(around).map_or(text.len(), |(at, _)| span.end + at);
    let (start, end) = (counted.until(span.start), counted.until(span.end));
    json!({ "match": { "start": start, "end": end, "source": source }, "context": text[before..after] })
}

/// The notes for which a rule of JsonLogic holds.
pub struct RunLogic {
    pub vault: String,
    pub rule: Value,
}

const LOGIC: OperationDeclaration = OperationDeclaration { name: "rest/search-logic", recorded: true };

impl ReadOperation for RunLogic {
    fn declaration(&self) -> &'static OperationDeclaration {
        &LOGIC
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([("rule".to_owned(), self.rule.clone())])
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(Some(self.vault.clone())))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        // In JavaScript it is a value and not a rule, and one that says nothing about any note.
        if self.rule.as_object().is_some_and(Map::is_empty) {
            return Ok(hits(Vec::new()));
        }
        Ok(hits(note_hits::by_logic(context, vaults.one()?, &self.rule)?))
    }
}

/// The rows of a table query of Dataview.
pub struct RunDql {
    pub vault: String,
    pub query: String,
}

const DQL: OperationDeclaration = OperationDeclaration { name: "rest/search-dql", recorded: true };

impl ReadOperation for RunDql {
    fn declaration(&self) -> &'static OperationDeclaration {
        &DQL
    }

    fn arguments(&self) -> Map<String, Value> {
        Map::from_iter([("query".to_owned(), json!(self.query))])
    }

    fn group(&self) -> Result<Option<ToolGroup>, Reason> {
        Ok(Some(ToolGroup::Read))
    }

    fn vaults(&self, _: &[String]) -> Result<VaultChoice, Reason> {
        Ok(VaultChoice::One(Some(self.vault.clone())))
    }

    fn answer(&self, context: &Context<'_>, vaults: &OpenedVaults) -> Result<ReadPayload, Reason> {
        check_length(DQL.name, &self.query)?;
        let kind = self.query.split_whitespace().next().unwrap_or_default();
        // The plugin answers with rows of notes, which other queries do not have.
        if !kind.eq_ignore_ascii_case("table") {
            let problem = Prose::ours("only TABLE queries are answered here");
            return Err(Reason::QueryFailed { line: None, column: None, problem, nearest: None });
        }
        Ok(hits(note_hits::by_dql(context, vaults.one()?, &self.query)?.0))
    }
}

fn hits(found: Vec<note_hits::NoteHit>) -> ReadPayload {
    let hit = |(filename, result): note_hits::NoteHit| json!({ "filename": filename, "result": result });
    ReadPayload::Rest(RestPayload::Json(found.into_iter().map(hit).collect()))
}

/// Contexts repeat the text of notes, so a search for a letter could answer with the vault many times over.
fn most(total: &mut usize, bytes: usize) -> Result<(), Reason> {
    const LIMIT: usize = 64 << 20;
    *total += bytes;
    match *total > LIMIT {
        true => Err(Reason::ReplyTooLarge { bytes: *total as u64, limit: LIMIT as u64 }),
        false => Ok(()),
    }
}
