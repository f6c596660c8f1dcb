//! What goes into the executor and what comes out.

use std::{sync::Arc, time::Duration};

use lapidary_tools::{ReadOperation, ReadPayload, Reason, RenderedReply};
use serde_json::{Map, Value};

use crate::{AskedChange, ChangePreview, OwnerReview, Principal};

/// One call as it reaches the executor, over any transport.
#[derive(Clone)]
pub struct Invocation {
    pub operation: Operation,
    pub principal: Principal,
    /// The user's answer to the question of an earlier outcome of the same call.
    pub answer: Option<ConsentAnswer>,
    /// The owner looks at a change that waits, or has approved it.
    pub review: Option<OwnerReview>,
    /// The request that is looked at or approved.
    pub asked: Option<Arc<AskedChange>>,
    pub progress: Option<Arc<dyn Fn(CallProgress) + Send + Sync>>,
    /// Made by a transport of ours and not named by a client: it may be one of the internal changes.
    pub is_internal: bool,
    /// Told about every stage, for those who measure.
    pub stages: Option<StageWatch>,
}

pub type StageWatch = Arc<dyn Fn(FinishedStage) + Send + Sync>;

/// A stage that a call has passed or ended in, just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedStage {
    pub name: &'static str,
    pub took: Duration,
}

/// What is to be done.
#[derive(Clone)]
pub enum Operation {
    /// A tool by its name, which may be wrong.
    Tool { name: String, arguments: Map<String, Value> },
    /// Other operations: resources, prompts, completions, subscriptions.
    Read(Arc<dyn ReadOperation>),
}

impl Invocation {
    /// A call of a tool.
    pub fn tool(name: impl Into<String>, arguments: Map<String, Value>, principal: Principal) -> Self {
        Self::of(Operation::Tool { name: name.into(), arguments }, principal)
    }

    /// A change that a transport makes for a program, judged as every call of a tool.
    pub fn internal(name: &'static str, arguments: Map<String, Value>, principal: Principal) -> Self {
        Self { is_internal: true, ..Self::tool(name, arguments, principal) }
    }

    pub fn read(operation: impl ReadOperation + 'static, principal: Principal) -> Self {
        Self::of(Operation::Read(Arc::new(operation)), principal)
    }

    fn of(operation: Operation, principal: Principal) -> Self {
        Self {
            operation,
            principal,
            answer: None,
            review: None,
            asked: None,
            progress: None,
            is_internal: false,
            stages: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentAnswer {
    pub state: String,
    pub verdict: Verdict,
}

/// Anything but a clear approval changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Agreed,
    Declined,
    /// There was no answer, or not in time.
    Unanswered,
    /// The user was not asked: too many questions are open.
    NotAsked {
        limit: usize,
    },
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallProgress {
    /// Long work is under way, by this many per cent.
    Working(u8),
    /// The change is known.
    Planned,
    /// All is done, the reply follows.
    Done,
}

/// The result of a call.
pub enum Outcome {
    Answered(ReadPayload),
    Refused(Refusal),
    /// The user has to be asked; then the same call is made again with the answer.
    Asked(Question),
    /// The change as it would be made, for the owner.
    Previewed(Box<ChangePreview>),
    /// There is no such tool: the client's mistake, not the model's.
    UnknownTool {
        nearest: Option<&'static str>,
    },
}

impl Outcome {
    /// The reply to a call of a tool, whether answer or refusal.
    pub fn rendered(self) -> Option<RenderedReply> {
        match self {
            Self::Answered(ReadPayload::Tool(rendered)) => Some(rendered),
            Self::Refused(refusal) => refusal.rendered,
            Self::Answered(_) | Self::Asked(_) | Self::Previewed(_) | Self::UnknownTool { .. } => None,
        }
    }

    /// The answer, or why there is none. Only tools can be unknown or lead to a question.
    pub fn answer(self) -> Result<ReadPayload, Reason> {
        match self {
            Self::Answered(payload) => Ok(payload),
            Self::Refused(refusal) => Err(refusal.reason),
            Self::Asked(_) | Self::Previewed(_) | Self::UnknownTool { .. } => {
                Err(lapidary_tools::bug!("a question where none is asked"))
            }
        }
    }
}

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub reason: Reason,
    /// In the form of the tool's family; other operations have their own.
    pub rendered: Option<RenderedReply>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is about to happen, for the user: the change itself, not the model's description.
    pub message: String,
    /// To be sent back with the answer.
    pub state: String,
}
