//! Why an expression has no value: an error, which becomes the value of a cell, or the end of the whole query.

use std::sync::Arc;

use super::base_value::BaseValue;
use crate::QueryHalt;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum BaseFault {
    Error(Arc<str>),
    Halt(QueryHalt),
}

impl BaseFault {
    pub(super) fn error(message: impl Into<Arc<str>>) -> Self {
        Self::Error(message.into())
    }

    /// `Cannot find function "f" on type String`
    pub(super) fn no_function(name: &str, receiver: Option<&BaseValue>) -> Self {
        Self::error(match receiver {
            Some(value) => format!("Cannot find function \"{name}\" on type {}", value.type_name()),
            None => format!("Cannot find function \"{name}\""),
        })
    }
}

impl From<QueryHalt> for BaseFault {
    fn from(halt: QueryHalt) -> Self {
        Self::Halt(halt)
    }
}

/// An error as a value; a halt goes on.
pub(super) fn as_value(evaluated: Result<BaseValue, BaseFault>) -> Result<BaseValue, QueryHalt> {
    match evaluated {
        Ok(value) => Ok(value),
        Err(BaseFault::Error(message)) => Ok(BaseValue::Error(message)),
        Err(BaseFault::Halt(halt)) => Err(halt),
    }
}
