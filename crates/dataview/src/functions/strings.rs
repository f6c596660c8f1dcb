//! Functions on texts, counted in UTF-16 units.

use crate::{
    cell::Cell,
    engine::{FieldError, FieldResult, QueryEngine},
};
use lapidary_query::{ReplaceError, Replacer, utf16_length, utf16_slice};

use super::{Answered, FunctionName, answer};

/// What compiling an expression counts, in steps.
const COMPILE_STEPS: usize = 100;

pub(super) fn call<'v>(engine: &QueryEngine<'v>, function: FunctionName, arguments: &[Cell<'v>]) -> Answered<'v> {
    match function {
        FunctionName::RegexTest | FunctionName::RegexMatch => match arguments {
            [Cell::Text(pattern), Cell::Text(text)] => {
                // Dataview anchors a pattern only if it has neither of the two anchors.
                let whole =
                    function == FunctionName::RegexMatch && !pattern.starts_with('^') && !pattern.ends_with('$');
                let pattern = if whole { format!("^{pattern}$") } else { pattern.to_string() };
                matches(engine, &pattern, text, false).map(|found| Some(Cell::Boolean(found)))
            }
            [Cell::Null, _] | [_, Cell::Null] => answer(Cell::Boolean(false)),
            _ => Ok(None),
        },
        FunctionName::RegexReplace => match arguments {
            [Cell::Text(text), Cell::Text(pattern), Cell::Text(new)] => {
                regex_replace(engine, text, pattern, new).map(Some)
            }
            _ => nulls(arguments, 3),
        },
        FunctionName::ContainsWord => match arguments {
            [Cell::Text(text), Cell::Text(word)] => {
                // The pattern of Dataview, whose words are those of ASCII.
                let pattern = format!(r".*\b{}\b.*", escaped(word));
                matches(engine, &pattern, text, true).map(|found| Some(Cell::Boolean(found)))
            }
            _ => nulls(arguments, 2),
        },
        FunctionName::Replace => match arguments {
            [Cell::Text(text), Cell::Text(old), Cell::Text(new)] => replace(engine, text, old, new).map(Some),
            _ => nulls(arguments, 3),
        },
        FunctionName::Lower | FunctionName::Upper => match arguments {
            [Cell::Text(text)] if function == FunctionName::Lower => engine.text(text.to_lowercase()).map(Some),
            [Cell::Text(text)] => engine.text(text.to_uppercase()).map(Some),
            [Cell::Null] => answer(Cell::Null),
            _ => Ok(None),
        },
        FunctionName::Split => match arguments {
            [Cell::Text(text), Cell::Text(pattern)] => split(engine, text, pattern, usize::MAX).map(Some),
            [Cell::Text(text), Cell::Text(pattern), Cell::Number(most)] => {
                split(engine, text, pattern, whole_number(*most)).map(Some)
            }
            [_, _] => nulls(arguments, 2),
            _ => nulls(arguments, 3),
        },
        FunctionName::StartsWith | FunctionName::EndsWith => match arguments {
            [Cell::Text(text), Cell::Text(part)] if function == FunctionName::StartsWith => {
                answer(Cell::Boolean(text.starts_with(&**part)))
            }
            [Cell::Text(text), Cell::Text(part)] => answer(Cell::Boolean(text.ends_with(&**part))),
            _ => nulls(arguments, 2),
        },
        FunctionName::PadLeft | FunctionName::PadRight => {
            let (text, length, padding) = match arguments {
                [Cell::Text(text), Cell::Number(length)] => (text, length, " "),
                [Cell::Text(text), Cell::Number(length), Cell::Text(padding)] => (text, length, &**padding),
                [_, _] => return nulls(arguments, 2),
                _ => return nulls(arguments, 3),
            };
            pad(engine, text, *length, padding, function == FunctionName::PadLeft).map(Some)
        }
        FunctionName::Substring => {
            let (text, start, end) = match arguments {
                [Cell::Text(text), Cell::Number(start)] => (text, *start, f64::INFINITY),
                [Cell::Text(text), Cell::Number(start), Cell::Number(end)] => (text, *start, *end),
                [_, _] => return nulls(arguments, 2),
                _ => return nulls(arguments, 3),
            };
            let length = utf16_length(text);
            // JavaScript's `substring` swaps them if they are the wrong way round.
            let (start, end) = (text_place(start, length), text_place(end, length));
            engine.text(utf16_slice(text, start.min(end), start.max(end))).map(Some)
        }
        _ => {
            let (text, length, ending) = match arguments {
                [Cell::Text(text), Cell::Number(length)] => (text, *length, "..."),
                [Cell::Text(text), Cell::Number(length), Cell::Text(ending)] => (text, *length, &**ending),
                [_, _] => return nulls(arguments, 2),
                _ => return nulls(arguments, 3),
            };
            truncate(engine, text, length, ending).map(Some)
        }
    }
}

/// Null if one of this many arguments is.
fn nulls<'v>(arguments: &[Cell<'v>], count: usize) -> Answered<'v> {
    let any = arguments.len() == count && arguments.iter().any(Cell::is_null);
    Ok(any.then_some(Cell::Null))
}

/// Where a number of units lies in a text of a length.
fn text_place(place: f64, length: usize) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "no text is so long")]
    let place = if place.is_nan() { 0.0 } else { place.trunc().clamp(0.0, length as f64) };
    whole_number(place)
}

/// What JavaScript takes as a count: negative ones are huge, one without end is none.
fn whole_number(number: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut as JavaScript does")]
    let whole = match number {
        number if number.is_infinite() => 0,
        number if number <= -1.0 => usize::MAX,
        number => number as usize,
    };
    whole
}

/// With everything escaped that means something in an expression.
fn escaped(text: &str) -> String {
    let special = |c: char| r".*+?^${}()|[]\".contains(c);
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

fn undecided(error: ReplaceError) -> FieldError {
    FieldError::Row(format!("the regular expression gave up: {error}"))
}

fn with_pattern<'v, T>(
    engine: &QueryEngine<'v>,
    pattern: &str,
    ignore_case: bool,
    find: impl FnOnce(&Replacer) -> Result<T, FieldError>,
) -> Result<T, FieldError> {
    engine.steps(COMPILE_STEPS.min(4 + pattern.len()))?;
    match &*engine.pattern(pattern, ignore_case, false) {
        Ok(replacer) => find(replacer),
        Err(fault) => FieldError::row(fault.clone()),
    }
}

fn matches(engine: &QueryEngine<'_>, pattern: &str, text: &str, ignore_case: bool) -> Result<bool, FieldError> {
    engine.steps(1 + text.len() / 64)?;
    with_pattern(engine, pattern, ignore_case, |replacer| replacer.is_match(text).map_err(undecided))
}

fn regex_replace<'v>(engine: &QueryEngine<'v>, text: &str, pattern: &str, new: &str) -> FieldResult<'v> {
    engine.steps(COMPILE_STEPS.min(4 + pattern.len()) + text.len() / 64)?;
    match &*engine.pattern(pattern, false, false) {
        Ok(replacer) => replaced(engine, replacer, text, new),
        Err(_) => FieldError::row(format!("Invalid regexp '{pattern}' in regexreplace")),
    }
}

/// The text with every match replaced.
pub(super) fn replaced<'v>(engine: &QueryEngine<'v>, replacer: &Replacer, text: &str, new: &str) -> FieldResult<'v> {
    const MOST_BYTES: usize = 64 << 20;
    let mut result = String::new();
    let mut end = 0;
    // Not stoppable in the middle; the limit on bytes bounds one call, and steps bound their number.
    for replacement in replacer.replacements(text, new, true, MOST_BYTES, &|| false).map_err(undecided)? {
        engine.hold(replacement.text.len())?;
        result += &text[end..replacement.span.start];
        result += &replacement.text;
        end = replacement.span.end;
    }
    result += &text[end..];
    engine.text(result)
}

fn replace<'v>(engine: &QueryEngine<'v>, text: &str, old: &str, new: &str) -> FieldResult<'v> {
    engine.steps(1 + text.len() / 64)?;
    // Counted first, as the result may be far larger than the text.
    let places = if old.is_empty() { text.chars().count() } else { text.matches(old).count() };
    engine.hold(places.saturating_mul(new.len()))?;
    // Dataview splits and joins: the new text goes between the characters, not around them.
    if old.is_empty() {
        let characters: Vec<String> = text.chars().map(String::from).collect();
        return engine.text(characters.join(new));
    }
    engine.text(text.replace(old, new))
}

/// Parts between matches, with what groups found among them. An empty match splits between characters.
fn split<'v>(engine: &QueryEngine<'v>, text: &str, pattern: &str, most: usize) -> FieldResult<'v> {
    if most == 0 {
        return engine.list(Vec::new());
    }
    let parts = with_pattern(engine, pattern, false, |replacer| {
        let find = |from: usize| replacer.find(text, from, &|| false).map_err(undecided);
        let mut parts: Vec<Cell<'v>> = Vec::new();
        if text.is_empty() {
            // An empty text that the pattern matches has no parts, as in JavaScript.
            let whole = find(0)?.is_none();
            parts.extend(whole.then(|| Cell::text("")));
            return Ok(parts);
        }
        let (mut part_start, mut from) = (0, 0);
        while from < text.len() {
            engine.step()?;
            let Some(groups) = find(from)? else { break };
            let Some(found) = groups.first().cloned().flatten().filter(|found| found.start < text.len()) else { break };
            if found.end == part_start {
                // Nothing lies between, so that the next character is tried.
                from = found.start + text[found.start..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            parts.push(Cell::text(&text[part_start..found.start]));
            let groups = groups[1..].iter().map(|group| group.clone().map_or("", |span| &text[span]));
            parts.extend(groups.map(Cell::text));
            if parts.len() >= most {
                parts.truncate(most);
                return Ok(parts);
            }
            part_start = found.end;
            from = found.end;
        }
        parts.push(Cell::text(&text[part_start..]));
        parts.truncate(most);
        Ok(parts)
    })?;
    engine.list(parts)
}

fn pad<'v>(engine: &QueryEngine<'v>, text: &str, length: f64, padding: &str, left: bool) -> FieldResult<'v> {
    let own = utf16_length(text);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut as JavaScript does")]
    let missing = (length.max(0.0) as usize).saturating_sub(own);
    if missing == 0 || padding.is_empty() {
        return Ok(Cell::text(text));
    }
    const LONGEST: usize = 536_870_888;
    // The longest text that V8 makes.
    if missing > LONGEST {
        return FieldError::row("Invalid string length");
    }
    // The filling is made a little too long and then cut.
    engine.hold(missing * 2)?;
    let unit = utf16_length(padding);
    let filling = utf16_slice(&padding.repeat(missing / unit + 1), 0, missing);
    engine.text(if left { format!("{filling}{text}") } else { format!("{text}{filling}") })
}

fn truncate<'v>(engine: &QueryEngine<'v>, text: &str, length: f64, ending: &str) -> FieldResult<'v> {
    let own = utf16_length(text);
    #[expect(clippy::cast_precision_loss, reason = "no text is so long")]
    let room = length - utf16_length(ending) as f64;
    #[expect(clippy::cast_precision_loss, reason = "no text is so long")]
    let fits = own as f64 <= room;
    if fits || room.is_nan() {
        return Ok(Cell::text(text));
    }
    let kept = utf16_slice(text, 0, text_place(room.max(0.0), own));
    engine.text(kept + ending)
}
