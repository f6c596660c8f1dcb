//! A vault: views of it, and turns to change it.

use std::{sync::Arc, time::SystemTime};

use lapidary_index::{IndexCache, VaultIndex};
use lapidary_meaning::ModelChoice;
use lapidary_note::ContentHash;
use lapidary_query::nearest;
use lapidary_search::{
    DocumentIndexCache, DocumentReader, DocumentStore, KeptVectors, RankedIndexCache, SegmentCache, VectorIndexCache,
};
use lapidary_store::{
    Backend, Capabilities, InnerVault, KEYS_LAST, LONGEST_KEPT_REPLY, LedgerError, PathPrefix, Policy, RulesError,
    Scope, ScopeCache, StoreError, Turn, TurnError, UnmatchedRule, VaultLimits, VaultNews, VaultPath,
    posix::{CacheFile, DocumentCache, FolderStore, PosixBackend, StateFolder},
};

use crate::{IndexError, LateSave, View, background_index, view::SharedIndexes};

/// A call that was made before under the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeCall {
    pub call: ContentHash,
    pub checkpoint: Option<String>,
    /// What was answered, if that is known.
    pub reply: Option<Vec<u8>>,
}

/// One vault: views for readers, and the only place where it changes.
pub struct Vault {
    name: String,
    backend: Arc<dyn Backend>,
    scope: ScopeCache,
    live: Arc<VaultIndex>,
    search: Arc<RankedIndexCache>,
    documents: Arc<DocumentStore>,
    waits_for_index: bool,
}

impl Vault {
    /// A vault in a folder that other servers may change too; they agree on where to keep their state. Callers may use
    /// what the policy opens.
    pub fn shared(
        name: String,
        store: Arc<FolderStore>,
        state: &Arc<StateFolder>,
        policy: Policy,
        limits: VaultLimits,
    ) -> Self {
        let backend = Arc::new(PosixBackend::shared(store, state, &limits));
        Self::cached(name, backend, Some(state), policy, limits)
    }

    /// A vault on any backend, whose index is kept in the state folder.
    pub fn kept(
        name: String,
        backend: Arc<dyn Backend>,
        state: &Arc<StateFolder>,
        policy: Policy,
        limits: VaultLimits,
    ) -> Self {
        Self::cached(name, backend, Some(state), policy, limits)
    }

    /// A vault that only this process knows, open to all callers.
    pub fn private(name: String, backend: Arc<dyn Backend>) -> Self {
        Self::new(name, backend, Policy::default(), VaultLimits::default())
    }

    /// A vault on any backend. Nothing learnt about it outlives the process.
    pub fn new(name: String, backend: Arc<dyn Backend>, policy: Policy, limits: VaultLimits) -> Self {
        Self::cached(name, backend, None, policy, limits)
    }

    fn cached(
        name: String,
        backend: Arc<dyn Backend>,
        state: Option<&Arc<StateFolder>>,
        policy: Policy,
        limits: VaultLimits,
    ) -> Self {
        let cache = state.map(|state| CacheFile::new(Arc::clone(state)));
        let documents = Arc::new(DocumentStore::new(state.map(|state| DocumentCache::new(Arc::clone(state)))));
        let pages = DocumentIndexCache::new(
            Arc::clone(&documents),
            cache.as_ref().map(CacheFile::for_document_vectors),
            limits.max_document_bytes,
        );
        let meaning = VectorIndexCache::new(cache.as_ref().map(CacheFile::for_vectors), limits.max_vector_bytes);
        let search =
            RankedIndexCache::new(cache.as_ref().map(|cache| SegmentCache::new(cache.for_segments())), meaning, pages);
        // Folders that are never read need not be watched or indexed either.
        let skip_folders = policy.skip_folders.clone();
        let live = VaultIndex::new(Arc::clone(&backend), skip_folders, limits, cache.map(IndexCache::new));
        let (scope, live, search) = (ScopeCache::new(policy), Arc::new(live), Arc::new(search));
        Self { name, backend, scope, live, search, documents, waits_for_index: false }
    }

    /// The same vault, with what reads the text of its documents.
    #[must_use]
    pub fn reading_documents(self, reader: Arc<dyn DocumentReader>) -> Self {
        self.documents.choose(reader);
        self
    }

    /// A ranked search waits for the index, however long that takes: for one-time callers.
    pub fn waiting_for_index(self, waits_for_index: bool) -> Self {
        Self { waits_for_index, ..self }
    }

    /// The same vault, with the model that the owner chose for its search by meaning.
    #[must_use]
    pub fn with_model(self, choice: ModelChoice) -> Self {
        self.search.meaning().choose(choice);
        self
    }

    /// The same vault with others in its folders: what they close is closed through this one too.
    #[must_use]
    pub fn around(self, inner: Vec<InnerVault>) -> Self {
        Self { scope: self.scope.around(inner), ..self }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where a change of a path takes place, links in the vault followed, whether or not it exists; closed if the
    /// caller may not know of that place.
    pub fn place_of_change(&self, path: &VaultPath, scope: &Scope) -> Result<VaultPath, StoreError> {
        self.backend.place_of_change(path, &|place| scope.may_read(place).is_ok())
    }

    /// The capabilities of this vault's backend.
    pub fn capabilities(&self) -> Capabilities {
        self.backend.capabilities()
    }

    pub fn policy(&self) -> &Policy {
        self.scope.policy()
    }

    /// What callers may read and change now, by the policy and the rule files in the vault. While the rules are the
    /// same, this is the same `Arc`.
    pub fn scope(&self, now: SystemTime) -> Result<Arc<Scope>, RulesError> {
        self.scope.scope(&*self.backend, now, None)
    }

    /// The same for a caller that is granted no more than this policy opens. The same `Arc` of a policy gives the same
    /// `Arc` of a scope.
    pub fn scope_for(&self, now: SystemTime, grant: &Arc<Policy>) -> Result<Arc<Scope>, RulesError> {
        self.scope.scope(&*self.backend, now, Some(grant))
    }

    pub fn view(&self, scope: Arc<Scope>, max_file_bytes: u64) -> View {
        // A killed server may have left a change half made.
        self.backend.settle();
        let known = SharedIndexes {
            live: Arc::clone(&self.live),
            search: Arc::clone(&self.search),
            documents: Arc::clone(&self.documents),
        };
        let backend = Arc::clone(&self.backend);
        View::new(self.name.clone(), backend, scope, max_file_bytes, known, self.waits_for_index)
    }

    /// Saves what was learnt about the vault, so that the next start is fast. For the end of the process; while it
    /// runs, that happens by itself.
    pub fn save_index(&self) {
        background_index::save_at_the_end(&self.live, &self.search);
        self.backend.rest();
    }

    /// Waits, while allowed, until no other change of ours is in progress. The holder of the turn can plan and commit
    /// without another caller in between; it is never held while the user is asked.
    pub fn turn(&self, go_on: &dyn Fn() -> bool) -> Result<Turn<'_>, TurnError> {
        self.backend.turn(go_on).map(Turn::new)
    }

    /// The id of the checkpoint of the change that was made on this approval. Waits for a change in progress, and completes or
    /// rolls back that of a process that died.
    pub fn made_on(&self, approval: &ContentHash) -> Result<Option<String>, LedgerError> {
        // Held while the history is read: a change in progress is either in it or not made.
        let turn = self.turn(&|| true).map_err(|error| LedgerError::Unusable(error.to_string()))?;
        let made = self.backend.history().approved(approval);
        drop(turn);
        Ok(made?.map(|checkpoint| checkpoint.id))
    }

    /// The change that was made by a call with this key not long ago. What the caller may not read now is not shown to
    /// it again.
    pub fn made_by(&self, key: &ContentHash, now: SystemTime, scope: &Scope) -> Result<Option<MadeCall>, LedgerError> {
        let since = now.checked_sub(KEYS_LAST).unwrap_or(SystemTime::UNIX_EPOCH);
        let Some(found) = self.backend.history().keyed(key, since)? else { return Ok(None) };
        let is_open = |path: &VaultPath| scope.may_read(path).is_ok();
        // A moved file has two paths, and both have to be open.
        let paths = found.checkpoint.entries.iter().flat_map(|entry| [Some(&entry.path), entry.moved_to.as_ref()]);
        let shows_all = paths.flatten().all(is_open);
        Ok(Some(MadeCall {
            call: found.call,
            // The call is known all the same, so that it is not made twice.
            checkpoint: Some(found.checkpoint.id).filter(|_| shows_all),
            reply: found.reply.filter(|_| shows_all),
        }))
    }

    /// Keeps what was answered to a call with a key.
    pub fn keep_reply(&self, checkpoint: &str, reply: &[u8]) -> Result<(), LedgerError> {
        // Without it, the checkpoint alone says what was done.
        if reply.len() > LONGEST_KEPT_REPLY {
            return Ok(());
        }
        self.backend.history().keep_reply(checkpoint, reply)
    }

    /// A caller that should have been told of late saves did not get the message, so the next one is told.
    pub fn tell_again(&self, late_saves: &[LateSave]) -> Result<(), LedgerError> {
        late_saves.iter().try_for_each(|late| self.backend.history().set_untold(&late.checkpoint))
    }

    /// The owner's rules that match nothing in the vault, each with the closest existing name. Only for the owner: no
    /// caller may know the name.
    pub fn rules_without_effect(
        &self,
        scope: &Scope,
        approval: &[PathPrefix],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<(UnmatchedRule, Option<String>)>, IndexError> {
        // In an empty vault every rule is unmatched; without any, the vault need not be scanned.
        if approval.is_empty() && scope.unmatched(&[], &[]).is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = self.live.files(go_on)?;
        let files: Vec<VaultPath> = snapshot.files().map(|file| file.path.clone()).collect();
        let folders: Vec<VaultPath> = snapshot.folders().cloned().collect();
        let mut unmatched = scope.unmatched(&files, &folders);
        let of_approval = approval.iter().filter(|path| path.matches_none(&files) && path.matches_none(&folders));
        unmatched.extend(of_approval.map(|path| UnmatchedRule {
            source: "approval rules",
            rule: format!("path={path}"),
            any_folder: false,
        }));
        let with_nearest = |rule: UnmatchedRule| {
            let wanted = rule.rule.trim_start_matches("path=").trim_matches('/');
            let paths = || files.iter().chain(&folders);
            let nearest = match (wanted.contains('/'), rule.any_folder) {
                (true, _) => nearest(wanted, paths().map(VaultPath::as_str)),
                (false, true) => nearest(wanted, paths().map(VaultPath::name)),
                // Its name alone would match no more than the misspelt one.
                (false, false) => nearest(wanted, paths().map(VaultPath::name))
                    .and_then(|name| paths().find(|path| path.name() == name))
                    .map(VaultPath::as_str),
            };
            // A pattern is not a misspelt name.
            (nearest.filter(|_| !wanted.contains(['*', '?', '['])).map(str::to_owned), rule)
        };
        Ok(unmatched.into_iter().map(with_nearest).map(|(nearest, rule)| (rule, nearest)).collect())
    }

    /// What is kept for the search by meaning, for the owner; `None` if it is off.
    pub fn kept_vectors(&self) -> Option<KeptVectors> {
        self.search.meaning().kept()
    }

    /// The progress of work on an index, in per cent, if it takes a while.
    pub fn indexing(&self) -> Option<u8> {
        self.live.progress.share()
    }

    /// The events since the last call, for the owner's log.
    pub fn take_news(&self) -> Vec<VaultNews> {
        self.backend.take_news()
    }
}
