//! What an expression is evaluated in: the vault, the clock, the owner's settings, and how much may still be done.

use std::{
    cell::{Cell as Counter, OnceCell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use lapidary_query::{
    DateValue, DurationUnit, DurationValue, ExpressionFlags, LinkValue, LuxonDate, LuxonZone, QueryContext, QueryHalt,
    QueryVault, Replacer, RowNumber,
};

use super::{
    cell::{Cell, CellList, CellObject},
    page::PageData,
    record::RecordData,
    syntax::{DateShorthand, FieldLiteral},
};

/// Work is counted in the context once there is this much of it.
const STEPS_AT_ONCE: u32 = 64;
/// Deeper calls of lambdas are refused. Only a lambda that is handed to itself gets so far.
const MAX_CALLS: usize = 48;
/// A list or object in memory without what is in it, and an entry of an object beside its value.
const LIST_OVERHEAD: usize = 64;
const ENTRY_OVERHEAD: usize = 64;
/// This many compiled patterns are kept.
const MOST_PATTERNS: usize = 256;

/// Why an expression has no value.
#[derive(Clone, Debug)]
pub(super) enum FieldError {
    /// Of this row alone, in the words of Dataview.
    Row(String),
    /// The query as a whole has to end.
    Halt(QueryHalt),
}

impl FieldError {
    pub(super) fn row<T>(message: impl Into<String>) -> Result<T, Self> {
        Err(Self::Row(message.into()))
    }
}

impl From<QueryHalt> for FieldError {
    fn from(halt: QueryHalt) -> Self {
        Self::Halt(halt)
    }
}

pub(super) type FieldResult<'v> = Result<Cell<'v>, FieldError>;

/// The file that a link leads to, and its path.
type ResolvedTarget = Option<(RowNumber, Rc<str>)>;

type CompiledPattern = Rc<Result<Replacer, String>>;

pub(super) struct QueryEngine<'v> {
    pub(super) vault: &'v dyn QueryVault,
    pub(super) context: &'v QueryContext<'v>,
    pub(super) zone: LuxonZone,
    pub(super) now: LuxonDate,
    /// The page of the origin, once it was asked for.
    this: OnceCell<Option<Rc<PageData<'v>>>>,
    pages: RefCell<HashMap<RowNumber, Rc<PageData<'v>>>>,
    /// Where the targets of links lead from the origin.
    resolved: RefCell<HashMap<Rc<str>, ResolvedTarget>>,
    patterns: RefCell<HashMap<(String, bool, bool), CompiledPattern>>,
    pending_steps: Counter<u32>,
    calls: Counter<usize>,
}

impl<'v> QueryEngine<'v> {
    pub(super) fn new(vault: &'v dyn QueryVault, context: &'v QueryContext<'v>) -> Self {
        let zone = LuxonZone::Local(context.zone.clone());
        #[expect(clippy::cast_precision_loss, reason = "times of clocks are far smaller")]
        let now = LuxonDate::at(context.now.as_millisecond() as f64, zone.clone());
        Self {
            vault,
            context,
            zone,
            now,
            this: OnceCell::new(),
            pages: RefCell::default(),
            resolved: RefCell::default(),
            patterns: RefCell::default(),
            pending_steps: Counter::new(0),
            calls: Counter::new(0),
        }
    }

    /// Counts one step of work.
    pub(super) fn step(&self) -> Result<(), FieldError> {
        self.steps(1)
    }

    pub(super) fn steps(&self, steps: usize) -> Result<(), FieldError> {
        // Counted locally first: the shared counter is atomic and would dominate simple steps.
        let pending = self.pending_steps.get().saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
        if pending < STEPS_AT_ONCE {
            self.pending_steps.set(pending);
            return Ok(());
        }
        self.pending_steps.set(0);
        Ok(self.context.step(u64::from(pending))?)
    }

    /// Tells the context of the steps that it has not heard of.
    pub(super) fn settle(&self) -> Result<(), QueryHalt> {
        self.context.step(u64::from(self.pending_steps.take()))
    }

    /// Counts memory before it is taken.
    pub(super) fn hold(&self, bytes: usize) -> Result<(), FieldError> {
        Ok(self.context.hold(bytes)?)
    }

    pub(super) fn text(&self, text: String) -> FieldResult<'v> {
        // Short texts are counted as steps are; only long ones fill memory.
        if text.len() > 256 {
            self.hold(text.len())?;
        }
        Ok(Cell::Text(text.into()))
    }

    /// A list, unless values would be nested too deep in it.
    pub(super) fn list(&self, items: Vec<Cell<'v>>) -> FieldResult<'v> {
        self.hold(LIST_OVERHEAD + items.len() * size_of::<Cell<'_>>())?;
        let depth = self.deeper(items.iter())?;
        Ok(Cell::List(Rc::new(CellList { items, depth })))
    }

    pub(super) fn object(&self, entries: indexmap::IndexMap<Rc<str>, Cell<'v>>) -> FieldResult<'v> {
        self.hold(LIST_OVERHEAD + entries.len() * (size_of::<Cell<'_>>() + ENTRY_OVERHEAD))?;
        let depth = self.deeper(entries.values())?;
        Ok(Cell::Object(Rc::new(CellObject { entries, depth })))
    }

    pub(super) fn deeper<'c>(&self, cells: impl Iterator<Item = &'c Cell<'v>>) -> Result<usize, FieldError>
    where
        'v: 'c,
    {
        let depth = 1 + cells.map(Cell::depth).max().unwrap_or_default();
        // An error of the row, not of the query: others may be fine.
        if depth > self.context.limits.depth {
            return FieldError::row(format!("values are nested more than {} levels deep", self.context.limits.depth));
        }
        Ok(depth)
    }

    /// Runs a call, unless too many are under way.
    pub(super) fn calling<T>(&self, call: impl FnOnce() -> Result<T, FieldError>) -> Result<T, FieldError> {
        let calls = self.calls.get();
        if calls >= MAX_CALLS {
            return FieldError::row("Maximum call stack size exceeded");
        }
        self.calls.set(calls + 1);
        let result = call();
        // Reset whatever the call gave, or an error would count forever.
        self.calls.set(calls);
        result
    }

    pub(super) fn literal(&self, literal: &FieldLiteral) -> Cell<'v> {
        match literal {
            FieldLiteral::Null => Cell::Null,
            FieldLiteral::Boolean(value) => Cell::Boolean(*value),
            FieldLiteral::Number(number) => Cell::Number(*number),
            FieldLiteral::Text(text) => Cell::text(text.as_str()),
            FieldLiteral::Date(date) => self.date(date),
            FieldLiteral::Shorthand(shorthand) => Cell::date(self.shorthand(*shorthand)),
            FieldLiteral::Duration(duration) => Cell::duration(*duration),
            FieldLiteral::Link(link) => Cell::link(link.clone()),
        }
    }

    /// A date that was written; text if its zone does not exist.
    pub(super) fn date(&self, date: &DateValue) -> Cell<'v> {
        LuxonDate::of(date, &self.zone).map_or_else(|| Cell::text(date.to_string()), Cell::date)
    }

    fn shorthand(&self, shorthand: DateShorthand) -> LuxonDate {
        let days = |days: f64| self.now.start_of(DurationUnit::Days).plus(&DurationValue::of(DurationUnit::Days, days));
        match shorthand {
            DateShorthand::Now => self.now.clone(),
            DateShorthand::Today => self.now.start_of(DurationUnit::Days),
            DateShorthand::Yesterday => days(-1.0),
            DateShorthand::Tomorrow => days(1.0),
            DateShorthand::StartOfWeek => self.now.start_of(DurationUnit::Weeks),
            DateShorthand::EndOfWeek => self.now.end_of(DurationUnit::Weeks),
            DateShorthand::StartOfMonth => self.now.start_of(DurationUnit::Months),
            DateShorthand::EndOfMonth => self.now.end_of(DurationUnit::Months),
            DateShorthand::StartOfYear => self.now.start_of(DurationUnit::Years),
            DateShorthand::EndOfYear => self.now.end_of(DurationUnit::Years),
        }
    }

    /// `this`: the page of the origin, or an empty object.
    pub(super) fn this(&self) -> Cell<'v> {
        let page = self.this.get_or_init(|| {
            let number = self.vault.find(self.context.origin?)?;
            self.page(number)
        });
        match page {
            Some(page) => Cell::Record(Rc::new(RecordData::page(Rc::clone(page)))),
            None => Cell::object(indexmap::IndexMap::new()),
        }
    }

    /// A note; nothing for any other file.
    pub(super) fn page(&self, number: RowNumber) -> Option<Rc<PageData<'v>>> {
        // A page that many rows link to is read once.
        if let Some(page) = self.pages.borrow().get(&number) {
            return Some(Rc::clone(page));
        }
        let page = Rc::new(PageData::new(self.vault.row(number)?));
        if !page.row.is_page() {
            return None;
        }
        self.pages.borrow_mut().insert(number, Rc::clone(&page));
        Some(page)
    }

    /// The file that a target leads to from the origin; the origin itself for an empty one.
    pub(super) fn resolve(&self, target: &str) -> ResolvedTarget {
        if let Some(found) = self.resolved.borrow().get(target) {
            return found.clone();
        }
        let origin = self.context.origin;
        let number = match target {
            // `[[#heading]]` is a link into the note that has the query.
            "" => origin.and_then(|origin| self.vault.find(origin)),
            _ => self.vault.resolve(target, origin),
        };
        let found = number.and_then(|number| Some((number, Rc::from(self.vault.row(number)?.path()))));
        self.resolved.borrow_mut().insert(target.into(), found.clone());
        found
    }

    /// The path that a target leads to, or the target itself.
    pub(super) fn normalised_path(&self, target: &str) -> Rc<str> {
        self.resolve(target).map_or_else(|| target.into(), |(_, path)| path)
    }

    /// A value to sort by: a link with the path that it leads to, so that it is looked up once.
    pub(super) fn resolved_key(&self, key: Cell<'v>) -> Cell<'v> {
        let Cell::Link(link) = &key else { return key };
        match self.resolve(&link.path) {
            // Most links in fields have been resolved already, and need no copy.
            Some((_, path)) if *path != *link.path => {
                Cell::link(LinkValue { path: path.to_string(), ..(**link).clone() })
            }
            _ => key,
        }
    }

    /// The page that a link leads to.
    pub(super) fn linked_page(&self, link: &LinkValue) -> Option<Rc<PageData<'v>>> {
        self.page(self.resolve(&link.path)?.0)
    }

    /// A regular expression, or what is wrong with it.
    pub(super) fn pattern(&self, source: &str, ignore_case: bool, multi_line: bool) -> CompiledPattern {
        let key = (source.to_owned(), ignore_case, multi_line);
        if let Some(pattern) = self.patterns.borrow().get(&key) {
            return Rc::clone(pattern);
        }
        let flags = ExpressionFlags { ignore_case, multi_line, dot_all: false };
        // Failures are kept too: a wrong pattern is tried in every row.
        let pattern = Rc::new(Replacer::ecmascript(source, flags).map_err(|fault| fault.to_string()));
        let mut patterns = self.patterns.borrow_mut();
        // A pattern that is made from the data of each row must not fill memory.
        if patterns.len() < MOST_PATTERNS {
            patterns.insert(key, Rc::clone(&pattern));
        }
        pattern
    }
}
