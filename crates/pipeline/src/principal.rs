//! Who is calling, and what the owner lets it use.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
};

use lapidary_note::ContentHash;
use lapidary_tools::{ChangeAuthor, ProfileView};
use lapidary_vault::Policy;
use tokio::sync::watch;

/// The caller. Each transport creates one in exactly one function.
#[derive(Clone, Debug)]
pub struct Principal {
    /// Stable for one client while it is connected; in the log.
    pub id: String,
    /// Its identity across connections, as far as known: the name of its token, or its kind of connection.
    pub name: String,
    /// What the owner lets it use.
    pub grant: Arc<Grant>,
    /// Whether the user can be asked through this client.
    pub can_be_asked: bool,
    /// Distinguishes callers with the same name: the results of one are not given to another.
    pub caller: Caller,
    /// Whether the id belongs to a single client. Without sessions, other clients may use the same name.
    pub is_single_client: bool,
    /// What its changes are recorded under.
    pub author: ChangeAuthor,
    /// Asked again before anything is changed: a token may be revoked while its call runs.
    pub standing: CallerStanding,
}

/// Whether a caller still is who it was when its call came in.
#[derive(Clone, Default)]
pub struct CallerStanding(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl CallerStanding {
    /// Of a caller whose right to call can end.
    pub fn asked_of(holds: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(holds)))
    }

    pub fn holds(&self) -> bool {
        self.0.as_ref().is_none_or(|holds| holds())
    }
}

impl fmt::Debug for CallerStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "can end" } else { "stays" })
    }
}

/// What the owner grants a caller that is known by name, as of the moment of asking; `None` if there is none of that name, or
/// no longer.
#[derive(Clone)]
pub struct GrantLookup(Arc<GrantOfName>);

type GrantOfName = dyn Fn(&str) -> Option<Arc<Grant>> + Send + Sync;

impl GrantLookup {
    pub fn new(find: impl Fn(&str) -> Option<Arc<Grant>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    pub(crate) fn find(&self, name: &str) -> Option<Arc<Grant>> {
        (self.0)(name)
    }
}

/// Distinguishes callers of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A session, a process, or the person at the command line: callers with this key are the same.
    Known(ContentHash),
    /// Nothing distinguishes it from others. It gets a handle with a pending request, and presents that again.
    Unknown,
}

impl Caller {
    /// From something that only this caller has: the id of a session, the name of a process.
    pub fn of(secret: &str) -> Self {
        Self::Known(ContentHash::of(secret.as_bytes()))
    }

    /// Tells it from others where all can read it; the key itself cannot be found from that.
    pub fn mark(&self) -> String {
        const DIGITS: usize = 8;
        let Self::Known(key) = self else { return String::new() };
        let mark = ContentHash::of(key.as_bytes()).to_string();
        mark.trim_start_matches("sha256:").chars().take(DIGITS).collect()
    }
}

impl Principal {
    /// The names of anonymous callers, by their kind of connection. All others are known by name, and each has its own
    /// grant.
    pub const STDIO: &str = "stdio";
    pub const HTTP: &str = "http";
    pub const COMMAND_LINE: &str = "cli";
    /// The owner in a browser.
    pub const CONSOLE: &str = "console";

    /// A program with the key of the REST API.
    pub const REST: &str = "rest";

    pub(crate) fn is_anonymous(name: &str) -> bool {
        [Self::STDIO, Self::HTTP, Self::COMMAND_LINE, Self::CONSOLE, Self::REST].contains(&name)
    }

    pub fn profile(&self) -> &ProfileView {
        &self.grant.profile
    }

    /// What the log and the owner call it: the same as its changes are recorded under. The id of a connection stays the
    /// same whatever the program at its other end calls itself.
    pub(crate) fn label(&self) -> &str {
        if self.is_single_client && Self::is_anonymous(&self.name) { self.author.client() } else { &self.id }
    }

    /// Whose calls share one part of the lanes: all of a known name, or those of one connection.
    pub(crate) fn client(&self) -> &str {
        if Self::is_anonymous(&self.name) { &self.id } else { &self.name }
    }
}

/// What the owner lets a caller use of the server's tools. Chosen by the owner at startup, never by a call.
#[derive(Clone, Debug)]
pub struct Grant {
    pub profile: Arc<ProfileView>,
    /// Which parts of a vault may be read and changed, within the server's own policy; `None` means all of that.
    pub paths: Option<Arc<Policy>>,
    /// The policy of the server that was asked, where the call is carried out in another process with another one. Both have to
    /// open a path.
    pub asked: Option<Arc<Policy>>,
    /// The vaults it may use; `None` means all. Without a grant, a vault does not exist.
    pub vaults: Option<Vec<String>>,
    /// Each grant has its own list of prompts: news of hidden ones would reveal them.
    pub prompt_news: Arc<PromptNews>,
}

/// Notifies subscribers that the list of prompts has changed.
#[derive(Debug, Default)]
pub struct PromptNews {
    pub changed: watch::Sender<()>,
    /// Whether the notes with prompts are being checked.
    pub is_watched: AtomicBool,
}

impl Grant {
    /// Everything that a profile allows, in all vaults.
    pub fn of(profile: Arc<ProfileView>) -> Self {
        Self { profile, paths: None, asked: None, vaults: None, prompt_news: Arc::default() }
    }

    pub(crate) fn shows(&self, vault: &str) -> bool {
        self.vaults.as_ref().is_none_or(|vaults| vaults.iter().any(|name| name == vault))
    }
}
