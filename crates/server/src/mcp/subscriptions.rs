//! Notifies clients of changes of the files that they subscribed to, made by any program.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use lapidary_pipeline::{Executor, Invocation, Principal};
use lapidary_tools::{
    CheckSubscriptions, FileSubscription, ReadPayload, Reason, ResourceUri, Subscribe, ToolGroup, VaultResource,
};
use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::{Peer, RequestContext, SubscriptionContext, SubscriptionSink},
};

use super::{McpServer, not_offered, refusal};

/// How often the files are checked. A check costs one system call per file.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// More files than a person can follow.
const MAX_FILES: usize = 1_000;

/// Of all clients together.
const MOST_IN_ALL: usize = 10_000;

/// How many files all clients are subscribed to.
pub(super) type SubscriptionCount = Arc<AtomicUsize>;

/// The subscriptions of one client, by the URIs it gave; clones share everything.
#[derive(Clone)]
pub(super) struct Subscriptions(Arc<Mutex<SubscriptionState>>);

struct SubscriptionState {
    files: BTreeMap<String, FileSubscription>,
    /// They are being checked regularly.
    watched: bool,
    followed: SubscriptionCount,
}

impl Drop for SubscriptionState {
    fn drop(&mut self) {
        self.followed.fetch_sub(self.files.len(), Ordering::Relaxed);
    }
}

/// The result of a request to subscribe.
enum SubscribeOutcome {
    /// A watch has to start.
    First,
    More,
    TooMany {
        limit: usize,
    },
}

impl Subscriptions {
    pub(super) fn new(followed: SubscriptionCount) -> Self {
        Self(Arc::new(Mutex::new(SubscriptionState { files: BTreeMap::new(), watched: false, followed })))
    }

    fn add(&self, subscription: FileSubscription) -> SubscribeOutcome {
        let mut state = self.0.lock();
        // Subscribing again renews it, and counts once.
        if !state.files.contains_key(&subscription.uri) {
            if state.files.len() >= MAX_FILES {
                return SubscribeOutcome::TooMany { limit: MAX_FILES };
            }
            let one_more = |followed: usize| (followed < MOST_IN_ALL).then_some(followed + 1);
            if state.followed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_err() {
                return SubscribeOutcome::TooMany { limit: MOST_IN_ALL };
            }
        }
        state.files.insert(subscription.uri.clone(), subscription);
        // Under the same lock as the insertion, so that exactly one watch is started.
        if std::mem::replace(&mut state.watched, true) { SubscribeOutcome::More } else { SubscribeOutcome::First }
    }

    pub(super) fn remove(&self, uri: &str) {
        let mut state = self.0.lock();
        if state.files.remove(uri).is_some() {
            state.followed.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Notifies of each changed file, until there are no subscriptions left or the client is gone.
    async fn watch(&self, executor: &Arc<Executor>, principal: &Principal, listener: &NewsListener) {
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            let Some(files) = self.watched() else { return };
            for uri in self.news(executor, principal, files).await {
                listener.tell(uri).await;
            }
            if listener.is_gone() {
                return;
            }
        }
    }

    /// The subscriptions; if there are none, the watch ends.
    fn watched(&self) -> Option<Vec<FileSubscription>> {
        let mut state = self.0.lock();
        // Decided under the lock: a subscription that comes now starts another watch.
        state.watched = !state.files.is_empty();
        state.watched.then(|| state.files.values().cloned().collect())
    }

    /// Checks copies, so that no subscribe request waits for the disk.
    async fn news(
        &self,
        executor: &Arc<Executor>,
        principal: &Principal,
        subscriptions: Vec<FileSubscription>,
    ) -> Vec<String> {
        let invocation = Invocation::read(CheckSubscriptions { subscriptions }, principal.clone());
        let cancel = executor.cancel(&invocation);
        let Ok(ReadPayload::Checked(checked)) = executor.execute(invocation, cancel).await.answer() else {
            // An unavailable file has no news.
            return Vec::new();
        };
        let mut state = self.0.lock();
        let mut news = Vec::new();
        for (subscription, changed) in checked {
            // It may have been removed during the check.
            if let Some(known) = state.files.get_mut(&subscription.uri) {
                news.extend(changed.then(|| subscription.uri.clone()));
                *known = subscription;
            }
        }
        news
    }
}

/// Where notifications go: to a session, or to the stream that a request keeps open.
enum NewsListener {
    Session(Peer<RoleServer>),
    Stream(SubscriptionSink),
}

impl NewsListener {
    async fn tell(&self, uri: String) {
        let told = match self {
            Self::Session(peer) => {
                let news = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(news).await.map_err(|error| super::service_error(&error))
            }
            Self::Stream(sink) => sink.notify_resource_updated(uri).await.map_err(|_| "the stream is closed"),
        };
        if let Err(error) = told {
            tracing::debug!(error, "a client could not be told of a change");
        }
    }

    /// A stream ends with its request, which is awaited elsewhere.
    fn is_gone(&self) -> bool {
        matches!(self, Self::Session(peer) if peer.is_transport_closed())
    }
}

impl McpServer {
    /// Until the session ends, or the client unsubscribes.
    pub(super) async fn subscribe_to(
        &self,
        uri: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let principal = self.principal(context);
        if !principal.is_single_client {
            // Without a session there is no client to notify later.
            return Err(not_offered("resources/subscribe"));
        }
        let subscription = match self.read(Subscribe { uri: uri.clone() }, context).await {
            Ok(ReadPayload::Subscribed(subscription)) => subscription,
            Ok(_) => return Err(self.unexpected(context)),
            Err(reason) => return Err(refusal(&reason, &uri, context, &self.profile(context))),
        };
        match self.subscriptions.add(subscription) {
            SubscribeOutcome::More => {}
            SubscribeOutcome::TooMany { limit } => {
                let reason = Reason::TooMany { what: "subscriptions", limit };
                return Err(refusal(&reason, &uri, context, &self.profile(context)));
            }
            SubscribeOutcome::First => {
                let (subscriptions, listener) =
                    (self.subscriptions.clone(), NewsListener::Session(context.peer.clone()));
                let executor = Arc::clone(&self.shared.executor);
                tokio::spawn(async move { subscriptions.watch(&executor, &principal, &listener).await });
            }
        }
        Ok(())
    }

    /// Which part of a request can be fulfilled: files can be followed, and of the lists only that of the prompts ever
    /// changes.
    pub(super) fn accepted(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let (vaults, profile) = (self.shared.executor.vaults(), &self.session_grant.profile);
        // A client that may not read files has no business knowing when they change.
        let may_read = profile.has(ToolGroup::Read);
        let is_file = |uri: &&String| match ResourceUri::parse(uri) {
            Ok(ResourceUri { resource: VaultResource::File(_), vault }) => {
                may_read && vaults.pick(&self.session_grant, vault.as_deref()).is_ok()
            }
            _ => false,
        };
        let files = requested.resource_subscriptions.iter().flatten().filter(is_file).take(MAX_FILES);
        let filter = SubscriptionFilter::builder().resource_subscriptions(files.cloned());
        let may_look = may_read || profile.has(ToolGroup::Vault);
        if requested.prompts_list_changed == Some(true) && may_look {
            filter.prompts_list_changed().build()
        } else {
            filter.build()
        }
    }

    /// As long as the client keeps its request open.
    pub(super) async fn watch_all(&self, context: &SubscriptionContext) {
        let (executor, subscriptions) = (&self.shared.executor, Subscriptions::new(Arc::clone(&self.shared.followed)));
        let request = context.request_context();
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            // A closed file has no news, and the log says why.
            if let Ok(ReadPayload::Subscribed(subscription)) = self.read(Subscribe { uri: uri.clone() }, request).await
            {
                subscriptions.add(subscription);
            }
        }
        let (principal, listener) = (self.principal(request), NewsListener::Stream(context.sink().clone()));
        tokio::select! {
            // Without subscriptions left, the stream still has to stay open.
            () = subscriptions.watch(executor, &principal, &listener) => context.cancelled().await,
            () = context.cancelled() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use lapidary_vault::{LastSeen, VaultPath};

    use super::*;

    #[test]
    fn subscriptions_of_all_clients_are_limited_and_released() {
        let followed = SubscriptionCount::new(AtomicUsize::new(MOST_IN_ALL - 2));
        let file = |name: &str| FileSubscription {
            uri: name.to_owned(),
            vault: "v".to_owned(),
            sight: LastSeen::new(VaultPath::parse(name).unwrap()),
        };
        let (one, other) = (Subscriptions::new(Arc::clone(&followed)), Subscriptions::new(Arc::clone(&followed)));
        assert!(matches!(one.add(file("a")), SubscribeOutcome::First));
        assert!(matches!(one.add(file("a")), SubscribeOutcome::More), "it is followed already");
        assert!(matches!(other.add(file("a")), SubscribeOutcome::First));
        assert!(matches!(other.add(file("b")), SubscribeOutcome::TooMany { limit: MOST_IN_ALL }));
        one.remove("a");
        one.remove("a");
        assert!(matches!(other.add(file("b")), SubscribeOutcome::More));
        drop((one, other));
        assert_eq!(followed.load(Ordering::Relaxed), MOST_IN_ALL - 2);
    }
}
