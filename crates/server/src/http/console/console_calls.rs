//! How pages call tools: as the owner in a browser, the way of all other callers.

use lapidary_pipeline::{Invocation, Outcome, OwnerReview};
use lapidary_tools::RenderedReply;
use serde_json::{Map, Value};

use super::Console;
use crate::commands::local_time::LocalTime;

impl Console {
    pub(super) fn vault_names(&self) -> Vec<String> {
        self.0.executor.vaults().names(self.0.executor.grant())
    }

    /// A vault that is served; with only one, calls need not name it.
    pub(super) fn vault(&self, wanted: Option<&str>) -> Option<String> {
        let names = self.vault_names();
        // A name that is not served falls back to the first vault, so that old links still open a page.
        let wanted = wanted.and_then(|wanted| names.iter().find(|name| *name == wanted)).or_else(|| names.first());
        // With one vault the argument is left out: the schemas of tools then have no such argument.
        wanted.filter(|_| names.len() > 1).cloned()
    }

    /// The answer of a tool, or its refusal in words.
    pub(super) async fn call(&self, tool: &'static str, arguments: Value) -> Option<Result<Value, String>> {
        let invocation = Invocation::tool(tool, given(arguments), self.principal());
        let outcome = self.ask(move |executor| executor.run(&invocation, &executor.cancel(&invocation))).await?;
        let reply = outcome.rendered()?;
        // A refusal is not an error of the page; the page shows it in its place.
        Some(if reply.is_error { Err(words_of(&reply)) } else { Ok(Value::Object(reply.facts())) })
    }

    /// Plans a change for a page, or makes the one that the page has shown.
    pub(super) async fn call_reviewed(
        &self,
        tool: &'static str,
        arguments: Value,
        review: OwnerReview,
    ) -> Option<Outcome> {
        let mut invocation = Invocation::tool(tool, given(arguments), self.principal());
        // The executor then plans without asking, or commits only what has this digest.
        invocation.review = Some(review);
        self.ask(move |executor| executor.run(&invocation, &executor.cancel(&invocation))).await
    }

    pub(super) fn time(&self) -> LocalTime {
        LocalTime::at(self.0.clock.now())
    }
}

/// Without what is not there, which the schemas of tools do not allow.
pub(super) fn given(arguments: Value) -> Map<String, Value> {
    match arguments {
        Value::Object(arguments) => arguments.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    }
}

/// A refusal as a person reads it.
pub(super) fn words_of(reply: &RenderedReply) -> String {
    let words = reply.text().concat();
    words.strip_prefix("Error: ").unwrap_or(&words).to_owned()
}
