//! Obsidian Bases: `.base` files and `base` blocks, evaluated as the app does.
//!
//! A base is read once ([`BaseFile::parse`]), and a view of it is run over the rows of a vault ([`BaseFile::run`]). The
//! tables of truth, equality, order, arithmetic and text are its own: `base_value.rs`, `comparison.rs`, `arithmetic.rs`,
//! `text_form.rs`. Where it is not known what the app does, one function decides and says so.

mod arithmetic;
mod base_answer;
mod base_date;
mod base_duration;
mod base_file;
mod base_filter;
mod base_reader;
mod base_references;
mod base_regexp;
mod base_run;
mod base_value;
mod base_yaml;
mod call_arguments;
mod calls;
mod comparison;
mod date_methods;
mod duration_fields;
mod empty_view;
mod evaluation;
mod fault;
mod file_methods;
mod formula;
mod frontmatter;
mod global_functions;
mod json_expression;
mod known_name;
mod list_methods;
mod number_methods;
mod object_methods;
mod parse;
mod property_id;
mod row_reading;
mod string_methods;
#[cfg(test)]
mod tests;
mod text_form;
mod view_reader;

pub use base_answer::{BaseAnswer, BaseColumn, BaseGroup, BaseRow, BaseSummary};
pub use base_date::BaseDate;
pub use base_duration::BaseDuration;
pub use base_file::{BaseFile, BaseProblem, BaseViewName, base_path_of, is_base_yaml};
pub use base_references::{BaseReference, BaseText, base_texts};
pub use base_regexp::BaseRegexp;
pub use base_value::{BaseFileHandle, BaseLink, BaseList, BaseObject, BaseValue};
pub use json_expression::{JsonBindings, JsonExpression, JsonFault};
