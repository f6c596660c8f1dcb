//! Text as vectors that are close where the meaning is. Pure: no disk, no clock, no locks.
//!
//! A [`TextModel`] makes an [`Embedding`] of a text; a [`VectorTable`] holds many, at 8 bits a value, and finds the nearest. The bundled
//! model is in the binary, so meaning works at the first start, without a network.

mod bert_words;
mod character_class;
mod embedding;
mod known_scripts;
mod model_error;
mod model_folder;
mod piece_table;
#[cfg(test)]
mod recorded;
mod static_format;
mod static_model;
mod tensor_file;
mod text_model;
mod tokenizer_file;
mod transformer;
mod unigram;
mod vector_table;
mod word_pieces;

pub use bert_words::BertRules;
pub use embedding::{ByteVector, Embedding};
pub use model_error::ModelError;
pub use model_folder::ModelFolder;
pub use static_format::StaticModelParts;
pub use static_model::StaticModel;
pub use text_model::{ModelChoice, ModelId, ModelKind, TextModel};
pub use transformer::{PoolingMode, TransformerModel, TransformerParts};
pub use vector_table::{QueryVector, VectorTable};
pub use word_pieces::WordPieces;
