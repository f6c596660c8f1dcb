use std::sync::Arc;

use lapidary_tools::{Profile, Rendered};
use serde_json::{Map, Value};

/// One call as it reaches the pipeline, over whatever transport.
#[derive(Clone)]
pub struct Request {
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub caller: Caller,
    /// What a person said to the question of an earlier reply to the same call.
    pub answer: Option<Answer>,
    pub progress: Option<Arc<dyn Fn(Stage) + Send + Sync>>,
}

/// Who is calling.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Stable for one client as long as it stays connected; stands in the log.
    pub id: String,
    /// Who that is when it comes back, as far as anybody can tell: the name of its token, or how it is connected.
    pub known_as: String,
    /// Whether the id stands for one client. Without sessions nobody knows who else calls under the same name.
    pub one_client: bool,
    /// Whether a person can be asked through this client.
    pub can_ask: bool,
    /// What the owner lets it use.
    pub profile: Arc<Profile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub state: String,
    pub verdict: Verdict,
}

/// Anything but a clear yes changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Agreed,
    Declined,
    /// Nobody answered, or not in time.
    Unanswered,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// What would change is known.
    Planned,
    /// All is done, the reply follows.
    Done,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Done(Rendered),
    /// A person has to be asked; then the same call is made again with the answer.
    Ask(Question),
    /// There is no such tool: the client's mistake, not the model's.
    NoSuchTool {
        nearest: Option<&'static str>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is about to happen, for the person: the change itself, not the model's words about it.
    pub message: String,
    /// To be sent back with the answer.
    pub state: String,
}
