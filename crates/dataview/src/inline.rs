//! Queries inside of a note: blocks, and expressions in inline code.

use lapidary_query::{DataviewSettings, QueryContext, QueryHalt, QuerySyntaxError, QueryVault, Value};

use super::{
    bound::bind,
    engine::QueryEngine,
    evaluate::{FieldScope, evaluate},
    parser::parse_field,
    run::halted,
    syntax::FieldSyntax,
    text::cell_value,
};

/// One expression, as in `` `= this.file.name` ``. `this` is the origin, and no row is read.
pub struct DqlExpression {
    field: FieldSyntax,
}

impl DqlExpression {
    pub fn parse(text: &str) -> Result<Self, QuerySyntaxError> {
        parse_field(text).map(|field| Self { field })
    }

    pub fn evaluate(&self, vault: &dyn QueryVault, context: &QueryContext<'_>) -> Result<Value, QueryHalt> {
        let engine = QueryEngine::new(vault, context);
        let field = bind(&engine, &self.field);
        let value = evaluate(&engine, &field, FieldScope::of_row(None)).map_err(halted)?;
        cell_value(&engine, &value).map_err(halted)
    }
}

/// What the text of some inline code is to Dataview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlineCode<'t> {
    Expression(&'t str),
    /// JavaScript, which is not run.
    Script(&'t str),
    Text,
}

impl<'t> InlineCode<'t> {
    pub fn of(code: &'t str, settings: &DataviewSettings) -> Self {
        let behind = |prefix: &str| {
            // An empty prefix would make a query of all inline code.
            let inner = code.strip_prefix(prefix).filter(|_| !prefix.is_empty())?.trim();
            (!inner.is_empty()).then_some(inner)
        };
        // First, in case the other prefix is the beginning of this one.
        if let Some(script) = behind(&settings.inline_js_prefix) {
            return Self::Script(script);
        }
        behind(&settings.inline_prefix).map_or(Self::Text, Self::Expression)
    }
}

/// What a fenced block is, by the first word behind its fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryBlock {
    Query,
    /// JavaScript, which is not run.
    Script,
}

impl QueryBlock {
    pub fn of(word: &str, settings: &DataviewSettings) -> Option<Self> {
        match word {
            "dataview" => Some(Self::Query),
            word if word == settings.js_keyword => Some(Self::Script),
            _ => None,
        }
    }
}
