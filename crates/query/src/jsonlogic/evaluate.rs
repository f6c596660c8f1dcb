//! Evaluates rules within a budget.

use std::{borrow::Cow, cmp::Ordering};

use lapidary_note::count_steps;

use super::{
    Logic, LogicHalt, LogicOperator, REGEXP, arguments,
    coerce::{compare, is_truthy, joined, loosely_equal, number, parse_float, strictly_equal, to_number, to_text},
    compile,
};
use crate::{Object, ReplaceError, Value};

/// The budget of one rule for one note: operations, and values or bytes that it creates.
const MAX_STEPS: usize = 1_000_000;
/// A pattern that is not in the rule has to be compiled, which takes as long as a thousand simple steps.
const COMPILING: usize = 1_000;

type LogicResult<'v> = Result<Cow<'v, Value>, LogicHalt>;

pub(super) fn apply(logic: &Logic, data: &Value) -> Result<Value, LogicHalt> {
    let mut evaluation = LogicEvaluation { logic, steps: 0 };
    evaluation.apply(&logic.rule, data).map(Cow::into_owned)
}

struct LogicEvaluation<'l> {
    logic: &'l Logic,
    steps: usize,
}

impl<'l> LogicEvaluation<'l> {
    fn spend(&mut self, steps: usize) -> Result<(), LogicHalt> {
        count_steps(steps);
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS { Err(LogicHalt::TooMuch) } else { Ok(()) }
    }

    /// A value that outlives its source.
    fn kept(&mut self, value: Cow<'_, Value>) -> Result<Value, LogicHalt> {
        // Copies are charged: `map` and `reduce` could multiply a text with every step.
        if let Cow::Borrowed(value) = &value {
            self.spend(weight(value))?;
        }
        Ok(value.into_owned())
    }

    fn made<'v>(&mut self, value: Value) -> LogicResult<'v> {
        self.spend(weight(&value))?;
        Ok(Cow::Owned(value))
    }

    fn apply<'v>(&mut self, rule: &'v Value, data: &'v Value) -> LogicResult<'v>
    where
        'l: 'v,
    {
        // The only way into evaluation, so that nothing runs unpaid.
        self.spend(1)?;
        match rule {
            Value::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    let value = self.apply(item, data)?;
                    values.push(self.kept(value)?);
                }
                Ok(Cow::Owned(Value::List(values)))
            }
            Value::Object(entries) if entries.len() == 1 => match entries.iter().next() {
                Some((operator, given)) => self.operation(operator, arguments(given), data),
                None => Ok(Cow::Borrowed(rule)),
            },
            _ => Ok(Cow::Borrowed(rule)),
        }
    }

    /// Operators that do not evaluate all of their arguments, or not with this data.
    fn operation<'v>(&mut self, operator: &str, given: &'v [Value], data: &'v Value) -> LogicResult<'v>
    where
        'l: 'v,
    {
        match operator {
            // These must not evaluate what is not chosen: it may be costly, or fail.
            "if" | "?:" => self.choose(given, data),
            "and" => self.first(given, data, |value| !is_truthy(value)),
            "or" => self.first(given, data, is_truthy),
            "filter" | "map" | "all" | "none" | "some" => self.each(operator, given, data),
            "reduce" => self.reduce(given, data),
            _ => {
                let mut values = Vec::with_capacity(given.len());
                for argument in given {
                    values.push(self.apply(argument, data)?);
                }
                self.plain(operator, &values, data)
            }
        }
    }

    fn choose<'v>(&mut self, given: &'v [Value], data: &'v Value) -> LogicResult<'v>
    where
        'l: 'v,
    {
        let mut rest = given;
        // JsonLogic takes any number of `condition, value` pairs, and a default at the end.
        while let [condition, then, otherwise @ ..] = rest {
            if is_truthy(&*self.apply(condition, data)?) {
                return self.apply(then, data);
            }
            rest = otherwise;
        }
        rest.first().map_or(Ok(Cow::Owned(Value::Null)), |last| self.apply(last, data))
    }

    /// The first value of a kind, or the last.
    fn first<'v>(&mut self, given: &'v [Value], data: &'v Value, wanted: fn(&Value) -> bool) -> LogicResult<'v>
    where
        'l: 'v,
    {
        let mut last = Cow::Owned(Value::Null);
        for argument in given {
            last = self.apply(argument, data)?;
            if wanted(&last) {
                break;
            }
        }
        Ok(last)
    }

    fn each<'v>(&mut self, operator: &str, given: &'v [Value], data: &'v Value) -> LogicResult<'v>
    where
        'l: 'v,
    {
        let list = self.argument(given, 0, data)?;
        let rule = given.get(1).unwrap_or(&Value::Null);
        let items = list.items();
        let mut kept = Vec::new();
        for item in items {
            // Here `var` refers to the element.
            let value = self.apply(rule, item)?;
            match operator {
                "map" => kept.push(self.kept(value)?),
                "filter" if is_truthy(&value) => kept.push(self.kept(Cow::Borrowed(item))?),
                "all" if !is_truthy(&value) => return Ok(Cow::Owned(Value::Boolean(false))),
                "none" if is_truthy(&value) => return Ok(Cow::Owned(Value::Boolean(false))),
                "some" if is_truthy(&value) => return Ok(Cow::Owned(Value::Boolean(true))),
                _ => {}
            }
        }
        Ok(Cow::Owned(match operator {
            // `all` of an empty list is false.
            "all" => Value::Boolean(!items.is_empty()),
            "none" => Value::Boolean(true),
            "some" => Value::Boolean(false),
            _ => Value::List(kept),
        }))
    }

    fn reduce<'v>(&mut self, given: &'v [Value], data: &'v Value) -> LogicResult<'v>
    where
        'l: 'v,
    {
        let list = self.argument(given, 0, data)?;
        let rule = given.get(1).unwrap_or(&Value::Null);
        let initial = self.argument(given, 2, data)?;
        let mut accumulator = self.kept(initial)?;
        for item in list.items() {
            let current = self.kept(Cow::Borrowed(item))?;
            let scope = Value::Object(Object::from_iter([
                ("current".to_owned(), current),
                ("accumulator".to_owned(), accumulator),
            ]));
            accumulator = self.apply_within(rule, &scope)?;
        }
        Ok(Cow::Owned(accumulator))
    }

    /// The value of a rule over temporary data.
    fn apply_within(&mut self, rule: &Value, data: &Value) -> Result<Value, LogicHalt> {
        // A separate evaluation with its own lifetime: its data does not live as long as the rule. The steps are
        // carried over.
        let mut inner = LogicEvaluation { logic: self.logic, steps: self.steps };
        let value = inner.apply(rule, data)?;
        let kept = inner.kept(value)?;
        self.steps = inner.steps;
        Ok(kept)
    }

    fn argument<'v>(&mut self, given: &'v [Value], at: usize, data: &'v Value) -> LogicResult<'v>
    where
        'l: 'v,
    {
        given.get(at).map_or(Ok(Cow::Owned(Value::Null)), |argument| self.apply(argument, data))
    }

    fn plain<'v>(&mut self, operator: &str, values: &[Cow<'v, Value>], data: &'v Value) -> LogicResult<'v> {
        let null = Cow::Owned(Value::Null);
        let at = |index: usize| values.get(index).unwrap_or(&null);
        let (a, b) = (&**at(0), &**at(1));
        let in_order = |holds: fn(Ordering) -> bool| {
            let pair = |a: &Value, b: &Value| compare(a, b).is_some_and(holds);
            // Between two others, if there is a third.
            pair(a, b) && values.get(2).is_none_or(|c| pair(b, c))
        };
        let result = match operator {
            "==" => Value::Boolean(loosely_equal(a, b)),
            "!=" => Value::Boolean(!loosely_equal(a, b)),
            // A missing argument is `undefined`, which equals nothing that can be given.
            "===" => Value::Boolean(values.len() > 1 && strictly_equal(a, b)),
            "!==" => Value::Boolean(values.len() < 2 || !strictly_equal(a, b)),
            ">" => Value::Boolean(compare(a, b).is_some_and(Ordering::is_gt)),
            ">=" => Value::Boolean(compare(a, b).is_some_and(Ordering::is_ge)),
            "<" => Value::Boolean(in_order(Ordering::is_lt)),
            "<=" => Value::Boolean(in_order(Ordering::is_le)),
            "!!" => Value::Boolean(is_truthy(a)),
            "!" => Value::Boolean(!is_truthy(a)),
            "%" => number(to_number(a) % to_number(b)),
            "/" => number(to_number(a) / to_number(b)),
            "-" if values.len() < 2 => number(-to_number(a)),
            "-" => number(to_number(a) - to_number(b)),
            "+" => number(values.iter().map(|value| parse_float(value)).sum()),
            // `reduce` without an initial value returns the only element as it is.
            "*" if values.len() == 1 => return Ok(values[0].clone()),
            "*" => number(values.iter().map(|value| parse_float(value)).product()),
            "min" => number(extreme(values, f64::min)),
            "max" => number(extreme(values, f64::max)),
            "in" => Value::Boolean(is_in(a, b)),
            // There is no console to write to.
            "log" => return Ok(at(0).clone()),
            "cat" => {
                let parts: Vec<Value> = values.iter().map(|value| value.clone().into_owned()).collect();
                Value::Text(joined(&parts, ""))
            }
            "substr" => Value::Text(substr(
                &to_text(a),
                values.get(1).map(|b| to_number(b)),
                values.get(2).map(|c| to_number(c)),
            )),
            "merge" => merge(values),
            "var" => return Ok(self.var(values, data)),
            "missing" => self.missing(values, data),
            "missing_some" => {
                let wanted = vec![Cow::Borrowed(b)];
                let missing = self.missing(&wanted, data);
                let (all, gone) = (b.items().len(), missing.items().len());
                #[expect(clippy::cast_precision_loss, reason = "no caller requests that many keys")]
                let enough = (all - gone.min(all)) as f64 >= to_number(a);
                if enough { Value::List(Vec::new()) } else { missing }
            }
            "glob" => Value::Boolean(self.matches(LogicOperator::Glob, a, b)?),
            REGEXP => Value::Boolean(self.matches(LogicOperator::Regexp, a, b)?),
            // All others were refused when the rule was parsed.
            _ => Value::Null,
        };
        self.made(result)
    }

    fn var<'v>(&self, values: &[Cow<'v, Value>], data: &'v Value) -> Cow<'v, Value> {
        let name = values.first().map(|name| &**name).unwrap_or(&Value::Null);
        // `{"var": ""}` is the data itself.
        if is_empty(name) {
            return Cow::Borrowed(data);
        }
        let missing = || values.get(1).cloned().unwrap_or(Cow::Owned(Value::Null));
        let mut found = Cow::Borrowed(data);
        for step in to_text(name).split('.') {
            match member(&found, step) {
                PathMember::Owned(value) => found = Cow::Owned(value),
                PathMember::Nothing => return missing(),
                PathMember::Inside => {
                    found = match found {
                        Cow::Borrowed(value) => inside(value, step).map_or_else(missing, Cow::Borrowed),
                        Cow::Owned(value) => inside(&value, step).cloned().map_or_else(missing, Cow::Owned),
                    }
                }
            }
        }
        found
    }

    /// The names that are missing in the data, or empty there.
    fn missing(&self, values: &[Cow<'_, Value>], data: &Value) -> Value {
        let names: Vec<Value> = match values.first().map(|first| &**first) {
            // The names may come as one list, or one by one.
            Some(Value::List(names)) => names.clone(),
            _ => values.iter().map(|value| value.clone().into_owned()).collect(),
        };
        let gone = |name: &Value| {
            let found = self.var(&[Cow::Borrowed(name)], data);
            is_empty(&found)
        };
        Value::List(names.iter().filter(|name| gone(name)).cloned().collect())
    }

    fn matches(&mut self, kind: LogicOperator, pattern: &Value, value: &Value) -> Result<bool, LogicHalt> {
        let (Value::Text(pattern), Value::Text(text)) = (pattern, value) else { return Ok(false) };
        let known = self.logic.patterns.get(&(kind, pattern.clone()));
        let found = match known {
            Some(compiled) => compiled.is_match(text),
            // The rule built this pattern from data.
            None => {
                self.spend(COMPILING)?;
                let compiled = compile(kind, pattern)
                    .map_err(|problem| LogicHalt::Pattern { pattern: pattern.chars().take(100).collect(), problem })?;
                compiled.is_match(text)
            }
        };
        found.map_err(|error: ReplaceError| match error {
            ReplaceError::Stopped | ReplaceError::Undecided | ReplaceError::TooLong => LogicHalt::Undecided,
            ReplaceError::TooMuch => LogicHalt::TooMuch,
        })
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_text() == Some("")
}

/// What a step of a path leads to.
enum PathMember {
    Nothing,
    Inside,
    Owned(Value),
}

fn member(value: &Value, step: &str) -> PathMember {
    match value {
        Value::List(items) if step == "length" => PathMember::Owned(Value::from(items.len())),
        // In JavaScript's units.
        Value::Text(text) if step == "length" => PathMember::Owned(Value::from(text.encode_utf16().count())),
        Value::Text(text) => {
            let letter = step.parse().ok().and_then(|at: usize| text.chars().nth(at));
            letter.map_or(PathMember::Nothing, |letter| PathMember::Owned(Value::Text(letter.to_string())))
        }
        _ if inside(value, step).is_some() => PathMember::Inside,
        _ => PathMember::Nothing,
    }
}

fn inside<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Object(entries) => entries.get(step),
        Value::List(items) => step.parse().ok().and_then(|at: usize| items.get(at)),
        _ => None,
    }
}

fn extreme(values: &[Cow<'_, Value>], choose: fn(f64, f64) -> f64) -> f64 {
    let numbers = values.iter().map(|value| to_number(value));
    // A non-number makes the whole not a number.
    numbers.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { choose(a, b) }).unwrap_or(f64::NAN)
}

fn is_in(wanted: &Value, all: &Value) -> bool {
    match all {
        // Nothing is in an empty text, not even an empty one: json-logic-js takes it for missing.
        Value::Text(text) => !text.is_empty() && text.contains(&*to_text(wanted)),
        Value::List(items) => items.iter().any(|item| strictly_equal(item, wanted)),
        _ => false,
    }
}

fn merge(values: &[Cow<'_, Value>]) -> Value {
    let mut merged = Vec::new();
    for value in values {
        match &**value {
            Value::List(items) => merged.extend(items.iter().cloned()),
            one => merged.push(one.clone()),
        }
    }
    Value::List(merged)
}

/// Part of a text in characters. A negative start counts from its end, a negative length leaves out that many there.
fn substr(text: &str, start: Option<f64>, length: Option<f64>) -> String {
    let characters: Vec<char> = text.chars().collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to the length of the text")]
    let place = |at: f64| if at.is_nan() { 0 } else { at.clamp(0.0, u32::MAX.into()) as usize };
    #[expect(clippy::cast_precision_loss, reason = "texts are shorter than that")]
    let count = characters.len() as f64;
    let start = start.unwrap_or_default().trunc();
    let rest = &characters[place(if start < 0.0 { count + start } else { start }).min(characters.len())..];
    let kept = match length.map(f64::trunc) {
        None => rest.len(),
        #[expect(clippy::cast_precision_loss, reason = "texts are shorter than that")]
        Some(length) if length < 0.0 => place(rest.len() as f64 + length),
        Some(length) => place(length),
    };
    rest[..kept.min(rest.len())].iter().collect()
}

/// The cost of a value: one for every value in it, and some for long texts.
fn weight(value: &Value) -> usize {
    const LETTERS_PER_STEP: usize = 16;
    match value {
        Value::Text(text) => 1 + text.len() / LETTERS_PER_STEP,
        Value::List(items) => items.iter().map(weight).sum::<usize>() + 1,
        Value::Object(entries) => entries.values().map(weight).sum::<usize>() + entries.len() + 1,
        _ => 1,
    }
}
