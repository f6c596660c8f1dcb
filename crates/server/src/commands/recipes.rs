//! `lapidary recipes`: lists, shows, checks, runs, approves and disables recipes.

use std::io::Write;

use lapidary_pipeline::{RecipeDecision, ServedVault};
use lapidary_tools::{
    quote::{one_line, quoted},
    recipes::{REACHES_WEB, RecipeName, approved_hash, places_in_words},
};
use serde_json::{Map, Value, json};

use super::{
    CommandFailure, CommandOutcome, SAVING,
    call::{OwnerCalls, can_be_asked, owner},
    command_hint::CommandHint,
    report,
    screen::Screen,
    table::TableCell,
};
use crate::cli::{RecipeWord, Recipes};

pub(super) fn run(
    command: &Recipes,
    calls: OwnerCalls<'_>,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    match command.word.as_ref().unwrap_or(&RecipeWord::List { json: false }) {
        RecipeWord::List { json } => list(calls, *json || command.json, screen),
        RecipeWord::Show { name, json } => show(calls, name, *json || command.json, screen),
        RecipeWord::Check { name, json } => check(calls, name.as_deref(), *json || command.json, screen),
        RecipeWord::Run { name, arguments, dry_run, json } => {
            let arguments = typed(calls, name, arguments)?;
            let call = json!({ "name": name, "arguments": arguments, "dryRun": dry_run });
            let answer = calls.facts("recipe_run", call)?;
            calls.assembled.executor.save_indexes(SAVING);
            ran(&answer, calls, *json || command.json, screen)
        }
        // Both decide what may run; their answer is a sentence.
        RecipeWord::Approve { .. } | RecipeWord::Disable { .. } if command.json => {
            Err(CommandFailure::Misconfigured("--json is for commands that print something".to_owned()))
        }
        RecipeWord::Approve { name } => approve(calls, name, screen),
        RecipeWord::Disable { name } => disable(calls, name, screen),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn list(calls: OwnerCalls<'_>, as_json: bool, screen: &mut Screen<'_>) -> Result<CommandOutcome, CommandFailure> {
    let answer = calls.facts("recipe_list", json!({}))?;
    if as_json {
        screen.json(&answer)?;
        return Ok(CommandOutcome::Well);
    }
    let recipes = items(&answer, "recipes");
    if recipes.is_empty() {
        report::note("there are no recipes in the recipe_folder of this vault");
        return Ok(CommandOutcome::NothingFound);
    }
    let row = |recipe: &Value| {
        let state = match recipe["enabled"] == true {
            true => TableCell::from(text(recipe, "effect")),
            false => TableCell::from("disabled").warning(),
        };
        let problem = recipe["problem"].as_str().map(|problem| with_options(calls, text(recipe, "name"), problem));
        let about = problem.unwrap_or_else(|| text(recipe, "description").to_owned());
        vec![
            TableCell::from(text(recipe, "name")).name(),
            state,
            TableCell::from(text(recipe, "arguments")).giving_way(),
            TableCell::from(one_line(&about).into_owned()).giving_way(),
        ]
    };
    let rows: Vec<Vec<TableCell>> = recipes.iter().map(row).collect();
    screen.table(&["recipe", "effect", "parameters", "what it does"], &rows)?;
    if let Some(more) = answer["more"].as_u64() {
        report::note(&format!("{more} more are not loaded"));
    }
    Ok(CommandOutcome::Well)
}

/// The command that approves a recipe, as it is to be typed for this vault.
fn with_options(calls: OwnerCalls<'_>, name: &str, said: &str) -> String {
    let words = format!("recipes approve {name}");
    said.replace(&CommandHint::default().command(&words), &calls.hint.command(&words))
}

fn show(
    calls: OwnerCalls<'_>,
    name: &str,
    as_json: bool,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let answer = calls.facts("recipe_show", json!({ "name": name }))?;
    match as_json {
        true => screen.json(&answer)?,
        false => screen.question(&with_options(calls, name, &review(&answer)))?,
    }
    Ok(CommandOutcome::Well)
}

/// A recipe as a person judges it: what it may do, and every word of its definition.
fn review(recipe: &Value) -> String {
    let list = |key: &str| {
        items(recipe, key).iter().filter_map(Value::as_str).map(|word| quoted(word).to_string()).collect::<Vec<_>>()
    };
    let mut said = Vec::new();
    match recipe["effect"].as_str() {
        Some("read") => said.push("It only reads.".to_owned()),
        Some("destroy") => said.push("It can delete permanently.".to_owned()),
        Some(_) => said.push("It changes notes; every run can be undone.".to_owned()),
        None => {}
    }
    if !list("tools").is_empty() {
        said.push(format!("It calls {}.", list("tools").join(", ")));
    }
    if !list("writes").is_empty() {
        let places = items(recipe, "writes").iter().filter_map(Value::as_str);
        said.push(format!("It writes to {}.", places_in_words(places)));
    }
    if recipe["reachesWeb"] == true {
        said.push(REACHES_WEB.to_owned());
    }
    let problems: Vec<&str> = items(recipe, "problems").iter().filter_map(Value::as_str).collect();
    let state = match (recipe["enabled"] == true, problems.as_slice()) {
        (true, _) => "enabled".to_owned(),
        (false, []) => "disabled".to_owned(),
        (false, problems) => format!("disabled: {}", problems.join("; ")),
    };
    let mut message =
        format!("{} ({state}), {}\n{}", text(recipe, "name"), quoted(text(recipe, "path")), said.join(" "));
    if let Some(definition) = recipe["definition"].as_str() {
        message += &format!("\n\n{}", lapidary_tools::fence::fenced(&lapidary_tools::quote::visible(definition)));
    }
    message
}

fn check(
    calls: OwnerCalls<'_>,
    name: Option<&str>,
    as_json: bool,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    let names: Vec<String> = match name {
        Some(name) => vec![name.to_owned()],
        None => {
            let answer = calls.facts("recipe_list", json!({}))?;
            items(&answer, "recipes").iter().map(|recipe| text(recipe, "name").to_owned()).collect()
        }
    };
    let checked: Vec<Value> =
        names.iter().map(|name| calls.facts("recipe_show", json!({ "name": name }))).collect::<Result<_, _>>()?;
    // One that only waits for approval is not wrong; it has facts.
    let is_right = |recipe: &Value| recipe["effect"].is_string();
    let outcome = if checked.iter().all(is_right) { CommandOutcome::Well } else { CommandOutcome::Refused };
    if as_json {
        let line =
            |recipe: &Value| json!({ "name": recipe["name"], "ok": is_right(recipe), "problems": recipe["problems"] });
        screen.json(&json!({ "recipes": checked.iter().map(line).collect::<Vec<_>>() }))?;
        return Ok(outcome);
    }
    for recipe in &checked {
        let problems: Vec<&str> = items(recipe, "problems").iter().filter_map(Value::as_str).collect();
        let said = if problems.is_empty() { "fine".to_owned() } else { problems.join("; ") };
        let said = with_options(calls, text(recipe, "name"), &said);
        writeln!(screen, "{}: {}", text(recipe, "name"), one_line(&said))?;
    }
    if checked.is_empty() {
        report::note("there are no recipes in the recipe_folder of this vault");
        return Ok(CommandOutcome::NothingFound);
    }
    Ok(outcome)
}

/// Arguments in the types of the recipe's parameters.
fn typed(calls: OwnerCalls<'_>, name: &str, given: &[String]) -> Result<Map<String, Value>, CommandFailure> {
    let listed = calls.facts("recipe_list", json!({}))?;
    let found = items(&listed, "recipes").iter().find(|recipe| text(recipe, "name") == name);
    let declared = found.map(|recipe| text(recipe, "arguments")).unwrap_or_default();
    let kind_of = |wanted: &str| {
        let mut parameters = declared.split(", ").filter_map(|parameter| parameter.split_once(": "));
        parameters.find(|(name, _)| name.trim_end_matches('?') == wanted).map_or("text", |(_, kind)| kind)
    };
    let mut arguments = Map::new();
    for word in given {
        let Some((key, value)) = word.split_once('=') else {
            return Err(CommandFailure::Misconfigured(format!("{} is not PARAMETER=VALUE", quoted(word))));
        };
        let read = || serde_json::from_str::<Value>(value).ok();
        let value = match kind_of(key) {
            "number" | "boolean" => read().unwrap_or_else(|| json!(value)),
            "list" => match read() {
                Some(list @ Value::Array(_)) => list,
                _ => value.split(',').map(|item| json!(item.trim())).collect(),
            },
            _ => json!(value),
        };
        arguments.insert(key.to_owned(), value);
    }
    Ok(arguments)
}

fn ran(
    answer: &Value,
    calls: OwnerCalls<'_>,
    as_json: bool,
    screen: &mut Screen<'_>,
) -> Result<CommandOutcome, CommandFailure> {
    if as_json {
        screen.json(answer)?;
        return Ok(CommandOutcome::Well);
    }
    if let Some(diff) = answer["diff"].as_str() {
        screen.diff(diff)?;
    }
    match &answer["answer"] {
        Value::Null => {}
        Value::String(said) => writeln!(screen, "{}", report::plain(said, screen.style))?,
        other => screen.json(other)?,
    }
    // Such as links to notes of the old names that now lead to a new one.
    if let Some(notice) = answer["notice"].as_str() {
        report::note(notice);
    }
    let cut: Vec<&str> = items(answer, "cut").iter().filter_map(Value::as_str).collect();
    if !cut.is_empty() {
        report::note(&format!("only the first part was used of: {}", cut.join(", ")));
    }
    if let Some(line) = calls.way_back(answer, "To undo it") {
        let line = screen.style.faint(&line);
        writeln!(screen, "{line}")?;
    }
    Ok(CommandOutcome::Well)
}

/// The vault that the command is about.
fn vault(calls: OwnerCalls<'_>) -> Result<&ServedVault, CommandFailure> {
    let mut vaults = calls.assembled.executor.vaults().iter();
    match (vaults.next(), vaults.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(CommandFailure::Misconfigured("there are several vaults; choose one with --vault".to_owned())),
    }
}

/// Programs can start programs, so consent has to be typed.
fn approve(calls: OwnerCalls<'_>, name: &str, screen: &mut Screen<'_>) -> Result<CommandOutcome, CommandFailure> {
    let served = vault(calls)?;
    let mut recipe = calls.facts("recipe_show", json!({ "name": name }))?;
    let (parsed, definition) = (RecipeName::parse(name), recipe["definition"].as_str());
    let (Some(parsed), Some(definition), true) = (parsed, definition.map(str::to_owned), recipe["effect"].is_string())
    else {
        let problems: Vec<&str> = items(&recipe, "problems").iter().filter_map(Value::as_str).collect();
        return Err(CommandFailure::Refused(format!("{name} cannot be used: {}", problems.join("; "))));
    };
    if recipe["enabled"] == true {
        writeln!(screen, "{name} is approved already.")?;
        return Ok(CommandOutcome::Well);
    }
    if !can_be_asked() {
        let problem = "a recipe can only be approved at a terminal; run this command there";
        return Err(CommandFailure::Refused(problem.to_owned()));
    }
    // That it waits for exactly this.
    if let Some(fields) = recipe.as_object_mut() {
        fields.remove("problems");
    }
    report::question(&review(&recipe));
    if !report::confirmed("Let it run on this computer?") {
        writeln!(screen, "It stays disabled.")?;
        return Ok(CommandOutcome::Refused);
    }
    // Exactly what was shown, even if the note was changed meanwhile.
    let hash = approved_hash(&parsed, &definition);
    decide(calls, served, &parsed, RecipeDecision::Approve(hash))?;
    writeln!(screen, "{name} can be run now.")?;
    Ok(CommandOutcome::Well)
}

/// Whether the decision changed anything.
fn decide(
    calls: OwnerCalls<'_>,
    served: &ServedVault,
    name: &RecipeName,
    decision: RecipeDecision,
) -> Result<bool, CommandFailure> {
    let executor = &calls.assembled.executor;
    let decided = executor.decide_recipe(served, &owner(executor, true), name, decision);
    decided.map_err(|error| CommandFailure::Refused(error.to_string()))
}

fn disable(calls: OwnerCalls<'_>, name: &str, screen: &mut Screen<'_>) -> Result<CommandOutcome, CommandFailure> {
    let served = vault(calls)?;
    let Some(parsed) = RecipeName::parse(name) else {
        return Err(CommandFailure::Refused(format!("{} is not the name of a recipe", quoted(name))));
    };
    match decide(calls, served, &parsed, RecipeDecision::Disable)? {
        true => writeln!(screen, "{name} is disabled.")?,
        false => {
            writeln!(screen, "{name} was not approved.")?;
            return Ok(CommandOutcome::NothingFound);
        }
    }
    Ok(CommandOutcome::Well)
}
