//! The file of a static model: 4 or 8 bits a value and one scale a token, read without copying the values.
//!
//! After the mark, the version and the SHA-256 of all the rest follow: splitter, rules, bits and name; the sizes; the length of every piece;
//! the pieces; for Unigram their scores; the scale of every row; the rows. Numbers have their low byte first.

use std::borrow::Cow;

use ndarray::Array2;
use sha2::{Digest, Sha256};

use crate::{
    BertRules, ModelError, ModelId,
    piece_table::{MOST_PIECES, PieceTable},
    static_model::{RowBits, StaticModel, TextSplitter},
    unigram::UnigramPieces,
    word_pieces::WordPieces,
};

const MARK: &[u8; 9] = b"lapistat\x01";
const DIGEST_LENGTH: usize = 32;
/// Of a dimension; models have at most a few thousand.
const LARGEST_DIMENSION: usize = 1 << 14;
/// Beyond this many standard deviations values of 4 bits are clipped: the few large ones would cost all others their precision.
const CLIPPED_AT: f32 = 2.5;

/// A static model before it is packed.
pub struct StaticModelParts {
    pub name: String,
    pub rules: BertRules,
    /// The score of every token, if the text is split by Unigram; else by WordPiece.
    pub scores: Option<Vec<f32>>,
    pub tokens: Vec<String>,
    /// A row for each token.
    pub vectors: Array2<f32>,
    /// 4 bits a value, instead of 8.
    pub small: bool,
}

impl StaticModelParts {
    /// The file. Tokens stay in their order.
    pub fn pack(&self) -> Result<Vec<u8>, ModelError> {
        let broken = |problem: &str| ModelError::malformed("model", problem);
        let dimension = self.vectors.ncols();
        // At 4 bits a value, the two halves of a row share their bytes.
        if dimension == 0 || !dimension.is_multiple_of(2) || self.tokens.len() != self.vectors.nrows() {
            return Err(broken("it has no even dimension, or not a vector for each token"));
        }
        if self.scores.as_ref().is_some_and(|scores| scores.len() != self.tokens.len()) {
            return Err(broken("it has not a score for each token"));
        }
        let bits = if self.small { RowBits::Four } else { RowBits::Eight };
        let mut body = vec![u8::from(self.scores.is_some()), rules_byte(self.rules), bits.count()];
        body.push(u8::try_from(self.name.len()).map_err(|_| broken("its name is too long"))?);
        body.extend(self.name.as_bytes());
        let size = |size: usize| u32::try_from(size).map_err(|_| broken("it is too large"));
        body.extend(size(self.tokens.len())?.to_le_bytes());
        body.extend(size(dimension)?.to_le_bytes());
        body.extend(size(self.tokens.iter().map(String::len).sum())?.to_le_bytes());
        for token in &self.tokens {
            body.push(u8::try_from(token.len()).map_err(|_| broken("a token is too long"))?);
        }
        self.tokens.iter().for_each(|token| body.extend(token.as_bytes()));
        self.scores.iter().flatten().for_each(|score| body.extend(score.to_le_bytes()));
        let rows = || self.vectors.rows().into_iter().map(|row| row.to_vec());
        let scales: Vec<f32> = rows().map(|row| bits.scale_of(&row)).collect();
        scales.iter().for_each(|scale| body.extend(scale.to_le_bytes()));
        // Behind all scales, so that the rows are one run of bytes, used where it is.
        for (row, scale) in rows().zip(scales) {
            bits.pack_row(&row, scale, &mut body);
        }
        // The model is known by its content: vectors that were kept with another one are not taken for its own.
        let digest: [u8; DIGEST_LENGTH] = Sha256::digest(&body).into();
        Ok([MARK.as_slice(), &digest, &body].concat())
    }
}

fn rules_byte(rules: BertRules) -> u8 {
    u8::from(rules.lowercase) | u8::from(rules.strip_accents) << 1
}

impl RowBits {
    fn count(self) -> u8 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    fn scale_of(self, values: &[f32]) -> f32 {
        match self {
            Self::Four => {
                let squares: f32 = values.iter().map(|value| value * value).sum();
                // 4 bits hold the steps from -7 to 7.
                CLIPPED_AT * (squares / values.len() as f32).sqrt() / 7.0
            }
            Self::Eight => values.iter().fold(0.0f32, |most, value| most.max(value.abs())) / 127.0,
        }
    }

    fn pack_row(self, values: &[f32], scale: f32, packed: &mut Vec<u8>) {
        // A token whose values are all 0 has no scale to divide by.
        let steps = |value: &f32, most: f32| match scale > 0.0 {
            true => (value / scale).round().clamp(-most, most) as i8,
            false => 0,
        };
        match self {
            // The first half of the row in the low halves of the bytes: both halves then unpack in order.
            Self::Four => {
                let (first, second) = values.split_at(values.len() / 2);
                let half = |value: &f32| (steps(value, 7.0) + 8).cast_unsigned();
                packed.extend(first.iter().zip(second).map(|(low, high)| half(low) | half(high) << 4));
            }
            Self::Eight => packed.extend(values.iter().map(|value| steps(value, 127.0).cast_unsigned())),
        }
    }
}

/// Whether the digest in the file is that of its bytes.
pub(crate) fn is_whole(file: &[u8]) -> bool {
    let digest_and_body = file.strip_prefix(MARK).and_then(|rest| rest.split_first_chunk::<DIGEST_LENGTH>());
    digest_and_body.is_some_and(|(digest, body)| Sha256::digest(body)[..] == digest[..])
}

/// Reads what [`StaticModelParts::pack`] made. The digest is taken for true: [`is_whole`] compares it.
pub(crate) fn unpack(file: Cow<'static, [u8]>) -> Result<StaticModel, ModelError> {
    let broken = |problem: &str| ModelError::malformed("model", problem);
    let length = file.len();
    let rest = file.strip_prefix(MARK).ok_or_else(|| broken("it is not a static model of this version"))?;
    let (digest, rest) = rest.split_first_chunk::<DIGEST_LENGTH>().ok_or_else(|| broken("it is cut off"))?;
    let id = ModelId::of_digest(digest);
    let mut reader = ByteReader(rest);
    let [splitter, rules, bits, name_length] = *reader.array::<4>()?;
    // Everything that sizes come from is checked before memory is asked for: any file may be given.
    let bits = match bits {
        4 => RowBits::Four,
        8 => RowBits::Eight,
        _ => return Err(broken("its number of bits is unknown")),
    };
    let name = std::str::from_utf8(reader.take(name_length.into())?).map_err(|_| broken("its name"))?.to_owned();
    let (rows, dimension, piece_bytes) = (reader.size()?, reader.size()?, reader.size()?);
    if rows == 0
        || rows > MOST_PIECES
        || dimension == 0
        || dimension > LARGEST_DIMENSION
        || !dimension.is_multiple_of(2)
    {
        return Err(broken("its sizes are impossible"));
    }
    let lengths = reader.take(rows)?;
    let pieces = reader.take(piece_bytes)?;
    let scores = if splitter == 1 { Some(reader.numbers(rows)?) } else { None };
    let scales = reader.numbers(rows)?;
    // Sizes are checked above: rows and dimension fit in 36 bits.
    let packed = reader.take(rows * bits.row_length(dimension))?.len();
    if !reader.0.is_empty() {
        return Err(broken("it has bytes after its end"));
    }
    let pieces = PieceTable::new(Cow::Owned(pieces.to_vec()), lengths.iter().map(|length| usize::from(*length)))?;
    let rules = BertRules { lowercase: rules & 1 != 0, strip_accents: rules & 2 != 0 };
    let splitter = match (splitter, scores) {
        (0, _) => TextSplitter::WordPiece(WordPieces::of_table(rules, pieces)),
        (1, Some(scores)) => TextSplitter::Unigram(UnigramPieces::new(rules, pieces, scores)?),
        _ => return Err(broken("its tokeniser is unknown")),
    };
    Ok(StaticModel { id, name, splitter, dimension, bits, scales, packed_from: length - packed, file })
}

/// Takes parts of bytes from the front.
struct ByteReader<'b>(&'b [u8]);

impl<'b> ByteReader<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], ModelError> {
        let cut_off = || ModelError::malformed("model", "it is cut off");
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<&'b [u8; N], ModelError> {
        let cut_off = || ModelError::malformed("model", "it is cut off");
        self.take(N)?.first_chunk().ok_or_else(cut_off)
    }

    fn size(&mut self) -> Result<usize, ModelError> {
        Ok(u32::from_le_bytes(*self.array()?) as usize)
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<f32>, ModelError> {
        // A count that is too large fails here, before memory is asked for.
        let bytes = self.take(count.saturating_mul(4))?;
        let numbers: Vec<f32> = bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
        match numbers.iter().all(|number| number.is_finite()) {
            true => Ok(numbers),
            false => Err(ModelError::malformed("model", "it has values that are not numbers")),
        }
    }
}
