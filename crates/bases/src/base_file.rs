//! A base as it is written: YAML with filters, formulas, properties, summaries and views.

use std::collections::HashMap;

use lapidary_note::{NodeContent, YamlValue, read_yaml};

use super::{
    base_filter::BaseFilter,
    base_reader::BaseReader,
    base_yaml::{lost_expression, without_aliases, without_tabs},
    formula::{FormulaNames, FormulaNode},
    property_id::PropertyId,
};
use lapidary_query::{Object, QuerySyntaxError};

/// A base that has been read. Invalid expressions do not make it fail: the app shows the rest.
#[derive(Debug)]
pub struct BaseFile {
    pub(super) names: FormulaNames,
    pub(super) formulas: Vec<NamedFormula>,
    /// Beside `formulas`; nothing for one that cannot be read.
    pub(super) formula_nodes: Vec<Option<FormulaNode>>,
    /// For each place of a name in `names` the formula it means.
    pub(super) formula_places: Vec<Option<usize>>,
    pub(super) filters: Option<BaseFilter>,
    /// By the canonical id.
    pub(super) display_names: HashMap<String, String>,
    pub(super) summaries: Vec<CustomSummary>,
    pub(super) views: Vec<BaseView>,
    pub(super) problems: Vec<BaseProblem>,
    pub(super) more_problems: usize,
}

#[derive(Debug)]
pub(super) struct NamedFormula {
    pub(super) name: String,
}

#[derive(Debug)]
pub(super) struct CustomSummary {
    pub(super) name: String,
    pub(super) node: Option<FormulaNode>,
}

#[derive(Debug)]
pub(super) struct BaseView {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) filters: Option<BaseFilter>,
    pub(super) order: Vec<PropertyId>,
    pub(super) sort: Vec<SortRule>,
    pub(super) group: Option<SortRule>,
    pub(super) limit: Option<usize>,
    pub(super) summaries: Vec<SummaryRule>,
    pub(super) options: Object,
}

/// What is worked out of a column.
#[derive(Debug)]
pub(super) struct SummaryRule {
    pub(super) property: PropertyId,
    pub(super) name: String,
    pub(super) formula: SummaryFormula,
}

#[derive(Debug)]
pub(super) enum SummaryFormula {
    /// A place in [`BaseFile::summaries`].
    Custom(usize),
    BuiltIn {
        node: FormulaNode,
        of_dates: Option<FormulaNode>,
    },
    Unknown,
}

#[derive(Debug)]
pub(super) struct SortRule {
    pub(super) property: PropertyId,
    pub(super) descending: bool,
}

/// Something in a base that the app passes over in silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseProblem {
    /// What it is in: `formula "total"`, `filter`.
    pub place: String,
    pub error: QuerySyntaxError,
}

/// A view by name and type, as `base:views` of the app's command line lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseViewName<'b> {
    pub name: &'b str,
    pub kind: &'b str,
}

impl BaseFile {
    /// Reads a `.base` file, the text of a `base` block, or YAML from elsewhere.
    pub fn parse(yaml: &str) -> Result<Self, QuerySyntaxError> {
        // YAML forbids tabs there, but the app accepts them.
        let spaced = without_tabs(yaml);
        let yaml = spaced.as_deref().unwrap_or(yaml);
        let root = read_yaml(yaml).map_err(|(line, problem)| {
            // The reader of YAML counts lines, and problems are placed by bytes.
            let start: usize = yaml.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
            // A line that begins with `!` is the usual cause, and YAML's own message does not help.
            lost_expression(yaml, start).unwrap_or_else(|| QuerySyntaxError {
                line,
                column: 1,
                message: format!("Unable to parse your base file: {problem}"),
                ..QuerySyntaxError::default()
            })
        })?;
        // An alias is expanded once here, so that nothing later has to follow one.
        let root = without_aliases(root);
        let entries = match &root.content {
            NodeContent::Map(entries) => &entries[..],
            // An empty file is an empty base, as in the app.
            NodeContent::Scalar(YamlValue::Null) => &[],
            _ => {
                let message = "Query is an invalid format. It should be a YAML object.";
                return Err(QuerySyntaxError::at(yaml, root.span.start, message));
            }
        };
        BaseReader::new(yaml).base(entries)
    }

    /// What cannot be read or does not exist, in the order of the file. The base can be run all the same.
    pub fn problems(&self) -> &[BaseProblem] {
        &self.problems
    }

    /// How many more there are that are not described.
    pub fn more_problems(&self) -> usize {
        self.more_problems
    }

    /// The views in order; the first is the default.
    pub fn views(&self) -> impl Iterator<Item = BaseViewName<'_>> {
        self.views.iter().map(|view| BaseViewName { name: &view.name, kind: &view.kind })
    }

    /// The names of the formulas in order.
    pub fn formula_names(&self) -> impl Iterator<Item = &str> {
        self.formulas.iter().map(|formula| formula.name.as_str())
    }

    /// Whether the same vault and clock may give another answer in the app.
    pub fn is_random(&self) -> bool {
        self.names.is_random
    }

    pub(super) fn view(&self, name: Option<&str>) -> Option<&BaseView> {
        // By name alone: the app does not compare views without case.
        match name {
            Some(name) => self.views.iter().find(|view| view.name == name),
            None => self.views.first(),
        }
    }

    pub(super) fn column_name(&self, property: &PropertyId) -> String {
        self.display_names.get(&property.canonical()).cloned().unwrap_or_else(|| property.label())
    }
}

/// What a base can have at its top. DQL has no line that begins so.
const TOP_KEYS: [&str; 8] =
    ["filters", "formulas", "properties", "summaries", "views", "display", "newItemFolder", "newItemTemplate"];

/// Whether a text that may be a query in either language is the YAML of a base.
pub fn is_base_yaml(text: &str) -> bool {
    let is_key =
        |line: &str| line.split_once(':').is_some_and(|(key, _)| TOP_KEYS.contains(&key.trim_matches(['"', '\''])));
    text.lines().map(str::trim_end).any(is_key)
}

/// The path of a base, and its view, that a text names where a query is expected: `Books.base`, `Books.base#Best` or a link to it.
pub fn base_path_of(text: &str) -> Option<(&str, Option<&str>)> {
    let trimmed = text.trim();
    // `[[x.base]]` and `![[x.base#View]]` are how notes refer to a base.
    let inner = trimmed.trim_start_matches('!').strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
    let named = inner.unwrap_or(trimmed);
    // A heading-like part after the path names a view.
    let (path, view) = named.split_once('#').map_or((named, None), |(path, view)| (path, Some(view)));
    // A path has one line; a query that ends with such a word is not one.
    let is_path = path.to_lowercase().ends_with(".base") && !path.contains('\n');
    is_path.then(|| (path, view.filter(|view| !view.is_empty())))
}
