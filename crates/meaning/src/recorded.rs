//! Comparisons with what the reference implementations gave; `tests/reference/record.py` recorded it.

#![expect(clippy::disallowed_methods, reason = "tests read what was recorded")]

use std::{fs, path::PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    BertRules, Embedding, ModelError, ModelFolder, ModelKind, PoolingMode, StaticModel, TextModel, static_format,
};

fn reference(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name)
}

fn lines(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(reference(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

struct FolderBytes {
    name: String,
    tensors: Vec<u8>,
    tokenizer: Vec<u8>,
    config: Vec<u8>,
    pooling: Option<Vec<u8>>,
}

impl FolderBytes {
    fn of(name: &str) -> Self {
        let file = |file: &str| fs::read(reference(name).join(file)).unwrap();
        let (tensors, tokenizer) = (file("model.safetensors"), file("tokenizer.json"));
        Self { name: name.to_owned(), tensors, tokenizer, config: file("config.json"), pooling: None }
    }

    fn folder(&self) -> ModelFolder<'_> {
        ModelFolder {
            name: &self.name,
            tensors: &self.tensors,
            tokenizer: &self.tokenizer,
            config: &self.config,
            pooling: self.pooling.as_deref(),
            sentence: None,
        }
    }
}

fn embedding(value: &Value) -> Option<Embedding> {
    let values = value.as_array()?.iter().map(|number| number.as_f64().unwrap() as f32);
    Embedding::of(values.collect())
}

#[test]
fn every_character_is_split_and_normalized_as_by_the_reference() {
    let recorded = fs::read_to_string(reference("code-points.txt")).unwrap();
    let mut different = Vec::new();
    for line in recorded.lines() {
        let (block, expected) = line.split_once(' ').unwrap();
        let block = u32::from_str_radix(block, 16).unwrap();
        let mut digest = Sha256::new();
        for character in (block..block + 0x1000).filter_map(char::from_u32) {
            let mut words = Vec::new();
            BertRules::UNCASED.each_word(&format!("a{character}B"), |word| words.push(word.unwrap().to_owned()));
            digest.update(words.join(" ") + "\n");
        }
        let found: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if found != expected {
            different.push(format!("{block:06x}"));
        }
    }
    assert_eq!(different, Vec::<String>::new());
}

#[test]
fn texts_have_the_pieces_of_the_reference() {
    let TextModel::Static(model) = TextModel::bundled() else { panic!("the bundled model is static") };
    for line in lines("pieces.jsonl") {
        let text = line["text"].as_str().unwrap();
        let expected: Vec<&str> =
            line["pieces"].as_array().unwrap().iter().map(|piece| piece.as_str().unwrap()).collect();
        assert_eq!(model.pieces(text), expected, "{text:?}");
    }
}

#[test]
fn a_transformer_gives_the_vectors_of_the_reference() {
    let mut files = FolderBytes::of("tiny-bert");
    for line in lines("tiny-bert-vectors.jsonl") {
        let first = line["pooling"] == "first";
        files.pooling = first.then(|| br#"{"pooling_mode_cls_token": true}"#.to_vec());
        let model = files.folder().read().unwrap();
        assert_eq!((model.kind(), model.dimension(), model.name()), (ModelKind::Transformer, 16, "tiny-bert"));
        let text = line["text"].as_str().unwrap();
        let Some(found) = model.embed(text) else {
            assert_eq!(text, "unknownword");
            continue;
        };
        let cosine = found.cosine(&embedding(&line["vector"]).unwrap());
        assert!(cosine > 0.999_99, "{text}: {cosine}");
    }
}

#[test]
fn texts_that_go_through_a_transformer_together_do_not_see_each_other() {
    let TextModel::Transformer(model) = FolderBytes::of("tiny-bert").folder().read().unwrap() else { panic!() };
    let texts: [&[u32]; 3] = [&[4, 6, 7], &[9], &[20, 21, 4, 4, 8, 8, 8]];
    let together = model.embed_rows(&texts);
    for (text, vector) in texts.iter().zip(together) {
        let alone = model.embed_rows(&[text]).pop().unwrap().unwrap();
        assert!(alone.cosine(&vector.unwrap()) > 0.999_999);
    }
}

#[test]
fn static_models_of_both_tokenisers_give_the_vectors_of_the_reference() {
    let models = ["tiny-model2vec", "tiny-unigram"].map(|name| FolderBytes::of(name).folder().read().unwrap());
    for line in lines("tiny-static-vectors.jsonl") {
        let model = &models[usize::from(line["model"] == "unigram")];
        assert_eq!((model.kind(), model.dimension()), (ModelKind::Static, 8));
        let text = line["text"].as_str().unwrap();
        match (model.embed(text), embedding(&line["vector"])) {
            (None, None) => {}
            (Some(found), Some(expected)) => {
                assert!(found.cosine(&expected) > 0.999, "{text}: {}", found.cosine(&expected));
            }
            (found, expected) => panic!("{text}: {found:?} and {expected:?}"),
        }
    }
}

#[test]
fn the_bundled_model_is_whole_and_knows_what_is_alike() {
    let bundled = TextModel::bundled();
    assert!(static_format::is_whole(include_bytes!("../model/english.static")));
    assert_eq!((bundled.kind(), bundled.dimension(), bundled.name()), (ModelKind::Static, 256, "english"));
    let cosine = |one: &str, other: &str| bundled.embed(one).unwrap().cosine(&bundled.embed(other).unwrap());
    for (text, near, far) in [
        ("dog", "puppy", "spreadsheet"),
        ("how to back up files", "make a copy of documents in case of loss", "the history of the violin"),
        ("physician", "doctor at a hospital", "railway station"),
        ("a vehicle with four wheels", "automobile", "poetry"),
    ] {
        assert!(cosine(text, near) > cosine(text, far) + 0.1, "{text}: {} {}", cosine(text, near), cosine(text, far));
    }
    assert_eq!(bundled.embed(""), None);
    assert_eq!(bundled.embed("\u{200b} \n"), None);
}

#[test]
fn a_file_that_changed_is_refused_wherever_it_changed() {
    let packed = FolderBytes::of("tiny-unigram").folder().packed().unwrap().unwrap();
    StaticModel::read(packed.clone()).unwrap();
    for at in 0..packed.len() {
        let mut changed = packed.clone();
        changed[at] ^= 1;
        assert!(StaticModel::read(changed).is_err(), "{at}");
        assert!(StaticModel::read(packed[..at].to_vec()).is_err(), "cut at {at}");
        // Without the comparison too, nothing worse than an error happens.
        let mut changed = packed.clone();
        changed[at] ^= 0x80;
        if let Ok(model) = static_format::unpack(changed.into()) {
            model.embed("the garden 知识");
        }
    }
}

#[test]
fn broken_folders_are_errors() {
    for name in ["tiny-bert", "tiny-model2vec", "tiny-unigram"] {
        let whole = FolderBytes::of(name);
        for at in (0..whole.tensors.len()).step_by(97) {
            let cut = FolderBytes { tensors: whole.tensors[..at].to_vec(), ..FolderBytes::of(name) };
            assert!(cut.folder().read().is_err(), "{name} cut at {at}");
        }
        for at in (0..whole.tokenizer.len()).step_by(31) {
            let cut = FolderBytes { tokenizer: whole.tokenizer[..at].to_vec(), ..FolderBytes::of(name) };
            assert!(cut.folder().read().is_err(), "{name} with its tokeniser cut at {at}");
        }
    }
}

#[test]
fn other_kinds_of_models_are_named() {
    let read = |change: &dyn Fn(&mut FolderBytes)| {
        let mut files = FolderBytes::of("tiny-bert");
        change(&mut files);
        files.folder().read().unwrap_err()
    };
    let replaced = |bytes: &[u8], from: &str, to: &str| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(text.contains(from), "{from}");
        text.replace(from, to).into_bytes()
    };
    let unsupported = |text: &str| ModelError::Unsupported(text.to_owned());
    assert_eq!(
        read(&|files| files.config = replaced(&files.config, r#""bert""#, r#""roberta""#)),
        unsupported("a model of type roberta")
    );
    assert_eq!(
        read(&|files| files.tokenizer = replaced(&files.tokenizer, r#""WordPiece""#, r#""BPE""#)),
        unsupported("a tokeniser with the model BPE")
    );
    assert_eq!(
        read(&|files| files.pooling = Some(br#"{"pooling_mode_max_tokens": true}"#.to_vec())),
        unsupported("pooling other than the mean or the first token")
    );
    let smaller = read(&|files| files.config = replaced(&files.config, r#""hidden_size": 16"#, r#""hidden_size": 12"#));
    assert!(matches!(smaller, ModelError::Malformed { .. }), "{smaller}");
}

#[test]
fn any_text_is_embedded_or_has_no_vector() {
    let models = ["tiny-bert", "tiny-unigram"].map(|name| FolderBytes::of(name).folder().read().unwrap());
    bolero::check!().with_type::<String>().for_each(|text| {
        for model in models.iter().chain([TextModel::bundled()]) {
            if let Some(vector) = model.embed(text) {
                let length: f32 = vector.values().iter().map(|value| value * value).sum();
                assert!((length - 1.0).abs() < 1e-3);
            }
        }
    });
}

#[test]
fn any_bytes_are_a_model_or_an_error() {
    bolero::check!().with_type::<Vec<u8>>().for_each(|bytes| {
        let folder =
            ModelFolder { name: "x", tensors: bytes, tokenizer: bytes, config: b"{}", pooling: None, sentence: None };
        assert!(folder.read().is_err());
        assert!(StaticModel::read(bytes.clone()).is_err());
    });
}

#[test]
fn pooling_is_the_mean_where_nothing_is_said() {
    assert_ne!(PoolingMode::Mean, PoolingMode::FirstToken);
    let mean = FolderBytes::of("tiny-bert").folder().read().unwrap();
    let mut said = FolderBytes::of("tiny-bert");
    said.pooling = Some(br#"{"pooling_mode_mean_tokens": true}"#.to_vec());
    let said = said.folder().read().unwrap();
    assert_eq!(mean.embed("the garden"), said.embed("the garden"));
    assert_ne!(mean.id(), said.id(), "every file counts for the id");
}
