//! Makes the static model that the program bundles, from a transformer and a dictionary: `cargo xtask model`. With `--check` it says whether
//! the one in the repository comes out again.
//!
//! Every token first gets the vector that the teacher has for it alone. Then all are moved as little as possible so that the mean of the
//! tokens of a definition is the teacher's vector of that definition. At the end they are turned to their main directions, and packed.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "chores read and write the source tree, and print"
)]

mod definitions;
mod directions;
mod distillation;
mod regression;
mod sources;

use std::{fs, path::Path, process::ExitCode};

use lapidary_meaning::{Embedding, StaticModel};
use serde_json::Value;

use crate::sources::ModelSources;

/// Below this cosine a token's vector is another one, not the same one rounded differently.
const SAME_VECTOR: f32 = 0.999;
/// Below this cosine the forward pass is wrong.
const RIGHT_VECTOR: f32 = 0.9999;

fn main() -> ExitCode {
    let check = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => {
            eprintln!("usage: cargo xtask model [--check]");
            return ExitCode::from(2);
        }
    };
    match make(check) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn make(check: bool) -> Result<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("crates/meaning/model/english.static");
    let sources = sources::fetch(&root.join(".cache/model"))?;
    compare_teacher(&sources, &root.join("xtask/model/reference/minilm.jsonl"))?;
    let made = distillation::distil(&sources, &root.join(".cache/model/teacher-vectors"), check)?;
    if !check {
        fs::write(&file, &made).map_err(|error| format!("{}: {error}", file.display()))?;
        return Ok(format!("{}: {} bytes", file.display(), made.len()));
    }
    let kept = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    if kept == made {
        return Ok("the same bytes".to_owned());
    }
    // Another processor multiplies in another order.
    let read = |bytes: Vec<u8>| StaticModel::read(bytes).map_err(|error| error.to_string());
    let (kept, made) = (read(kept)?, read(made)?);
    match kept.lowest_cosine(&made) {
        Some(lowest) if lowest >= SAME_VECTOR => Ok(format!("the same but for rounding: cosines from {lowest}")),
        Some(lowest) => Err(format!("another model: a token has the cosine {lowest}")),
        None => Err("another model: its tokens or its dimension differ".to_owned()),
    }
}

/// Whether the teacher gives the vectors that a forward pass in 64 bits with the reference tokeniser gave.
fn compare_teacher(sources: &ModelSources, recorded: &Path) -> Result<(), String> {
    let teacher = distillation::teacher(sources)?;
    let text = fs::read_to_string(recorded).map_err(|error| format!("{}: {error}", recorded.display()))?;
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let text = row["text"].as_str().unwrap_or_default();
        let values = row["vector"].as_array().into_iter().flatten().filter_map(Value::as_f64).map(|value| value as f32);
        let cosine = match (teacher.embed(text), Embedding::of(values.collect())) {
            (Some(found), Some(expected)) => found.cosine(&expected),
            _ => 0.0,
        };
        if cosine < RIGHT_VECTOR {
            return Err(format!("the forward pass is wrong: cosine {cosine} for {text:?}"));
        }
    }
    println!("{} vectors of the teacher are right", text.lines().count());
    Ok(())
}
