//! Every tool, prompt, resource and completion, called with hidden and visible things in every way its schema allows:
//! no reply contains a word of a hidden file, and every reply is the same if the hidden files do not exist.

use std::collections::BTreeMap;

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
fn no_approval_request_reveals_files_closed_by_rules() {
    nothing_tells(Closing::Rules, &[("LAPIDARY_APPROVAL", "write=ask,destroy=ask")], |offer| offer.writes);
}

/// As many requests as there is time for. With more tools, fewer are made of each, but always the first ones.
const MOST: usize = 2_000;
const FIRST: usize = 40;

fn nothing_tells(closing: Closing, environment: &[(&str, &str)], wanted: fn(&Offer) -> bool) {
    let mut offers = offers::all(&mut Twin::new(true, closing, &BTreeMap::new(), environment).client);
    assert!(offers.len() > 5, "there is something to try");
    offers.retain(wanted);
    let thinning = offers.iter().map(|offer| offer.requests.len()).sum::<usize>().div_ceil(MOST);
    for mut offer in offers {
        let mut number = 0;
        offer.requests.retain(|_| {
            number += 1;
            number <= FIRST || number % thinning == 0
        });
        let ask = |full: bool| {
            let mut twin = Twin::new(full, closing, &offer.needs, environment);
            let replies: Vec<String> = offer.requests.iter().map(|request| reply(&mut twin, request)).collect();
            (replies, twin)
        };
        let ((with, full), (without, _)) = std::thread::scope(|scope| {
            let bare = scope.spawn(|| ask(false));
            (ask(true), bare.join().unwrap())
        });
        // Text that a caller wrote into a note may be read there later.
        let mut said = String::new();
        for (request, (with, without)) in offer.requests.iter().zip(with.iter().zip(&without)) {
            said += &request.params.to_string().to_lowercase();
            assert_silent(&said, &request.params, with);
            let differs = DIFFERS_AFTER_WRITING.iter().filter(|_| offer.writes).chain(&DIFFERS);
            let same = |reply: &str| differs.clone().fold(reply.to_owned(), |reply, (name, _)| blanked(&reply, name));
            let (with, without) = (same(with), same(without));
            if request.params.to_string().contains("operation_log") {
                // The log has the time of a call, which differs between the vaults.
                assert_eq!(timeless(&with), timeless(&without), "{closing:?}: {request:?}");
                continue;
            }
            assert_eq!(with, without, "{closing:?}: {request:?}");
        }
        let is_done = |reply: &&String| reply.contains("\"result\"") && !reply.contains("\"isError\":true");
        let done = with.iter().filter(is_done).count();
        let least = SUCCEED.iter().find(|(tool, _)| *tool == offer.name).map_or(0, |(_, least)| *least);
        // Where little may be written, and where everything is asked, fewer calls are done.
        if matches!(closing, Closing::Rules) && !environment.iter().any(|(_, value)| value.contains("ask")) {
            assert!(done >= least, "{} is done {done} times of {}", offer.name, offer.requests.len());
        }
        assert!(full.is_untouched(), "{closing:?}: {} changed a hidden file", offer.name);
    }
}

/// Tools that are called with success, each at least this often: one that is always refused reveals nothing anyway. The
/// calls of [`sequences`](super::sequences) cover the tools that change something, which need arguments that fit together.
const SUCCEED: [(&str, usize); 4] = [("changes", 3), ("query", 3), ("query_explain", 1), ("notes_read", 3)];

/// Without the times, as `2026-11-16T06:31:12.645Z` writes them.
fn timeless(reply: &str) -> String {
    let parts: Vec<&str> = reply.split("T").collect();
    let is_time = |part: &str| part.len() >= 13 && part.as_bytes()[2] == b':' && part.as_bytes()[12] == b'Z';
    parts.iter().map(|part| if is_time(part) { &part[13..] } else { part }).collect()
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
