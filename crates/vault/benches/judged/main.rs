//! The quality of the ranked search by judged queries, in the library alone: by words, by meaning, and by both, with a
//! paired permutation test. `cargo bench --package lapidary-vault --bench judged -- /PATH/TO/SET.json…` measures sets from
//! elsewhere too: `notes` (a path and a text each) or `folder`, and `queries` (`query`, `wants`, perhaps `kind`).

#![expect(clippy::disallowed_methods, reason = "a benchmark writes the vault that it reads")]

mod measures;
#[path = "../../../server/benches/wire/report.rs"]
#[allow(dead_code, reason = "shared with other benchmarks")]
mod report;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use lapidary_vault::{
    PassageSize, RankedBy, RankedPage, Vault, View,
    store::{FolderStore, PosixBackend},
};
use measures::{Measures, PAGE, Paired, mean};
use report::{Failure, Report};
use serde_json::Value;

/// As a search shows them.
const SHOWN: RankedPage = RankedPage {
    offset: 0,
    limit: PAGE,
    size: PassageSize { context: 40, max_matches: 1, pieces: 0 },
    room: usize::MAX,
    takes: |_| 0,
};
/// Less of a difference is noise.
const NOISE: f64 = 0.015;
const LANGUAGES: [&str; 4] = ["en", "de", "ja", "zh"];
const ORDERS: [RankedBy; 3] = [RankedBy::Words, RankedBy::Meaning, RankedBy::Hybrid];

struct JudgedQuery {
    text: String,
    /// Descriptions, names, topics: what is said of it.
    kind: String,
    wants: BTreeMap<String, u32>,
}

fn main() -> Result<(), Failure> {
    // `cargo test` builds benchmarks too and runs them without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let mut report =
        Report::new(&["set: words, meaning, both", "queries", "hit@5", "MRR@10", "nDCG@10", "both − words"]);
    let around = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/judged");
    let sets = LANGUAGES.iter().map(|language| fixtures.join(format!("{language}.json")));
    let outside = std::env::args().skip(1).filter(|argument| argument.ends_with(".json")).map(PathBuf::from);
    let (mut gained, mut worse) = (Vec::new(), Vec::new());
    for (number, file) in sets.chain(outside).enumerate() {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let set: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
        // Two sets may have the same name.
        let place = around.path().join(number.to_string());
        let [words, meaning, both] = judge(&mut report, &name, &set, place)?;
        gained.push(both - words);
        if both < words.max(meaning) - NOISE {
            worse.push(name);
        }
    }
    report.say(format!("\nBoth against words, mean of the sets: {:+.3}.", mean(&gained)));
    report.keep("judged", "How well notes are found")?;
    if worse.is_empty() { Ok(()) } else { Err(format!("both together are worse: {worse:?}").into()) }
}

/// The mean gains: by words, by meaning, by both.
fn judge(report: &mut Report, name: &str, set: &Value, place: PathBuf) -> Result<[f64; 3], Failure> {
    let folder = set["folder"].as_str().map(PathBuf::from);
    if folder.is_some() && set["notes"].is_object() {
        return Err(format!("{name} has notes and a folder: nothing is written into a folder").into());
    }
    let root = folder.unwrap_or(place);
    for (path, text) in set["notes"].as_object().into_iter().flatten() {
        fs::create_dir_all(root.join(path).parent().unwrap_or(&root))?;
        fs::write(root.join(path), text.as_str().unwrap_or_default())?;
    }
    let queries: Vec<JudgedQuery> = set["queries"].as_array().into_iter().flatten().map(read).collect();
    let backend = Arc::new(PosixBackend::private(Arc::new(FolderStore::new(root))));
    let vault = Vault::private(name.to_owned(), backend);
    let view = vault.view(Arc::default(), u64::MAX);
    let mut orders: [Vec<Measures>; 3] = Default::default();
    for query in &queries {
        for (by, measured) in ORDERS.into_iter().zip(&mut orders) {
            measured.push(Measures::of(&found(&view, by, &query.text)?, &query.wants));
        }
    }
    let mut kinds: Vec<&str> = queries.iter().map(|query| query.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let all = [None];
    let of_kinds = kinds.iter().filter(|_| kinds.len() > 1).map(|kind| Some(*kind));
    for kind in all.into_iter().chain(of_kinds) {
        let is_meant = |query: &JudgedQuery| kind.is_none_or(|kind| query.kind == kind);
        say(
            report,
            name,
            kind,
            &orders.each_ref().map(|measured| {
                queries.iter().zip(measured).filter(|(query, _)| is_meant(query)).map(|(_, one)| *one).collect()
            }),
        );
    }
    Ok(orders.map(|measured| mean(&gains(&measured))))
}

fn say(report: &mut Report, name: &str, kind: Option<&str>, orders: &[Vec<Measures>; 3]) {
    let of = |what: fn(&Measures) -> f64| {
        orders
            .each_ref()
            .map(|measured| format!("{:.3}", mean(&measured.iter().map(what).collect::<Vec<_>>())))
            .join(", ")
    };
    let [words, _, both] = orders;
    let paired = Paired::of(&gains(both), &gains(words));
    report.say(format!(
        "| {name}{} | {} | {} | {} | {} | {:+.3}, p {:.3}, detectable from {:.3} |",
        kind.map_or(String::new(), |kind| format!(", {kind}")),
        words.len(),
        of(|one| one.hit),
        of(|one| one.reciprocal),
        of(|one| one.gain),
        paired.difference,
        paired.chance,
        paired.detectable,
    ));
}

fn gains(measured: &[Measures]) -> Vec<f64> {
    measured.iter().map(|one| one.gain).collect()
}

fn read(judged: &Value) -> JudgedQuery {
    let text = |key: &str| judged[key].as_str().unwrap_or_default().to_owned();
    let wants = judged["wants"].as_object().into_iter().flatten();
    let want = |(path, want): (&String, &Value)| (path.clone(), want.as_u64().unwrap_or_default() as u32);
    JudgedQuery { text: text("query"), kind: text("kind"), wants: wants.map(want).collect() }
}

fn found(view: &View, by: RankedBy, query: &str) -> Result<Vec<String>, Failure> {
    let found = view.ranked_by(by, query, SHOWN, &|| true).map_err(|error| format!("{error:?}"))?;
    Ok(found.hits.iter().map(|hit| hit.path.to_string()).collect())
}
