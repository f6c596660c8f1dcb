//! Ranked search over a view.

use std::{thread, time::Duration};

use lapidary_index::{GoOn, IndexError};
use lapidary_search::{
    CloseNote, DocumentsState, MeaningState, NoMeaning, RankedBy, RankedNotes, RankedPage, RankedQuery, build_aside,
    embed_aside, read_aside, search_by_scan,
};

use crate::{ElapsedTime, VaultPath, View, VisibleFiles};

/// A search that is answered by a scan has waited this long for the index, which knows more; one by words, for vectors.
const PATIENCE: Duration = Duration::from_millis(300);
/// And one by meaning alone this long.
const LONG_PATIENCE: Duration = Duration::from_secs(20);
/// A caller without a server behind it waits this long for documents to be read.
const READING_PATIENCE: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

impl View {
    /// The notes that match a query, best first. A search before the index exists is answered by a scan, unless the
    /// index is ready in a moment; only the index reports that nothing matches, since a scan corrects no typos.
    pub fn ranked<'q>(
        &self,
        query: impl Into<RankedQuery<'q>>,
        page: RankedPage,
        go_on: GoOn<'_>,
    ) -> Result<RankedNotes, IndexError> {
        let query = query.into();
        if query.documents {
            self.read_documents(go_on)?;
        }
        self.ranked_notes(query, page, go_on)
    }

    fn ranked_notes(
        &self,
        query: RankedQuery<'_>,
        page: RankedPage,
        go_on: GoOn<'_>,
    ) -> Result<RankedNotes, IndexError> {
        if self.may_scan()
            && let Some(found) = self.ranked_by_scan(query, page, go_on)?
        {
            return Ok(found);
        }
        self.search.ranked(self.to_rank(go_on)?, query, page, go_on)
    }

    /// How far the documents are read that the caller sees; `None` if they are not searched.
    pub fn documents_state(&self, go_on: GoOn<'_>) -> Result<Option<DocumentsState>, IndexError> {
        Ok(self.search.documents().state(self.files(go_on)?))
    }

    /// Has the documents read that the caller sees: in the background, and the search waits a moment for a few of them; or
    /// now, if they would not be read later.
    fn read_documents(&self, go_on: GoOn<'_>) -> Result<(), IndexError> {
        let documents = self.search.documents();
        if !documents.is_on() || self.is_planned() {
            return Ok(());
        }
        let files = self.files_of_search(go_on)?;
        if documents.is_ready(files, self.search.meaning()) {
            return Ok(());
        }
        if !self.may_scan() {
            return self.search.read_documents(files, READING_PATIENCE, go_on);
        }
        let (asked, is_near) = (ElapsedTime::start(), documents.is_near(files));
        read_aside(&self.search, files);
        while is_near && documents.is_reading() && asked.elapsed() < PATIENCE {
            if !go_on() {
                return Err(IndexError::Stopped);
            }
            thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    /// The same by meaning, or by both. By both, the first answers of a large vault are by words alone, until vectors
    /// of its notes are made; by meaning, they are waited for.
    pub fn ranked_by<'q>(
        &self,
        by: RankedBy,
        query: impl Into<RankedQuery<'q>>,
        page: RankedPage,
        go_on: GoOn<'_>,
    ) -> Result<RankedNotes, IndexError> {
        let query = query.into();
        if query.documents {
            self.read_documents(go_on)?;
        }
        // Why it is by words alone is the same whether or not anything is made.
        if by == RankedBy::Words || self.search.meaning().embedded(query).is_err() {
            let found = self.ranked_notes(query, page, go_on)?;
            return Ok(RankedNotes {
                no_meaning: self.search.meaning().embedded(query).err().filter(|_| by != RankedBy::Words),
                ..found
            });
        }
        // Nothing else answers it, so it waits; what is made in the background meanwhile is kept if it waits in vain.
        if by == RankedBy::Meaning && self.may_scan() {
            let files = self.to_rank(go_on)?;
            if !self.wait_for_vectors(files, LONG_PATIENCE, go_on)? {
                let nothing = RankedPage { limit: 0, ..page };
                let found = self.ranked_notes(query, nothing, go_on)?;
                let not_ready = NoMeaning::NotReady(self.search.meaning().share(files));
                return Ok(RankedNotes { total: 0, no_meaning: Some(not_ready), ..found });
            }
        }
        if by == RankedBy::Hybrid && self.may_scan() {
            let scanned = self.ranked_by_scan(query, page, go_on)?;
            let files = self.files(go_on)?;
            if !self.wait_for_vectors(files, PATIENCE, go_on)? {
                let found = scanned.map_or_else(|| self.ranked_notes(query, page, go_on), Ok)?;
                return Ok(RankedNotes {
                    no_meaning: Some(NoMeaning::NotReady(self.search.meaning().share(files))),
                    ..found
                });
            }
            // The vectors are there, and the index of words is not.
            if let Some(found) = scanned {
                return Ok(RankedNotes { no_meaning: Some(NoMeaning::NotReady(100)), ..found });
            }
        }
        self.search.ranked_by(by, self.to_rank(go_on)?, query, page, go_on)
    }

    /// The notes that are closest to a note by what they say, best first; `None` if that is not known. With `patient`, vectors
    /// that have to be made are waited for.
    pub fn close_notes(
        &self,
        path: &VaultPath,
        most: usize,
        patient: bool,
        go_on: GoOn<'_>,
    ) -> Result<Result<Option<Vec<CloseNote>>, NoMeaning>, IndexError> {
        let files = self.to_rank(go_on)?;
        let patience = if patient { LONG_PATIENCE } else { PATIENCE };
        if self.search.meaning().is_on() && self.may_scan() && !self.wait_for_vectors(files, patience, go_on)? {
            return Ok(Err(NoMeaning::NotReady(self.search.meaning().share(files))));
        }
        self.search.close_notes(files, path, most, go_on).map(Ok)
    }

    /// Whether the owner wants a search by meaning.
    pub fn has_meaning(&self) -> bool {
        self.search.meaning().is_on()
    }

    /// How far the vectors of the notes are that the caller sees; `None` if it is off.
    pub fn meaning_state(&self, go_on: GoOn<'_>) -> Result<Option<MeaningState>, IndexError> {
        Ok(self.search.meaning().state(self.files(go_on)?))
    }

    /// Whether a scan may answer. A vault without a state folder is small, or its owner is in no hurry.
    fn may_scan(&self) -> bool {
        !self.is_planned() && self.live.is_cached() && !self.waits_for_index
    }

    /// The files, with what a ranked search needs of each.
    fn to_rank(&self, go_on: GoOn<'_>) -> Result<&VisibleFiles, IndexError> {
        if self.is_planned() || self.scope.shows_all_of_the_index() {
            return Ok(self.notes(go_on)?);
        }
        let files = self.files(go_on)?;
        if !self.search.is_ready(files) {
            self.live.digest_shown(files, go_on)?;
        }
        Ok(files)
    }

    /// Whether vectors can be had without a long wait. Otherwise they are made in the background.
    fn wait_for_vectors(&self, files: &VisibleFiles, patience: Duration, go_on: GoOn<'_>) -> Result<bool, IndexError> {
        let asked = ElapsedTime::start();
        if !self.search.meaning().is_near(files) {
            embed_aside(&self.search, files);
        }
        if self.search.is_meaning_near(files) {
            return Ok(true);
        }
        // In a large vault, each answer until then would be late and still without them.
        if patience == PATIENCE && !self.search.is_meaning_soon(files) {
            return Ok(false);
        }
        while self.search.is_meaning_coming() && asked.elapsed() < patience {
            if !go_on() {
                return Err(IndexError::Stopped);
            }
            thread::sleep(LOOK_AGAIN);
        }
        Ok(self.search.is_meaning_near(files))
    }

    /// `None` if the index exists, or will soon, or has to be waited for.
    fn ranked_by_scan(
        &self,
        query: RankedQuery<'_>,
        page: RankedPage,
        go_on: GoOn<'_>,
    ) -> Result<Option<RankedNotes>, IndexError> {
        let asked = ElapsedTime::start();
        let files = self.files_of_search(go_on)?;
        if self.search.is_near(files) {
            return Ok(None);
        }
        let found = search_by_scan(&self.search, files, query, page, go_on)?;
        build_aside(&self.search, files);
        let waits = || found.total == 0 || asked.elapsed() < PATIENCE;
        while self.search.is_indexing() && waits() {
            if !go_on() {
                return Err(IndexError::Stopped);
            }
            thread::sleep(LOOK_AGAIN);
        }
        // The index was finished meanwhile, and its answer is better.
        let is_answer = found.total > 0 && !self.search.is_near(files);
        // Documents are not scanned.
        let documents = self.search.documents().state(files).filter(|_| query.documents);
        let unread_documents = documents.map_or(0, |state| state.waiting + state.read);
        Ok(is_answer.then_some(RankedNotes { unread_documents, ..found }))
    }

    /// The first scan of a vault reads the texts along, as the search needs them in a moment.
    fn files_of_search(&self, go_on: GoOn<'_>) -> Result<&VisibleFiles, IndexError> {
        let reads_along = self.may_scan() && !self.search.is_known();
        if reads_along { self.files_to_search(go_on) } else { self.files(go_on) }
    }
}
