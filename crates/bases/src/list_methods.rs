//! Methods of lists that need nothing but the list. Those that look for an item are with the calls.

use std::collections::HashSet;

use super::{
    arithmetic::MAX_TEXT,
    base_date::BaseDate,
    base_value::BaseValue,
    call_arguments::CallArguments,
    calls::MethodAnswer,
    comparison::{distinct_key, sorted_places},
    fault::BaseFault,
    known_name::KnownFunction,
    string_methods::slice_bounds,
    text_form::TextClock,
};

pub(super) fn call(items: &[BaseValue], function: KnownFunction, arguments: &CallArguments<'_>) -> MethodAnswer {
    let clock = arguments.clock;
    let answer = match function {
        KnownFunction::Join => {
            arguments.count(1, 1)?;
            joined(items, &arguments.text(0, "separator")?, clock)?
        }
        KnownFunction::Slice => {
            arguments.count(1, 2)?;
            let (start, end) = (arguments.number(0, "start")?, arguments.optional_number(1, "end")?);
            let (start, end) = slice_bounds(items.len(), start, end);
            BaseValue::list(items[start..end].to_vec())
        }
        KnownFunction::Flat
        | KnownFunction::Reverse
        | KnownFunction::Sort
        | KnownFunction::Unique
        | KnownFunction::Sum
        | KnownFunction::Mean
        | KnownFunction::Median
        | KnownFunction::Min
        | KnownFunction::Max
        | KnownFunction::StandardDeviation
        | KnownFunction::Earliest
        | KnownFunction::Latest => {
            arguments.count(0, 0)?;
            plain(items, function, clock)
        }
        // The caller tries those that search a list.
        _ => return Ok(None),
    };
    Ok(Some(answer))
}

/// Those without arguments.
fn plain(items: &[BaseValue], function: KnownFunction, clock: &TextClock) -> BaseValue {
    let number = |number: Option<f64>| number.map_or(BaseValue::Null, BaseValue::Number);
    match function {
        // `Arc`s inside of the values make these copies cheap.
        KnownFunction::Flat => BaseValue::list(items.iter().flat_map(flattened).cloned().collect()),
        KnownFunction::Reverse => BaseValue::list(items.iter().rev().cloned().collect()),
        KnownFunction::Sort => sorted(items, clock),
        KnownFunction::Unique => unique(items, clock),
        KnownFunction::Sum => BaseValue::Number(numbers(items).iter().sum()),
        KnownFunction::Mean => number(mean(&numbers(items))),
        KnownFunction::Median => number(median(numbers(items))),
        KnownFunction::Min => number(numbers(items).into_iter().reduce(f64::min)),
        KnownFunction::Max => number(numbers(items).into_iter().reduce(f64::max)),
        KnownFunction::StandardDeviation => number(standard_deviation(&numbers(items))),
        KnownFunction::Earliest => dates(items).min_by_key(|date| date.moment).map_or(BaseValue::Null, BaseValue::Date),
        // `Latest`, the last of those that get here.
        _ => dates(items).max_by_key(|date| date.moment).map_or(BaseValue::Null, BaseValue::Date),
    }
}

fn joined(items: &[BaseValue], separator: &str, clock: &TextClock) -> Result<BaseValue, BaseFault> {
    let mut text = String::new();
    for (at, item) in items.iter().enumerate() {
        text += if at == 0 { "" } else { separator };
        text += &clock.text(item);
        // Checked on the way, as the items may be the same long text many times.
        if text.len() > MAX_TEXT {
            return Err(BaseFault::error("The text is too long"));
        }
    }
    Ok(BaseValue::text(text))
}

/// One level.
fn flattened(item: &BaseValue) -> &[BaseValue] {
    match item {
        BaseValue::List(items) => items,
        item => std::slice::from_ref(item),
    }
}

fn sorted(items: &[BaseValue], clock: &TextClock) -> BaseValue {
    let values: Vec<&BaseValue> = items.iter().collect();
    // Places rather than values are sorted, because comparing needs the list as it was.
    let mut places: Vec<u32> = (0..u32::try_from(values.len()).unwrap_or(u32::MAX)).collect();
    sorted_places(&values, &mut places, false, clock);
    BaseValue::list(places.into_iter().map(|place| items[place as usize].clone()).collect())
}

fn unique(items: &[BaseValue], clock: &TextClock) -> BaseValue {
    let mut seen = HashSet::new();
    // By a key, so that long lists are not compared pair by pair.
    BaseValue::list(items.iter().filter(|item| seen.insert(distinct_key(item, clock))).cloned().collect())
}

fn numbers(items: &[BaseValue]) -> Vec<f64> {
    // Other values are left out, as in the app's summaries.
    let number = |item: &BaseValue| match item {
        BaseValue::Number(number) => Some(*number),
        _ => None,
    };
    items.iter().filter_map(number).collect()
}

fn dates(items: &[BaseValue]) -> impl Iterator<Item = BaseDate> {
    items.iter().filter_map(|item| match item {
        BaseValue::Date(date) => Some(*date),
        _ => None,
    })
}

#[expect(clippy::cast_precision_loss, reason = "a list has fewer items")]
fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

fn median(mut numbers: Vec<f64>) -> Option<f64> {
    // A list may have NaN in it.
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() % 2 {
        _ if numbers.is_empty() => None,
        1 => numbers.get(middle).copied(),
        // The mean of the two in the middle.
        _ => Some(f64::midpoint(*numbers.get(middle - 1)?, *numbers.get(middle)?)),
    }
}

/// Of the numbers as the whole, not as a sample.
fn standard_deviation(numbers: &[f64]) -> Option<f64> {
    let middle = mean(numbers)?;
    let squares: Vec<f64> = numbers.iter().map(|number| (number - middle) * (number - middle)).collect();
    mean(&squares).map(f64::sqrt)
}
