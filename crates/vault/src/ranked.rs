//! Ranked search over a view.

use std::{thread, time::Duration};

use lapidary_index::{GoOn, IndexError};
use lapidary_search::{RankedNotes, RankedPage, RankedQuery, build_aside, search_by_scan};

use crate::{ElapsedTime, View};

/// A search that is answered by a scan has waited this long for the index, which knows more.
const PATIENCE: Duration = Duration::from_millis(300);
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
        // A vault without a state folder is small, or its owner is in no hurry.
        if !self.is_planned()
            && self.live.is_cached()
            && !self.waits_for_index
            && let Some(found) = self.ranked_by_scan(query, page, go_on)?
        {
            return Ok(found);
        }
        if self.is_planned() || self.scope.shows_all_of_the_index() {
            return self.search.ranked(self.notes(go_on)?, query, page, go_on);
        }
        let files = self.files(go_on)?;
        if !self.search.is_ready(files) {
            self.live.digest_shown(files, go_on)?;
        }
        self.search.ranked(files, query, page, go_on)
    }

    /// `None` if the index exists, or will soon, or has to be waited for.
    fn ranked_by_scan(
        &self,
        query: RankedQuery<'_>,
        page: RankedPage,
        go_on: GoOn<'_>,
    ) -> Result<Option<RankedNotes>, IndexError> {
        let asked = ElapsedTime::start();
        let known = self.search.is_known();
        // The first scan of a vault reads the texts along, as the search needs them in a moment.
        let files = if known { self.files(go_on)? } else { self.files_to_search(go_on)? };
        if self.search.is_near(files) {
            return Ok(None);
        }
        let found = search_by_scan(&self.search, files, query, page, go_on)?;
        build_aside(&self.search, files);
        let waits = || found.total == 0 || asked.elapsed() < PATIENCE;
        while self.search.is_building() && waits() {
            if !go_on() {
                return Err(IndexError::Stopped);
            }
            thread::sleep(LOOK_AGAIN);
        }
        // The index was finished meanwhile, and its answer is better.
        let is_answer = found.total > 0 && !self.search.is_near(files);
        Ok(is_answer.then_some(found))
    }
}
