use std::sync::Arc;

use lapidary_note::ContentHash;
use lapidary_tools::{ChangeAuthor, ProfileView};
use lapidary_vault::Policy;

/// Who is calling. Each transport makes one in exactly one function.
#[derive(Clone, Debug)]
pub struct Principal {
    /// Stable for one client as long as it stays connected; in the log.
    pub id: String,
    /// Who that is when it comes back, as far as anything can tell: the name of its token, or how it is connected.
    pub name: String,
    /// What the owner lets it use.
    pub grant: Arc<Grant>,
    /// Whether a person can be asked through this client.
    pub can_be_asked: bool,
    /// Which of those who go by this name it is: what one of them asked for is told to no other.
    pub caller: Caller,
    /// Whether the id stands for one client. Without sessions nothing tells who else calls under the same name.
    pub is_single_client: bool,
    /// What its changes are recorded under.
    pub author: ChangeAuthor,
}

/// Tells callers of one name apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A session, a process, or the person at the command line: whoever comes with this key is the same.
    Known(ContentHash),
    /// Nothing tells it from others. With a question that waits it is given a handle, and presents that again.
    Unknown,
}

impl Caller {
    /// Of what only this caller has: the id of a session, the name of a process.
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
    /// The names of callers who present nothing that tells who they are, by how they are connected. All others are known
    /// by name, and each has a grant of its own.
    pub const STDIO: &str = "stdio";
    pub const HTTP: &str = "http";
    pub const COMMAND_LINE: &str = "cli";

    pub(crate) fn is_anonymous(name: &str) -> bool {
        [Self::STDIO, Self::HTTP, Self::COMMAND_LINE].contains(&name)
    }

    pub fn profile(&self) -> &ProfileView {
        &self.grant.profile
    }
}

/// What the owner lets somebody use of what the server offers. Chosen by the owner at start, never by a call.
#[derive(Clone, Debug)]
pub struct Grant {
    pub profile: Arc<ProfileView>,
    /// What of a vault may be read and changed, within what the server's own policy opens; `None` is all of that.
    pub paths: Option<Arc<Policy>>,
    /// The vaults that there are for it; `None` is all. To whom it is not granted, a vault does not exist.
    pub vaults: Option<Vec<String>>,
}

impl Grant {
    /// Everything that a profile allows, in all vaults.
    pub fn of(profile: Arc<ProfileView>) -> Self {
        Self { profile, paths: None, vaults: None }
    }

    pub(crate) fn shows(&self, vault: &str) -> bool {
        self.vaults.as_ref().is_none_or(|vaults| vaults.iter().any(|name| name == vault))
    }
}
