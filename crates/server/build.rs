//! Bundles the demo vault into the binary.

#![expect(clippy::disallowed_methods, reason = "a build script reads the source tree")]

use std::{env, fs, io, path::Path};

fn main() -> io::Result<()> {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo");
    println!("cargo::rerun-if-changed={}", demo.display());
    let mut entries = Vec::new();
    collect(&demo, &demo, &mut entries)?;
    entries.sort();
    let list: String = entries.iter().map(|(name, path)| format!("({name:?}, include_bytes!({path:?})),\n")).collect();
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("demo.rs"), format!("&[\n{list}]\n"))
}

fn collect(root: &Path, folder: &Path, entries: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, entries)?;
            continue;
        }
        let name = path.strip_prefix(root).map_err(io::Error::other)?;
        let (Some(name), Some(path)) = (name.to_str(), path.to_str()) else {
            return Err(io::Error::other("a file name of the demo vault is not UTF-8"));
        };
        entries.push((name.replace('\\', "/"), path.to_owned()));
    }
    Ok(())
}
