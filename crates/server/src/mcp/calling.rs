//! From a request to the executor and back.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use lapidary_pipeline::{CallProgress, Invocation, Operation, Outcome, Refusal};
use lapidary_telemetry::TraceParent;
use lapidary_tools::{OfferedTools, ProfileView, ReadOperation, ReadPayload, Reason, WireFamily, bug, render_refusal};
use rmcp::{
    RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use tokio::{sync::mpsc, time::Interval};

use super::{McpServer, service_error};

/// How often a client that requested progress is told about an index that is being built.
const LOOK_AT_INDEX: Duration = Duration::from_millis(100);

impl McpServer {
    /// Answers a request other than a tool call.
    pub(super) async fn read(
        &self,
        operation: impl ReadOperation + 'static,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadPayload, Reason> {
        let invocation = Invocation::read(operation, self.principal(context));
        self.execute(invocation, context, &mut None).await.answer()
    }

    /// Runs an operation in a separate task, so that it ends and is logged even if the client disconnects.
    ///
    /// A call that is made twice, before and after a question, is one to the client: `reached` is its progress.
    ///
    /// Boxed: every request is a task that is copied several times before it runs, and this is most of its size.
    pub(super) fn execute<'a>(
        &'a self,
        mut invocation: Invocation,
        context: &'a RequestContext<RoleServer>,
        reached: &'a mut Option<CallProgress>,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let executor = Arc::clone(&self.shared.executor);
            let cancel = executor.cancel(&invocation);
            let measured = self.shared.telemetry.begin(&mut invocation, || trace_parent(context));
            let grant = Arc::clone(&invocation.principal.grant);
            let is_tool = matches!(invocation.operation, Operation::Tool { .. });
            let token = context.meta.get_progress_token().filter(|_| is_tool);
            let mut news = token.as_ref().map(|_| {
                let (sender, stages) = mpsc::unbounded_channel();
                invocation.progress = Some(Arc::new(move |stage| {
                    // A dropped receiver has no use for progress.
                    sender.send(stage).unwrap_or_default();
                }));
                (stages, tokio::time::interval(LOOK_AT_INDEX))
            });
            let mut task = {
                let cancel = Arc::clone(&cancel);
                // Spawned, because the library drops the future of a request when its client is gone.
                tokio::spawn(async move { executor.execute(invocation, cancel).await })
            };
            let mut stop = std::pin::pin!(context.ct.cancelled());
            let mut stopped = false;
            let mut progress = ProgressReport { context, token, reached, sent: 0.0 };
            let looking = Arc::clone(&self.shared.executor);
            let done = loop {
                tokio::select! {
                    done = &mut task => break done,
                    stage = next(&mut news) => match stage {
                        Some(stage) => progress.report(stage).await,
                        None => {
                            if let Some(percent) = looking.indexing(&grant) {
                                progress.share(percent, "indexing the vault").await;
                            }
                        }
                    },
                    // Only once: a cancelled token stays cancelled, and the loop would spin.
                    () = &mut stop, if !stopped => {
                        stopped = true;
                        // The task goes on: it notices by itself, and a change in progress is finished.
                        cancel.take_back();
                    }
                }
            };
            // The last stage may have been reported just before the task ended.
            while let Some(stage) = news.as_mut().and_then(|(stages, _)| stages.try_recv().ok()) {
                progress.report(stage).await;
            }
            let outcome =
                done.unwrap_or_else(|_| failed("the task that ran an operation is gone", &self.profile(context)));
            if let Some(measured) = measured {
                measured.finish(&outcome);
            }
            outcome
        })
    }
}

/// The client's own span, as the message names it, or else the request that carried it.
fn trace_parent(context: &RequestContext<RoleServer>) -> Option<TraceParent> {
    let in_message = context.meta.get_traceparent();
    let in_header = || {
        let parts = context.extensions.get::<axum::http::request::Parts>()?;
        parts.headers.get("traceparent")?.to_str().ok()
    };
    in_message.or_else(in_header)?.parse().ok()
}

/// The next stage of a call whose client requested progress; `None` when it is time to check the index.
async fn next(news: &mut Option<(mpsc::UnboundedReceiver<CallProgress>, Interval)>) -> Option<CallProgress> {
    let Some((stages, looks)) = news else { return std::future::pending().await };
    tokio::select! {
        Some(stage) = stages.recv() => Some(stage),
        _ = looks.tick() => None,
    }
}

/// The last resort: something of ours has disappeared.
pub(super) fn failed(what: &str, profile: &ProfileView) -> Outcome {
    let reason = bug!("{what}");
    let rendered = Some(render_refusal(WireFamily::Own, &reason, OfferedTools::of(&profile.catalogue)));
    Outcome::Refused(Refusal { reason, rendered })
}

/// Reports the progress of a call to a client that requested it.
struct ProgressReport<'a> {
    context: &'a RequestContext<RoleServer>,
    token: Option<ProgressToken>,
    reached: &'a mut Option<CallProgress>,
    /// It only ever goes up.
    sent: f64,
}

impl ProgressReport<'_> {
    async fn report(&mut self, stage: CallProgress) {
        let Some(token) = &self.token else { return };
        let (progress, message) = match stage {
            CallProgress::Working(percent) => return self.share(percent, "working").await,
            CallProgress::Planned => (1.0, "planned"),
            CallProgress::Done => (2.0, "done"),
        };
        // A repeated plan is not progress.
        if self.reached.replace(stage) != Some(stage) {
            self.send(token.clone(), progress, message.to_owned()).await;
        }
    }

    /// What comes before there is a plan: a large vault may have to be scanned, many notes may have to be looked at.
    async fn share(&mut self, percent: u8, what: &str) {
        let Some(token) = self.token.clone().filter(|_| self.reached.is_none()) else { return };
        // Just below 1, which is the progress of a finished plan.
        let progress = f64::from(percent) / 101.0;
        if progress > self.sent {
            self.send(token, progress, format!("{what}: {percent} %")).await;
        }
    }

    async fn send(&mut self, token: ProgressToken, progress: f64, message: String) {
        self.sent = progress;
        let mut param = ProgressNotificationParam::new(token, progress);
        param.total = Some(2.0);
        param.message = Some(message);
        if let Err(error) = self.context.peer.notify_progress(param).await {
            tracing::debug!(error = service_error(&error), "progress could not be sent");
        }
    }
}
