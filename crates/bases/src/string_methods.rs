//! Methods of texts, and of regular expressions on texts.

use super::{
    arithmetic::MAX_TEXT, base_regexp::BaseRegexp, base_value::BaseValue, call_arguments::CallArguments,
    calls::MethodAnswer, fault::BaseFault, known_name::KnownFunction,
};
use lapidary_query::{ReplaceError, Replacer, utf16_length, utf16_slice};

pub(super) fn call(text: &str, function: KnownFunction, arguments: &CallArguments<'_>) -> MethodAnswer {
    let answer = match function {
        KnownFunction::Contains => {
            arguments.count(1, 1)?;
            BaseValue::Boolean(text.contains(&*arguments.text(0, "value")?))
        }
        KnownFunction::ContainsAll | KnownFunction::ContainsAny => {
            // With any number of arguments, also none: all of none are contained.
            let mut found = 0;
            for at in 0..arguments.values.len() {
                // All are converted, so that a wrong argument is an error wherever it is.
                found += usize::from(text.contains(&*arguments.text(at, "values")?));
            }
            let all = function == KnownFunction::ContainsAll;
            BaseValue::Boolean(if all { found == arguments.values.len() } else { found > 0 })
        }
        KnownFunction::StartsWith => {
            arguments.count(1, 1)?;
            BaseValue::Boolean(text.starts_with(&*arguments.text(0, "query")?))
        }
        KnownFunction::EndsWith => {
            arguments.count(1, 1)?;
            BaseValue::Boolean(text.ends_with(&*arguments.text(0, "query")?))
        }
        KnownFunction::Lower => {
            arguments.count(0, 0)?;
            BaseValue::text(text.to_lowercase())
        }
        KnownFunction::Title => {
            arguments.count(0, 0)?;
            BaseValue::text(titled(text))
        }
        KnownFunction::Trim => {
            arguments.count(0, 0)?;
            // JavaScript's `trim` also takes the byte order mark.
            BaseValue::text(text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}'))
        }
        KnownFunction::Reverse => {
            arguments.count(0, 0)?;
            BaseValue::text(text.chars().rev().collect::<String>())
        }
        KnownFunction::Repeat => {
            arguments.count(1, 1)?;
            repeated(text, arguments.number(0, "count")?)?
        }
        KnownFunction::Slice => {
            arguments.count(1, 2)?;
            let (start, end) = (arguments.number(0, "start")?, arguments.optional_number(1, "end")?);
            // Positions are in UTF-16, as in JavaScript.
            let (start, end) = slice_bounds(utf16_length(text), start, end);
            BaseValue::text(utf16_slice(text, start, end))
        }
        KnownFunction::Split => {
            arguments.count(1, 2)?;
            let most = arguments.optional_number(1, "n")?;
            let parts = match arguments.get(0) {
                BaseValue::Regexp(separator) => split_by(&separator.replacer, text)?,
                _ => split(text, &arguments.text(0, "separator")?),
            };
            // As JavaScript counts: a negative number is a huge one.
            let most = most.filter(|most| *most > -1.0).map_or(usize::MAX, whole_count);
            BaseValue::list(parts.into_iter().take(most).map(BaseValue::text).collect())
        }
        KnownFunction::Replace => {
            arguments.count(2, 2)?;
            let new = arguments.text(1, "replacement")?;
            match arguments.get(0) {
                BaseValue::Regexp(pattern) => replaced(text, pattern, &new)?,
                _ => replaced_text(text, &arguments.text(0, "pattern")?, &new)?,
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(answer))
}

pub(super) fn regexp_call(regexp: &BaseRegexp, function: KnownFunction, arguments: &CallArguments<'_>) -> MethodAnswer {
    if function != KnownFunction::Matches {
        return Ok(None);
    }
    arguments.count(1, 1)?;
    let found = regexp.is_match(&arguments.text(0, "value")?).map_err(undecided)?;
    Ok(Some(BaseValue::Boolean(found)))
}

fn undecided(error: ReplaceError) -> BaseFault {
    BaseFault::error(format!("Cannot apply the regular expression: {error}"))
}

/// The first letter of each word in its upper case.
fn titled(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    let mut begins = true;
    for c in text.chars() {
        if begins {
            titled.extend(c.to_uppercase());
        } else {
            titled.push(c);
        }
        begins = c.is_whitespace();
    }
    titled
}

fn repeated(text: &str, count: f64) -> Result<BaseValue, BaseFault> {
    let count = if count.is_nan() { 0.0 } else { count.trunc() };
    if !(0.0..f64::INFINITY).contains(&count) {
        return Err(BaseFault::error(format!("Invalid count value: {}", super::text_form::shown_number(count))));
    }
    #[expect(clippy::cast_precision_loss, reason = "an estimate is enough")]
    let bytes = text.len() as f64 * count;
    if bytes > MAX_TEXT as f64 {
        return Err(BaseFault::error("The text is too long"));
    }
    // Nothing repeated is nothing, however often.
    Ok(BaseValue::text(if text.is_empty() { String::new() } else { text.repeat(whole_count(count)) }))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is out of range is cut to it")]
fn whole_count(number: f64) -> usize {
    // A cast of a float saturates.
    number as usize
}

/// As JavaScript counts: from the end if it is negative, and never outside.
pub(super) fn slice_bounds(length: usize, start: f64, end: Option<f64>) -> (usize, usize) {
    let place = |number: f64| {
        let number = if number.is_nan() { 0.0 } else { number.trunc() };
        if number < 0.0 { length.saturating_sub(whole_count(-number)) } else { whole_count(number).min(length) }
    };
    let (start, end) = (place(start), end.map_or(length, place));
    // An end before the start is an empty part.
    (start, end.max(start))
}

fn split(text: &str, separator: &str) -> Vec<String> {
    if separator.is_empty() {
        return text.chars().map(String::from).collect();
    }
    text.split(separator).map(str::to_owned).collect()
}

/// `text.split(regexp)`: groups of the separator are parts too.
fn split_by(separator: &Replacer, text: &str) -> Result<Vec<String>, BaseFault> {
    let mut parts = Vec::new();
    if text.is_empty() {
        let matches = separator.is_match(text).map_err(undecided)?;
        // As in JavaScript: an empty text that the separator matches has no parts.
        return Ok(if matches { parts } else { vec![String::new()] });
    }
    let (mut begin, mut at) = (0, 0);
    while at < text.len() {
        // Positions move on with every match, so the loop ends.
        let Some(groups) = separator.find(text, at, &|| false).map_err(undecided)? else { break };
        let Some(Some(whole)) = groups.first().cloned() else { break };
        if whole.start >= text.len() {
            break;
        }
        let next = |at: usize| at + text[at..].chars().next().map_or(1, char::len_utf8);
        // An empty match splits between two characters, not before the first.
        if whole.end == begin {
            at = next(at.max(whole.end));
            if whole.start < begin || at > text.len() {
                break;
            }
            continue;
        }
        parts.push(text[begin..whole.start].to_owned());
        let group = |span: &Option<std::ops::Range<usize>>| span.clone().map_or("", |span| &text[span]).to_owned();
        parts.extend(groups.iter().skip(1).map(group));
        begin = whole.end;
        at = begin;
    }
    parts.push(text[begin..].to_owned());
    Ok(parts)
}

fn replaced(text: &str, pattern: &BaseRegexp, new: &str) -> Result<BaseValue, BaseFault> {
    let replacements =
        pattern.replacer.replacements(text, new, pattern.is_global(), MAX_TEXT, &|| false).map_err(undecided)?;
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for replacement in replacements {
        // Replacements are in order and do not overlap.
        result += &text[at..replacement.span.start];
        result += &replacement.text;
        at = replacement.span.end;
    }
    result += &text[at..];
    Ok(BaseValue::text(result))
}

/// A text is replaced everywhere.
fn replaced_text(text: &str, old: &str, new: &str) -> Result<BaseValue, BaseFault> {
    // Counted first, as the result may be far larger than the text.
    let count = if old.is_empty() { text.chars().count() + 1 } else { text.matches(old).count() };
    if text.len().saturating_add(count.saturating_mul(new.len())) > MAX_TEXT {
        return Err(BaseFault::error("The text is too long"));
    }
    Ok(BaseValue::text(text.replace(old, new)))
}
