//! A base as it is written: YAML with filters, formulas, properties, summaries and views.

use std::collections::HashMap;

use lapidary_note::{NodeContent, Property, YamlNode, YamlValue, quoted, read_yaml};

use super::{
    base_filter::{BaseFilter, FilterExpression},
    formula::{FormulaNames, FormulaNode},
    known_name::{FileField, nearest_function},
    parse::parse_formula,
    property_id::{PropertyId, canonical},
};
use crate::{Object, QuerySyntaxError, Value, nearest};

/// Filters in filters. The reader of YAML bounds it too.
const MAX_FILTER_DEPTH: usize = 32;

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
    problems: Vec<BaseProblem>,
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

/// The summaries that every base has, and what they are short for.
const BUILT_IN_SUMMARIES: [(&str, &str); 14] = [
    ("Average", "values.mean().round(2)"),
    ("Min", "values.min()"),
    ("Max", "values.max()"),
    ("Median", "values.median()"),
    ("Sum", "values.sum().round(2)"),
    ("Range", "values.max() - values.min()"),
    ("Stddev", "values.stddev().round(2)"),
    ("Earliest", "values.earliest()"),
    ("Latest", "values.latest()"),
    ("Checked", "values.filter(value == true).length"),
    ("Unchecked", "values.filter(value == false).length"),
    ("Empty", "values.filter(value == null).length"),
    ("Filled", "values.filter(value != null).length"),
    ("Unique", "values.unique().length"),
];
const RANGE_OF_DATES: &str = "values.latest() - values.earliest()";

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
        let spaced = without_tabs(yaml);
        let yaml = spaced.as_deref().unwrap_or(yaml);
        let root = read_yaml(yaml).map_err(|(line, problem)| {
            let start: usize = yaml.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
            lost_expression(yaml, start).unwrap_or_else(|| QuerySyntaxError {
                line,
                column: 1,
                message: format!("Unable to parse your base file: {problem}"),
                ..QuerySyntaxError::default()
            })
        })?;
        let root = without_aliases(root);
        let entries = match &root.content {
            NodeContent::Map(entries) => &entries[..],
            NodeContent::Scalar(YamlValue::Null) => &[],
            _ => {
                let message = "Query is an invalid format. It should be a YAML object.";
                return Err(QuerySyntaxError::at(yaml, root.span.start, message));
            }
        };
        BaseReader { yaml, names: FormulaNames::default(), problems: Vec::new() }.base(entries)
    }

    /// What cannot be read or does not exist, in the order of the file. The base can be run all the same.
    pub fn problems(&self) -> &[BaseProblem] {
        &self.problems
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
        match name {
            Some(name) => self.views.iter().find(|view| view.name == name),
            None => self.views.first(),
        }
    }

    pub(super) fn column_name(&self, property: &PropertyId) -> String {
        self.display_names.get(&property.canonical()).cloned().unwrap_or_else(|| property.label())
    }
}

struct BaseReader<'y> {
    yaml: &'y str,
    names: FormulaNames,
    problems: Vec<BaseProblem>,
}

const KNOWN_KEYS: [&str; 8] =
    ["filters", "formulas", "properties", "summaries", "views", "newItemFolder", "newItemTemplate", "display"];

impl BaseReader<'_> {
    fn base(mut self, entries: &[Property]) -> Result<BaseFile, QuerySyntaxError> {
        for entry in entries {
            let known = KNOWN_KEYS.contains(&entry.key.as_str());
            if !known && let Some(nearest) = nearest(&entry.key, KNOWN_KEYS) {
                let error = QuerySyntaxError {
                    nearest: Some(nearest.to_owned()),
                    ..self.at(entry.key_span.start, format!("{} is not a key of a base", quoted(&entry.key)))
                };
                self.problems.push(BaseProblem { place: "base".to_owned(), error });
            }
        }
        let value = |name: &str| entries.iter().find(|entry| entry.key == name).map(|entry| &entry.value);
        let given = |name: &str| value(name).filter(|node| !is_null(node));
        let (formulas, formula_nodes) = self.formulas(given("formulas"))?;
        let filters = match value("filters") {
            Some(node) => self.filters(node, None)?,
            None => None,
        };
        let mut display_names = self.legacy_names(given("display"));
        self.display_names(given("properties"), &mut display_names)?;
        let summaries = self.custom_summaries(given("summaries"))?;
        let views = match given("views") {
            Some(node) => self.views(node, &summaries)?,
            None => vec![self.default_view()],
        };
        self.check_columns(&views, &formulas);
        let find = |name: &String| formulas.iter().position(|formula| formula.name.to_lowercase() == *name);
        let formula_places = self.names.formulas.iter().map(find).collect();
        self.problems.sort_by_key(|problem| (problem.error.line, problem.error.column));
        Ok(BaseFile {
            names: self.names,
            formulas,
            formula_nodes,
            formula_places,
            filters,
            display_names,
            summaries,
            views,
            problems: self.problems,
        })
    }

    fn at(&self, offset: usize, message: impl Into<String>) -> QuerySyntaxError {
        QuerySyntaxError::at(self.yaml, offset, message)
    }

    fn default_view(&mut self) -> BaseView {
        BaseView {
            name: "Table".to_owned(),
            kind: "table".to_owned(),
            filters: None,
            order: vec![PropertyId::parse("file.name", &mut self.names)],
            sort: Vec::new(),
            group: None,
            limit: None,
            summaries: Vec::new(),
            options: Object::new(),
        }
    }

    /// An expression; nothing, and a problem, if it cannot be read.
    fn expression(&mut self, text: &str, node: &YamlNode, place: &str) -> Option<FormulaNode> {
        let known = self.names.unknown_functions.len();
        let parsed = parse_formula(text, &mut self.names);
        let offset = |at: usize| text_offset(self.yaml, node, text).map_or(node.span.start, |start| start + at);
        let unknown: Vec<_> = self.names.unknown_functions.drain(known..).collect();
        match parsed {
            Ok(parsed) => {
                for function in unknown {
                    let error = QuerySyntaxError {
                        nearest: nearest_function(&function.name).map(str::to_owned),
                        ..self.at(offset(function.at), format!("Cannot find function \"{}\"", function.name))
                    };
                    self.problems.push(BaseProblem { place: place.to_owned(), error });
                }
                Some(parsed)
            }
            Err(fault) => {
                let position = text[..fault.at.min(text.len())].chars().count();
                let mut message = format!("Unable to parse formula. (position {position})");
                if let Some(problem) = fault.problem {
                    message = format!("{message} {problem}");
                }
                if followed_by_comment(self.yaml, node) {
                    message += " The rest of the line is a comment of YAML: put the expression in quotes";
                }
                let expected = fault.expected.iter().map(|expected| (*expected).to_owned()).collect();
                let error = QuerySyntaxError { expected, ..self.at(offset(fault.at), message) };
                self.problems.push(BaseProblem { place: place.to_owned(), error });
                None
            }
        }
    }

    fn formulas(
        &mut self,
        node: Option<&YamlNode>,
    ) -> Result<(Vec<NamedFormula>, Vec<Option<FormulaNode>>), QuerySyntaxError> {
        let Some(node) = node else { return Ok((Vec::new(), Vec::new())) };
        let NodeContent::Map(entries) = &node.content else {
            return Err(self.at(node.span.start, "\"formulas\" must be an object"));
        };
        let (mut formulas, mut nodes) = (Vec::new(), Vec::new());
        for entry in entries {
            let Some(text) = text_of(&entry.value) else {
                if let Some(error) = self.lost_tag(&entry.value) {
                    return Err(error);
                }
                let message = format!("Formula values must be strings. Value for property {} is not.", entry.key);
                return Err(self.at(entry.value.span.start, message));
            };
            nodes.push(self.expression(text, &entry.value, &format!("formula \"{}\"", entry.key)));
            formulas.push(NamedFormula { name: entry.key.clone() });
        }
        Ok((formulas, nodes))
    }

    fn custom_summaries(&mut self, node: Option<&YamlNode>) -> Result<Vec<CustomSummary>, QuerySyntaxError> {
        let Some(node) = node else { return Ok(Vec::new()) };
        let NodeContent::Map(entries) = &node.content else {
            return Err(self.at(node.span.start, "\"summaries\" must be an object"));
        };
        let mut summaries = Vec::new();
        for entry in entries {
            let Some(text) = text_of(&entry.value) else {
                let message = format!("Summary values must be strings. Value for {} is not.", entry.key);
                return Err(self.at(entry.value.span.start, message));
            };
            let node = self.expression(text, &entry.value, &format!("summary \"{}\"", entry.key));
            summaries.push(CustomSummary { name: entry.key.clone(), node });
        }
        Ok(summaries)
    }

    fn display_names(
        &self,
        node: Option<&YamlNode>,
        names: &mut HashMap<String, String>,
    ) -> Result<(), QuerySyntaxError> {
        let Some(node) = node else { return Ok(()) };
        let NodeContent::Map(entries) = &node.content else {
            return Err(self.at(node.span.start, "Invalid properties configuration."));
        };
        for entry in entries {
            match &entry.value.content {
                NodeContent::Map(_) => {}
                NodeContent::Scalar(YamlValue::Null) => continue,
                _ => return Err(self.at(entry.value.span.start, "Invalid properties configuration.")),
            }
            if let Some(name) = entry.value.get("displayName").and_then(shown_scalar) {
                names.insert(canonical(&entry.key), name);
            }
        }
        Ok(())
    }

    /// `display: {property: name}` of the first versions.
    fn legacy_names(&self, node: Option<&YamlNode>) -> HashMap<String, String> {
        let Some(NodeContent::Map(entries)) = node.map(|node| &node.content) else { return HashMap::new() };
        entries.iter().filter_map(|entry| Some((canonical(&entry.key), shown_scalar(&entry.value)?))).collect()
    }

    /// Nothing if it restricts nothing.
    fn filters(&mut self, node: &YamlNode, view: Option<&str>) -> Result<Option<BaseFilter>, QuerySyntaxError> {
        if is_null(node) && self.lost_tag(node).is_none() {
            return Ok(None);
        }
        let filter = self.filter(node, 0);
        filter.map_err(|error| match view {
            Some(view) => {
                let message = format!("Unable to parse filters in view \"{view}\": {}", error.message);
                QuerySyntaxError { message, ..error }
            }
            None => error,
        })
    }

    /// Groups without filters are left out, whatever they join.
    fn filter(&mut self, node: &YamlNode, depth: usize) -> Result<Option<BaseFilter>, QuerySyntaxError> {
        if depth > MAX_FILTER_DEPTH {
            let message = format!("the filters are nested more than {MAX_FILTER_DEPTH} levels deep");
            return Err(self.at(node.span.start, message));
        }
        if let Some(text) = text_of(node) {
            let parsed = self.expression(text, node, "filter");
            return Ok(Some(BaseFilter::Expression(FilterExpression { text: text.to_owned(), node: parsed })));
        }
        let NodeContent::Map(entries) = &node.content else {
            let error = || self.at(node.span.start, "\"filters\" must be a string or an object");
            return Err(self.lost_tag(node).unwrap_or_else(error));
        };
        let entry = match &entries[..] {
            [] => return Ok(None),
            [entry] => entry,
            [_, second, ..] => {
                let message = "\"filters\" may only have one of an \"and\", \"or\", or \"not\" keys.";
                return Err(self.at(second.key_span.start, message));
            }
        };
        let join = match entry.key.as_str() {
            "and" => BaseFilter::All,
            "or" => BaseFilter::Any,
            "not" => BaseFilter::None,
            key => {
                let message = "\"filters\" may only have one of an \"and\", \"or\", or \"not\" keys.";
                let expected = ["`and`", "`or`", "`not`", "one expression in quotes"].map(str::to_owned).into();
                let nearest = nearest(key, ["and", "or", "not"]).map(str::to_owned);
                return Err(QuerySyntaxError { expected, nearest, ..self.at(entry.key_span.start, message) });
            }
        };
        let items = match &entry.value.content {
            NodeContent::List(items) => &items[..],
            NodeContent::Scalar(YamlValue::Null) if self.lost_tag(&entry.value).is_none() => &[],
            _ => {
                let message = format!("\"{}\" filter must be an array", entry.key);
                return Err(self.at(entry.value.span.start, message));
            }
        };
        let mut filters = Vec::new();
        for item in items {
            filters.extend(self.filter(item, depth + 1)?);
        }
        Ok(if filters.is_empty() { without_restriction() } else { Some(join(filters)) })
    }

    /// `- !file.hasTag("x")` without quotes: YAML takes it for the name of a type, and nothing is left.
    fn lost_tag(&self, node: &YamlNode) -> Option<QuerySyntaxError> {
        let before = self.yaml.get(..node.span.start.min(self.yaml.len()))?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        if is_null(node) { lost_expression(self.yaml, line_start) } else { None }
    }

    fn views(&mut self, node: &YamlNode, customs: &[CustomSummary]) -> Result<Vec<BaseView>, QuerySyntaxError> {
        let NodeContent::List(items) = &node.content else {
            return Err(self.at(node.span.start, "Views must be an array"));
        };
        let mut views: Vec<BaseView> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let view = self.view(item, at + 1, customs)?;
            if views.iter().any(|known| known.name == view.name) {
                let error = self.at(item.span.start, format!("there are two views with the name \"{}\"", view.name));
                self.problems.push(BaseProblem { place: "views".to_owned(), error });
            }
            views.push(view);
        }
        if views.is_empty() {
            views.push(self.default_view());
        }
        Ok(views)
    }

    fn view(
        &mut self,
        node: &YamlNode,
        number: usize,
        customs: &[CustomSummary],
    ) -> Result<BaseView, QuerySyntaxError> {
        let NodeContent::Map(entries) = &node.content else {
            let message = format!("\"view\" items must be a YAML object, however item {number} is not");
            return Err(self.at(node.span.start, message));
        };
        let given = |name: &str| node.get(name).filter(|node| !is_null(node));
        let name = given("name").and_then(shown_scalar).filter(|name| is_view_name(name));
        let Some(name) = name else {
            let place = node.get("name").map_or(node.span.start, |name| name.span.start);
            return Err(self.at(place, format!("Missing or invalid \"name\" in view {number}")));
        };
        let Some(kind) = given("type") else {
            return Err(self.at(node.span.start, format!("\"type\" is required in view \"{name}\"")));
        };
        let Some(kind) = text_of(kind) else {
            return Err(self.at(kind.span.start, format!("\"type\" must be a string in view \"{name}\"")));
        };
        let filters = match node.get("filters") {
            Some(filters) => self.filters(filters, Some(&name))?,
            None => None,
        };
        let mut view = BaseView { name, kind: kind.to_owned(), filters, ..self.default_view() };
        if let Some(order) = given("order") {
            view.order = self.order(order, &view.name)?;
        }
        if let Some(sort) = given("sort") {
            let NodeContent::List(rules) = &sort.content else {
                return Err(self.at(sort.span.start, format!("\"sort\" must be an array in view \"{}\"", view.name)));
            };
            // The app passes over rules that it cannot read.
            view.sort = rules.iter().filter_map(|rule| self.sort_rule(rule)).collect();
        }
        if let Some(group) = given("groupBy") {
            view.group = self.sort_rule(group);
            if view.group.is_none() {
                let message = format!("\"groupBy\" must be an object in view \"{}\"", view.name);
                return Err(self.at(group.span.start, message));
            }
        }
        if let Some(limit) = given("limit") {
            let NodeContent::Scalar(YamlValue::Integer(_) | YamlValue::Float(_)) = &limit.content else {
                return Err(self.at(limit.span.start, format!("\"limit\" must be a number in view \"{}\"", view.name)));
            };
            view.limit = limit_of(limit);
        }
        if let Some(summaries) = given("summaries") {
            view.summaries = self.view_summaries(summaries, &view.name, customs)?;
        }
        let known = ["type", "name", "filters", "order", "sort", "groupBy", "limit", "summaries"];
        let others = entries.iter().filter(|entry| !known.contains(&entry.key.as_str()));
        view.options = others.map(|entry| (entry.key.clone(), plain_value(&entry.value.to_value()))).collect();
        Ok(view)
    }

    fn order(&mut self, node: &YamlNode, view: &str) -> Result<Vec<PropertyId>, QuerySyntaxError> {
        let NodeContent::List(items) = &node.content else {
            return Err(self.at(node.span.start, format!("\"order\" must be an array in view \"{view}\"")));
        };
        let mut order = Vec::new();
        for item in items {
            let Some(id) = shown_scalar(item) else {
                let message = format!("\"order\" values must all be of type string in view \"{view}\"");
                return Err(self.at(item.span.start, message));
            };
            let id = PropertyId::parse(&id, &mut self.names);
            self.check_id(&id, item);
            order.push(id);
        }
        Ok(if order.is_empty() { self.default_view().order } else { order })
    }

    fn sort_rule(&mut self, node: &YamlNode) -> Option<SortRule> {
        let property = node.get("property")?;
        let id = PropertyId::parse(&shown_scalar(property)?, &mut self.names);
        self.check_id(&id, property);
        let direction = node.get("direction").and_then(text_of);
        let descending = direction.is_some_and(|direction| direction.eq_ignore_ascii_case("DESC"));
        Some(SortRule { property: id, descending })
    }

    fn view_summaries(
        &mut self,
        node: &YamlNode,
        view: &str,
        customs: &[CustomSummary],
    ) -> Result<Vec<SummaryRule>, QuerySyntaxError> {
        let NodeContent::Map(entries) = &node.content else {
            return Err(self.at(node.span.start, format!("\"summaries\" must be an object in view \"{view}\"")));
        };
        let mut summaries = Vec::new();
        for entry in entries {
            let Some(name) = shown_scalar(&entry.value) else {
                let message = format!("\"summaries\" values must all be of type string in view \"{view}\"");
                return Err(self.at(entry.value.span.start, message));
            };
            let formula = self.summary(&name, &entry.value, customs);
            let property = PropertyId::parse(&entry.key, &mut self.names);
            summaries.push(SummaryRule { property, name, formula });
        }
        Ok(summaries)
    }

    /// A custom summary hides a built-in one of its name.
    fn summary(&mut self, name: &str, node: &YamlNode, customs: &[CustomSummary]) -> SummaryFormula {
        if let Some(place) = customs.iter().position(|custom| custom.name == name) {
            return SummaryFormula::Custom(place);
        }
        let built_in = BUILT_IN_SUMMARIES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let parsed = built_in.and_then(|(_, text)| parse_formula(text, &mut self.names).ok());
        let Some(parsed) = parsed else {
            let known = BUILT_IN_SUMMARIES.iter().map(|(name, _)| *name);
            let nearest = nearest(name, known.chain(customs.iter().map(|custom| custom.name.as_str())));
            let nearest = nearest.map(str::to_owned);
            let error =
                QuerySyntaxError { nearest, ..self.at(node.span.start, format!("there is no summary \"{name}\"")) };
            self.problems.push(BaseProblem { place: "summary".to_owned(), error });
            return SummaryFormula::Unknown;
        };
        let is_range = name.eq_ignore_ascii_case("Range");
        let of_dates = if is_range { parse_formula(RANGE_OF_DATES, &mut self.names).ok() } else { None };
        SummaryFormula::BuiltIn { node: parsed, of_dates }
    }

    fn check_id(&mut self, id: &PropertyId, node: &YamlNode) {
        let Some(field) = id.unknown_field() else { return };
        let nearest = FileField::nearest(field).map(|known| format!("file.{known}"));
        let error =
            QuerySyntaxError { nearest, ..self.at(node.span.start, format!("files have no field \"{field}\"")) };
        self.problems.push(BaseProblem { place: "view".to_owned(), error });
    }

    /// Columns of formulas that there are not.
    fn check_columns(&mut self, views: &[BaseView], formulas: &[NamedFormula]) {
        for view in views {
            let rules = view.sort.iter().chain(&view.group).map(|rule| &rule.property);
            for name in view.order.iter().chain(rules).filter_map(PropertyId::formula) {
                let known = |formula: &NamedFormula| formula.name.to_lowercase() == name.to_lowercase();
                if formulas.iter().any(known) {
                    continue;
                }
                let names = formulas.iter().map(|formula| formula.name.as_str());
                let nearest = nearest(name, names).map(|known| format!("formula.{known}"));
                let place = self.yaml.find(&format!("formula.{name}")).unwrap_or_default();
                let error = QuerySyntaxError { nearest, ..self.at(place, format!("there is no formula \"{name}\"")) };
                self.problems.push(BaseProblem { place: format!("view \"{}\"", view.name), error });
            }
        }
    }
}

/// The fault of a line whose value begins with `!` and has no quotes.
fn lost_expression(yaml: &str, line_start: usize) -> Option<QuerySyntaxError> {
    let line = yaml.get(line_start..)?.lines().next()?;
    let value = line.trim_start().trim_start_matches("- ").trim_start();
    let value = value.split_once(": ").map_or(value, |(_, value)| value.trim_start());
    let at = line_start + line.find('!').filter(|_| value.starts_with('!'))?;
    let message = "an expression that begins with `!` must be in quotes, or YAML reads it as the name of a type";
    Some(QuerySyntaxError::at(yaml, at, message))
}

/// What a group without filters means: nothing, whatever it would join.
fn without_restriction() -> Option<BaseFilter> {
    None
}

fn is_null(node: &YamlNode) -> bool {
    matches!(node.content, NodeContent::Scalar(YamlValue::Null))
}

fn text_of(node: &YamlNode) -> Option<&str> {
    match &node.content {
        NodeContent::Scalar(YamlValue::Text(text)) => Some(text),
        _ => None,
    }
}

/// A name may look like a number or a boolean.
fn shown_scalar(node: &YamlNode) -> Option<String> {
    match &node.content {
        NodeContent::Scalar(YamlValue::Text(text)) => Some(text.clone()),
        NodeContent::Scalar(YamlValue::Integer(number)) => Some(number.to_string()),
        NodeContent::Scalar(YamlValue::Float(number)) => Some(number.to_string()),
        NodeContent::Scalar(YamlValue::Bool(value)) => Some(value.to_string()),
        _ => None,
    }
}

/// No limit for zero and less.
fn limit_of(node: &YamlNode) -> Option<usize> {
    let limit = match node.content {
        NodeContent::Scalar(YamlValue::Integer(limit)) => usize::try_from(limit).ok()?,
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is out of range is cut to it"
        )]
        NodeContent::Scalar(YamlValue::Float(limit)) => limit as usize,
        _ => return None,
    };
    (limit > 0).then_some(limit)
}

/// Names that an embed can carry.
fn is_view_name(name: &str) -> bool {
    let forbidden = ["[[", "]]", "%%"];
    !name.trim().is_empty()
        && !name.contains(['#', ':', '|', '^'])
        && !forbidden.iter().any(|forbidden| name.contains(forbidden))
}

/// Where a text begins in the YAML that it was read from, if it is written there as it is.
fn text_offset(yaml: &str, node: &YamlNode, text: &str) -> Option<usize> {
    let written = yaml.get(node.span.clone())?;
    if let Some(at) = written.find(text) {
        return Some(node.span.start + at);
    }
    // Escapes and folded lines shift what follows them; the first line is still where it is.
    let first = text.lines().next().filter(|line| !line.is_empty())?;
    let known = first.find(['\\', '"', '\'']).map_or(first, |end| &first[..end]);
    written.find(known).map(|at| node.span.start + at)
}

fn followed_by_comment(yaml: &str, node: &YamlNode) -> bool {
    let written = yaml.get(node.span.clone()).unwrap_or_default();
    let behind = yaml.get(node.span.end..).unwrap_or_default();
    !written.starts_with(['"', '\'', '|', '>']) && behind.starts_with(" #")
}

fn plain_value(value: &YamlValue) -> Value {
    match value {
        YamlValue::Null => Value::Null,
        YamlValue::Bool(value) => Value::Boolean(*value),
        YamlValue::Integer(number) => Value::from(*number),
        YamlValue::Float(number) => Value::Number(crate::Number::Float(*number)),
        YamlValue::Text(text) => Value::from(text.as_str()),
        YamlValue::List(items) => items.iter().map(plain_value).collect(),
        YamlValue::Map(entries) => {
            Value::Object(entries.iter().map(|(name, value)| (name.clone(), plain_value(value))).collect())
        }
    }
}

/// Every alias with what it stands for in its place.
fn without_aliases(node: YamlNode) -> YamlNode {
    let YamlNode { span, content } = node;
    let content = match content {
        NodeContent::Alias(value) => return node_of(value, &span),
        NodeContent::List(items) => NodeContent::List(items.into_iter().map(without_aliases).collect()),
        NodeContent::Map(entries) => {
            let entry = |entry: Property| Property { value: without_aliases(entry.value), ..entry };
            NodeContent::Map(entries.into_iter().map(entry).collect())
        }
        scalar @ NodeContent::Scalar(_) => scalar,
    };
    YamlNode { span, content }
}

fn node_of(value: YamlValue, span: &std::ops::Range<usize>) -> YamlNode {
    let content = match value {
        YamlValue::List(items) => NodeContent::List(items.into_iter().map(|item| node_of(item, span)).collect()),
        YamlValue::Map(entries) => {
            let entry = |(key, value)| Property { key, key_span: span.clone(), value: node_of(value, span) };
            NodeContent::Map(entries.into_iter().map(entry).collect())
        }
        scalar => NodeContent::Scalar(scalar),
    };
    YamlNode { span: span.clone(), content }
}

/// Tabs that indent become spaces, as in the app; nothing if there are none.
fn without_tabs(yaml: &str) -> Option<String> {
    let is_indented =
        |line: &str| line.trim_start_matches([' ', '\t']).len() < line.len() && line.starts_with([' ', '\t']);
    let has_tabs = |line: &&str| is_indented(line) && line[..line.len() - line.trim_start().len()].contains('\t');
    yaml.lines().find(|line| has_tabs(line))?;
    let spaced = yaml.split_inclusive('\n').map(|line| {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        format!("{}{}", line[..indent].replace('\t', "  "), &line[indent..])
    });
    Some(spaced.collect())
}
