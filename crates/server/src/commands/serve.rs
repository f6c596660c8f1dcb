use std::{sync::Arc, time::Duration};

use lapidary_pipeline::Executor;

use super::{CommandFailure, CommandOutcome, SAVING, report};
use crate::{
    assemble::AssembledServer,
    config::{Config, Transport},
    http,
    instructions::policy_without_folders,
    stdio,
};

/// How long a change that is being written may take to finish when the server ends.
const LAST_CHANGES: Duration = Duration::from_secs(5);

pub(super) fn run(config: &Config, assembled: &AssembledServer) -> Result<CommandOutcome, CommandFailure> {
    let names: Vec<String> =
        assembled.vaults.iter().map(|vault| format!("{} ({})", vault.name, vault.path.display())).collect();
    // To say it takes a look at the rule files, which is made for somebody or not at all.
    if tracing::enabled!(tracing::Level::INFO) {
        let policy = policy_without_folders(&assembled.executor, assembled.executor.grant());
        tracing::info!("{} · {policy}", names.join(", "));
    }
    warn_of_rules_without_effect(&assembled.executor);
    // One connection needs one thread; HTTP gets one per core.
    let mut builder = match config.transport {
        Transport::Stdio => tokio::runtime::Builder::new_current_thread(),
        Transport::Http => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build().map_err(|error| CommandFailure::Serving(error.to_string()))?;
    let (executor, dotted) = (Arc::clone(&assembled.executor), config.tools.dotted_names);
    let ended = match config.transport {
        Transport::Stdio => runtime.block_on(stdio::serve(executor, dotted)),
        Transport::Http => runtime.block_on(http::serve(executor, dotted, &config.http, assembled.tokens.clone())),
    };
    assembled.executor.stop_changes(LAST_CHANGES);
    assembled.executor.save_indexes(SAVING);
    // Not waited for: a thread that reads a terminal or a dead disk never ends.
    runtime.shutdown_background();
    ended.map(|()| CommandOutcome::Well).map_err(CommandFailure::Serving)
}

/// Nobody waits for it: a large vault takes a while to look through.
fn warn_of_rules_without_effect(executor: &Arc<Executor>) {
    let executor = Arc::clone(executor);
    std::thread::spawn(move || {
        for rule in executor.rules_without_effect() {
            report::note(&format!("warning: {rule}"));
        }
    });
}
