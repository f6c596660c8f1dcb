//! A transformer in the layout of BERT: every token sees all others, so the vector knows the sentence. Slow, and better than a static model.

mod approximate;
mod forward;

use ndarray::{Array1, Array2, Axis, concatenate};
use serde::Deserialize;

use crate::{Embedding, ModelError, ModelId, WordPieces, tensor_file::TensorFile};

/// How the vectors of all tokens become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PoolingMode {
    Mean,
    FirstToken,
}

/// What a transformer is read from, beside its tokeniser.
pub struct TransformerParts<'b> {
    pub name: String,
    pub id: ModelId,
    /// A safetensors file.
    pub tensors: &'b [u8],
    /// `config.json`.
    pub config: &'b [u8],
    pub pieces: WordPieces,
    pub pooling: PoolingMode,
    /// The most tokens of a text that count, with the two marks around it.
    pub longest_text: usize,
}

/// A transformer in the layout of BERT.
#[derive(Debug)]
pub struct TransformerModel {
    id: ModelId,
    name: String,
    pieces: WordPieces,
    pooling: PoolingMode,
    longest_text: usize,
    marks: TokenMarks,
    heads: usize,
    norm_epsilon: f32,
    tokens: Array2<f32>,
    /// What a place in the text adds, with the one token type that we use.
    positions: Array2<f32>,
    input_norm: LayerNorm,
    layers: Vec<EncoderLayer>,
}

/// The tokens around a text, and the one for an unknown word.
#[derive(Debug)]
struct TokenMarks {
    start: u32,
    end: u32,
    unknown: u32,
}

#[derive(Debug)]
struct LinearMap {
    /// A row for each output.
    weights: Array2<f32>,
    bias: Array1<f32>,
}

#[derive(Debug)]
struct LayerNorm {
    weights: Array1<f32>,
    bias: Array1<f32>,
}

#[derive(Debug)]
struct EncoderLayer {
    /// Query, key and value as one map: one large product is faster than three.
    attention: LinearMap,
    attention_output: LinearMap,
    attention_norm: LayerNorm,
    widening: LinearMap,
    narrowing: LinearMap,
    output_norm: LayerNorm,
}

#[derive(Deserialize)]
struct BertConfig {
    model_type: String,
    hidden_act: String,
    hidden_size: usize,
    intermediate_size: usize,
    #[serde(default = "usual_epsilon")]
    layer_norm_eps: f32,
    max_position_embeddings: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    #[serde(default = "usual_positions")]
    position_embedding_type: String,
    vocab_size: usize,
}

fn usual_epsilon() -> f32 {
    1e-12
}

fn usual_positions() -> String {
    "absolute".to_owned()
}

impl BertConfig {
    fn read(bytes: &[u8]) -> Result<Self, ModelError> {
        let broken = |problem: String| ModelError::malformed("config.json", problem);
        let config: Self = serde_json::from_slice(bytes).map_err(|error| broken(error.to_string()))?;
        if config.model_type != "bert" {
            return Err(ModelError::Unsupported(format!("a model of type {}", config.model_type)));
        }
        // Variants such as `gelu_new` give vectors that are slightly wrong, which no error would show.
        if config.hidden_act != "gelu" || config.position_embedding_type != "absolute" {
            return Err(ModelError::Unsupported("another activation than gelu, or relative positions".to_owned()));
        }
        let heads_fit = config.num_attention_heads > 0 && config.hidden_size.is_multiple_of(config.num_attention_heads);
        // Other sizes are checked with the tensors; the number of layers only bounds a loop. A text has two marks and a token.
        let is_too_short = config.max_position_embeddings < 3;
        if !heads_fit || is_too_short || config.hidden_size == 0 || config.num_hidden_layers > 256 {
            return Err(broken("its sizes do not fit together".to_owned()));
        }
        Ok(config)
    }
}

impl TransformerModel {
    pub fn read(parts: TransformerParts<'_>) -> Result<Self, ModelError> {
        let config = BertConfig::read(parts.config)?;
        let file = TensorFile::read(parts.tensors)?;
        let reader = WeightReader {
            // Some files hold the encoder alone, others a model with the encoder inside it.
            prefix: if file.has("bert.embeddings.word_embeddings.weight") { "bert." } else { "" },
            file,
            hidden: config.hidden_size,
        };
        let mark = |mark: &str| {
            // A mark beyond the matrix would be out of bounds in every forward pass.
            let row = parts.pieces.row(mark).filter(|row| (*row as usize) < config.vocab_size);
            row.ok_or_else(|| ModelError::malformed("vocabulary", format!("it has no {mark}")))
        };
        let marks = TokenMarks { start: mark("[CLS]")?, end: mark("[SEP]")?, unknown: mark("[UNK]")? };
        if parts.pieces.table().len() > config.vocab_size {
            return Err(ModelError::malformed("vocabulary", "it has more tokens than the model"));
        }
        // Types tell apart the two texts of a pair. Here is only ever one text, so its type is added to the positions once.
        let types = reader.file.matrix(&reader.name("embeddings.token_type_embeddings.weight"))?;
        let first_type = types.rows().into_iter().next().filter(|row| row.len() == config.hidden_size);
        let first_type = first_type.ok_or_else(|| ModelError::malformed("model.safetensors", "no token type"))?;
        let positions = reader.matrix("embeddings.position_embeddings.weight", config.max_position_embeddings)?;
        let layers = (0..config.num_hidden_layers).map(|layer| reader.layer(layer, config.intermediate_size));
        Ok(Self {
            // At least one token between the two marks.
            longest_text: parts.longest_text.clamp(3, config.max_position_embeddings),
            tokens: reader.matrix("embeddings.word_embeddings.weight", config.vocab_size)?,
            positions: positions + first_type,
            input_norm: reader.norm("embeddings.LayerNorm")?,
            layers: layers.collect::<Result<_, _>>()?,
            heads: config.num_attention_heads,
            norm_epsilon: config.layer_norm_eps,
            marks,
            id: parts.id,
            name: parts.name,
            pieces: parts.pieces,
            pooling: parts.pooling,
        })
    }

    pub fn id(&self) -> &ModelId {
        &self.id
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn dimension(&self) -> usize {
        self.tokens.ncols()
    }

    pub fn pieces(&self) -> &WordPieces {
        &self.pieces
    }

    /// `None` if no token of the text is known.
    pub fn embed(&self, text: &str) -> Option<Embedding> {
        let mut known = false;
        let mut rows = Vec::new();
        self.pieces.each_piece(text, |row| {
            known |= row.is_some();
            rows.push(row.unwrap_or(self.marks.unknown));
        });
        // All texts of unknown words alone would have the same vector, and be found as duplicates of each other.
        if !known {
            return None;
        }
        self.embed_rows(&[&rows]).pop().flatten()
    }

    /// Texts that are rows of tokens already, without the marks around them; all go through the same products.
    pub fn embed_rows(&self, texts: &[&[u32]]) -> Vec<Option<Embedding>> {
        let marked: Vec<Vec<u32>> = texts.iter().map(|rows| self.marked(rows)).collect();
        self.forward(&marked).into_iter().map(|values| Embedding::of(values.to_vec())).collect()
    }

    fn marked(&self, rows: &[u32]) -> Vec<u32> {
        // Two places are for the marks. Rows may come from callers, so each is checked.
        let known = rows.iter().take(self.longest_text - 2).map(|row| match self.tokens.nrows() > *row as usize {
            true => *row,
            false => self.marks.unknown,
        });
        std::iter::once(self.marks.start).chain(known).chain(std::iter::once(self.marks.end)).collect()
    }
}

/// Takes the weights by their names.
struct WeightReader<'b> {
    file: TensorFile<'b>,
    prefix: &'static str,
    hidden: usize,
}

impl WeightReader<'_> {
    fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn matrix(&self, name: &str, rows: usize) -> Result<Array2<f32>, ModelError> {
        self.file.matrix_of(&self.name(name), rows, self.hidden)
    }

    fn map(&self, name: &str, inputs: usize, outputs: usize) -> Result<LinearMap, ModelError> {
        let weights = self.file.matrix_of(&self.name(&format!("{name}.weight")), outputs, inputs)?;
        Ok(LinearMap { weights, bias: self.file.list_of(&self.name(&format!("{name}.bias")), outputs)? })
    }

    fn norm(&self, name: &str) -> Result<LayerNorm, ModelError> {
        let list = |end: &str| self.file.list_of(&self.name(&format!("{name}.{end}")), self.hidden);
        Ok(LayerNorm { weights: list("weight")?, bias: list("bias")? })
    }

    fn layer(&self, layer: usize, wide: usize) -> Result<EncoderLayer, ModelError> {
        let part = |name: &str| format!("encoder.layer.{layer}.{name}");
        let square = |name: &str| self.map(&part(name), self.hidden, self.hidden);
        let three = [square("attention.self.query")?, square("attention.self.key")?, square("attention.self.value")?];
        let uneven = |_| ModelError::malformed("model.safetensors", "attention of uneven sizes");
        // Below one another: one product then gives all three side by side.
        let weights = concatenate(Axis(0), &three.each_ref().map(|map| map.weights.view())).map_err(uneven)?;
        let bias = concatenate(Axis(0), &three.each_ref().map(|map| map.bias.view())).map_err(uneven)?;
        Ok(EncoderLayer {
            attention: LinearMap { weights, bias },
            attention_output: square("attention.output.dense")?,
            attention_norm: self.norm(&part("attention.output.LayerNorm"))?,
            widening: self.map(&part("intermediate.dense"), self.hidden, wide)?,
            narrowing: self.map(&part("output.dense"), wide, self.hidden)?,
            output_norm: self.norm(&part("output.LayerNorm"))?,
        })
    }
}
