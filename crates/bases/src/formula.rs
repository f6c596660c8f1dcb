//! An expression of the language, read and ready to be evaluated.

use std::collections::HashMap;

use super::{
    base_value::BaseValue,
    known_name::{FileField, KnownFunction},
};

/// Chains of operators of one level are flat, so that the depth of a tree is the depth of its parentheses and calls.
#[derive(Debug)]
pub(super) enum FormulaNode {
    Literal(BaseValue),
    List(Vec<FormulaNode>),
    /// A property of the note, or what a name stands for inside `map`, `filter` and `reduce`.
    Name {
        slot: usize,
        local: Option<LocalName>,
    },
    /// `note.x` and `note["x"]`, which nothing shadows.
    Property(usize),
    /// `formula.x`: a place in [`FormulaNames::formulas`].
    FormulaOf(usize),
    FileField(FileField),
    Root(RootName),
    /// In a summary the values of a column, elsewhere a property of that name.
    Values {
        slot: usize,
    },
    Not(Box<FormulaNode>),
    Negate(Box<FormulaNode>),
    All(Vec<FormulaNode>),
    Any(Vec<FormulaNode>),
    Chain {
        first: Box<FormulaNode>,
        rest: Vec<(BinaryOperator, FormulaNode)>,
    },
    Access {
        base: Box<FormulaNode>,
        steps: Vec<AccessStep>,
    },
    Call(FunctionCall),
}

#[derive(Debug)]
pub(super) enum AccessStep {
    Field(Box<str>),
    Index(FormulaNode),
    Method(FunctionCall),
    /// `x[0](1)`: nothing but a name can be called.
    Apply,
}

#[derive(Debug)]
pub(super) struct FunctionCall {
    /// As it was written.
    pub(super) name: Box<str>,
    pub(super) function: Option<KnownFunction>,
    pub(super) arguments: Vec<FormulaNode>,
    /// For a call that gives the same in every row: its place in [`FormulaNames::constants`].
    pub(super) constant: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RootName {
    Note,
    File,
    Formula,
    This,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalName {
    Value,
    Index,
    Accumulator,
    Key,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// The properties and formulas that the expressions of a base name, each with its own place, so that a row answers
/// for each once.
#[derive(Debug, Default)]
pub(super) struct FormulaNames {
    places: HashMap<String, usize>,
    /// In lower case, which is how they are compared.
    pub(super) properties: Vec<String>,
    formula_places: HashMap<String, usize>,
    pub(super) formulas: Vec<String>,
    /// How many calls give the same in every row.
    pub(super) constants: usize,
    /// Calls of functions that do not exist: the text before them and the name.
    pub(super) unknown_functions: Vec<UnknownFunction>,
    /// Whether `random` is called anywhere.
    pub(super) is_random: bool,
}

#[derive(Debug)]
pub(super) struct UnknownFunction {
    pub(super) name: String,
    /// Within the expression, in bytes.
    pub(super) at: usize,
}

impl FormulaNames {
    pub(super) fn property(&mut self, name: &str) -> usize {
        place(&mut self.places, &mut self.properties, name)
    }

    /// The place of a call, if it gives the same in every row: `today()`, `date("2026-01-02")`.
    pub(super) fn constant(&mut self, function: Option<KnownFunction>, arguments: &[FormulaNode]) -> Option<usize> {
        // Literals alone need no row; a name or another call may.
        let is_constant = function.is_some_and(KnownFunction::depends_on_arguments_alone)
            // A list of literals would do as well, but is not worth the walk.
            && arguments.iter().all(|argument| matches!(argument, FormulaNode::Literal(_)));
        is_constant.then(|| {
            self.constants += 1;
            self.constants - 1
        })
    }

    pub(super) fn formula(&mut self, name: &str) -> usize {
        place(&mut self.formula_places, &mut self.formulas, name)
    }
}

fn place(places: &mut HashMap<String, usize>, names: &mut Vec<String>, name: &str) -> usize {
    // Obsidian treats property names that differ only in case as the same.
    let name = name.to_lowercase();
    // The next free place, used only if the name is new.
    let next = names.len();
    *places.entry(name).or_insert_with_key(|name| {
        names.push(name.clone());
        next
    })
}
