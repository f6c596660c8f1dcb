//! What was fetched a moment ago: the next part of a long page, the clip of a page that was just read, and the change that a
//! person approved are those of the same bytes.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use lapidary_tools::FetchedPage;
use lapidary_vault::ElapsedTime;

const KEPT_FOR: Duration = Duration::from_secs(5 * 60);
pub(super) const MOST_PAGES: usize = 8;
/// Those of one page.
const MOST_PICTURES: usize = 20;
/// Of each.
pub(super) const MOST_BYTES: usize = 8 << 20;

#[derive(Default)]
pub(super) struct KeptAnswers {
    pages: VecDeque<KeptAnswer<FetchedPage>>,
    pictures: VecDeque<KeptAnswer<Arc<[u8]>>>,
}

struct KeptAnswer<T> {
    asked: String,
    since: ElapsedTime,
    answer: T,
    bytes: usize,
}

impl KeptAnswers {
    pub(super) fn page(&mut self, asked: &str) -> Option<FetchedPage> {
        found(&mut self.pages, asked)
    }

    pub(super) fn keep_page(&mut self, asked: String, page: FetchedPage) {
        let bytes = page.text.len();
        keep(&mut self.pages, MOST_PAGES, KeptAnswer { asked, since: ElapsedTime::start(), answer: page, bytes });
    }

    pub(super) fn picture(&mut self, asked: &str) -> Option<Arc<[u8]>> {
        found(&mut self.pictures, asked)
    }

    pub(super) fn keep_picture(&mut self, asked: String, picture: &Arc<[u8]>) {
        let (answer, bytes) = (Arc::clone(picture), picture.len());
        keep(&mut self.pictures, MOST_PICTURES, KeptAnswer { asked, since: ElapsedTime::start(), answer, bytes });
    }

    #[cfg(test)]
    pub(super) fn page_bytes(&self) -> usize {
        self.pages.iter().map(|kept| kept.bytes).sum()
    }
}

fn found<T: Clone>(kept: &mut VecDeque<KeptAnswer<T>>, asked: &str) -> Option<T> {
    kept.retain(|answer| answer.since.elapsed() < KEPT_FOR);
    kept.iter().find(|answer| answer.asked == asked).map(|kept| kept.answer.clone())
}

fn keep<T>(kept: &mut VecDeque<KeptAnswer<T>>, most: usize, answer: KeptAnswer<T>) {
    kept.push_back(answer);
    // The oldest make room.
    while kept.len() > most || kept.iter().map(|kept| kept.bytes).sum::<usize>() > MOST_BYTES {
        kept.pop_front();
    }
}
