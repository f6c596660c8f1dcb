//! In whose place the owner looks at the server: their own, that of a profile, or that of a known client.

use std::sync::Arc;

use lapidary_auth::{GrantRecord, TokenRights};
use lapidary_console::{CallerChoice, ShownText};
use lapidary_pipeline::Grant;

use super::Console;
use crate::http::KnownClient;

/// What the form sends for the owner.
pub(super) const OWNER: &str = "owner";

/// A caller whose grant is known here.
pub(super) struct ChosenCaller {
    pub(super) key: String,
    pub(super) label: String,
    pub(super) grant: Arc<Grant>,
    /// The name under which it makes changes; one without a name has made none.
    pub(super) name: Option<String>,
}

impl ChosenCaller {
    pub(super) fn is_owner(&self) -> bool {
        self.key == OWNER
    }
}

impl Console {
    /// Everyone in whose place calls can be looked at, the owner first. Clients that nothing is served to are left out.
    pub(super) async fn callers(&self) -> Vec<ChosenCaller> {
        let console = self.clone();
        // The tokens are in a database, which may wait for a disk.
        let found = tokio::task::spawn_blocking(move || console.all_callers()).await;
        // Only a runtime that ends does not answer.
        found.unwrap_or_default()
    }

    fn all_callers(&self) -> Vec<ChosenCaller> {
        let (executor, owner) = (&self.0.executor, &self.0.owner);
        let mut callers = vec![ChosenCaller {
            key: OWNER.to_owned(),
            label: "yourself".to_owned(),
            grant: Arc::clone(executor.grant()),
            name: None,
        }];
        let mut add = |kind: &str, name: &str, label: String, grant: Option<Arc<Grant>>| {
            // Known names are those under which changes are recorded, so `undo` finds them.
            let client = match kind {
                "profile" => None,
                "configured" => Some(name.to_owned()),
                _ => Some(KnownClient::name_of(name)),
            };
            callers.extend(grant.map(|grant| ChosenCaller {
                key: format!("{kind}:{name}"),
                label,
                grant,
                name: client,
            }));
        };
        let granted = |rights: &TokenRights| owner.grants.grant(rights).ok();
        for (name, _) in owner.grants.profiles() {
            // The rights that a new token with this profile would have.
            let rights = TokenRights { profile: Some(name.clone()), ..TokenRights::default() };
            add("profile", &name, format!("a client with the profile {name}"), granted(&rights));
        }
        for configured in &owner.configured {
            let name = &configured.client.name;
            add("configured", name, format!("the client {name}"), Some(Arc::clone(&configured.client.grant)));
        }
        let now = self.0.clock.now().into();
        // A store that cannot be read is reported on the page about clients.
        for token in owner.auth.tokens().unwrap_or_default().into_iter().filter(|token| token.is_live(now)) {
            add("token", &token.name, format!("the token {}", token.name), granted(&token.rights));
        }
        for given in owner.auth.grants().unwrap_or_default().into_iter().filter(|given| given.is_live(now)) {
            let scopes = Some(given.scope.split_whitespace().map(str::to_owned).collect());
            let name = GrantRecord::name_of(given.id);
            let label = format!("{} ({name})", given.client_name);
            add("grant", &name, label, granted(&TokenRights { scopes, ..given.rights }));
        }
        callers
    }
}

/// The one that a form names; the owner, if it names none. One that is not known any more is not found: its call must not be made
/// as the owner's.
pub(super) fn chosen<'c>(callers: &'c [ChosenCaller], key: Option<&str>) -> Option<&'c ChosenCaller> {
    match key.filter(|key| !key.is_empty()) {
        None => callers.first(),
        Some(key) => callers.iter().find(|caller| caller.key == key),
    }
}

pub(super) fn choices(callers: &[ChosenCaller], chosen: &str) -> Vec<CallerChoice> {
    let choice = |caller: &ChosenCaller| CallerChoice {
        key: caller.key.clone(),
        label: ShownText::line(&caller.label),
        is_chosen: caller.key == chosen,
    };
    callers.iter().map(choice).collect()
}
