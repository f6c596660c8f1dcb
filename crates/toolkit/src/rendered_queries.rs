//! A note as a person sees it in the app: the results of its query blocks, embedded bases and inline queries in their
//! places.

use std::{borrow::Cow, ops::Range};

use lapidary_dataview::{InlineCode, QueryBlock};
use lapidary_note::{CodeKind, Note, counted};
use lapidary_operation::{Context, Reason};
use lapidary_query::DataviewSettings;
use lapidary_vault::{VaultPath, VaultRows, View};

use crate::{
    naming,
    querying::{PageRequest, QueryFormat, ReadQuery, inline_text},
};

/// How much of the results of one note is shown.
#[derive(Clone, Copy, Debug)]
pub struct RenderLimits {
    /// What all results may take.
    pub room: usize,
    /// Of one result.
    pub rows: usize,
    /// More are not looked at.
    pub queries: usize,
}

impl RenderLimits {
    /// For a note that a model reads.
    pub const ANSWER: Self = Self { room: 24_000, rows: 200, queries: 100 };
}

/// The text of a note with results in it.
pub struct RenderedNote {
    pub text: String,
    pub count: RenderedCount,
}

/// What is in the place of queries, and what is not.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderedCount {
    pub shown: usize,
    /// Results that end in the middle.
    pub cut: usize,
    /// Queries that were not looked at.
    pub left: usize,
    /// Rows behind the last one that a result has.
    pub more_rows: usize,
}

impl RenderedCount {
    pub fn add(&mut self, other: &Self) {
        self.shown += other.shown;
        self.cut += other.cut;
        self.left += other.left;
        self.more_rows += other.more_rows;
    }

    /// What a reader of the note has to know, if any result is in it.
    pub fn notice(&self) -> Option<String> {
        let Self { shown, cut, left, .. } = self;
        let queries = match shown {
            0 => return None,
            1 => "One query is".to_owned(),
            _ => format!("{shown} queries are"),
        };
        let mut notice = format!("{queries} shown as results; to edit the note, read it without `renderQueries`.");
        if cut + left > 0 {
            notice += &format!(" {} of {} are cut for length.", cut + left, shown + left);
        }
        Some(notice)
    }
}

/// A query in a note.
struct QueryPlace {
    /// What its result takes the place of.
    span: Range<usize>,
    kind: PlaceKind,
}

enum PlaceKind {
    Dql(String),
    Base(String),
    /// `![[File.base#View]]`
    EmbeddedBase {
        target: String,
        view: Option<String>,
    },
    Inline(String),
    /// Code in JavaScript, by its name.
    Script(&'static str),
}

/// Fills in the results. A query that has none is replaced by why, as the app does it.
pub fn render_queries(
    context: &Context<'_>,
    view: &View,
    path: &VaultPath,
    note: &Note<'_>,
    limits: RenderLimits,
) -> Result<RenderedNote, Reason> {
    let mut places = query_places(note, &view.dataview_settings());
    let all = places.len();
    // Each may look at the whole vault.
    places.truncate(limits.queries);
    let mut count = RenderedCount { shown: places.len(), left: all - places.len(), ..RenderedCount::default() };
    if places.is_empty() {
        return Ok(RenderedNote { text: note.text.to_owned(), count });
    }
    let go_on = || context.cancel.check().is_ok();
    // Once for all queries of the note.
    let rows = view.query_rows(&go_on).map_err(|error| Reason::from_index(&error, context.cancel))?;
    let filling = QueryFilling { context, view, path, rows: &rows };
    let (mut text, mut at, mut room) = (String::with_capacity(note.text.len()), 0, limits.room);
    for place in &places {
        context.check()?;
        let (result, more_rows) = filling.result(&place.kind, room, limits.rows)?;
        count.more_rows += more_rows;
        let result = match result.char_indices().nth(room) {
            Some((end, _)) if room > 0 => {
                count.cut += 1;
                // Whole lines: half a row of a table would not be one.
                let end = result[..end].rfind('\n').map_or(0, |end| end + 1);
                // Behind a blank line: it is not one more row.
                Cow::Owned(format!("{}\n…", &result[..end]))
            }
            Some(_) => {
                count.cut += 1;
                Cow::Borrowed("…")
            }
            None => result,
        };
        room = room.saturating_sub(result.len());
        text += &note.text[at..place.span.start];
        text += &prefixed(&result, line_prefix(note.text, place.span.start));
        at = place.span.end;
    }
    text += &note.text[at..];
    Ok(RenderedNote { text, count })
}

/// In the order of the text, none within another.
fn query_places(note: &Note<'_>, settings: &DataviewSettings) -> Vec<QueryPlace> {
    let in_code = note.code.iter().filter_map(|code| {
        let content = &note.text[code.content.clone()];
        let kind = match &code.kind {
            CodeKind::Fenced { language } => {
                let inner = || unprefixed(content, line_prefix(note.text, code.span.start));
                let word = language.clone().map_or("", |language| &note.text[language]);
                match QueryBlock::of(word, settings) {
                    Some(QueryBlock::Query) => PlaceKind::Dql(inner()),
                    Some(QueryBlock::Script) => PlaceKind::Script("a DataviewJS block"),
                    None if word == "base" => PlaceKind::Base(inner()),
                    None => return None,
                }
            }
            CodeKind::Span => match InlineCode::of(content.trim(), settings) {
                InlineCode::Expression(expression) => PlaceKind::Inline(expression.to_owned()),
                InlineCode::Script(_) => PlaceKind::Script("an inline DataviewJS query"),
                InlineCode::Text => return None,
            },
            CodeKind::Indented => return None,
        };
        Some(QueryPlace { span: code.span.clone(), kind })
    });
    let embedded = note.links.iter().filter(|link| link.embed && link.internal).filter_map(|link| {
        let target = link.target(note.text);
        let is_base = target.to_lowercase().ends_with(".base");
        let view = link.subpath.clone().map(|subpath| note.text[subpath].trim_start_matches('#').to_owned());
        let kind = || PlaceKind::EmbeddedBase { target: target.clone().into_owned(), view };
        is_base.then(|| QueryPlace { span: link.span.clone(), kind: kind() })
    });
    let mut places: Vec<QueryPlace> = in_code.chain(embedded).collect();
    // Code and embeds come from two lists.
    places.sort_by_key(|place| place.span.start);
    let mut end = 0;
    places.retain(|place| {
        let apart = place.span.start >= end;
        if apart {
            end = place.span.end;
        }
        apart
    });
    places
}

/// What is in front of a block on its first line: the marks of quotes and lists around it.
fn line_prefix(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    &text[start..at]
}

/// The lines of a block without the prefix of each.
fn unprefixed(content: &str, prefix: &str) -> String {
    // In a quote, each line has its marks again, with or without a blank behind them.
    let depth = prefix.chars().filter(|c| *c == '>').count();
    let width = prefix.chars().count();
    let line = |line: &str| {
        let mut rest = line;
        if depth > 0 {
            for _ in 0..depth {
                rest = rest.trim_start_matches([' ', '\t']);
                rest = rest.strip_prefix('>').unwrap_or(rest);
            }
            return rest.strip_prefix(' ').unwrap_or(rest).to_owned();
        }
        // In a list, a line is indented by the width of the marker at most.
        let blanks = rest.chars().take(width).take_while(|c| matches!(c, ' ' | '\t')).map(char::len_utf8).sum();
        rest = &rest[blanks..];
        rest.to_owned()
    };
    content.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A result whose further lines belong to the same quote or list item as its first.
fn prefixed(result: &str, prefix: &str) -> String {
    let result = result.trim_end_matches('\n');
    let is_prefix = prefix
        .chars()
        .all(|c| matches!(c, '>' | ' ' | '\t' | '-' | '*' | '+' | '.' | ')' | '[' | ']') || c.is_ascii_digit());
    // Of words in front of it, only the quote around them goes on.
    let words = prefix.find(|c| !matches!(c, '>' | ' ' | '\t')).filter(|_| !is_prefix).unwrap_or(prefix.len());
    // Behind the first line, the marker of an item is room.
    let further: String = prefix[..words].chars().map(|c| if matches!(c, '>' | '\t') { c } else { ' ' }).collect();
    if further.is_empty() {
        return result.to_owned();
    }
    result.replace('\n', &format!("\n{further}"))
}

/// A result in which what follows a table, such as its sums, is behind a blank line: else it would be one more row.
fn apart(result: &str) -> String {
    let mut text = String::with_capacity(result.len());
    let mut was_row = false;
    for line in result.split_inclusive('\n') {
        let is_row = line.starts_with('|');
        if was_row && !is_row && !line.trim().is_empty() {
            text.push('\n');
        }
        text.push_str(line);
        was_row = is_row;
    }
    text
}

struct QueryFilling<'f, 'c> {
    context: &'f Context<'c>,
    view: &'f View,
    path: &'f VaultPath,
    rows: &'f VaultRows<'f>,
}

impl QueryFilling<'_, '_> {
    /// The result and how many rows it does not have, or why there is none. Only what ends the whole call is an error.
    fn result(&self, kind: &PlaceKind, room: usize, rows: usize) -> Result<(Cow<'static, str>, usize), Reason> {
        let query = match kind {
            PlaceKind::Script(what) => {
                return Ok((Cow::Owned(format!("({what} is JavaScript, which is not run here)")), 0));
            }
            PlaceKind::Inline(expression) => {
                let made = inline_text(self.rows, self.context, self.view, self.path, expression);
                return self.or_why(made.map(|text| (Cow::Owned(text), 0)));
            }
            PlaceKind::Dql(text) => ReadQuery::dql(text),
            PlaceKind::Base(yaml) => ReadQuery::base(yaml, None, None),
            // Through the view of the call: an embedded base that the caller may not read does not exist for it.
            PlaceKind::EmbeddedBase { target, view } => {
                naming::find(self.context, self.view, target).and_then(|found| {
                    let shown = crate::reading::show(&found.path, &found.file)?;
                    ReadQuery::base(shown.text(), Some(found.path), view.as_deref())
                })
            }
        };
        let made = query.and_then(|query| {
            let result = query.run_over(self.rows, self.context, self.view, Some(self.path), Some(0..rows))?;
            let request =
                PageRequest { offset: 0, limit: rows, room: room.max(1), format: QueryFormat::Md, without: &[] };
            let page = result.page(&request);
            let rest = page.total.saturating_sub(page.shown);
            // Behind a blank line: it is not one more row.
            let more = if rest > 0 { format!("\n… {}\n", counted(rest, "more row")) } else { String::new() };
            Ok((Cow::Owned(format!("{}{more}", apart(&page.text))), rest))
        });
        self.or_why(made)
    }

    fn or_why(&self, made: Result<(Cow<'static, str>, usize), Reason>) -> Result<(Cow<'static, str>, usize), Reason> {
        match made {
            Err(reason) => {
                // A caller that no longer waits gets no note either.
                self.context.check()?;
                Ok((Cow::Owned(format!("({reason})")), 0))
            }
            made => made,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        let note = Note::parse(text);
        let one = |place: QueryPlace| match place.kind {
            PlaceKind::Dql(text) => format!("dql {text:?}"),
            PlaceKind::Base(text) => format!("base {text:?}"),
            PlaceKind::EmbeddedBase { target, view } => format!("embedded {target} {view:?}"),
            PlaceKind::Inline(text) => format!("inline {text}"),
            PlaceKind::Script(what) => what.to_owned(),
        };
        query_places(&note, &DataviewSettings::default()).into_iter().map(one).collect()
    }

    #[test]
    fn every_kind_of_query_in_a_note_is_found() {
        let text = "`= this.a` and `code` and `=` `$= dv`\n\n```dataview\nLIST\nFROM #x\n```\n\n> ```base\n> views:\n>   - type: table\n> ```\n\n- x\n  ```dataviewjs\n  y\n  ```\n![[B.base#Open]] ![[B.md]]\n```js\n```\n";
        assert_eq!(
            kinds(text),
            [
                "inline this.a",
                "an inline DataviewJS query",
                "dql \"LIST\\nFROM #x\\n\"",
                "base \"views:\\n  - type: table\\n\"",
                "a DataviewJS block",
                "embedded B.base Some(\"Open\")",
            ]
        );
    }

    #[test]
    fn what_follows_a_table_is_not_a_row_of_it() {
        assert_eq!(
            apart("| a |\n| --- |\n| 1 |\nSum: 1\nMin: 1\n\n| b |\n"),
            "| a |\n| --- |\n| 1 |\n\nSum: 1\nMin: 1\n\n| b |\n"
        );
        assert_eq!(apart("- a\nb\n"), "- a\nb\n");
    }

    #[test]
    fn results_stay_in_their_quote_or_list() {
        assert_eq!(prefixed("a\nb\n", "> "), "a\n> b");
        assert_eq!(prefixed("a\nb", "- "), "a\n  b");
        assert_eq!(prefixed("a\nb", "see "), "a\nb");
        assert_eq!(prefixed("a\nb", "> > see "), "a\n> > b");
        assert_eq!(prefixed("a\nb", "> 1999: "), "a\n> b");
    }
}
