//! Unigram: of all ways to cut a word into known pieces, the most likely one. Tokenisers of multilingual models work so.

use unicode_normalization::UnicodeNormalization;

use crate::{
    BertRules, ModelError,
    piece_table::{PieceHash, PieceTable},
};

/// What stands for the space before a word.
const WORD_START: char = '▁';
/// An unknown character costs this much more than the least likely piece.
const UNKNOWN_COST: f32 = 10.0;

/// A Unigram tokeniser with its vocabulary.
#[derive(Debug)]
pub(crate) struct UnigramPieces {
    rules: BertRules,
    table: PieceTable,
    /// The logarithm of each piece's probability.
    scores: Vec<f32>,
    unknown_score: f32,
}

/// The best way to a place in a word.
#[derive(Clone, Copy)]
struct BestCut {
    score: f32,
    start: usize,
    row: Option<u32>,
}

impl UnigramPieces {
    pub(crate) fn new(rules: BertRules, table: PieceTable, scores: Vec<f32>) -> Result<Self, ModelError> {
        if scores.len() != table.len() {
            return Err(ModelError::malformed("vocabulary", "not every piece has a score"));
        }
        let unknown_score = scores.iter().fold(0.0f32, |least, score| least.min(*score)) - UNKNOWN_COST;
        Ok(Self { rules, table, scores, unknown_score })
    }

    pub(crate) fn table(&self) -> &PieceTable {
        &self.table
    }

    /// Calls `each` with the row of every piece in order, and with `None` for a character that has none.
    pub(crate) fn each_piece(&self, text: &str, mut each: impl FnMut(Option<u32>)) {
        let mut word = String::new();
        let mut rows = Vec::new();
        for part in text.split_whitespace() {
            word.clear();
            word.push(WORD_START);
            // Compatibility forms become ordinary ones: close to the table of rules that such models carry.
            let characters = part.nfkc().filter(|character| !character.is_control());
            match self.rules.lowercase {
                true => word.extend(characters.flat_map(char::to_lowercase)),
                false => word.extend(characters),
            }
            self.word_rows(&word, &mut rows);
            rows.drain(..).rev().for_each(&mut each);
        }
    }

    /// The rows of a word, last first.
    fn word_rows(&self, word: &str, rows: &mut Vec<Option<u32>>) {
        let bytes = word.as_bytes();
        let mut cuts: Vec<Option<BestCut>> = vec![None; bytes.len() + 1];
        cuts[0] = Some(BestCut { score: 0.0, start: 0, row: None });
        for (start, character) in word.char_indices() {
            // Every place can be reached, since every character may be unknown.
            let Some(before) = cuts[start].map(|cut| cut.score) else { continue };
            let mut offer = |end: usize, score: f32, row: Option<u32>| {
                let score = before + score;
                if cuts[end].is_none_or(|cut| score > cut.score) {
                    cuts[end] = Some(BestCut { score, start, row });
                }
            };
            offer(start + character.len_utf8(), self.unknown_score, None);
            let mut hash = PieceHash::START;
            for (at, byte) in bytes[start..].iter().take(self.table.longest()).enumerate() {
                hash = hash.with(*byte);
                let end = start + at + 1;
                // A cut within a character would not leave text.
                if !word.is_char_boundary(end) {
                    continue;
                }
                if let Some(row) = self.table.row_where(hash, |piece| piece == &bytes[start..end]) {
                    offer(end, self.scores[row as usize], Some(row));
                }
            }
        }
        // From the end on, as each place knows only where its last piece began.
        let mut end = bytes.len();
        while let Some(cut) = cuts[end].filter(|_| end > 0) {
            rows.push(cut.row);
            end = cut.start;
        }
    }
}
