//! The one order of all values, from which `=`, `<`, SORT, GROUP BY, `min`, `max` and `unique` follow.

use std::{cmp::Ordering, rc::Rc};

use lapidary_query::{LinkValue, collate};

use super::{
    cell::Cell,
    engine::{FieldError, QueryEngine},
    file_fields::file_entries,
    record::{RecordBase, RecordData},
};

/// Compares within one query. Null is below everything; values of different types go by the names of their types.
pub(super) struct CellOrder<'e, 'v> {
    engine: &'e QueryEngine<'v>,
    /// Whether links are equal if they lead to the same file, or only if they are written alike.
    resolves_links: bool,
}

impl<'e, 'v> CellOrder<'e, 'v> {
    pub(super) fn new(engine: &'e QueryEngine<'v>) -> Self {
        Self { engine, resolves_links: true }
    }

    /// For values inside of others, whose links are compared as they are written.
    pub(super) fn without_links(engine: &'e QueryEngine<'v>) -> Self {
        Self { engine, resolves_links: false }
    }

    /// Less, equal or greater. Not a total order: a date may be greater than another that is greater than it.
    pub(super) fn compare(&self, left: &Cell<'v>, right: &Cell<'v>) -> Result<Ordering, FieldError> {
        let kinds = (left.kind(), right.kind());
        match (left.is_null(), right.is_null()) {
            (true, true) => return Ok(Ordering::Equal),
            (true, false) => return Ok(Ordering::Less),
            (false, true) => return Ok(Ordering::Greater),
            // Types are declared in the order of their names, which is Dataview's order.
            (false, false) if kinds.0 != kinds.1 => return Ok(kinds.0.cmp(&kinds.1)),
            _ => {}
        }
        Ok(match (left, right) {
            (Cell::Text(left), Cell::Text(right)) => {
                // Long texts take longer to compare, and sorting compares many.
                self.engine.steps(1 + (left.len() + right.len()) / 64)?;
                collate(left, right)
            }
            // NaN is neither less nor equal, and so greater, whichever side it is on.
            (Cell::Number(left), Cell::Number(right)) => less_or(left < right, left == right),
            (Cell::Boolean(left), Cell::Boolean(right)) => left.cmp(right),
            (Cell::Date(left), Cell::Date(right)) => {
                let same = Rc::ptr_eq(left, right);
                // The same moment in two zones is neither less nor equal, and so greater both ways.
                less_or(left.milliseconds() < right.milliseconds(), same || left.equals(right))
            }
            (Cell::Duration(left), Cell::Duration(right)) => {
                less_or(left.total_milliseconds() < right.total_milliseconds(), left == right)
            }
            (Cell::Link(left), Cell::Link(right)) => self.links(left, right),
            (Cell::List(left), Cell::List(right)) => {
                // Saves the walk over a list that is compared with itself, as when rows share it.
                if Rc::ptr_eq(left, right) { Ordering::Equal } else { self.lists(&left.items, &right.items)? }
            }
            (Cell::Function(_), _) | (Cell::Widget(_), _) => Ordering::Equal,
            _ if same_object(left, right) => Ordering::Equal,
            _ => self.objects(left, right)?,
        })
    }

    fn links(&self, left: &LinkValue, right: &LinkValue) -> Ordering {
        let paths = if left.path == right.path {
            Ordering::Equal
        } else if self.resolves_links {
            collate(&self.engine.normalised_path(&left.path), &self.engine.normalised_path(&right.path))
        } else {
            collate(&left.path, &right.path)
        };
        let place = |link: &LinkValue| match link.subpath.as_deref() {
            None => ("file", String::new()),
            Some(subpath) => match subpath.strip_prefix('^') {
                Some(block) => ("block", block.to_owned()),
                None => ("header", subpath.to_owned()),
            },
        };
        let ((left_kind, left_place), (right_kind, right_place)) = (place(left), place(right));
        paths
            .then_with(|| left_kind.cmp(right_kind))
            // A link to the file itself comes before links into it.
            .then_with(|| left_place.is_empty().cmp(&right_place.is_empty()).reverse())
            .then_with(|| collate(&left_place, &right_place))
    }

    fn lists(&self, left: &[Cell<'v>], right: &[Cell<'v>]) -> Result<Ordering, FieldError> {
        // Dataview passes its way of comparing links on to no inner value.
        let inside = Self::without_links(self.engine);
        for (left, right) in left.iter().zip(right) {
            self.engine.step()?;
            let order = inside.compare(left, right)?;
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
        Ok(left.len().cmp(&right.len()))
    }

    fn objects(&self, left: &Cell<'v>, right: &Cell<'v>) -> Result<Ordering, FieldError> {
        let sorted = |cell: &Cell<'v>| {
            let mut entries = object_entries(self.engine, cell);
            // By the code units of the names, as JavaScript sorts without being told how.
            entries.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
            entries
        };
        let (left, right) = (sorted(left), sorted(right));
        self.engine.steps(left.len() + right.len())?;
        // All names first and the values afterwards, as in Dataview.
        for ((left, _), (right, _)) in left.iter().zip(&right) {
            let order = collate(left, right);
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
        if left.len() != right.len() {
            return Ok(left.len().cmp(&right.len()));
        }
        let inside = Self::without_links(self.engine);
        for ((_, left), (_, right)) in left.iter().zip(&right) {
            let order = inside.compare(left, right)?;
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }
}

/// What is neither less nor equal is greater.
fn less_or(less: bool, equal: bool) -> Ordering {
    if less {
        Ordering::Less
    } else if equal {
        Ordering::Equal
    } else {
        Ordering::Greater
    }
}

fn same_object(left: &Cell<'_>, right: &Cell<'_>) -> bool {
    let same_base = |left: &RecordData<'_>, right: &RecordData<'_>| {
        left.extra().is_empty()
            && right.extra().is_empty()
            && match (left.base(), right.base()) {
                (RecordBase::Page(left), RecordBase::Page(right)) => Rc::ptr_eq(left, right),
                (
                    RecordBase::Item { page: left, item: at, with_page: whole },
                    RecordBase::Item { page: right, item: other, with_page: other_whole },
                ) => Rc::ptr_eq(left, right) && at == other && whole == other_whole,
                (RecordBase::Object(left), RecordBase::Object(right)) => Rc::ptr_eq(left, right),
                _ => false,
            }
    };
    match (left, right) {
        (Cell::Object(left), Cell::Object(right)) => Rc::ptr_eq(left, right),
        (Cell::Record(left), Cell::Record(right)) => Rc::ptr_eq(left, right) || same_base(left, right),
        (Cell::File(left), Cell::File(right)) => Rc::ptr_eq(left, right),
        _ => false,
    }
}

/// Everything in an object, in the order of JavaScript.
pub(super) fn object_entries<'v>(engine: &QueryEngine<'v>, cell: &Cell<'v>) -> Vec<(Rc<str>, Cell<'v>)> {
    match cell {
        Cell::Object(object) => {
            let entries = object.entries.iter().map(|(name, value)| (Rc::clone(name), value.clone())).collect();
            super::cell::in_script_order(entries)
        }
        Cell::Record(record) => record.entries(engine),
        Cell::File(page) => file_entries(engine, page),
        _ => Vec::new(),
    }
}

/// Sorts stably with any comparison, however it contradicts itself: short lists by binary insertion and long ones by
/// merging, as JavaScript engines do.
pub(super) fn stable_sort<T>(
    items: Vec<T>,
    compare: &mut dyn FnMut(&T, &T) -> Result<Ordering, FieldError>,
) -> Result<Vec<T>, FieldError> {
    const SHORT: usize = 32;
    if items.len() <= SHORT {
        return insertion_sort(items, compare);
    }
    let mut left = items;
    let right = left.split_off(left.len() / 2);
    let left = stable_sort(left, compare)?;
    let right = stable_sort(right, compare)?;
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        // Of equal ones the left is taken, which keeps the sort stable.
        let takes_right = compare(b, a)? == Ordering::Less;
        merged.extend(if takes_right { right.next() } else { left.next() });
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

fn insertion_sort<T>(
    items: Vec<T>,
    compare: &mut dyn FnMut(&T, &T) -> Result<Ordering, FieldError>,
) -> Result<Vec<T>, FieldError> {
    let mut sorted: Vec<T> = Vec::with_capacity(items.len());
    for item in items {
        let (mut low, mut high) = (0, sorted.len());
        // Most rows come nearly in order.
        if high > 0 && compare(&item, &sorted[high - 1])? != Ordering::Less {
            low = high;
        }
        while low < high {
            let middle = (low + high) / 2;
            if compare(&item, &sorted[middle])? == Ordering::Less {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        sorted.insert(low, item);
    }
    Ok(sorted)
}
