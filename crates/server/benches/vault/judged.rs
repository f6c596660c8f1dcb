//! The quality of the ranked search: queries with the notes that a person would want, over the demo vault and a
//! generated vault and sets in four languages: by words, by meaning, by both, and by a plain search for the same words.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    client::Server,
    measures::{Measures, PAGE, Paired, mean},
    report::{Failure, Report},
};

/// A query, and how much each note is wanted, from 1 to 3.
pub(crate) struct Judged {
    pub(crate) query: String,
    pub(crate) wants: BTreeMap<String, u32>,
}

pub(crate) fn measure(report: &mut Report, around: &Path) -> Result<(), Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let demo: Value = serde_json::from_str(&fs::read_to_string(folder.join("../../fixtures/judged/demo.json"))?)?;
    let demo: Vec<Judged> = demo.as_array().into_iter().flatten().map(read).collect();
    judge(report, &folder.join("../../demo"), around, "demo vault", &demo)?;
    for language in ["en", "de", "ja", "zh"] {
        let json: Value =
            serde_json::from_str(&fs::read_to_string(folder.join(format!("../../fixtures/judged/{language}.json")))?)?;
        let root = around.join(format!("judged-{language}"));
        for (path, text) in json["notes"].as_object().into_iter().flatten() {
            fs::create_dir_all(root.join(path).parent().unwrap_or(&root))?;
            fs::write(root.join(path), text.as_str().unwrap_or_default())?;
        }
        let set: Vec<Judged> = json["queries"].as_array().into_iter().flatten().map(read).collect();
        judge(report, &root, around, &format!("{language} vault"), &set)?;
    }
    let root = around.join("judged");
    let made = super::subjects::vault(&root)?;
    judge(report, &root, around, "made vault", &made)
}

fn read(judged: &Value) -> Judged {
    let wants = judged["wants"].as_object().into_iter().flatten();
    let want = |(path, want): (&String, &Value)| (path.clone(), want.as_u64().unwrap_or_default() as u32);
    Judged { query: judged["query"].as_str().unwrap_or_default().to_owned(), wants: wants.map(want).collect() }
}

/// How a set is searched: without `mode`, by words and meaning.
const MODES: [(&str, &str); 4] =
    [("hybrid", "words and meaning"), ("omnisearch", "words"), ("semantic", "meaning"), ("text", "plain words")];
/// Less of a difference is noise.
const NOISE: f64 = 0.015;
/// Vectors are made within this time.
const PATIENCE: Duration = Duration::from_secs(60);

fn judge(report: &mut Report, root: &Path, around: &Path, name: &str, set: &[Judged]) -> Result<(), Failure> {
    let mut server = Server::start(root, &around.join(name.replace(' ', "-")))?;
    let started = Instant::now();
    // The first answers of a large vault are by words alone.
    while mode(&mut server, &set[0].query)? == "omnisearch" && started.elapsed() < PATIENCE {
        sleep(Duration::from_millis(50));
        if is_foreign(&set[0].query) {
            break;
        }
    }
    let mut gains: [Vec<f64>; 4] = Default::default();
    for ((mode, what), gains) in MODES.iter().zip(&mut gains) {
        let mut recalled = 0.0;
        for judged in set {
            let found = found(&mut server, mode, &judged.query)?;
            let gain = Measures::of(&found, &judged.wants).gain;
            recalled += recall(&found, judged);
            if *mode == "hybrid" && gain < 0.4 {
                eprintln!("{name}: {} ({gain:.2}): {:?}", judged.query, &found[..found.len().min(4)]);
            }
            gains.push(gain);
        }
        let count = set.len() as f64;
        let (gain, recall) = (mean(gains), recalled / count);
        report.say(format!("| {name}, {} queries, {what} | nDCG@10 {gain:.3}, recall@10 {recall:.3} | |", set.len()));
    }
    let [both, words, meaning, plain] = &gains;
    for (what, other) in [("words", words), ("meaning", meaning)] {
        let paired = Paired::of(both, other);
        report.say(format!(
            "| {name}, both against {what} | {:+.3}, p {:.3}, detectable from {:.3} | |",
            paired.difference, paired.chance, paired.detectable
        ));
    }
    let better = mean(words).max(mean(meaning));
    if mean(words) < mean(plain) {
        return Err(format!("{name}: plain words are better").into());
    }
    if mean(both) < better - NOISE { Err(format!("{name}: both together are worse").into()) } else { Ok(()) }
}

/// Queries that are ranked by words alone, whatever is asked for.
fn is_foreign(query: &str) -> bool {
    !query.is_ascii() && query.chars().filter(|c| c.is_ascii_alphabetic()).count() * 2 < query.chars().count()
}

fn mode(server: &mut Server, query: &str) -> Result<String, Failure> {
    let arguments = json!({ "query": query });
    let reply = server.request("tools/call", &json!({ "name": "obsidian_search_notes", "arguments": arguments }))?;
    let mode = reply["result"]["structuredContent"]["result"]["mode"].as_str().map(str::to_owned);
    mode.ok_or_else(|| reply.to_string().into())
}

fn found(server: &mut Server, mode: &str, query: &str) -> Result<Vec<String>, Failure> {
    let arguments = json!({ "mode": mode, "query": query, "contextLength": 10, "maxMatchesPerHit": 1 });
    let reply = server.request("tools/call", &json!({ "name": "obsidian_search_notes", "arguments": arguments }))?;
    let hits = reply["result"]["structuredContent"]["result"]["hits"].as_array().ok_or_else(|| reply.to_string())?;
    Ok(hits.iter().filter_map(|hit| hit["filename"].as_str().map(str::to_owned)).take(PAGE).collect())
}

fn recall(found: &[String], judged: &Judged) -> f64 {
    let wanted = judged.wants.len().min(PAGE);
    found.iter().filter(|path| judged.wants.contains_key(*path)).count() as f64 / wanted as f64
}
