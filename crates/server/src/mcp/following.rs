//! Tells clients of changes of the files that they follow, whoever made them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use lapidary_pipeline::{Followed, Pipeline};
use lapidary_tools::{Resource, ResourceUri};
use rmcp::{
    ErrorData, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::{Peer, RequestContext, SubscriptionContext, SubscriptionSink},
};

use super::{Mcp, not_offered, refusal};

/// How often the files are looked at. A look costs one system call for each.
const EVERY: Duration = Duration::from_secs(1);

/// More files than a person can follow.
const MOST: usize = 1_000;

/// The files that one client follows, by the URIs it gave; clones share everything.
#[derive(Clone, Default)]
pub(super) struct Following(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    files: BTreeMap<String, Followed>,
    /// Somebody looks at them every now and then.
    watched: bool,
}

/// What came of a wish to follow a file.
enum Added {
    /// Now somebody has to begin to watch.
    First,
    More,
    TooMany,
}

impl Following {
    fn add(&self, uri: String, file: Followed) -> Added {
        let mut state = self.state();
        if state.files.len() >= MOST && !state.files.contains_key(&uri) {
            return Added::TooMany;
        }
        state.files.insert(uri, file);
        if std::mem::replace(&mut state.watched, true) { Added::More } else { Added::First }
    }

    pub(super) fn remove(&self, uri: &str) {
        self.state().files.remove(uri);
    }

    /// Tells of each file that has news, until nothing is followed any more or nobody is there to be told.
    async fn watch(&self, pipeline: &Arc<Pipeline>, listener: &Listener) {
        loop {
            tokio::time::sleep(EVERY).await;
            let Some(files) = self.watched() else { return };
            for uri in self.news(pipeline, files).await {
                listener.tell(uri).await;
            }
            if listener.is_gone() {
                return;
            }
        }
    }

    /// What is followed; if nothing is, the watch ends.
    fn watched(&self) -> Option<BTreeMap<String, Followed>> {
        let mut state = self.state();
        state.watched = !state.files.is_empty();
        state.watched.then(|| state.files.clone())
    }

    /// Looks at copies, so that nobody who wants to follow another file waits for the disk.
    async fn news(&self, pipeline: &Arc<Pipeline>, mut files: BTreeMap<String, Followed>) -> Vec<String> {
        let pipeline = Arc::clone(pipeline);
        let looking = tokio::task::spawn_blocking(move || {
            let news =
                files.iter_mut().filter_map(|(uri, file)| pipeline.has_news(file).then(|| uri.clone())).collect();
            (files, news)
        });
        let (files, mut news): (_, Vec<String>) = match looking.await {
            Ok(looked) => looked,
            Err(error) => {
                tracing::debug!(is_panic = error.is_panic(), "followed files could not be looked at");
                return Vec::new();
            }
        };
        let mut state = self.state();
        news.retain(|uri| state.files.contains_key(uri));
        for (uri, file) in files {
            if let Some(known) = state.files.get_mut(&uri) {
                *known = file;
            }
        }
        news
    }

    /// A panic while it was held cannot have left it half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where news go: to a session, or to the stream that a request keeps open.
enum Listener {
    Session(Peer<RoleServer>),
    Stream(SubscriptionSink),
}

impl Listener {
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

    /// A stream ends with its request, which is waited for elsewhere.
    fn is_gone(&self) -> bool {
        matches!(self, Self::Session(peer) if peer.is_transport_closed())
    }
}

impl Mcp {
    /// Until the session ends, or the client no longer wants to hear of it.
    pub(super) async fn follow(&self, uri: String, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let caller = self.caller(context);
        if !caller.one_client {
            // Without a session there is nobody to tell later.
            return Err(not_offered("resources/subscribe"));
        }
        let pipeline = Arc::clone(&self.shared.pipeline);
        let followed = pipeline.follow(&uri, caller, context.ct.cancelled()).await;
        match self
            .following
            .add(uri.clone(), followed.map_err(|reason| refusal(&reason, &uri, context, &self.profile(context)))?)
        {
            Added::More => {}
            Added::TooMany => {
                let message = format!("No more than {MOST} files can be followed at a time; unsubscribe from some.");
                return Err(ErrorData::invalid_params(message, None));
            }
            Added::First => {
                let (following, listener) = (self.following.clone(), Listener::Session(context.peer.clone()));
                tokio::spawn(async move { following.watch(&pipeline, &listener).await });
            }
        }
        Ok(())
    }

    /// What of a wish can be fulfilled: files can be followed, and of the lists only that of the prompts ever changes.
    pub(super) fn followable(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let vaults = self.shared.pipeline.vaults();
        let is_file = |uri: &&String| match ResourceUri::parse(uri) {
            Ok(ResourceUri { resource: Resource::File(_), vault }) => vaults.pick(vault.as_deref()).is_ok(),
            _ => false,
        };
        let files = requested.resource_subscriptions.iter().flatten().filter(is_file).take(MOST);
        let filter = SubscriptionFilter::builder().resource_subscriptions(files.cloned());
        if requested.prompts_list_changed == Some(true) {
            filter.prompts_list_changed().build()
        } else {
            filter.build()
        }
    }

    /// As long as the client keeps its request open.
    pub(super) async fn follow_all(&self, context: &SubscriptionContext) {
        let (pipeline, following) = (&self.shared.pipeline, Following::default());
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            let caller = self.caller(context.request_context());
            // What is closed to the caller has no news, and the log says why.
            if let Ok(followed) = pipeline.follow(uri, caller, context.cancelled()).await {
                following.add(uri.clone(), followed);
            }
        }
        let listener = Listener::Stream(context.sink().clone());
        tokio::select! {
            () = following.watch(pipeline, &listener) => context.cancelled().await,
            () = context.cancelled() => {}
        }
    }
}
