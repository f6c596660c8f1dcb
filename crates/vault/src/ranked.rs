use lapidary_index::{GoOn, IndexError};
use lapidary_search::{RankedNotes, RankedPage, build_aside, search_by_scan};

use crate::View;

impl View {
    /// The notes that a query fits, the best first. Who asks before there is an index gets an answer by a scan, and the
    /// index is made meanwhile.
    pub fn ranked(&self, query: &str, page: RankedPage, go_on: GoOn<'_>) -> Result<RankedNotes, IndexError> {
        // A vault without a state folder is small, or its owner is in no hurry.
        if !self.is_planned() && self.live.is_cached() {
            let known = self.search.is_known();
            let files = if known { self.files(go_on)? } else { self.files_to_search(go_on)? };
            if !self.search.is_near(files) {
                let found = search_by_scan(&self.search, files, query, page, go_on)?;
                build_aside(&self.search, files);
                return Ok(found);
            }
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
}
