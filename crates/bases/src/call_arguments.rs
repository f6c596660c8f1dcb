//! The arguments of a call, with the errors that the app gives for wrong ones.

use std::borrow::Cow;

use super::{base_value::BaseValue, fault::BaseFault, text_form::TextClock};

pub(super) struct CallArguments<'a> {
    pub(super) name: &'a str,
    pub(super) values: &'a [BaseValue],
    pub(super) clock: &'a TextClock,
}

impl<'a> CallArguments<'a> {
    /// Refuses too few and too many.
    pub(super) fn count(&self, least: usize, most: usize) -> Result<(), BaseFault> {
        check_count(self.name, self.values.len(), least, most)
    }

    pub(super) fn get(&self, at: usize) -> &'a BaseValue {
        // An argument that is left out is null.
        self.values.get(at).unwrap_or(&BaseValue::Null)
    }

    /// A text. Numbers, booleans and dates are taken by their text; nothing, lists and objects are not.
    pub(super) fn text(&self, at: usize, parameter: &str) -> Result<Cow<'a, str>, BaseFault> {
        match self.get(at) {
            BaseValue::Null | BaseValue::List(_) | BaseValue::Object(_) | BaseValue::Regexp(_) => {
                Err(self.wrong_type(at, parameter, "String"))
            }
            value => Ok(self.clock.text(value)),
        }
    }

    pub(super) fn number(&self, at: usize, parameter: &str) -> Result<f64, BaseFault> {
        match self.get(at) {
            BaseValue::Number(number) => Ok(*number),
            _ => Err(self.wrong_type(at, parameter, "Number")),
        }
    }

    /// Nothing if it is left out or null.
    pub(super) fn optional_number(&self, at: usize, parameter: &str) -> Result<Option<f64>, BaseFault> {
        if self.get(at).is_null() { Ok(None) } else { self.number(at, parameter).map(Some) }
    }

    pub(super) fn wrong_type(&self, at: usize, parameter: &str, expected: &str) -> BaseFault {
        let given = self.get(at).type_name();
        let name = self.name;
        BaseFault::error(format!(
            "Type error in \"{name}\", parameter \"{parameter}\". Expected {expected}, given {given}."
        ))
    }
}

pub(super) fn check_count(name: &str, count: usize, least: usize, most: usize) -> Result<(), BaseFault> {
    if count < least {
        return Err(BaseFault::error(format!("Cannot call function \"{name}\", not enough arguments.")));
    }
    if count > most {
        return Err(BaseFault::error(format!("Cannot call function \"{name}\", too many arguments.")));
    }
    Ok(())
}
