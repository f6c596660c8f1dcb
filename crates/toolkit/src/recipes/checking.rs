//! A recipe against the tools of a caller: every step is a tool that can be one, its arguments fit, and what it may do follows.

use lapidary_note::quoted;
use lapidary_operation::{
    ArgumentProblem, Catalogue, CatalogueEntry, Effect, NoSuchTool, PathRole, Reason, RestoreReach, ToolGroup,
    ToolKind, ToolNeeds, check_arguments, in_form_of, quote::Prose,
};
use lapidary_recipe::{
    ParameterKind, Recipe, RecipeStep, TemplateExpression, TemplateShape, TextLanguage, ValueTemplate, is_recipe_name,
};
use lapidary_vault::VaultPath;
use serde_json::{Map, Value, json};

use crate::naming::is_bare_name;

/// What follows from the steps of a recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeFacts {
    /// The strongest of its steps.
    pub effect: Effect,
    /// Each once, in order.
    pub tools: Vec<&'static str>,
    /// Where it writes, as far as the recipe fixes it: a folder, or the template of a path.
    pub places: Vec<String>,
    /// Whether a step asks hosts of the web.
    pub reaches_web: bool,
}

/// A place that the recipe does not fix.
pub(super) const FOUND_NOTES: &str = "notes that it finds";

/// What a tool is in a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepUse {
    Read,
    Write,
}

/// The vault is that of the recipe.
const VAULT: &str = "vault";
const MOST_PROBLEMS: usize = 10;

/// Whether a tool can be a step, and as what. Tools that run others cannot, nor those about recipes, the app or the log.
pub fn step_use(entry: &CatalogueEntry) -> Option<StepUse> {
    let spec = &entry.spec;
    if entry.is_internal() || matches!(spec.declaration.group, ToolGroup::Recipe | ToolGroup::Script) {
        return None;
    }
    match spec.kind {
        ToolKind::Read if spec.effect == Effect::Read && spec.needs == ToolNeeds::NONE && !spec.is_command => {
            Some(StepUse::Read)
        }
        ToolKind::Write if spec.in_batches && !spec.keeps_recipes => Some(StepUse::Write),
        _ => None,
    }
}

/// Why a tool that is on cannot be a step.
fn why_no_step(entry: &CatalogueEntry) -> &'static str {
    let spec = &entry.spec;
    match (spec.declaration.group, spec.kind) {
        (ToolGroup::Recipe | ToolGroup::Script, _) => "is about recipes and scripts",
        (_, ToolKind::Batch | ToolKind::Steps | ToolKind::Relay) => "runs other tools",
        (_, ToolKind::Forward) => "calls another server",
        (_, ToolKind::Action) => "acts in the Obsidian app",
        (_, ToolKind::Agent) => "is about the server and not about notes",
        (_, ToolKind::Read) if spec.is_command => "is about the commands of the Obsidian app",
        (_, ToolKind::Read) => "reads the log or another state of the server",
        (_, ToolKind::Write) if spec.restores != RestoreReach::Nothing => "takes changes back",
        (_, ToolKind::Write) => "shows what it would do before a second call does it",
    }
}

/// Checks all steps, with samples in the place of what is not known before it runs.
pub fn check(catalogue: &Catalogue, recipe: &Recipe, may_write: bool) -> Result<RecipeFacts, Vec<ArgumentProblem>> {
    let mut facts = RecipeFacts { effect: Effect::Read, tools: Vec::new(), places: Vec::new(), reaches_web: false };
    let mut problems = Vec::new();
    for (index, step) in recipe.steps.iter().enumerate() {
        let at = format!("steps[{index}]");
        match tool(catalogue, step, may_write) {
            Err(problem) => problems.push(ArgumentProblem { at: format!("{at}.tool"), ..problem }),
            Ok((entry, used)) => {
                problems.extend(loop_problems(catalogue, recipe, step, &at));
                for (name, template) in &step.arguments {
                    problems.extend(field_problems(catalogue, recipe, template, &format!("{at}.with.{name}")));
                }
                if let Some(condition) = &step.condition {
                    let condition = ValueTemplate::Whole(condition.clone());
                    problems.extend(field_problems(catalogue, recipe, &condition, &format!("{at}.if")));
                }
                match in_form_of(entry.spec.input(), &step.arguments) {
                    Err((place, words)) => problems.push(problem(&format!("{at}.with.{place}"), words)),
                    Ok(arguments) => {
                        problems.extend(argument_problems(recipe, &arguments, entry, &at));
                        problems.extend(path_problems(recipe, &arguments, entry, &at));
                        problems.extend(language_problems(step, &arguments, entry, &at));
                        if used == StepUse::Write {
                            places(&arguments, entry, &mut facts.places);
                        }
                    }
                }
                if used == StepUse::Write {
                    facts.effect = facts.effect.max(entry.spec.effect);
                }
                facts.reaches_web |= entry.spec.reaches_web();
                if !facts.tools.contains(&entry.spec.name()) {
                    facts.tools.push(entry.spec.name());
                }
            }
        }
    }
    if let Some(answer) = &recipe.answer {
        problems.extend(field_problems(catalogue, recipe, answer, "answer"));
    }
    problems.truncate(MOST_PROBLEMS);
    name_steps(recipe, &mut problems);
    if problems.is_empty() { Ok(facts) } else { Err(problems) }
}

/// People name a step by its id, and its place is counted from 0.
fn name_steps(recipe: &Recipe, problems: &mut [ArgumentProblem]) {
    for found in problems {
        let index = found.at.strip_prefix("steps[").and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
        let Some((index, step)) = index.and_then(|index| Some((index, recipe.steps.get(index)?))) else { continue };
        if step.id != format!("step_{}", index + 1) {
            found.problem = Prose::ours(format_args!("in the step {}: {}", quoted(&step.id), found.problem));
        }
    }
}

fn problem(at: &str, problem: impl Into<Prose>) -> ArgumentProblem {
    ArgumentProblem { at: at.to_owned(), problem: problem.into(), nearest: None }
}

fn tool<'c>(
    catalogue: &'c Catalogue,
    step: &RecipeStep,
    may_write: bool,
) -> Result<(&'c CatalogueEntry, StepUse), ArgumentProblem> {
    let name = quoted(&step.tool);
    if is_recipe_name(&step.tool) {
        return Err(problem("", Prose::ours(format_args!("{name} is a recipe, and a recipe cannot be a step"))));
    }
    let entry = match catalogue.find(&step.tool) {
        Ok(entry) if !entry.is_internal() => entry,
        Ok(_) | Err(NoSuchTool { nearest: None }) => {
            return Err(problem("", Prose::ours(format_args!("there is no tool {name}"))));
        }
        Err(NoSuchTool { nearest: Some(nearest) }) => {
            let words = Prose::ours(format_args!("there is no tool {name}; did you mean `{nearest}`?"));
            return Err(ArgumentProblem { nearest: Some(nearest.to_owned()), ..problem("", words) });
        }
    };
    if entry.authorize().is_err() {
        return Err(problem("", Prose::ours(format_args!("{name} is off for this caller"))));
    }
    match step_use(entry) {
        Some(StepUse::Write) if !may_write => {
            Err(problem("", Prose::ours(format_args!("{name} changes notes; here only tools that read can be steps"))))
        }
        Some(used) => Ok((entry, used)),
        None => Err(problem("", Prose::ours(format_args!("{name} {}, so it cannot be a step", why_no_step(entry))))),
    }
}

/// The arguments of a step as its tool reads them.
type StepArguments = [(String, ValueTemplate)];

fn argument_problems(
    recipe: &Recipe,
    arguments: &StepArguments,
    entry: &CatalogueEntry,
    at: &str,
) -> Vec<ArgumentProblem> {
    let (spec, with) = (&entry.spec, format!("{at}.with"));
    let mut problems = Vec::new();
    let schema = spec.input();
    let mut sampled = Map::new();
    for (name, template) in arguments {
        if name == VAULT || spec.dry_run == Some(name) {
            problems.push(problem(&format!("{with}.{name}"), "is decided for the whole recipe, not for a step"));
            continue;
        }
        let wanted = schema.get("properties").and_then(|properties| properties.get(name));
        sampled.insert(name.clone(), sample_of(recipe, &template.shape(), wanted));
    }
    if let Some(vaults) = schema.get("properties").and_then(|properties| properties.get(VAULT)) {
        sampled.insert(VAULT.to_owned(), sample(vaults));
    }
    if let Err(Reason::InvalidArguments { problems: found, .. }) = check_arguments(spec.name(), schema, sampled) {
        let placed = |found: ArgumentProblem| {
            let at = if found.at.is_empty() { with.clone() } else { format!("{with}.{}", found.at) };
            ArgumentProblem { at, ..found }
        };
        problems.extend(found.into_iter().map(placed));
    }
    problems
}

/// What a template may become: its own text, a value of the type of its parameter, or whatever the tool takes.
fn sample_of(recipe: &Recipe, shape: &TemplateShape, schema: Option<&Value>) -> Value {
    let fitting = || schema.map_or(Value::Null, sample);
    match shape {
        TemplateShape::Known(value) => value.clone(),
        TemplateShape::Unknown => fitting(),
        TemplateShape::Text => of_type(fitting(), json!("x")),
        TemplateShape::Named(name) => {
            let parameter = recipe.parameters.iter().find(|parameter| parameter.name == *name);
            match parameter.map(|parameter| parameter.kind) {
                None => fitting(),
                Some(ParameterKind::Number) => of_type(fitting(), json!(1)),
                Some(ParameterKind::Boolean) => of_type(fitting(), json!(true)),
                Some(ParameterKind::List) => of_type(fitting(), json!(["x"])),
                Some(ParameterKind::Text | ParameterKind::Date | ParameterKind::Note | ParameterKind::Folder) => {
                    of_type(fitting(), json!("x"))
                }
            }
        }
        TemplateShape::List(items) => {
            let each = schema.and_then(|schema| schema.get("items"));
            items.iter().map(|item| sample_of(recipe, item, each)).collect()
        }
        TemplateShape::Object(fields) => {
            // The alternative that has the fields that are there.
            let has = |choice: &&Value| fields.iter().all(|(name, _)| choice["properties"].get(name).is_some());
            let chosen = schema.map(|schema| alternatives(schema).find(has).unwrap_or(schema));
            let field = |(name, field): &(String, TemplateShape)| {
                let wanted = chosen.and_then(|schema| schema["properties"].get(name));
                (name.clone(), sample_of(recipe, field, wanted))
            };
            Value::Object(fields.iter().map(field).collect())
        }
    }
}

/// A sample that fits the tool if it is of the type that the template has; that type otherwise, which the check refuses.
fn of_type(fitting: Value, plain: Value) -> Value {
    // A number is written where a text is wanted.
    let is_written = fitting.is_string() && (plain.is_number() || plain.is_boolean());
    let is_alike = std::mem::discriminant(&fitting) == std::mem::discriminant(&plain);
    if is_alike || is_written { fitting } else { plain }
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let choices = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    std::iter::once(schema).chain(choices.into_iter().flatten())
}

/// Some value that a schema takes.
fn sample(schema: &Value) -> Value {
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|values| values.first()) {
        return first.clone();
    }
    let choices = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    if let Some(choice) = choices.and_then(|choices| choices.iter().find(|choice| choice["type"] != "null")) {
        return sample(choice);
    }
    let kind = match &schema["type"] {
        Value::String(kind) => kind.as_str(),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default(),
        _ => "",
    };
    match kind {
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "boolean" => json!(true),
        "array" => json!([schema.get("items").map_or(Value::Null, sample)]),
        "object" => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let field = |name: &Value| {
                let name = name.as_str()?;
                Some((name.to_owned(), sample(schema["properties"].get(name)?)))
            };
            Value::Object(required.filter_map(field).collect())
        }
        _ => json!("x"),
    }
}

/// Paths that no vault can have, and parameters that are not paths.
fn path_problems(recipe: &Recipe, arguments: &StepArguments, entry: &CatalogueEntry, at: &str) -> Vec<ArgumentProblem> {
    let mut problems = Vec::new();
    for path in entry.spec.declaration.paths {
        let Some(template) = ValueTemplate::at(arguments, path.pointer) else { continue };
        let place = format!("{at}.with{}", path.pointer.replace('/', "."));
        match template.shape() {
            // A bare name is not a path: the note is looked up when the recipe runs.
            TemplateShape::Known(Value::String(given))
                if !given.is_empty() && !is_bare_name(&given) && VaultPath::parse(&given).is_err() =>
            {
                problems.push(problem(&place, "is not a path in a vault"));
            }
            TemplateShape::Named(name) => {
                let parameter = recipe.parameters.iter().find(|parameter| parameter.name == name);
                if path.role == PathRole::List && parameter.is_some_and(|found| found.kind == ParameterKind::Note) {
                    problems.push(problem(&place, "is a folder, and the parameter is a note"));
                }
            }
            _ => {}
        }
    }
    problems
}

/// Arguments that a tool reads as a language, of which an expression makes the whole: a value would be syntax in it. One that is
/// nothing but a value is the caller's, and reviewed as such.
fn language_problems(
    step: &RecipeStep,
    arguments: &StepArguments,
    entry: &CatalogueEntry,
    at: &str,
) -> Vec<ArgumentProblem> {
    let composes = |expression: &TemplateExpression| !expression.takes_as_it_is();
    let mut problems = Vec::new();
    for (name, template) in arguments {
        let ValueTemplate::Whole(whole) = template else { continue };
        let of_items = whole.uses("item") && step.for_each.as_ref().is_some_and(composes);
        if !composes(whole) && !of_items {
            continue;
        }
        // What is not known before it runs may be any of those that the tool declares.
        let pointer = format!("/{name}");
        let beside = |name: &str| match arguments.iter().find(|(known, _)| known == name) {
            Some((_, ValueTemplate::Literal(value))) => Some(value.clone()),
            _ => None,
        };
        let mut declared = entry.spec.texts.iter().filter(|text| text.covers(&pointer)).map(|text| text.language);
        let mut language = entry.spec.language_at(&pointer, &beside);
        let depends = entry.spec.texts.iter().any(|text| {
            let is_template =
                |(name, _): (&str, &str)| arguments.iter().any(|(known, _)| known == name) && beside(name).is_none();
            text.covers(&pointer) && text.when.is_some_and(is_template)
        });
        if depends {
            language = declared.find(|language| language.has_syntax()).unwrap_or(language);
        }
        if language.has_syntax() && language != TextLanguage::Property {
            let words = Prose::ours(format_args!(
                "is read as {}, which an expression cannot make: write its text, with `{{{{ }}}}` where it has a value",
                language.words()
            ));
            problems.push(problem(&format!("{at}.with.{name}"), words));
        }
    }
    problems
}

/// What is known of a field before a run.
pub enum ResultField<'s> {
    /// Its schema. A tool may leave the field out when there is nothing in it.
    Declared(&'s Value),
    Absent {
        tool: &'static str,
        /// Those that there are.
        fields: Vec<&'s str>,
    },
    /// Of a parameter, or in an object that takes any field.
    Unknown,
}

/// The field to which names lead, of which the first is a step.
pub fn result_field<'c>(catalogue: &'c Catalogue, recipe: &Recipe, path: &[&str]) -> ResultField<'c> {
    let [first, fields @ ..] = path else { return ResultField::Unknown };
    let Some(step) = recipe.steps.iter().find(|step| step.id.eq_ignore_ascii_case(first)) else {
        return ResultField::Unknown;
    };
    let Ok(entry) = catalogue.find(&step.tool) else { return ResultField::Unknown };
    let tool = entry.spec.name();
    let mut found: Option<&Value> = None;
    // The result of a step that runs for each item is a list.
    if step.for_each.is_some() {
        return if fields.is_empty() { ResultField::Unknown } else { ResultField::Absent { tool, fields: Vec::new() } };
    }
    for name in fields {
        let tops = [entry.spec.output()];
        let nested: Vec<&Map<String, Value>> =
            found.into_iter().flat_map(alternatives).filter_map(Value::as_object).collect();
        let schemas: &[&Map<String, Value>] = if found.is_some() { &nested } else { &tops };
        let properties = || schemas.iter().filter_map(|schema| schema.get("properties")?.as_object());
        let named = properties().flatten().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found = match named {
            Some((_, schema)) => Some(schema),
            None => {
                let is_open = |schema: &&Map<String, Value>| {
                    schema.get("additionalProperties").is_some_and(|more| *more != json!(false))
                        || (schema.get("properties").is_none()
                            && schema.get("type").is_none_or(|kind| kind == "object"))
                };
                if schemas.iter().any(is_open) {
                    return ResultField::Unknown;
                }
                let fields = properties().flatten().map(|(name, _)| name.as_str());
                return ResultField::Absent { tool, fields: fields.filter(|name| *name != "error").collect() };
            }
        };
    }
    found.map_or(ResultField::Unknown, ResultField::Declared)
}

/// Fields that a step's tool never gives. An expression has nothing in their place, and the step would be made with that.
fn field_problems(catalogue: &Catalogue, recipe: &Recipe, template: &ValueTemplate, at: &str) -> Vec<ArgumentProblem> {
    let mut problems = Vec::new();
    template.visit(&mut |expression| {
        problems.extend(expression.field_paths().into_iter().filter_map(|path| {
            match result_field(catalogue, recipe, &path) {
                // Without fields it is a list or a text, which has others, such as `length`.
                ResultField::Absent { tool, fields } if !fields.is_empty() => Some(absent(at, &path, tool, &fields)),
                _ => None,
            }
        }));
    });
    problems
}

fn absent(at: &str, path: &[&str], tool: &str, fields: &[&str]) -> ArgumentProblem {
    let asked = quoted(&path.join(".")).to_string();
    let fields: Vec<String> = fields.iter().map(|name| format!("`{name}`")).collect();
    let has = if fields.is_empty() { "which is a list".to_owned() } else { format!("which has {}", fields.join(", ")) };
    problem(at, Prose::ours(format_args!("{asked} is not in the result of `{tool}`, {has}")))
}

/// A loop over what its step's tool never gives.
fn loop_problems(catalogue: &Catalogue, recipe: &Recipe, step: &RecipeStep, at: &str) -> Vec<ArgumentProblem> {
    let Some(each) = &step.for_each else { return Vec::new() };
    let at = format!("{at}.for_each");
    let one = |path: Vec<&str>| match result_field(catalogue, recipe, &path) {
        ResultField::Absent { tool, fields } => Some(absent(&at, &path, tool, &fields)),
        ResultField::Declared(schema) if each.is_field_path() => {
            let is_list = |schema: &Value| {
                schema.get("type").is_none_or(|kind| match kind {
                    Value::Array(kinds) => kinds.iter().any(|kind| kind == "array"),
                    kind => kind == "array",
                })
            };
            let fits = alternatives(schema).any(is_list);
            let asked = quoted(&path.join(".")).to_string();
            (!fits).then(|| problem(&at, Prose::ours(format_args!("{asked} is not a list"))))
        }
        ResultField::Declared(_) | ResultField::Unknown => None,
    };
    each.field_paths().into_iter().filter_map(one).collect()
}

/// Where a step writes.
fn places(arguments: &StepArguments, entry: &CatalogueEntry, places: &mut Vec<String>) {
    let written = entry.spec.declaration.paths.iter().filter(|path| path.role == PathRole::Write);
    let mut found: Vec<String> = Vec::new();
    for path in written {
        let Some(template) = ValueTemplate::at(arguments, path.pointer) else { continue };
        found.push(match (template.shape(), template.fixed_start()) {
            (TemplateShape::Known(Value::String(path)), _) => path,
            (TemplateShape::Named(name), _) => format!("{{{{ {name} }}}}"),
            // What is inserted behind the last slash cannot leave the folder.
            (_, Some(start)) => match start.rsplit_once('/') {
                Some((folder, _)) => format!("{folder}/…"),
                None => format!("{start}…"),
            },
            _ => FOUND_NOTES.to_owned(),
        });
    }
    // A tool that finds its notes by a pattern or a query names no path.
    if found.is_empty() {
        found.push(FOUND_NOTES.to_owned());
    }
    for place in found {
        if !places.contains(&place) {
            places.push(place);
        }
    }
}
