//! What the search by meaning costs those who use it, and those who do not.

use std::{
    fs,
    io::{Read, Seek, SeekFrom},
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{both, call, generate, megabytes, memory, shown, timed};
use crate::{
    client::Server,
    report::{Failure, Report, quantiles},
};

const NOTES: usize = 10_000;
const EDITS: usize = 60;
const DOCUMENTS: usize = 120;
/// Of each document, about.
const DOCUMENT_BYTES: usize = 50_000;
/// The file of the bundled model, as it is in the program.
const MODEL: &[u8] = include_bytes!("../../../meaning/model/english.static");
const PAGE_BYTES: u64 = 4_096;
/// Whether a page of a process is in memory, in `/proc/PID/pagemap`.
const IS_PRESENT: u64 = 1 << 63;

/// What an edit says, and what it is searched by: other words for the same.
const SUBJECTS: [(&str, &str); 4] = [
    ("The violin concerto was played by an orchestra", "classical music"),
    ("Droppings of mice behind the oven", "rodents in the kitchen"),
    ("My salary arrives at the end of the month", "wages"),
    ("The doctor prescribed pills against fever", "medicine for an illness"),
];

pub(crate) fn measure(report: &mut Report, around: &Path) -> Result<(), Failure> {
    let root = around.join("meaning");
    eprintln!("writing {NOTES} notes …");
    generate::vault(&root, NOTES, 3)?;
    std::thread::sleep(Duration::from_secs(3));
    let state = around.join("meaning-state");
    let mut say = |what: &str, found: String, aim: &str| report.say(format!("| {what} | {found} | {aim} |"));

    idle(&mut say, &root, &state)?;
    let mut server = Server::start(&root, &state)?;
    let ((), took) = timed(|| settled(&mut server))?;
    say(&format!("first search of {NOTES} notes until meaning counts"), shown(took), "");
    let times = edits(&mut server)?;
    say("an edit over stdio, until a search by meaning has found it", both(times), "p95 50 ms");
    let before = megabytes(memory(&server, "VmRSS")?);
    drop(server);
    fs::remove_dir_all(&root)?;
    documents(&mut say, around)?;
    say("memory of that server after all searches", format!("{before:.0} MB"), "");
    Ok(())
}

/// A server that never searches: what the bundled model costs it.
fn idle(say: &mut impl FnMut(&str, String, &str), root: &Path, state: &Path) -> Result<(), Failure> {
    let mut last = None;
    let times = quantiles(15, || {
        let start = Instant::now();
        let mut server = Server::start(root, state)?;
        server.request("tools/list", &json!({}))?;
        let took = start.elapsed();
        last = Some(server);
        Ok(took)
    })?;
    say("start to the first `tools/list`", both(times), "");
    let mut server = last.ok_or("no server")?;
    call(&mut server, "file_read", &json!({ "file": super::NOTE }))?;
    say("memory of a server that has read a note", format!("{:.1} MB", megabytes(memory(&server, "VmRSS")?)), "");
    let (present, all) = model_pages(&server)?;
    say(
        "pages of the bundled model in its memory",
        format!("{present} of {all}"),
        "none but those beside other constants",
    );
    call(&mut server, "semantic_search", &json!({ "query": "wages" }))?;
    let (present, all) = model_pages(&server)?;
    say("the same after a search by meaning", format!("{present} of {all}"), "");
    Ok(())
}

/// How many pages of the model a process has in memory, and how many there are.
fn model_pages(server: &Server) -> Result<(u64, u64), Failure> {
    let process = format!("/proc/{}", server.child.id());
    let program = fs::read(env!("CARGO_BIN_EXE_lapidary"))?;
    // The beginning is only a name and a few numbers, so more of it is compared.
    let start =
        program.windows(4096).position(|window| window == &MODEL[..4096]).ok_or("the model is not in the program")?;
    let (start, end) = (start as u64, (start + MODEL.len()) as u64);
    let maps = fs::read_to_string(format!("{process}/maps"))?;
    let mut pages = fs::File::open(format!("{process}/pagemap"))?;
    let (mut present, mut all) = (0, 0);
    for line in maps.lines().filter(|line| line.ends_with(env!("CARGO_BIN_EXE_lapidary"))) {
        let mut fields = line.split_whitespace();
        let (range, offset) = (fields.next().ok_or("a range")?, fields.nth(1).ok_or("an offset")?);
        let (from, to) = range.split_once('-').ok_or("a range")?;
        let hexadecimal = |text: &str| u64::from_str_radix(text, 16);
        let (from, to, offset) = (hexadecimal(from)?, hexadecimal(to)?, hexadecimal(offset)?);
        for page in 0..(to - from) / PAGE_BYTES {
            let at = offset + page * PAGE_BYTES;
            // Whole pages of the model.
            if at < start || at + PAGE_BYTES > end {
                continue;
            }
            pages.seek(SeekFrom::Start((from / PAGE_BYTES + page) * 8))?;
            let mut entry = [0; 8];
            pages.read_exact(&mut entry)?;
            all += 1;
            present += u64::from(u64::from_le_bytes(entry) & IS_PRESENT != 0);
        }
    }
    Ok((present, all))
}

/// Waits until a search counts meaning.
fn settled(server: &mut Server) -> Result<(), Failure> {
    let search = json!({ "query": "wages" });
    while asked(server, "obsidian_search_notes", &search)?["result"]["mode"] != "hybrid" {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn asked(server: &mut Server, tool: &str, arguments: &Value) -> Result<Value, Failure> {
    let mut reply = server.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
    match reply["result"]["isError"] == false {
        true => Ok(reply["result"]["structuredContent"].take()),
        false => Err(reply.to_string().into()),
    }
}

/// From the reply of an edit to the reply of the search that finds it.
fn edits(server: &mut Server) -> Result<crate::report::Times, Failure> {
    let mut number = 0;
    quantiles(EDITS, || {
        let (says, query) = SUBJECTS[number % SUBJECTS.len()];
        let file = format!("Area {:03}/Note {}.md", number % 40, number % 40 * 250 + 7);
        number += 1;
        let mark = format!("{says}, number{number}.");
        call(server, "file_append", &json!({ "file": file, "content": format!("\n\n## News {number}\n\n{mark}\n") }))?;
        let search = json!({ "query": query, "folder": file.split('/').next().unwrap_or_default() });
        let (found, took) = timed(|| asked(server, "semantic_search", &search))?;
        let passages = found["passages"].as_array().ok_or("no passages")?;
        let is_found = |passage: &Value| passage["text"].as_str().is_some_and(|text| text.contains(&mark));
        if passages.iter().any(is_found) {
            Ok(took)
        } else {
            Err(format!("the edit of {file} was not found: {found}").into())
        }
    })
}

/// Documents by pages: how long until they are found, and what their index takes in memory.
fn documents(say: &mut impl FnMut(&str, String, &str), around: &Path) -> Result<(), Failure> {
    let root = around.join("documents");
    fs::create_dir_all(root.join("Files"))?;
    fs::write(root.join("Note.md"), "A note.\n")?;
    let mut random = generate::Random::new(5);
    for number in 0..DOCUMENTS {
        let mut text = format!("Document {number}.\n");
        while text.len() < DOCUMENT_BYTES {
            // As many words as a language has, some of them often.
            let word = random.below(20_000).min(random.below(20_000)).min(random.below(20_000));
            text += &format!("word{word} ");
            if random.below(12) == 0 {
                text += ".\n";
            }
        }
        fs::write(root.join(format!("Files/{number}.txt")), text)?;
    }
    std::thread::sleep(Duration::from_secs(3));
    let state = around.join("documents-state");
    let mut server = Server::start(&root, &state)?;
    call(&mut server, "file_read", &json!({ "file": "Note.md" }))?;
    let before = memory(&server, "VmRSS")?;
    let search = json!({ "query": "word77" });
    let ((), took) = timed(|| -> Result<(), Failure> {
        loop {
            let found = asked(&mut server, "semantic_search", &search)?;
            if found["notice"].is_null() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    })?;
    let text = (DOCUMENTS * DOCUMENT_BYTES) as f64 / 1e6;
    say(&format!("{DOCUMENTS} documents, {text:.1} MB of text, until all are found by meaning"), shown(took), "");
    // What reading took meanwhile is given back when nothing has happened for a while.
    let after = memory(&server, "VmRSS")?;
    say(
        "memory for their index by pages, with vectors",
        format!("{:.1} MB", megabytes(after.saturating_sub(before))),
        "",
    );
    Ok(())
}
