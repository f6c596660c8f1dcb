//! Builds the golden definitions of the tools into the binary, as `src/definitions.rs` expects them.

#![allow(clippy::disallowed_methods, reason = "a build script reads the sources")]

use std::{env, error::Error, fmt::Write, fs, path::Path};

const GOLDEN: &str = "src/tools/snapshots";
/// What surrounds the name of the tool in the name of a golden file.
const AROUND: (&str, &str) = ("lapidary_tools__tools__tests__", ".snap");

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={GOLDEN}");
    let mut definitions = Vec::new();
    for entry in fs::read_dir(GOLDEN)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(tool) = name.strip_prefix(AROUND.0).and_then(|name| name.strip_suffix(AROUND.1)) else { continue };
        // A checkout on Windows may have other line endings.
        let text = fs::read_to_string(&path)?.replace("\r\n", "\n");
        // The definition follows a head between two lines of dashes.
        let golden = text.splitn(3, "---\n").nth(2).ok_or("a golden file has a head")?;
        let mut golden: serde_json::Value = serde_json::from_str(golden)?;
        let parts = ["description", "input", "output"].map(|part| (part.to_owned(), golden[part].take()));
        definitions.push((tool.to_owned(), serde_json::Value::Object(parts.into_iter().collect()).to_string()));
    }
    definitions.sort();
    let mut table = String::from("const DEFINITIONS: &[(&str, &str)] = &[\n");
    for (tool, definition) in definitions {
        writeln!(table, "    ({tool:?}, {definition:?}),")?;
    }
    table += "];\n";
    fs::write(Path::new(&env::var("OUT_DIR")?).join("definitions.rs"), table)?;
    Ok(())
}
