//! Whether any tool is for a request: the best match for `read a pdf` would be misleading, because no tool reads one.

use std::collections::HashSet;

use super::{
    ToolRanking, WishTerm,
    known_requests::{KNOWN, SimilarRequests},
    stems, telling_terms,
};

/// A request is understood if it is this similar to one that is known.
const ALIKE: f32 = 0.5;
/// How much the known words of a request have to say if there are unknown ones: for the first, and for each further one, as
/// topics have several words. Words of most tools, such as `note`, say less.
const TOLERANCE: f32 = 1.5;
const FURTHER: f32 = 0.25;

/// What follows these is a topic.
const TOPIC_FOLLOWS: &str = "about containing contains called named titled mentioning über namens sobre sur";

/// In the vocabulary, the word for what is done without a vault: flights, mail, the weather.
const ELSEWHERE: &str = "elsewhere";
/// The word for the web, in the vocabulary and in the names of its tools: elsewhere too, for a caller without them.
const WEB: &str = "web";
/// Beside such a word, these say that it is a topic (`find my note on the flight`, `delete the mail drafts`).
const IN_THE_VAULT: &str = "rename move delete undo restore search find mention append task done remember recall daily tag \
    backlink history version merge split replace typo changes status property link heading section remove orphan \
    reschedule save clip";
/// And these only together with something that a vault has: `create a note for the flight`, but not `put on music`.
const ANYWHERE: &str = "add set create new write read show open list edit change fix insert put count";
const HELD: &str = "note file folder tag link heading section property task daily vault template canvas attachment image \
    picture line paragraph block";

impl ToolRanking<'_> {
    /// Whether the tools know enough of a request. Topics are the user's own and not counted.
    pub(in super::super) fn understands(&self, wish: &str) -> bool {
        self.understands_by(wish, &KNOWN.similar(wish))
    }

    pub(super) fn understands_by(&self, wish: &str, similar: &SimilarRequests) -> bool {
        // Every second part is between quotes, and that is a name or a topic.
        let unquoted: Vec<&str> = wish.split(['"', '`', '“', '”', '„']).step_by(2).collect();
        let unquoted = unquoted.join(" ");
        let starts = TOPIC_FOLLOWS.split(' ').filter_map(|word| unquoted.find(&format!(" {word} ")));
        let said = starts.min().map_or(unquoted.as_str(), |start| &unquoted[..start]);
        let terms = telling_terms(said);
        if self.is_elsewhere(&terms) {
            return false;
        }
        // Only now: a request for what no tool reaches may be worded like one that is known.
        if similar.nearest >= ALIKE {
            return true;
        }
        let (mut known, mut needed) = (0.0, None);
        for term in terms {
            let told = term.means.keys().filter_map(|word| self.known(word)).map(|word| self.tells(word));
            match told.max_by(f32::total_cmp) {
                Some(told) => known += told,
                // A name says nothing about what is wanted, and an everyday word is not a topic.
                None if term.own || term.everyday => {}
                None => needed = Some(needed.map_or(TOLERANCE, |needed| needed + FURTHER)),
            }
        }
        // If there are only empty words, the ranking decides.
        known >= needed.unwrap_or_default()
    }

    /// Whether a request is for something that no tool reaches.
    fn is_elsewhere(&self, terms: &[WishTerm]) -> bool {
        let has_web = self.tools.iter().any(|(_, fields)| fields.name.first().is_some_and(|word| word == WEB));
        let elsewhere = if has_web { stems(ELSEWHERE) } else { stems(&format!("{ELSEWHERE} {WEB}")) };
        let (others, here): (Vec<&WishTerm>, Vec<&WishTerm>) =
            terms.iter().partition(|term| term.means.keys().any(|word| elsewhere.contains(word)));
        let meant: HashSet<&str> = here.iter().flat_map(|term| term.means.keys()).map(String::as_str).collect();
        let one_of = |list: &str| stems(list).iter().any(|word| meant.contains(word.as_str()));
        // `download the web page`; without the tools for it, no word that means the web is here.
        let is_topic = || one_of(IN_THE_VAULT) || (one_of(ANYWHERE) && one_of(HELD)) || one_of(WEB);
        !others.is_empty() && !is_topic()
    }
}
