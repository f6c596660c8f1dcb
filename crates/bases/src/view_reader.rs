//! Reads the views of a base: columns, order, groups, limits, summaries.

use std::collections::{HashMap, HashSet};

use lapidary_note::{NodeContent, YamlNode, YamlValue};

use super::{
    base_file::{BaseView, CustomSummary, NamedFormula, SortRule, SummaryFormula, SummaryRule},
    base_reader::BaseReader,
    base_yaml::{is_null, plain_value, shown_scalar, text_of},
    known_name::FileField,
    parse::parse_formula,
    property_id::PropertyId,
};
use lapidary_query::{Object, QuerySyntaxError, nearest};

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
/// Of columns, and of rules of each kind. The app shows them all; real views have a few dozen at most.
const MOST_COLUMNS: usize = 1_000;
const MOST_VIEWS: usize = 1_000;
/// Each sorts all rows once more.
const MOST_SORT_RULES: usize = 100;
const RANGE_OF_DATES: &str = "values.latest() - values.earliest()";

impl BaseReader<'_> {
    pub(super) fn default_view(&mut self) -> BaseView {
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

    pub(super) fn views(
        &mut self,
        node: &YamlNode,
        customs: &[CustomSummary],
    ) -> Result<Vec<BaseView>, QuerySyntaxError> {
        let NodeContent::List(items) = &node.content else {
            return Err(self.at(node.span.start, "Views must be an array"));
        };
        self.check_count(items.len(), MOST_VIEWS, node, "\"views\"")?;
        let mut views: Vec<BaseView> = Vec::new();
        let mut known = HashSet::new();
        for (at, item) in items.iter().enumerate() {
            let view = self.view(item, at + 1, customs)?;
            // Both are listed, but a name finds only the first.
            if !known.insert(view.name.clone()) {
                self.problem("views", |reader| {
                    reader.at(item.span.start, format!("there are two views with the name \"{}\"", view.name))
                });
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
        // What a view does not say is as in the default one.
        let mut view = BaseView { name, kind: kind.to_owned(), filters, ..self.default_view() };
        if let Some(order) = given("order") {
            view.order = self.order(order, &view.name)?;
        }
        if let Some(sort) = given("sort") {
            let NodeContent::List(rules) = &sort.content else {
                return Err(self.at(sort.span.start, format!("\"sort\" must be an array in view \"{}\"", view.name)));
            };
            self.check_count(rules.len(), MOST_SORT_RULES, sort, "\"sort\"")?;
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
        // Kept for the type of the view, such as the image of cards.
        let others = entries.iter().filter(|entry| !known.contains(&entry.key.as_str()));
        view.options = others.map(|entry| (entry.key.clone(), plain_value(&entry.value.to_value()))).collect();
        Ok(view)
    }

    fn order(&mut self, node: &YamlNode, view: &str) -> Result<Vec<PropertyId>, QuerySyntaxError> {
        let NodeContent::List(items) = &node.content else {
            return Err(self.at(node.span.start, format!("\"order\" must be an array in view \"{view}\"")));
        };
        self.check_count(items.len(), MOST_COLUMNS, node, "\"order\"")?;
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
        self.check_count(entries.len(), MOST_COLUMNS, node, "\"summaries\"")?;
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
            self.problem("summary", |reader| {
                let known = BUILT_IN_SUMMARIES.iter().map(|(name, _)| *name);
                let nearest = nearest(name, known.chain(customs.iter().map(|custom| custom.name.as_str())));
                let nearest = nearest.map(str::to_owned);
                QuerySyntaxError { nearest, ..reader.at(node.span.start, format!("there is no summary \"{name}\"")) }
            });
            return SummaryFormula::Unknown;
        };
        let is_range = name.eq_ignore_ascii_case("Range");
        let of_dates = if is_range { parse_formula(RANGE_OF_DATES, &mut self.names).ok() } else { None };
        SummaryFormula::BuiltIn { node: parsed, of_dates }
    }

    fn check_id(&mut self, id: &PropertyId, node: &YamlNode) {
        let Some(field) = id.unknown_field() else { return };
        self.problem("view", |reader| {
            let nearest = FileField::nearest(field).map(|known| format!("file.{known}"));
            QuerySyntaxError { nearest, ..reader.at(node.span.start, format!("files have no field \"{field}\"")) }
        });
    }

    /// Columns of formulas that there are not.
    pub(super) fn check_columns(
        &mut self,
        views: &[BaseView],
        formulas: &[NamedFormula],
        places: &HashMap<String, usize>,
    ) {
        for view in views {
            let rules = view.sort.iter().chain(&view.group).map(|rule| &rule.property);
            for name in view.order.iter().chain(rules).filter_map(PropertyId::formula) {
                if places.contains_key(&name.to_lowercase()) {
                    continue;
                }
                self.problem(&format!("view \"{}\"", view.name), |reader| {
                    let names = formulas.iter().map(|formula| formula.name.as_str());
                    let nearest = nearest(name, names).map(|known| format!("formula.{known}"));
                    // An id does not know where it is written; the first mention is close enough.
                    // Found in the text of the file, so that a message has at least a line.
                    let place = reader.yaml.find(&format!("formula.{name}")).unwrap_or_default();
                    QuerySyntaxError { nearest, ..reader.at(place, format!("there is no formula \"{name}\"")) }
                });
            }
        }
    }
}

/// No limit for zero and less.
fn limit_of(node: &YamlNode) -> Option<usize> {
    let limit = match node.content {
        // A negative number does not convert, and means no limit.
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
        // They would end the name in `![[base#view|text]]`.
        && !name.contains(['#', ':', '|', '^'])
        && !forbidden.iter().any(|forbidden| name.contains(forbidden))
}
