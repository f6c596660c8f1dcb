//! Calls: a method of the value's type, of the types it inherits from, or a global function of that name.

use std::sync::Arc;

use super::{
    base_value::{BaseObject, BaseValue, entry},
    call_arguments::{CallArguments, check_count},
    date_methods, duration_fields,
    evaluation::{Evaluated, Evaluation, LocalFrame},
    fault::BaseFault,
    formula::FunctionCall,
    known_name::{FileField, KnownFunction},
    list_methods, number_methods, object_methods, string_methods,
};
use lapidary_query::utf16_length;

/// Whether a type knows a method: its answer, or nothing.
pub(super) type MethodAnswer = Result<Option<BaseValue>, BaseFault>;

impl<'e> Evaluation<'e> {
    /// `f(…)`
    pub(super) fn call(&mut self, call: &'e FunctionCall) -> Evaluated {
        let Some(function) = call.function.filter(|function| function.is_global()) else {
            return Err(BaseFault::no_function(&call.name, None));
        };
        if function == KnownFunction::If {
            return self.choose(call, None);
        }
        // Late, so that a constant that is known already does not evaluate its arguments again.
        let work = |evaluation: &mut Self| {
            let arguments = evaluation.arguments(call)?;
            evaluation.global(function, &call.name, &arguments)
        };
        match call.constant {
            Some(place) => self.constant(place, work),
            None => work(self),
        }
    }

    /// `if(condition, a, b?)`: only the branch that is taken is evaluated.
    fn choose(&mut self, call: &'e FunctionCall, receiver: Option<&BaseValue>) -> Evaluated {
        let given = usize::from(receiver.is_some());
        check_count(&call.name, call.arguments.len() + given, 2, 3)?;
        let (condition, branches) = match (receiver, call.arguments.split_first()) {
            (Some(receiver), _) => (receiver.is_truthy(), &call.arguments[..]),
            (None, Some((condition, branches))) => (self.evaluate(condition)?.is_truthy(), branches),
            (None, None) => return Ok(BaseValue::Null),
        };
        match branches.get(usize::from(!condition)) {
            Some(branch) => self.evaluate(branch),
            None => Ok(BaseValue::Null),
        }
    }

    /// `x.f(…)`
    pub(super) fn method(&mut self, receiver: &BaseValue, call: &'e FunctionCall) -> Evaluated {
        let Some(function) = call.function else {
            if receiver.is_null() {
                return Ok(BaseValue::Null);
            }
            return Err(BaseFault::no_function(&call.name, Some(receiver)));
        };
        if Self::is_lazy(Some(function)) && !receiver.is_null() {
            return self.lazy_method(receiver, function, call);
        }
        // A missing property makes the whole chain null, instead of failing in most rows.
        if receiver.is_null() && !is_for_any(function) {
            return Ok(BaseValue::Null);
        }
        let values = self.arguments(call)?;
        // A method may walk all of its receiver.
        self.spend(receiver.weight() / 16)?;
        let scope = self.scope;
        let arguments = CallArguments { name: &call.name, values: &values, clock: &scope.clock };
        if let Some(answer) = any_method(receiver, function, &arguments)? {
            return Ok(answer);
        }
        // The methods of the type come before global functions of the same name.
        let own = match receiver {
            BaseValue::Number(number) => number_methods::call(*number, function, &arguments)?,
            BaseValue::Date(date) => date_methods::call(*date, function, &arguments)?,
            BaseValue::List(items) => match list_methods::call(items, function, &arguments)? {
                None => self.list_search(items, function, &values)?,
                answer => answer,
            },
            BaseValue::Object(entries) => object_methods::call(entries, function, &arguments)?,
            BaseValue::Regexp(regexp) => string_methods::regexp_call(regexp, function, &arguments)?,
            BaseValue::File(file) => self.file_method(file, function, &arguments)?,
            BaseValue::Link(link) => match self.link_method(link, function, &arguments)? {
                // A link is also the text that it shows.
                None => string_methods::call(&scope.clock.text(receiver), function, &arguments)?,
                answer => answer,
            },
            text if text.is_textual() => string_methods::call(&scope.clock.text(text), function, &arguments)?,
            _ => None,
        };
        if let Some(answer) = own {
            return Ok(answer);
        }
        if !function.is_global() {
            return Err(BaseFault::no_function(&call.name, Some(receiver)));
        }
        // `x.f(y)` is also `f(x, y)`.
        let all: Vec<BaseValue> = std::iter::once(receiver.clone()).chain(values).collect();
        self.global(function, &call.name, &all)
    }

    /// Those whose arguments are expressions, not values.
    fn lazy_method(&mut self, receiver: &BaseValue, function: KnownFunction, call: &'e FunctionCall) -> Evaluated {
        if function == KnownFunction::If {
            return self.choose(call, Some(receiver));
        }
        let needed = if function == KnownFunction::Reduce { 2 } else { 1 };
        match receiver {
            BaseValue::List(items) => {
                check_count(&call.name, call.arguments.len(), needed, needed)?;
                // Shared, as evaluating borrows all of this.
                let items = Arc::clone(items);
                self.each_item(&items, function, call)
            }
            BaseValue::Object(entries) if function != KnownFunction::Reduce => {
                check_count(&call.name, call.arguments.len(), needed, needed)?;
                let entries = Arc::clone(entries);
                self.each_entry(&entries, function, call)
            }
            _ => Err(BaseFault::no_function(&call.name, Some(receiver))),
        }
    }

    fn each_item(&mut self, items: &[BaseValue], function: KnownFunction, call: &'e FunctionCall) -> Evaluated {
        let expression = &call.arguments[0];
        let mut accumulator = match call.arguments.get(1) {
            Some(initial) => Some(self.evaluate(initial)?),
            None => None,
        };
        let mut kept = Vec::new();
        for (at, item) in items.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "a list has fewer items")]
            let index = Some(BaseValue::Number(at as f64));
            // Taken, so that a growing list is not copied in each step.
            let frame = LocalFrame { value: Some(item.clone()), index, key: None, accumulator: accumulator.take() };
            let value = self.within(frame, expression)?;
            match function {
                KnownFunction::Map => kept.push(value),
                KnownFunction::Filter if value.is_truthy() => kept.push(item.clone()),
                KnownFunction::Filter => {}
                _ => accumulator = Some(value),
            }
        }
        Ok(accumulator.unwrap_or_else(|| BaseValue::list(kept)))
    }

    fn each_entry(&mut self, entries: &BaseObject, function: KnownFunction, call: &'e FunctionCall) -> Evaluated {
        let expression = &call.arguments[0];
        let mut mapped = Vec::new();
        let mut kept = BaseObject::new();
        for (name, item) in entries {
            let key = Some(BaseValue::text(name.as_str()));
            let frame = LocalFrame { value: Some(item.clone()), key, ..LocalFrame::default() };
            let value = self.within(frame, expression)?;
            if function == KnownFunction::Map {
                mapped.push(value);
            } else if value.is_truthy() {
                kept.insert(name.clone(), item.clone());
            }
        }
        let is_map = function == KnownFunction::Map;
        Ok(if is_map { BaseValue::list(mapped) } else { BaseValue::Object(Arc::new(kept)) })
    }

    /// `contains` and its relatives, by loose equality; tags hold the tags below them.
    fn list_search(&mut self, items: &[BaseValue], function: KnownFunction, wanted: &[BaseValue]) -> MethodAnswer {
        let found = match function {
            KnownFunction::Contains => {
                check_count("contains", wanted.len(), 1, 1)?;
                self.has_item(items, wanted.first().unwrap_or(&BaseValue::Null))?
            }
            KnownFunction::ContainsAll => {
                let mut all = true;
                for one in wanted {
                    // Without a comparison once it is decided; each of them may resolve a link.
                    all = all && self.has_item(items, one)?;
                }
                all
            }
            KnownFunction::ContainsAny => {
                let mut any = false;
                for one in wanted {
                    any = any || self.has_item(items, one)?;
                }
                any
            }
            _ => return Ok(None),
        };
        Ok(Some(BaseValue::Boolean(found)))
    }

    fn has_item(&mut self, items: &[BaseValue], wanted: &BaseValue) -> Result<bool, BaseFault> {
        for item in items {
            let found = match (item, wanted) {
                // `#a/b` is also `#a`.
                (BaseValue::Tag(tag), wanted) if wanted.is_textual() => {
                    is_tag_within(tag, &self.scope.clock.text(wanted))
                }
                (item, wanted) => self.equals(item, wanted)?,
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `a.b`
    pub(super) fn field(&mut self, value: &BaseValue, name: &str) -> Evaluated {
        let unknown =
            |value: &BaseValue| BaseFault::error(format!("Cannot find \"{name}\" on type {}", value.type_name()));
        #[expect(clippy::cast_precision_loss, reason = "nothing that is counted is so large")]
        let count = |count: usize| Ok(BaseValue::Number(count as f64));
        let is_length = name.eq_ignore_ascii_case("length");
        match value {
            BaseValue::Null => Ok(BaseValue::Null),
            BaseValue::Object(entries) => Ok(entry(entries, name).cloned().unwrap_or_default()),
            BaseValue::List(items) if is_length => count(items.len()),
            BaseValue::File(file) => {
                if let Some(field) = FileField::find(name) {
                    return self.file_field(file, field);
                }
                match file.is_this {
                    true if name.eq_ignore_ascii_case("note") => Ok(self.properties_of(file)),
                    // `this.status` is a property of the note that the query is in.
                    true => Ok(self.property_of(file, name).unwrap_or_default()),
                    false => Err(unknown(value)),
                }
            }
            BaseValue::Date(date) => {
                let field = date_methods::field(*date, name, &self.scope.clock.zone);
                field.map(BaseValue::Number).ok_or_else(|| unknown(value))
            }
            BaseValue::Duration(duration) => {
                let field = duration_fields::field(duration, name);
                field.map(BaseValue::Number).ok_or_else(|| unknown(value))
            }
            text if text.is_textual() && is_length => count(utf16_length(&self.scope.clock.text(text))),
            _ => Err(unknown(value)),
        }
    }
}

/// Methods that every value has.
fn is_for_any(function: KnownFunction) -> bool {
    matches!(function, KnownFunction::ToText | KnownFunction::IsTruthy | KnownFunction::IsType | KnownFunction::IsEmpty)
}

fn any_method(value: &BaseValue, function: KnownFunction, arguments: &CallArguments<'_>) -> MethodAnswer {
    let answer = match function {
        KnownFunction::ToText => {
            arguments.count(0, 0)?;
            BaseValue::text(arguments.clock.text(value).as_ref())
        }
        KnownFunction::IsTruthy => {
            arguments.count(0, 0)?;
            BaseValue::Boolean(value.is_truthy())
        }
        KnownFunction::IsType => {
            arguments.count(1, 1)?;
            BaseValue::Boolean(value.is_type(&arguments.text(0, "type")?))
        }
        KnownFunction::IsEmpty => {
            arguments.count(0, 0)?;
            BaseValue::Boolean(is_empty(value))
        }
        _ => return Ok(None),
    };
    Ok(Some(answer))
}

fn is_empty(value: &BaseValue) -> bool {
    match value {
        BaseValue::Null => true,
        BaseValue::List(items) => items.is_empty(),
        BaseValue::Object(entries) => entries.is_empty(),
        BaseValue::Text(text) | BaseValue::Tag(text) | BaseValue::Url(text) | BaseValue::Html(text) => text.is_empty(),
        _ => false,
    }
}

/// Whether a tag is the wanted one or below it, which may have its `#`.
pub(super) fn is_tag_within(tag: &str, wanted: &str) -> bool {
    lapidary_query::is_tag_within(tag, wanted.trim_start_matches('#'))
}
