//! Every tool, prompt, resource and completion, called with hidden and visible things in every way its schema allows:
//! no reply contains a word of a hidden file, and every reply is the same if the hidden files do not exist.

use std::collections::BTreeMap;

use lapidary_vault::DocumentKind;
use serde_json::Value;

use super::{
    offers::{self, Offer, Request},
    twins::{Closing, MARK, Twin},
};

/// What may differ between the vaults, and why.
const DIFFERS: [(&str, &str); 4] = [
    ("ctimeMs", "no program can set when a file was made"),
    ("ctime", "no program can set when a file was made"),
    ("proposal_token", "a proposal is sealed with a random key, so that it cannot be forged"),
    ("requestState", "a question is sealed with a random key, so that it cannot be answered for another"),
];
/// What else may differ once a tool has written.
const DIFFERS_AFTER_WRITING: [(&str, &str); 3] = [
    ("mtime", "the call was made in each vault at its own time"),
    ("checkpoint", "its name is drawn by lot"),
    ("Checkpoint", "its name is drawn by lot"),
];

#[test]
fn nothing_reveals_files_closed_by_rules() {
    nothing_tells(Closing::Rules, &[("LAPIDARY_APPROVAL", "write=allow,destroy=allow")], |_| true);
}

#[test]
fn nothing_reveals_files_that_are_not_allowed() {
    nothing_tells(Closing::Lists, &[("LAPIDARY_APPROVAL", "write=allow,destroy=allow")], |_| true);
}

#[test]
fn nothing_reveals_files_that_a_token_does_not_open() {
    nothing_tells(Closing::Principal, &[("LAPIDARY_APPROVAL", "write=allow,destroy=allow")], |_| true);
}

#[test]
fn nothing_reveals_files_that_a_grant_does_not_open() {
    nothing_tells(Closing::Granted, &[("LAPIDARY_APPROVAL", "write=allow,destroy=allow")], |_| true);
}

#[test]
fn nothing_reveals_files_closed_by_rules_to_a_scoped_web_token() {
    nothing_tells(Closing::Scoped, &[("LAPIDARY_APPROVAL", "write=allow,destroy=allow")], |_| true);
}

#[test]
fn nothing_reveals_files_that_are_not_allowed_to_a_token_of_another_issuer() {
    nothing_tells(Closing::Issued, &[("LAPIDARY_APPROVAL", "write=allow,destroy=allow")], |_| true);
}

#[test]
fn nothing_reveals_files_of_a_remote_vault_closed_by_rules() {
    nothing_tells(Closing::Remote, &[("LAPIDARY_APPROVAL", "write=allow,destroy=allow")], |_| true);
}

#[test]
fn no_approval_request_reveals_files_closed_by_rules() {
    nothing_tells(Closing::Rules, &[("LAPIDARY_APPROVAL", "write=ask,destroy=ask")], |offer| offer.writes);
}

/// About as many requests as one kind of closing is tried with, and how many there always are of each offer.
const MOST: usize = 2_000;
const FIRST: usize = 40;
/// All tools see a vault through the same view, whatever closed it. So only [`Closing::Rules`] is tried with all requests;
/// each of the other kinds, and approval requests, with the first ones, and with a share of the rest that differs from kind to kind.
/// `LAPIDARY_LEAKS=all` tries everything with each; `make soak` does.
const FIRST_OF_SHARE: usize = 8;
const SHARES: usize = 5;
/// Offers that only read share a vault until their examples need this many files: more would crowd out what could leak.
const MOST_SHARED: usize = 10;

/// The requests of an offer that are made for this kind of closing.
fn chosen(offer: &mut Offer, closing: Closing, asks: bool, thinning: usize) {
    let (first, step, share) = match closing {
        _ if std::env::var("LAPIDARY_LEAKS").is_ok_and(|which| which == "all") => (FIRST, thinning, 0),
        Closing::Rules if !asks => (FIRST, thinning, 0),
        other => (FIRST_OF_SHARE, thinning * SHARES, thinning * (other as usize % SHARES)),
    };
    let mut number = 0;
    offer.requests.retain(|request| {
        number += 1;
        // What another tool changed is undone through this one, after whatever was chosen before it.
        let is_relayed_undo = request.params["name"] == "call_tool" && request.params["arguments"]["name"] == "undo";
        number <= first || number % step == share || (is_relayed_undo && share == 0)
    });
}

/// Offers that can be tried on one pair of vaults, one after the other. One that writes has its own pair, because its changes
/// would be in the replies of others; so has the log, which contains what was sent before.
fn shared_by(offers: Vec<Offer>) -> Vec<Vec<Offer>> {
    let is_alone = |offer: &Offer| offer.writes || offer.name == "operation_log";
    let mut groups: Vec<Vec<Offer>> = Vec::new();
    for offer in offers {
        let fits = |group: &&mut Vec<Offer>| {
            let mut all = offer.needs.clone();
            group.iter().for_each(|other| all.extend(&other.needs));
            let agrees =
                |other: &Offer| other.needs.iter().all(|(path, text)| offer.needs.get(path).unwrap_or(text) == text);
            !is_alone(&group[0]) && all.len() <= MOST_SHARED && group.iter().all(agrees)
        };
        match groups.iter_mut().find(fits).filter(|_| !is_alone(&offer)) {
            Some(group) => group.push(offer),
            None => groups.push(vec![offer]),
        }
    }
    groups
}

fn nothing_tells(closing: Closing, environment: &[(&str, &str)], wanted: fn(&Offer) -> bool) {
    let mut offers = offers::all(&mut Twin::new(true, closing, &BTreeMap::new(), environment).client);
    assert!(offers.len() > 5, "there is something to try");
    offers.retain(wanted);
    let thinning = offers.iter().map(|offer| offer.requests.len()).sum::<usize>().div_ceil(MOST);
    let asks = environment.iter().any(|(_, value)| value.contains("ask"));
    offers.iter_mut().for_each(|offer| chosen(offer, closing, asks, thinning));
    for group in shared_by(offers) {
        let needs: BTreeMap<&str, &str> = group.iter().flat_map(|offer| offer.needs.clone()).collect();
        let ask = |full: bool| {
            let mut twin = Twin::new(full, closing, &needs, environment);
            if needs.keys().any(|path| DocumentKind::named(path).is_some()) {
                twin.settle_documents();
            }
            let mut replies_of = |offer: &Offer| -> Vec<String> {
                offer.requests.iter().map(|request| reply(&mut twin, request)).collect()
            };
            let replies: Vec<Vec<String>> = group.iter().map(&mut replies_of).collect();
            (replies, twin)
        };
        let ((with, full), (without, _)) = std::thread::scope(|scope| {
            let bare = scope.spawn(|| ask(false));
            (ask(true), bare.join().unwrap())
        });
        for (offer, (with, without)) in group.iter().zip(with.iter().zip(&without)) {
            compare(closing, offer, with, without);
            let is_done = |reply: &&String| reply.contains("\"result\"") && !reply.contains("\"isError\":true");
            let done = with.iter().filter(is_done).count();
            let least = SUCCEED.iter().find(|(tool, _)| *tool == offer.name).map_or(0, |(_, least)| *least);
            // Where little may be written, and where everything is asked, fewer calls are done.
            if matches!(closing, Closing::Rules) && !asks {
                assert!(done >= least, "{} is done {done} times of {}", offer.name, offer.requests.len());
            }
        }
        let names: Vec<&str> = group.iter().map(|offer| offer.name.as_str()).collect();
        assert!(full.is_untouched(), "{closing:?}: {names:?} changed a hidden file");
    }
}

/// The replies with and without hidden files are the same and contain no word of one.
fn compare(closing: Closing, offer: &Offer, with: &[String], without: &[String]) {
    // Text that a caller wrote into a note may be read there later.
    let mut said = String::new();
    for (request, (with, without)) in offer.requests.iter().zip(with.iter().zip(without)) {
        said += &request.params.to_string().to_lowercase();
        assert_silent(&said, &request.params, with);
        let differs = DIFFERS_AFTER_WRITING.iter().filter(|_| offer.writes).chain(&DIFFERS);
        let same = |reply: &str| differs.clone().fold(reply.to_owned(), |reply, (name, _)| blanked(&reply, name));
        // What undoes an earlier change names it.
        let unnamed = |reply: String| if offer.writes { without_ids(&reply) } else { reply };
        let (with, without) = (unnamed(same(with)), unnamed(same(without)));
        if request.params.to_string().contains("operation_log") {
            // The log has the time of a call, which differs between the vaults.
            assert_eq!(timeless(&with), timeless(&without), "{closing:?}: {request:?}");
            continue;
        }
        assert_eq!(with, without, "{closing:?}: {request:?}");
    }
}

/// Tools that are called with success, each at least this often: one that is always refused reveals nothing anyway. The
/// calls of [`sequences`](super::sequences) cover the tools that change something, which need arguments that fit together.
const SUCCEED: [(&str, usize); 5] =
    [("changes", 3), ("query", 3), ("query_explain", 1), ("notes_read", 3), ("call_tool", 20)];

/// Without the times, as `2026-11-16T06:31:12.645Z` writes them.
fn timeless(reply: &str) -> String {
    let parts: Vec<&str> = reply.split("T").collect();
    let is_time = |part: &str| part.len() >= 13 && part.as_bytes()[2] == b':' && part.as_bytes()[12] == b'Z';
    parts.iter().map(|part| if is_time(part) { &part[13..] } else { part }).collect()
}

/// Without the ids of checkpoints, which are drawn by lot, those of requests that wait, which depend on the token, and
/// without the times of changes in seconds.
fn without_ids(reply: &str) -> String {
    let is_id = |word: &str| matches!(word.len(), 12 | 16) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_time = |word: &str| word.len() == 12 && word.as_bytes()[2] == b'T' && word.ends_with('Z');
    let words = reply.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric() && letter != ':');
    let kept = words.filter(|word| {
        let bare = word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        !is_id(bare) && !is_time(bare)
    });
    kept.collect()
}

/// The whole answer, including messages on the way.
fn reply(twin: &mut Twin, Request { method, params }: &Request) -> String {
    let mut reply = twin.client.request(method, params.clone());
    reply.as_object_mut().unwrap().shift_remove("id");
    format!("{reply} {}", Value::Array(twin.client.aside()))
}

/// No word of a hidden file, unless the caller sent it first.
#[track_caller]
pub(super) fn assert_silent(said: &str, request: &Value, reply: &str) {
    let reply = reply.to_lowercase();
    for (at, _) in reply.match_indices(MARK) {
        let word = reply[at..].split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
        assert!(said.contains(word), "{word} leaks: {request} was answered {reply}");
    }
}

/// The reply without the value of a name, in JSON, in JSON within text, and in text.
pub(super) fn blanked(reply: &str, name: &str) -> String {
    let mut parts = reply.split(name);
    let mut blanked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.trim_start_matches(['"', '`', '\\', ':', '=', ' ']);
        let rest = value
            .trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'));
        blanked += name;
        blanked += rest;
    }
    blanked
}
