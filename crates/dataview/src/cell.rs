//! The values of a running query. What a page or a list item holds is looked up when it is asked for; everything else is
//! shared and never changes.

use std::rc::Rc;

use indexmap::IndexMap;

use lapidary_query::{DurationValue, LinkValue, LuxonDate, Number, Value};

use super::{bound::BoundLambda, page::PageData, record::RecordData};

/// What an expression comes to.
#[derive(Clone)]
pub(super) enum Cell<'v> {
    Null,
    Boolean(bool),
    Number(f64),
    Text(Rc<str>),
    Date(Rc<LuxonDate>),
    Duration(Rc<DurationValue>),
    Link(Rc<LinkValue>),
    List(Rc<CellList<'v>>),
    Object(Rc<CellObject<'v>>),
    /// A row, a page or a list item: an object whose values are looked up.
    Record(Rc<RecordData<'v>>),
    /// The `file` of a page.
    File(Rc<PageData<'v>>),
    Function(Rc<CellFunction<'v>>),
    /// An external link.
    Widget(Rc<ExternalLink>),
}

/// Values in order. The depth bounds everything that walks them.
pub(super) struct CellList<'v> {
    pub(super) items: Vec<Cell<'v>>,
    pub(super) depth: usize,
}

/// Named values in the order in which they were put in.
pub(super) struct CellObject<'v> {
    pub(super) entries: IndexMap<Rc<str>, Cell<'v>>,
    pub(super) depth: usize,
}

/// A lambda with what it sees.
pub(super) struct CellFunction<'v> {
    pub(super) lambda: Rc<BoundLambda<'v>>,
    pub(super) row: Option<Rc<RecordData<'v>>>,
    /// The parameters of the lambdas around it; one that was not given is missing.
    pub(super) captured: Vec<Option<Cell<'v>>>,
    pub(super) depth: usize,
}

pub(super) struct ExternalLink {
    pub(super) url: Rc<str>,
    pub(super) display: Rc<str>,
}

/// The types that `typeof` names, in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CellType {
    Array,
    Boolean,
    Date,
    Duration,
    Function,
    Link,
    Null,
    Number,
    Object,
    String,
    Widget,
}

impl CellType {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Duration => "duration",
            Self::Function => "function",
            Self::Link => "link",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
            Self::Widget => "widget",
        }
    }
}

impl<'v> Cell<'v> {
    pub(super) fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn date(date: LuxonDate) -> Self {
        Self::Date(Rc::new(date))
    }

    pub(super) fn duration(duration: DurationValue) -> Self {
        Self::Duration(Rc::new(duration))
    }

    pub(super) fn link(link: LinkValue) -> Self {
        Self::Link(Rc::new(link))
    }

    /// A list of values that hold no others, or that were bounded before.
    pub(super) fn list(items: Vec<Self>) -> Self {
        let depth = 1 + items.iter().map(Self::depth).max().unwrap_or_default();
        Self::List(Rc::new(CellList { items, depth }))
    }

    pub(super) fn object(entries: IndexMap<Rc<str>, Self>) -> Self {
        let depth = 1 + entries.values().map(Self::depth).max().unwrap_or_default();
        Self::Object(Rc::new(CellObject { entries, depth }))
    }

    pub(super) fn kind(&self) -> CellType {
        match self {
            Self::Null => CellType::Null,
            Self::Boolean(_) => CellType::Boolean,
            Self::Number(_) => CellType::Number,
            Self::Text(_) => CellType::String,
            Self::Date(_) => CellType::Date,
            Self::Duration(_) => CellType::Duration,
            Self::Link(_) => CellType::Link,
            Self::List(_) => CellType::Array,
            // A query cannot tell which of its objects are looked up lazily.
            Self::Object(_) | Self::Record(_) | Self::File(_) => CellType::Object,
            Self::Function(_) => CellType::Function,
            Self::Widget(_) => CellType::Widget,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// How deep values are nested in it, as far as they were made by the query.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::List(list) => list.depth,
            Self::Object(object) => object.depth,
            Self::Function(function) => function.depth,
            Self::Record(record) => record.depth(),
            _ => 0,
        }
    }

    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Boolean(value) => *value,
            // A non-number is not zero.
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            // The first instant of 1970 is falsy, as the number of its milliseconds is.
            Self::Date(date) => date.milliseconds() != 0.0,
            Self::Duration(duration) => duration.total_milliseconds() != 0.0,
            Self::Link(link) => !link.path.is_empty(),
            Self::List(list) => !list.items.is_empty(),
            Self::Object(object) => !object.entries.is_empty(),
            Self::Record(record) => !record.is_empty(),
            Self::File(_) | Self::Function(_) | Self::Widget(_) => true,
        }
    }
}

/// A whole number as one, because it is written without a point then.
pub(super) fn number_value(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number that fits")]
    let number = if number.fract() == 0.0 && number.abs() < 9e15 {
        Number::Integer(number as i64)
    } else {
        Number::Float(number)
    };
    Value::Number(number)
}

/// The entries of an object in the order of JavaScript: names that are indexes come first, by their number.
pub(super) fn in_script_order<V>(mut entries: Vec<(Rc<str>, V)>) -> Vec<(Rc<str>, V)> {
    let index = |name: &str| {
        // What JavaScript takes for an array index: no leading zeros, and below 2^32 - 1.
        // More than ten digits cannot be below the limit.
        let fits = name == "0" || (!name.starts_with('0') && name.len() <= 10);
        let number = name.bytes().all(|byte| byte.is_ascii_digit()).then(|| name.parse::<u32>().ok()).flatten();
        number.filter(|number| fits && *number < u32::MAX)
    };
    // Stable, so that all other names keep the order in which they were put in.
    if entries.iter().any(|(name, _)| index(name).is_some()) {
        entries.sort_by_key(|(name, _)| index(name).map_or((1, 0), |number| (0, number)));
    }
    entries
}
