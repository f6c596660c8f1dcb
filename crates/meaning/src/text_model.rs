//! The models behind one interface.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use crate::{Embedding, StaticModel, TransformerModel};

/// What kind of model it is: their scores weigh differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelKind {
    Static,
    Transformer,
}

/// Which model made a vector: follows from the bytes of its files, so vectors of another model are never taken for its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelId([u8; 8]);

impl ModelId {
    /// From the SHA-256 of the model's files.
    pub fn of_digest(digest: &[u8; 32]) -> Self {
        // 64 bits tell apart all models that one index will ever meet.
        Self(*digest.first_chunk().unwrap_or(&[0; 8]))
    }

    /// As `Display` writes it.
    pub fn parse(text: &str) -> Option<Self> {
        // Checked first, because `from_str_radix` also takes a sign and capitals.
        let sound = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let number = sound.then(|| u64::from_str_radix(text, 16).ok()).flatten()?;
        Some(Self(number.to_be_bytes()))
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for ModelId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Which model the owner chose. It is read when it is first needed, and kept until the process ends.
#[derive(Clone)]
pub struct ModelChoice(Arc<LazyModel>);

type LazyModel = LazyLock<&'static TextModel, Box<dyn FnOnce() -> &'static TextModel + Send>>;

impl ModelChoice {
    /// If `read` has none, the bundled model is used.
    pub fn new(read: impl FnOnce() -> Option<TextModel> + Send + 'static) -> Self {
        // Leaked on purpose: a model serves until the process ends, and threads that embed in the background then borrow it without a count.
        let kept = || read().map_or_else(TextModel::bundled, |model| Box::leak(Box::new(model)));
        Self(Arc::new(LazyLock::new(Box::new(kept))))
    }

    pub fn model(&self) -> &'static TextModel {
        **self.0
    }
}

impl Default for ModelChoice {
    fn default() -> Self {
        Self::new(|| None)
    }
}

impl fmt::Debug for ModelChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without reading it.
        formatter.write_str("ModelChoice")
    }
}

/// A model that makes vectors of texts.
#[derive(Debug)]
pub enum TextModel {
    Static(Box<StaticModel>),
    Transformer(Box<TransformerModel>),
}

impl TextModel {
    /// The model in the binary, made on first use.
    pub fn bundled() -> &'static Self {
        static BUNDLED: LazyLock<TextModel> = LazyLock::new(|| {
            // The digest is not compared at every start: these bytes are part of the program.
            let file = include_bytes!("../model/english.static");
            let model = StaticModel::of_program(file).expect("the bundled model is checked by a test");
            TextModel::Static(Box::new(model))
        });
        &BUNDLED
    }

    pub fn id(&self) -> &ModelId {
        match self {
            Self::Static(model) => model.id(),
            Self::Transformer(model) => model.id(),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Static(model) => model.name(),
            Self::Transformer(model) => model.name(),
        }
    }

    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Static(_) => ModelKind::Static,
            Self::Transformer(_) => ModelKind::Transformer,
        }
    }

    /// How many values a vector has.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Static(model) => model.dimension(),
            Self::Transformer(model) => model.dimension(),
        }
    }

    /// How much of a text consists of words that it knows as a whole, from 0 to 1. A transformer reads pieces in their context.
    pub fn familiarity(&self, text: &str) -> f32 {
        match self {
            Self::Static(model) => model.familiarity(text),
            Self::Transformer(_) => 1.0,
        }
    }

    /// Whether a text is written in letters that it was made for. German and French share parts of words with English; of other
    /// scripts an English model has seen nothing, and words find better there.
    pub fn knows_script(&self, text: &str) -> bool {
        match self {
            Self::Static(model) => model.knows_script(text),
            Self::Transformer(model) => model.pieces().table().knows_script(text),
        }
    }

    /// `None` if none of its tokens is known.
    pub fn embed(&self, text: &str) -> Option<Embedding> {
        match self {
            Self::Static(model) => model.embed(text),
            Self::Transformer(model) => model.embed(text),
        }
    }
}
