//! Prompts as clients see them, and notifications when their list changes.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use lapidary_pipeline::{Caller, CallerStanding, Executor, Grant, Invocation, Principal};
use lapidary_tools::{
    ChangeAuthor, FilledPrompt, OfferedTools, ProfileView, PromptsSeen, ReadPayload, Reason, WatchPrompts,
    quote::one_line, refusal_data,
};
use rmcp::{
    ErrorData,
    model::{ErrorCode, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role},
    service::SubscriptionContext,
};
use serde_json::Value;

use super::{McpServer, principal::identity};

/// How often the notes are checked, once a client has requested the list.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// From now on a client knows the list, and has to be notified of changes. Nothing is checked before that: a vault is
/// opened by the first request that needs it.
pub(super) fn watch(executor: &Arc<Executor>, grant: &Arc<Grant>) {
    if !grant.prompt_news.is_watched.swap(true, Ordering::AcqRel) {
        tokio::spawn(look(Arc::downgrade(executor), Arc::downgrade(grant)));
    }
}

/// Checks as long as there is a server, and a client with this grant.
async fn look(executor: Weak<Executor>, grant: Weak<Grant>) {
    let name = || "prompts".to_owned();
    let mut seen = PromptsSeen::default();
    loop {
        let (Some(executor), Some(grant)) = (executor.upgrade(), grant.upgrade()) else { return };
        let news = Arc::clone(&grant.prompt_news);
        let principal = Principal {
            id: name(),
            name: name(),
            grant,
            can_be_asked: false,
            caller: Caller::Unknown,
            is_single_client: false,
            author: ChangeAuthor::single(name()),
            standing: CallerStanding::default(),
        };
        let invocation = Invocation::read(WatchPrompts { seen: seen.clone() }, principal);
        let cancel = executor.cancel(&invocation);
        let watched = executor.execute(invocation, cancel).await.answer();
        // Held while sleeping, it would keep the server alive.
        drop(executor);
        // An unavailable vault is checked again.
        if let Ok(ReadPayload::PromptsWatched { seen: now, changed }) = watched {
            seen = now;
            if changed {
                news.changed.send_replace(());
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

pub(super) fn listed(prompt: lapidary_tools::ListedPrompt) -> Prompt {
    let argument = |argument: lapidary_tools::PromptArgument| {
        let shown = PromptArgument::new(argument.name).with_required(true);
        match argument.description {
            Some(description) => shown.with_description(one_line(&description)),
            None => shown,
        }
    };
    let arguments: Vec<PromptArgument> = prompt.arguments.into_iter().map(argument).collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    // Clients show these among their own words.
    let description = prompt.description.map(|description| one_line(&description).into_owned());
    Prompt::new(prompt.name, description, arguments).with_title(one_line(&prompt.title))
}

pub(super) fn filled(prompt: FilledPrompt) -> GetPromptResult {
    let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, prompt.text)]);
    match prompt.description {
        Some(description) => result.with_description(one_line(&description)),
        None => result,
    }
}

impl McpServer {
    /// As long as the client keeps its request open, if it wants notifications.
    pub(super) async fn announce_prompts(&self, context: &SubscriptionContext) {
        if context.accepted().prompts_list_changed != Some(true) {
            return;
        }
        let grant = self.grant_of(identity(&context.request_context().extensions));
        let mut changed = grant.prompt_news.changed.subscribe();
        watch(&self.shared.executor, &grant);
        loop {
            tokio::select! {
                () = context.cancelled() => return,
                news = changed.changed() => {
                    if news.is_err() || context.sink().notify_prompt_list_changed().await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// The request is wrong, or something here is.
pub(super) fn error(reason: &Reason, profile: &ProfileView) -> ErrorData {
    let offered = OfferedTools::of(&profile.catalogue);
    let message = format!("{reason} {}", reason.hint(&offered));
    match reason {
        Reason::PromptUnknown { .. } | Reason::InvalidArguments { .. } => ErrorData::invalid_params(message, None),
        _ => {
            let data = Value::Object(refusal_data(reason, offered));
            ErrorData::new(ErrorCode(reason.kind().wire_code().number), message, Some(data))
        }
    }
}
