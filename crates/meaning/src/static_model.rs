//! A static model: one vector for each token; a text is the mean of its tokens' vectors.

use std::borrow::Cow;

#[cfg(not(feature = "narrow"))]
use multiversion::multiversion;

use crate::{
    Embedding, ModelError, ModelId, piece_table::PieceTable, static_format, unigram::UnigramPieces,
    word_pieces::WordPieces,
};

/// A model that gives each token a vector, whatever is beside it: fast enough to embed whole vaults at once.
#[derive(Debug)]
pub struct StaticModel {
    pub(crate) id: ModelId,
    pub(crate) name: String,
    pub(crate) splitter: TextSplitter,
    pub(crate) dimension: usize,
    pub(crate) bits: RowBits,
    /// What one step of a row's values is.
    pub(crate) scales: Vec<f32>,
    pub(crate) file: Cow<'static, [u8]>,
    /// Where the rows begin in the file; they reach to its end.
    pub(crate) packed_from: usize,
}

/// How text becomes tokens.
#[derive(Debug)]
pub(crate) enum TextSplitter {
    WordPiece(WordPieces),
    Unigram(UnigramPieces),
}

impl TextSplitter {
    fn table(&self) -> &PieceTable {
        match self {
            Self::WordPiece(pieces) => pieces.table(),
            Self::Unigram(pieces) => pieces.table(),
        }
    }
}

/// How a row is packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowBits {
    Four,
    Eight,
}

impl RowBits {
    pub(crate) fn row_length(self, dimension: usize) -> usize {
        match self {
            Self::Four => dimension / 2,
            Self::Eight => dimension,
        }
    }
}

impl StaticModel {
    /// From the bytes of a file; they are compared with the digest that it carries.
    pub fn read(file: Vec<u8>) -> Result<Self, ModelError> {
        if !static_format::is_whole(&file) {
            return Err(ModelError::malformed("model", "its bytes have changed since it was made"));
        }
        static_format::unpack(Cow::Owned(file))
    }

    /// From the program itself, where bytes do not change. A test compares them with their digest.
    pub(crate) fn of_program(file: &'static [u8]) -> Result<Self, ModelError> {
        static_format::unpack(Cow::Borrowed(file))
    }

    pub fn id(&self) -> &ModelId {
        &self.id
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many tokens have a vector.
    pub fn token_count(&self) -> usize {
        self.scales.len()
    }

    /// The vector of one token, if it has a direction.
    fn token_vector(&self, row: u32) -> Option<Embedding> {
        self.sum_of(&[row])
    }

    /// The lowest cosine that a token has in both models; `None` if they do not have the same tokens and dimension.
    pub fn lowest_cosine(&self, other: &Self) -> Option<f32> {
        let (one, two) = (self.splitter.table(), other.splitter.table());
        let mut lowest = 1.0f32;
        for row in 0..self.scales.len() as u32 {
            let same = one.piece(row) == two.piece(row) && self.dimension == other.dimension;
            let cosine = match (self.token_vector(row), other.token_vector(row)) {
                _ if !same => return None,
                (Some(one), Some(two)) => one.cosine(&two),
                // A token without direction in both models has lost nothing.
                (None, None) => 1.0,
                _ => 0.0,
            };
            lowest = lowest.min(cosine);
        }
        (self.scales.len() == other.scales.len()).then_some(lowest)
    }

    /// `None` if no token of the text is known.
    pub fn embed(&self, text: &str) -> Option<Embedding> {
        let mut rows = Vec::new();
        match &self.splitter {
            // Unknown pieces are left out of the mean, as Model2Vec does.
            TextSplitter::WordPiece(pieces) => pieces.each_piece(text, |row| rows.extend(row)),
            TextSplitter::Unigram(pieces) => pieces.each_piece(text, |row| rows.extend(row)),
        }
        self.sum_of(&rows)
    }

    pub(crate) fn knows_script(&self, text: &str) -> bool {
        self.splitter.table().knows_script(text)
    }

    /// How much of a text consists of words that it knows as a whole, from 0 to 1; 1 for a tokeniser that does not say. Names, and
    /// languages that it has not seen, are made of many pieces.
    pub fn familiarity(&self, text: &str) -> f32 {
        let TextSplitter::WordPiece(splitter) = &self.splitter else { return 1.0 };
        let (mut whole, mut all) = (0_u32, 0_u32);
        splitter.each_piece(text, |row| {
            all += 1;
            // Of a divided word only the first piece counts as known.
            whole += u32::from(row.is_some_and(|row| !splitter.continues(row)));
        });
        whole as f32 / all.max(1) as f32
    }

    /// The pieces of a text, unknown ones as the reference marks them.
    #[cfg(test)]
    pub(crate) fn pieces(&self, text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        let TextSplitter::WordPiece(splitter) = &self.splitter else { return pieces };
        splitter.each_piece(text, |row| {
            let piece = row.map_or(b"[UNK]".as_slice(), |row| splitter.table().piece(row));
            pieces.push(String::from_utf8_lossy(piece).into_owned());
        });
        pieces
    }

    fn sum_of(&self, rows: &[u32]) -> Option<Embedding> {
        // The sum has the direction of the mean, and an embedding has length 1 anyway.
        let mut sum = vec![0.0; self.dimension];
        let packed = self.file.get(self.packed_from..).unwrap_or_default();
        match self.bits {
            RowBits::Four => add_rows_of_four_bits(&mut sum, packed, &self.scales, rows),
            RowBits::Eight => add_rows_of_eight_bits(&mut sum, packed, &self.scales, rows),
        }
        Embedding::of(sum)
    }
}

#[cfg_attr(not(feature = "narrow"), multiversion(targets("x86_64+avx2+fma")))]
fn add_rows_of_four_bits(sum: &mut [f32], packed: &[u8], scales: &[f32], rows: &[u32]) {
    let half = sum.len() / 2;
    let (first, second) = sum.split_at_mut(half);
    for row in rows {
        let row = *row as usize;
        let (Some(values), Some(scale)) = (packed.get(row * half..(row + 1) * half), scales.get(row)) else { continue };
        for ((low, high), byte) in first.iter_mut().zip(second.iter_mut()).zip(values) {
            // Kept as 1 to 15, with 8 for zero.
            *low += scale * ((byte & 15) as i32 - 8) as f32;
            *high += scale * ((byte >> 4) as i32 - 8) as f32;
        }
    }
}

#[cfg_attr(not(feature = "narrow"), multiversion(targets("x86_64+avx2+fma")))]
fn add_rows_of_eight_bits(sum: &mut [f32], packed: &[u8], scales: &[f32], rows: &[u32]) {
    let width = sum.len();
    for row in rows {
        let row = *row as usize;
        let (Some(values), Some(scale)) = (packed.get(row * width..(row + 1) * width), scales.get(row)) else {
            continue;
        };
        for (total, byte) in sum.iter_mut().zip(values) {
            *total += scale * f32::from(byte.cast_signed());
        }
    }
}
