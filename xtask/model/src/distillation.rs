//! From teacher and texts to the packed model.

use std::{fs, path::Path};

use lapidary_meaning::{
    BertRules, ModelId, PoolingMode, StaticModelParts, TransformerModel, TransformerParts, WordPieces,
};
use ndarray::{Array2, Axis};

use crate::{
    definitions::{definitions, drawn},
    directions::main_directions,
    regression::TokenMeans,
    sources::ModelSources,
};

const TEXTS: usize = 45_000;
const DIMENSION: usize = 256;
/// Tokens more frequent than this get little weight in the start: a / (a + p).
const FREQUENT: f32 = 1e-4;
/// Tokens that go through the teacher at once.
const BATCH: usize = 768;

/// The bytes of the model. Vectors of the teacher are kept in a file, which `fresh` does not read.
pub(crate) fn distil(sources: &ModelSources, kept: &Path, fresh: bool) -> Result<Vec<u8>, String> {
    let vocabulary: Vec<&str> = sources.vocabulary.lines().collect();
    let teacher = teacher(sources)?;

    // Tokens that no text can have are left out.
    let usable = |token: &&usize| !vocabulary[**token].starts_with('[') || vocabulary[**token].len() == 1;
    let mut tokens: Vec<usize> = (0..vocabulary.len()).collect();
    tokens.retain(|token| usable(&token));
    let mut place = vec![None; vocabulary.len()];
    tokens.iter().enumerate().for_each(|(at, token)| place[*token] = Some(at as u32));

    let texts = drawn(definitions(&sources.dictionary), TEXTS);
    let split = |text: &String| {
        let mut rows = Vec::new();
        pieces_of(teacher.pieces(), text, &mut rows);
        rows
    };
    let texts: Vec<Vec<u32>> = texts.iter().map(split).filter(|rows| !rows.is_empty()).collect();
    let alone: Vec<Vec<u32>> = tokens.iter().map(|token| vec![*token as u32]).collect();
    let all: Vec<&[u32]> = alone.iter().chain(&texts).map(Vec::as_slice).collect();
    let vectors = match fs::read(kept).ok().filter(|bytes| !fresh && bytes.len() == all.len() * teacher.dimension() * 4)
    {
        Some(bytes) => from_bytes(&bytes, teacher.dimension()),
        None => {
            let vectors = taught(&teacher, &all)?;
            let bytes: Vec<u8> = vectors.iter().flat_map(|value| value.to_le_bytes()).collect();
            fs::write(kept, bytes).map_err(|error| format!("{}: {error}", kept.display()))?;
            vectors
        }
    };
    let (start, wanted) = vectors.view().split_at(Axis(0), tokens.len());

    let mut start = centred(start.to_owned());
    for (rank, mut row) in start.rows_mut().into_iter().enumerate() {
        row *= FREQUENT / (FREQUENT + frequency(rank, tokens.len()));
    }
    let wanted = centred(wanted.to_owned());
    let texts: Vec<Vec<u32>> =
        texts.iter().map(|rows| rows.iter().filter_map(|row| place[*row as usize]).collect()).collect();
    TokenMeans { texts: &texts, tokens: tokens.len() }.fit(&mut start, &wanted);
    let turned = start.dot(&main_directions(&wanted, DIMENSION));

    // Sorted, so that equal beginnings lie together.
    let mut order: Vec<usize> = (0..tokens.len()).collect();
    order.sort_by_key(|row| vocabulary[tokens[*row]]);
    let parts = StaticModelParts {
        name: "english".to_owned(),
        rules: BertRules::UNCASED,
        scores: None,
        tokens: order.iter().map(|row| vocabulary[tokens[*row]].to_owned()).collect(),
        vectors: turned.select(Axis(0), &order),
        small: true,
    };
    parts.pack().map_err(|error| error.to_string())
}

/// The teacher, ready to embed.
pub(crate) fn teacher(sources: &ModelSources) -> Result<TransformerModel, String> {
    let pieces = WordPieces::new(BertRules::UNCASED, sources.vocabulary.lines()).map_err(|error| error.to_string())?;
    let parts = TransformerParts {
        name: "all-MiniLM-L6-v2".to_owned(),
        id: ModelId::of_digest(&[0; 32]),
        tensors: &sources.tensors,
        config: &sources.config,
        pieces,
        pooling: PoolingMode::Mean,
        longest_text: 256,
    };
    TransformerModel::read(parts).map_err(|error| error.to_string())
}

fn pieces_of(pieces: &WordPieces, text: &str, rows: &mut Vec<u32>) {
    let unknown = pieces.row("[UNK]").unwrap_or(0);
    pieces.each_piece(text, |row| rows.push(row.unwrap_or(unknown)));
}

/// The teacher's vector of every text, those of one length together.
fn taught(teacher: &TransformerModel, texts: &[&[u32]]) -> Result<Array2<f32>, String> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|at| texts[*at].len());
    let mut vectors = Array2::zeros((texts.len(), teacher.dimension()));
    let mut done = 0;
    while done < order.len() {
        let longest = |count: usize| texts[order[done + count - 1]].len() + 2;
        let count = (1..=order.len() - done).take_while(|count| count * longest(*count) <= BATCH).last().unwrap_or(1);
        let batch: Vec<&[u32]> = order[done..done + count].iter().map(|at| texts[*at]).collect();
        for (at, vector) in order[done..done + count].iter().zip(teacher.embed_rows(&batch)) {
            let vector = vector.ok_or("the teacher has no vector for a text")?;
            vectors.row_mut(*at).iter_mut().zip(vector.values()).for_each(|(to, from)| *to = *from);
        }
        if done / 5_000 != (done + count) / 5_000 {
            eprintln!("teacher: {} of {} texts", done + count, order.len());
        }
        done += count;
    }
    Ok(vectors)
}

fn from_bytes(bytes: &[u8], dimension: usize) -> Array2<f32> {
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
    Array2::from_shape_vec((values.len() / dimension, dimension), values).expect("the length is a whole number of rows")
}

fn centred(mut vectors: Array2<f32>) -> Array2<f32> {
    let sum = vectors.mapv(f64::from).sum_axis(Axis(0)) / vectors.nrows().max(1) as f64;
    vectors -= &sum.mapv(|value| value as f32);
    vectors
}

/// By Zipf's law: the vocabulary is in the order of frequency.
fn frequency(rank: usize, count: usize) -> f32 {
    let sum: f32 = (2..count + 2).map(|place| 1.0 / place as f32).sum();
    1.0 / (rank + 2) as f32 / sum
}
