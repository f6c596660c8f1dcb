//! Queries in either language: which one a text is in, how it runs over a view, and its rows a page at a time.

mod base_page;
mod dql_page;

use std::ops::Range;

use lapidary_bases::{BaseFile, base_path_of, is_base_yaml};
use lapidary_dataview::{DqlExpression, DqlQuery, DqlWriter, meant_function};
use lapidary_operation::{Context, Reason, ReasonKind, WalkCost, clipped, quote::Prose};
use lapidary_query::{
    DroppedRows, QueryContext, QueryHalt, QueryLimits, QueryStep, QuerySyntaxError, joined_lines, nearest_several,
};
use lapidary_vault::{VaultPath, VaultRows, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{naming, reading};

pub use dql_page::NoFileOfRow;

/// How much one query may do, whatever it is given.
const LIMITS: QueryLimits = QueryLimits { steps: 400_000_000, bytes: 256 << 20, depth: 128 };

/// A query that was read.
pub enum ReadQuery {
    Dql(Box<DqlQuery>),
    Base(Box<BaseQuery>),
}

/// A base and the view of it that is wanted.
pub struct BaseQuery {
    base: BaseFile,
    /// Of the file; nothing for YAML that was sent.
    path: Option<VaultPath>,
    view: Option<String>,
}

/// What a text that was sent as a query is.
#[derive(Debug, PartialEq)]
enum QueryKind<'t> {
    Dql,
    /// JavaScript of the plugin, which is not run.
    Script,
    BaseYaml,
    BaseFile {
        path: &'t str,
        view: Option<&'t str>,
    },
}

impl<'t> QueryKind<'t> {
    /// Every text is one; what is none of them is read as DQL, whose errors say what it could be.
    fn of(text: &'t str) -> Self {
        if let Some((path, view)) = base_path_of(text) {
            return Self::BaseFile { path, view };
        }
        let trimmed = text.trim();
        // The three ways in which scripts of the plugin begin.
        if ["$=", "```dataviewjs", "dv."].iter().any(|start| trimmed.starts_with(start)) {
            return Self::Script;
        }
        if is_base_yaml(text) { Self::BaseYaml } else { Self::Dql }
    }
}

impl ReadQuery {
    /// `view` is the one of a base; a link to a base may name it too.
    pub fn read(context: &Context<'_>, view: &View, text: &str, base_view: Option<&str>) -> Result<Self, Reason> {
        match QueryKind::of(text) {
            QueryKind::Dql => Self::dql(text),
            QueryKind::Script => Err(Reason::QueryNotEvaluated { what: "DataviewJS", line: 1 }),
            QueryKind::BaseYaml => Self::base(text, None, base_view),
            QueryKind::BaseFile { path, view: linked } => {
                let found = naming::find(context, view, path)?;
                let shown = reading::show(&found.path, &found.file)?;
                // A view that was asked for wins over the one in the link.
                Self::base(shown.text(), Some(found.path), base_view.or(linked))
            }
        }
    }

    pub fn dql(text: &str) -> Result<Self, Reason> {
        DqlQuery::parse(text).map(|query| Self::Dql(Box::new(query))).map_err(unreadable)
    }

    /// The text of a base, which may stand in a file.
    pub fn base(yaml: &str, path: Option<VaultPath>, view: Option<&str>) -> Result<Self, Reason> {
        let base = BaseFile::parse(yaml).map_err(unreadable)?;
        // Checked here, so that the refusal can name the views that there are.
        if let Some(wanted) = view
            && !base.views().any(|view| view.name == wanted)
        {
            let views: Vec<&str> = base.views().map(|view| view.name).collect();
            // The nearest first, since only some are named.
            let near = nearest_several(wanted, views.iter().copied(), views.len());
            let mut named: Vec<String> = near.into_iter().map(str::to_owned).collect();
            named.extend(
                views
                    .iter()
                    .filter(|view| !named.iter().any(|known| known == *view))
                    .map(|view| (*view).to_owned())
                    .collect::<Vec<_>>(),
            );
            // Many views would fill the answer.
            named.truncate(MOST_VIEWS);
            return Err(Reason::ViewUnknown { view: clipped(wanted), views: named });
        }
        Ok(Self::Base(Box::new(BaseQuery { base, path, view: view.map(str::to_owned) })))
    }

    /// The result over the files that the view shows. `origin` is the note that `this` means; a base in a file is its own
    /// otherwise. Of the rows, only those of the page are made; without one, all.
    pub fn run(
        &self,
        context: &Context<'_>,
        view: &View,
        origin: Option<&VaultPath>,
        page: Option<Range<usize>>,
    ) -> Result<QueryResult, Reason> {
        let go_on = || context.cancel.check().is_ok();
        let rows = view.query_rows(&go_on).map_err(|error| Reason::from_index(&error, context.cancel))?;
        self.run_over(&rows, context, view, origin, page)
    }

    /// The same over rows that are at hand.
    pub fn run_over(
        &self,
        rows: &VaultRows<'_>,
        context: &Context<'_>,
        view: &View,
        origin: Option<&VaultPath>,
        page: Option<Range<usize>>,
    ) -> Result<QueryResult, Reason> {
        let go_on = || context.cancel.check().is_ok();
        let share = &context.progress;
        let progress = |done: u64, total: u64| share.report(done, total);
        let in_context = query_context(context, view, &go_on).with_window(page).with_progress(&progress);
        let halted = |halt: QueryHalt| refusal(halt, context);
        let result = match self {
            Self::Dql(query) => {
                let in_context = in_context.with_origin(origin.map(VaultPath::as_str));
                let answer = query.run(rows, &in_context).map_err(halted)?;
                // Looked for only if something seems wrong, as it costs another look at the vault.
                let hints = match answer.total {
                    0 => query.unknown_names(rows, &in_context),
                    _ => query.mistyped_columns(rows, &in_context),
                };
                let (steps_taken, zone) = (in_context.steps_taken(), in_context.zone.clone());
                let outcome = dql_page::DqlOutcome { answer, settings: in_context.dataview, zone };
                QueryResult { body: ResultBody::Dql(outcome), steps_taken, hints: hints.unwrap_or_default() }
            }
            Self::Base(query) => {
                // In the app, `this` of an embedded base is the note around it.
                let origin = origin.or(query.path.as_ref()).map(VaultPath::as_str);
                let in_context = in_context.with_origin(origin);
                let answer = query.base.run(query.view.as_deref(), rows, &in_context).map_err(halted)?;
                let hints = match answer.total {
                    0 => query.base.unknown_names(query.view.as_deref(), rows, &in_context),
                    _ => Ok(Vec::new()),
                };
                QueryResult {
                    body: ResultBody::Base(base_page::BaseResult {
                        path: query.path.as_ref().map(ToString::to_string),
                        problems: query.base.problems().to_vec(),
                        more_problems: query.base.more_problems(),
                        answer,
                    }),
                    steps_taken: in_context.steps_taken(),
                    hints: hints.unwrap_or_default(),
                }
            }
        };
        // A query that had to stop may have seen only some of the links.
        context.check()?;
        context.walked.set(Some(WalkCost { files: rows.count() as u64, bytes: 0, stopped: None }));
        Ok(result)
    }
}

const MOST_VIEWS: usize = 20;

/// Why a query may be refused.
pub const QUERY_REASONS: &[ReasonKind] = &[
    ReasonKind::QueryInvalid,
    ReasonKind::QueryFailed,
    ReasonKind::QueryTooLarge,
    ReasonKind::ViewUnknown,
    ReasonKind::NoteMissing,
];

/// A query as callers send it.
pub struct AskedQuery<'a> {
    /// DQL, the path of a base, or its YAML.
    pub query: &'a str,
    /// The view of a base.
    pub view: Option<&'a str>,
    /// The note that `this` is.
    pub note: Option<&'a str>,
}

impl AskedQuery<'_> {
    /// Reads and runs it. Of the rows, only those of the page are made; without one, all.
    pub fn run(&self, context: &Context<'_>, view: &View, page: Option<Range<usize>>) -> Result<QueryResult, Reason> {
        // By any of its names, like every note that a caller mentions.
        let origin = self.note.map(|note| naming::find(context, view, note)).transpose()?;
        let query = ReadQuery::read(context, view, self.query, self.view)?;
        query.run(context, view, origin.as_ref().map(|found| &found.path), page)
    }
}

/// The clock, the owner's settings and the budgets of a call.
pub fn query_context<'q>(context: &Context<'_>, view: &View, go_on: &'q (dyn Fn() -> bool + Sync)) -> QueryContext<'q> {
    let now = &*context.now;
    QueryContext::new(now.timestamp(), now.time_zone().clone(), go_on)
        .with_limits(LIMITS)
        .with_dataview(view.dataview_settings())
}

/// What an inline query in a note shows, within its line; of one that fails, the message of the app.
pub fn inline_text(
    rows: &VaultRows<'_>,
    context: &Context<'_>,
    view: &View,
    note: &VaultPath,
    expression: &str,
) -> Result<String, Reason> {
    let go_on = || context.cancel.check().is_ok();
    let parsed = match DqlExpression::parse(expression) {
        Ok(parsed) => parsed,
        Err(error) => {
            let (written, error) = (clipped(expression), clipped(&error.to_string()));
            // As the app shows it in the place of the query; the note itself is not refused.
            return Ok(format!("Dataview (inline field '{written}'): {error}"));
        }
    };
    let in_context = query_context(context, view, &go_on).with_origin(Some(note.as_str()));
    let settings = &in_context.dataview;
    let text = match parsed.evaluate(rows, &in_context) {
        Ok(value) => DqlWriter::new(settings, in_context.zone.clone()).inline_text(&value),
        Err(QueryHalt::Failed { message, .. }) => {
            let message = clipped(&on_one_line(&message));
            let written = clipped(expression);
            format!("Dataview (for inline query '{} {written}'): {message}", settings.inline_prefix)
        }
        Err(halt) => return Err(refusal(halt, context)),
    };
    Ok(joined_lines(&text).into_owned())
}

/// That a query cannot be read, and where.
pub fn unreadable(error: QuerySyntaxError) -> Reason {
    let QuerySyntaxError { line, column, message, expected, nearest } = error;
    // Words of the parser may quote the query, so they count as foreign text.
    Reason::QueryUnreadable { line, column, problem: Prose::of_others(clipped(&message)), expected, nearest }
}

/// Why a query that could be read has no result.
pub fn refusal(halt: QueryHalt, context: &Context<'_>) -> Reason {
    match halt {
        QueryHalt::Cancelled => {
            // A thread that worked for the call may have found no memory, which ends the call here.
            lapidary_note::check_work();
            let ended = context.cancel.check().err();
            ended.unwrap_or_else(|| Reason::QueryTooLarge { problem: Prose::ours("it was cancelled") })
        }
        QueryHalt::Failed { message, place } => Reason::QueryFailed {
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            // A message about an unknown function names it, and the nearest one is the best hint.
            nearest: meant_function(&message),
            problem: Prose::of_others(clipped(&on_one_line(&message))),
        },
        halt @ (QueryHalt::TooManySteps { .. } | QueryHalt::TooMuchMemory { .. }) => {
            Reason::QueryTooLarge { problem: Prose::ours(halt) }
        }
    }
}

/// The lines of a message as one, each only once: most rows fail in the same way.
fn on_one_line(message: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in message.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.join(" ")
}

/// What a query came to.
pub struct QueryResult {
    body: ResultBody,
    /// How much work it was, in steps of the language.
    pub steps_taken: u64,
    /// What may be misspelt, if there are no rows or a column is empty. A search for that which takes too long is given up.
    hints: Vec<String>,
}

enum ResultBody {
    Dql(dql_page::DqlOutcome),
    Base(base_page::BaseResult),
}

/// How a result is written.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum QueryFormat {
    #[default]
    Rows,
    Md,
    Csv,
    Json,
    Paths,
}

/// Which part of a result, and how.
pub struct PageRequest<'r> {
    pub offset: usize,
    pub limit: usize,
    /// About how many bytes there is room for; one row is sent in any case.
    pub room: usize,
    pub format: QueryFormat,
    /// Ids or headers of columns to leave out.
    pub without: &'r [String],
}

/// One page of a result.
#[derive(Debug, Default)]
pub struct QueryPage {
    /// What a program reads: `type`, and the rows unless a text was asked for.
    pub fields: Map<String, Value>,
    /// What was asked for as text, or the rows as Markdown.
    pub text: String,
    /// How many rows are on it.
    pub shown: usize,
    pub total: usize,
}

impl QueryResult {
    pub fn total(&self) -> usize {
        match &self.body {
            ResultBody::Dql(dql) => dql.answer.total,
            ResultBody::Base(base) => base.answer.count,
        }
    }

    /// What the app does not mention: rows that errors left out.
    pub fn dropped(&self) -> &[DroppedRows] {
        match &self.body {
            ResultBody::Dql(dql) => &dql.answer.dropped,
            ResultBody::Base(base) => &base.answer.dropped,
        }
    }

    pub fn steps(&self) -> &[QueryStep] {
        match &self.body {
            ResultBody::Dql(dql) => &dql.answer.steps,
            ResultBody::Base(base) => &base.answer.steps,
        }
    }

    /// What else a reader should know.
    pub fn warnings(&self) -> Vec<String> {
        let warnings = match &self.body {
            ResultBody::Dql(_) => Vec::new(),
            ResultBody::Base(base) => base.warnings(),
        };
        // A name in a query may be as long as the query.
        warnings.into_iter().chain(self.hints.iter().map(|hint| clipped(hint))).collect()
    }

    pub fn language(&self) -> &'static str {
        match &self.body {
            ResultBody::Dql(_) => "dql",
            ResultBody::Base(_) => "base",
        }
    }

    /// Each row under the file that it is of, as the Local REST API answered.
    pub fn hits(&self) -> Result<Vec<(String, Value)>, NoFileOfRow> {
        match &self.body {
            ResultBody::Dql(dql) => dql.has_files().map(|()| dql.hits(&dql.answer.result)),
            ResultBody::Base(_) => Ok(Vec::new()),
        }
    }

    pub fn page(self, request: &PageRequest<'_>) -> QueryPage {
        let total = self.total();
        let page = match self.body {
            ResultBody::Dql(dql) => dql.page(request),
            ResultBody::Base(base) => base.page(request),
        };
        QueryPage { total, ..page }
    }
}

impl PageRequest<'_> {
    /// The rows of the page, as far as they could be there.
    fn range(&self, total: usize) -> Range<usize> {
        let start = self.offset.min(total);
        start..start.saturating_add(self.limit).min(total)
    }

    fn leaves_out(&self, id: &str, name: &str) -> bool {
        self.without.iter().any(|column| column == id || column == name)
    }

    /// How many of these sizes fit; the first always does.
    fn fitting(&self, sizes: impl Iterator<Item = usize>) -> usize {
        let mut used = 0_usize;
        let fit = sizes.take_while(|size| {
            let first = used == 0;
            used = used.saturating_add(*size + 1);
            // At least one row, or a page could never be passed.
            first || used <= self.room
        });
        fit.count()
    }
}

/// Where the rows of a page are among those that were made, which begin at `first` of all.
fn made(page: &Range<usize>, first: usize, count: usize) -> Range<usize> {
    let place = |at: usize| at.saturating_sub(first).min(count);
    place(page.start)..place(page.end)
}

/// How many bytes a value takes as JSON.
fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_tells_its_language() {
        let file = |path, view| QueryKind::BaseFile { path, view };
        for (text, expected) in [
            ("TABLE x", QueryKind::Dql),
            ("$= dv.current()", QueryKind::Script),
            ("```dataviewjs\nx\n```", QueryKind::Script),
            ("// c\nlist from \"a.base\"", QueryKind::Dql),
            ("nonsense", QueryKind::Dql),
            ("", QueryKind::Dql),
            ("views:\n  - type: table", QueryKind::BaseYaml),
            ("\nfilters: file.ext == \"md\"", QueryKind::BaseYaml),
            ("# c\n\"formulas\":\n  a: 1", QueryKind::BaseYaml),
            ("Books/List.base", file("Books/List.base", None)),
            (" ![[List.base#Open]] ", file("List.base", Some("Open"))),
            ("List.BASE#", file("List.BASE", None)),
        ] {
            assert_eq!(QueryKind::of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_page_holds_what_fits_and_one_row_in_any_case() {
        let request = |room| PageRequest { offset: 0, limit: 9, room, format: QueryFormat::Rows, without: &[] };
        assert_eq!(request(10).fitting([4, 4, 4].into_iter()), 2);
        assert_eq!(request(1).fitting([40, 1].into_iter()), 1);
        assert_eq!(request(1).fitting([0; 0].into_iter()), 0);
        assert_eq!((request(1).range(4), PageRequest { offset: 5, ..request(1) }.range(4)), (0..4, 4..4));
    }
}
