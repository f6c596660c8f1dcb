//! What the owner can choose on the consent page, what is chosen at first, and what a filled-in form means.

use lapidary_auth::{AuthorizationRequest, ConsentGiven, FormParameters, TokenLifetime, TokenRights, UnixSeconds};
use lapidary_tools::Effect;
use lapidary_vault::PathPrefix;

use crate::grants::GrantMaker;

/// How long a grant may last, as the form and people write it. A year is the longest.
pub(super) const LIFETIMES: [(&str, &str); 5] =
    [("1d", "one day"), ("1w", "one week"), ("30d", "30 days"), ("90d", "90 days"), ("1y", "one year")];
const USUAL_LIFETIME: &str = "90d";
/// The names of checkboxes for vaults begin like this.
pub(super) const VAULT: &str = "vault.";
const MOST_FOLDERS: usize = 100;

/// What there is to choose from.
pub(super) struct ConsentOffer {
    /// With the strongest effect of each. Those that are stronger than what was asked for would give nothing more.
    pub(super) profiles: Vec<(String, Effect)>,
    pub(super) vaults: Vec<String>,
    usual_profile: String,
}

/// What is chosen.
pub(super) struct ConsentChoice {
    pub(super) profile: String,
    pub(super) vaults: Vec<String>,
    /// As typed: one in each line, or with commas between them.
    pub(super) folders: String,
    pub(super) read_only: bool,
    pub(super) lifetime: String,
}

/// The strongest effect that a request asks for.
pub(super) fn asked_effect(request: &AuthorizationRequest) -> Effect {
    let asks = |scope: &str| request.scopes.iter().any(|asked| asked == scope);
    match () {
        () if asks("vault:destroy") => Effect::Destroy,
        () if asks("vault:write") => Effect::Write,
        () => Effect::Read,
    }
}

impl ConsentOffer {
    pub(super) fn new(grants: &GrantMaker, request: &AuthorizationRequest) -> Self {
        let asked = asked_effect(request);
        let profiles: Vec<(String, Effect)> =
            // A profile beyond what was asked for would give the client nothing, because scopes narrow it again.
            grants.profiles().into_iter().filter(|(_, most)| *most <= asked).collect();
        let is_offered = |name: &str| profiles.iter().any(|(offered, _)| offered == name);
        let of_request = match asked {
            Effect::Read => "reader",
            Effect::Write => "editor",
            Effect::Destroy => "curator",
        };
        // The smaller of what is asked for and of what the owner gives to everyone.
        let own = grants.default_profile();
        let usual_profile = if is_offered(own) { own } else { of_request }.to_owned();
        Self { profiles, vaults: grants.vaults().to_vec(), usual_profile }
    }

    pub(super) fn usual(&self) -> ConsentChoice {
        ConsentChoice {
            profile: self.usual_profile.clone(),
            vaults: self.vaults.clone(),
            folders: String::new(),
            read_only: false,
            lifetime: USUAL_LIFETIME.to_owned(),
        }
    }

    pub(super) fn chosen(&self, form: &FormParameters) -> ConsentChoice {
        // By the vaults that exist, so a form cannot name another.
        let is_chosen = |vault: &&String| form.named(VAULT).any(|chosen| chosen == vault.as_str());
        ConsentChoice {
            profile: form.get("profile").unwrap_or_default().to_owned(),
            vaults: self.vaults.iter().filter(is_chosen).cloned().collect(),
            folders: form.get("folders").unwrap_or_default().to_owned(),
            read_only: form.get("read_only").is_some(),
            lifetime: form.get("lifetime").unwrap_or_default().to_owned(),
        }
    }

    /// What a choice means, or what is wrong with it.
    pub(super) fn given(
        &self,
        choice: &ConsentChoice,
        request: &AuthorizationRequest,
        now: UnixSeconds,
    ) -> Result<ConsentGiven, String> {
        let profile = self.profiles.iter().find(|(name, _)| *name == choice.profile);
        let (profile, most) = profile.ok_or("Choose what it may do.")?;
        if choice.vaults.is_empty() {
            return Err("Choose at least one vault.".to_owned());
        }
        let folders = choice.folders.split(['\n', ',']).map(str::trim).filter(|folder| !folder.is_empty());
        let folders: Vec<String> = folders.map(str::to_owned).collect();
        if folders.len() > MOST_FOLDERS {
            return Err(format!("Write at most {MOST_FOLDERS} folders."));
        }
        for folder in &folders {
            // Checked while the owner looks at the form: later it would only be a token that does not work.
            PathPrefix::parse(folder).map_err(|error| format!("{folder}: {error}"))?;
        }
        let lifetime = LIFETIMES.iter().find(|(word, _)| *word == choice.lifetime).map(|(word, _)| word.parse());
        let Some(lasts_until) = lifetime.and_then(|life: Result<TokenLifetime, _>| life.ok()?.end(now)) else {
            return Err("Choose for how long.".to_owned());
        };
        // `read_only` wins over the profile, also in what the client is told that it got.
        let most = if choice.read_only { Effect::Read } else { *most };
        let is_within = |scope: &&String| match scope.as_str() {
            "vault:destroy" => most >= Effect::Destroy,
            "vault:write" => most >= Effect::Write,
            _ => true,
        };
        let rights = TokenRights {
            profile: Some(profile.clone()),
            // Named, so that a vault that is served later is not granted by this.
            vaults: Some(choice.vaults.clone()),
            read_paths: (!folders.is_empty()).then_some(folders),
            write_paths: None,
            read_only: choice.read_only,
            scopes: None,
        };
        Ok(ConsentGiven { rights, scopes: request.scopes.iter().filter(is_within).cloned().collect(), lasts_until })
    }
}
