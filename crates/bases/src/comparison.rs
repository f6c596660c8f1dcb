//! Equality, relations and the order of rows: three tables that agree with no other language.

use std::{borrow::Cow, cmp::Ordering};

use super::{
    base_date::BaseDate,
    base_duration::BaseDuration,
    base_value::{BaseLink, BaseValue},
    formula::BinaryOperator,
    frontmatter::wikilink,
    text_form::TextClock,
};
use lapidary_note::count_steps;
use lapidary_query::{ascii_key, collate, text_to_number};

/// Values deeper than this are not compared any further, and count as different.
const MAX_DEPTH: usize = 64;
/// What comparing two short values counts.
const PAIR_STEPS: usize = 8;

/// Where links lead.
pub(super) trait LinkTargets {
    /// The path of the file, if there is one.
    fn target_of(&self, link: &BaseLink) -> Option<String>;
}

/// `==`: loose, and the same from both sides.
pub(super) fn equals(a: &BaseValue, b: &BaseValue, clock: &TextClock, links: &dyn LinkTargets) -> bool {
    Equality { clock, links }.holds(a, b, 0)
}

struct Equality<'e> {
    clock: &'e TextClock,
    links: &'e dyn LinkTargets,
}

impl Equality<'_> {
    fn holds(&self, a: &BaseValue, b: &BaseValue, depth: usize) -> bool {
        use BaseValue::{Boolean, Date, Duration, File, Link, List, Null, Number, Object, Regexp, Text};
        match (a, b) {
            // Before any conversion: an empty text is not null.
            (Null, _) | (_, Null) => a.is_null() && b.is_null(),
            (Number(a), Number(b)) => a == b,
            (Boolean(a), Boolean(b)) => a == b,
            (Text(a), Text(b)) => a == b,
            (Date(a), Date(b)) => a.is_same(*b, &self.clock.zone),
            (Duration(a), Duration(b)) => a.length() == b.length(),
            (Date(date), other) | (other, Date(date)) if other.is_textual() => {
                BaseDate::parse(&self.clock.text(other), &self.clock.zone)
                    .is_some_and(|other| date.is_same(other, &self.clock.zone))
            }
            (Duration(duration), other) | (other, Duration(duration)) if other.is_textual() => {
                BaseDuration::parse(&self.clock.text(other)).is_some_and(|other| duration.length() == other.length())
            }
            (File(a), File(b)) => a.path == b.path,
            (Link(a), Link(b)) => self.same_target(a, b),
            (Link(link), File(file)) | (File(file), Link(link)) => {
                self.links.target_of(link).is_some_and(|path| *path == *file.path)
            }
            (Link(link), other) | (other, Link(link)) if other.is_textual() => {
                let text = self.clock.text(other);
                match wikilink(&text, link.source.clone()) {
                    Some(written) => self.same_target(link, &written),
                    None => *text == link.target,
                }
            }
            (File(file), other) | (other, File(file)) if other.is_textual() => {
                let text = self.clock.text(other);
                let written = wikilink(&text, None).and_then(|link| self.links.target_of(&link));
                *written.as_deref().unwrap_or(&text) == *file.path
            }
            (List(_) | Object(_), _) | (_, List(_) | Object(_)) if depth >= MAX_DEPTH => false,
            (List(a), List(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| self.holds(a, b, depth + 1))
            }
            // A property may be written as a value or as a list of one.
            (List(items), other) | (other, List(items)) => self.is_only_item(items, other, depth),
            (Object(a), Object(b)) => {
                let same = |(name, value)| b.get(name).is_some_and(|other| self.holds(value, other, depth + 1));
                a.len() == b.len() && a.iter().all(same)
            }
            (Regexp(a), Regexp(b)) => a == b,
            (a, b) if a.is_textual() && b.is_textual() => self.clock.text(a) == self.clock.text(b),
            _ => match (self.primitive(a), self.primitive(b)) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }

    /// Whether a list with one item equals that item.
    fn is_only_item(&self, items: &[BaseValue], other: &BaseValue, depth: usize) -> bool {
        matches!(items, [only] if self.holds(only, other, depth + 1))
    }

    fn same_target(&self, a: &BaseLink, b: &BaseLink) -> bool {
        match (self.links.target_of(a), self.links.target_of(b)) {
            (Some(a), Some(b)) => a == b,
            // Two links that lead nowhere are the same if they are written alike.
            (None, None) => a.target == b.target,
            _ => false,
        }
    }

    /// What JavaScript compares booleans, numbers and texts of different kinds by.
    fn primitive(&self, value: &BaseValue) -> Option<f64> {
        match value {
            BaseValue::Boolean(value) => Some(f64::from(u8::from(*value))),
            BaseValue::Number(number) => Some(*number),
            value if value.is_textual() => Some(text_to_number(&self.clock.text(value))),
            _ => None,
        }
    }
}

/// `<`, `>`, `<=`, `>=`; null if either side is.
pub(super) fn relation(operator: BinaryOperator, a: &BaseValue, b: &BaseValue, clock: &TextClock) -> BaseValue {
    // Null, and so neither true nor an error: rows without the property are left out.
    if a.is_null() || b.is_null() {
        return BaseValue::Null;
    }
    let holds = compared(a, b, clock).is_some_and(|order| match operator {
        BinaryOperator::Less => order == Ordering::Less,
        BinaryOperator::LessOrEqual => order != Ordering::Greater,
        BinaryOperator::Greater => order == Ordering::Greater,
        _ => order != Ordering::Less,
    });
    BaseValue::Boolean(holds)
}

fn compared(a: &BaseValue, b: &BaseValue, clock: &TextClock) -> Option<Ordering> {
    if let (BaseValue::Number(a), BaseValue::Number(b)) = (a, b) {
        return a.partial_cmp(b);
    }
    let is_date = |value: &BaseValue| matches!(value, BaseValue::Date(_));
    if (is_date(a) || is_date(b))
        && let (Some(a), Some(b)) = (date_of(a, clock), date_of(b, clock))
    {
        // JavaScript has no finer times.
        return Some(a.moment.as_millisecond().cmp(&b.moment.as_millisecond()));
    }
    let is_duration = |value: &BaseValue| matches!(value, BaseValue::Duration(_));
    if (is_duration(a) || is_duration(b))
        && let (Some(a), Some(b)) = (duration_of(a, clock), duration_of(b, clock))
    {
        return a.length().partial_cmp(&b.length());
    }
    match (a, b) {
        (BaseValue::Number(a), b) => a.partial_cmp(&text_to_number(&clock.text(b))),
        (a, BaseValue::Number(b)) => text_to_number(&clock.text(a)).partial_cmp(b),
        (a, b) => Some(code_units(&clock.text(a), &clock.text(b))),
    }
}

fn date_of(value: &BaseValue, clock: &TextClock) -> Option<BaseDate> {
    match value {
        BaseValue::Date(date) => Some(*date),
        value if value.is_textual() => BaseDate::parse(&clock.text(value), &clock.zone),
        _ => None,
    }
}

fn duration_of(value: &BaseValue, clock: &TextClock) -> Option<BaseDuration> {
    match value {
        BaseValue::Duration(duration) => Some(**duration),
        value if value.is_textual() => BaseDuration::parse(&clock.text(value)),
        _ => None,
    }
}

/// The order of JavaScript texts.
fn code_units(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

/// What a column is sorted by, so that its order is one order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SortKind {
    Booleans,
    Numbers,
    Dates,
    Durations,
    Texts,
    /// Several kinds: each pair is compared by its own kinds.
    Mixed,
}

/// The places of values in ascending or descending order. Null comes last in either; equal values stay in order.
pub(super) fn sorted_places(values: &[&BaseValue], places: &mut Vec<u32>, descending: bool, clock: &TextClock) {
    // One kind for the whole column: comparing pair by pair would not be an order.
    let kind = places.iter().fold(None, |kind, place| sort_kind(kind, values[*place as usize]));
    let Some(kind) = kind else { return };
    let turn = |order: Ordering| if descending { order.reverse() } else { order };
    let compare = |a: &BaseValue, b: &BaseValue| {
        count_steps(PAIR_STEPS);
        match (is_last(a, kind), is_last(b, kind)) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => turn(pair_order(a, b, clock)),
        }
    };
    match kind {
        SortKind::Texts => {
            if let Some(keyed) = ascii_keys(values, places, clock) {
                return sort_keyed(keyed, places, descending);
            }
            // The texts are made once, not for each comparison.
            let keyed = |place: &u32| {
                let value = values[*place as usize];
                ((!value.is_null()).then(|| sort_text(value, clock)), *place)
            };
            let mut keyed: Vec<_> = places.iter().map(keyed).collect();
            keyed.sort_by(|(a, _), (b, _)| match (a, b) {
                (Some(a), Some(b)) => {
                    count_steps(PAIR_STEPS + a.len().min(b.len()));
                    turn(collate(a, b))
                }
                (a, b) => a.is_none().cmp(&b.is_none()),
            });
            places.clear();
            places.extend(keyed.into_iter().map(|(_, place)| place));
        }
        SortKind::Numbers => {
            let keyed = |place: &u32| match values[*place as usize] {
                BaseValue::Number(number) => (Some(*number), *place),
                _ => (None, *place),
            };
            let mut keyed: Vec<(Option<f64>, u32)> = places.iter().map(keyed).collect();
            keyed.sort_by(|(a, _), (b, _)| match (a, b) {
                // None of them is NaN, which would make the column a mixed one.
                (Some(a), Some(b)) => {
                    count_steps(PAIR_STEPS);
                    turn(a.partial_cmp(b).unwrap_or(Ordering::Equal))
                }
                (a, b) => a.is_none().cmp(&b.is_none()),
            });
            places.clear();
            places.extend(keyed.into_iter().map(|(_, place)| place));
        }
        SortKind::Mixed => merge_sort(places, &|a, b| compare(values[a as usize], values[b as usize])),
        _ => places.sort_by(|a, b| compare(values[*a as usize], values[*b as usize])),
    }
}

/// The places with the keys of their texts, if all of them are ASCII; null has none.
type KeyedPlace = (Option<(u64, Vec<u8>)>, u32);

fn ascii_keys(values: &[&BaseValue], places: &[u32], clock: &TextClock) -> Option<Vec<KeyedPlace>> {
    let keyed = |place: &u32| {
        let value = values[*place as usize];
        if value.is_null() {
            return Some((None, *place));
        }
        let text = sort_text(value, clock);
        count_steps(PAIR_STEPS + text.len());
        let key = ascii_key(&text)?;
        // The first bytes as a number decide most comparisons at once.
        let mut head = [0; 8];
        head.iter_mut().zip(&key).for_each(|(head, byte)| *head = *byte);
        Some((Some((u64::from_be_bytes(head), key)), *place))
    };
    places.iter().map(keyed).collect()
}

fn sort_keyed(mut keyed: Vec<KeyedPlace>, places: &mut Vec<u32>, descending: bool) {
    keyed.sort_by(|(a, _), (b, _)| match (a, b) {
        (Some(a), Some(b)) => {
            count_steps(PAIR_STEPS);
            if descending { b.cmp(a) } else { a.cmp(b) }
        }
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    places.clear();
    places.extend(keyed.into_iter().map(|(_, place)| place));
}

/// A null checkbox is one that is not set; elsewhere null comes last.
fn is_last(value: &BaseValue, kind: SortKind) -> bool {
    value.is_null() && kind != SortKind::Booleans
}

fn sort_kind(known: Option<SortKind>, value: &BaseValue) -> Option<SortKind> {
    let kind = match value {
        BaseValue::Null => return known,
        BaseValue::Boolean(_) => SortKind::Booleans,
        // It has no order among numbers, so only the sort that bears contradictions may be used.
        BaseValue::Number(number) if number.is_nan() => SortKind::Mixed,
        BaseValue::Number(_) => SortKind::Numbers,
        BaseValue::Date(_) => SortKind::Dates,
        BaseValue::Duration(_) => SortKind::Durations,
        _ => SortKind::Texts,
    };
    match known {
        Some(known) if known != kind => Some(SortKind::Mixed),
        _ => Some(kind),
    }
}

fn pair_order(a: &BaseValue, b: &BaseValue, clock: &TextClock) -> Ordering {
    match (a, b) {
        (BaseValue::Null, BaseValue::Boolean(b)) => false.cmp(b),
        (BaseValue::Boolean(a), BaseValue::Null) => a.cmp(&false),
        (BaseValue::Boolean(a), BaseValue::Boolean(b)) => a.cmp(b),
        (BaseValue::Number(a), BaseValue::Number(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (BaseValue::Date(a), BaseValue::Date(b)) => a.moment.cmp(&b.moment),
        (BaseValue::Duration(a), BaseValue::Duration(b)) => {
            a.length().partial_cmp(&b.length()).unwrap_or(Ordering::Equal)
        }
        (a, b) => collate(&sort_text(a, clock), &sort_text(b, clock)),
    }
}

/// Links are sorted by what is shown of them.
fn sort_text<'v>(value: &'v BaseValue, clock: &TextClock) -> Cow<'v, str> {
    match value {
        BaseValue::Link(link) => link.display.as_deref().unwrap_or(&link.target).into(),
        value => clock.text(value),
    }
}

/// A stable sort that ends with any comparison, also one that contradicts itself: numbers are compared as numbers and
/// with texts as texts, so that `2 < 10`, `10 < "1a"` and `"1a" < 2`.
fn merge_sort(places: &mut Vec<u32>, compare: &dyn Fn(u32, u32) -> Ordering) {
    let mut width = 1;
    let mut merged = Vec::with_capacity(places.len());
    while width < places.len() {
        merged.clear();
        for pair in places.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let ([a, after_a @ ..], [b, after_b @ ..]) = (left, right) {
                if compare(*b, *a) == Ordering::Less {
                    merged.push(*b);
                    right = after_b;
                } else {
                    merged.push(*a);
                    left = after_a;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        // The two buffers change their roles, so nothing is allocated for a pass.
        std::mem::swap(places, &mut merged);
        width *= 2;
    }
}

/// What two values share if they count as one among distinct values: their type and a text.
pub(super) type DistinctKey<'v> = (&'static str, Cow<'v, str>);

/// Links and texts are told apart by how they are written.
pub(super) fn distinct_key<'v>(value: &'v BaseValue, clock: &TextClock) -> DistinctKey<'v> {
    let text = match value {
        BaseValue::Date(date) => {
            Cow::Owned(format!("{}{}", date.moment.as_millisecond(), if date.has_time { "" } else { "d" }))
        }
        BaseValue::Duration(duration) => Cow::Owned(duration.length().to_string()),
        BaseValue::List(items) => {
            let keys = items.iter().map(|item| {
                let (kind, text) = distinct_key(item, clock);
                // With its length, or the texts of two items could be told as one.
                format!("{kind}{}:{text}", text.len())
            });
            Cow::Owned(keys.collect())
        }
        value => clock.text(value),
    };
    (value.type_name(), text)
}
