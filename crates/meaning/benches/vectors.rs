//! How fast the bundled model is ready, texts become vectors and a query is compared with all of them; best of several runs.
//!
//! With the feature `narrow`, only with instructions that every processor of the platform has.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use lapidary_meaning::{ByteVector, Embedding, TextModel, VectorTable};

const RUNS: usize = 15;
/// As large as those that notes are cut into.
const WORDS: usize = 106;

#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "the result of a bench is what it prints")]
fn main() {
    let start = Instant::now();
    let model = black_box(TextModel::bundled());
    println!("{:44} {:8.2} ms", "bundled model ready", start.elapsed().as_secs_f64() * 1e3);

    let guide = include_str!("../../../docs/install.md");
    let words: Vec<&str> = guide.split_whitespace().collect();
    let texts: Vec<String> = words.chunks_exact(WORDS).map(|chunk| chunk.join(" ")).collect();
    let taken = best_of(|| {
        for _ in 0..20 {
            texts.iter().for_each(|text| drop(black_box(model.embed(black_box(text)))));
        }
    });
    let speed = (texts.len() * 20) as f64 / taken.as_secs_f64();
    println!("{:44} {speed:8.0} a second", format!("texts of {WORDS} words as vectors"));

    for (rows, dimension) in [(100_000, 256), (100_000, 384), (1_000_000, 256)] {
        let table = random_table(rows, dimension);
        let query = random_vector(7, dimension);
        let taken = best_of(|| drop(black_box(table.best(black_box(&query), 200, |_| true))));
        println!("{:44} {:8.2} ms", format!("200 nearest of {rows} × {dimension}"), taken.as_secs_f64() * 1e3);
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures")]
fn best_of(run: impl Fn()) -> Duration {
    let once = || {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..RUNS).map(|_| once()).min().unwrap_or_default()
}

fn random_vector(seed: u64, dimension: usize) -> Embedding {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let values = (0..dimension).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    });
    Embedding::of(values.collect()).expect("a random vector has a direction")
}

fn random_table(rows: usize, dimension: usize) -> VectorTable {
    let mut table = VectorTable::new(dimension);
    for row in 0..rows {
        assert!(table.push(&ByteVector::of(&random_vector(row as u64 + 100, dimension))));
    }
    table
}
