//! Prompts as clients see them, and the news that their list is another.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use lapidary_pipeline::Pipeline;
use lapidary_tools::{Completion, FilledPrompt, Reason};
use rmcp::{
    ErrorData,
    model::{CompleteResult, CompletionInfo, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role},
};
use tokio::sync::watch;

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
    let (mut mark, mut list) = match pipeline.upgrade() {
        Some(pipeline) => (pipeline.prompts_mark().await, pipeline.prompts().await),
        None => return,
    };
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let (Some(news), Some(pipeline)) = (news.upgrade(), pipeline.upgrade()) else { return };
        if news.changed.receiver_count() == 0 {
            continue;
        }
        let now = pipeline.prompts_mark().await;
        if now == mark {
            continue;
        }
        let found = pipeline.prompts().await;
        mark = now;
        // An edit of the text alone is no change of the list.
        if found != list {
            list = found;
            news.changed.send_replace(());
        }
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

pub(super) fn completed(completion: Completion) -> Result<CompleteResult, ErrorData> {
    let (shown, total) = (completion.values.len(), completion.total);
    let more = shown < total;
    let total = u32::try_from(total).unwrap_or(u32::MAX);
    let info = CompletionInfo::with_pagination(completion.values, Some(total), more);
    info.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
}

/// What was asked for is wrong, or something here is.
pub(super) fn error(reason: &Reason) -> ErrorData {
    let message = format!("{reason} {}", reason.hint());
    match reason {
        Reason::PromptUnknown { .. } | Reason::InvalidArguments { .. } => ErrorData::invalid_params(message, None),
        _ => ErrorData::internal_error(message, None),
    }
}
