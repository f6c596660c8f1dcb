//! Expressions made ready to run: names looked up once, literals made, dates taken from the clock.

use std::rc::Rc;

use super::{
    cell::Cell,
    engine::QueryEngine,
    file_fields::FileField,
    functions::FunctionName,
    syntax::{FieldOperator, FieldPostfix, FieldSyntax},
};

pub(super) enum BoundField<'v> {
    Constant(Cell<'v>),
    /// A name in the row, or a global one.
    Variable(Rc<str>),
    /// A parameter of a lambda, and its name in case it was not given.
    Parameter(usize, Rc<str>),
    /// `file.name` and the like, unless the row has another `file`.
    File(FileField),
    Not(Box<BoundField<'v>>),
    Chain(Box<BoundField<'v>>, Vec<ChainLink<'v>>),
    List(Vec<BoundField<'v>>),
    Object(Vec<(Rc<str>, BoundField<'v>)>),
    Lambda(Rc<BoundLambda<'v>>),
    Postfix(Box<BoundField<'v>>, Vec<BoundPostfix<'v>>),
    /// A function by its name, which is looked up among the built-in ones alone.
    Call(Result<FunctionName, Rc<str>>, Vec<BoundField<'v>>),
    /// `row.x`: anything that the row knows.
    RowIndex(Box<BoundField<'v>>),
}

/// An operator and what follows it.
pub(super) struct ChainLink<'v> {
    pub(super) operator: FieldOperator,
    pub(super) operand: BoundField<'v>,
    /// Whether the operand gives no error, so that it need not be looked at where its value does not matter.
    pub(super) is_safe: bool,
}

impl BoundField<'_> {
    /// Whether it may give an error, in rows with a file of their own or without.
    pub(super) fn can_fail(&self, has_own_files: bool) -> bool {
        use FieldOperator::{And, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, Or};
        match self {
            Self::Constant(_) | Self::Variable(_) | Self::Parameter(..) | Self::Lambda(_) => false,
            Self::File(_) => !has_own_files,
            Self::Not(inner) => inner.can_fail(has_own_files),
            Self::List(items) => items.iter().any(|item| item.can_fail(has_own_files)),
            // Values of all types can be compared.
            Self::Chain(first, more) => {
                let is_safe = |link: &ChainLink<'_>| {
                    matches!(link.operator, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual | And | Or)
                        && !link.operand.can_fail(has_own_files)
                };
                first.can_fail(has_own_files) || !more.iter().all(is_safe)
            }
            Self::Object(_) | Self::Postfix(..) | Self::Call(..) | Self::RowIndex(_) => true,
        }
    }
}

pub(super) enum BoundPostfix<'v> {
    Name(Rc<str>),
    Index(BoundField<'v>),
    Call(Vec<BoundField<'v>>),
}

pub(super) struct BoundLambda<'v> {
    pub(super) parameters: usize,
    /// The names of all parameters in sight, its own last.
    pub(super) names: Vec<Rc<str>>,
    pub(super) body: BoundField<'v>,
}

pub(super) fn bind<'v>(engine: &QueryEngine<'v>, field: &FieldSyntax) -> BoundField<'v> {
    FieldBinder { engine, parameters: Vec::new() }.field(field)
}

struct FieldBinder<'e, 'v> {
    engine: &'e QueryEngine<'v>,
    parameters: Vec<Rc<str>>,
}

impl<'v> FieldBinder<'_, 'v> {
    fn fields(&mut self, fields: &[FieldSyntax]) -> Vec<BoundField<'v>> {
        fields.iter().map(|field| self.field(field)).collect()
    }

    fn field(&mut self, field: &FieldSyntax) -> BoundField<'v> {
        match field {
            FieldSyntax::Literal(literal) => BoundField::Constant(self.engine.literal(literal)),
            // From the back: the innermost parameter of a name hides the others.
            FieldSyntax::Variable(name) => match self.parameters.iter().rposition(|known| **known == **name) {
                Some(at) => BoundField::Parameter(at, name.as_str().into()),
                None => BoundField::Variable(name.as_str().into()),
            },
            FieldSyntax::Not(inner) => BoundField::Not(Box::new(self.field(inner))),
            FieldSyntax::Chain(first, more) => {
                let first = Box::new(self.field(first));
                let link = |(operator, next): &(FieldOperator, FieldSyntax)| {
                    let operand = self.field(next);
                    let is_safe = !operand.can_fail(false);
                    ChainLink { operator: *operator, operand, is_safe }
                };
                BoundField::Chain(first, more.iter().map(link).collect())
            }
            FieldSyntax::List(items) => BoundField::List(self.fields(items)),
            FieldSyntax::Object(entries) => {
                let entry = |(name, field): &(String, FieldSyntax)| (name.as_str().into(), self.field(field));
                BoundField::Object(entries.iter().map(entry).collect())
            }
            FieldSyntax::Lambda { parameters, body } => {
                let outer = self.parameters.len();
                self.parameters.extend(parameters.iter().map(|name| Rc::from(name.as_str())));
                let body = self.field(body);
                // Kept for names that a call leaves without a value.
                let names = self.parameters.clone();
                // The parameters are not in sight behind the lambda.
                self.parameters.truncate(outer);
                BoundField::Lambda(Rc::new(BoundLambda { parameters: parameters.len(), names, body }))
            }
            FieldSyntax::Postfix(first, steps) => self.postfix(first, steps),
        }
    }

    fn postfix(&mut self, first: &FieldSyntax, steps: &[FieldPostfix]) -> BoundField<'v> {
        let variable = match first {
            FieldSyntax::Variable(name) => Some(name.as_str()),
            _ => None,
        };
        let hidden = variable.is_some_and(|name| self.parameters.iter().any(|known| **known == *name));
        let (start, rest) = match (variable, steps.first()) {
            // A name that is called is a built-in function, whatever variables there are.
            (Some(name), Some(FieldPostfix::Call(arguments))) => {
                let function = FunctionName::of(name).ok_or_else(|| Rc::from(name));
                (BoundField::Call(function, self.fields(arguments)), &steps[1..])
            }
            // Not a variable: the way to fields whose names are keywords.
            (Some("row"), Some(FieldPostfix::Name(name))) => {
                (BoundField::RowIndex(Box::new(BoundField::Constant(Cell::text(name.as_str())))), &steps[1..])
            }
            (Some("row"), Some(FieldPostfix::Index(index))) => {
                (BoundField::RowIndex(Box::new(self.field(index))), &steps[1..])
            }
            // Resolved here once: most queries read `file.` fields, in every row.
            (Some("file"), Some(FieldPostfix::Name(name))) if !hidden => match FileField::of(name) {
                Some(field) => (BoundField::File(field), &steps[1..]),
                None => (self.field(first), steps),
            },
            _ => (self.field(first), steps),
        };
        if rest.is_empty() {
            return start;
        }
        let step = |step: &FieldPostfix| match step {
            FieldPostfix::Name(name) => BoundPostfix::Name(name.as_str().into()),
            FieldPostfix::Index(index) => BoundPostfix::Index(self.field(index)),
            FieldPostfix::Call(arguments) => BoundPostfix::Call(self.fields(arguments)),
        };
        BoundField::Postfix(Box::new(start), rest.iter().map(step).collect())
    }
}
