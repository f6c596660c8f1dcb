//! Prompts and what completes their arguments, by the path of all who only look.

use std::sync::Arc;

use lapidary_note::ContentHash;
use lapidary_tools::{
    Completed, FilledPrompt, Group, Prompt, Reason, complete_prompt, fill_prompt, prompts, prompts_mark,
};
use serde_json::{Map, Value, json};

use crate::{Caller, Pipeline, ServedVault, looking::Look};

/// The prompts at the last look.
#[derive(Clone, Debug, Default)]
pub struct SeenPrompts {
    mark: Option<ContentHash>,
    list: Vec<Prompt>,
}

impl Pipeline {
    /// The prompts of all vaults.
    pub async fn prompts(
        self: &Arc<Self>,
        caller: Caller,
        taken_back: impl Future<Output = ()>,
    ) -> Result<Vec<Prompt>, Reason> {
        self.look("prompts/list", Map::new(), caller, taken_back, |look| {
            look.may(Group::Vault)?;
            Ok(look.prompts())
        })
        .await
    }

    /// The text of one.
    pub async fn prompt(
        self: &Arc<Self>,
        name: String,
        arguments: Map<String, Value>,
        caller: Caller,
        taken_back: impl Future<Output = ()>,
    ) -> Result<FilledPrompt, Reason> {
        self.look("prompts/get", arguments.clone(), caller, taken_back, move |look| {
            look.may(Group::Read)?;
            let view = look.view(Some(vault_of(look.pipeline, &name)?))?;
            let filled = look.with_context(|context| fill_prompt(context, &view, &name, &arguments))?;
            look.line.reply_bytes = filled.text.len();
            look.fits(filled.text.len())?;
            Ok(filled)
        })
        .await
    }

    /// What an argument of one may be.
    pub async fn complete_prompt(
        self: &Arc<Self>,
        prompt: String,
        argument: String,
        typed: String,
        caller: Caller,
        taken_back: impl Future<Output = ()>,
    ) -> Result<Completed, Reason> {
        let arguments = Map::from_iter([(argument.clone(), json!(typed))]);
        self.look("completion/complete", arguments, caller, taken_back, move |look| {
            look.may(Group::Vault)?;
            let view = look.view(Some(vault_of(look.pipeline, &prompt)?))?;
            look.with_context(|context| complete_prompt(context, &view, &prompt, &argument, &typed))
        })
        .await
    }

    /// Whether the list is another than at the last look. Not recorded, as nothing is told but that.
    pub fn has_new_prompts(&self, seen: &mut SeenPrompts) -> bool {
        self.unrecorded("prompts/list", |look| {
            let mark = look.prompts_mark();
            if seen.mark == Some(mark) {
                return false;
            }
            let known = seen.mark.replace(mark).is_some();
            let before = std::mem::replace(&mut seen.list, look.prompts());
            // An edit of the text alone is no change of the list.
            known && before != seen.list
        })
    }
}

impl Look<'_> {
    /// A vault that cannot be looked at has none, and the others have theirs.
    fn prompts(&mut self) -> Vec<Prompt> {
        let mut all = Vec::new();
        for name in self.pipeline.setup.vaults.names() {
            let found = self.view(Some(&name)).and_then(|view| self.with_context(|context| prompts(context, &view)));
            match found {
                Ok(found) => all.extend(found),
                Err(reason) => {
                    let reason = reason.kind().wire_code().id;
                    tracing::warn!(vault = name, reason, "the prompts of a vault cannot be listed");
                }
            }
        }
        all
    }

    /// What tells one state of all prompts from another, without reading them. A vault that is gone for a while has a
    /// state of its own.
    fn prompts_mark(&mut self) -> ContentHash {
        let mut marks = String::new();
        for name in self.pipeline.setup.vaults.names() {
            let view = self.view(Some(&name));
            let mark = view.and_then(|view| self.with_context(|context| prompts_mark(context, &view)));
            marks += &format!("{mark:?}");
        }
        ContentHash::of(marks.as_bytes())
    }
}

/// The vault whose name a prompt's begins with.
fn vault_of<'a>(pipeline: &'a Pipeline, name: &str) -> Result<&'a str, Reason> {
    let of = |served: &&ServedVault| name.strip_prefix(served.vault.name()).is_some_and(|rest| rest.starts_with('/'));
    let unknown = || Reason::PromptUnknown { name: lapidary_tools::clipped(name), nearest: None };
    let found = pipeline.setup.vaults.iter().filter(of).max_by_key(|served| served.vault.name().len());
    found.map(|served| served.vault.name()).ok_or_else(unknown)
}
