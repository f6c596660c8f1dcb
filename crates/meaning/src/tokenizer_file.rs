//! Reads `tokenizer.json`: the vocabulary and the rules of a tokeniser, as far as we follow them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{BertRules, ModelError, piece_table::MOST_PIECES};

/// How deep rules may lie in each other.
const DEEPEST_RULES: usize = 8;

/// A tokeniser as its file describes it.
pub(crate) struct TokenizerFile {
    pub(crate) rules: BertRules,
    /// By row; empty where a row has no token that text can have.
    pub(crate) tokens: Vec<String>,
    /// For Unigram.
    pub(crate) scores: Option<Vec<f32>>,
}

#[derive(Deserialize)]
struct TokenizerJson {
    model: TokenizerModel,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
}

#[derive(Deserialize)]
struct AddedToken {
    id: usize,
    #[serde(default)]
    special: bool,
}

#[derive(Deserialize)]
struct TokenizerModel {
    /// Old files leave it out for WordPiece.
    #[serde(rename = "type")]
    kind: Option<String>,
    vocab: TokenizerVocabulary,
    unk_id: Option<usize>,
    continuing_subword_prefix: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TokenizerVocabulary {
    Rows(BTreeMap<String, usize>),
    Scored(Vec<(String, f32)>),
}

fn unsupported(what: &str) -> ModelError {
    ModelError::Unsupported(format!("a tokeniser with {what}"))
}

impl TokenizerFile {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ModelError> {
        let broken = |problem: String| ModelError::malformed("tokenizer.json", problem);
        let file: TokenizerJson = serde_json::from_slice(bytes).map_err(|error| broken(error.to_string()))?;
        let mut splits = Vec::new();
        kinds(&file.pre_tokenizer, 0, &mut splits)?;
        let has_split = |kind: &str| splits.iter().any(|(split, _)| *split == kind);
        match (file.model.kind.as_deref().unwrap_or("WordPiece"), file.model.vocab) {
            ("WordPiece", TokenizerVocabulary::Rows(vocabulary)) => {
                // `WordPieces` looks for continuing pieces by this prefix only.
                if file.model.continuing_subword_prefix.is_some_and(|prefix| prefix != "##") {
                    return Err(unsupported("another prefix than ##"));
                }
                // Another split would give other pieces, and vectors that are wrong without any error.
                if !has_split("BertPreTokenizer") {
                    return Err(unsupported("WordPiece and another split into words than BERT's"));
                }
                let count = vocabulary.values().max().map_or(0, |row| row.saturating_add(1));
                // One entry with a huge row would otherwise ask for that much memory.
                if count > MOST_PIECES {
                    return Err(broken("a token has an impossible row".to_owned()));
                }
                let mut tokens = vec![String::new(); count];
                for (token, row) in vocabulary {
                    tokens[row] = token;
                }
                Ok(Self { rules: word_rules(&file.normalizer)?, tokens, scores: None })
            }
            ("Unigram", TokenizerVocabulary::Scored(vocabulary)) => {
                if !has_split("Metaspace") {
                    return Err(unsupported("Unigram and without Metaspace"));
                }
                let (mut tokens, scores): (Vec<_>, Vec<_>) = vocabulary.into_iter().unzip();
                // Text that looks like a mark is text.
                let marks = file.added_tokens.iter().filter(|token| token.special).map(|token| token.id);
                for row in marks.chain(file.model.unk_id) {
                    if let Some(token) = tokens.get_mut(row) {
                        token.clear();
                    }
                }
                Ok(Self { rules: piece_rules(&file.normalizer)?, tokens, scores: Some(scores) })
            }
            (kind, _) => Err(unsupported(&format!("the model {kind}"))),
        }
    }
}

/// Every rule with its kind, those of a sequence one after another.
fn kinds<'v>(rule: &'v Value, depth: usize, found: &mut Vec<(&'v str, &'v Value)>) -> Result<(), ModelError> {
    if rule.is_null() {
        return Ok(());
    }
    let kind = rule.get("type").and_then(Value::as_str).ok_or_else(|| unsupported("a rule without a type"))?;
    if kind != "Sequence" {
        found.push((kind, rule));
        return Ok(());
    }
    // The file is foreign, and this function calls itself.
    if depth == DEEPEST_RULES {
        return Err(unsupported("rules inside of rules"));
    }
    // Both kinds of sequences come here, and each has its own name for the list.
    let inner = rule.get("normalizers").or_else(|| rule.get("pretokenizers")).and_then(Value::as_array);
    inner.into_iter().flatten().try_for_each(|rule| kinds(rule, depth + 1, found))
}

fn word_rules(normalizer: &Value) -> Result<BertRules, ModelError> {
    let mut found = Vec::new();
    kinds(normalizer, 0, &mut found)?;
    let [("BertNormalizer", rule)] = found[..] else {
        return Err(unsupported("WordPiece and other rules than BERT's"));
    };
    let flag = |name: &str| rule.get(name).and_then(Value::as_bool);
    // As in the reference: accents go with the case, unless the file says otherwise.
    let lowercase = flag("lowercase").unwrap_or(true);
    Ok(BertRules { lowercase, strip_accents: flag("strip_accents").unwrap_or(lowercase) })
}

fn piece_rules(normalizer: &Value) -> Result<BertRules, ModelError> {
    let mut found = Vec::new();
    kinds(normalizer, 0, &mut found)?;
    let mut lowercase = false;
    for (kind, _) in found {
        match kind {
            "Lowercase" => lowercase = true,
            // Compatibility forms and runs of spaces: what we do for every Unigram tokeniser.
            "NFKC" | "NFC" | "Precompiled" | "Replace" | "Strip" | "Nmt" => {}
            other => return Err(unsupported(&format!("the rule {other}"))),
        }
    }
    Ok(BertRules { lowercase, strip_accents: false })
}
