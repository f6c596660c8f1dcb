//! What a document is made of: the blocks of a note, rows, and what it says of itself.

use lapidary_note::{Document, YamlValue};
use lapidary_office::{
    BlockContent, BodyBlock, BodyTable, CellValue, DocumentBody, DocumentFacts, InlineRun, MarkdownFault, OfficeFormat,
    RunContent, SheetTable, csv_table, dated_cell, markdown, typed_cell,
};
use lapidary_operation::{Context, Reason, clipped, quote::quoted};
use lapidary_toolkit::{
    naming::{self, NamedFile},
    properties::NoteProperties,
    querying::{AskedQuery, PageRequest, QueryFormat},
    reading,
};
use lapidary_vault::{VaultPath, View};
use serde_json::Value;

use super::{
    Input,
    embedding::{EmbedReader, note_text},
};

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
}

/// How many embeds a notice names.
const NAMED: usize = 10;
/// Rows of a query, and what they may take as JSON.
const MOST_ROWS: usize = 200_000;
const MOST_ROW_BYTES: usize = 64 << 20;

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
    };
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
                gathered.read_note(tool, context, view, &source, &document)?;
            }
            "csv" | "tsv" => gathered.rows = Some(csv_table(shown.text())),
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
        gathered.read_note(tool, context, view, path, &document)?;
        // A text without a name is called as it begins.
        if let Some(heading) = gathered.body.first_heading() {
            named = heading;
        }
    }
    if let Some(query) = &input.query {
        let asked = AskedQuery { query, view: input.view.as_deref(), note: None };
        gathered.read_query(context, view, &asked)?;
    }
    if let Some(rows) = &input.rows {
        gathered.rows = Some(table_of(tool, rows)?);
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
        context: &Context<'_>,
        view: &View,
        path: &VaultPath,
        document: &Document,
    ) -> Result<(), Reason> {
        self.read_properties(&NoteProperties::of(document));
        let text = note_text(context, view, path, document)?;
        let mut embeds = EmbedReader::new(context, view);
        let read = markdown(path.as_str(), &text, &mut |wanted| embeds.read(wanted));
        let read = read.map_err(|fault| match fault {
            MarkdownFault::Embed(reason) => reason,
            MarkdownFault::TooLong { limit } => {
                let problem = format!("has, with what it embeds, more than {limit} bytes");
                Reason::bad_argument(tool, "note", lapidary_operation::quote::Prose::ours(problem))
            }
        })?;
        context.check()?;
        (self.body, self.left_out) = (read.body, read.left_out);
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

    fn read_query(&mut self, context: &Context<'_>, view: &View, asked: &AskedQuery<'_>) -> Result<(), Reason> {
        let request = |format| PageRequest { offset: 0, limit: MOST_ROWS, room: MOST_ROW_BYTES, format, without: &[] };
        let result = asked.run(context, view, Some(0..MOST_ROWS))?;
        let dropped: usize = result.dropped().iter().map(|dropped| dropped.count).sum();
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
            None => csv_table(&asked.run(context, view, Some(0..MOST_ROWS))?.page(&request(QueryFormat::Csv)).text),
        };
        if shown < total {
            self.more_notices.push(format!("Only {shown} of {total} rows are in it."));
        }
        if dropped > 0 {
            self.more_notices.push(format!("Errors in the query left out {dropped} rows."));
        }
        self.rows = Some(table);
        Ok(())
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
    pub(super) fn shown_body(&self) -> DocumentBody {
        let Some(rows) = self.rows.as_ref().filter(|_| self.body.blocks.is_empty()) else { return self.body.clone() };
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
        DocumentBody { blocks, ..DocumentBody::default() }
    }

    /// The rows, or the tables of the note under the headings above them.
    pub(super) fn sheets(&self) -> Vec<SheetTable> {
        if let Some(rows) = &self.rows {
            return vec![rows.clone()];
        }
        let words = |runs: &[InlineRun]| -> String {
            runs.iter()
                .map(|run| match &run.content {
                    RunContent::Text(text) => text.as_str(),
                    RunContent::Break => "\n",
                    RunContent::Picture(_) | RunContent::Footnote(_) => "",
                })
                .collect()
        };
        let (mut tables, mut heading) = (Vec::new(), self.facts.title.clone());
        for block in &self.body.blocks {
            match &block.content {
                BlockContent::Heading(_, runs) => heading = words(runs),
                BlockContent::Table(table) => {
                    let mut rows = table.rows.iter();
                    let columns = rows.next().into_iter().flatten().map(|cell| words(cell)).collect();
                    let cells = |row: &Vec<Vec<InlineRun>>| row.iter().map(|cell| typed_cell(&words(cell))).collect();
                    tables.push(SheetTable { name: heading.clone(), columns, rows: rows.map(cells).collect() });
                }
                _ => {}
            }
        }
        tables
    }
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
fn table_of(tool: &str, rows: &[Value]) -> Result<SheetTable, Reason> {
    let refused = || {
        let problem = "must be objects, or lists of which the first has the names of the columns";
        Err(Reason::bad_argument(tool, "rows", problem))
    };
    if rows.is_empty() {
        return refused();
    }
    if rows.iter().all(Value::is_array) {
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
    const MOST_CELLS: usize = 4_000_000;
    // Rows that have nothing in common would make a table of mostly empty cells.
    if columns.len().saturating_mul(rows.len()) > MOST_CELLS {
        return Err(Reason::bad_argument(tool, "rows", "must have fewer columns: each name is one"));
    }
    let cells = |row: &Value| columns.iter().map(|name| row.get(name).map_or(CellValue::Empty, typed_value)).collect();
    Ok(SheetTable { name: String::new(), rows: rows.iter().map(cells).collect(), columns: columns.clone() })
}
