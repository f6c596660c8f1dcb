//! Other MCP servers as tools and the executor see them: what they offer, and calls of their tools. Who reaches them, and how,
//! is not known here.

use std::{cell::RefCell, rc::Rc, sync::Arc, time::Duration};

use lapidary_note::ContentHash;
use serde_json::{Map, Value};

use crate::{Cancel, ContentBlock, Effect, Reason, quote::quoted};

/// What the servers that the owner configured say of themselves. All of it is foreign text, within limits.
pub trait ServerFacts: Send + Sync {
    /// Those that are configured, in the owner's order. Asks none of them.
    fn servers(&self) -> Vec<KnownServer>;
    /// What the owner says of a tool, whether or not the server has it: nothing if no such server is configured. Asks none.
    fn standing(&self, server: &str, tool: &str) -> Option<ServerToolStanding>;
    /// What a server offers, as far as the owner allows it. It is started or asked if its list is not known.
    fn tools(&self, server: &str, within: Duration) -> Result<Arc<ToolOffer>, ServerFault>;
}

/// The other servers. Tools only see their facts; calling is up to the executor.
pub trait OtherServers: ServerFacts {
    /// Calls once: what may have happened is not tried again. `is_wanted` says whether anyone still waits for the reply.
    fn call(&self, call: &ServerCall, within: Duration, is_wanted: &dyn Fn() -> bool) -> CallResult;
    /// Ends all programs that were started, and takes no more calls.
    fn stop(&self);
}

/// A server that the owner configured.
#[derive(Clone, Debug)]
pub struct KnownServer {
    pub name: String,
    /// What it is for, in the owner's words.
    pub about: Option<String>,
    /// What it offered when it was last asked, if that is known and not too long ago.
    pub offer: Option<Arc<ToolOffer>>,
}

/// The tools of one server that may be called.
#[derive(Debug, Default, PartialEq)]
pub struct ToolOffer {
    pub tools: Vec<ServerTool>,
    /// Tools that are too many, or have a name that cannot be shown as it is.
    pub left_out: usize,
}

impl ToolOffer {
    pub fn named(&self, name: &str) -> Option<&ServerTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// A tool of another server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerTool {
    /// Letters, digits and `_ - . /`, so that it cannot be mistaken for anything else.
    pub name: String,
    pub description: String,
    /// `None` if it is too large to be kept.
    pub input: Option<Map<String, Value>>,
    /// By what the owner says of it, never by what it says of itself.
    pub standing: ServerToolStanding,
}

/// What the owner says of a tool of another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerToolStanding {
    /// Whether it changes nothing anywhere.
    pub only_reads: bool,
    /// Whether a person is asked before a call, unless a rule about this tool says otherwise.
    pub is_asked: bool,
}

impl ServerToolStanding {
    /// A tool that is not trusted to only read may do anything.
    pub fn effect(self) -> Effect {
        if self.only_reads { Effect::Read } else { Effect::Destroy }
    }
}

/// A name, or a pattern in which `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern(String);

impl NamePattern {
    /// `None` if no name could match it.
    pub fn parse(written: &str) -> Option<Self> {
        let is_plain = |c: char| is_of_name(c) || c == '*';
        (!written.is_empty() && written.len() <= LOGGED_NAME && written.chars().all(is_plain))
            .then(|| Self(written.to_owned()))
    }

    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
        // Without a `*`, the pattern is a whole name.
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        for part in parts {
            // The first place leaves most for the parts behind it.
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last)
    }
}

/// Whether a name of a tool may have this character.
pub fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

/// A call of a tool of another server: an effect outside of the vault that no undo takes back.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerCall {
    pub server: String,
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub standing: ServerToolStanding,
}

/// A call as its caller named it, before anything is known of the tool.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCall {
    pub server: String,
    pub tool: String,
    pub arguments: Map<String, Value>,
}

impl NamedCall {
    pub fn with(self, standing: ServerToolStanding) -> ServerCall {
        let Self { server, tool, arguments } = self;
        ServerCall { server, tool, arguments, standing }
    }
}

impl ServerCall {
    /// As rules and the log name it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.server, self.tool)
    }

    /// The arguments as they are sent, in one line.
    pub fn shown_arguments(&self) -> String {
        Value::Object(self.arguments.clone()).to_string()
    }

    /// Identifies it: an approval is for exactly this one.
    pub(crate) fn digest(&self, changes: ContentHash) -> ContentHash {
        let Self { server, tool, .. } = self;
        ContentHash::of(format!("{changes}\ncall {server}/{tool} {}", self.shown_arguments()).as_bytes())
    }

    /// Completes "… wants to".
    pub(crate) fn in_words(&self) -> String {
        format!("call the tool {} of the server {}", quoted(&self.tool), quoted(&self.server))
    }
}

/// What a tool of another server answered, within limits. All of it is foreign.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerReply {
    pub text: String,
    pub structured: Option<Value>,
    pub blocks: Vec<ContentBlock>,
    /// The tool says that it failed.
    pub has_failed: bool,
    /// How many bytes of text are missing at the end.
    pub cut: usize,
    /// Parts that were too large or of an unknown kind.
    pub left_out: usize,
}

/// Why another server did not answer. Nothing of what it said is kept, nor anything of its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerFault {
    /// No server of this name is configured.
    Unknown {
        known: Vec<String>,
    },
    /// It has no such tool, or the owner does not allow it.
    NoSuchTool {
        nearest: Vec<String>,
    },
    /// Its program cannot be started.
    NotStarted,
    /// Its program has ended.
    Ended,
    /// It ended too often in a row, so it is left alone for a while.
    Resting {
        seconds: u64,
    },
    /// Its answer is not one of MCP.
    NotMcp,
    /// It sent more than it may.
    TooMuch {
        limit: usize,
    },
    /// It sent more than it may of what no one had asked for.
    Flood {
        limit: usize,
        seconds: u64,
    },
    /// It answered with an error of the protocol.
    Refused {
        code: i64,
    },
    TimedOut,
    /// The caller no longer waits, and the server was told so.
    TakenBack,
    Unreachable,
    /// The address sends to another, which is never followed.
    Redirected,
    Status {
        status: u16,
    },
    /// As many calls of other servers are under way as may be.
    Busy,
}

/// What another server answered to a call, or why it did not.
pub type CallResult = Result<ServerReply, FailedCall>;

/// A call that was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCall {
    pub fault: ServerFault,
    /// The server was told to act, and may have done so.
    pub is_sent: bool,
}

impl FailedCall {
    /// The call did not reach the server.
    pub fn unsent(fault: ServerFault) -> Self {
        Self { fault, is_sent: false }
    }

    pub fn into_reason(self, server: &str) -> Reason {
        let Self { fault, is_sent } = self;
        Reason::ServerFailed { server: server.to_owned(), fault, may_have_acted: is_sent }
    }
}

/// What one call has of the other servers. It remembers which of their tools were asked for: the log has them.
pub struct ServerRequests<'a> {
    facts: &'a dyn ServerFacts,
    asked: Rc<AskedTools>,
}

/// The tools of other servers that one call asked for. A call is planned on one thread.
#[derive(Debug, Default)]
pub struct AskedTools(RefCell<Vec<String>>);

/// A name in the log has at most this many characters.
const LOGGED_NAME: usize = 200;

impl AskedTools {
    pub fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    fn note(&self, asked: &str) {
        // A plan that is made again asks for the same.
        let mut all = self.0.borrow_mut();
        if !all.iter().any(|known| known == asked) {
            all.push(asked.chars().take(LOGGED_NAME).collect());
        }
    }
}

impl<'a> ServerRequests<'a> {
    pub fn new(facts: &'a dyn ServerFacts, asked: Rc<AskedTools>) -> Self {
        Self { facts, asked }
    }

    pub fn servers(&self) -> Vec<KnownServer> {
        self.facts.servers()
    }

    /// What a server offers.
    pub fn tools(&self, server: &str, cancel: &Cancel) -> Result<Arc<ToolOffer>, Reason> {
        self.asked.note(server);
        self.offer(server, cancel)
    }

    /// One tool of a server.
    pub fn tool(&self, server: &str, name: &str, cancel: &Cancel) -> Result<ServerTool, Reason> {
        // Before the server is asked, so that the log also has what was refused.
        self.asked.note(&format!("{server}/{name}"));
        let offer = self.offer(server, cancel)?;
        offer.named(name).cloned().ok_or_else(|| {
            let nearest = lapidary_query::nearest(name, offer.tools.iter().map(|tool| tool.name.as_str()));
            let fault = ServerFault::NoSuchTool { nearest: nearest.map(str::to_owned).into_iter().collect() };
            FailedCall::unsent(fault).into_reason(server)
        })
    }

    fn offer(&self, server: &str, cancel: &Cancel) -> Result<Arc<ToolOffer>, Reason> {
        // Asking may start a program, which a call that has ended must not do.
        cancel.check()?;
        let asked = self.facts.tools(server, cancel.left());
        asked.map_err(|fault| FailedCall::unsent(fault).into_reason(server))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let matches = |pattern: &str, name: &str| NamePattern::parse(pattern).unwrap().matches(name);
        for (pattern, name) in
            [("*", ""), ("*", "a"), ("read_*", "read_file"), ("*_file", "read_file"), ("a*b*c", "abbc"), ("a", "a")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("read_*", "write"), ("a", "ab"), ("a*a", "a"), ("*b*c", "acb"), ("fs/*", "git/x")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        for odd in ["", "a b", "tool\u{202e}", &"x".repeat(300)] {
            assert_eq!(NamePattern::parse(odd), None);
        }
    }
}
