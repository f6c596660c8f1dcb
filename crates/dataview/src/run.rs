//! Runs a query: rows from its source, clause after clause as they are written, then what is shown of each row.

use std::{cmp::Ordering, rc::Rc};

use indexmap::IndexMap;

use lapidary_query::{DroppedRows, QueryHalt, QueryStep};

use super::{
    answer::{CalendarEntry, DqlAnswer, DqlResult, ListEntry, TableRow},
    bound::{BoundField, bind},
    cell::Cell,
    compare::{CellOrder, stable_sort},
    engine::{FieldError, FieldResult, QueryEngine},
    evaluate::{FieldScope, evaluate, index},
    file_fields::FileField,
    functions::slice_place,
    links::file_link,
    page::PageData,
    parser::ParsedQuery,
    record::{RecordBase, RecordData},
    script_text::script_text,
    sources::SourceReader,
    syntax::{ClauseKind, FieldSyntax, NamedField, QueryClause, QueryHeader, SortKey, SourceSyntax},
    tasks::task_groups,
    text::cell_value,
};

/// After this many rows the listener is told.
const ROWS_BETWEEN_REPORTS: usize = 1024;

/// A row on its way through the clauses.
#[derive(Clone)]
pub(super) struct QueryRow<'v> {
    /// Nothing for a page, whose id is the link to its file and is made when it is shown.
    pub(super) id: Option<Cell<'v>>,
    pub(super) data: Rc<RecordData<'v>>,
}

impl<'v> QueryRow<'v> {
    fn id(&self) -> Cell<'v> {
        match (&self.id, self.data.base()) {
            (Some(id), _) => id.clone(),
            (None, RecordBase::Page(page)) => Cell::link(file_link(page.path())),
            _ => Cell::Null,
        }
    }
}

/// A query under way.
pub(super) struct QueryRun<'e, 'v> {
    engine: &'e QueryEngine<'v>,
    rows: Vec<QueryRow<'v>>,
    /// The names of the groups that rows are, the innermost last.
    groups: Vec<String>,
    /// Whether `file` of every row is that of its page.
    has_own_files: bool,
    steps: Vec<QueryStep>,
    dropped: Vec<DroppedRows>,
}

/// What is shown of a result.
struct ExtractedRows<'v> {
    shown: Vec<(QueryRow<'v>, Vec<Cell<'v>>)>,
    count: usize,
}

/// Errors of rows in one step.
struct StepErrors {
    dropped: DroppedRows,
    messages: Vec<String>,
}

impl StepErrors {
    fn new(step: &str) -> Self {
        Self { dropped: DroppedRows::new(step), messages: Vec::new() }
    }

    /// What a row gave, unless it was an error of this row alone.
    fn take<T>(&mut self, result: Result<T, FieldError>) -> Result<Option<T>, QueryHalt> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(FieldError::Row(message)) => {
                self.dropped.add(&message);
                // As many as Dataview lists.
                if self.messages.len() < 3 {
                    self.messages.push(message);
                }
                Ok(None)
            }
            Err(FieldError::Halt(halt)) => Err(halt),
        }
    }

    /// The first messages as the original lists them.
    fn listed(&self) -> String {
        self.messages.iter().map(|message| format!("- {message}")).collect::<Vec<_>>().join("\n")
    }
}

/// `at` is the place of the clause that is run, for an error that ends the query there.
pub(super) fn run<'v>(engine: &QueryEngine<'v>, query: &ParsedQuery, at: &mut usize) -> Result<DqlAnswer, QueryHalt> {
    *at = query.source_at;
    let mut reader = SourceReader { engine, steps: Vec::new() };
    // Without FROM a query runs over the whole vault.
    let everything = SourceSyntax::Folder(String::new());
    let (source, text) = query.source.as_ref().map_or((&everything, None), |(source, text)| (source, Some(text)));
    let found = reader.read(source)?;
    let mut steps = reader.steps;
    let count = found.pages.len() + found.tables.len();
    // A single source has said the same already.
    if steps.len() > 1 {
        steps.push(QueryStep { name: text.cloned().unwrap_or_default(), rows: count, index: None });
    }
    let is_task = matches!(query.header, QueryHeader::Task);
    // An estimate of what a row takes before any clause has run.
    engine.context.hold(count * 128)?;
    let mut rows = Vec::with_capacity(count);
    for number in found.pages.iter() {
        engine.step().map_err(halted)?;
        let Some(row) = engine.vault.row(number) else { continue };
        // Not kept by the engine: all rows at once would fill memory with what they have read.
        let page = Rc::new(PageData::new(row));
        if is_task {
            // Only items with a box are tasks; other items are reached as their children.
            let tasks = page.items().iter().enumerate().filter(|(_, item)| item.status.is_some());
            rows.extend(tasks.map(|(item, _)| {
                let base = RecordBase::Item { page: Rc::clone(&page), item, with_page: true };
                QueryRow { id: None, data: Rc::new(RecordData::new(base)) }
            }));
        } else {
            rows.push(QueryRow { id: None, data: Rc::new(RecordData::page(page)) });
        }
    }
    if is_task {
        steps.push(QueryStep { name: "TASK".to_owned(), rows: rows.len(), index: None });
    }
    // Rows of CSV files have no page, and a column called `file` may be anything.
    let has_own_files = is_task || found.tables.is_empty();
    if !is_task {
        // Rows of CSV files have no tasks, so a TASK query leaves them out.
        rows.extend(found.tables);
    }
    let mut run = QueryRun { engine, rows, groups: Vec::new(), has_own_files, steps, dropped: Vec::new() };
    for clause in &query.clauses {
        *at = clause.at;
        run.clause(clause)?;
    }
    *at = query.header_at;
    let answer = run.finish(query)?;
    engine.settle()?;
    Ok(answer)
}

pub(super) fn halted(error: FieldError) -> QueryHalt {
    match error {
        FieldError::Row(message) => QueryHalt::failed(message),
        FieldError::Halt(halt) => halt,
    }
}

/// A row's data as a value: an object if it is one.
pub(super) fn record_cell<'v>(data: &Rc<RecordData<'v>>) -> Cell<'v> {
    match data.base() {
        RecordBase::Object(object) if data.extra().is_empty() => Cell::Object(Rc::clone(object)),
        _ => Cell::Record(Rc::clone(data)),
    }
}

impl<'v> QueryRun<'_, 'v> {
    fn bind(&self, field: &FieldSyntax) -> BoundField<'v> {
        bind(self.engine, field)
    }

    fn in_row(&self, field: &BoundField<'v>, row: &QueryRow<'v>) -> FieldResult<'v> {
        evaluate(self.engine, field, FieldScope::of_row(Some(&row.data)))
    }

    fn report(&self, done: usize, total: usize) {
        if done.is_multiple_of(ROWS_BETWEEN_REPORTS) {
            self.engine.context.progress(done, total);
        }
    }

    fn clause(&mut self, clause: &QueryClause) -> Result<(), QueryHalt> {
        let incoming = self.rows.len();
        let mut errors = StepErrors::new(&clause.text);
        let name = match &clause.kind {
            ClauseKind::From(source) => {
                // In Dataview's words.
                return Err(QueryHalt::failed(format!("Unrecognized query operation '{}'", source_kind(source))));
            }
            ClauseKind::Where(field) => {
                let field = self.bind(field);
                let rows = std::mem::take(&mut self.rows);
                for (at, row) in rows.into_iter().enumerate() {
                    self.report(at, incoming);
                    // A row with an error counts as dropped, not as false.
                    if errors.take(self.in_row(&field, &row))?.is_some_and(|value| value.is_truthy()) {
                        self.rows.push(row);
                    }
                }
                "where"
            }
            ClauseKind::Sort(keys) => {
                self.sort(keys, &mut errors)?;
                "sort"
            }
            ClauseKind::Limit(field) => {
                self.limit(field)?;
                "limit"
            }
            ClauseKind::GroupBy(named) => {
                let field = self.bind(&named.field);
                self.group(&field, &named.name, &mut errors)?;
                "group"
            }
            ClauseKind::Flatten(named) => {
                let field = self.bind(&named.field);
                self.flatten(&field, &named.name, &mut errors)?;
                "flatten"
            }
        };
        let count = errors.dropped.count;
        // If no row works, the query is at fault and not the notes.
        // Rows that fail alone are only counted, as in Dataview.
        if count > 0 && count >= incoming {
            return Err(QueryHalt::failed(format!(
                "Every row during operation '{name}' failed with an error; first {}:\n\n                {}",
                count.min(3),
                errors.listed()
            )));
        }
        if count > 0 {
            self.dropped.push(errors.dropped);
        }
        self.steps.push(QueryStep { name: clause.text.clone(), rows: self.rows.len(), index: None });
        Ok(())
    }

    fn sort(&mut self, keys: &[SortKey], errors: &mut StepErrors) -> Result<(), QueryHalt> {
        let fields: Vec<(BoundField<'v>, bool)> =
            keys.iter().map(|key| (self.bind(&key.field), key.descending)).collect();
        let incoming = self.rows.len();
        // The keys of all rows are held at once.
        self.engine.context.hold(incoming * fields.len() * size_of::<Cell<'_>>())?;
        let mut tagged = Vec::with_capacity(incoming);
        for (at, row) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            self.report(at, incoming);
            let values: Result<Vec<Cell<'v>>, _> = fields.iter().map(|(field, _)| self.in_row(field, &row)).collect();
            if let Some(values) = errors.take(values)? {
                let values = values.into_iter().map(|value| self.engine.resolved_key(value)).collect();
                tagged.push((values, row));
            }
        }
        // The links among the keys lead where they lead already.
        let order = CellOrder::without_links(self.engine);
        let mut compare = |left: &(Vec<Cell<'v>>, QueryRow<'v>), right: &(Vec<Cell<'v>>, QueryRow<'v>)| {
            for ((left, right), (_, descending)) in left.0.iter().zip(&right.0).zip(&fields) {
                match order.compare(left, right)? {
                    Ordering::Equal => {}
                    // Each key has its own direction.
                    found if *descending => return Ok(found.reverse()),
                    found => return Ok(found),
                }
            }
            Ok(Ordering::Equal)
        };
        let sorted = stable_sort(tagged, &mut compare).map_err(halted)?;
        self.rows = sorted.into_iter().map(|(_, row)| row).collect();
        Ok(())
    }

    fn limit(&mut self, field: &FieldSyntax) -> Result<(), QueryHalt> {
        const FAILED: &str = "Failed to execute 'limit' statement: ";
        let field = self.bind(field);
        // Without a row: the limit is the same for all.
        match evaluate(self.engine, &field, FieldScope::of_row(None)) {
            Ok(Cell::Number(most)) => {
                // A negative limit leaves out that many at the end, as `slice` does.
                self.rows.truncate(slice_place(most, self.rows.len()));
                Ok(())
            }
            Ok(other) => {
                let (kind, text) = (other.kind().name(), script_text(&other));
                Err(QueryHalt::failed(format!("{FAILED}limit should be a number, but got '{kind}' ({text})")))
            }
            Err(FieldError::Row(message)) => Err(QueryHalt::failed(format!("{FAILED}{message}"))),
            Err(FieldError::Halt(halt)) => Err(halt),
        }
    }

    fn group(&mut self, field: &BoundField<'v>, name: &str, errors: &mut StepErrors) -> Result<(), QueryHalt> {
        let mut keyed = Vec::with_capacity(self.rows.len());
        for row in std::mem::take(&mut self.rows) {
            if let Some(key) = errors.take(self.in_row(field, &row))? {
                // Compared by where links lead, but shown as the first row wrote the key.
                keyed.push((self.engine.resolved_key(key.clone()), key, row));
            }
        }
        let order = CellOrder::without_links(self.engine);
        let sorted = stable_sort(keyed, &mut |(left, ..), (right, ..)| order.compare(left, right)).map_err(halted)?;
        let mut groups: Vec<(Cell<'v>, Vec<Cell<'v>>)> = Vec::new();
        // Neighbours are compared, as they may differ from the first of the group.
        let mut before: Option<Cell<'v>> = None;
        for (resolved, key, row) in sorted {
            let same = match &before {
                Some(before) => order.compare(&resolved, before).map_err(halted)?.is_eq(),
                None => false,
            };
            before = Some(resolved);
            match groups.last_mut() {
                Some((_, rows)) if same => rows.push(record_cell(&row.data)),
                _ => groups.push((key, vec![record_cell(&row.data)])),
            }
        }
        let name: Rc<str> = name.into();
        // A group has `key` and `rows` and no file.
        self.has_own_files = false;
        for (key, rows) in groups {
            let rows = self.engine.list(rows).map_err(halted)?;
            let mut entries: IndexMap<Rc<str>, Cell<'v>> = IndexMap::with_capacity(3);
            entries.insert("key".into(), key.clone());
            entries.insert("rows".into(), rows);
            entries.insert(Rc::clone(&name), key.clone());
            if let Cell::Object(object) = self.engine.object(entries).map_err(halted)? {
                let data = Rc::new(RecordData::new(RecordBase::Object(object)));
                self.rows.push(QueryRow { id: Some(key), data });
            }
        }
        self.groups.push(name.to_string());
        Ok(())
    }

    fn flatten(&mut self, field: &BoundField<'v>, name: &str, errors: &mut StepErrors) -> Result<(), QueryHalt> {
        let name: Rc<str> = name.into();
        // A column of that name replaces the file of its page.
        self.has_own_files &= *name != *"file";
        for row in std::mem::take(&mut self.rows) {
            let Some(value) = errors.take(self.in_row(field, &row))? else { continue };
            let mut put = |value: &Cell<'v>| -> Result<(), QueryHalt> {
                self.engine.step().map_err(halted)?;
                self.engine.context.hold(size_of::<QueryRow<'_>>() + row.data.size_with_one_more())?;
                // A row that is flattened again and again must not nest without end.
                self.engine.deeper(std::iter::once(value)).map_err(halted)?;
                let data = Rc::new(row.data.with(&name, value.clone()));
                self.rows.push(QueryRow { id: row.id.clone(), data });
                Ok(())
            };
            match &value {
                Cell::List(list) => list.items.iter().try_for_each(&mut put)?,
                other => put(other)?,
            }
        }
        // Flattening the rows of a group takes it apart again.
        if self.groups.last().is_some_and(|group| **group == *name) {
            self.groups.pop();
        }
        Ok(())
    }

    /// The rows that are shown with the values of some named fields, and how many rows there are. Rows with an error in
    /// one of the fields are left out.
    fn extract(&mut self, fields: &IndexMap<&str, &FieldSyntax>) -> Result<ExtractedRows<'v>, QueryHalt> {
        let context = self.engine.context;
        let fields: Vec<BoundField<'v>> = fields.values().map(|field| self.bind(field)).collect();
        // Rows that are not shown are looked at only for their errors.
        let can_fail = fields.iter().any(|field| field.can_fail(self.has_own_files));
        let rows = std::mem::take(&mut self.rows);
        let total = rows.len();
        let mut errors = StepErrors::new("columns");
        let mut found = ExtractedRows { shown: Vec::with_capacity(context.shown(total).len()), count: 0 };
        for (at, row) in rows.into_iter().enumerate() {
            self.report(at, total);
            let is_shown = context.shows(found.count);
            if !is_shown && !can_fail {
                found.count += 1;
                continue;
            }
            let values: Result<Vec<Cell<'v>>, _> = fields.iter().map(|field| self.in_row(field, &row)).collect();
            if let Some(values) = errors.take(values)? {
                found.count += 1;
                if is_shown {
                    context.hold(fields.len() * size_of::<Cell<'_>>())?;
                    found.shown.push((row, values));
                }
            }
        }
        self.settle_columns(errors, total)?;
        Ok(found)
    }

    /// The rows that the columns left out; an error if these are all.
    fn settle_columns(&mut self, errors: StepErrors, total: usize) -> Result<(), QueryHalt> {
        let count = errors.dropped.count;
        if count > 0 && count >= total {
            return Err(QueryHalt::failed(format!(
                "Every row during final data extraction failed with an error; first {}:\n\n            {}",
                // The larger number, as in Dataview's message.
                count.max(3),
                errors.listed()
            )));
        }
        if count > 0 {
            self.dropped.push(errors.dropped);
        }
        self.engine.context.progress(total, total);
        Ok(())
    }

    fn value(&self, cell: &Cell<'v>) -> Result<lapidary_query::Value, QueryHalt> {
        cell_value(self.engine, cell).map_err(halted)
    }

    fn finish(mut self, query: &ParsedQuery) -> Result<DqlAnswer, QueryHalt> {
        let (result, count) = match &query.header {
            QueryHeader::Table { shows_id, columns } => {
                // Of two columns with one name both show the last one's values.
                let fields: IndexMap<&str, &FieldSyntax> =
                    columns.iter().map(|column| (column.name.as_str(), &column.field)).collect();
                let places: Vec<usize> =
                    columns.iter().filter_map(|column| fields.get_index_of(column.name.as_str())).collect();
                let rows = self.extract(&fields)?;
                // The first column of groups has the name of what they are grouped by.
                let id_name = self.groups.last().unwrap_or(&self.engine.context.dataview.id_column).clone();
                let names = columns.iter().map(|column| column.name.clone());
                let headers = shows_id.then_some(id_name).into_iter().chain(names).collect();
                let mut table = Vec::with_capacity(rows.shown.len());
                for (row, values) in rows.shown {
                    let id = self.value(&row.id())?;
                    let mut cells = Vec::with_capacity(places.len() + 1);
                    cells.extend(shows_id.then(|| id.clone()));
                    for place in &places {
                        cells.push(self.value(&values[*place])?);
                    }
                    table.push(TableRow { id, cells });
                }
                (DqlResult::Table { headers, shows_id: *shows_id, rows: table }, rows.count)
            }
            QueryHeader::List { shows_id, format } => {
                let fields: IndexMap<&str, &FieldSyntax> = format.iter().map(|field| ("target", field)).collect();
                let rows = self.extract(&fields)?;
                let mut entries = Vec::with_capacity(rows.shown.len());
                for (row, values) in rows.shown {
                    let id = self.value(&row.id())?;
                    let value = values.first().map(|value| self.value(value)).transpose()?;
                    entries.push(ListEntry { id, value });
                }
                // A list without a format has nothing but ids to show.
                (DqlResult::List { shows_id: *shows_id || format.is_none(), entries }, rows.count)
            }
            QueryHeader::Task => {
                let rows: Vec<Cell<'v>> = self.rows.iter().map(|row| record_cell(&row.data)).collect();
                let mut count = 0;
                let tasks = task_groups(self.engine, &rows, &self.groups, &mut count).map_err(halted)?;
                (DqlResult::Task { tasks }, count)
            }
            QueryHeader::Calendar { date } => self.calendar(date)?,
        };
        self.steps.push(QueryStep { name: query.header_text.clone(), rows: count, index: None });
        let first = self.engine.context.shown(count).start;
        Ok(DqlAnswer { result, first, total: count, groups: self.groups, steps: self.steps, dropped: self.dropped })
    }

    /// The days of a calendar. Which rows have one is known only when all were looked at.
    fn calendar(&mut self, date: &NamedField) -> Result<(DqlResult, usize), QueryHalt> {
        let context = self.engine.context;
        let fields = [self.bind(&date.field), self.bind(&FieldSyntax::Variable("file".to_owned()))];
        let rows = std::mem::take(&mut self.rows);
        let (total, mut count) = (rows.len(), 0);
        let mut errors = StepErrors::new("columns");
        let mut entries = Vec::new();
        for (at, row) in rows.into_iter().enumerate() {
            self.report(at, total);
            let values: Result<Vec<Cell<'v>>, _> = fields.iter().map(|field| self.in_row(field, &row)).collect();
            let Some(values) = errors.take(values)? else { continue };
            let Some(entry) = self.calendar_entry(&values[0], &values[1], &date.name)? else { continue };
            // Rows are counted beyond what is shown, to tell how many there are.
            if context.shows(count) {
                context.hold(size_of::<CalendarEntry>())?;
                entries.push(entry);
            }
            count += 1;
        }
        self.settle_columns(errors, total)?;
        Ok((DqlResult::Calendar { entries }, count))
    }

    fn calendar_entry(&self, date: &Cell<'v>, file: &Cell<'v>, name: &str) -> Result<Option<CalendarEntry>, QueryHalt> {
        let link = match file {
            Cell::File(page) => super::file_fields::file_value(self.engine, page, FileField::Link),
            // Another `file` was put over it, and may have no link.
            other => index(self.engine, other, &Cell::text("link")).ok(),
        };
        let link = self.value(&link.unwrap_or(Cell::Null))?;
        match date {
            // A row without a date is left out without an error.
            Cell::Null => Ok(None),
            Cell::Date(date) => Ok(date.to_value().map(|date| CalendarEntry { date, link })),
            other => {
                let kind = other.kind().name();
                Err(QueryHalt::failed(format!("CALENDAR needs a date, but '{name}' is of type '{kind}' in a row")))
            }
        }
    }
}

fn source_kind(source: &SourceSyntax) -> &'static str {
    match source {
        SourceSyntax::Folder(_) => "folder",
        SourceSyntax::Tag(_) => "tag",
        SourceSyntax::Csv(_) => "csv",
        SourceSyntax::Link { .. } => "link",
        SourceSyntax::Not(_) => "negate",
        SourceSyntax::Chain(..) => "binaryop",
    }
}
