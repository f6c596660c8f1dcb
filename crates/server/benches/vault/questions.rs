//! The cost of long queries: nine words each, over a vault of long notes with a natural vocabulary.

use std::{fs, io, path::Path, time::Duration};

use serde_json::json;

use super::{
    asked, both,
    client::Server,
    generate::Random,
    megabytes,
    report::{Failure, Report, quantiles},
    size, timed,
};

const NOTES: usize = 10_000;
const VOCABULARY: usize = 60_000;
/// Words of a note on average; some have ten times as many.
const WORDS: usize = 1_400;
const QUESTIONS: usize = 200;
const FUNCTION_WORDS: [&str; 6] = ["how", "what", "the", "is", "of", "in"];

/// The word of a rank, made of syllables: the first are common, the last are in a few notes.
fn word(mut rank: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "co", "di", "fe", "gu", "ha", "ki", "lo", "ma", "ne", "po", "qua", "ri", "so", "ta", "vu", "we", "xi",
        "yo", "zen",
    ];
    let mut word = String::from(SYLLABLES[rank % SYLLABLES.len()]);
    rank /= SYLLABLES.len();
    for _ in 0..3 {
        word += SYLLABLES[rank % SYLLABLES.len()];
        rank /= SYLLABLES.len();
    }
    word
}

/// A rank roughly following Zipf's law.
fn rank(random: &mut Random) -> usize {
    let uniform = (random.below(1 << 24) as f64 + 1.0) / f64::from(1 << 24);
    ((VOCABULARY as f64).powf(uniform) as usize).min(VOCABULARY - 1)
}

fn vault(root: &Path) -> io::Result<()> {
    let mut random = Random::new(11);
    for number in 0..NOTES {
        let folder = root.join(format!("Volume {:02}", number / 500));
        fs::create_dir_all(&folder)?;
        let length = if number % 20 == 0 { 5 * WORDS } else { WORDS / 2 + random.below(WORDS / 2) };
        let mut text = format!("# {} {}\n\n", word(rank(&mut random)), word(rank(&mut random)));
        for at in 0..length {
            text += &word(rank(&mut random));
            text += match at % 97 {
                96 => ".\n\n",
                _ if at % 12 == 11 => ". ",
                _ => " ",
            };
        }
        fs::write(folder.join(format!("Entry {number}.md")), text)?;
    }
    Ok(())
}

pub(crate) fn measure(report: &mut Report, around: &Path) -> Result<(), Failure> {
    let root = around.join("questions");
    eprintln!("writing {NOTES} long notes …");
    vault(&root)?;
    std::thread::sleep(Duration::from_secs(3));
    report.say(format!("| **{NOTES} long notes** | {:.1} MB | |", megabytes(size(&root)?)));
    let own = around.join("questions-state");
    fs::create_dir_all(&own)?;
    let question = |random: &mut Random| -> String {
        let mut words: Vec<String> = (0..7).map(|_| word(rank(random))).collect();
        words.insert(0, FUNCTION_WORDS[random.below(6)].to_owned());
        words.insert(4, FUNCTION_WORDS[random.below(6)].to_owned());
        words.join(" ")
    };
    let mut server = asked(&root, &own, "obsidian_search_notes", &json!({ "query": word(9) }))?;
    super::ranked::settled(&mut server)?;
    for (name, more) in
        [("nine words", json!([])), ("nine words, three alternatives", json!(["baba coco", "didi", "fefe gugu"]))]
    {
        let mut random = Random::new(5);
        let times = quantiles(QUESTIONS, || {
            let arguments = json!({ "query": question(&mut random), "alternatives": more });
            timed(|| ask(&mut server, &arguments)).map(|((), took)| took)
        })?;
        report.say(format!("| ranked, {name} | {} | p95 30 ms |", both(times)));
    }
    Ok(())
}

fn ask(server: &mut Server, arguments: &serde_json::Value) -> Result<(), Failure> {
    super::call(server, "obsidian_search_notes", arguments)
}
