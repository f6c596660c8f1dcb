//! Keeps the scope of a vault up to date with its rule files.

use std::{sync::Arc, time::SystemTime};

use parking_lot::Mutex;

use super::{
    Policy, Scope,
    inner::{InnerScope, InnerVault},
    rules::{MAX_RULE_BYTES, OBSIDIAN_SETTINGS, RULE_FILES, RuleFile, RuleProblem, RulesError, VaultRules},
};
use crate::{Backend, FileStamp, StoreError, VaultPath, nanoseconds};

#[derive(Default)]
pub struct ScopeCache {
    policy: Arc<Policy>,
    /// Other vaults inside folders of this one.
    inner: Vec<InnerVault>,
    known: Mutex<Option<KnownRules>>,
}

/// The rules as last read.
struct KnownRules {
    /// Of each file, in order; `None` if missing.
    stamps: Vec<Option<FileStamp>>,
    /// The files were old enough when they were read: other content would have other stamps.
    settled: bool,
    contents: Vec<Option<Vec<u8>>>,
    scope: Arc<Scope>,
    /// The same for callers that are granted less. There are as many as the owner has configured.
    narrowed: Vec<(Arc<Policy>, Arc<Scope>)>,
}

impl KnownRules {
    fn scope_for(&mut self, grant: Option<&Arc<Policy>>) -> Arc<Scope> {
        let Some(grant) = grant else { return Arc::clone(&self.scope) };
        // By identity, as the same grant is the same object; comparing patterns would cost more than the lookup
        // saves.
        if let Some((_, scope)) = self.narrowed.iter().find(|(known, _)| Arc::ptr_eq(known, grant)) {
            return Arc::clone(scope);
        }
        let scope = Arc::new(self.scope.narrowed(Arc::clone(grant)));
        self.narrowed.push((Arc::clone(grant), Arc::clone(&scope)));
        scope
    }
}

impl ScopeCache {
    pub fn new(policy: Policy) -> Self {
        Self { policy: Arc::new(policy), inner: Vec::new(), known: Mutex::default() }
    }

    /// The same for a vault with others in it.
    #[must_use]
    pub fn around(self, inner: Vec<InnerVault>) -> Self {
        Self { inner, ..self }
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The current scope for a caller with this grant. While the rules are the same, it is the same object for the same
    /// grant: caches are keyed by it.
    pub fn scope(
        &self,
        store: &dyn Backend,
        now: SystemTime,
        grant: Option<&Arc<Policy>>,
    ) -> Result<Arc<Scope>, RulesError> {
        // One `stat` per file and call: a rule has to hold from the next call on.
        let stamps = self.stamps(store)?;
        let inner: Arc<[InnerScope]> = self.inner.iter().map(|inner| inner.scope(now)).collect();
        let is_same = |scope: &Scope| scope.inner.iter().zip(&*inner).all(|(then, now)| then.is(now));
        // The usual case: the stamps are the same, and too old for an unnoticed change.
        if let Some(known) = &mut *self.known.lock()
            && known.settled
            && known.stamps == stamps
            && is_same(&known.scope)
        {
            return Ok(known.scope_for(grant));
        }
        // Otherwise the files are read; their stamps may be too new to be trusted next time.
        let settled = stamps.iter().flatten().all(|stamp| stamp.is_settled(nanoseconds(now)));
        let contents = self
            .files()
            .zip(&stamps)
            .map(|(file, stamp)| stamp.is_some().then(|| read(store, file)).transpose())
            .collect::<Result<Vec<_>, _>>()?;
        tracing::debug!(files = contents.iter().flatten().count(), "the vault's rule files were read");
        // Locked only now, so that a slow disk holds up no other call.
        let mut known = self.known.lock();
        // If the contents are the same, the old scope is kept, because caches are keyed by it.
        let (scope, narrowed) = match known.take_if(|known| known.contents == contents && is_same(&known.scope)) {
            Some(known) => (known.scope, known.narrowed),
            None => (Arc::new(Scope { inner, ..self.made_from(&contents)? }), Vec::new()),
        };
        Ok(known.insert(KnownRules { stamps, settled, contents, scope, narrowed }).scope_for(grant))
    }

    fn stamps(&self, store: &dyn Backend) -> Result<Vec<Option<FileStamp>>, RulesError> {
        let paths = self.files().map(path).collect::<Result<Vec<_>, _>>()?;
        store.stamps(&paths).map_err(|(at, error)| match self.files().nth(at) {
            Some(file) => refused(file, error),
            None => RulesError::VaultGone,
        })
    }

    fn files(&self) -> impl Iterator<Item = RuleFile> {
        RULE_FILES.into_iter().chain(self.policy.hide_excluded.then_some(OBSIDIAN_SETTINGS))
    }

    fn made_from(&self, contents: &[Option<Vec<u8>>]) -> Result<Scope, RulesError> {
        let mut rules = VaultRules::default();
        for (file, bytes) in self.files().zip(contents) {
            if let Some(bytes) = bytes {
                rules.add_file(file, bytes).map_err(|problem| unreadable(file, problem))?;
            }
        }
        Ok(Scope { policy: Arc::clone(&self.policy), rules, ..Scope::default() })
    }
}

fn read(store: &dyn Backend, file: RuleFile) -> Result<Vec<u8>, RulesError> {
    // These files are read regardless of the rules: no caller ever sees their contents.
    let found = store.read(&path(file)?, MAX_RULE_BYTES, &|_| true);
    found.map(|file| file.bytes).map_err(|error| refused(file, error))
}

fn path(file: RuleFile) -> Result<VaultPath, RulesError> {
    VaultPath::parse(file.path).map_err(|_| unreadable(file, RuleProblem::Store(StoreError::BadName)))
}

fn refused(file: RuleFile, error: StoreError) -> RulesError {
    match error {
        StoreError::VaultGone => RulesError::VaultGone,
        error => unreadable(file, RuleProblem::Store(error)),
    }
}

fn unreadable(file: RuleFile, problem: RuleProblem) -> RulesError {
    RulesError::Unreadable { file: file.path, problem }
}
