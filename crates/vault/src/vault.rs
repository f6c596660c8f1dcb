use std::{
    sync::{Arc, atomic::Ordering},
    time::SystemTime,
};

use lapidary_index::{Cache, Live};
use lapidary_search::{SearchKeeper, SegmentCache};
use lapidary_store::{Changes, ScopeKeeper};

use crate::{
    FolderNames, LateSave, News, Policy, RulesError, Scope, Turn, TurnError, VaultLimits, View, keeper,
    store::{CacheFile, Ledger, LedgerError, StateFolder, Store, TurnFile},
};

/// One vault: views of it for readers, and the one place where it changes.
pub struct Vault {
    name: String,
    store: Arc<dyn Store>,
    scope: ScopeKeeper,
    changes: Arc<Changes>,
    live: Arc<Live>,
    search: Arc<SearchKeeper>,
}

impl Vault {
    /// A vault that other servers may change as well; they agree on where to keep their state. Callers may use what the
    /// policy opens.
    pub fn shared(
        name: String,
        store: Arc<dyn Store>,
        state: &Arc<StateFolder>,
        policy: Policy,
        limits: VaultLimits,
    ) -> Self {
        let ledger = Ledger::new(Arc::clone(state), limits.retention);
        let turns = Some(TurnFile::new(Arc::clone(state)));
        let changes = Changes::new(Arc::clone(&store), ledger, turns, limits.max_file_bytes);
        let cache = CacheFile::new(Arc::clone(state));
        let search = SearchKeeper::new(Some(SegmentCache::new(cache.for_segments())));
        let live = Live::new(Arc::clone(&store), policy.skip_folders.clone(), limits, Some(Cache::new(cache)));
        let (changes, live, search) = (Arc::new(changes), Arc::new(live), Arc::new(search));
        Self { name, store, scope: ScopeKeeper::new(policy), changes, live, search }
    }

    /// A vault that only this process knows, open to all callers.
    pub fn private(name: String, store: Arc<dyn Store>) -> Self {
        let limits = VaultLimits::default();
        let changes = Changes::new(Arc::clone(&store), Ledger::in_memory(), None, limits.max_file_bytes);
        let live = Live::new(Arc::clone(&store), FolderNames::default(), limits, None);
        let (changes, live, search) = (Arc::new(changes), Arc::new(live), Arc::default());
        Self { name, store, scope: ScopeKeeper::default(), changes, live, search }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn policy(&self) -> &Policy {
        self.scope.policy()
    }

    /// What callers may read and change now, by the policy and by the rule files in the vault. As long as the rules
    /// say the same, this is the same `Arc`.
    pub fn scope(&self, now: SystemTime) -> Result<Arc<Scope>, RulesError> {
        self.scope.scope(&*self.store, now, None)
    }

    /// The same for a caller who is granted no more than this policy opens. The same `Arc` of a policy gives the same
    /// `Arc` of a scope.
    pub fn scope_for(&self, now: SystemTime, grant: &Arc<Policy>) -> Result<Arc<Scope>, RulesError> {
        self.scope.scope(&*self.store, now, Some(grant))
    }

    pub fn view(&self, scope: Arc<Scope>, max_file_bytes: u64) -> View {
        self.changes.settle();
        let (live, search) = (Arc::clone(&self.live), Arc::clone(&self.search));
        View::new(self.name.clone(), Arc::clone(&self.changes), scope, max_file_bytes, live, search)
    }

    /// Writes down what was learnt of the vault, so that the next start is quick. For the end of the process; while it
    /// runs, that happens by itself.
    pub fn save_index(&self) {
        keeper::save(&self.live, &self.search);
    }

    /// Waits, as long as it is told to, until no other change of ours is under way. Whoever holds the turn can plan and
    /// commit without another caller in between; it is never held while a person is asked.
    pub fn turn(&self, go_on: &dyn Fn() -> bool) -> Result<Turn<'_>, TurnError> {
        self.changes.turn(go_on)
    }

    /// A caller who was to be told of late saves did not hear of them, so the next one is.
    pub fn tell_again(&self, late_saves: &[LateSave]) -> Result<(), LedgerError> {
        late_saves.iter().try_for_each(|late| self.changes.ledger.set_untold(&late.checkpoint))?;
        self.changes.untold.store(true, Ordering::Release);
        Ok(())
    }

    /// How far the work on an index has come, in per cent, if there is any that takes a while.
    pub fn indexing(&self) -> Option<u8> {
        self.live.progress.share()
    }

    /// What has happened since somebody last asked, for the owner's log.
    pub fn take_news(&self) -> Vec<News> {
        self.changes.take_news()
    }
}
