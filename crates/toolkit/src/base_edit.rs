//! Bases that are made and changed: what callers name of them, and the edits of their YAML.

use std::collections::BTreeSet;

use lapidary_bases::{BaseFile, BaseProblem};
use lapidary_note::{
    EditError, NodeContent, PropertyEdit, PropertyError, PropertyPath, YamlValue, block_yaml, edit_yaml, read_yaml,
};
use lapidary_operation::{
    Reason, clipped,
    quote::{Prose, quoted},
};
use lapidary_query::QuerySyntaxError;
use lapidary_vault::VaultPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::{file_edit::FileWritten, properties};

/// The parts of a base.
#[derive(Default, Deserialize, JsonSchema)]
pub struct BaseParts {
    /// For all views: an expression (`file.hasTag("book") && pages > 100`), or an object with one of `and`, `or`, `not`
    /// and a list of filters.
    #[serde(default)]
    pub filters: Option<FilterInput>,
    /// Names and expressions: `{"left": "pages - read"}`; shown as `formula.left`.
    #[serde(default)]
    pub formulas: Map<String, Json>,
    /// By property: `{"note.due": {"displayName": "Due"}}`.
    #[serde(default)]
    pub properties: Map<String, Json>,
    /// Names and expressions over `values`: `{"spread": "values.max() - values.min()"}`.
    #[serde(default)]
    pub summaries: Map<String, Json>,
    /// Each with `name`, and what it needs of `type` (`table`, `cards`, `list`), `filters`, `order` (columns), `sort`
    /// (`[{"property", "direction"}]`), `groupBy`, `limit`, `summaries`.
    #[serde(default)]
    pub views: Vec<Map<String, Json>>,
}

/// A filter as a caller writes it.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FilterInput {
    Expression(String),
    Group(Map<String, Json>),
}

#[derive(Serialize, JsonSchema)]
pub struct BaseWritten {
    #[serde(flatten)]
    pub written: FileWritten,
    /// What the app would pass over in silence, with its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl BaseWritten {
    pub fn text(&self, done: &str) -> String {
        let mut text = self.written.text(done);
        for problem in &self.problems {
            text += "\n";
            text += problem;
        }
        text
    }
}

/// One change of the YAML.
pub enum BaseStep {
    Set(PropertyPath, YamlValue),
    Delete(PropertyPath),
    Append(PropertyPath, YamlValue),
}

/// The keys of a view in the order in which the app writes them.
const VIEW_KEYS: [&str; 8] = ["type", "name", "filters", "groupBy", "order", "sort", "limit", "summaries"];

impl BaseParts {
    /// What has to change of a base so that it says this. Nothing where a value would be takes it away.
    pub fn steps(&self, tool: &str, before: &YamlValue) -> Result<Vec<BaseStep>, Reason> {
        let mut steps = Vec::new();
        if let Some(filters) = &self.filters {
            let filters = match filters {
                FilterInput::Expression(expression) => Json::from(expression.as_str()),
                FilterInput::Group(group) => Json::Object(group.clone()),
            };
            steps.push(BaseStep::Set(PropertyPath::name("filters"), yaml(tool, "filters", &filters)?));
        }
        for (part, entries) in
            [("formulas", &self.formulas), ("properties", &self.properties), ("summaries", &self.summaries)]
        {
            for (name, value) in entries {
                let way = vec![part.to_owned(), name.clone()];
                // An empty name cannot be addressed again, so it is refused rather than written.
                let path =
                    PropertyPath::of(way).ok_or_else(|| Reason::bad_argument(tool, part, "has an empty name"))?;
                steps.extend(step(path, yaml(tool, part, value)?, before));
            }
        }
        for view in &self.views {
            self.view_steps(tool, view, before, &mut steps)?;
        }
        Ok(steps)
    }

    /// A view of that name gets what is named, another is added.
    fn view_steps(
        &self,
        tool: &str,
        view: &Map<String, Json>,
        before: &YamlValue,
        steps: &mut Vec<BaseStep>,
    ) -> Result<(), Reason> {
        let Some(Json::String(name)) = view.get("name") else {
            return Err(Reason::bad_argument(tool, "views", "must each have a `name`"));
        };
        // By name, as people and the app tell views apart.
        match view_place(before, name) {
            Some(place) => {
                for (key, value) in view.iter().filter(|(key, _)| *key != "name") {
                    let way = vec!["views".to_owned(), place.to_string(), key.clone()];
                    // An empty key of a view says nothing.
                    let Some(path) = PropertyPath::of(way) else { continue };
                    steps.extend(step(path, yaml(tool, "views", value)?, before));
                }
            }
            None => {
                let mut entries = Vec::new();
                let others = view.keys().map(String::as_str).filter(|key| !VIEW_KEYS.contains(key));
                for key in VIEW_KEYS.into_iter().chain(others) {
                    match view.get(key) {
                        // A new view has nothing that a null could remove.
                        Some(Json::Null) => {}
                        Some(value) => entries.push((key.to_owned(), yaml(tool, "views", value)?)),
                        // Without a type, a view is a table.
                        None if key == "type" => entries.push((key.to_owned(), YamlValue::Text("table".to_owned()))),
                        None => {}
                    }
                }
                steps.push(BaseStep::Append(PropertyPath::name("views"), YamlValue::Map(entries)));
            }
        }
        Ok(())
    }
}

/// Another name for a view.
pub fn view_renaming(tool: &str, old: &str, new: &str, before: &YamlValue) -> Result<BaseStep, Reason> {
    let way = |place: usize| PropertyPath::of(vec!["views".to_owned(), place.to_string(), "name".to_owned()]);
    let Some(path) = view_place(before, old).and_then(way) else {
        let problem = Prose::ours(format_args!("names a view that the base does not have: {}", quoted(old)));
        return Err(Reason::bad_argument(tool, "rename_views", problem));
    };
    // Two views of one name could not be told apart in links.
    if view_place(before, new).is_some() {
        let problem = Prose::ours(format_args!("takes a name that another view has: {}", quoted(new)));
        return Err(Reason::bad_argument(tool, "rename_views", problem));
    }
    Ok(BaseStep::Set(path, YamlValue::Text(new.to_owned())))
}

/// What goes, the later views before the earlier ones, whose places would change otherwise.
pub fn removals(tool: &str, given: &[String], before: &YamlValue) -> Result<Vec<BaseStep>, Reason> {
    let mut steps = Vec::new();
    // A view that is named twice would take the next one along, which has its place by then.
    let named: BTreeSet<&String> = given.iter().collect();
    for given in named {
        let view = given.strip_prefix("views.").and_then(|name| view_place(before, name));
        steps.extend(removal(tool, given, before)?.map(|step| (view, step)));
    }
    // Everything that is not a view has no place and comes last.
    steps.sort_by_key(|(view, _)| std::cmp::Reverse(*view));
    Ok(steps.into_iter().map(|(_, step)| step).collect())
}

/// `filters`, `formulas.NAME`, `properties.ID`, `summaries.NAME` or `views.NAME` as the place that goes.
fn removal(tool: &str, given: &str, before: &YamlValue) -> Result<Option<BaseStep>, Reason> {
    let way = match given.split_once('.') {
        None if ["filters", "formulas", "properties", "summaries"].contains(&given) => vec![given.to_owned()],
        Some((part @ ("formulas" | "properties" | "summaries"), name)) => vec![part.to_owned(), name.to_owned()],
        Some(("views", name)) => match view_place(before, name) {
            Some(place) => vec!["views".to_owned(), place.to_string()],
            // Removing what is not there is not an error.
            None => return Ok(None),
        },
        _ => {
            let problem = "takes `filters`, `formulas.NAME`, `properties.ID`, `summaries.NAME` and `views.NAME`";
            return Err(Reason::bad_argument(tool, "remove", problem));
        }
    };
    let there = PropertyPath::of(way).filter(|path| path.find(before).is_some());
    Ok(there.map(|path| BaseStep::Delete(path.with_what_it_leaves_empty(before))))
}

/// The place of a view by its name.
fn view_place(base: &YamlValue, name: &str) -> Option<usize> {
    let Some(YamlValue::List(views)) = PropertyPath::name("views").find(base) else { return None };
    let is_it = |view: &YamlValue| match view {
        YamlValue::Map(entries) => {
            entries.iter().any(|(key, value)| key == "name" && *value == YamlValue::Text(name.to_owned()))
        }
        _ => false,
    };
    views.iter().position(is_it)
}

fn step(path: PropertyPath, value: YamlValue, before: &YamlValue) -> Option<BaseStep> {
    match value {
        YamlValue::Null if path.find(before).is_none() => None,
        YamlValue::Null => Some(BaseStep::Delete(path.with_what_it_leaves_empty(before))),
        value => Some(BaseStep::Set(path, value)),
    }
}

fn yaml(tool: &str, argument: &str, value: &Json) -> Result<YamlValue, Reason> {
    let problem = "holds a number that YAML cannot hold exactly; send it as a string";
    properties::from_json(value).ok_or_else(|| Reason::bad_argument(tool, argument, problem))
}

/// A base as YAML says it.
pub fn base_value(tool: &str, text: &str) -> Result<YamlValue, Reason> {
    match read_yaml(text) {
        Ok(node) => match node.to_value() {
            // An empty file is a base without parts.
            YamlValue::Null => Ok(YamlValue::Map(Vec::new())),
            map @ YamlValue::Map(_) => Ok(map),
            _ => Err(Reason::bad_argument(tool, "file", "is not a base: its YAML is not an object")),
        },
        Err((line, problem)) => {
            let problem = Prose::ours(format_args!("is not YAML: line {line}: {}", quoted(&problem)));
            Err(Reason::bad_argument(tool, "file", problem))
        }
    }
}

/// Each change reads the whole base again.
const MOST_CHANGES: usize = 200;

/// Refuses more changes than one call may make of a base.
pub fn check_changes(tool: &str, parts: &BaseParts, steps: &[BaseStep]) -> Result<(), Reason> {
    if steps.len() <= MOST_CHANGES {
        return Ok(());
    }
    let BaseParts { formulas, properties, summaries, views, .. } = parts;
    let counts = [
        ("formulas", formulas.len()),
        ("properties", properties.len()),
        ("summaries", summaries.len()),
        ("views", views.len()),
    ];
    // The argument with at least half of the steps is the one to divide.
    let named = counts.into_iter().max_by_key(|(_, count)| *count).filter(|(_, count)| 2 * count >= steps.len());
    let problem = Prose::ours(format_args!(
        "changes {} parts of the base, more than the limit of {MOST_CHANGES}; make several calls",
        steps.len()
    ));
    Err(Reason::bad_argument(tool, named.map_or("remove", |(name, _)| name), problem))
}

/// The YAML after all steps, each on what the one before left. Comments and everything that is not named stay.
pub fn edited(yaml: &str, steps: &[BaseStep]) -> Result<String, EditError> {
    let mut text = yaml.to_owned();
    for step in steps {
        let edit = match step {
            BaseStep::Set(path, value) => PropertyEdit::Set { path, value },
            BaseStep::Delete(path) => PropertyEdit::Delete { path },
            BaseStep::Append(path, value) => PropertyEdit::Append { path, value },
        };
        // The general edit would write the view on one line, which people cannot read.
        if let BaseStep::Append(_, YamlValue::Map(view)) = step
            && let Some(added) = with_view(&text, view)
        {
            text = added;
            continue;
        }
        text = match edit_yaml(&text, &edit) {
            Ok(edited) => edited,
            // Deleted by an earlier step, with what was around it.
            Err(PropertyError::Missing { .. }) if matches!(step, BaseStep::Delete(_)) => continue,
            Err(error) => return Err(error.into()),
        };
    }
    Ok(text)
}

/// A base from nothing.
pub fn whole_base(steps: &[BaseStep]) -> Result<String, EditError> {
    // All at once: step by step, each would read what the ones before it wrote.
    let entries = entries_of(steps);
    let block = block_yaml(&entries, 0);
    // The readable form is used only if it says exactly the same.
    let is_same = read_yaml(&block).is_ok_and(|node| node.to_value() == YamlValue::Map(entries));
    if is_same { Ok(block) } else { edited("", steps) }
}

/// What the steps make of nothing.
fn entries_of(steps: &[BaseStep]) -> Vec<(String, YamlValue)> {
    let mut entries: Vec<(String, YamlValue)> = Vec::new();
    for step in steps {
        // There is nothing to delete yet.
        let (BaseStep::Set(path, value) | BaseStep::Append(path, value)) = step else { continue };
        let way: Vec<&str> = path.segments().collect();
        let Some((part, inner)) = way.split_first() else { continue };
        let at = entries.iter().position(|(name, _)| name == part).unwrap_or_else(|| {
            let empty = match step {
                BaseStep::Append(..) => YamlValue::List(Vec::new()),
                _ => YamlValue::Map(Vec::new()),
            };
            entries.push(((*part).to_owned(), empty));
            entries.len() - 1
        });
        match (&mut entries[at].1, inner) {
            (YamlValue::List(items), []) if matches!(step, BaseStep::Append(..)) => items.push(value.clone()),
            (YamlValue::Map(named), [name]) => named.push(((*name).to_owned(), value.clone())),
            (whole, _) => *whole = value.clone(),
        }
    }
    entries
}

/// The YAML with one more view at the end of its list, on separate lines; `None` if the list is written otherwise.
fn with_view(text: &str, view: &[(String, YamlValue)]) -> Option<String> {
    let root = read_yaml(text).ok()?;
    let YamlValue::Map(mut expected) = root.to_value() else { return None };
    let (at, indent, head) = match root.get("views") {
        None => (text.len(), 2, "views:\n"),
        Some(views) => {
            let NodeContent::List(items) = &views.content else { return None };
            let start = items.first()?.span.start;
            // Other styles, such as `views: [...]`, are left to the general edit.
            let line = &text[text[..start].rfind('\n').map_or(0, |at| at + 1)..start];
            let indent = line.find('-')?;
            line[..indent].trim().is_empty().then_some(())?;
            let last = text[..views.span.end].trim_end().len();
            // After the last item and what follows it on its line, such as a comment.
            (text[last..].find('\n').map_or(text.len(), |at| last + at + 1), indent, "")
        }
    };
    let lines = block_yaml(view, indent + 2);
    let item = format!("{:indent$}- {}\n", "", lines.trim());
    let (before, after) = text.split_at(at);
    // A file may end without a line break.
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let added = format!("{before}{end}{head}{item}{after}");
    let entry = YamlValue::Map(view.to_vec());
    match expected.iter_mut().find(|(key, _)| key == "views") {
        Some((_, YamlValue::List(views))) => views.push(entry),
        Some(_) => return None,
        None => expected.push(("views".to_owned(), YamlValue::List(vec![entry]))),
    }
    // Checked by reading it again: YAML has too many forms to trust the text.
    let read = read_yaml(&added).ok()?.to_value();
    (read == YamlValue::Map(expected)).then_some(added)
}

/// Refuses a base that the app could not read, or expressions that were not there before and cannot be read. What else
/// is odd about it comes back in words.
pub fn checked(tool: &str, before: Option<&str>, after: &str) -> Result<Vec<String>, Reason> {
    let base = BaseFile::parse(after).map_err(|error| {
        let problem = Prose::ours(format_args!("do not make a base: {}", quoted(&error.to_string())));
        Reason::bad_argument(tool, "views", problem)
    })?;
    // A base that was broken before is compared with nothing.
    let old = before.and_then(|before| BaseFile::parse(before).ok());
    if base.more_problems() > 0 && old.as_ref().is_none_or(|old| old.more_problems() == 0) {
        let count = base.problems().len() + base.more_problems();
        let first = base.problems().first().map(problem_text).unwrap_or_default();
        let problem = Prose::ours(format_args!("have {count} problems, of which the first is {}", quoted(&first)));
        return Err(Reason::bad_argument(tool, "views", problem));
    }
    let known: Vec<(&str, &str)> = old.iter().flat_map(BaseFile::problems).map(message).collect();
    for problem in base.problems() {
        // A problem that was there before does not stop an edit of another part.
        let is_new = !known.contains(&message(problem));
        if is_new && problem.error.message.starts_with("Unable to parse formula") {
            let argument = problem.place.split(' ').next().unwrap_or_default();
            let words = format!("{}: {}", clipped(&problem.place), clipped(&problem.error.message));
            return Err(Reason::bad_argument(tool, &format!("{argument}s"), Prose::of_others(words)));
        }
    }
    Ok(base.problems().iter().map(problem_text).collect())
}

/// A problem in words. Names and expressions in it may be as long as the base.
pub(crate) fn problem_text(problem: &BaseProblem) -> String {
    let QuerySyntaxError { message, nearest, .. } = &problem.error;
    let (message, nearest) = (clipped(message), nearest.as_deref().map(clipped));
    let error = QuerySyntaxError { message, nearest, ..problem.error.clone() };
    format!("{}: {error}", clipped(&problem.place))
}

fn message(problem: &BaseProblem) -> (&str, &str) {
    (&problem.place, &problem.error.message)
}

/// Refuses a file that the app would not take for a base.
pub fn check_ending(tool: &str, path: &VaultPath) -> Result<(), Reason> {
    if path.is_base() {
        return Ok(());
    }
    Err(Reason::bad_argument(tool, "file", "must end in `.base`"))
}
