//! What a document is made of: the blocks of a note, rows, and what it says of itself.

use std::borrow::Cow;

use lapidary_note::{Document, HeldMemory, YamlValue, counted};
use lapidary_office::{
    BlockContent, BodyBlock, BodyTable, CellValue, DocumentBody, DocumentFacts, InlineRun, MarkdownFault, OfficeFormat,
    RunContent, SheetTable, csv_price, csv_table, dated_cell, markdown, plain_text, typed_cell,
};
use lapidary_operation::{
    Context, Reason, clipped,
    quote::{Prose, quoted},
};
use lapidary_toolkit::{
    naming::{self, NamedFile},
    properties::NoteProperties,
    querying::{AskedQuery, PageRequest, QueryFormat},
    reading,
    rendered_queries::RenderedCount,
};
use lapidary_vault::{VaultPath, View};
use serde_json::Value;

use super::{Input, embedding::EmbedReader};

pub(super) struct GatheredDocument {
    pub(super) body: DocumentBody,
    pub(super) rows: Option<SheetTable>,
    pub(super) facts: DocumentFacts,
    /// The properties of the note, for a template.
    pub(super) properties: Vec<(String, CellValue)>,
    /// Whether the body is that of a note of the vault.
    pub(super) is_note: bool,
    left_out: Vec<String>,
    more_notices: Vec<String>,
    /// What rows and pictures take in memory; the body counts itself.
    pub(super) held: HeldMemory,
}

/// How many embeds a notice names.
const NAMED: usize = 10;
/// Rows of a query, and what they may take as JSON.
const MOST_ROWS: usize = 200_000;
const MOST_ROW_BYTES: usize = 32 << 20;
/// What a row of a query takes while it is read, in several forms, and what all of them take at most.
const ROW_PRICE: usize = 1 << 10;
const MOST_ROW_PRICE: u64 = 4 * MOST_ROW_BYTES as u64;
/// Cells of one table, with those that are empty because another row is longer. A cell of a workbook is a few bytes, one of a
/// document or a slide is a paragraph.
const MOST_SHEET_CELLS: usize = 1_000_000;
const MOST_CELLS: usize = 200_000;
/// What a cell takes as a value, and as the runs of a paragraph, in addition to its text.
const CELL_PRICE: usize = 64;
const RUNS_PRICE: usize = 384;

/// Refuses too many sources and none at all.
pub(super) fn check_sources(tool: &str, input: &Input) -> Result<(), Reason> {
    let texts = usize::from(input.note.is_some()) + usize::from(input.content.is_some());
    let rows = usize::from(input.query.is_some()) + usize::from(input.rows.is_some());
    let (argument, problem) = match (texts, rows) {
        (0, 0) => ("note", "is required, or `content`, `query` or `rows` in its place"),
        (2, _) => ("content", "cannot be given beside `note`"),
        (_, 2) => ("rows", "cannot be given beside `query`"),
        (1, 1) if input.template.is_none() => {
            (if input.rows.is_some() { "rows" } else { "query" }, "needs a `template` to be given beside a text")
        }
        _ if input.view.is_some() && input.query.is_none() => ("view", "needs the base that it is of in `query`"),
        _ => return Ok(()),
    };
    Err(Reason::bad_argument(tool, argument, problem))
}

pub(super) fn gather(
    tool: &str,
    context: &Context<'_>,
    view: &View,
    path: &VaultPath,
    format: OfficeFormat,
    input: &Input,
) -> Result<GatheredDocument, Reason> {
    let mut gathered = GatheredDocument {
        body: DocumentBody::default(),
        rows: None,
        facts: DocumentFacts::default(),
        properties: Vec::new(),
        is_note: false,
        left_out: Vec::new(),
        more_notices: Vec::new(),
        held: HeldMemory::default(),
    };
    let rows_for = RowsPlace { tool, is_sheet: format == OfficeFormat::Xlsx || input.template.is_some() };
    let mut named = naming::title(path).to_owned();
    if let Some(note) = &input.note {
        let NamedFile { path: source, file, .. } = naming::find(context, view, note)?;
        let shown = reading::show(&source, &file)?;
        let ending = source.name().rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_lowercase());
        match &*ending {
            "md" => {
                // From what is shown, so that a note that is not all UTF-8 can become a document as well.
                let document = Document::open(shown.text().to_owned())
                    .map_err(|_| Reason::NotText { path: source.clone(), valid_up_to: None })?;
                gathered.is_note = true;
                gathered.read_note(tool, "note", context, view, &source, &document)?;
            }
            "csv" | "tsv" => {
                gathered.held.add(csv_price(shown.text()));
                gathered.rows = Some(rows_for.checked("note", csv_table(shown.text()))?);
            }
            "base" => {
                return Err(Reason::bad_argument(tool, "note", "must be a note or a CSV file; a base is a `query`"));
            }
            _ => return Err(Reason::bad_argument(tool, "note", "must be a note or a CSV file")),
        }
        naming::title(&source).clone_into(&mut named);
    }
    if let Some(content) = &input.content {
        let document =
            Document::open(content.clone()).map_err(|_| Reason::bad_argument(tool, "content", "must be text"))?;
        gathered.read_note(tool, "content", context, view, path, &document)?;
        // A text without a name is called as it begins.
        if let Some(heading) = gathered.body.first_heading() {
            named = heading;
        }
    }
    if let Some(query) = &input.query {
        let asked = AskedQuery { query, view: input.view.as_deref(), note: None };
        gathered.read_query(context, view, &asked, &rows_for)?;
    }
    if let Some(rows) = &input.rows {
        gathered.rows = Some(table_of(&rows_for, rows, &mut gathered.held)?);
    }
    let facts = &mut gathered.facts;
    let title = [input.title.clone(), Some(std::mem::take(&mut facts.title)), Some(named)];
    facts.title = title.into_iter().flatten().find(|title| !title.trim().is_empty()).unwrap_or_default();
    if let Some(rows) = gathered.rows.as_mut().filter(|rows| rows.name.is_empty()) {
        naming::title(path).clone_into(&mut rows.name);
    }
    if format == OfficeFormat::Xlsx && input.template.is_none() && !gathered.body.pictures.is_empty() {
        gathered.more_notices.push("A workbook has the tables of the note alone.".to_owned());
    }
    Ok(gathered)
}

impl GatheredDocument {
    fn read_note(
        &mut self,
        tool: &str,
        argument: &'static str,
        context: &Context<'_>,
        view: &View,
        path: &VaultPath,
        document: &Document,
    ) -> Result<(), Reason> {
        self.read_properties(&NoteProperties::of(document));
        let mut embeds = EmbedReader::new(context, view);
        let text = embeds.note_text(path, document)?;
        let read = markdown(path.as_str(), &text, &mut |wanted| embeds.read(wanted));
        let read = read.map_err(|fault| match fault {
            MarkdownFault::Embed(reason) => reason,
            MarkdownFault::TooLong { limit } => {
                let problem = format!("has, with what it embeds, more than {limit} bytes");
                Reason::bad_argument(tool, argument, Prose::ours(problem))
            }
        })?;
        context.check()?;
        (self.body, self.left_out) = (read.body, read.left_out);
        self.more_notices.extend(query_notices(&embeds.queries));
        self.held.add(embeds.shown_bytes());
        Ok(())
    }

    fn read_properties(&mut self, properties: &NoteProperties) {
        let entries = properties.readable();
        let text = |names: &[&str]| {
            let found =
                names.iter().find_map(|name| entries.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)));
            found.map_or(String::new(), |(_, value)| words(value))
        };
        let day = |names: &[&str]| moment_of(&text(names));
        self.facts = DocumentFacts {
            title: text(&["title"]),
            author: text(&["author", "authors", "creator"]),
            keywords: match entries.iter().find(|(name, _)| matches!(name.to_lowercase().as_str(), "tags" | "tag")) {
                Some((_, YamlValue::List(tags))) => tags.iter().map(words).filter(|tag| !tag.is_empty()).collect(),
                // Obsidian also takes tags that are written as one text.
                Some((_, value)) => {
                    words(value).split([',', ' ']).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
                }
                None => Vec::new(),
            },
            description: text(&["description", "subject"]),
            created: day(&["created", "date"]),
            modified: day(&["modified", "updated"]),
        };
        self.properties = entries.iter().map(|(name, value)| (name.clone(), cell_of(value))).collect();
    }

    fn read_query(
        &mut self,
        context: &Context<'_>,
        view: &View,
        asked: &AskedQuery<'_>,
        rows_for: &RowsPlace<'_>,
    ) -> Result<(), Reason> {
        let request = |format| PageRequest { offset: 0, limit: MOST_ROWS, room: MOST_ROW_BYTES, format, without: &[] };
        let result = asked.run(context, view, Some(0..MOST_ROWS))?;
        let dropped: usize = result.dropped().iter().map(|dropped| dropped.count).sum();
        let row_price = (result.total().min(MOST_ROWS) * ROW_PRICE) as u64;
        let _reading = HeldMemory::of(row_price.min(MOST_ROW_PRICE));
        let page = result.page(&request(QueryFormat::Rows));
        let (shown, total) = (page.shown, page.total);
        let names = |column: &Value| column.as_str().or(column["name"].as_str()).unwrap_or_default().to_owned();
        let list = |name: &str| page.fields.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let table = match page.fields.get("columns").and_then(Value::as_array) {
            // A base: each row has its values by the ids of the columns.
            Some(columns) => {
                let ids: Vec<&str> = columns.iter().filter_map(|column| column["id"].as_str()).collect();
                let cells = |row: &Value| ids.iter().map(|id| typed_value(&row["values"][*id])).collect();
                SheetTable {
                    name: page.fields.get("view").and_then(Value::as_str).unwrap_or_default().to_owned(),
                    columns: columns.iter().map(names).collect(),
                    rows: list("rows").iter().map(cells).collect(),
                }
            }
            None if page.fields.contains_key("headers") => {
                let cells = |row: &Value| row.as_array().into_iter().flatten().map(typed_value).collect();
                SheetTable {
                    name: String::new(),
                    columns: list("headers").iter().map(names).collect(),
                    rows: list("rows").iter().map(cells).collect(),
                }
            }
            // Lists, tasks and calendars are written as separated values in the same columns as everywhere.
            // A page consumes its result, so the query is run again.
            None => {
                let text = asked.run(context, view, Some(0..MOST_ROWS))?.page(&request(QueryFormat::Csv)).text;
                self.held.add(csv_price(&text));
                csv_table(&text)
            }
        };
        let table = rows_for.checked("query", table)?;
        self.held.add(cells_price(&table, CELL_PRICE));
        if shown < total {
            self.more_notices.push(format!("Only {shown} of {total} rows are in it."));
        }
        if dropped > 0 {
            self.more_notices.push(format!("Errors in the query left out {}.", counted(dropped, "row")));
        }
        self.rows = Some(table);
        Ok(())
    }

    /// What all of it takes in memory.
    pub(super) fn memory(&self) -> u64 {
        self.held.bytes() + self.body.held.bytes()
    }

    /// What is not in the document, in sentences.
    pub(super) fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if !self.left_out.is_empty() {
            let named: Vec<String> =
                self.left_out.iter().take(NAMED).map(|written| quoted(&clipped(written)).to_string()).collect();
            let more = match self.left_out.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            notices.push(format!("Left out, because there is nothing to show for them: {}{more}.", named.join(", ")));
        }
        notices.extend(self.more_notices.iter().cloned());
        notices
    }

    /// The blocks of the document: those of the note, or the rows as a table.
    pub(super) fn shown_body(&self) -> Cow<'_, DocumentBody> {
        let Some(rows) = self.rows.as_ref().filter(|_| self.body.blocks.is_empty()) else {
            return Cow::Borrowed(&self.body);
        };
        let held = HeldMemory::of(cells_price(rows, RUNS_PRICE));
        let cell = |text: String| {
            let mut runs = Vec::new();
            // A cell is one paragraph, and its lines are kept as breaks.
            for line in text.split('\n') {
                if !runs.is_empty() {
                    runs.push(InlineRun { content: RunContent::Break, ..InlineRun::text("") });
                }
                runs.push(InlineRun::text(line));
            }
            runs
        };
        let head = rows.columns.iter().map(|name| cell(name.clone())).collect();
        let lines = rows.rows.iter().map(|row| row.iter().map(|value| cell(value.shown())).collect());
        let table = BodyTable { sides: Vec::new(), rows: std::iter::once(head).chain(lines).collect() };
        let title = BlockContent::Heading(1, vec![InlineRun::text(self.facts.title.as_str())]);
        let blocks = [title, BlockContent::Table(table)].into_iter().map(BodyBlock::plain).collect();
        Cow::Owned(DocumentBody { blocks, held, ..DocumentBody::default() })
    }

    /// The rows, or the tables of the note under the headings above them.
    pub(super) fn sheets(&self) -> Cow<'_, [SheetTable]> {
        if let Some(rows) = &self.rows {
            return Cow::Borrowed(std::slice::from_ref(rows));
        }
        let (mut tables, mut heading) = (Vec::new(), self.facts.title.clone());
        for block in &self.body.blocks {
            match &block.content {
                BlockContent::Heading(_, runs) => heading = plain_text(runs),
                BlockContent::Table(table) => {
                    let mut rows = table.rows.iter();
                    let columns = rows.next().into_iter().flatten().map(|cell| plain_text(cell)).collect();
                    let cells =
                        |row: &Vec<Vec<InlineRun>>| row.iter().map(|cell| typed_cell(&plain_text(cell))).collect();
                    tables.push(SheetTable { name: heading.clone(), columns, rows: rows.map(cells).collect() });
                }
                _ => {}
            }
        }
        Cow::Owned(tables)
    }
}

/// Where rows come to be, which decides how many there may be.
struct RowsPlace<'t> {
    tool: &'t str,
    /// In a workbook or a template.
    is_sheet: bool,
}

impl RowsPlace<'_> {
    /// The table, unless it is too large.
    fn checked(&self, argument: &'static str, table: SheetTable) -> Result<SheetTable, Reason> {
        let widest = table.rows.iter().map(Vec::len).fold(table.columns.len(), usize::max);
        self.check(argument, widest, table.rows.len()).map(|()| table)
    }

    /// Every row is filled up to the longest one, so a few long lines and many short ones are a large table.
    fn check(&self, argument: &'static str, columns: usize, rows: usize) -> Result<(), Reason> {
        let most = if self.is_sheet { MOST_SHEET_CELLS } else { MOST_CELLS };
        if columns.saturating_mul(rows.saturating_add(1)) <= most {
            return Ok(());
        }
        let (columns, rows) = (counted(columns, "column"), counted(rows, "row"));
        let problem = format!("makes a table of {columns} and {rows}, which is more than {most} cells");
        Err(Reason::bad_argument(self.tool, argument, Prose::ours(problem)))
    }
}

/// What the cells of a table take in memory, in a form that takes so much for each.
fn cells_price(table: &SheetTable, price: usize) -> u64 {
    let text = |value: &CellValue| match value {
        CellValue::Text(text) => text.len(),
        _ => 0,
    };
    let names = table.columns.iter().map(|name| price + name.len());
    let cells = table.rows.iter().flatten().map(|value| price + text(value));
    names.chain(cells).fold(0, |all, bytes| all + bytes as u64)
}

/// What a reader of the document does not see of the queries in the note.
fn query_notices(count: &RenderedCount) -> impl Iterator<Item = String> {
    let RenderedCount { cut, left, more_rows, .. } = count;
    let notices = [
        ("Rows of query results that are not in it", more_rows),
        ("Query results that are cut for length", cut),
        ("Queries of the note that were not run", left),
    ];
    notices.map(|(what, count)| (*count > 0).then(|| format!("{what}: {count}."))).into_iter().flatten()
}

/// A property in words.
fn words(value: &YamlValue) -> String {
    match value {
        YamlValue::Null => String::new(),
        YamlValue::Text(text) => text.trim().to_owned(),
        YamlValue::List(items) => {
            items.iter().map(words).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
        }
        value => match lapidary_toolkit::properties::json(value) {
            Value::String(text) => text,
            other => other.to_string(),
        },
    }
}

fn cell_of(value: &YamlValue) -> CellValue {
    match value {
        YamlValue::Text(text) => dated_cell(text),
        YamlValue::List(_) => CellValue::text(words(value)),
        value => typed_value(&lapidary_toolkit::properties::json(value)),
    }
}

/// A moment as properties of documents have it.
fn moment_of(text: &str) -> Option<String> {
    // Documents want a zone and properties have none, so theirs counts as UTC.
    let shown = match dated_cell(text) {
        CellValue::Day(_) => format!("{text}T00:00:00Z"),
        CellValue::Moment(_) => format!("{}Z", dated_cell(text).shown().replace(' ', "T")),
        _ => return None,
    };
    Some(shown)
}

/// A value of a query, or of a caller.
fn typed_value(value: &Value) -> CellValue {
    match value {
        Value::Null => CellValue::Empty,
        Value::Bool(value) => CellValue::Boolean(*value),
        // One that a spreadsheet would round stays as it is written.
        Value::Number(number) => match number.as_f64() {
            Some(float)
                if number.is_f64()
                    || number.as_i64().is_some_and(|whole| whole.unsigned_abs() < 1_000_000_000_000_000) =>
            {
                CellValue::Number(float)
            }
            _ => CellValue::text(number.to_string()),
        },
        Value::String(text) => dated_cell(text),
        Value::Array(items) => {
            CellValue::text(items.iter().map(|item| typed_value(item).shown()).collect::<Vec<_>>().join(", "))
        }
        // Typed values, as the rows of a query have them.
        Value::Object(entries) => match entries.iter().next() {
            Some((kind, Value::String(text))) if kind == "$date" => dated_cell(text),
            Some((kind, Value::String(text))) if kind == "$number" || kind == "$error" => {
                CellValue::text(text.as_str())
            }
            Some((kind, link)) if kind == "$link" => {
                let path = link["path"].as_str().unwrap_or_default();
                let name = path.rsplit('/').next().unwrap_or_default();
                let name = name.strip_suffix(".md").unwrap_or(name);
                CellValue::text(link["display"].as_str().unwrap_or(name))
            }
            Some((kind, Value::Object(units))) if kind == "$duration" => {
                let units = units.iter().map(|(unit, number)| format!("{number} {unit}"));
                CellValue::text(units.collect::<Vec<_>>().join(", "))
            }
            _ => CellValue::text(value.to_string()),
        },
    }
}

/// Rows of a caller: objects with the same names, or lists of which the first has the names.
fn table_of(rows_for: &RowsPlace<'_>, rows: &[Value], held: &mut HeldMemory) -> Result<SheetTable, Reason> {
    let refused = || {
        let problem = "must be objects, or lists of which the first has the names of the columns";
        Err(Reason::bad_argument(rows_for.tool, "rows", problem))
    };
    let text: usize = rows.iter().map(text_bytes).sum();
    if rows.is_empty() {
        return refused();
    }
    if rows.iter().all(Value::is_array) {
        let widths = || rows.iter().filter_map(Value::as_array).map(Vec::len);
        rows_for.check("rows", widths().max().unwrap_or(0), rows.len() - 1)?;
        held.add((widths().sum::<usize>() * CELL_PRICE + text) as u64);
        let mut lists = rows.iter().filter_map(Value::as_array);
        let columns = lists.next().into_iter().flatten().map(|name| typed_value(name).shown()).collect();
        let rows = lists.map(|row| row.iter().map(typed_value).collect()).collect();
        return Ok(SheetTable { name: String::new(), columns, rows });
    }
    let mut columns: Vec<String> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for row in rows {
        let Value::Object(entries) = row else { return refused() };
        for name in entries.keys() {
            // In the order in which they appear.
            if !places.contains_key(name) {
                places.insert(name.clone(), columns.len());
                columns.push(name.clone());
            }
        }
    }
    // Rows that have nothing in common would make a table of mostly empty cells.
    rows_for.check("rows", columns.len(), rows.len())?;
    held.add((columns.len() * rows.len() * CELL_PRICE + text) as u64);
    let cells = |row: &Value| columns.iter().map(|name| row.get(name).map_or(CellValue::Empty, typed_value)).collect();
    Ok(SheetTable { name: String::new(), rows: rows.iter().map(cells).collect(), columns: columns.clone() })
}

/// About what the text of a value takes as a cell.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        // Written as text.
        Value::Array(items) => items.iter().map(|item| 16 + text_bytes(item)).sum(),
        Value::Object(entries) => entries.iter().map(|(name, value)| 16 + name.len() + text_bytes(value)).sum(),
    }
}
