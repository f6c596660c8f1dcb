//! The quality of the ranked search: queries with the notes that a person would want, over the demo vault and a
//! generated vault, compared with a plain search for the same words.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};

use super::{
    client::Server,
    report::{Failure, Report},
};

/// A query, and how much each note is wanted, from 1 to 3.
pub(crate) struct Judged {
    pub(crate) query: String,
    pub(crate) wants: BTreeMap<String, u32>,
}

/// The first page of results.
const PAGE: usize = 10;

#[derive(Default)]
struct Quality {
    gain: f64,
    recall: f64,
}

pub(crate) fn measure(report: &mut Report, around: &Path) -> Result<(), Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let demo: Value = serde_json::from_str(&fs::read_to_string(folder.join("../../fixtures/judged/demo.json"))?)?;
    let demo: Vec<Judged> = demo.as_array().into_iter().flatten().map(read).collect();
    judge(report, &folder.join("../../demo"), around, "demo vault", &demo)?;
    for language in ["ja", "zh"] {
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

fn judge(report: &mut Report, root: &Path, around: &Path, name: &str, set: &[Judged]) -> Result<(), Failure> {
    let mut server = Server::start(root, &around.join(name.replace(' ', "-")))?;
    let (mut ranked, mut plain) = (Quality::default(), Quality::default());
    for judged in set {
        for (mode, quality) in [("omnisearch", &mut ranked), ("text", &mut plain)] {
            let found = found(&mut server, mode, &judged.query)?;
            let (gain, recall) = (gain(&found, judged), recall(&found, judged));
            quality.gain += gain;
            quality.recall += recall;
            if mode == "omnisearch" && gain < 0.6 {
                eprintln!("{name}: {} ({gain:.2}): {:?}", judged.query, &found[..found.len().min(4)]);
            }
        }
    }
    for (what, quality) in [("ranked", &ranked), ("plain words", &plain)] {
        let (gain, recall) = (quality.gain / set.len() as f64, quality.recall / set.len() as f64);
        report.say(format!("| {name}, {} queries, {what} | nDCG@10 {gain:.3}, recall@10 {recall:.3} | |", set.len()));
    }
    if ranked.gain < plain.gain { Err(format!("{name}: plain words are better").into()) } else { Ok(()) }
}

fn found(server: &mut Server, mode: &str, query: &str) -> Result<Vec<String>, Failure> {
    let arguments = json!({ "mode": mode, "query": query, "contextLength": 10, "maxMatchesPerHit": 1 });
    let reply = server.request("tools/call", &json!({ "name": "obsidian_search_notes", "arguments": arguments }))?;
    let hits = reply["result"]["structuredContent"]["result"]["hits"].as_array().ok_or_else(|| reply.to_string())?;
    Ok(hits.iter().filter_map(|hit| hit["filename"].as_str().map(str::to_owned)).take(PAGE).collect())
}

/// Normalised discounted cumulative gain.
fn gain(found: &[String], judged: &Judged) -> f64 {
    let discounted = |wants: &[u32]| -> f64 {
        wants.iter().enumerate().map(|(at, want)| (2_f64.powf(f64::from(*want)) - 1.0) / (at as f64 + 2.0).log2()).sum()
    };
    let got: Vec<u32> = found.iter().map(|path| judged.wants.get(path).copied().unwrap_or_default()).collect();
    let mut best: Vec<u32> = judged.wants.values().copied().collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    best.truncate(PAGE);
    discounted(&got) / discounted(&best)
}

fn recall(found: &[String], judged: &Judged) -> f64 {
    let wanted = judged.wants.len().min(PAGE);
    found.iter().filter(|path| judged.wants.contains_key(*path)).count() as f64 / wanted as f64
}
