//! Prompts and what completes their arguments, from the same narrowed views as all calls.

use std::{sync::Arc, time::Instant};

use lapidary_note::ContentHash;
use lapidary_tools::{
    Cancel, Completion, Context, FilledPrompt, Prompt, Reason, Spent, complete_prompt, fill_prompt, prompts,
    prompts_mark,
};
use lapidary_vault::View;
use serde_json::{Map, Value};

use crate::{Caller, Pipeline, Request, ServedVault, audit::Outcome, clock::on_the_wall, door::Door, run::scope};

impl Pipeline {
    /// The prompts of all vaults. One that cannot be looked at has none, and the others have theirs.
    pub async fn prompts(self: &Arc<Self>) -> Vec<Prompt> {
        self.aside(|this, cancel| {
            let mut all = Vec::new();
            for served in this.setup.vaults.iter() {
                match this.looking(served, cancel, prompts) {
                    Ok(found) => all.extend(found),
                    Err(reason) => (this.setup.warn)(&format!(
                        "the prompts of the vault `{}` cannot be listed: {reason}",
                        served.vault.name()
                    )),
                }
            }
            Ok(all)
        })
        .await
        .unwrap_or_default()
    }

    /// The text of one. The log tells of it.
    pub async fn prompt(
        self: &Arc<Self>,
        caller: Caller,
        name: String,
        arguments: Map<String, Value>,
    ) -> Result<FilledPrompt, Reason> {
        self.aside(move |this, cancel| {
            let started = Instant::now();
            let tool = "prompts/get".to_owned();
            let mut line =
                this.line(&Request { tool, arguments: arguments.clone(), caller, answer: None, progress: None });
            let filled = this.vault_of_prompt(&name).and_then(|served| {
                line.vault = Some(served.vault.name().to_owned());
                this.looking(served, cancel, |context, view| fill_prompt(context, view, &name, &arguments))
            });
            line.outcome = filled.as_ref().err().map_or(Outcome::Ok, |reason| Outcome::Refused(reason.clone()));
            this.record(line, started, filled.as_ref().map_or(0, |filled| filled.text.len()));
            filled
        })
        .await
    }

    /// What an argument of one may be.
    pub async fn completions(
        self: &Arc<Self>,
        prompt: String,
        argument: String,
        typed: String,
    ) -> Result<Completion, Reason> {
        self.aside(move |this, cancel| {
            let served = this.vault_of_prompt(&prompt)?;
            this.looking(served, cancel, |context, view| complete_prompt(context, view, &prompt, &argument, &typed))
        })
        .await
    }

    /// What tells one state of all prompts from another, without reading them.
    pub async fn prompts_mark(self: &Arc<Self>) -> Option<ContentHash> {
        self.aside(|this, cancel| {
            // A vault that is gone for a while has no state, and no news either.
            let marks = this.setup.vaults.iter().map(|served| this.looking(served, cancel, prompts_mark));
            let marks: Vec<String> = marks.map(|mark| format!("{mark:?}")).collect();
            Ok(ContentHash::of(marks.concat().as_bytes()))
        })
        .await
        .ok()
    }

    /// Work that may wait for the disk, on a thread of its own.
    async fn aside<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Cancel) -> Result<T, Reason> + Send + 'static,
    ) -> Result<T, Reason> {
        let this = Arc::clone(self);
        let cancel = Cancel::after(self.setup.limits.deadline);
        let done = tokio::task::spawn_blocking(move || work(&this, &cancel)).await;
        done.unwrap_or(Err(Reason::Internal))
    }

    fn looking<T>(
        &self,
        served: &ServedVault,
        cancel: &Cancel,
        look: impl FnOnce(&Context<'_>, &View) -> Result<T, Reason>,
    ) -> Result<T, Reason> {
        let scope = scope(self, served)?;
        let view = served.vault.view(Arc::clone(&scope), self.setup.limits.max_file_bytes);
        let caller = Caller { id: String::new(), one_client: false, can_ask: false };
        let (vaults, spent) = (self.setup.vaults.names(), Spent::default());
        let gate = Door::new(self, &caller);
        let context = Context {
            cancel,
            catalogue: &self.setup.catalogue,
            vaults: &vaults,
            scan: self.setup.limits.scan,
            now: on_the_wall(self.setup.clock.now()),
            gate: &gate,
            spent: &spent,
        };
        look(&context, &view)
    }

    /// The vault whose name a prompt's begins with.
    fn vault_of_prompt(&self, name: &str) -> Result<&ServedVault, Reason> {
        let of =
            |served: &&ServedVault| name.strip_prefix(served.vault.name()).is_some_and(|rest| rest.starts_with('/'));
        let unknown = || Reason::PromptUnknown { name: lapidary_tools::clipped(name), nearest: None };
        self.setup.vaults.iter().filter(of).max_by_key(|served| served.vault.name().len()).ok_or_else(unknown)
    }
}
