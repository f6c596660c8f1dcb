//! How fast notes are parsed, compared with the Markdown parser alone in the same run.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use lapidary_note::Note;
use pulldown_cmark::{Options, Parser};

const RUNS: usize = 7;

#[expect(clippy::print_stdout, reason = "the result of a bench is what it prints")]
fn main() {
    let demo = notes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo"));
    let corpora = [
        ("generated", generated(20_000)),
        ("generated, no properties", without_properties(&generated(20_000))),
        ("demo", demo),
    ];
    println!("{:26} {:>9} {:>12} {:>12} {:>7}", "corpus", "MB", "note MB/s", "parser MB/s", "ratio");
    for (name, corpus) in corpora {
        let bytes: usize = corpus.iter().map(String::len).sum();
        // A small corpus is parsed repeatedly so that it can be measured.
        let rounds = (20_000_000 / bytes.max(1)).clamp(1, 5_000);
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        for _ in 0..RUNS {
            ours = ours.min(time(&corpus, rounds, |text| Note::parse(text).links.len()));
            theirs =
                theirs.min(time(&corpus, rounds, |text| Parser::new_ext(text, options()).into_offset_iter().count()));
        }
        let speed = |taken: Duration| (bytes * rounds) as f64 / 1e6 / taken.as_secs_f64();
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!("{name:26} {:9.2} {:12.1} {:12.1} {ratio:7.2}", bytes as f64 / 1e6, speed(ours), speed(theirs));
    }
}

/// What we would request from the parser if it did all the work.
fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_WIKILINKS
        | Options::ENABLE_GFM
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
}

#[expect(clippy::disallowed_methods, reason = "a bench measures")]
fn time(corpus: &[String], rounds: usize, read: impl Fn(&str) -> usize) -> Duration {
    let start = Instant::now();
    for _ in 0..rounds {
        for text in corpus {
            std::hint::black_box(read(std::hint::black_box(text)));
        }
    }
    start.elapsed()
}

/// Reading files is what this bench is about; the rule against it is for the server.
#[expect(clippy::disallowed_methods, reason = "a bench has no vault")]
fn notes(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.extend(
                    std::fs::read(&path).ok().map(|bytes| String::from_utf8_lossy(&bytes).replace("\r\n", "\n")),
                );
            }
        }
    }
    found
}

fn without_properties(corpus: &[String]) -> Vec<String> {
    let body = |text: &String| {
        text.strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
            .map_or(text.clone(), |(_, body)| body.to_owned())
    };
    corpus.iter().map(body).collect()
}

/// Notes like those people write: mostly prose, a few properties, some of everything else.
fn generated(count: usize) -> Vec<String> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    (0..count).map(|number| note(&mut random, number)).collect()
}

fn note(random: &mut Random, number: usize) -> String {
    let mut text = String::new();
    if random.below(10) < 8 {
        text += &format!(
            "---\ntags: [area/{}, daily]\nstatus: open\ncreated: 2026-04-{:02}\nup: \"[[Note {number}]]\"\n---\n",
            number % 7,
            number % 28 + 1
        );
    }
    text += &format!("# Note {number}\n\n");
    for _ in 0..random.below(12) + 3 {
        match random.below(16) {
            0 => text += &format!("## {}\n\n", sentence(random, 4)),
            1 => {
                for _ in 0..random.below(6) + 1 {
                    text += &format!(
                        "- [{}] {} 📅 2026-05-{:02}\n",
                        ["x", " ", "/"][random.below(3)],
                        sentence(random, 8),
                        random.below(28) + 1
                    );
                }
                text.push('\n');
            }
            2 => {
                for _ in 0..random.below(6) + 1 {
                    text += &format!("{}- {}\n", "  ".repeat(random.below(3)), sentence(random, 9));
                }
                text.push('\n');
            }
            3 => text += &format!("> [!note] {}\n> {}\n\n", sentence(random, 3), sentence(random, 20)),
            4 => text += &format!("```rust\nfn main() {{\n    // {}\n}}\n```\n\n", sentence(random, 6)),
            5 => text += &format!("| Stone | Cut |\n| ----- | --- |\n| {} | [[Cut\\|x]] |\n\n", sentence(random, 2)),
            6 if random.below(4) == 0 => text += &format!("%%\n{}\n%%\n\n", sentence(random, 10)),
            7 if random.below(4) == 0 => text += "$$\nx = y^2\n$$\n\n",
            _ => {
                let words = random.below(90) + 20;
                text += &sentence(random, words);
                text += if random.below(9) == 0 { " ^abc123\n\n" } else { "\n\n" };
            }
        }
    }
    text
}

const WORDS: &[&str] = &[
    "the",
    "stone",
    "garden",
    "is",
    "quiet",
    "and",
    "light",
    "falls",
    "through",
    "small",
    "rooms",
    "where",
    "nobody",
    "has",
    "been",
    "since",
    "april",
    "slate",
    "wall",
    "patient",
    "(as",
    "said)",
    "really,",
    "it",
    "would",
    "be",
    "good",
    "to",
    "measure",
    "again.",
    "石庭",
    "größe",
    "don't",
    "cut",
    "facet",
    "angle:",
    "42°",
    "well-known",
];

fn sentence(random: &mut Random, words: usize) -> String {
    let mut text = String::new();
    for index in 0..words {
        if index > 0 {
            text.push(' ');
        }
        match random.below(60) {
            0 => text += "[[Projects/Plan#Log|the plan]]",
            1 => text += "#area/garden",
            2 => text += "**strong words**",
            3 => text += "[text](https://example.com/a_b)",
            4 => text += "`code`",
            5 if random.below(3) == 0 => text += "$x^2$",
            6 if random.below(3) == 0 => text += "==marked==",
            _ => text += WORDS[random.below(WORDS.len())],
        }
    }
    text
}

/// The same corpus each time (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}
