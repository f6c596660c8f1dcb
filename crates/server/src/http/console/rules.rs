//! What a caller may do to a path, with what decides it: asked of the code that judges calls.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use lapidary_console::{ConsoleSection, ProfileRow, RuleRow, RulesPage, ShownText, VaultChoices, VerdictRow};
use lapidary_pipeline::{AccessVerdict, ApprovalRule, DecidedBy, Principal, RuleDecision};
use lapidary_tools::{Effect, ToolSpec, quote::one_line};
use lapidary_vault::VaultPath;

use super::{Console, ConsoleState, client_choice, no_answer, page, query, sessions::OpenSession};

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/rules", get(show))
}

async fn show(State(console): ConsoleState, Extension(session): Extension<OpenSession>, request: Request) -> Response {
    let parameters = query(&request);
    let callers = console.callers().await;
    // A caller that is gone is replaced by the owner here: this page only asks and changes nothing.
    let Some(caller) = client_choice::chosen(&callers, parameters.get("caller")).or(callers.first()) else {
        return no_answer();
    };
    let entries = console.0.executor.grant().profile.catalogue.entries();
    let has_path = |spec: &&ToolSpec| spec.kind.needs_vault();
    let tools: Vec<&'static str> =
        entries.iter().map(|entry| &entry.spec).filter(has_path).map(ToolSpec::name).collect();
    let tool = parameters.get("tool").or(tools.first().copied()).unwrap_or_default().to_owned();
    let path = parameters.get("path").unwrap_or_default().to_owned();
    let vault = console.vault(parameters.get("vault"));
    let (mut verdicts, mut problem) = (Vec::new(), None);
    if !path.is_empty() {
        match VaultPath::parse(&path) {
            Err(error) => problem = Some(ShownText::line(&format!("This is not a path in a vault: {error}"))),
            Ok(path) => {
                // The owner's principal with the caller's grant: the grant is what decides.
                let principal = Principal { grant: Arc::clone(&caller.grant), ..console.principal() };
                let (tool, vault) = (tool.clone(), vault.clone());
                // Asked of the stages that judge real calls, so the page cannot be of another opinion.
                let asked = console.ask(move |executor| executor.access(&principal, &tool, vault.as_deref(), &path));
                let Some(found) = asked.await else { return no_answer() };
                verdicts = found;
            }
        }
    }
    let rules = &console.0.executor.approval_rules().0;
    let decides = |at: usize| verdicts.iter().any(|verdict| verdict.by == DecidedBy::Rule(at));
    let rule = |(at, rule): (usize, &ApprovalRule)| RuleRow {
        number: at + 1,
        decision: decision_word(rule.decision),
        about: ShownText::line(&about(rule)),
        decides: decides(at),
    };
    let profile = |(name, most): (String, Effect)| {
        // With all vaults, so that the number of tools does not depend on who looks.
        let view = console.0.owner.grants.whole_profile(&name).ok();
        let tools = view.map_or(0, |view| view.catalogue.on().count());
        ProfileRow { name: ShownText::line(&name), most: most.name(), tools }
    };
    let drawn = RulesPage {
        frame: console.frame(ConsoleSection::CLIENTS, &session).await,
        callers: client_choice::choices(&callers, &caller.key),
        tools,
        tool,
        path,
        vaults: VaultChoices { names: console.vault_names(), chosen: vault },
        rules: rules.iter().enumerate().map(rule).collect(),
        verdicts: verdicts.iter().map(|verdict| shown(verdict, rules)).collect(),
        problem,
        profiles: console.0.owner.grants.profiles().into_iter().map(profile).collect(),
    };
    page(StatusCode::OK, &drawn)
}

fn shown(AccessVerdict { effect, decision, by }: &AccessVerdict, rules: &[ApprovalRule]) -> VerdictRow {
    let because = match by {
        DecidedBy::Rule(at) => {
            let rule = rules.get(*at).map(about).unwrap_or_default();
            format!("Rule {} decides: {} {rule}", at + 1, decision_word(*decision))
        }
        DecidedBy::NoRule if *effect == Effect::Read => "No rule is about it, and reading is allowed.".to_owned(),
        DecidedBy::NoRule => "No rule is about it, so the user has to approve it.".to_owned(),
        DecidedBy::Profile => "The profile does not go that far.".to_owned(),
        DecidedBy::SchemaFolder => "It changes a schema, which is asked for.".to_owned(),
        DecidedBy::RecipeTool => "It makes or changes a recipe, which is always asked for.".to_owned(),
        DecidedBy::DeletionSetting => "The setting ask_before_deleting decides.".to_owned(),
        DecidedBy::Guide => "It is your guide for assistants; a rule that names its path decides otherwise.".to_owned(),
        DecidedBy::Refusal(reason) => one_line(&reason.to_string()).replace('`', ""),
    };
    let (verdict, tone) = match decision {
        RuleDecision::Allow => ("allowed", "changed"),
        RuleDecision::Ask => ("asked", "waiting"),
        RuleDecision::Deny => ("denied", "refused"),
    };
    let action = match effect {
        Effect::Read => "Read",
        Effect::Write => "Change",
        Effect::Destroy => "Delete permanently",
    };
    VerdictRow { action, verdict, tone, because: ShownText::line(&because) }
}

/// As the configuration writes it.
pub(super) fn decision_word(decision: RuleDecision) -> &'static str {
    match decision {
        RuleDecision::Allow => "allow",
        RuleDecision::Ask => "ask",
        RuleDecision::Deny => "deny",
    }
}

/// What a rule is about, in words.
fn about(rule: &ApprovalRule) -> String {
    let parts = [
        rule.effect.map(|effect| match effect {
            Effect::Read => "reading".to_owned(),
            Effect::Write => "changes".to_owned(),
            Effect::Destroy => "permanent deletions".to_owned(),
        }),
        rule.tool.as_ref().map(|tool| format!("with {tool}")),
        rule.group.map(|group| format!("with tools of the group {}", group.name())),
        rule.path.as_ref().map(|path| format!("in {path}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "everything".to_owned() } else { parts.join(" ") }
}
