//! The folder of a model as it is published: Model2Vec, or a transformer in the layout of BERT.

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{
    ModelError, ModelId, PoolingMode, StaticModel, StaticModelParts, TextModel, TransformerModel, TransformerParts,
    WordPieces, tensor_file::TensorFile, tokenizer_file::TokenizerFile,
};

/// Longer tokens are not in texts, and the format of static models has one byte for a length.
const LONGEST_TOKEN: usize = 255;
/// How many tokens of a text count, if the folder does not say.
const USUAL_LENGTH: usize = 256;

/// The files of a model's folder.
#[derive(Clone, Copy)]
pub struct ModelFolder<'b> {
    /// What people call it.
    pub name: &'b str,
    /// `model.safetensors`.
    pub tensors: &'b [u8],
    /// `tokenizer.json`.
    pub tokenizer: &'b [u8],
    /// `config.json`.
    pub config: &'b [u8],
    /// `1_Pooling/config.json`, which not all have.
    pub pooling: Option<&'b [u8]>,
    /// `sentence_bert_config.json`, which not all have.
    pub sentence: Option<&'b [u8]>,
}

#[derive(Deserialize)]
struct PoolingConfig {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

#[derive(Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

impl ModelFolder<'_> {
    /// A model that is ready to use. Fails if anything about the files is doubtful.
    pub fn read(&self) -> Result<TextModel, ModelError> {
        match self.packed()? {
            Some(file) => Ok(TextModel::Static(Box::new(StaticModel::read(file)?))),
            None => Ok(TextModel::Transformer(Box::new(self.transformer()?))),
        }
    }

    /// A static model in the one file that it is read from again; `None` for a transformer, which stays as it is.
    pub fn packed(&self) -> Result<Option<Vec<u8>>, ModelError> {
        let file = TensorFile::read(self.tensors)?;
        // Only Model2Vec has a tensor of this name.
        if !file.has("embeddings") {
            return Ok(None);
        }
        // Then the row of a vector is not the row of its token.
        if file.has("mapping") {
            return Err(ModelError::Unsupported("a Model2Vec model whose tokens share vectors".to_owned()));
        }
        let mut vectors = file.matrix("embeddings")?;
        // Once for all, so that a text is a plain sum of rows.
        if file.has("weights") {
            let weights = file.list_of("weights", vectors.nrows())?;
            vectors.rows_mut().into_iter().zip(weights).for_each(|(mut row, weight)| row *= weight);
        }
        let tokenizer = TokenizerFile::read(self.tokenizer)?;
        let mut tokens = tokenizer.tokens;
        if tokens.len() > vectors.nrows() {
            return Err(ModelError::malformed("tokenizer.json", "it has more tokens than there are vectors"));
        }
        let mut scores = tokenizer.scores;
        // Some files have a few vectors too many; those of no token are out of reach.
        tokens.resize(vectors.nrows(), String::new());
        scores.iter_mut().for_each(|scores| scores.resize(vectors.nrows(), 0.0));
        tokens.iter_mut().filter(|token| token.len() > LONGEST_TOKEN).for_each(String::clear);
        let parts = StaticModelParts {
            name: self.name.to_owned(),
            rules: tokenizer.rules,
            scores,
            tokens,
            vectors,
            small: false,
        };
        parts.pack().map(Some)
    }

    fn transformer(&self) -> Result<TransformerModel, ModelError> {
        let tokenizer = TokenizerFile::read(self.tokenizer)?;
        if tokenizer.scores.is_some() {
            return Err(ModelError::Unsupported("a transformer with a Unigram tokeniser".to_owned()));
        }
        TransformerModel::read(TransformerParts {
            name: self.name.to_owned(),
            id: self.id(),
            tensors: self.tensors,
            config: self.config,
            pieces: WordPieces::new(tokenizer.rules, tokenizer.tokens.iter().map(String::as_str))?,
            pooling: self.pooling_mode()?,
            longest_text: self.longest_text()?,
        })
    }

    fn pooling_mode(&self) -> Result<PoolingMode, ModelError> {
        // As sentence-transformers does without the file.
        let Some(pooling) = self.pooling else { return Ok(PoolingMode::Mean) };
        let broken = |error: serde_json::Error| ModelError::malformed("1_Pooling/config.json", error.to_string());
        let config: PoolingConfig = serde_json::from_slice(pooling).map_err(broken)?;
        match (config.pooling_mode_cls_token, config.pooling_mode_mean_tokens) {
            (true, false) => Ok(PoolingMode::FirstToken),
            (false, true) => Ok(PoolingMode::Mean),
            _ => Err(ModelError::Unsupported("pooling other than the mean or the first token".to_owned())),
        }
    }

    fn longest_text(&self) -> Result<usize, ModelError> {
        let Some(sentence) = self.sentence else { return Ok(USUAL_LENGTH) };
        let broken = |error: serde_json::Error| ModelError::malformed("sentence_bert_config.json", error.to_string());
        let config: SentenceConfig = serde_json::from_slice(sentence).map_err(broken)?;
        Ok(config.max_seq_length.unwrap_or(USUAL_LENGTH))
    }

    /// Of all bytes that decide about vectors.
    fn id(&self) -> ModelId {
        let mut digest = Sha256::new();
        let files = [Some(self.tensors), Some(self.tokenizer), Some(self.config), self.pooling, self.sentence];
        for file in files {
            // The length keeps bytes of one file from counting as those of the next.
            digest.update(file.map_or(u64::MAX, |file| file.len() as u64).to_le_bytes());
            digest.update(file.unwrap_or_default());
        }
        ModelId::of_digest(&digest.finalize().into())
    }
}
