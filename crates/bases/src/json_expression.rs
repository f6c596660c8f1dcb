//! An expression over given values instead of the properties of a note, for recipes and scripts.

use std::{collections::HashMap, sync::Arc};

use jiff::tz::TimeZone;
use lapidary_note::{count_steps, quoted};
use lapidary_query::{QueryContext, QueryHalt, QueryVault, RowNumber, RowSelection, RowSet, VaultRow};
use serde_json::Value;

use super::{
    base_date::BaseDate,
    base_value::{BaseObject, BaseValue},
    evaluation::{Evaluation, EvaluationScope},
    formula::{AccessStep, FormulaNames, FormulaNode, FunctionCall},
    known_name::KnownFunction,
    parse::{FormulaFault, parse_formula},
    text_form::{TextClock, VALUE_STEPS},
};

/// Values nested deeper are left out, as in notes.
const MAX_DEPTH: usize = 64;

/// An expression that was read.
#[derive(Debug)]
pub struct JsonExpression {
    names: FormulaNames,
    node: FormulaNode,
}

/// What the names in expressions stand for. Names are in lower case.
#[derive(Clone, Debug, Default)]
pub struct JsonBindings(HashMap<String, BaseValue>);

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonFault {
    /// In the words of Obsidian.
    Error(String),
    /// The query's limits, or its caller, ended it.
    Halt(QueryHalt),
}

impl JsonBindings {
    /// Converted once, however many expressions use it. Texts stay texts: `date(x)` makes a date of one.
    pub fn set(&mut self, name: &str, value: &Value) {
        self.0.insert(name.to_owned(), base_value(value, 0));
    }

    /// A text as the date that it is, so that durations can be added to it. It is written as it came.
    pub fn set_date(&mut self, name: &str, text: &str, zone: &TimeZone) {
        let value = BaseDate::parse(text, zone).map_or_else(|| BaseValue::text(text), BaseValue::Date);
        self.0.insert(name.to_owned(), value);
    }

    /// Where a path of fields leads to nothing because a value lacks the field, and the fields that it has. What has no value at
    /// all lacks nothing.
    pub fn missing_field(&self, path: &[&str]) -> Option<(usize, Vec<String>)> {
        let mut value = self.0.get(*path.first()?)?;
        for (at, name) in path.iter().enumerate().skip(1) {
            value = match value {
                BaseValue::Null => return None,
                BaseValue::Object(fields) => {
                    let found = fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
                    match found {
                        Some((_, value)) => value,
                        None => return Some((at, fields.keys().cloned().collect())),
                    }
                }
                _ => return Some((at, Vec::new())),
            };
        }
        None
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl JsonExpression {
    /// The error says what is wrong and where, counted in characters from 1.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut names = FormulaNames::default();
        let node = parse_formula(text, &mut names).map_err(|fault| in_words(text, &fault))?;
        if let Some(unknown) = names.unknown_functions.first() {
            return Err(format!("there is no function {}", quoted(&unknown.name)));
        }
        if !names.formulas.is_empty() {
            return Err("`formula` belongs to a base, and there is none".to_owned());
        }
        Ok(Self { names, node })
    }

    /// The names that it uses, in lower case. Those inside `map`, `filter` and `reduce` may be among them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.properties.iter().map(String::as_str)
    }

    /// The name, if it is nothing but one.
    pub fn single_name(&self) -> Option<&str> {
        match &self.node {
            FormulaNode::Name { slot, .. } | FormulaNode::Property(slot) => {
                self.names.properties.get(*slot).map(String::as_str)
            }
            _ => None,
        }
    }

    /// Whether it gives a value, or a part or choice of one, as it is: nothing that it joins or makes of several.
    pub fn takes_as_it_is(&self) -> bool {
        takes_as_it_is(&self.node)
    }

    /// The names that it uses with the fields of them that it asks for, such as `found`, `result` and `hits`.
    pub fn field_paths(&self) -> Vec<Vec<&str>> {
        let mut paths = Vec::new();
        self.find_paths(&self.node, &mut paths);
        paths
    }

    fn find_paths<'e>(&'e self, node: &'e FormulaNode, paths: &mut Vec<Vec<&'e str>>) {
        let name_of = |slot: &usize| self.names.properties.get(*slot).map(String::as_str);
        match node {
            FormulaNode::Name { slot, .. } | FormulaNode::Property(slot) | FormulaNode::Values { slot } => {
                paths.extend(name_of(slot).map(|name| vec![name]));
            }
            FormulaNode::Access { base, steps } => {
                let before = paths.len();
                self.find_paths(base, paths);
                // Only fields directly behind a name: what a method gives is not known.
                if let (1, FormulaNode::Name { .. } | FormulaNode::Property(_)) = (paths.len() - before, &**base) {
                    let fields = steps.iter().map_while(|step| match step {
                        AccessStep::Field(name) => Some(&**name),
                        AccessStep::Index(FormulaNode::Literal(BaseValue::Text(name))) => Some(&**name),
                        _ => None,
                    });
                    if let Some(path) = paths.last_mut() {
                        path.extend(fields);
                    }
                }
                for step in steps {
                    match step {
                        AccessStep::Index(index) => self.find_paths(index, paths),
                        AccessStep::Method(call) => {
                            call.arguments.iter().for_each(|argument| self.find_paths(argument, paths));
                        }
                        AccessStep::Field(_) | AccessStep::Apply => {}
                    }
                }
            }
            FormulaNode::List(nodes) | FormulaNode::All(nodes) | FormulaNode::Any(nodes) => {
                nodes.iter().for_each(|node| self.find_paths(node, paths));
            }
            FormulaNode::Call(call) => call.arguments.iter().for_each(|node| self.find_paths(node, paths)),
            FormulaNode::Not(node) | FormulaNode::Negate(node) => self.find_paths(node, paths),
            FormulaNode::Chain { first, rest } => {
                self.find_paths(first, paths);
                rest.iter().for_each(|(_, node)| self.find_paths(node, paths));
            }
            FormulaNode::Literal(_) | FormulaNode::FormulaOf(_) | FormulaNode::FileField(_) | FormulaNode::Root(_) => {}
        }
    }

    /// Its value, as JSON. Dates, links and files are their texts.
    pub fn evaluate(&self, given: &JsonBindings, context: &QueryContext<'_>) -> Result<Value, JsonFault> {
        let (value, clock) = self.value(given, context)?;
        Ok(clock.json(&value, 0))
    }

    /// Whether its value counts as true.
    pub fn is_true(&self, given: &JsonBindings, context: &QueryContext<'_>) -> Result<bool, JsonFault> {
        Ok(self.value(given, context)?.0.is_truthy())
    }

    /// Its value as it is written into a text.
    pub fn text(&self, given: &JsonBindings, context: &QueryContext<'_>) -> Result<String, JsonFault> {
        let (value, clock) = self.value(given, context)?;
        Ok(clock.text(&value).into_owned())
    }

    fn value(&self, given: &JsonBindings, context: &QueryContext<'_>) -> Result<(BaseValue, TextClock), JsonFault> {
        let clock = TextClock { zone: context.zone.clone(), now: context.now };
        let scope = EvaluationScope {
            names: &self.names,
            formula_places: &[],
            formulas: &[],
            vault: &NoVault,
            context,
            clock: clock.clone(),
            this: None,
        };
        let mut evaluation = Evaluation::new(&scope);
        evaluation.turn_to_given(|name| given.0.get(name).cloned());
        let value = evaluation.shown(&self.node).map_err(JsonFault::Halt)?;
        evaluation.settle().map_err(JsonFault::Halt)?;
        match value {
            BaseValue::Error(message) => Err(JsonFault::Error(message.to_string())),
            value => Ok((value, clock)),
        }
    }
}

fn takes_as_it_is(node: &FormulaNode) -> bool {
    match node {
        FormulaNode::Literal(_)
        | FormulaNode::Name { .. }
        | FormulaNode::Property(_)
        | FormulaNode::FileField(_)
        | FormulaNode::Root(_)
        | FormulaNode::Values { .. } => true,
        FormulaNode::Call(FunctionCall { function: Some(KnownFunction::If), arguments, .. }) => {
            arguments.iter().skip(1).all(takes_as_it_is)
        }
        FormulaNode::Access { base, steps } => {
            // Other methods join values, or make a text of several.
            const PARTS: [&str; 9] = ["filter", "slice", "sort", "unique", "reverse", "flat", "trim", "lower", "upper"];
            let is_part = |step: &AccessStep| match step {
                AccessStep::Field(_) | AccessStep::Index(_) => true,
                AccessStep::Method(call) => PARTS.iter().any(|name| call.name.eq_ignore_ascii_case(name)),
                AccessStep::Apply => false,
            };
            takes_as_it_is(base) && steps.iter().all(is_part)
        }
        _ => false,
    }
}

fn in_words(text: &str, FormulaFault { at, problem, expected }: &FormulaFault) -> String {
    let place = text.get(..*at).unwrap_or(text).chars().count() + 1;
    match problem {
        Some(problem) => problem.clone(),
        None if *at >= text.trim_end().len() => format!("it ends where {} is expected", expected.join(" or ")),
        None => format!("{} is expected at character {place}", expected.join(" or ")),
    }
}

fn base_value(value: &Value, depth: usize) -> BaseValue {
    count_steps(VALUE_STEPS);
    match value {
        Value::Null => BaseValue::Null,
        Value::Bool(value) => BaseValue::Boolean(*value),
        Value::Number(number) => BaseValue::Number(number.as_f64().unwrap_or_default()),
        Value::String(text) => BaseValue::text(text.as_str()),
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => BaseValue::Null,
        Value::Array(items) => BaseValue::list(items.iter().map(|item| base_value(item, depth + 1)).collect()),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| (name.clone(), base_value(value, depth + 1));
            BaseValue::Object(Arc::new(fields.iter().map(field).collect::<BaseObject>()))
        }
    }
}

/// Recipes read a vault through tools alone.
struct NoVault;

impl QueryVault for NoVault {
    fn select(&self, _: &RowSelection<'_>) -> RowSet {
        RowSet::from_iter([])
    }

    fn row(&self, _: RowNumber) -> Option<VaultRow<'_>> {
        None
    }

    fn find(&self, _: &str) -> Option<RowNumber> {
        None
    }

    fn resolve(&self, _: &str, _: Option<&str>) -> Option<RowNumber> {
        None
    }

    fn has_folder(&self, _: &str) -> bool {
        false
    }

    fn text(&self, _: &str) -> Option<String> {
        None
    }

    fn served_by(&self, _: &RowSelection<'_>) -> Option<&'static str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use jiff::{Timestamp, tz::TimeZone};
    use serde_json::json;

    use super::*;

    fn evaluated(expression: &str) -> Result<Value, JsonFault> {
        let mut given = JsonBindings::default();
        given.set("title", &json!("Slate roof"));
        given.set("count", &json!(3));
        given.set("day", &json!("2026-11-02"));
        given.set("rows", &json!([{ "path": "A/b.md", "done": false }, { "path": "c.md", "done": true }]));
        let now: Timestamp = "2026-11-18T10:00:00Z".parse().unwrap();
        let go_on = || true;
        let context = QueryContext::new(now, TimeZone::UTC, &go_on);
        JsonExpression::parse(expression)
            .unwrap_or_else(|error| panic!("{expression}: {error}"))
            .evaluate(&given, &context)
    }

    #[test]
    fn values_are_json_and_keep_their_types() {
        for (expression, expected) in [
            ("title", json!("Slate roof")),
            ("count + 1", json!(4)),
            ("rows[0].path", json!("A/b.md")),
            ("rows.filter(value.done).map(value.path)", json!(["c.md"])),
            ("rows.length", json!(2)),
            ("title.lower() + \"!\"", json!("slate roof!")),
            ("missing", Value::Null),
            ("missing.deeper.still", Value::Null),
            ("rows", json!([{ "path": "A/b.md", "done": false }, { "path": "c.md", "done": true }])),
            ("today().format(\"YYYY-MM-DD\")", json!("2026-11-18")),
            ("day", json!("2026-11-02")),
            ("date(day) < today()", json!(true)),
            ("if(count > 2, \"many\", \"few\")", json!("many")),
            ("file(\"A/b.md\")", Value::Null),
        ] {
            assert_eq!(evaluated(expression), Ok(expected), "{expression}");
        }
        assert!(matches!(evaluated("title.sort()"), Err(JsonFault::Error(_))));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (expression, says) in [
            ("count +", "ends where"),
            ("(count", "expected"),
            ("nothing(1)", "there is no function `nothing`"),
            ("formula.x", "belongs to a base"),
            ("a b", "at character 3"),
        ] {
            let error = JsonExpression::parse(expression).err().unwrap_or_default();
            assert!(error.contains(says), "{expression}: {error}");
        }
    }

    #[test]
    fn what_takes_a_value_as_it_is_and_what_makes_one_is_known() {
        for (expression, expected) in [
            ("title", true),
            ("rows[0].path", true),
            ("rows.filter(value.done)[0].path", true),
            ("if(count > 2, title, \"x\")", true),
            ("title + \"x\"", false),
            ("rows.map(\"x\" + value.path)", false),
            ("[title, title].join(\"\")", false),
            ("if(true, title + \"x\", title)", false),
        ] {
            assert_eq!(JsonExpression::parse(expression).unwrap().takes_as_it_is(), expected, "{expression}");
        }
    }

    #[test]
    fn fields_that_an_expression_asks_for_are_known() {
        let parsed = JsonExpression::parse("found.result.hits.filter(value.score > other[\"least\"])").unwrap();
        let paths = parsed.field_paths();
        assert_eq!(paths, [vec!["found", "result", "hits"], vec!["value", "score"], vec!["other", "least"]]);
    }

    #[test]
    fn a_date_is_counted_with_and_written_as_it_came() {
        let mut given = JsonBindings::default();
        given.set_date("day", "2026-11-02", &TimeZone::UTC);
        let go_on = || true;
        let context = QueryContext::new("2026-11-18T10:00:00Z".parse().unwrap(), TimeZone::UTC, &go_on);
        for (expression, expected) in
            [("day", "2026-11-02"), ("day + \"1w\"", "2026-11-09"), ("day.format(\"DD.MM.\")", "02.11.")]
        {
            let value = JsonExpression::parse(expression).unwrap().evaluate(&given, &context);
            assert_eq!(value, Ok(json!(expected)), "{expression}");
        }
    }

    #[test]
    fn names_are_known_before_anything_is_evaluated() {
        let names: Vec<String> =
            JsonExpression::parse("rows.map(value.path + Title)").unwrap().names().map(str::to_owned).collect();
        assert!(names.contains(&"rows".to_owned()) && names.contains(&"title".to_owned()), "{names:?}");
    }
}
