//! Runs the steps of a recipe or a script: each through the same checks as a separate call, on the vault as the steps before it
//! leave it, and all as one change. Nothing is written here.

use std::time::Duration;

use lapidary_query::QueryContext;
use lapidary_recipe::{
    MOST_ITEMS, Recipe, RecipeFault, RecipeName, RecipeStep, RecipeValues, ValueTemplate, is_recipe_name,
};
use lapidary_tools::{
    AnswerDraft, ArgumentProblem, CallSteps, Catalogue, CatalogueEntry, CheckedArguments, CommitReport, Context,
    Interruption, Planned, PlannedChange, Reason, StepCalls, StepsOutcome, StepsPlan, ToolAnswer, ToolSpec, bug,
    clipped, in_form_of, inserted_in_form_of,
    quote::{Prose, quoted},
    recipes::{ResultField, StepUse, result_field, step_use},
};
use lapidary_vault::{ChangeSet, Scope, View};
use serde_json::{Map, Value, json};

use crate::{
    RuleDecision, batch,
    call_bounds::is_bound,
    execution::Execution,
    stages::{active_note, check, find, judge},
};

/// The tool that runs all recipes.
const RECIPE_RUN: &str = "recipe_run";
/// No run of a user takes longer, whatever a call may.
pub const LONGEST_RUN: Duration = Duration::from_secs(60);
/// What one expression may do.
const EXPRESSION_STEPS: u64 = 20_000_000;
const EXPRESSION_BYTES: u64 = 32 << 20;
const EXPRESSION_DEPTH: usize = 64;

/// The call that a recipe's name stands for, if the caller can run recipes. What is said about every call stays outside of the
/// recipe's own arguments.
pub(crate) fn as_run(
    catalogue: &Catalogue,
    name: &str,
    arguments: &Map<String, Value>,
) -> Option<(&'static str, Map<String, Value>)> {
    if !is_recipe_name(name) {
        return None;
    }
    let entry = catalogue.find(RECIPE_RUN).ok().filter(|entry| entry.authorize().is_ok())?;
    let is_own = |key: &str| key == check::VAULT || entry.spec.dry_run == Some(key) || is_bound(key);
    let mut run = Map::new();
    let mut own = Map::new();
    for (key, value) in arguments {
        // As other families spell it.
        let key = if key == "dry_run" { entry.spec.dry_run.unwrap_or(key) } else { key };
        if is_own(key) { &mut run } else { &mut own }.insert(key.to_owned(), value.clone());
    }
    run.insert("name".to_owned(), json!(clipped(name)));
    run.insert("arguments".to_owned(), Value::Object(own));
    Some((entry.spec.name(), run))
}

/// What a recipe did, for the log.
#[derive(Debug, Default)]
pub(crate) struct RanSteps {
    pub(crate) recipe: Option<RecipeName>,
    pub(crate) calls: Vec<StepCalls>,
}

/// The answer of a run: known with the plan, as later steps may need it.
struct StepsDraft(Option<Result<ToolAnswer, Reason>>);

impl AnswerDraft for StepsDraft {
    fn finish(self: Box<Self>, _: &CommitReport<'_>) -> Result<ToolAnswer, Reason> {
        self.0.unwrap_or_else(|| Err(bug!("the answer of a recipe was taken twice")))
    }
}

/// A run in progress.
struct StepRun<'r, 'c, 'a> {
    /// A script has none.
    name: Option<RecipeName>,
    execution: &'r Execution<'a>,
    context: &'r Context<'c>,
    /// The vault as it is on disk.
    view: &'r View,
    scope: &'r Scope,
    dry_run: bool,
    may_write: bool,
    /// Whether results may show text of notes.
    shows_content: bool,
    overlay: Option<View>,
    changes: ChangeSet,
    specs: Vec<&'a ToolSpec>,
    /// Steps whose results are only the first part of what there is.
    cut: Vec<String>,
}

/// A step whose arguments are in the form in which its tool reads them.
struct FormedStep<'s, 'a> {
    step: &'s RecipeStep,
    entry: &'a CatalogueEntry,
    arguments: Vec<(String, ValueTemplate)>,
}

fn in_step(index: usize, reason: Reason) -> Reason {
    match reason {
        // The run itself has to end, not only this step.
        reason @ (Reason::Interrupted(_) | Reason::Internal(_)) => reason,
        reason => Reason::InStep { list: "steps", index, reason: Box::new(reason) },
    }
}

/// All steps as one change, with the tools involved.
pub(crate) fn plan<'a>(
    execution: &mut Execution<'a>,
    context: &Context<'_>,
    view: &View,
    scope: &Scope,
    entry: &'a CatalogueEntry,
    steps: CallSteps,
) -> Result<(PlannedChange, Vec<&'a ToolSpec>), Reason> {
    let CallSteps { plan: StepsPlan { name, recipe, arguments, dry_run }, may_write, finish } = steps;
    execution.ran = RanSteps { recipe: name.clone(), calls: Vec::new() };
    let values = recipe.begin(&arguments, context.now.time_zone()).map_err(|faults| {
        let fault = |fault: lapidary_recipe::ArgumentFault| ArgumentProblem {
            at: fault.name,
            problem: fault.problem.into(),
            nearest: fault.nearest,
        };
        let recipe = name.as_ref().map_or_else(|| entry.spec.name().to_owned(), RecipeName::to_string);
        Reason::RecipeArguments { recipe, problems: faults.into_iter().map(fault).collect() }
    })?;
    let shows_content = judge::on_showing(execution, &[&entry.spec]) == RuleDecision::Allow;
    let mut calls = Vec::new();
    let mut run = StepRun {
        name: name.clone(),
        execution,
        context,
        view,
        scope,
        dry_run,
        may_write,
        shows_content,
        overlay: None,
        changes: ChangeSet::default(),
        specs: Vec::new(),
        cut: Vec::new(),
    };
    let answered = run.all(&recipe, values, &mut calls);
    let StepRun { changes, specs, cut, .. } = run;
    // Also for a run that fails: the log says how far it came.
    execution.ran.calls.clone_from(&calls);
    let answer = answered?;
    let catalogue = &execution.profile().catalogue;
    let reaches_web = |made: &StepCalls| catalogue.find(made.tool).is_ok_and(|entry| entry.spec.reaches_web());
    let reached_web = calls.iter().any(reaches_web);
    let outcome = StepsOutcome { name, dry_run, reached_web, answer, calls, files: changes.changes.len(), cut };
    let draft = Box::new(StepsDraft(Some(finish(outcome, execution.offered()))));
    // A run that only reads has nothing to show.
    let dry_run = dry_run && !changes.is_empty();
    Ok((PlannedChange { changes, dry_run, shows_diff: true, proposal: None, action: None, draft }, specs))
}

impl<'a> StepRun<'_, '_, 'a> {
    fn all(&mut self, recipe: &Recipe, mut values: RecipeValues, calls: &mut Vec<StepCalls>) -> Result<Value, Reason> {
        let (now, cancel) = (&*self.context.now, self.context.cancel);
        let go_on = || cancel.check().is_ok();
        let zone = now.time_zone().clone();
        let limits =
            lapidary_query::QueryLimits { steps: EXPRESSION_STEPS, bytes: EXPRESSION_BYTES, depth: EXPRESSION_DEPTH };
        // One for each step: the limits are those of an expression, and the values are bounded anyway.
        let expressions = || QueryContext::new(now.timestamp(), zone.clone(), &go_on).with_limits(limits);
        let mut last = Value::Null;
        for (index, step) in recipe.steps.iter().enumerate() {
            let stopped = |fault: RecipeFault| self.stopped(Some(index), fault);
            let may_miss =
                |path: &[&str]| matches!(result_field(self.context.catalogue, recipe, path), ResultField::Declared(_));
            let items = values.items(step, &may_miss, &expressions()).map_err(stopped)?;
            let formed = &self.in_form(index, step)?;
            last = match items {
                None => match self.once(index, formed, &values, &expressions(), calls)? {
                    Some(result) => result,
                    None => Value::Null,
                },
                Some(items) => {
                    let mut results = Vec::new();
                    for (number, item) in (1..).zip(items.iter().take(MOST_ITEMS)) {
                        values.turn_to(item, number);
                        // An item for which the step is left out has no place in the list.
                        results.extend(self.once(index, formed, &values, &expressions(), calls)?);
                    }
                    Value::Array(results)
                }
            };
            values.set(&step.id, &last).map_err(|fault| self.stopped(Some(index), fault))?;
        }
        match &recipe.answer {
            None => Ok(last),
            Some(answer) => values.filled_in(answer, &expressions()).map_err(|fault| self.stopped(None, fault)),
        }
    }

    /// A step with its arguments in the form in which its tool reads them.
    fn in_form<'s>(&self, index: usize, step: &'s RecipeStep) -> Result<FormedStep<'s, 'a>, Reason> {
        let entry = find::named_tool(self.execution.profile(), &step.tool).map_err(|reason| in_step(index, reason))?;
        let arguments =
            in_form_of(entry.spec.input(), &step.arguments).map_err(|(at, problem)| self.unfit(index, &at, problem))?;
        Ok(FormedStep { step, entry, arguments })
    }

    fn unfit(&self, index: usize, at: &str, problem: &str) -> Reason {
        let recipe = self.name.as_ref().map(RecipeName::to_string);
        let problem = Prose::ours(format_args!("{} {problem}", quoted(at)));
        Reason::RecipeStopped { recipe, step: Some(index), problem }
    }

    /// One call; nothing if its condition does not hold.
    fn once(
        &mut self,
        index: usize,
        FormedStep { step, entry, arguments }: &FormedStep<'_, 'a>,
        values: &RecipeValues,
        expressions: &QueryContext<'_>,
        calls: &mut Vec<StepCalls>,
    ) -> Result<Option<Value>, Reason> {
        self.context.check()?;
        // A call may be allowed more time than a run.
        let allowed = self.execution.setup().limits.run_time;
        if self.execution.started.elapsed() > allowed {
            return Err(Reason::Interrupted(Interruption::Deadline { allowed }));
        }
        let fault = |fault: RecipeFault| self.stopped(Some(index), fault);
        if !values.wants(step, expressions).map_err(fault)? {
            return Ok(None);
        }
        let languages = |pointer: &str, beside: &dyn Fn(&str) -> Option<Value>| entry.spec.language_at(pointer, beside);
        let arguments = values.arguments(arguments, &languages, expressions).map_err(fault)?;
        let mut arguments = inserted_in_form_of(entry.spec.input(), arguments)
            .map_err(|(at, problem)| self.unfit(index, &at, problem))?;
        write_out(&entry.spec, &mut arguments);
        // Counted before it is made, so that the log has the call at which a run failed.
        match calls.iter_mut().find(|made| made.tool == entry.spec.name()) {
            Some(made) => made.calls += 1,
            None => calls.push(StepCalls { tool: entry.spec.name(), calls: 1 }),
        }
        let result = match step_use(entry) {
            Some(StepUse::Read) => self.read(entry, arguments),
            Some(StepUse::Write) if self.may_write => self.write(entry, arguments),
            _ => Err(Reason::NotInBatch { tool: entry.spec.name().to_owned() }),
        };
        let result = result.map_err(|reason| in_step(index, reason))?;
        if is_cut(&result) && !self.cut.contains(&step.id) {
            self.cut.push(step.id.clone());
        }
        Ok(Some(Value::Object(result)))
    }

    /// A call that reads, under the rules about reading.
    fn read(&mut self, entry: &'a CatalogueEntry, given: Map<String, Value>) -> Result<Map<String, Value>, Reason> {
        entry.authorize()?;
        let execution = self.execution;
        // The user cannot be asked in the middle of a run.
        match execution.setup().rules.on_reading(&entry.spec).decision {
            RuleDecision::Allow => {}
            RuleDecision::Ask => return Err(Reason::AskedAlone { tool: entry.spec.name().to_owned() }),
            RuleDecision::Deny => return Err(Reason::DeniedByRule),
        }
        let view = self.overlay.as_ref().unwrap_or(self.view);
        let CheckedArguments { mut arguments, .. } = check::step_arguments(entry, view.vault(), given)?;
        active_note::name(execution, &entry.spec, &mut arguments, view)?;
        let planned = entry.tool.plan(self.context, Some(view), arguments);
        let planned = planned.map_err(|reason| judge::as_shown(execution, &[&entry.spec], reason));
        let Planned::Answer(answer) = planned? else {
            return Err(bug!("`{}` only reads and planned something else", entry.spec.name()));
        };
        self.involve(entry);
        Ok(answer.output.to_map())
    }

    /// A call that changes something, planned on what the steps before it leave.
    fn write(&mut self, entry: &'a CatalogueEntry, given: Map<String, Value>) -> Result<Map<String, Value>, Reason> {
        // The approval of a run names no address that its steps ask.
        let rules = &self.execution.setup().rules;
        if entry.spec.reaches_web() && rules.on_reaching(&entry.spec) == RuleDecision::Ask {
            return Err(Reason::AskedAlone { tool: entry.spec.name().to_owned() });
        }
        let now = self.overlay.as_ref().unwrap_or(self.view);
        let (_, step, planned) =
            batch::plan_step(self.execution, self.context, now, self.scope, entry.spec.name(), given, self.dry_run)?;
        // Asked of the disk, not of the overlay: a folder that only the run makes cannot be moved as a whole.
        self.changes.join(planned.clone(), |folder| self.view.had_folder(folder)).map_err(Reason::NotJoined)?;
        self.context.budget.hold_all(&self.changes)?;
        // Later steps and the answer need it now. What only a commit knows, they cannot know.
        let result = step.finish(&CommitReport {
            offered: self.execution.offered(),
            receipt: None,
            proposal_token: None,
            acted: None,
            called: None,
            shows_content: self.shows_content,
        })?;
        self.overlay = batch::planned_on(self.view, self.overlay.take(), &planned);
        self.involve(entry);
        Ok(result.output)
    }

    fn stopped(&self, step: Option<usize>, fault: RecipeFault) -> Reason {
        let problem = match fault {
            RecipeFault::Expression { expression, problem } => Prose::ours(format_args!(
                "the expression {} fails: {}",
                quoted(&clipped(&expression)),
                quoted(&clipped(&problem))
            )),
            RecipeFault::NoField { expression, field, fields } => {
                let fields: Vec<String> = fields.iter().map(|name| quoted(&clipped(name)).to_string()).collect();
                let has = match fields.as_slice() {
                    [] => "no fields".to_owned(),
                    fields => fields.join(", "),
                };
                Prose::ours(format_args!(
                    "{} asks for {}, and there is {has}",
                    quoted(&clipped(&expression)),
                    quoted(&clipped(&field))
                ))
            }
            RecipeFault::NotAList { expression } => {
                Prose::ours(format_args!("{} is not a list", quoted(&clipped(&expression))))
            }
            RecipeFault::TooManyItems { count } => {
                Prose::ours(format_args!("the list has {count} items, and a step runs for at most {MOST_ITEMS}"))
            }
            RecipeFault::TooLarge => "the results of the steps are too large".into(),
            RecipeFault::Unfit { argument, value, problem } => Prose::ours(format_args!(
                "{} would be given {}, {problem}",
                quoted(&argument),
                quoted(&clipped(&value))
            )),
            // An expression halts at its own limits, or because the call ends, which is then the reason.
            RecipeFault::Halt(_) => match self.context.check() {
                Err(ended) => return ended,
                Ok(()) => "an expression takes too long".into(),
            },
        };
        let recipe = self.name.as_ref().map(RecipeName::to_string);
        Reason::RecipeStopped { recipe, step, problem }
    }

    /// The owner's rules for every tool of a run hold for the whole change.
    fn involve(&mut self, entry: &'a CatalogueEntry) {
        let writes = entry.spec.writes();
        if writes && !self.specs.iter().any(|spec| spec.name() == entry.spec.name()) {
            self.specs.push(&entry.spec);
        }
    }
}

/// Whether an answer says that there is more: by a place to go on from, or in words.
fn is_cut(result: &Map<String, Value>) -> bool {
    let says = |fields: &Map<String, Value>| {
        let goes_on = ["nextCursor", "nextOffset"].iter().any(|key| fields.get(*key).is_some_and(|at| !at.is_null()));
        goes_on || fields.get("truncated") == Some(&Value::Bool(true))
    };
    // Some have their page in a separate field.
    says(result) || result.get("result").and_then(Value::as_object).is_some_and(says)
}

/// Numbers where the tool takes a text: a template gives the value as it is, and has no quotes to say otherwise.
fn write_out(spec: &ToolSpec, arguments: &mut Map<String, Value>) {
    let properties = spec.input().get("properties");
    for (name, value) in arguments {
        let wanted = properties.and_then(|properties| properties.get(name)).and_then(|schema| schema.get("type"));
        if wanted.is_some_and(|wanted| wanted == "string") && (value.is_number() || value.is_boolean()) {
            *value = Value::String(value.to_string());
        }
    }
}
