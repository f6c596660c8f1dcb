//! Filters: expressions, joined by `and`, `or` and `not`.

use super::{
    base_value::BaseValue,
    evaluation::Evaluation,
    fault::BaseFault,
    formula::{AccessStep, BinaryOperator, FormulaNode, RootName},
    known_name::{FileField, KnownFunction},
};
use lapidary_query::{DroppedRows, QueryHalt, RowNumber, RowSelection};

#[derive(Debug)]
pub(super) enum BaseFilter {
    Expression(FilterExpression),
    All(Vec<BaseFilter>),
    Any(Vec<BaseFilter>),
    /// True if none of them is.
    None(Vec<BaseFilter>),
}

#[derive(Debug)]
pub(super) struct FilterExpression {
    pub(super) text: String,
    /// Nothing if it cannot be read: then it is false.
    pub(super) node: Option<FormulaNode>,
}

/// The rows that filters dropped because they failed, by the text of the filter.
pub(super) type FilterErrors = Vec<DroppedRows>;

impl BaseFilter {
    /// Whether the row at hand passes. A filter that fails drops the row, whatever it is joined with.
    pub(super) fn holds<'e>(
        &'e self,
        evaluation: &mut Evaluation<'e>,
        errors: &mut FilterErrors,
    ) -> Result<bool, QueryHalt> {
        match self.test(evaluation) {
            Ok(holds) => Ok(holds),
            // A limit ends the whole query; any other error only the row.
            Err((_, BaseFault::Halt(halt))) => Err(halt),
            Err((expression, BaseFault::Error(message))) => {
                record(errors, &expression.text, &message);
                Ok(false)
            }
        }
    }

    fn test<'e>(&'e self, evaluation: &mut Evaluation<'e>) -> Result<bool, (&'e FilterExpression, BaseFault)> {
        match self {
            Self::Expression(expression) => match &expression.node {
                Some(node) => {
                    evaluation.evaluate(node).map(|value| value.is_truthy()).map_err(|fault| (expression, fault))
                }
                // It cannot be read, which is listed among the problems of the base.
                None => Ok(false),
            },
            Self::All(filters) => {
                for filter in filters {
                    // The first that is false decides, and the others are not evaluated: they may fail.
                    if !filter.test(evaluation)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(filters) => {
                for filter in filters {
                    if filter.test(evaluation)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::None(filters) => {
                for filter in filters {
                    if filter.test(evaluation)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// Every expression in it that could be read.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(&FormulaNode)) {
        match self {
            Self::Expression(expression) => expression.node.iter().for_each(visit),
            Self::All(filters) | Self::Any(filters) | Self::None(filters) => {
                filters.iter().for_each(|filter| filter.visit(visit));
            }
        }
    }

    /// For explanations, as it was written.
    pub(super) fn describe(&self) -> String {
        let joined = |filters: &[Self], word: &str| {
            filters.iter().map(Self::describe).collect::<Vec<_>>().join(&format!(" {word} "))
        };
        match self {
            Self::Expression(expression) => expression.text.clone(),
            Self::All(filters) => format!("({})", joined(filters, "and")),
            Self::Any(filters) => format!("({})", joined(filters, "or")),
            Self::None(filters) => format!("not ({})", joined(filters, "or")),
        }
    }

    /// What the indexes can answer of it: every row that passes is in one selection of each group.
    pub(super) fn selections<'f>(&'f self, this: Option<RowNumber>, found: &mut Vec<IndexedFilter<'f>>) {
        match self {
            Self::Expression(FilterExpression { node: Some(node), text }) => spine(node, text, this, found),
            // Parts of `or` and `not` exclude nothing by themselves.
            Self::All(filters) => filters.iter().for_each(|filter| filter.selections(this, found)),
            _ => {}
        }
    }
}

fn record(errors: &mut FilterErrors, text: &str, message: &str) {
    // One record for each filter, however many rows it drops.
    let place = errors.iter().position(|known| known.step == text).unwrap_or_else(|| {
        errors.push(DroppedRows::new(text));
        errors.len() - 1
    });
    errors[place].add(message);
}

/// A part of a filter that an index serves. The rows it leaves are still tested: an index may know less.
pub(super) struct IndexedFilter<'f> {
    pub(super) text: &'f str,
    /// One of them must fit.
    pub(super) any: Vec<RowSelection<'f>>,
}

/// The parts of an expression that all must be true.
fn spine<'f>(node: &'f FormulaNode, text: &'f str, this: Option<RowNumber>, found: &mut Vec<IndexedFilter<'f>>) {
    match node {
        // Each part of `&&` has to be true, so each may be served by an index.
        FormulaNode::All(nodes) => nodes.iter().for_each(|node| spine(node, text, this, found)),
        FormulaNode::Access { base, steps } => {
            // Only methods of the row's own file can be answered for all rows at once.
            let (FormulaNode::Root(RootName::File), [AccessStep::Method(call)]) = (&**base, &steps[..]) else { return };
            let literal = |node: &'f FormulaNode| match node {
                FormulaNode::Literal(BaseValue::Text(text)) if !text.is_empty() => Some(&**text),
                _ => None,
            };
            // Where a text leads depends on the row; `this` is the same file for all.
            if let (Some(KnownFunction::HasLink), [argument], Some(this)) = (call.function, &call.arguments[..], this)
                && is_this(argument)
            {
                found.push(IndexedFilter { text, any: vec![RowSelection::LinksTo(this)] });
                return;
            }
            let literals: Option<Vec<&str>> = call.arguments.iter().map(literal).collect();
            let Some(literals) = literals.filter(|literals| !literals.is_empty()) else { return };
            let any = match call.function {
                Some(KnownFunction::HasTag) => literals.into_iter().map(RowSelection::Tag).collect(),
                Some(KnownFunction::InFolder) if literals.len() == 1 => {
                    let folder = literals[0].trim_matches('/');
                    vec![RowSelection::Folder(folder)]
                }
                _ => return,
            };
            found.push(IndexedFilter { text, any });
        }
        FormulaNode::Chain { first, rest } => {
            // A longer chain compares the result of a comparison.
            let [(BinaryOperator::Equal, second)] = &rest[..] else { return };
            let (field, value) = match (&**first, second) {
                (FormulaNode::FileField(field), FormulaNode::Literal(BaseValue::Text(value)))
                | (FormulaNode::Literal(BaseValue::Text(value)), FormulaNode::FileField(field)) => (*field, &**value),
                _ => return,
            };
            let selection = match field {
                FileField::Extension => RowSelection::Extension(value),
                // The index also has the files below, which the filter itself leaves out.
                FileField::Folder if value != "/" && !value.is_empty() => RowSelection::Folder(value),
                _ => return,
            };
            found.push(IndexedFilter { text, any: vec![selection] });
        }
        _ => {}
    }
}

/// `this` or `this.file`
fn is_this(node: &FormulaNode) -> bool {
    match node {
        FormulaNode::Root(RootName::This) => true,
        FormulaNode::Access { base, steps } => {
            let is_file = |name: &str| name.eq_ignore_ascii_case("file");
            matches!((&**base, &steps[..]), (FormulaNode::Root(RootName::This), [AccessStep::Field(name)]) if is_file(name))
        }
        _ => false,
    }
}
