//! The values of Bases: those that all languages share, and what only this one has.

use std::{ops::Deref, sync::Arc};

use indexmap::IndexMap;

use super::{base_date::BaseDate, base_duration::BaseDuration, base_regexp::BaseRegexp};
use lapidary_query::RowNumber;

/// What a property, a cell or an expression comes to. Cheap to copy.
#[derive(Clone, Debug, Default)]
pub enum BaseValue {
    #[default]
    Null,
    Boolean(bool),
    Number(f64),
    Text(Arc<str>),
    /// A tag without its `#`.
    Tag(Arc<str>),
    Url(Arc<str>),
    Html(Arc<str>),
    /// The place of an image.
    Image(Arc<str>),
    /// The name of an icon.
    Icon(Arc<str>),
    Date(BaseDate),
    Duration(Arc<BaseDuration>),
    Link(Arc<BaseLink>),
    File(Arc<BaseFileHandle>),
    Regexp(Arc<BaseRegexp>),
    List(Arc<BaseList>),
    Object(Arc<BaseObject>),
    /// What went wrong, as the app words it.
    Error(Arc<str>),
}

#[derive(Clone, Debug, Default)]
pub struct BaseList {
    items: Vec<BaseValue>,
    weight: usize,
    /// How many lists are in each other. It bounds every walk over a value, and its end.
    pub(super) depth: usize,
}

impl Deref for BaseList {
    type Target = [BaseValue];

    fn deref(&self) -> &[BaseValue] {
        &self.items
    }
}

/// Names as they were written, compared without case.
pub type BaseObject = IndexMap<String, BaseValue>;

/// A link as it was written, and the file it was written in, which decides where it leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseLink {
    /// With its `#` and what follows, if it has one.
    pub target: String,
    pub display: Option<String>,
    pub(super) source: Option<Arc<str>>,
}

impl BaseLink {
    /// Without subpath.
    pub fn path(&self) -> &str {
        self.target.split_once('#').map_or(&self.target, |(path, _)| path)
    }
}

/// A file of the vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseFileHandle {
    pub path: Arc<str>,
    /// Nothing for a host of the query that is not one of its rows.
    pub(super) number: Option<RowNumber>,
    /// Whether it is `this`, which also answers for its note's properties.
    pub(super) is_this: bool,
}

impl BaseValue {
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(super) fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        // Kept with the list, as counting it again would walk shared parts each time.
        // Saturating: shared parts count each time, so a small program can reach any number.
        let weight = items.iter().fold(1, |weight: usize, item| weight.saturating_add(item.weight()));
        let depth = |item: &Self| if let Self::List(list) = item { list.depth } else { 0 };
        let depth = 1 + items.iter().map(depth).max().unwrap_or_default();
        Self::List(Arc::new(BaseList { items, weight, depth }))
    }

    /// About how much there is to go through in it. Lists share their parts, so that a small program can make a value
    /// that is small in memory and has no end as text.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Text(text)
            | Self::Tag(text)
            | Self::Url(text)
            | Self::Html(text)
            | Self::Image(text)
            | Self::Icon(text)
            // Sixteen bytes count like one value.
            | Self::Error(text) => 1 + text.len() / 16,
            Self::List(list) => list.weight,
            Self::Object(entries) => {
                // Names are counted as well, as a fixed amount.
                entries.values().fold(1, |weight: usize, value| weight.saturating_add(4 + value.weight()))
            }
            _ => 1,
        }
    }

    /// As error messages name it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "Null",
            Self::Boolean(_) => "Boolean",
            Self::Number(_) => "Number",
            Self::Text(_) | Self::Tag(_) => "String",
            Self::Url(_) => "URL",
            Self::Html(_) => "HTML",
            Self::Image(_) => "Image",
            Self::Icon(_) => "Icon",
            Self::Date(_) => "Date",
            Self::Duration(_) => "Duration",
            Self::Link(_) => "Link",
            Self::File(_) => "File",
            Self::Regexp(_) => "RegExp",
            Self::List(_) => "List",
            Self::Object(_) => "Object",
            Self::Error(_) => "Error",
        }
    }

    /// `isType`, in any case. Tags and icons are texts too.
    pub(super) fn is_type(&self, name: &str) -> bool {
        let is = |word: &str| name.eq_ignore_ascii_case(word);
        match self {
            Self::Tag(_) => is("string") || is("tag"),
            Self::Icon(_) => is("string") || is("icon"),
            Self::File(file) => is("file") || (file.is_this && is("thisfile")),
            value => is(value.type_name()),
        }
    }

    /// A text, or something that inherits from texts.
    pub(super) fn is_textual(&self) -> bool {
        matches!(
            self,
            Self::Text(_)
                | Self::Tag(_)
                | Self::Url(_)
                | Self::Html(_)
                | Self::Image(_)
                | Self::Icon(_)
                | Self::Link(_)
        )
    }

    /// The table of truth.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null | Self::Error(_) => false,
            Self::Boolean(value) => *value,
            // As in JavaScript.
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) | Self::Tag(text) => !text.is_empty(),
            Self::Duration(duration) => !duration.is_zero(),
            Self::List(items) => !items.is_empty(),
            Self::Object(entries) => !entries.is_empty(),
            // Things rather than texts: they are true even if they are empty.
            Self::Url(_)
            | Self::Html(_)
            | Self::Image(_)
            | Self::Icon(_)
            | Self::Date(_)
            | Self::Link(_)
            | Self::File(_)
            | Self::Regexp(_) => true,
        }
    }
}

/// The entry of an object, by its name in any case; the exact spelling first.
pub(super) fn entry<'o>(object: &'o BaseObject, name: &str) -> Option<&'o BaseValue> {
    // The exact name is found without a walk.
    object.get(name).or_else(|| {
        let wanted = name.to_lowercase();
        object.iter().find(|(known, _)| known.to_lowercase() == wanted).map(|(_, value)| value)
    })
}
