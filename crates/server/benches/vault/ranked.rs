//! What the ranked search costs in a large vault.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    asked, both, calls,
    client::Server,
    megabytes, processor,
    report::{Failure, quantiles},
    shown, size, timed,
};

const TOOL: &str = "obsidian_search_notes";

fn query(text: &str) -> Value {
    json!({ "mode": "omnisearch", "query": text })
}

pub(crate) fn measure(
    say: &mut dyn FnMut(&str, String, &str),
    root: &Path,
    around: &Path,
    notes: usize,
) -> Result<(), Failure> {
    let (small, large) = (notes == 10_000, notes == 100_000);
    let own = around.join(format!("ranked-{notes}"));
    fs::create_dir_all(&own)?;
    let words = query("garnet letter evening");
    let (mut first, cold) = timed(|| asked(root, &own, TOOL, &words))?;
    say("start without any cache to the first ranked answer", shown(cold), if small { "150 ms" } else { "" });
    let started = Instant::now();
    settled(&mut first)?;
    let used = processor(&first)?;
    say("until all is indexed", format!("{}, {used:.2} s of processor", shown(cold + started.elapsed())), "");
    for (name, text) in [
        ("one word, in nearly all notes", "garnet"),
        ("three words", "garnet letter evening"),
        ("a rare word", "\"Note 4711\""),
        ("a phrase", "\"garnet letter\""),
        ("the beginning of a word", "garn"),
        ("a typing error", "granet leter"),
        ("an exclusion and a folder", "garnet -letter path:\"area 001\""),
        ("words on one line", "line:(garnet letter moss)"),
    ] {
        let times = calls(&mut first, TOOL, &query(text), 30)?;
        say(&format!("ranked, {name}"), both(times), if name == "three words" { "p50 5 ms" } else { "" });
    }
    let mut number = 0;
    let times = quantiles(100, || {
        number += 1;
        fs::write(root.join("Area 000/Note 2.md"), format!("# Edited\nzirconia{number}x is here\n"))?;
        let edited = query(&format!("\"zirconia{number}x\""));
        let (found, took) = timed(|| first.request("tools/call", &json!({ "name": TOOL, "arguments": edited })))?;
        let total = &found["result"]["structuredContent"]["result"]["totalCount"];
        if *total == 1 { Ok(took) } else { Err(format!("the edit was not found: {found}").into()) }
    })?;
    say("ranked, right after another program saved a note", both(times), "20 ms");
    // Ends by itself, so that it saves its index.
    first.finish()?;
    let text = size(root)?;
    let kept = fs::read_dir(own.join("state"))?.filter_map(Result::ok).map(|entry| kept(&entry.path())).sum::<u64>();
    say("the words of all notes on disk", format!("{:.1} MB", megabytes(kept)), &format!("{:.1} MB", megabytes(text)));
    let times = quantiles(7, || timed(|| asked(root, &own, TOOL, &words)).map(|(_, took)| took))?;
    say("start with a good cache to the first ranked answer", both(times), "");
    let mut server = asked(root, &own, "links_get", &json!({ "file": super::NOTE, "direction": "backlinks" }))?;
    let (_, took) = timed(|| super::call(&mut server, TOOL, &words))?;
    say("of that, to open the index of words", shown(took), if large { "200 ms" } else { "" });
    Ok(())
}

/// Waits until answers come from the index.
pub(crate) fn settled(server: &mut Server) -> Result<(), Failure> {
    loop {
        let found = server.request("tools/call", &json!({ "name": TOOL, "arguments": query("evening") }))?;
        let notice = found["result"]["structuredContent"]["notice"].as_str().unwrap_or_default();
        if !notice.contains("plain scan") {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn kept(folder: &Path) -> u64 {
    fs::metadata(folder.join("search.db")).map_or(0, |file| file.len())
}
