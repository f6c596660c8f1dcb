//! Prompts as clients see them, and the news that their list is another.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use lapidary_pipeline::{Caller, Executor, Grant, Invocation, Principal};
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
use tokio::sync::watch;

use super::{McpServer, McpShared, principal::identity};

/// How often the notes are looked at, once somebody has asked for the list.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Tells whoever wants to know that the list of prompts is another. Each grant has a list of its own: news of what
/// somebody may not see would tell of it.
pub(super) struct PromptNews(Vec<(Arc<Grant>, Arc<GrantNews>)>);

struct GrantNews {
    changed: watch::Sender<()>,
    watching: AtomicBool,
}

impl PromptNews {
    /// For everybody whom the configuration knows.
    pub(super) fn new(executor: &Executor) -> Self {
        let news = |grant: &Arc<Grant>| {
            let news = GrantNews { changed: watch::Sender::new(()), watching: AtomicBool::new(false) };
            (Arc::clone(grant), Arc::new(news))
        };
        Self(executor.grants().map(news).collect())
    }

    pub(super) fn subscribe(&self, grant: &Arc<Grant>) -> Option<watch::Receiver<()>> {
        Some(self.of(grant)?.changed.subscribe())
    }

    /// From now on somebody knows the list, and has to hear when it changes. Nobody looks before that: a vault is
    /// opened by the first request that needs it.
    pub(super) fn watch(&self, executor: &Arc<Executor>, grant: &Arc<Grant>) {
        let Some(news) = self.of(grant) else { return };
        if !news.watching.swap(true, Ordering::AcqRel) {
            tokio::spawn(look(Arc::downgrade(news), Arc::downgrade(executor), Arc::clone(grant)));
        }
    }

    fn of(&self, grant: &Arc<Grant>) -> Option<&Arc<GrantNews>> {
        self.0.iter().find(|(known, _)| Arc::ptr_eq(known, grant)).map(|(_, news)| news)
    }
}

/// Looks as long as there is a server.
async fn look(news: Weak<GrantNews>, executor: Weak<Executor>, grant: Arc<Grant>) {
    let name = || "prompts".to_owned();
    let principal = Principal {
        id: name(),
        name: name(),
        grant,
        can_be_asked: false,
        caller: Caller::Unknown,
        is_single_client: false,
        author: ChangeAuthor::single(name()),
    };
    let mut seen = PromptsSeen::default();
    loop {
        let Some(executor) = executor.upgrade() else { return };
        let invocation = Invocation::read(WatchPrompts { seen: seen.clone() }, principal.clone());
        let cancel = executor.cancel(&invocation);
        let watched = executor.execute(invocation, cancel).await.answer();
        drop(executor);
        let Some(news) = news.upgrade() else { return };
        // What cannot be looked at now is looked at again.
        if let Ok(ReadPayload::PromptsWatched { seen: now, changed }) = watched {
            seen = now;
            if changed {
                news.changed.send_replace(());
            }
        }
        drop(news);
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
    // Clients show these among words of their own.
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
    /// As long as the client keeps its request open, if it wants to hear of them.
    pub(super) async fn announce_prompts(&self, context: &SubscriptionContext) {
        if context.accepted().prompts_list_changed != Some(true) {
            return;
        }
        let McpShared { executor, prompt_news, .. } = &*self.shared;
        let grant = self.grant_of(identity(&context.request_context().extensions));
        let Some(mut changed) = prompt_news.subscribe(&grant) else { return };
        prompt_news.watch(executor, &grant);
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

/// What was asked for is wrong, or something here is.
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
