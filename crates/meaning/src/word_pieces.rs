//! WordPiece: a word is its longest known beginning, and so on with the rest.

use std::borrow::Cow;

use crate::{
    BertRules, ModelError,
    piece_table::{PieceHash, PieceTable},
};

/// What marks a piece that continues a word.
const CONTINUING: &[u8] = b"##";

/// A WordPiece tokeniser with its vocabulary.
#[derive(Debug)]
pub struct WordPieces {
    rules: BertRules,
    table: PieceTable,
}

impl WordPieces {
    /// A vocabulary in the order of its rows.
    pub fn new<'p>(rules: BertRules, pieces: impl Iterator<Item = &'p str> + Clone) -> Result<Self, ModelError> {
        let bytes: Vec<u8> = pieces.clone().flat_map(str::bytes).collect();
        Ok(Self { rules, table: PieceTable::new(Cow::Owned(bytes), pieces.map(str::len))? })
    }

    pub(crate) fn of_table(rules: BertRules, table: PieceTable) -> Self {
        Self { rules, table }
    }

    pub(crate) fn table(&self) -> &PieceTable {
        &self.table
    }

    /// The row of exactly this piece.
    pub fn row(&self, piece: &str) -> Option<u32> {
        self.table.find(piece)
    }

    /// Whether a piece continues a word.
    pub(crate) fn continues(&self, row: u32) -> bool {
        self.table.piece(row).starts_with(CONTINUING)
    }

    /// Calls `each` with the row of every piece in order, and with `None` for a word that has no pieces.
    pub fn each_piece(&self, text: &str, mut each: impl FnMut(Option<u32>)) {
        let mut rows = Vec::new();
        self.rules.each_word(text, |word| {
            // A word with an unknown part is unknown as a whole, so its rows are gathered first.
            rows.clear();
            let known = word.is_some_and(|word| self.word_rows(word, &mut rows));
            if known {
                rows.iter().for_each(|row| each(Some(*row)));
            } else {
                each(None);
            }
        });
    }

    /// Whether all of the word has pieces; then their rows are added.
    fn word_rows(&self, word: &str, rows: &mut Vec<u32>) -> bool {
        // The prefix is hashed with the beginning, so a continuing piece needs no copy with `##` before it.
        let marked = CONTINUING.iter().fold(PieceHash::START, |hash, byte| hash.with(*byte));
        let mut start = 0;
        while start < word.len() {
            let rest = &word[start..];
            let (first, longest) = match start {
                0 => (PieceHash::START, self.table.longest()),
                // The longest piece may have the prefix, which is not in the text.
                _ => (marked, self.table.longest().saturating_sub(CONTINUING.len())),
            };
            let Some((row, length)) = self.longest_piece(rest, first, longest, start > 0) else { return false };
            rows.push(row);
            start += length;
        }
        true
    }

    fn longest_piece(&self, rest: &str, first: PieceHash, longest: usize, continues: bool) -> Option<(u32, usize)> {
        // No word has more bytes than this, see `bert_words`.
        let mut hashes = [first; 512];
        let most = rest.len().min(longest).min(hashes.len() - 1);
        let mut hash = first;
        for (at, byte) in rest.bytes().take(most).enumerate() {
            hash = hash.with(byte);
            hashes[at + 1] = hash;
        }
        // The longest first, as in the reference. The hash of every length is known, so a miss costs one slot.
        (1..=most).rev().filter(|length| rest.is_char_boundary(*length)).find_map(|length| {
            let row = self.table.row_where(hashes[length], |piece| match continues {
                true => piece.strip_prefix(CONTINUING) == rest.as_bytes().get(..length),
                false => piece == &rest.as_bytes()[..length],
            })?;
            Some((row, length))
        })
    }
}
