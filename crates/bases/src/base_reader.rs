//! Reads the parts of a base: filters, formulas, properties, summaries. Views are read next door.

use std::collections::HashMap;

use lapidary_note::{NodeContent, Property, YamlNode, YamlValue};

use super::{
    base_file::{BaseFile, BaseProblem, CustomSummary, NamedFormula},
    base_filter::{BaseFilter, FilterExpression},
    base_yaml::{followed_by_comment, is_null, lost_expression, shown_scalar, text_of, text_offset},
    formula::{FormulaNames, FormulaNode},
    known_name::nearest_function,
    parse::parse_formula,
    property_id::canonical,
};
use lapidary_query::{QuerySyntaxError, nearest};

/// Filters in filters. The reader of YAML bounds it too.
const MAX_FILTER_DEPTH: usize = 32;
/// Far more than a person could read. Each row is charged for all of them.
pub(super) const MOST_FORMULAS: usize = 1_000;
/// Of problems that are described; each takes a look at the whole text.
const MOST_PROBLEMS: usize = 50;

/// A base that is being read.
pub(super) struct BaseReader<'y> {
    pub(super) yaml: &'y str,
    pub(super) names: FormulaNames,
    pub(super) problems: Vec<BaseProblem>,
    /// Problems that are only counted.
    pub(super) more_problems: usize,
}

const KNOWN_KEYS: [&str; 8] =
    ["filters", "formulas", "properties", "summaries", "views", "newItemFolder", "newItemTemplate", "display"];

impl<'y> BaseReader<'y> {
    pub(super) fn new(yaml: &'y str) -> Self {
        Self { yaml, names: FormulaNames::default(), problems: Vec::new(), more_problems: 0 }
    }

    pub(super) fn base(mut self, entries: &[Property]) -> Result<BaseFile, QuerySyntaxError> {
        for entry in entries {
            let known = KNOWN_KEYS.contains(&entry.key.as_str());
            // A key that is like none of them is not taken for a mistake.
            if !known && let Some(nearest) = nearest(&entry.key, KNOWN_KEYS) {
                self.problem("base", |reader| QuerySyntaxError {
                    nearest: Some(nearest.to_owned()),
                    ..reader.at(entry.key_span.start, format!("\"{}\" is not a key of a base", entry.key))
                });
            }
        }
        let value = |name: &str| entries.iter().find(|entry| entry.key == name).map(|entry| &entry.value);
        // An empty part is as good as none.
        let given = |name: &str| value(name).filter(|node| !is_null(node));
        // First, because filters and views name formulas.
        let (formulas, formula_nodes) = self.formulas(given("formulas"))?;
        let filters = match value("filters") {
            Some(node) => self.filters(node, None)?,
            None => None,
        };
        let mut display_names = self.legacy_names(given("display"));
        // After the older form, which it overrides.
        self.display_names(given("properties"), &mut display_names)?;
        let summaries = self.custom_summaries(given("summaries"))?;
        let views = match given("views") {
            Some(node) => self.views(node, &summaries)?,
            // A base without views shows a table, as in the app.
            None => vec![self.default_view()],
        };
        let places = places_of(&formulas);
        self.check_columns(&views, &formulas, &places);
        let formula_places = self.names.formulas.iter().map(|name| places.get(name).copied()).collect();
        // They were found part by part.
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
            more_problems: self.more_problems,
        })
    }

    /// Adds a problem, which is made only if it will be described.
    pub(super) fn problem(&mut self, place: &str, error: impl FnOnce(&Self) -> QuerySyntaxError) {
        if self.problems.len() >= MOST_PROBLEMS {
            self.more_problems += 1;
            return;
        }
        let error = error(self);
        self.problems.push(BaseProblem { place: place.to_owned(), error });
    }

    /// Refuses a list with more entries than are ever useful.
    pub(super) fn check_count(
        &self,
        count: usize,
        most: usize,
        node: &YamlNode,
        what: &str,
    ) -> Result<(), QuerySyntaxError> {
        if count <= most {
            return Ok(());
        }
        Err(self.at(node.span.start, format!("{what} has {count} entries, more than the limit of {most}")))
    }

    pub(super) fn at(&self, offset: usize, message: impl Into<String>) -> QuerySyntaxError {
        QuerySyntaxError::at(self.yaml, offset, message)
    }

    /// An expression; nothing, and a problem, if it cannot be read.
    fn expression(&mut self, text: &str, node: &YamlNode, place: &str) -> Option<FormulaNode> {
        // The parser adds to one list; what comes behind this place belongs to this expression.
        let known = self.names.unknown_functions.len();
        let parsed = parse_formula(text, &mut self.names);
        let unknown: Vec<_> = self.names.unknown_functions.drain(known..).collect();
        let is_odd = parsed.is_err() || !unknown.is_empty();
        // Looked for once, however many problems there are.
        let start = if is_odd { text_offset(self.yaml, node, text) } else { None };
        let offset = |at: usize| start.map_or(node.span.start, |start| start + at);
        match parsed {
            Ok(parsed) => {
                for function in unknown {
                    let at = offset(function.at);
                    self.problem(place, |reader| QuerySyntaxError {
                        nearest: nearest_function(&function.name).map(str::to_owned),
                        ..reader.at(at, format!("Cannot find function \"{}\"", function.name))
                    });
                }
                Some(parsed)
            }
            Err(fault) => {
                // In characters, as the app counts.
                let position = text[..fault.at.min(text.len())].chars().count();
                let mut message = format!("Unable to parse formula. (position {position})");
                if let Some(problem) = fault.problem {
                    message = format!("{message} {problem}");
                }
                // ` #` in an expression without quotes cuts it off silently.
                if followed_by_comment(self.yaml, node) {
                    message += " The rest of the line is a comment of YAML: put the expression in quotes";
                }
                let expected = fault.expected.iter().map(|expected| (*expected).to_owned()).collect();
                let at = offset(fault.at);
                self.problem(place, |reader| QuerySyntaxError { expected, ..reader.at(at, message) });
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
        self.check_count(entries.len(), MOST_FORMULAS, node, "\"formulas\"")?;
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
        self.check_count(entries.len(), MOST_FORMULAS, node, "\"summaries\"")?;
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
                // A property without settings is listed and says nothing.
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
    pub(super) fn filters(
        &mut self,
        node: &YamlNode,
        view: Option<&str>,
    ) -> Result<Option<BaseFilter>, QuerySyntaxError> {
        // A lost expression looks like nothing, but would show every note.
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
                let expected = ["and", "or", "not", "one expression in quotes"].map(str::to_owned).into();
                let nearest = nearest(key, ["and", "or", "not"]).map(str::to_owned);
                return Err(QuerySyntaxError { expected, nearest, ..self.at(entry.key_span.start, message) });
            }
        };
        let items = match &entry.value.content {
            NodeContent::List(items) => &items[..],
            // `and:` with nothing below it.
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
}

/// The number of each formula by its name in lower case; the first of a name counts.
fn places_of(formulas: &[NamedFormula]) -> HashMap<String, usize> {
    let mut places = HashMap::new();
    for (place, formula) in formulas.iter().enumerate() {
        places.entry(formula.name.to_lowercase()).or_insert(place);
    }
    places
}

/// What a group without filters means: nothing, whatever it would join.
fn without_restriction() -> Option<BaseFilter> {
    None
}
