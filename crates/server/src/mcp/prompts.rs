//! Prompts as clients see them, and the news that their list is another.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use lapidary_pipeline::{Pipeline, SeenPrompts};
use lapidary_tools::{Family, FilledPrompt, Offered, Profile, Reason, render_refusal};
use rmcp::{
    ErrorData,
    model::{ErrorCode, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role},
    service::SubscriptionContext,
};
use tokio::sync::watch;

use super::{Mcp, Shared};

/// How often the notes are looked at, once somebody has asked for the list.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Tells whoever wants to know that the list of prompts is another.
pub(super) struct PromptNews {
    changed: watch::Sender<()>,
    watching: AtomicBool,
}

impl PromptNews {
    pub(super) fn new() -> Self {
        Self { changed: watch::Sender::new(()), watching: AtomicBool::new(false) }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// From now on somebody knows the list, and has to hear when it changes. Nobody looks before that: a vault is
    /// opened by the first request that needs it.
    pub(super) fn watch(self: &Arc<Self>, pipeline: &Arc<Pipeline>) {
        if !self.watching.swap(true, Ordering::AcqRel) {
            tokio::spawn(look(Arc::downgrade(self), Arc::downgrade(pipeline)));
        }
    }
}

/// Looks as long as there is a server.
async fn look(news: Weak<PromptNews>, pipeline: Weak<Pipeline>) {
    let mut seen = SeenPrompts::default();
    loop {
        let Some(pipeline) = pipeline.upgrade() else { return };
        let looking = tokio::task::spawn_blocking(move || (pipeline.has_new_prompts(&mut seen), seen));
        let changed = match looking.await {
            Ok((changed, looked)) => {
                seen = looked;
                changed
            }
            Err(error) => {
                tracing::debug!(is_panic = error.is_panic(), "the prompts could not be looked at");
                return;
            }
        };
        let Some(news) = news.upgrade() else { return };
        if changed {
            news.changed.send_replace(());
        }
        drop(news);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

pub(super) fn listed(prompt: lapidary_tools::Prompt) -> Prompt {
    let argument = |argument: lapidary_tools::PromptArgument| {
        let shown = PromptArgument::new(argument.name).with_required(true);
        match argument.description {
            Some(description) => shown.with_description(description),
            None => shown,
        }
    };
    let arguments: Vec<PromptArgument> = prompt.arguments.into_iter().map(argument).collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    Prompt::new(prompt.name, prompt.description, arguments).with_title(prompt.title)
}

pub(super) fn filled(prompt: FilledPrompt) -> GetPromptResult {
    let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, prompt.text)]);
    match prompt.description {
        Some(description) => result.with_description(description),
        None => result,
    }
}

impl Mcp {
    /// As long as the client keeps its request open, if it wants to hear of them.
    pub(super) async fn tell_of_prompts(&self, context: &SubscriptionContext) {
        if context.accepted().prompts_list_changed != Some(true) {
            return;
        }
        let Shared { pipeline, prompt_news, .. } = &*self.shared;
        let mut changed = prompt_news.subscribe();
        prompt_news.watch(pipeline);
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
pub(super) fn error(reason: &Reason, profile: &Profile) -> ErrorData {
    let offered = Offered::of(&profile.catalogue);
    let message = format!("{reason} {}", reason.hint(&offered));
    match reason {
        Reason::PromptUnknown { .. } | Reason::InvalidArguments { .. } => ErrorData::invalid_params(message, None),
        _ => {
            let data = render_refusal(Family::Obsidian, reason, offered).structured["error"]["data"].take();
            ErrorData::new(ErrorCode(reason.kind().wire_code().number), message, Some(data))
        }
    }
}
